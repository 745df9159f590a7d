"""Finite worlds and explicit bounds: exact expectations, simulated coverage, monotonicity."""

from itertools import product
from math import log, sqrt

import numpy as np
import pytest
import torch
from lowdim.hashing import bounds, complexity, worlds


def test_sample_covariances_are_unbiased_in_a_world():
    rng = np.random.default_rng(0)
    Z = worlds.random_worlds(2, rng, manifolds=2, points=2, dim=2)
    index = torch.tensor(list(product(range(2), repeat=3)))
    every = Z[:, :, index]  # (2, 2, 8, 3, 2): all samples of three points
    assert torch.allclose(complexity.within(every), worlds.spread(Z))


def test_distances_are_unbiased_in_a_world():
    rng = np.random.default_rng(1)
    Z = worlds.random_worlds(1, rng, manifolds=2, points=2, dim=2)
    picks = [(a, b) for a in product(range(2), repeat=2) for b in product(range(2), repeat=2)]
    every = torch.stack([Z[0, [a[0], b[0]], [a[1], b[1]]][:, None] for a, b in picks])
    assert torch.allclose(complexity.between(every).mean(0), worlds.apart(Z)[0])


def test_draws_come_from_the_world():
    rng = np.random.default_rng(2)
    Z = worlds.random_worlds(3, rng)
    fixed = worlds.draw(Z, 4, 2, 5, rng, fixed=True)
    for w, d, m, n in product(range(3), range(5), range(4), range(2)):
        assert bool((fixed[w, d, m, n] == Z[w, m]).all(-1).any())
    with pytest.raises(ValueError, match="a world has 4 manifolds; you asked for m = 5"):
        worlds.draw(Z, 5, 2, 1, rng, fixed=True)


def test_finite_classes_against_a_binomial():
    """One indicator, n = 4, p = 1/2: the gap exceeds 1/4 with probability 1/16."""
    coin = worlds.finite_classes(torch.tensor([[[0.0, 1.0]]]), torch.tensor([[0.5, 0.5]]), 4)
    assert coin.above(torch.tensor([0.25])).item() == pytest.approx(1 / 16)
    assert coin.quantile(torch.tensor([0.05])).item() == pytest.approx(0.5)
    assert coin.quantile(torch.tensor([0.07])).item() == pytest.approx(0.25)


def test_deviation_of_one_dimension_is_a_mean():
    rng = np.random.default_rng(3)
    H = torch.from_numpy(rng.random((2, 300, 5, 1, 1)))
    found = worlds.deviation(H, torch.full((2, 1, 1), 0.5).double(), 0.1)
    below = (0.5 - H.mean(2)).clamp_min(0).flatten(1)
    assert torch.allclose(found.mean, below.mean(1))
    assert bool((found.mean <= 2 * found.complexity).all())


@pytest.mark.parametrize("kind", [worlds.random_worlds, worlds.axis_worlds])
def test_bounds_cover(kind):
    """The 95 percent quantile of the worst gap stays below each bound, in every world."""
    rng = np.random.default_rng(4)
    Z = kind(20, rng)
    delta = 0.05
    S = worlds.draw(Z, 6, 2, 300, rng)
    inside = complexity.within(S)
    truth = worlds.spread(Z).mean(1)[:, None].expand_as(inside)
    gap = torch.quantile(complexity.largest_gap(truth, inside, 1.0), 1 - delta, dim=1)
    assert bool((gap <= bounds.variance_new_manifolds(6, 1.0, delta)).all())
    across = complexity.between(S)
    far = worlds.apart(Z)[:, None].expand_as(across)
    gap = torch.quantile(complexity.largest_gap(across, far, 1.0), 1 - delta, dim=1)
    assert bool((gap <= bounds.distance_new_manifolds(6, 1.0, delta)).all())
    S = worlds.draw(Z, 4, 3, 300, rng, fixed=True)
    inside = complexity.within(S)
    truth = worlds.spread(Z).mean(1)[:, None].expand_as(inside)
    gap = torch.quantile(complexity.largest_gap(truth, inside, 1.0), 1 - delta, dim=1)
    assert bool((gap <= bounds.variance_new_points(4, 3, 1.0, delta)).all())
    across = complexity.between(S)
    far = complexity.between(Z)[:, None].expand_as(across)  # all points of the four manifolds
    gap = torch.quantile(complexity.largest_gap(across, far, 1.0), 1 - delta, dim=1)
    assert bool((gap <= bounds.distance_new_points(4, 3, 1.0, delta)).all())
    assert torch.allclose(across.mean(1), far[:, 0], atol=0.1)  # unbiased


def test_row_sizes_sum_to_the_norm_and_bound_the_product():
    rng = np.random.default_rng(5)
    A, B = torch.from_numpy(rng.normal(size=(5, 3))), torch.from_numpy(rng.normal(size=(3, 4)))
    sizes = bounds.row_sizes(A)
    assert float(sizes.sum()) == pytest.approx(float(A.square().sum()))
    for row in range(5):
        w = torch.full((5, 1), sqrt(0.5 / 4), dtype=torch.float64)
        w[row] = sqrt(0.5)
        assert float((w * (A @ B)).square().sum()) <= float(sizes[row] * B.square().sum())


def test_relu_radius_covers_what_an_ascent_finds():
    rng = np.random.default_rng(6)
    for _ in range(20):
        G = rng.normal(size=(40, 7)) / sqrt(40)
        x = rng.normal(size=(7, 10))
        for _ in range(100):
            x /= np.linalg.norm(x, axis=0)
            last = np.linalg.norm(np.maximum(G @ x, 0), axis=0).max()
            x = G.T @ np.maximum(G @ x, 0)
        assert last <= bounds.relu_radius(40, 7)
        assert last >= sqrt(0.5)  # x or −x has half of ‖Gx‖², and that is more than 1 on average


def test_bounds_fall_like_a_root():
    for f in (bounds.variance_new_manifolds, bounds.distance_new_manifolds):
        assert f(10, 1.0, 0.1) / f(40, 1.0, 0.1) == pytest.approx(2.0)
    assert bounds.variance_new_points(5, 8, 2.0, 0.1) == pytest.approx(
        4 * (sqrt(2) + sqrt(2 * log(10))) / sqrt(40)
    )
