"""The counterexamples that solutions of slips name, and numbers that guided hours end with."""

from __future__ import annotations

import math

import numpy as np
import torch
from lowdim.embedded import flows
from lowdim.embedded.flows import Flow
from lowdim.exercises import hashing_training
from lowdim.hashing import families, invariance, kernels
from lowdim.hashing.atoms import Atoms, confusion_floor, shared_point
from lowdim.seeds import generator


def test_the_distance_to_the_minimum_can_grow() -> None:
    flow, w = Flow(np.diag([36.0, 1.0]), np.array([0.0, 7.0]), 2), np.array([1.0, 1.0])
    assert flow.minimizer().tolist() == [0.0, 7.0]
    assert math.isclose((w - flow.minimizer()) @ flow.field(w), 3 * 2**0.5)


def test_a_normal_weight_grows_under_decay() -> None:
    r = p = torch.tensor(0.5, dtype=torch.float64)
    W = [v.clone().requires_grad_() for v in (r, p, torch.tensor(1.0, dtype=torch.float64))]
    loss = (W[0] * W[1] - 1) ** 2 / 2 + sum(v**2 for v in W) / 8
    by = torch.autograd.grad(loss, W)
    assert math.isclose(float((-by[0] * W[2] - by[2] * W[0]).detach()), 1 / 8)


def test_a_larger_regression_is_worse_on_the_clean_points() -> None:
    x, y, g = np.array([1.0, 2.0]), np.array([0.0, 1.0]), np.array([1.0, 4.0])
    both = np.linalg.solve(np.stack([x, y], 1), g)
    small = (g @ x) / (x @ x)
    assert math.isclose(((g - small * x) ** 2).sum(), 0.8)
    assert math.isclose(((g - both[0] * x) ** 2).sum(), 4.0)


def test_the_length_is_not_monotone() -> None:
    flow = Flow(np.diag([1.0, 0.0]), np.array([1.0, 0.0]), 2)
    run = flows.follow(flow, np.array([-1.0, 1.0]), 60.0)
    s = (run.points**2).sum(1)
    assert s.min() < 0.7 * s[0]
    assert np.allclose(run.points[-1], [1.0, 1.0], atol=1e-4)


def test_two_groups_of_neurons_need_not_cancel() -> None:
    x = (np.arange(2000) + 0.5) / 1000 - 1
    p, q = np.maximum(x, 0) - np.maximum(x - 1, 0), np.maximum(-x, 0) - np.maximum(-x - 1, 0)
    assert np.allclose([2 * (v**2).mean() for v in (p, q, p - q)], [1 / 3, 1 / 3, 2 / 3], atol=1e-5)


def test_random_layers_do_not_stretch() -> None:
    draw = generator(0, 0, "slips: layers")
    h, k = draw.standard_normal((2, 30))
    W = draw.standard_normal((400, 30, 30)) * (2 / 30) ** 0.5
    change = ((np.maximum(W @ h, 0) - np.maximum(W @ k, 0)) ** 2).sum(1)
    assert 0.5 < change.mean() / ((h - k) ** 2).sum() < 1.02
    assert (np.linalg.norm(W[:20], 2, axis=(1, 2)) ** 2).mean() > 4


def test_a_contraction_can_raise_rho() -> None:
    at = torch.tensor([[[0.0, -1.0], [0.0, 1.0]], [[1.0, -1.0], [1.0, 1.0]]], dtype=torch.float64)
    half = torch.full((2, 2), 0.5, dtype=torch.float64)
    shrunk = at * torch.tensor([1.0, 0.5], dtype=torch.float64)
    assert math.isclose(float(Atoms(at, half).rho), 3)
    assert math.isclose(float(Atoms(shrunk, half).rho), 6)


def test_the_largest_rho_is_attained() -> None:
    m, eps = 5, 0.3
    corners = torch.eye(m, dtype=torch.float64) - 1 / m
    corners = corners / corners[0].norm() * (1 - eps) ** 0.5
    at = torch.zeros(m, 2, m + 1, dtype=torch.float64)
    at[:, :, :m] = corners[:, None]
    at[:, 0, m], at[:, 1, m] = eps**0.5, -(eps**0.5)
    R = Atoms(at, torch.full((m, 2), 0.5, dtype=torch.float64))
    assert math.isclose(float(R.rho), 2 * (m - eps) / ((m - 1) * eps))


def test_the_randomized_rule_is_the_best() -> None:
    for rho in (2.5, 4.0, 30.0):
        R = shared_point(rho)
        promised = 1 - (rho - 2) * float(R.epsilon) / 4
        assert math.isclose(promised, float(confusion_floor(R)))


def test_distances_can_have_more_than_the_root() -> None:
    side = torch.eye(4, dtype=torch.float64).reshape(2, 2, 4) / 2**0.5
    R = Atoms(side, torch.full((2, 2), 0.5, dtype=torch.float64))
    assert math.isclose(float(R.distances[0, 1] / R.distances[0, 0]), 2)
    assert math.isclose(float(R.squares[0, 1] / R.squares[0, 0]), 2)


def test_a_sample_can_have_a_ratio_below_one() -> None:
    R = torch.tensor([[[0.0], [1.0]], [[0.0], [1.0]]], dtype=torch.float64)
    assert math.isclose(families.ratio(R, squared=True), 0.5)


def test_opposite_pairs_are_not_symmetry_enough() -> None:
    angle = np.array([0.0, 0.5, 1.7])
    angle = np.concatenate([angle, angle + np.pi])
    ring = 0.8 * np.stack([np.cos(angle), np.sin(angle)], 1)
    names = np.tile(np.array([[[0.6, 0.0]], [[0.0, 0.6]]]), (1, 6, 1))
    X = torch.from_numpy(np.concatenate([names, np.stack([ring, ring])], 2))
    labels = torch.arange(2).repeat_interleave(6)
    fit = invariance.fit_wide(X.flatten(0, 1).mT, labels, 0.01, 0.01)
    assert 1e-6 < fit.distances(X)[0] < 1e-3
    assert hashing_training.check_places(lambda: [0.2, 0.2 + np.pi, 1.1, 1.1 + np.pi])


def test_a_term_less_can_cost_more_on_the_circle() -> None:
    kappa = kernels.sphere_series("relu", 2, 4, bias=True)
    assert math.isclose(1 / kappa[0], 3.2, rel_tol=0.02)
    assert math.isclose(0.25 / kappa[0] + 0.25 / kappa[2], 21, rel_tol=0.02)


def test_no_matrix_of_rank_one_falls() -> None:
    u, v = generator(0, 0, "slips: rank one").standard_normal((2, 5000, 2))
    W = u[:, :, None] * v[:, None, :]
    along = W[:, 0, 0] + W[:, 1, 1]
    assert (
        np.abs(W[:, 0, 0] - W[:, 1, 1]) + np.abs(W[:, 0, 1]) + np.abs(W[:, 1, 0]) >= along / 2
    ).all()
