"""The price of moving weights: a constrained minimum against scipy's, and its two ends."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch
from lowdim.hashing import kernels, shifts
from scipy.optimize import minimize

P = 0.9
F = torch.tensor([1.0, -0.5, -1.0, 0.7], dtype=torch.float64)


@pytest.fixture(scope="module")
def K():
    X = shifts.four_places(0.3)
    Z = kernels.random_features(X, 30, seed=0, trials=3)
    return Z.mT @ Z


def mean_and_variance(v):
    v = np.asarray(v).reshape(2, 2)
    share = np.array([P, 1 - P])
    mean = v @ share
    return mean, (((v - mean[:, None]) ** 2) @ share).mean()


@pytest.mark.parametrize("level", [0.0, 0.01, 0.1])
def test_it_is_the_constrained_minimum(K, level):
    found = shifts.cheapest(K, F, p=P, level=level)
    target, _ = mean_and_variance(F)
    for price, each in zip(found, K.numpy(), strict=True):
        inverse = np.linalg.inv(each)

        def cost(v, inverse=inverse):
            return v @ inverse @ v

        constraints = [
            {"type": "eq", "fun": lambda v: mean_and_variance(v)[0] - target},
            {"type": "ineq", "fun": lambda v: level - mean_and_variance(v)[1]},
        ]
        start = np.repeat(target, 2)
        best = minimize(cost, start, constraints=constraints, method="SLSQP")
        least = cost(start) if level == 0 else min(best.fun, cost(start))
        assert price.item() == pytest.approx(least / cost(F.numpy()), rel=2e-3)


def test_more_variance_is_never_dearer_and_in_the_end_free_of_it(K):
    prices = [shifts.cheapest(K, F, p=P, level=v) for v in (0.0, 0.01, 0.1, 10.0, 100.0)]
    for dear, cheap in pairwise(prices):
        assert bool((cheap <= dear * (1 + 1e-9)).all())
    torch.testing.assert_close(prices[-1], prices[-2])
    assert bool((prices[-1] <= 1 + 1e-9).all())  # B itself is among them


def test_a_layer_alone_is_that_layer_of_a_batch(K):
    together = shifts.cheapest(K, F, p=P, level=0.05)
    torch.testing.assert_close(shifts.cheapest(K[1:2], F, p=P, level=0.05)[0], together[1])


def test_wide_layers_come_near_the_price_in_exact_arithmetic():
    X = shifts.four_places(0.6)
    price = shifts.cheapest(kernels.gram(X)[None], X[1], p=P, level=0.0)
    assert price.item() == pytest.approx(256 / 225, rel=1e-6)


def test_a_share_outside_is_refused(K):
    with pytest.raises(ValueError, match=r"p must be between 0 and 1 .* you gave p = 1.5"):
        shifts.cheapest(K, F, p=1.5, level=0.1)
