"""Minima beside ground truths: the proved inequalities, balance, and the exact counterexample."""

from __future__ import annotations

from itertools import pairwise

import pytest
import torch
from lowdim.hashing import factored, threelayer, weighing
from lowdim.seeds import generator


@pytest.fixture(scope="module")
def cases() -> list[weighing.Case]:
    return weighing.random_cases(6, generator(0, 0, "weighing"))


def test_cases_are_drawn_one_after_the_other(cases: list[weighing.Case]) -> None:
    first = weighing.random_cases(2, generator(0, 0, "weighing"))
    assert torch.equal(first[1].Z, cases[1].Z)
    assert first[1][1:] == cases[1][1:]
    assert all(bool((case.Z >= 0).all()) for case in cases)


def test_the_own_weight_keeps_every_term_and_balances(cases: list[weighing.Case]) -> None:
    for case in cases:
        loss, A, B, V = weighing.ratios(case, weighing.minimum(case, "own"))
        assert loss + A + B + V <= 4 * (1 + 1e-6)
        assert A == pytest.approx(B + V, rel=1e-3)
        assert A <= 2 * (1 + 1e-6)


def test_rungs_begin_at_the_variance_and_rise(cases: list[weighing.Case]) -> None:
    for case in cases[:3]:
        found = weighing.minimum(case, "printed")
        steps = weighing.rungs(found, 3)
        flat, labels = factored.columns(case.Z)
        V = factored.within_variance(found.B @ flat, labels, unbiased=True)
        assert steps[0] == pytest.approx(float(V))
        assert all(a <= b * (1 + 1e-5) for a, b in pairwise(steps))


def test_without_a_variance_penalty_there_are_no_rungs(cases: list[weighing.Case]) -> None:
    with pytest.raises(ValueError, match="no variance penalty"):
        weighing.rungs(weighing.minimum(cases[0], "none"), 3)


def test_features_of_the_cross_have_the_variance_said() -> None:
    Z = weighing.cross_features(0.3, 0.1)
    centred = Z - Z.mean(1, keepdim=True)
    assert torch.allclose(centred.square().sum((1, 2)), torch.full((2,), 2 * 0.09).double())
    assert torch.equal(Z[0, :, [0, 2]], Z[1, :, [1, 3]])


def test_the_minimum_on_the_cross_is_not_bounded_by_epsilon() -> None:
    worst = []
    for eta in (0.1, 0.01):
        p = threelayer.objective(weighing.cross_features(0.112, eta), 0.0105, 2 / eta**2)
        found = factored.convex(p, goal=1e-12)
        worst.append(float(threelayer.stationary_variance(found, 2)[0]) / 0.0105)
    assert worst[0] > 8 and worst[1] > 100
