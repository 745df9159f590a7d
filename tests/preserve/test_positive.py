"""Positive layers and the positive optimum: signs, Eckart and Young, instances by hand."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from lowdim.linalg import subspaces
from lowdim.preserve import autoencoders, positive, preservation


@pytest.mark.parametrize("h", [1, 2, 4])
def test_the_optimum_is_positive_and_leaves_the_tail_of_the_spectrum(h):
    X = torch.from_numpy(np.random.default_rng(h).random((6, 4, 7)) + 0.02)
    W, V = positive.optimum(X, h)
    assert bool((W > 0).all())
    assert torch.allclose(W @ V, torch.eye(h, dtype=torch.float64).expand(6, h, h))
    tail = torch.linalg.svdvals(X)[:, h:].square().sum(1)
    assert torch.allclose(autoencoders.loss({"X": X, "W": W, "V": V}), tail, atol=1e-12)
    gradient, _ = autoencoders.derivatives({"X": X, "W": W, "V": V})
    assert float(gradient.abs().max()) < 1e-10
    one, _ = positive.optimum(X[2:3], h)
    assert torch.allclose((one.mT @ one)[0], (W.mT @ W)[2])


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6))
def test_layers_cut_nothing(seed):
    case = positive.layers(3, np.random.default_rng(seed))
    assert all(bool((value >= 0).all()) for value in case.values())
    q = preservation.layer(case["clean"], case["Z"], case["W"], 4)
    assert float(q.cut.max()) == 0.0


def test_the_first_edge_attains_the_tangent_bound():
    case = next(iter(positive.layer_edges().values()))
    q = preservation.layer(case["clean"], case["Z"], case["W"], 4)
    tangent = subspaces.principal_angles(q.star, q.y)[:, 0].tan()
    assert torch.allclose(tangent, q.q)
    assert abs(float(q.q) - 0.5) < 1e-12


def test_the_orbit_leaves_the_loss_and_other_steps_raise_it():
    for name, case in positive.step_edges(np.random.default_rng(0)).items():
        here = autoencoders.loss(case)
        there = {"X": case["X"], "W": case["W"] + case["dW"], "V": case["V"] + case["dV"]}
        nearby = autoencoders.loss(there)
        assert bool((there["W"] @ there["X"] > 0).all()), name
        if name.startswith("attained"):
            assert torch.allclose(here, nearby)
        else:
            assert bool((nearby > here).all()), name


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6))
def test_free_numbers_become_positive_cases(seed):
    rng = np.random.default_rng(seed)
    shapes = {"clean": (2, 3), "Z": (2, 3), "W": (2, 2), "X": (3, 4), "dW": (2, 3), "dV": (3, 2)}
    free = {k: torch.from_numpy(rng.standard_normal((5, *s))) for k, s in shapes.items()}
    layer, step = positive.built_layer(free), positive.built_step(free)
    assert all(bool((value >= 0).all()) for value in layer.values())
    assert torch.allclose(torch.linalg.matrix_norm(layer["Z"]), torch.full((5,), 0.1).double())
    assert bool((step["X"] > 0).all())
    assert bool((step["W"] > 0).all())
    assert torch.allclose(10 * step["dV"], free["dV"])


def test_steps_are_of_many_sizes():
    case = positive.steps(200, np.random.default_rng(0))
    sizes = torch.linalg.matrix_norm(case["dW"])
    assert float(sizes.min()) < 1e-2
    assert float(sizes.max()) > 0.5
