"""Training with weight decay: the normal weights follow their law, losses their definition."""

from __future__ import annotations

import pytest
import torch
from lowdim.embedded import decay, decay_training
from lowdim.nets import training

HOW = {"depth": 2, "width": 6, "nets": 2, "points": 60, "samples": 80, "epochs": 3, "batch": 20}


def test_normal_weights_follow_the_law_of_the_schedule():
    made = decay_training.grow(0.1, rate=0.03, seed=1, **HOW)
    rates = training.cosine_rates(0.03, 0.0003, 3)
    assert made.weight == pytest.approx(decay.shrink(0.1, rates, 3), rel=1e-5)


def test_traces_are_those_of_training():
    made = decay_training.grow(0.0, rate=0.03, seed=1, **HOW)
    assert made.trace.shape == (4, len(decay_training.NAMES), 2)
    assert bool((made.trace[-1, 0] < made.trace[0, 0]).all())  # it learns
    assert torch.equal(made.final, made.trace[-1].mean(1))


def test_all_penalties_start_from_the_same_networks():
    one, other = (decay_training.grow(lam, rate=0.03, seed=1, **HOW) for lam in (0.0, 0.2))
    assert torch.equal(one.trace[0], other.trace[0])
    assert not torch.equal(one.trace[-1], other.trace[-1])
