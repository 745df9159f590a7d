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
    point = stationary.find(net, net.init(dtype=torch.float64), X, Y, decay=decay, goal=1e-12)
    C = X @ X.mT / 20 + decay * torch.eye(3, dtype=torch.float64)
    torch.testing.assert_close(point.weights[0][0][0], (Y @ X.mT / 20) @ torch.linalg.inv(C))


def test_newton_finishes_what_lbfgs_left_and_reports_the_true_gradient():
    X = data(2, 4, 15)
    net = networks.Dense((4, 3, 4), activation="tanh")
    start = net.init(trials=2, seed=3, dtype=torch.float64)
    point = stationary.find(net, start, X, decay=0.05, steps=60, newton=40, goal=1e-11)
    assert (point.gradient_norm < 1e-10).all() and (point.before > 1e-8).any()
    grads = training.gradients(net, point.weights, X, loss="sample", weight_decay=0.1)
    size = torch.stack([t.flatten(1).square().sum(1) for p in grads for t in p]).sum(0).sqrt()
    torch.testing.assert_close(size, point.gradient_norm)
    assert (point.curvature[~point.curvature.isnan()] > 0).all()  # minima, not saddles
    # the equation of stationarity, factor two and all
    for (W, _), (G, _) in zip(
        point.weights, training.gradients(net, point.weights, X, loss="sample"), strict=True
    ):
        torch.testing.assert_close(2 * 0.05 * W, -G, atol=1e-9, rtol=1e-7)


def test_refusals():
    net = networks.Dense((2, 2), output="relu")
    weights = net.init(dtype=torch.float64)
    with pytest.raises(ValueError, match="activation must be one of"):
        stationary.find(net, weights, data(0, 2, 5), decay=0.1)
    with pytest.raises(ValueError, match="decay must be a number above 0"):
        stationary.find(networks.Dense((2, 2)), weights, data(0, 2, 5), decay=0.0)
