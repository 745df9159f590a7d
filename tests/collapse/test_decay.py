"""What a penalty alone does to a run: the start is forgotten at the stated rate; costs by hand."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from lowdim.collapse import decay, linear
from lowdim.nets.networks import Dense
from lowdim.nets.training import Drawn, Momentum, Objective, train


def normal(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 60), st.floats(0, 0.4), st.floats(0.01, 1.0))
def test_forgetting_without_momentum_is_a_power(steps, lam, rate):
    expected = (1 - 2 * rate * lam) ** steps
    assert decay.forgetting(steps, decay=lam, rate=rate) == pytest.approx(expected, abs=1e-12)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 40), st.floats(0, 0.95), st.booleans(), st.integers(0, 99))
def test_what_no_sample_touches_is_forgotten_at_that_rate(steps, beta, some, seed):
    """A run on data in two of five dimensions, each trial with a penalty of its own."""
    net, lams = Dense((5, 4, 3), activation="tanh"), torch.tensor([0.0, 0.02, 0.3]).double()
    X, Y = normal(5, 2, seed=seed), normal(3, 2, seed=seed + 1)
    start = net.init(trials=3, seed=seed, dtype=torch.float64)
    task = Objective(net, X, Y, normalization="sample", penalty=lams)
    batches = Drawn(lambda step: torch.tensor([step % 2])) if some else None
    run = train(task, start, Momentum(0.05, beta), steps, batches=batches, schedule=[0])
    unseen = torch.eye(5, dtype=torch.float64) - X @ torch.linalg.pinv(X)
    for t, lam in enumerate(lams.tolist()):
        rho = decay.forgetting(steps, decay=lam, rate=0.05, momentum=beta)
        after, before = run.weights[0][0][t] @ unseen, start[0][0][t] @ unseen
        torch.testing.assert_close(after, rho * before, atol=1e-12, rtol=1e-9)


def test_one_linear_layer_reaches_ridge():
    net, X, Y = Dense((4, 3), bias=False), normal(3, 4, 9), normal(3, 3, 9, seed=1)
    lams = torch.tensor([0.1, 0.5, 1.0]).double()
    task = Objective(net, X, Y, normalization="sample", penalty=lams)
    end = train(task, net.init(trials=3, dtype=torch.float64), Momentum(0.05), 800)
    torch.testing.assert_close(end.weights[0][0], linear.ridge(X, Y, lams), atol=1e-8, rtol=0)
    assert float(end.gradient_norm.max()) < 1e-7


def test_flops_of_one_layer_by_hand():
    # 3 x 2 weights: 2 forward and 2 for the gradient a sample, 6 + 2 parameters updated
    assert decay.flops(Dense((3, 2)), 10) == 10 * 4 * 6 + 6 * 8


def test_steps_must_be_whole():
    with pytest.raises(ValueError, match="steps must be a whole number, 0 or more; you gave -1"):
        decay.forgetting(-1, decay=0.1, rate=0.1)
