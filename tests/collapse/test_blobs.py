"""Laws of Gaussian blobs against simulation, other closed forms and enumeration."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from lowdim.collapse import blobs, linear
from scipy import integrate, stats


def test_failure_in_the_plane_is_a_poisson_probability():
    m = 1000  # N = 2m², d = 2
    by_hand = stats.poisson.cdf(2 * m * m - 2, 2 * m * m + m)
    assert float(blobs.failure(2.0 * m * m, 2)) == pytest.approx(by_hand, abs=1e-6)
    assert by_hand > 0.2


@pytest.mark.parametrize("K", [1, 2, 10])
def test_failure_tends_to_its_limit(K):
    assert float(blobs.failure(1e10, 1, K)) == pytest.approx(blobs.failure_limit(K), rel=1e-3)


@pytest.mark.parametrize("autoencoder", [False, True])
def test_failure_agrees_with_simulation(autoencoder):
    rng, (d, K, per) = np.random.default_rng(0), (2, 3, 2)
    n, draws = K * per, 40000
    x = rng.standard_normal((draws, K, per, d))
    wcss = ((x - x.mean(2, keepdims=True)) ** 2).sum((1, 2, 3)) / n * (1 + autoencoder)
    seen = (wcss > d + (d * K / n) ** 0.5).mean()
    expected = float(blobs.failure(n, d, K, autoencoder=autoencoder))
    assert abs(seen - expected) < 5 * (expected * (1 - expected) / draws) ** 0.5


def test_no_variation_without_degrees_of_freedom():
    assert float(blobs.failure(5, 3, 5)) < 1e-100


def test_deviation_agrees_with_simulation():
    rng, (n, d, t) = np.random.default_rng(1), (4, 3, 0.5)
    forms = (rng.standard_normal((40000, d, n)) ** 2).sum((1, 2)) / n
    seen = (abs(forms - d) >= t * d**0.5).mean()
    expected = float(blobs.deviation(n, d, t))
    assert abs(seen - expected) < 5 * (expected * (1 - expected) / 40000) ** 0.5


def test_the_best_constant_bounds_deviations_and_nothing_much_larger_does():
    case = blobs.deviations(500, np.random.default_rng(2), most=6)
    n, d, t = (case[k].numpy() for k in ("N", "d", "t"))
    exponent = n * t * np.minimum(t, d**0.5)
    assert (blobs.deviation(n, d, t) <= 2 * np.exp(-blobs.BEST * exponent)).all()
    rate = (np.log(2) - stats.chi2.logsf(2.0 * 4000, 4000)) / 4000
    assert 0 < rate - blobs.BEST < 3e-3


def test_pair_tail_is_the_convolution_of_two_exponentials():
    w, u = (1.0, 0.4), 1.5
    x = u + 2 * sum(w)

    def inside(y):
        return np.exp(-y / (2 * w[0])) / (2 * w[0]) * np.exp(-max(x - y, 0) / (2 * w[1]))

    expected = integrate.quad(inside, 0, x)[0] + np.exp(-x / (2 * w[0]))
    weights, level = (torch.tensor([value], dtype=torch.float64) for value in (w, u))
    found = blobs.pair_tail(weights, level)
    assert found.item() == pytest.approx(expected, rel=1e-9)


def test_chernoff_bounds_the_tail_and_no_theta_does_better():
    rng = np.random.default_rng(3)
    weights = torch.cumprod(torch.from_numpy(rng.uniform(0.2, 0.8, (50, 4))), 1)
    u = torch.from_numpy(rng.uniform(0.1, 4, 50)) * weights.norm(dim=1)
    best = blobs.chernoff(weights, u)
    assert (blobs.pair_tail(weights, u) <= best).all()
    for share in np.linspace(0.01, 0.99, 30):
        theta = share * 0.5 / weights.amax(1, keepdim=True)
        x = theta * weights
        value = ((-torch.log1p(-2 * x) - 2 * x).sum(1) - theta[:, 0] * u).exp()
        assert (best <= value * (1 + 1e-9)).all()


def test_cuts_of_a_line_are_the_best_of_all_partitions():
    points = np.random.default_rng(4).standard_normal((6, 8))
    expected, _ = linear.optimal_partition(torch.from_numpy(points)[:, None], 2)
    np.testing.assert_allclose(blobs.line_variation(points), expected.numpy(), atol=1e-12)


def test_cases_fill_the_ranges_that_they_name():
    """Up to 10^most points; up to 19 blobs, of two points or more; deviations to thirty."""
    case = {k: v.numpy() for k, v in blobs.mixtures(40000, np.random.default_rng(0)).items()}
    each = case["N"] / case["K"]
    assert set(case["K"]) == set(range(1, 20))
    assert (each.min(), case["d"].min(), case["d"].max()) == (2, 1, 999)
    np.testing.assert_allclose(
        [each.max(), case["u"].min(), case["u"].max()], [1e5, 0.01, 10**1.5], rtol=0.01
    )
    for most in (3, 8):
        case = blobs.deviations(40000, np.random.default_rng(1), most=most)
        case = {k: v.numpy() for k, v in case.items()}
        assert (case["N"].min(), case["d"].min(), case["d"].max()) == (1, 1, 999)
        standard = case["t"] / np.sqrt(2 / case["N"])  # of the mean of N squares
        ends = [case["N"].max(), standard.min(), standard.max(), case["C"].min(), case["C"].max()]
        np.testing.assert_allclose(ends, [10**most, 0.1, 10**0.8, 1e-3, 1], rtol=0.01)
    assert blobs.deviations(9000, np.random.default_rng(1))["N"].max() > 9e7
