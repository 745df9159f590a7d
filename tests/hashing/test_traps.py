"""Traps: strict local minima by probing, and what the convex problem says of them."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from lowdim.hashing import factored, traps
from lowdim.seeds import generator


@pytest.mark.parametrize("T", [1, 2, 3])
def test_no_small_step_leads_down_and_descent_stays(T):
    p, A = traps.direct_sum(T)
    rng = generator(0, T, "traps")
    steps = torch.from_numpy(1e-3 * rng.standard_normal((200, 2, *A.shape)))
    near = p.value(A + steps[:, 0], A.mT + steps[:, 1].mT)
    assert bool((near > p.value(A, A.mT)).all())
    end = factored.descend(p, start=(A + steps[0, 0], A.mT + steps[0, 1].mT))
    assert end.value.item() == pytest.approx(p.value(A, A.mT).item(), rel=1e-9)


@pytest.mark.parametrize("T", [1, 2, 4])
def test_it_is_flat_along_rotations_only_and_above_a_product_of_the_same_width(T):
    p, A = traps.direct_sum(T, extra=2)
    at = traps.look(p, A)
    assert tuple(A.shape) == (T + 3, T)
    assert at.gradient < 1e-12 and at.lowest > -1e-9 and at.next > 0.1
    assert (at.flat, at.rank) == (T * (T - 1) // 2, T)
    assert at.excess == pytest.approx(20.0, rel=1e-6)


def test_one_more_column_is_the_way_out():
    p, A = traps.smallest()
    wide = torch.cat([A, torch.zeros_like(A)], 1)
    bent = torch.linalg.eigvalsh(factored.hessian(p, wide, wide.mT))[0]
    assert bent.item() == pytest.approx(-12.0)


def test_a_point_that_is_no_minimum_is_seen_to_be_none():
    p, _ = traps.smallest()
    at = traps.look(p, torch.zeros(2, 1, dtype=torch.float64))
    assert at.gradient == 0 and at.lowest < 0


def test_the_picture_has_its_heights():
    fig, (ridge, trap, least, path) = traps.pictured()
    p, _ = traps.smallest()
    start = np.linspace(0.1, 2, 5)
    found = [factored.descend(p, width=1, seed=i, scale=s).value for i, s in enumerate(start)]
    assert min(found).item() == pytest.approx(least, rel=1e-6)
    assert least < path < trap < ridge
    assert [ax.get_title() for ax in fig.axes] == ["$T=1$", "$T=2$"]


def test_a_problem_of_a_product_keeps_leading_axes():
    weights = torch.rand(3, 2, 4, dtype=torch.float64)
    p = traps.plain(weights, torch.ones_like(weights))
    W = torch.zeros(3, 2, 4, dtype=torch.float64)
    torch.testing.assert_close(p.loss(W), weights.sum((-2, -1)))


def test_a_width_of_zero_is_refused():
    with pytest.raises(ValueError, match=r"T must be a whole number, 1 or more; you gave 0"):
        traps.direct_sum(0)
