"""Descent with a decay for each trial and layer: against autograd, closed forms and itself."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from lowdim.collapse import decay, linear
from lowdim.nets import training
from lowdim.nets.networks import Dense


def problem(trials=3, n=7, activation="tanh", seed=0):
    net = Dense((4, 5, 3), activation=activation)
    random = torch.Generator().manual_seed(seed)
    X = torch.randn(trials, 4, n, generator=random, dtype=torch.float64)
    Y = torch.randn(trials, 3, n, generator=random, dtype=torch.float64).softmax(1)
    return net, net.init(trials=trials, seed=seed, dtype=torch.float64), X, Y


@pytest.mark.parametrize("loss", decay.LOSSES)
@pytest.mark.parametrize("activation", ["tanh", "relu"])
def test_one_step_is_autograd(loss, activation):
    net, weights, X, Y = problem(activation=activation)
    leaves = [t.clone().requires_grad_() for pair in weights for t in pair]
    H = getattr(torch, activation)(leaves[0] @ X + leaves[1])
    F = leaves[2] @ H + leaves[3]
    fit = (F - Y).square() if loss == "square" else -Y * F.log_softmax(1)
    lam = torch.tensor([[0.1, 0.2], [0.0, 0.3], [0.5, 0.0]]).double()
    layer = (0, 0, 1, 1)
    penalty = sum(
        (lam[:, k, None, None] * t.square()).sum() for k, t in zip(layer, leaves, strict=True)
    )
    (fit.sum() / X.shape[2] + penalty).backward()
    end = decay.descend(net, weights, X, Y, decay=lam, rate=0.1, steps=1, loss=loss)
    moved = [t for pair in end.weights for t in pair]
    for after, before in zip(moved, leaves, strict=True):
        torch.testing.assert_close(after, before.detach() - 0.1 * before.grad)


def test_agrees_with_the_other_trainer():
    net, weights, X, Y = problem()
    ours = decay.descend(net, weights, X, Y, decay=0.05, rate=0.02, momentum=0.9, steps=30)
    theirs = training.train(
        net, weights, X, Y, method="momentum", momentum=0.9, rate=0.02, steps=30, loss="sample",
        weight_decay=0.1, schedule=30, progress=False,
    )  # fmt: skip
    for (W, b), (V, c) in zip(ours.weights, theirs.weights, strict=True):
        torch.testing.assert_close(W, V)
        torch.testing.assert_close(b, c)
    torch.testing.assert_close(ours.objective, theirs.objective)


def test_a_trial_is_the_same_alone():
    net, weights, X, Y = problem()
    rates, lams = torch.tensor([0.01, 0.05, 0.1]), torch.tensor([0.0, 0.1, 0.2])
    many = decay.descend(net, weights, X, Y, decay=lams, rate=rates, steps=20)
    one = [(W[1:2], b[1:2]) for W, b in weights]
    alone = decay.descend(net, one, X[1:2], Y[1:2], decay=0.1, rate=0.05, steps=20)
    torch.testing.assert_close(many.weights[0][0][1:2], alone.weights[0][0])
    torch.testing.assert_close(many.objective[1:2], alone.objective)


def test_one_linear_layer_reaches_ridge():
    net = Dense((4, 3), bias=False)
    _, _, X, Y = problem(n=9)
    start = net.init(trials=3, dtype=torch.float64)
    lams = torch.tensor([0.1, 0.5, 1.0]).double()
    end = decay.descend(net, start, X, Y, decay=lams, rate=0.05, steps=800)
    torch.testing.assert_close(end.weights[0][0], linear.ridge(X, Y, lams), atol=1e-8, rtol=0)
    assert float(end.gradient_norm.max()) < 1e-7


def test_all_columns_picked_is_the_full_batch():
    net, weights, X, Y = problem()
    full = decay.descend(net, weights, X, Y, decay=0.1, rate=0.05, steps=5)
    turned = torch.arange(7).flip(0)
    same = decay.descend(net, weights, X, Y, decay=0.1, rate=0.05, steps=5, pick=lambda _: turned)
    torch.testing.assert_close(full.weights[0][0], same.weights[0][0])


def test_measures_at_the_steps_asked_for_and_keeps_the_start():
    net, weights, X, Y = problem()
    before = weights[0][0].clone()
    norm = {"norm": lambda w: w[0][0].norm(dim=(1, 2))}
    path = decay.descend(
        net, weights, X, Y, decay=0.1, rate=0.05, steps=6, measure=norm, schedule=[6, 0, 2]
    )
    assert path.steps == (0, 2, 6)
    assert torch.equal(weights[0][0], before)
    torch.testing.assert_close(path.trace["norm"][0], before.norm(dim=(1, 2)))
    torch.testing.assert_close(path.trace["norm"][-1], path.weights[0][0].norm(dim=(1, 2)))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 60), st.floats(0, 0.4), st.floats(0.01, 1.0))
def test_forgetting_without_momentum_is_a_power(steps, lam, rate):
    expected = (1 - 2 * rate * lam) ** steps
    assert decay.forgetting(steps, decay=lam, rate=rate) == pytest.approx(expected, abs=1e-12)


def test_flops_of_one_layer_by_hand():
    # 3 x 2 weights: 2 forward and 2 for the gradient a sample, 6 + 2 parameters updated
    assert decay.flops(Dense((3, 2)), 10) == 10 * 4 * 6 + 6 * 8


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"decay": -1.0}, "decay"),
        ({"decay": [0.1, 0.2]}, "decay"),
        ({"rate": [[0.1, 0.2]]}, "rate"),
        ({"loss": "hinge"}, "loss"),
        ({"steps": -1}, "steps"),
    ],
)
def test_refuses(change, says):
    net, weights, X, Y = problem()
    with pytest.raises(ValueError, match=says):
        decay.descend(net, weights, X, Y, **({"decay": 0.1, "rate": 0.1, "steps": 1} | change))


def test_refuses_other_targets():
    net, weights, X, Y = problem()
    with pytest.raises(ValueError, match="samples"):
        decay.descend(net, weights, X, Y[..., :3], decay=0.1, rate=0.1, steps=1)
