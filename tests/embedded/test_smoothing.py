"""Smoothing on an interval: against integrals, Monte Carlo and the mean of a cut normal."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from lowdim.embedded import noise_cases, smoothing
from lowdim.evidence import drawn
from scipy import stats
from scipy.integrate import quad


def test_kinks_against_integrals():
    c, k, s = drawn(noise_cases.kinks()[0])(5, np.random.default_rng(2)).values()
    gap, shifted, bound = smoothing.kinks(c, k, s)
    for j in range(5):
        sigma = float(s[j].exp())

        def phi(x, j=j):
            return float((c[j] * (x - k[j]).abs()).sum())

        def density(z, sigma=sigma):  # of the smoothed X
            return (stats.norm.cdf((z + 1) / sigma) - stats.norm.cdf((z - 1) / sigma)) / 2

        places = sorted({-1.0, 1.0, *k[j].tolist()})
        far = 1 + 9 * sigma
        after = quad(
            lambda z, phi=phi, density=density: phi(z) * density(z),
            -far,
            far,
            points=[p for p in places if abs(p) < far],
            limit=400,
        )[0]
        before = quad(phi, -1, 1, points=[p for p in places if abs(p) < 1] or None, limit=400)[0]
        assert float(gap[j]) == pytest.approx(abs(after - before / 2), abs=1e-6)
    assert bool((gap <= shifted * (1 + 1e-6) + 1e-12).all())
    assert bool((shifted <= bound * (1 + 1e-9)).all())
    alone = smoothing.kinks(c[3:4], k[3:4], s[3:4])
    assert all(
        torch.allclose(one, many[3:4])
        for one, many in zip(alone, (gap, shifted, bound), strict=True)
    )


def test_the_lipschitz_constant_is_the_largest_slope():
    c, k, s = drawn(noise_cases.kinks()[0])(6, np.random.default_rng(5)).values()
    K = smoothing.kinks(c, k, s)[2] / (2 * s).exp() * 2
    x = torch.linspace(-9, 9, 4001).double()
    phi = (c[:, None] * (x[:, None] - k[:, None]).abs()).sum(-1)
    steepest = (phi.diff(dim=1) / (x[1] - x[0])).abs().amax(1)
    assert torch.allclose(K, steepest, rtol=1e-2)


def test_the_best_predictor_for_one_wave():
    """‖m - g‖ by quadrature with the law of a cut normal from scipy."""
    a, b, sigma = torch.tensor([[1.0]]).double(), torch.tensor([[0.3]]).double(), 0.2
    off, taylor, bound = smoothing.best_predictor(a, b, torch.tensor([np.log(sigma)]))

    def g(x):
        return np.sin(np.pi * x / 2 + 0.3)

    def miss(x):
        law = stats.truncnorm((-1 - x) / sigma, (1 - x) / sigma, x, sigma)
        return (law.expect(g) - g(x)) ** 2

    wanted = np.sqrt(quad(miss, -1, 1, epsabs=1e-5)[0] / 2)
    assert float(off) == pytest.approx(wanted, rel=1e-3)
    assert float(off) < float(taylor) < float(bound)


def test_a_predictor_alone_and_among_others():
    case = drawn(noise_cases.waves()[0])(4, np.random.default_rng(0))
    many = smoothing.best_predictor(**case)
    alone = smoothing.best_predictor(**{name: value[2:3] for name, value in case.items()})
    assert all(torch.allclose(one, each[2:3]) for one, each in zip(alone, many, strict=True))


def test_the_layer_is_that_of_its_constant():
    """‖m - g‖² is κ/2 (g'(1)² + g'(-1)²) σ³ to leading order."""
    narrow = smoothing.boundary_layer(np.array([0.02, 0.01]))
    ratio = narrow / (smoothing.kappa() * np.pi**2 * np.array([0.02, 0.01]) ** 3)
    assert 0 < ratio[1] - 1 < ratio[0] - 1 < 0.1
