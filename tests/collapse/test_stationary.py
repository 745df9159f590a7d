"""Stationary points: known ones are found, and what is reported is what is there."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from lowdim.collapse import stationary
from lowdim.nets import networks, training


def data(seed, *shape):
    return torch.from_numpy(np.random.default_rng(seed).standard_normal(shape))


def test_a_linear_layer_ends_at_ridge_regression():
    X, Y, decay = data(0, 3, 20), data(1, 2, 20), 0.3
    net = networks.Dense((3, 2), bias=False)
    task = training.Objective(net, X, Y, normalization="sample", penalty=decay)
    point = stationary.find(task, net.init(dtype=torch.float64), goal=1e-12)
    C = X @ X.mT / 20 + decay * torch.eye(3, dtype=torch.float64)
    torch.testing.assert_close(point.weights[0][0][0], (Y @ X.mT / 20) @ torch.linalg.inv(C))


def test_newton_finishes_what_lbfgs_left_and_reports_the_true_gradient():
    X = data(2, 4, 15)
    net = networks.Dense((4, 3, 4), activation="tanh")
    start = net.init(trials=2, seed=3, dtype=torch.float64)
    task = training.Objective(net, X, normalization="sample", penalty=0.05)
    point = stationary.find(task, start, steps=60, newton=40, goal=1e-11)
    assert (point.gradient_norm < 1e-10).all() and (point.before > 1e-8).any()
    tracked = [tuple(t.clone().requires_grad_() for t in pair) for pair in point.weights]
    hidden = torch.tanh(tracked[0][0] @ X + tracked[0][1])
    miss = (tracked[1][0] @ hidden + tracked[1][1] - X).square().sum((1, 2)) / 15
    torch.testing.assert_close(point.loss, miss.detach())
    leaves = [t for pair in tracked for t in pair]
    whole = miss + 0.05 * sum(t.square().sum((1, 2)) for t in leaves)
    slopes = torch.autograd.grad(whole.sum(), leaves)
    size = torch.stack([g.flatten(1).square().sum(1) for g in slopes]).sum(0).sqrt()
    torch.testing.assert_close(size, point.gradient_norm, rtol=1e-2, atol=1e-13)
    assert (point.curvature[~point.curvature.isnan()] > 0).all()  # minima, not saddles
    # the equation of stationarity, factor two and all
    bare = training.Objective(net, X, normalization="sample").gradients(point.weights)
    for (W, _), (G, _) in zip(point.weights, bare, strict=True):
        torch.testing.assert_close(2 * 0.05 * W, -G, atol=1e-9, rtol=1e-7)


def test_refusals():
    net, X = networks.Dense((2, 2), output="relu"), data(0, 2, 5)
    weights = net.init(dtype=torch.float64)
    with pytest.raises(ValueError, match="activation must be one of"):
        stationary.find(training.Objective(net, X, penalty=0.1), weights)
    for none in (0.0, [0.0]):
        with pytest.raises(ValueError, match="penalty must be above 0"):
            stationary.find(training.Objective(networks.Dense((2, 2)), X, penalty=none), weights)


def test_trials_with_penalties_of_their_own_are_found_as_alone():
    net, X = networks.Dense((3, 2, 3), activation="sigmoid"), data(4, 2, 3, 10)
    start = net.init(trials=2, seed=1, dtype=torch.float64)
    table = torch.tensor([[0.05, 0.1], [0.2, 0.02]]).double()
    task = training.Objective(net, X, normalization="sample", penalty=table)
    both = stationary.find(task, start, goal=1e-12)
    assert (both.gradient_norm < 1e-11).all()
    for t in range(2):
        alone = stationary.find(task.trial(t), [tuple(p[t : t + 1] for p in w) for w in start])
        for pair, own in zip(both.weights, alone.weights, strict=True):
            for a, b in zip(pair, own, strict=True):
                torch.testing.assert_close(a[t : t + 1], b, atol=1e-8, rtol=0)
