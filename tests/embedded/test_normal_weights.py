"""Normal weights: a solver, the law and its moments, and fitted lines as oracles."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lowdim.embedded import noise, normal_weights
from lowdim.embedded.normal_weights import SETTINGS, fit


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 3), st.integers(1, 3))
def test_fit_is_least_squares_by_the_residual(seed, dx, dy):
    rng = np.random.default_rng(seed)
    x, y, g = (rng.standard_normal((2, 12, *more)) for more in ((dx,), (dy,), ()))
    found = fit(x, y, g)
    for b in range(2):
        w = np.linalg.lstsq(np.hstack([x[b], y[b]]), g[b], rcond=None)[0]
        assert np.allclose(np.r_[found.tangent[b], found.normal[b]], w, atol=1e-8)
    # Frisch, Waugh, Lovell: the residual of the fit by x alone is all that the noise sees.
    again = np.linalg.solve(found.S, found.yr)[..., 0]
    assert np.allclose(again, found.normal, atol=1e-8)
    assert ((found.share >= 0) & (found.share <= 1 + 1e-12)).all()


@pytest.mark.parametrize("name", SETTINGS)
def test_mean_square_is_exact(name):
    setting = SETTINGS[name]
    found = fit(*setting.draw(40, count=4000, seed=1, purpose="test"))
    sizes = found.size_square
    wanted = noise.normal_square(40, setting.dx, setting.dy)
    assert abs(sizes.mean() - wanted) < 5 * sizes.std() / len(sizes) ** 0.5


def test_share_is_one_when_the_noise_fills_the_complement():
    rng = np.random.default_rng(0)
    x, y, g = rng.standard_normal((5, 4, 2)), rng.standard_normal((5, 4, 2)), rng.random((5, 4))
    assert np.allclose(fit(x, y, g).share, 1, atol=1e-8)


def test_heavy_tailed_has_its_probabilities():
    x = normal_weights.heavy_tailed(np.random.default_rng(0), (200000,))
    for k in range(3):
        assert np.mean(x == 2.0**k) == pytest.approx(7 / 16 / 8**k, rel=0.05)
        assert np.mean(x == -(2.0**k)) == pytest.approx(7 / 16 / 8**k, rel=0.05)


def test_power_plane_knows_its_errors():
    """The scatter of fitted exponents over many data sets is what two standard errors say."""
    rng = np.random.default_rng(4)
    a, b = 2.0 ** np.arange(4), 10.0 ** np.arange(3)
    fits = [
        normal_weights.power_plane(
            a, b, a[:, None, None] ** -1 * b[:, None] ** 0.5 * np.exp(rng.normal(0, 0.3, (4, 3, 5)))
        )
        for _ in range(300)
    ]
    for axis, truth in ((0, -1.0), (1, 0.5)):
        values = np.array([f[axis].value for f in fits])
        errors = np.array([f[axis].error for f in fits])
        assert values.mean() == pytest.approx(truth, abs=0.01)
        assert 2 * values.std() == pytest.approx(errors.mean(), rel=0.15)


def test_power_plane_names_the_shapes_that_do_not_fit():
    with pytest.raises(ValueError, match=r"\(3, 2\)"):
        normal_weights.power_plane([1.0, 2.0], [1.0, 2.0], np.ones((3, 2)))


def test_sweep_scales_with_the_noise_and_draws_afresh():
    one, half = normal_weights.sweep(normal_weights.sines, [1.0, 0.5], [50], draws=4, seed=0)[:, 0]
    assert len(set(np.r_[one, half / 2])) == 8
    assert np.isfinite(one).all()
