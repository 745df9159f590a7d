"""Regression on a line: Cramer's rule against a solver, residuals against closed forms."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lowdim.embedded import noise, regression
from lowdim.embedded.regression import Moments


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.05, 2.0))
def test_minimizer_is_least_squares(seed, sigma):
    rng = np.random.default_rng(seed)
    x, y, g = rng.standard_normal((3, 9))
    wanted = np.linalg.lstsq(np.stack([x, sigma * y], 1), g, rcond=None)[0]
    assert np.allclose(Moments.of(x, y, g).minimizer(sigma), wanted, rtol=1e-8, atol=1e-10)


def test_fractions_stay_exact():
    x, y, g = (np.array([Fraction(v) for v in row]) for row in ((1, 2, 3), (1, 0, 0), (2, 5, 7)))
    w_x, w_y = Moments.of(x, y, g).minimizer(Fraction(1, 3))
    assert isinstance(w_x, Fraction)
    # Normal equations: the residual is orthogonal to both columns.
    rest = g - w_x * x - w_y * y / 3
    assert (rest @ x, rest @ y) == (0, 0)


@given(st.integers(0, 10**6))
def test_a_linear_part_changes_neither_normal_weight_nor_residual(seed):
    plain, tilted = (
        regression.draw(g, 20, count=5, seed=seed) for g in (np.cos, lambda x: np.cos(x) + 3 * x)
    )
    assert np.allclose(plain.minimizer()[1], tilted.minimizer()[1], atol=1e-9)
    assert np.allclose(plain.residual_square, tilted.residual_square, atol=1e-9)


@pytest.mark.parametrize(
    ("name", "square"),
    [("$2x$", 0.0), (r"$\sin\pi x$", 0.5 - 3 / np.pi**2), (r"$\sin\pi x+5x$", 0.5 - 3 / np.pi**2)],
)
def test_residual_has_its_closed_form(name, square):
    assert regression.residual(regression.TARGETS[name]) ** 2 == pytest.approx(square, abs=1e-12)


def test_residual_is_the_limit_of_the_sample_one():
    g = regression.TARGETS["$3x^2$"]
    sample = regression.draw(g, 20000, count=20, seed=1).residual_square.mean()
    assert sample == pytest.approx(regression.residual(g) ** 2, rel=0.01)


def test_normal_level_follows_the_exact_mean_square():
    """E (w_y*)² = τ_N²/σ² · N/((N - 1)(N - 3)) for Gaussian noise."""
    g, sizes, sigma = regression.TARGETS[r"$\sin\pi x$"], [20, 80], 0.5
    level = regression.normal_level(g, sizes, sigma=sigma, count=4000, seed=2)
    for N, measured in zip(sizes, level, strict=True):
        tau2 = regression.draw(g, N, count=4000, seed=2).residual_square.mean()
        wanted = tau2 / sigma**2 * noise.normal_square(N, 1, 1)
        assert measured**2 == pytest.approx(wanted, rel=0.1)
