"""Minima along falling ε: the theory of the chapter as properties, and identities of the parts."""

from __future__ import annotations

import pytest
import torch
from lowdim.hashing import factored, invariance, kernels, vanishing

SMALL = vanishing.Data(classes=3, points=4, latent=2, moves=3, seed=1)
FEW = (0.1, 0.01, 0.001)


@pytest.fixture(scope="module")
def found():
    return vanishing.paths(SMALL, FEW, draws=2)


def test_training_variance_is_below_the_first_bound_and_multipliers_rise(found):
    for path in (found["manifolds"], found["lot"]):
        assert bool((path.multiplier.diff(dim=1) > -1e-6).all())
        top = path.multiplier[:, -1:]
        bound = path.lam1 * top * (2 * (SMALL.classes - 1) * path.V_z).sqrt()
        assert bool((path.V_r <= bound * (1 + 1e-5)).all())


def test_labels_by_lot_are_a_permutation_and_are_harder(found):
    _, own = vanishing.minimum(SMALL, 0, 0.01)
    _, lot = vanishing.minimum(SMALL, 0, 0.01, lot=True)
    assert torch.equal(own.labels.bincount(), lot.labels.bincount())
    assert not torch.equal(own.labels, lot.labels)
    assert bool((found["lot"].loss > found["manifolds"].loss).all())


def test_a_split_scales_the_representation_and_nothing_else():
    fits = [vanishing.minimum(SMALL, 0, split=s)[1] for s in ((1e-3, 1e-3), (1e-2, 1e-4))]
    plain, other = (float(factored.within_variance(f(f.X.mT).mT, f.labels)) for f in fits)
    assert other == pytest.approx(10 * plain, rel=1e-4)
    assert fits[1].loss == pytest.approx(fits[0].loss, rel=1e-5)


def test_paths_are_kept_and_joined_in_order(found):
    assert vanishing.minimum(SMALL, 0, 0.1) is vanishing.minimum(SMALL, 0, 0.1)
    both = vanishing.together(found["manifolds"], found["lot"])
    assert torch.equal(both.V_r[:2], found["manifolds"].V_r)
    assert torch.equal(both.V_r[2:], found["lot"].V_r)


def test_four_points_are_symmetric_in_the_two_manifolds():
    V_r, V_y, epsilon = vanishing.four_points(0.3, 10, 20)  # θ says nothing: an even split
    assert epsilon == pytest.approx(0.5)
    assert V_y >= 0 and V_r >= 0
    assert vanishing.four_points(0.3, 18, 20)[2] == pytest.approx(2 * 0.9 * 0.1)


@pytest.mark.parametrize(("g", "many", "copies"), [(0.3, 18, 20), (0.6, 3, 4)])
def test_copies_of_points_are_weights_of_points(g, many, copies):
    """The same minimum from four distinct points that count p, 1 - p, p and 1 - p."""
    V_r, V_y, epsilon = vanishing.four_points(g, many, copies)
    p, a = many / copies, (1 - g * g) ** 0.5
    X = torch.tensor([[g, g, -g, -g], [a, -a, -a, a]], dtype=torch.float64)
    labels, counts = torch.tensor([0, 0, 1, 1]), 2 * torch.tensor([p, 1 - p, p, 1 - p])
    beta = invariance.symmetric_cost(X[:, [0, 2]], torch.tensor([[0.0], [1.0]]).double())
    own = torch.nn.functional.one_hot(labels).T.double()
    features = torch.linalg.cholesky(kernels.gram(X), upper=True)
    weights = factored.class_weights(labels) * counts
    found = factored.convex(factored.Problem(features, own, weights, epsilon / 2, epsilon / beta))
    R = found.B @ features
    for value, at in ((V_r, R), (V_y, found.A @ R)):
        apart = (at[:, [0, 2]] - at[:, [1, 3]]).square().sum(0).mean()
        assert value == pytest.approx(p * (1 - p) * float(apart), rel=1e-3, abs=1e-9)
