"""Stationary points of the deep linear autoencoder against brute force."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from lowdim.collapse.linear import shrinkage
from lowdim.collapse.selections import around, descended, edge, hessian, selections, strengths
from lowdim.seeds import generator


@pytest.mark.parametrize("depth", [3, 4, 7])
def test_roots_solve_the_equation_and_vanish_at_the_edge(depth: int) -> None:
    ratio, top = edge(depth)
    grid = np.linspace(1e-6, 1, 200_001)
    shape = (1 - grid) * grid ** (1 - 2 / depth)
    assert 1 / shape.max() == pytest.approx(ratio, rel=1e-6)
    assert grid[shape.argmax()] == pytest.approx(top, abs=1e-4)
    for moment in (1.01 * ratio, 3 * ratio, 100 * ratio):
        low, high = strengths(moment, 1.0, depth)
        assert 0 < low < top < high < 1
        for t in (low, high):
            assert (1 - t) * t ** (1 - 2 / depth) == pytest.approx(1 / moment, rel=1e-9)
    assert strengths(0.99 * ratio, 1.0, depth) is None


def test_the_larger_root_is_the_shrinkage_where_that_is_not_zero() -> None:
    moments = torch.tensor([5.0, 20.0, 300.0]).double()
    found = [strengths(float(m), 1.0, 4)[1] for m in moments]
    np.testing.assert_allclose(found, shrinkage(moments, 1.0, 4), rtol=1e-8)


@pytest.mark.parametrize("depth", [3, 4])
def test_minima_are_where_the_hessian_has_no_negative_eigenvalue(depth: int) -> None:
    rng = generator(0, depth, "moments")
    moments = sorted(rng.uniform(0.2, 3, 2), reverse=True)
    for s in selections(moments, 0.1, depth):
        assert (float(hessian(moments, s.kept, 0.1, depth)[0]) > -1e-9) == s.minimum


def test_the_weak_direction_alone_is_a_strict_saddle() -> None:
    high = strengths(1.0, 0.1, 4)[1]
    assert float(hessian((2.0, 1.0), (0.0, high), 0.1, 4)[0]) == pytest.approx(-1.139, abs=1e-3)


@pytest.mark.parametrize("depth", [3, 4, 5])
def test_near_a_minimum_the_chain_rises_from_its_value_to_the_objective(depth: int) -> None:
    moments = (2.0, 1.0, 0.5)
    for s in selections(moments, 0.1, depth):
        chain = around(moments, s.kept, 0.1, depth, count=6, size=1e-3, seed=1)
        rises = bool((chain.diff(dim=0) > -1e-13).all())
        # The last two steps hold everywhere; the first is what a minimum is.
        assert bool((chain[1:].diff(dim=0) > -1e-13).all())
        assert rises or not s.minimum
    weak = (0.0, strengths(1.0, 0.1, depth)[1], 0.0)
    chain = around(moments, weak, 0.1, depth, count=6, size=1e-3, seed=1)
    assert bool((chain[1] < chain[0]).all())


def test_far_from_the_selection_the_first_value_is_its_objective() -> None:
    kept = (strengths(2.0, 0.1, 4)[1], 0.0)
    chain = around((2.0, 1.0), kept, 0.1, 4, count=2, size=0.0, seed=0)
    by_hand = 2 * (1 - kept[0]) ** 2 + 1 + 0.1 * 4 * kept[0] ** 0.5
    np.testing.assert_allclose(chain, by_hand, rtol=1e-12)


def test_descents_end_at_minima() -> None:
    minima = [s.kept for s in selections((2.0, 1.0), 0.2, 4) if s.minimum]
    for end in descended((2.0, 1.0), 0.2, 4, starts=3, steps=2500, seed=1).numpy():
        assert min(np.abs(end - np.sort(kept)[::-1]).max() for kept in minima) < 1e-6


def test_refusals() -> None:
    with pytest.raises(ValueError, match="depth"):
        edge(2)
    with pytest.raises(ValueError, match="above 0"):
        strengths(0.0, 1.0, 4)
    with pytest.raises(ValueError, match="must fall"):
        selections((1.0, 2.0), 0.1, 4)
