"""Random networks with a batch: what they are made of, and what their gradients must do."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from lowdim.collapse import batches
from lowdim.nets import training


@pytest.mark.parametrize("activation", batches.ACTIVATIONS)
def test_the_gap_sees_a_network_that_was_changed_behind_the_cut(activation, monkeypatch):
    case = batches.draw(5, np.random.default_rng(1), distinct=3, activation=activation)
    assert batches.cut_gap(case).max() < 1e-12
    honest = batches.gradients.sample_gradients

    def other(*arguments, **at):
        return honest(*arguments, **at) + (at["start"] == 1) * 1e-3

    monkeypatch.setattr(batches.gradients, "sample_gradients", other)
    assert (batches.cut_gap(case) > 1e-6).all()


def test_repeated_inputs_are_few_and_their_labels_differ():
    case = batches.draw(3, np.random.default_rng(2), distinct=2, points=9)
    assert torch.equal(case["X"][..., :2].repeat(1, 1, 5)[..., :9], case["X"])
    assert all(len(torch.unique(Y, dim=1).mT) == 9 for Y in case["Y"])


def test_scale_acts_on_weights_alone():
    one, ten = (
        batches.draw(2, np.random.default_rng(3), distinct=3, scale=scale) for scale in (1.0, 10.0)
    )
    assert torch.allclose(10 * one["W1"], ten["W1"]) and torch.equal(one["b1"], ten["b1"])


@pytest.mark.parametrize("rank", [0, 1, 3])
def test_numerical_rank_of_products(rank):
    A = torch.randn(4, 6, rank, dtype=torch.float64) @ torch.randn(4, rank, 5, dtype=torch.float64)
    assert (batches.numerical_rank(A) == rank).all()


def test_gradients_have_at_most_the_rank_of_the_batch_and_reach_it():
    case = batches.draw(20, np.random.default_rng(4), distinct=2)
    net, weights = batches.network(case)
    for G, _ in training.Objective(net, case["X"], case["Y"]).gradients(weights):
        assert (batches.numerical_rank(G) == 2).all()


def test_unknown_activations_are_named():
    with pytest.raises(ValueError, match="activation"):
        batches.draw(1, np.random.default_rng(0), distinct=1, activation="gelu")
