"""Gaps in finite worlds against exact quantiles where a world is small enough."""

from __future__ import annotations

import pytest
import torch
from lowdim.hashing import bounds, relu_radii, world_gaps, worlds
from lowdim.seeds import generator

HOW = {"draws": 200, "delta": 0.05}


@pytest.mark.parametrize("what", world_gaps.GAPS)
def test_gaps_are_below_their_bounds_and_fall_with_more_manifolds(what):
    Z = worlds.random_worlds(6, generator(0, 0, "worlds"), manifolds=16)
    few, many = (
        world_gaps.gap(Z, m, 2, generator(0, 1, "gaps"), what=what, **HOW) for m in (4, 16)
    )
    for case in (few, many):
        assert bool((case["left"] <= case["right"]).all())
    assert many["right"][0] == few["right"][0] / 2
    assert float(many["left"].mean()) < float(few["left"].mean())


def test_one_coin_by_hand():
    """A manifold of 0 and 1: two draws differ half of the time, and the largest gap is 1/4."""
    Z = torch.tensor([[[[0.0], [1.0]]]]).double()
    case = world_gaps.gap(Z, 1, 2, generator(0, 0, "coin"), what="A, new points", **HOW)
    assert case["left"].item() == pytest.approx(0.25)
    assert case["right"].item() == bounds.variance_new_points(1, 2, 1.0, 0.05)


def test_single_points_on_one_manifold_of_worlds_without_variance():
    Z = worlds.random_worlds(3, generator(0, 0, "worlds"), points=1)
    case = world_gaps.gap(Z, 4, 2, generator(0, 1, "gaps"), what="A, new manifolds", **HOW)
    assert float(case["left"].abs().max()) < 1e-12


def test_an_unknown_gap_is_refused():
    with pytest.raises(ValueError, match="what"):
        world_gaps.gap(torch.zeros(1, 2, 2, 1), 2, 2, generator(0, 0, "x"), what="C", **HOW)


def test_uniform_convergence_holds_exactly_for_random_classes():
    F, level = world_gaps.random_classes(30, generator(0, 0, "classes"))
    reach = 2 * F.complexity + (2 * (1 / level).log() / F.n).sqrt()
    assert bool((F.above(reach) <= level).all())
    assert F.chance.sum(1).tolist() == pytest.approx([1.0] * 30)


def test_random_layers_are_no_longer_than_their_bound_and_seldom_long():
    case = relu_radii.radii(20, generator(0, 0, "radii"))
    assert bool(((case["left"] > 0) & (case["left"] < case["right"])).all())
    shares = relu_radii.exceeding(1, generator(0, 0, "norms"))
    assert bool((shares["left"] < shares["right"]).all())
