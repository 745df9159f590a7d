"""Training of factors: exact gradients by autograd, rates and distances by their definitions."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch
from lowdim.embedded import linear_training
from lowdim.embedded.linear_training import Approach
from lowdim.seeds import generator


@pytest.mark.parametrize("balanced", [True, False])
def test_constant_factors_have_their_size_and_balance(balanced):
    W = linear_training.constant_factors(6, 10, 5, 2**-6, balanced=balanced)
    assert float(torch.linalg.multi_dot(W[::-1]).norm()) == pytest.approx(2**-6)
    even = [torch.allclose(up.T @ up, down @ down.T) for down, up in pairwise(W)]
    assert all(even) == balanced
    assert all(bool((M == M[0, 0]).all()) for M in W)


def test_sgd_steps_are_those_of_autograd():
    X, g = linear_training.tilted_sines(12, sigma=0.3, seed=1)
    how = {"depth": 3, "width": 4, "batch": 6, "runs": 2, "seed": 5}
    steps, w = linear_training.kaiming_sgd(X, g, epochs=3, every=1, **how)
    assert steps.tolist() == list(range(6))
    rate = linear_training.cosine(6)
    for run in range(2):
        rng = generator(5, run, "sgd")
        shapes = [(4, 5), (4, 4), (1, 4)]
        W = [torch.tensor(rng.standard_normal(s) * (2 / s[1]) ** 0.5) for s in shapes]
        for k in range(6):
            if k % 2 == 0:
                order = rng.permutation(12)
            assert np.allclose((W[2] @ W[1] @ W[0])[0], w[run, k], atol=1e-12)
            pick = order[(k % 2) * 6 : (k % 2 + 1) * 6]
            W = [M.detach().requires_grad_(True) for M in W]
            miss = (W[2] @ W[1] @ W[0] @ torch.tensor(X[pick].T))[0] - torch.tensor(g[pick])
            (miss**2).mean().div(2).backward()
            W = [(M - rate(k) * M.grad).detach() for M in W]


def test_sgd_needs_whole_epochs():
    with pytest.raises(ValueError, match="10 points; you gave 3"):
        linear_training.kaiming_sgd(
            np.ones((10, 2)), np.ones(10), depth=2, width=2, epochs=1, batch=3, runs=1, seed=0
        )


def test_cosine_falls_between_its_ends():
    rates = np.array([linear_training.cosine(50, first=1.0, last=0.1)(k) for k in range(51)])
    assert (np.diff(rates) < 0).all()
    assert rates[[0, 25, 50]] == pytest.approx([1.0, 0.55, 0.1])


def test_approach_reads_waiting_and_creeping():
    steps = np.arange(0, 101, 10)
    cliff = np.where(steps < 80, 1.0, 1e-3)
    waits = Approach(steps, cliff, np.ones(11))
    assert (waits.fallen(0.1), waits.fallen(0.99)) == (80, 80)
    assert waits.waits
    assert waits.creeps
    assert waits.across_late
    slides = Approach(steps, np.geomspace(1, 1e-3, 11), np.geomspace(1, 1e-3, 11))
    assert not slides.waits
    assert not slides.creeps
    assert not slides.across_late
    assert Approach(steps, np.ones(11), np.ones(11)).fallen(0.1) == 100
