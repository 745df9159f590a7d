"""Objectives: values, gradients and penalties against autograd, differences and closed forms."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from lowdim.nets import _engine
from lowdim.nets.losses import NORMALIZATIONS, Quadratic, coefficient
from lowdim.nets.networks import ACTIVATIONS, Dense, flat
from lowdim.nets.objective import Objective, from_weight_decay

F64 = torch.float64
OWN = {"own": lambda z: torch.sin(z) + 0.1 * z}


def data(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=F64)


def outputs(net, weights, X):
    """The network by ordinary torch, differentiable."""
    H = X
    for (W, b), act in zip(weights, net.activations, strict=True):
        Z = W @ H if b is None else W @ H + b
        if act.name == "<lambda>":
            H = OWN["own"](Z)
        else:
            H = Z if act.name == "identity" else getattr(torch.nn.functional, act.name)(Z)
    return H


def by_torch(net, weights, X, target, *, loss="square", normalization="sum", penalty=0.0):
    """The objective of each trial from torch's own losses, sample by sample; λ (T, L) or one."""
    F, functional = outputs(net, weights, X), torch.nn.functional
    table = torch.as_tensor(penalty, dtype=F64).expand(len(X), net.depth)
    values = []
    for t in range(len(X)):
        if loss == "square":
            value = functional.mse_loss(F[t], target[t], reduction="sum")
        else:
            value = functional.cross_entropy(F[t].T, target[t].T, reduction="sum")
        many = {"sum": 1, "sample": X.shape[2], "mean": F[t].numel(), "half": 2 * X.shape[2]}
        value = value / many[normalization]
        for lam, pair in zip(table[t], weights, strict=True):
            value = value + lam * sum((p[t] ** 2).sum() for p in pair if p is not None)
        values.append(value)
    return torch.stack(values)


