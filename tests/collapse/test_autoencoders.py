"""Linear autoencoders on blobs: moments, global minima and trained networks against each other."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from lowdim.collapse import autoencoders, linear
from lowdim.collapse.autoencoders import Blobs, Grid

GRID = Grid(dim=12, clusters=3, points=60, draws=2, seed=4)


def test_moments_are_those_of_points_centroids_and_means():
    blobs = Blobs.draw(np.random.default_rng(0), 5, 3, 30)
    X = (blobs.means[:, blobs.labels] + 0.3 * blobs.noise).numpy()
    centred = np.stack([X[:, blobs.labels == k].mean(1) for k in blobs.labels], 1)
    points, centroids, means = blobs.moments(0.3)
    np.testing.assert_allclose(points, X @ X.T / 30)
    np.testing.assert_allclose(centroids, centred @ centred.T / 30)
    np.testing.assert_allclose(means, (blobs.means @ blobs.means.T / 3))


def test_minima_are_those_of_the_closed_forms_one_by_one():
    found = GRID.minima()
    rng = autoencoders.generator(4, 1, "figure")
    S, C, M = Blobs.draw(rng, 12, 3, 60).moments(GRID.sigmas[6])
    lam, width = float(GRID.lambdas[2]), min(autoencoders.widths(12))
    for name, other in (("", C), (", means", M)):
        for kind, depth, narrow in (("one layer", 1, None), ("deep", 4, width)):
            pair = [linear.deep_autoencoder(A, lam, depth, width=narrow) for A in (S, other)]
            expected = float(torch.linalg.matrix_norm(pair[0] - pair[1]))
            assert found.distance[kind + name][1, 2, 6] == pytest.approx(expected)
    one = linear.deep_autoencoder(torch.stack([S, C]), lam, 1)
    assert found.norm[1, 2, 6] == pytest.approx(float(one[0].norm()))
    assert found.top[1, 2, 6] == pytest.approx(float(torch.linalg.matrix_norm(one[1], 2)))
    assert found.within[1, 0, 6] == pytest.approx(float((S - C).trace()))
    assert found.between[1, 0, 6] == pytest.approx(float(C.trace()))


def test_the_same_grid_is_not_solved_twice():
    assert GRID.minima() is Grid(**vars(GRID)).minima()


def test_no_factors_go_below_the_least_objective():
    W, S = autoencoders.random_factors(200, np.random.default_rng(5))
    left = torch.eye(6).double() - W[3] @ W[2] @ W[1] @ W[0]
    value = (left @ S @ left.mT).diagonal(dim1=1, dim2=2).sum(1)
    value += 0.3 * sum(w.square().sum((1, 2)) for w in W)
    least = autoencoders.least_objective(S, 0.3, width=3)
    assert bool((least <= value).all())
    one = autoencoders.least_objective(S[7:8], 0.3, width=3)
    torch.testing.assert_close(least[7:8], one)


def test_trained_pairs_are_measured_against_the_formula():
    how = {"draws": 1, "steps": 400, "seed": 0, "sigmas": (0.1, 0.4)}
    pairs = autoencoders.train_pairs(8, 2, lambdas=(0.01, 0.1, 5.0), **how)
    assert pairs.below == 0 and pairs.gradient.max() < 2e-6
    assert pairs.reached[2].all()  # all is zero there
    np.testing.assert_allclose(pairs.best[2], 0.0, atol=1e-12)
    assert len(pairs.misses) >= 2 * pairs.reached.sum() and max(pairs.misses) < 1e-3
    np.testing.assert_allclose(pairs.distance[pairs.reached], pairs.best[pairs.reached], atol=2e-3)
    alone = autoencoders.train_pairs(8, 2, lambdas=(0.1,), **how)
    np.testing.assert_allclose(alone.best[0], pairs.best[1])
