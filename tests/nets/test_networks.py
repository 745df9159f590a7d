"""Networks: shapes, activations and slopes, initializations, trial by trial."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from lowdim.nets import networks
from lowdim.nets.networks import ACTIVATIONS, INITIALIZATIONS, Dense, autoencoder
from lowdim.seeds import generator

REFERENCE = {
    "identity": lambda z: z,
    "relu": torch.relu,
    "leaky_relu": torch.nn.functional.leaky_relu,
    "gelu": torch.nn.functional.gelu,
    "silu": torch.nn.functional.silu,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
}


def same(a, b) -> bool:
    return all(
        torch.equal(W, V) and ((b_ is None) == (c is None)) and (b_ is None or torch.equal(b_, c))
        for (W, b_), (V, c) in zip(a, b, strict=True)
    )


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_value_and_slope_agree_with_autograd(name: str) -> None:
    z = torch.linspace(-6, 6, 240, dtype=torch.float64).view(2, 3, 40).requires_grad_()
    wanted = REFERENCE[name](z)
    (slope,) = torch.autograd.grad(wanted.sum(), z)
    act = ACTIVATIONS[name]
    assert torch.allclose(act(z.detach()), wanted.detach(), rtol=1e-14, atol=1e-15)
    assert torch.allclose(act.slope(z.detach()), slope, rtol=1e-12, atol=1e-14)


def test_gelu_is_the_exact_one() -> None:
    z = torch.tensor([1.3], dtype=torch.float64)
    exact = 1.3 * 0.5 * (1 + math.erf(1.3 / math.sqrt(2)))
    assert abs(ACTIVATIONS["gelu"](z).item() - exact) < 1e-15


@pytest.mark.parametrize("name", ["identity", "relu", "leaky_relu", "tanh", "sigmoid"])
def test_in_place_value_gives_the_same(name: str) -> None:
    z = torch.randn(2, 3, 4, generator=torch.Generator().manual_seed(0))
    wanted, act = ACTIVATIONS[name](z), ACTIVATIONS[name]
    assert not act.keeps_input
    act.value(z, z)
    assert torch.equal(z, wanted)


def test_a_function_of_ones_own() -> None:
    act = networks.activation(lambda z: torch.sin(z) + z**2)
    z = torch.linspace(-2, 2, 9, dtype=torch.float64)
    assert torch.allclose(act.slope(z), torch.cos(z) + 2 * z)
    assert torch.allclose(
        networks.leaky_relu(0.3).slope(torch.tensor([-1.0, 1.0]))[0], torch.tensor(0.3)
    )


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("depth", [1, 2, 4])
def test_forward_is_a_sequential_of_linear_layers(bias: bool, depth: int) -> None:
    widths = (5, 4, 6, 3, 2)[: depth + 1]
    net = Dense(widths, activation="tanh", output="sigmoid", bias=bias)
    weights = net.init(trials=3, seed=2, dtype=torch.float64)
    X = torch.randn(3, 5, 7, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    pre, post = net.forward(weights, X)
    for t in range(3):
        H = X[t].T
        for layer, (W, b) in enumerate(weights):
            Z = torch.nn.functional.linear(H, W[t], None if b is None else b[t, :, 0])
            H = torch.sigmoid(Z) if layer == depth - 1 else torch.tanh(Z)
            assert torch.allclose(pre[layer][t], Z.T, atol=1e-14)
            assert torch.allclose(post[layer][t], H.T, atol=1e-14)


def test_shared_data_is_spread_over_trials() -> None:
    net = Dense((4, 3), output="relu")
    weights, X = net.init(trials=3), torch.randn(4, 6)
    assert torch.equal(
        net.forward(weights, X)[1][0], net.forward(weights, X.expand(3, 4, 6).contiguous())[1][0]
    )


@settings(max_examples=40, deadline=None)
@given(
    kind=st.sampled_from(INITIALIZATIONS),
    seed=st.integers(-(2**40), 2**40),
    trial=st.integers(0, 6),
    bias=st.booleans(),
    widths=st.lists(st.integers(1, 6), min_size=2, max_size=4),
)
def test_a_trial_alone_is_that_trial_of_many(kind, seed, trial, bias, widths) -> None:
    net = Dense(tuple(widths), bias=bias)
    many = net.init(trials=7, seed=seed, kind=kind)
    alone = net.init(trials=1, seed=seed, kind=kind, first_trial=trial)
    assert same(
        [(W[trial : trial + 1], None if b is None else b[trial : trial + 1]) for W, b in many],
        alone,
    )


def test_trials_seeds_and_purposes_differ() -> None:
    net = Dense((6, 5))
    W = net.init(trials=2, seed=0)[0][0]
    assert not torch.equal(W[0], W[1])
    assert not torch.equal(W, net.init(trials=2, seed=1)[0][0])
    assert not torch.equal(net.init(seed=5)[0][0], net.init(seed=-5)[0][0])
    assert generator(0, 0, "weights").random() != generator(0, 0, "batches").random()


def test_global_random_state_is_left_alone() -> None:
    torch.manual_seed(0)
    before = torch.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
    Dense((6, 5)).init(trials=3)
    assert torch.equal(before[0], torch.get_rng_state())
    assert np.array_equal(before[1], np.random.get_state()[1])  # noqa: NPY002


def test_initializations_have_the_sizes_they_say() -> None:
    net = Dense((300, 200), bias=True)

    def draw(kind: str, scale=None):
        W, b = net.init(trials=2, kind=kind, scale=scale, dtype=torch.float64)[0]
        return W, b

    W, b = draw("uniform")
    assert W.abs().max() <= 1 / math.sqrt(300) < 1.001 * W.abs().max()
    assert b.abs().max() <= 1 / math.sqrt(300) and b.std() > 0
    assert abs(draw("uniform", 2.0)[0].std().item() - 2 / math.sqrt(3)) < 0.02
    assert abs(draw("normal", 0.5)[0].std().item() - 0.5) < 0.005
    assert abs(draw("kaiming")[0].std().item() - math.sqrt(2 / 300)) < 1e-3
    assert draw("kaiming")[1].abs().max() == 0
    assert draw("xavier")[0].abs().max() <= math.sqrt(6 / 500)
    W, b = draw("nonnegative", 0.1)
    assert W.min() >= 0 and W.max() <= 0.1 and W.max() > 0.0999 and b.min() >= 0
    W, _ = draw("orthogonal", 3.0)
    assert torch.allclose(W @ W.mT, 9 * torch.eye(200, dtype=torch.float64), atol=1e-12)
    W = Dense((200, 300), bias=False).init(kind="orthogonal", dtype=torch.float64)[0][0]
    assert torch.allclose(W.mT @ W, torch.eye(200, dtype=torch.float64), atol=1e-12)


def test_scale_for_each_layer_and_rounding() -> None:
    net = Dense((50, 40, 30), bias=False)
    one, two = net.init(kind="uniform", scale=(0.1, 2.0))
    assert one[0].abs().max() <= 0.1 < 1 < two[0].abs().max() <= 2
    double = net.init(seed=3, dtype=torch.float64)
    single = net.init(seed=3)
    assert all(torch.equal(a.float(), b) for (a, _), (b, _) in zip(double, single, strict=True))


def test_autoencoder_mirrors() -> None:
    assert autoencoder(400, 80).widths == (400, 80, 400)
    assert autoencoder(64, 32, 24).widths == (64, 32, 24, 32, 64)
    assert autoencoder(9, 3, output="relu", bias=False).activations[-1].name == "relu"


def test_activations_by_layer() -> None:
    names = [a.name for a in Dense((2, 3, 4, 5), activation=("tanh", "relu")).activations]
    assert names == ["tanh", "relu", "identity"]
    names = [a.name for a in Dense((2, 3, 4), activation=("tanh", "relu")).activations]
    assert names == ["tanh", "relu"]
    assert Dense((2, 3, 4)) == Dense([2, 3, 4]) and hash(Dense((2, 3))) == hash(Dense((2, 3)))


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Dense((4,)), r"two or more whole numbers.*\(4,\)"),
        (lambda: Dense((4, 0)), r"1 or more; you gave \(4, 0\)"),
        (lambda: Dense((4, 2), activation="rleu"), "one of identity, relu.*'rleu'"),
        (
            lambda: Dense((4, 2, 3), activation=("relu",) * 3),
            "depth 2 takes one activation.*gave 3",
        ),
        (lambda: Dense((4, 2), activation=("relu",), output="relu"), "then no output"),
        (lambda: Dense((4, 2)).init(kind="he"), "kind must be one of 'uniform'.*'he'"),
        (lambda: Dense((4, 2)).init(trials=0), "trials must be a whole number, 1 or more.*0"),
        (lambda: Dense((4, 2)).init(scale=-1.0), "above 0.*-1.0"),
        (lambda: Dense((4, 2)).init(scale=(1.0, 2.0)), r"above 0, or 1 of them.*\(1.0, 2.0\)"),
        (lambda: Dense((4, 2)).init(dtype=torch.int32), "dtype must be one of"),
        (lambda: Dense((4, 2)).init(seed=0.5), "seed must be a whole number.*0.5"),
        (lambda: autoencoder(4), "inner width"),
        (lambda: networks.leaky_relu(-1.0), "0 or more.*-1.0"),
        (lambda: networks.activation(3), "or a function of a tensor; you gave 3"),
        (lambda: networks.activation(lambda z: z.sum())(torch.ones(2)), "its input's shape"),
        (lambda: networks.activation(lambda z: (z > 0).float()).slope(torch.ones(2)), "no slope"),
    ],
)
def test_refusals(make, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        make()


def test_forward_refuses_what_does_not_fit() -> None:
    net = Dense((4, 2))
    weights = net.init(trials=3)
    with pytest.raises(ValueError, match=r"X needs the shape \(3, 4, n\).*\(2, 4, 5\)"):
        net.forward(weights, torch.ones(2, 4, 5))
    with pytest.raises(ValueError, match=r"float32 and torch\.float64"):
        net.forward(weights, torch.ones(3, 4, 5, dtype=torch.float64))
    with pytest.raises(
        ValueError, match=r"layer 1 needs W and b of shapes .*\(3, 2, 1\); theirs .*None"
    ):
        net.forward([(weights[0][0], None)], torch.ones(3, 4, 5))
    with pytest.raises(ValueError, match="needs 1 pairs"):
        net.forward(weights * 2, torch.ones(3, 4, 5))
