"""A layer's gradient as a product, and its second derivative in the data."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from lowdim.collapse import gradients
from lowdim.nets import networks, training

NETS = [
    (networks.Dense((3, 4, 2, 3), activation="tanh"), 1e-12),
    (networks.Dense((3, 4, 2), activation="tanh", output="tanh", bias=False), 1e-12),
    (networks.Dense((2, 3, 3, 2), activation="sigmoid", output="sigmoid"), 1e-12),
    (networks.Dense((3, 5, 4, 2), activation="relu"), 1e-12),
    (networks.Dense((2, 2), activation="identity"), 1e-12),
]
SMOOTH = NETS[:3] + NETS[4:]


def setting(net, seed=0, trials=3, samples=6, scale=1.0):
    rng = np.random.default_rng(seed)
    weights = net.init(trials=trials, seed=seed, kind="normal", scale=scale, dtype=torch.float64)
    X = torch.from_numpy(rng.standard_normal((trials, net.widths[0], samples)))
    Y = torch.from_numpy(rng.standard_normal((trials, net.widths[-1], samples)))
    return weights, X, Y


def hidden(net, weights, X, start):
    return X if start == 0 else net.forward(weights, X)[1][start - 1]


@pytest.mark.parametrize(("net", "tolerance"), NETS)
def test_factors_multiply_to_the_trained_gradient(net, tolerance):
    weights, X, Y = setting(net)
    expected = training.Objective(net, X, Y, normalization="sample").gradients(weights)
    for (delta, inputs), (G, _) in zip(
        gradients.factors(net, weights, X, Y), expected, strict=True
    ):
        torch.testing.assert_close(
            delta @ inputs.mT / X.shape[-1], G, atol=tolerance, rtol=tolerance
        )


@pytest.mark.parametrize(("net", "tolerance"), NETS)
def test_gradients_of_samples_do_not_depend_on_where_the_network_is_cut(net, tolerance):
    weights, X, Y = setting(net)
    G = training.Objective(net, X, Y, normalization="sample").gradients(weights)
    for layer in range(1, net.depth + 1):
        for start in range(layer):
            Z = hidden(net, weights, X, start)
            each = gradients.sample_gradients(net, weights, Z, Y, layer=layer, start=start)
            torch.testing.assert_close(
                each.mean(1), G[layer - 1][0], atol=tolerance, rtol=tolerance
            )


@pytest.mark.parametrize("net", [net for net, _ in SMOOTH])
def test_bend_is_the_second_difference(net):
    weights, X, Y = setting(net, scale=0.7)
    layer, start, t = net.depth, net.depth - 1, 1e-3
    Z = hidden(net, weights, X, start)
    rng = np.random.default_rng(9)
    u = tuple(torch.from_numpy(rng.standard_normal(tuple(A.shape))) for A in (Z, Y))

    def at(s):
        return gradients.sample_gradients(
            net, weights, Z + s * u[0], Y + s * u[1], layer=layer, start=start
        )

    first, second = gradients.bend(net, weights, Z, Y, u, layer=layer, start=start)
    torch.testing.assert_close(first, (at(t) - at(-t)) / (2 * t), atol=2e-4, rtol=1e-4)
    torch.testing.assert_close(second, (at(t) - 2 * at(0) + at(-t)) / t**2, atol=3e-3, rtol=1e-3)


@pytest.mark.parametrize("net", [net for net, _ in SMOOTH])
@pytest.mark.parametrize("labels", [None, [0, 0, 1, 1, 1, 0]])
def test_searched_and_seen_bends_stay_below_the_certified_one(net, labels):
    weights, X, Y = setting(net, seed=4, scale=0.8)
    for layer in range(1, net.depth + 1):
        start = layer - 1
        Z = hidden(net, weights, X, start)
        where = {"layer": layer, "start": start}
        low = gradients.largest_bend(net, weights, Z, Y, labels=labels, steps=15, **where)
        high = gradients.certified_bend(net, weights, Z, Y, labels=labels, **where)
        assert (low <= high).all() and (low > 0).all()
        assert torch.isfinite(high).all()
        if labels is None:
            u = Z / 2, Y / 2
            size = torch.sqrt(u[0].square().sum(1) + u[1].square().sum(1))
            seen = gradients.bend(net, weights, Z, Y, u, **where)[1].norm(dim=(-2, -1)) / size**2
            assert (seen <= high[:, None] * (1 + 1e-9)).all()
            whole = gradients.bend_norm(net, weights, Z, Y, **where)
            assert (seen <= whole * (1 + 1e-9)).all()


def test_search_finds_the_known_supremum_of_a_linear_unit():
    """g = 2(wz - y)z has the constant Hessian 2(2w, -1; -1, 0), of norm 2(w + sqrt(1 + w^2))."""
    net = networks.Dense((1, 1), bias=False)
    for w in (0.0, 0.75, 3.0):
        W = [(torch.full((1, 1, 1), w, dtype=torch.float64), None)]
        Z = torch.tensor([[[1.0, 2.0, -1.0]]], dtype=torch.float64)
        found = gradients.largest_bend(net, W, Z, Z, layer=1, start=0, steps=200, starts=6)
        assert found.item() == pytest.approx(2 * (w + (1 + w * w) ** 0.5), rel=1e-6)
        norm = gradients.bend_norm(net, W, Z, Z, layer=1, start=0)
        assert norm[0, 0].item() == pytest.approx((16 * w * w + 8) ** 0.5, rel=1e-12)
        bound = gradients.certified_bend(net, W, Z, Z, layer=1, start=0)
        assert found.item() <= bound.item()


def test_trials_do_not_depend_on_one_another():
    net, _ = NETS[0]
    weights, X, Y = setting(net, trials=3)
    one = [(W[1:2], b[1:2]) for W, b in weights]
    for many, alone in (
        (
            gradients.certified_bend(net, weights, X, Y, layer=2, start=0)[1:2],
            gradients.certified_bend(net, one, X[1:2], Y[1:2], layer=2, start=0),
        ),
        (
            gradients.factors(net, weights, X, Y)[1][0][1:2],
            gradients.factors(net, one, X[1:2], Y[1:2])[1][0],
        ),
    ):
        torch.testing.assert_close(many, alone)


def test_refusals():
    net = networks.Dense((2, 2, 2), activation="gelu")
    weights, X, Y = setting(net)
    with pytest.raises(ValueError, match="activation must be one of"):
        gradients.sample_gradients(net, weights, X, Y, layer=1, start=0)
    net = networks.Dense((2, 2, 2), activation="relu")
    with pytest.raises(ValueError, match="activation must be one of"):
        gradients.certified_bend(net, weights, X, Y, layer=1, start=0)
    with pytest.raises(ValueError, match="start from 0 to layer - 1"):
        gradients.sample_gradients(net, weights, X, Y, layer=1, start=1)
