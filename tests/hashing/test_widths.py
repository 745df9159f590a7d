"""Minima by inner width: what the chapter proves of them, on a few small problems."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from lowdim.hashing import factored, traps, widths
from lowdim.seeds import generator


def test_random_problems_have_unit_penalties_and_their_shapes():
    p = widths.random_problems(3, generator(0, 0, "widths"))
    assert (p.lam1, p.lam2) == (1.0, 1.0) and tuple(p.targets.shape) == (3, 3, 4)
    assert 10**-1.5 <= p.weights.min() and p.weights.max() <= 10**1.5


def test_the_papers_problems_differ_by_the_penalty_only():
    plain, other = (widths.papers(2, seed=4, variance=v) for v in (0.0, 1.0))
    assert torch.equal(plain.features, other.features) and plain.spread is None
    R = torch.from_numpy(generator(0, 0, "B").standard_normal((3, 6)))
    V = factored.within_variance(R @ other.features, torch.arange(12) // 4, unbiased=True)
    torch.testing.assert_close((R @ other.spread).square().sum((-2, -1)), V)


def test_wide_descent_agrees_with_the_convex_minimum_and_a_trap_does_not():
    p = widths.papers(3, seed=0, variance=1.0)
    excess, settled = widths.same_minimum(p, 3, seed=1)
    assert bool((excess.abs() < 1e-7).all()) and bool(settled.all())
    narrow, _ = widths.same_minimum(p, 1, seed=1)
    assert bool((narrow > 1e-4).all())


def test_stationary_points_obey_the_curvature():
    found = widths.stationary(3, generator(0, 0, "stationary"), seed=0)
    assert len(found.excess) == len(found.slope) == len(found.bend) > 0
    assert bool((found.excess <= found.slope + 1e-6).all())
    assert bool((found.slope <= found.bend * (1 + 1e-6) + 1e-6).all())


def test_starts_reach_the_trap_at_width_one_and_not_at_width_two():
    p, A = traps.smallest()
    one, two = (widths.reached(p, T, starts=12, seed=0) for T in (1, 2))
    values = {round(float(v), 6) for v in one.values}
    assert values == {round(p.value(A, A.mT).item(), 6), round(factored.convex(p).value.item(), 6)}
    assert one.traps == int((one.values > 20).sum()) > 0 and two.traps == 0
    np.testing.assert_allclose(two.values, factored.convex(p).value.item(), rtol=1e-6)


def test_nothing_reached_is_no_trap_and_is_not_drawn():
    none = widths.Reached(np.array([]), np.array([]))
    some = widths.Reached(np.array([1.0, 1.5]), np.array([0.1, 0.2]))
    assert none.traps == 0 and some.traps == 1
    fig = widths.by_width({1: none, 2: some}, convex=0.9, mark=2)
    np.testing.assert_allclose(fig.axes[1].lines[0].get_ydata(), [0.0, 50.0])


def test_a_minimum_without_certificate_is_refused(monkeypatch: pytest.MonkeyPatch):
    convex = factored.convex
    monkeypatch.setattr(factored, "convex", lambda p: convex(p, steps=1))
    with pytest.raises(ValueError, match=r"certified to a duality gap of .* only; 1e-8 is needed"):
        widths.same_minimum(widths.papers(1, seed=0, variance=0.0), 3, seed=0)
