"""Exponents: exact on power laws, invariant under scales, honest error bars."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lowdim.evidence import rates

number = st.floats(-3, 3)


@given(number, st.floats(-5, 5), st.integers(1, 4))
def test_exact_on_power_laws(power, scale, trials):
    x = np.array([0.1, 0.5, 2.0, 7.0])
    y = np.exp(scale) * x**power * np.exp(np.arange(trials))[:, None]
    found, error = rates.exponent(x, y if trials > 1 else y[0])
    assert abs(found - power) < 1e-9 and error < 1e-7


@given(st.integers(0, 2**31), st.floats(0.01, 100), st.floats(0.01, 100))
def test_units_do_not_matter(seed, a, b):
    rng = np.random.default_rng(seed)
    x, y = rng.uniform(1, 9, 5), rng.uniform(1, 9, (3, 5))
    assert np.allclose([*rates.exponent(a * x, b * y)], [*rates.exponent(x, y)], atol=1e-8)


def test_error_bars_cover():
    rng = np.random.default_rng(0)
    x = np.geomspace(1, 100, 8)
    hits = []
    for _ in range(400):
        found, error = rates.exponent(x, x**-0.5 * np.exp(rng.normal(0, 0.3, (30, 8))))
        hits.append(abs(found + 0.5) <= error)
    assert 0.9 < np.mean(hits) < 0.99


def test_one_trial_agrees_with_the_textbook():
    rng = np.random.default_rng(1)
    x, y = np.geomspace(1, 50, 9), rng.uniform(1, 5, 9)
    slope, covariance = np.polyfit(np.log(x), np.log(y), 1, cov=True)
    found, error = rates.exponent(x, y)
    assert np.allclose([found, error], [slope[0], 2 * covariance[0, 0] ** 0.5])


@pytest.mark.parametrize(
    ("x", "y", "said"),
    [
        ([1, 2], [1, 2], "too few"),
        ([2, 2, 2], [1, 2, 3], "too few"),
        ([1, 2, 3], [1, 2], "shapes"),
        ([1, 2, 3], [1, -2, 3], "positive"),
        ([1, 2, np.inf], [1, 2, 3], "positive"),
    ],
)
def test_refuses(x, y, said):
    with pytest.raises(ValueError, match=said):
        rates.exponent(x, y)
