"""The trade-off: moments against integrals, the best noise against a finer search, the law."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from lowdim.embedded import noise, tradeoff
from scipy.integrate import quad
from scipy.optimize import minimize_scalar


def test_moments_are_those_of_the_function():
    line = tradeoff.sloping()

    def g(x):
        return 2 * x + 0.1 * np.sin(np.pi * x)

    assert line.target[1] == pytest.approx(quad(lambda x: g(x) * x, -1, 1)[0] / 2, abs=1e-12)
    assert line.square == pytest.approx(3 * quad(lambda x: g(x) ** 2, -1, 1)[0] / 2, abs=1e-12)
    assert line.moments[0, 0] == pytest.approx(1 / 3)


def test_the_best_noise_is_a_minimum():
    along = tradeoff.prices(np.geomspace(0.005, 1, 3000))
    line = tradeoff.sloping()

    def total(log):
        s = np.exp(log)
        law = noise.normal_square(1000, 3, 2) / 16
        return line.clean_excess(s) + law * line.residual(s) / s**2

    wanted = minimize_scalar(total, bounds=(np.log(0.005), 0.0), method="bounded")
    sigma, least = along.best(1000)
    assert sigma == pytest.approx(np.exp(wanted.x), rel=0.01)
    assert least == pytest.approx(wanted.fun, rel=1e-4)
    assert along.best(10**9)[1] == pytest.approx(along.best(10**9, leading=True)[1], rel=1e-6)


@pytest.mark.parametrize("bad", [[0.0, 1.0], [-1.0]])
def test_prices_refuse_a_noise_that_is_none(bad):
    with pytest.raises(ValueError, match="sigmas must be above 0; the least given is"):
        tradeoff.prices(bad)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_accuracy_is_that_of_blurred_least_squares(seed):
    rng = np.random.default_rng(seed)
    M = torch.from_numpy(rng.standard_normal((4, 3, 3)) + 0.5 * np.eye(3))
    v, s = (torch.from_numpy(rng.standard_normal(shape)) for shape in ((4, 3), (4, 1)))
    q = tradeoff.accuracy(M, v, s)
    for k in range(4):
        Sigma = (M[k] @ M[k].T).numpy()
        if np.linalg.eigvalsh(Sigma)[0] < 1e-3:
            continue
        line = noise.Blurred(Sigma, Sigma @ v[k].numpy(), 1e3)
        wanted = line.clean_excess(float(s[k].exp()))
        assert float(q.lost[k]) == pytest.approx(wanted, rel=1e-6)
        assert float(q.formula[k]) == pytest.approx(wanted, rel=1e-6)
        assert float(q.bound[k]) >= wanted * (1 - 1e-9)
        alone = tradeoff.accuracy(M[k : k + 1], v[k : k + 1], s[k : k + 1])
        assert torch.allclose(alone.lost, q.lost[k : k + 1], rtol=1e-9)


def test_fits_follow_the_law():
    wy2, tau2 = tradeoff.noisy_fits(40, 0.5, 2, draws=4000, seed=1)
    ratio = 0.25 * wy2 / tau2 / noise.normal_square(40, 3, 2)
    assert abs(ratio.mean() - 1) < 5 * ratio.std() / 4000**0.5
    assert tau2.mean() == pytest.approx(tradeoff.sloping().residual(0.5) * 37 / 40, rel=0.02)


def test_fits_refuse_too_few_points():
    with pytest.raises(ValueError, match="7 weights need as many points; N is 6"):
        tradeoff.noisy_fits(6, 0.1, 4, draws=2, seed=0)