def check(net, weights, X, Y, **options) -> None:
    """Value, loss and gradients are those of autograd, and ``differentiable`` agrees."""
    tracked = [
        (W.clone().requires_grad_(), None if b is None else b.clone().requires_grad_())
        for W, b in weights
    ]
    wanted = by_torch(net, tracked, X, Y, **options)
    slopes = torch.autograd.grad(wanted.sum(), flat(tracked))
    ours = Objective(net, X, Y, **options)
    torch.testing.assert_close(ours.value(weights), wanted.detach(), rtol=1e-12, atol=0)
    bare = by_torch(net, weights, X, Y, **(options | {"penalty": 0.0}))
    torch.testing.assert_close(ours.losses(weights), bare, rtol=1e-12, atol=0)
    for mine, theirs in zip(flat(ours.gradients(weights)), slopes, strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-9, atol=1e-11)
    again = ours.differentiable(tracked)
    torch.testing.assert_close(again, wanted, rtol=1e-12, atol=0)
    for mine, theirs in zip(torch.autograd.grad(again.sum(), flat(tracked)), slopes, strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("name", [*ACTIVATIONS, "own"])
def test_gradients_against_autograd(name: str, bias: bool) -> None:
    act = OWN.get(name, name)
    for depth in (1, 2, 3, 4):
        for output in (None, act):
            net = Dense((5, 4, 6, 3, 5)[: depth + 1], activation=act, output=output, bias=bias)
            weights = net.init(trials=3, seed=depth, dtype=F64, kind="normal")
            X, Y = data(3, 5, 7, seed=1), data(3, net.widths[-1], 7, seed=2)
            for normalization in NORMALIZATIONS:
                for penalty in (0.0, 0.3):
                    check(net, weights, X, Y, normalization=normalization, penalty=penalty)


@pytest.mark.parametrize("output", [None, "tanh"])
@pytest.mark.parametrize("cache", [3_000_000, 1])
def test_cross_entropy_against_torch_s(output, cache: int, monkeypatch) -> None:
    monkeypatch.setattr(_engine, "_CACHE_BYTES", cache)
    net = Dense((5, 4, 3), activation="tanh", output=output)
    weights, X = net.init(trials=3, dtype=F64, kind="normal"), data(3, 5, 7)
    Y = data(3, 3, 7, seed=2).softmax(1)
    for normalization in NORMALIZATIONS:
        check(net, weights, X, Y, loss="entropy", normalization=normalization, penalty=0.1)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("cache", [3_000_000, 1])
def test_a_penalty_for_each_trial_and_layer(bias: bool, cache: int, monkeypatch) -> None:
    monkeypatch.setattr(_engine, "_CACHE_BYTES", cache)
    net = Dense((5, 4, 3), activation="silu", bias=bias)
    weights, X, Y = net.init(trials=3, dtype=F64), data(3, 5, 7), data(3, 3, 7, seed=2)
    table = torch.tensor([[0.1, 0.2], [0.0, 0.3], [0.5, 0.0]], dtype=F64)
    check(net, weights, X, Y, normalization="sample", penalty=table)
    # one column stands for every layer, and one number for all
    column = Objective(net, X, Y, penalty=table[:, 0])
    full = Objective(net, X, Y, penalty=table[:, :1].expand(3, 2))
    torch.testing.assert_close(column.value(weights), full.value(weights))
    one, many = (Objective(net, X, Y, penalty=p) for p in (0.2, [0.2] * 3))
    torch.testing.assert_close(one.value(weights), many.value(weights))
    for a, b in zip(flat(one.gradients(weights)), flat(many.gradients(weights)), strict=True):
        torch.testing.assert_close(a, b)


def test_weight_decay_is_torch_s() -> None:
    """One step of torch.optim.SGD with weight_decay is one on our penalty."""
    net, X = Dense((3, 2)), data(1, 3, 5)
    weights, Y = net.init(dtype=F64), data(1, 2, 5, seed=1)
    parameters = [torch.nn.Parameter(p.clone()) for p in flat(weights)]
    optimizer = torch.optim.SGD(parameters, lr=0.1, weight_decay=0.4)
    (parameters[0] @ X + parameters[1] - Y).square().sum().backward()
    optimizer.step()
    ours = Objective(net, X, Y, penalty=from_weight_decay(0.4))
    for p, w, g in zip(parameters, flat(weights), flat(ours.gradients(weights)), strict=True):
        torch.testing.assert_close(p.detach(), w - 0.1 * g)


@settings(max_examples=30, deadline=None)
@given(
    widths=st.lists(st.integers(1, 5), min_size=2, max_size=5),
    samples=st.integers(1, 6),
    trials=st.integers(1, 4),
    bias=st.booleans(),
    seed=st.integers(0, 999),
)
def test_gradient_predicts_the_change(widths, samples, trials, bias, seed) -> None:
    net = Dense(tuple(widths), activation="tanh", bias=bias)
    weights = net.init(trials=trials, seed=seed, dtype=F64)
    X, Y = data(trials, widths[0], samples, seed=seed), data(trials, widths[-1], samples, seed=1)
    way = net.init(trials=trials, seed=seed + 1, kind="normal", dtype=F64)
    h, ours = 1e-5, Objective(net, X, Y, penalty=0.05)

    def moved(sign: float):
        return [
            (W + sign * h * V, None if b is None else b + sign * h * c)
            for (W, b), (V, c) in zip(weights, way, strict=True)
        ]

    slope = (ours.value(moved(1)) - ours.value(moved(-1))) / (2 * h)
    pairs = zip(flat(ours.gradients(weights)), flat(way), strict=True)
    assert torch.allclose(slope, sum((g * v).sum((1, 2)) for g, v in pairs), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("normalization", NORMALIZATIONS)
def test_one_linear_layer_has_its_gradient_zero_at_ridge_regression(normalization: str) -> None:
    net, X, Y = Dense((4, 3), bias=False), data(2, 4, 9), data(2, 3, 9, seed=1)
    lam = torch.tensor([0.1, 0.7], dtype=F64)
    c = coefficient(normalization, 9, 3)
    S = c * X @ X.mT + lam[:, None, None] * torch.eye(4, dtype=F64)
    best = torch.linalg.solve(S, c * X @ Y.mT).mT
    ours = Objective(net, X, Y, normalization=normalization, penalty=lam)
    assert ours.gradients([(best, None)])[0][0].abs().max() < 1e-13
    # and the value there is the closed form c‖Y‖² - c⟨Y Xᵀ, W⟩
    wanted = c * (Y.square().sum((1, 2)) - ((Y @ X.mT) * best).sum((1, 2)))
    torch.testing.assert_close(ours.value([(best, None)]), wanted)


def test_moments_charge_a_linear_network_as_its_data_do() -> None:
    x, g = data(2, 3, 20), data(2, 1, 20, seed=1)
    net = Dense((3, 4, 2, 1), activation="identity", bias=False)
    weights = net.init(trials=1, dtype=F64)
    for t in range(2):
        A, b = x[t] @ x[t].mT / 20, g[t] @ x[t].mT / 20
        moments = Objective(net, torch.eye(3, dtype=F64), b, loss=Quadratic(A))
        samples = Objective(net, x[t], g[t], normalization="half")
        apart = samples.value(weights) - moments.value(weights)
        torch.testing.assert_close(apart, g[t].square().mean((0, 1))[None] / 2)
        pairs = zip(flat(moments.gradients(weights)), flat(samples.gradients(weights)), strict=True)
        for mine, theirs in pairs:
            torch.testing.assert_close(mine, theirs)


def test_a_trial_of_an_objective() -> None:
    net = Dense((4, 3, 2), activation="tanh")
    weights, X, Y = net.init(trials=3, dtype=F64), data(4, 6), data(3, 2, 6, seed=1)
    whole = Objective(net, X, Y, normalization="sample", penalty=[0.1, 0.2, 0.3])
    for t in range(3):
        alone = whole.trial(t).value([(W[t : t + 1], b[t : t + 1]) for W, b in weights])
        torch.testing.assert_close(alone, whole.value(weights)[t : t + 1])


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"loss": "hinge"}, "loss must be one of 'square', 'entropy'; you gave 'hinge'"),
        ({"normalization": "avg"}, "normalization must be one of 'sum'.*you gave 'avg'"),
        ({"penalty": -0.1}, "penalty must be a number 0 or above.*-0.1"),
        ({"penalty": float("inf")}, "penalty must be a number 0 or above and finite.*inf"),
        ({"penalty": [0.1, -0.2]}, "penalty must be finite and not negative"),
        ({"penalty": [0.1] * 3}, r"penalty must be a number, \(2,\) or \(2, 2\); .* \(3,\)"),
        ({"target": torch.ones(3, 5)}, r"target needs the shape \(2, 4, n\).*\(3, 5\)"),
        ({"target": torch.ones(4, 6)}, "they have 6 and 5 samples"),
        ({"target": torch.full((4, 5), float("nan"))}, "target must be finite"),
        ({"target": 3}, "must be torch tensors"),
        (
            {"loss": Quadratic(torch.eye(5)), "normalization": "mean"},
            "normalization must be 'sum'; you gave 'mean'",
        ),
        (
            {"loss": Quadratic(torch.eye(4))},
            r"must be \(5, 5\) and torch.float32, .*; they are \(4, 4\)",
        ),
    ],
)
def test_refusals(options, says: str) -> None:
    net = Dense((4, 2, 4))
    with pytest.raises(ValueError, match=says) as caught:
        Objective(net, torch.ones(4, 5), **options).value(net.init(trials=2))
    assert "\n" not in str(caught.value)


def test_refuses_weights_and_data_that_are_not_finite_or_do_not_fit() -> None:
    net = Dense((4, 2))
    with pytest.raises(ValueError, match=r"without a target .* takes 4 numbers and returns 2"):
        Objective(net, torch.ones(4, 5)).value(net.init())
    X, Y = torch.ones(4, 5), torch.ones(2, 5)
    X[0, 0] = torch.inf
    with pytest.raises(ValueError, match="X must be finite"):
        Objective(net, X, Y).value(net.init())
    weights = net.init()
    weights[0][0][0, 0, 0] = torch.nan
    with pytest.raises(ValueError, match="weights must be finite"):
        Objective(net, torch.ones(4, 5), Y).value(weights)
