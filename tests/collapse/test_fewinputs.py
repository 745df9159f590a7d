"""Few distinct inputs: what descent sees of a layer, and the bound by the gradient."""

from __future__ import annotations

import pytest
import torch
from lowdim.collapse import fewinputs


def test_labels_may_all_differ_and_the_bound_is_never_crossed():
    problem = fewinputs.few_inputs(distinct=2, points=12, seed=3)
    for seen in problem.descents((0.1, 0.01), steps=300, seed=1):
        assert seen.crossed == 0
        assert seen.distance[-1] < seen.distance[0]


def test_the_first_look_is_at_the_start():
    problem, lam = fewinputs.few_inputs(seed=0), 0.1
    seen = problem.descend(lam, steps=2, seed=4)
    weights = [tuple(t.requires_grad_() for t in pair) for pair in problem.start(trials=1, seed=4)]
    beyond = torch.linalg.svdvals(weights[1][0][0])[problem.distinct :]
    assert torch.isclose(seen.distance[0], beyond.norm())
    (A, a), (B, b), (C, c) = weights
    off = C @ torch.tanh(B @ torch.tanh(A @ problem.X + a) + b) + c - problem.Y
    penalty = sum(t.square().sum() for pair in weights for t in pair)
    loss = off.square().sum() / problem.X.shape[1] + lam * penalty
    (gradient,) = torch.autograd.grad(loss, weights[1][0])
    assert torch.isclose(seen.gradient[0], gradient.norm())


def test_the_bound_scales_with_the_decay():
    made = fewinputs.Descent(0.5, torch.arange(2).numpy(), torch.ones(2), torch.tensor([2.0, 0.5]))
    assert made.bound.tolist() == [2.0, 0.5]
    assert made.crossed == 1


def test_a_descent_is_made_once():
    one, same = fewinputs.few_inputs(seed=5), fewinputs.few_inputs(points=24, seed=5)
    assert one is same and one is not fewinputs.few_inputs(seed=6)
    (first,), (again,) = (each.descents((0.1,), steps=3, seed=0) for each in (one, same))
    assert first is again


def test_more_distinct_inputs_than_points_are_refused():
    with pytest.raises(ValueError, match="points"):
        fewinputs.few_inputs(distinct=5, points=3)
