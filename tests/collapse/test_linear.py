"""The closed forms minimize what they claim to minimize."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from lowdim.collapse import linear
from lowdim.linalg import ranks
from scipy.optimize import minimize_scalar

SEEDS = st.integers(0, 2**31)


def data(seed: int, *, d: int = 3, c: int = 2, n: int = 6):
    rng = np.random.default_rng(seed)

    def draw(*shape):
        return torch.from_numpy(rng.standard_normal(shape))

    return rng, draw(d, n), draw(c, n), float(10 ** rng.uniform(-2, 1))


def loss(X, Y, Theta, lam):
    return float((Y - Theta @ X).square().sum() / X.shape[1] + lam * Theta.square().sum())


@settings(max_examples=30, deadline=None)
@given(SEEDS)
def test_ridge_has_no_gradient_and_is_least(seed):
    rng, X, Y, lam = data(seed)
    Theta = linear.ridge(X, Y, lam)
    gradient = (Theta @ X - Y) @ X.mT / X.shape[1] + lam * Theta
    assert float(gradient.abs().max()) < 1e-10 * (1 + float(Theta.norm()))
    other = Theta + torch.from_numpy(rng.standard_normal(Theta.shape))
    assert loss(X, Y, Theta, lam) < loss(X, Y, other, lam)


def test_ridge_takes_one_weight_for_each_problem():
    _, X, Y, _ = data(1)
    lams = torch.tensor([0.1, 2.0], dtype=torch.float64)
    both = linear.ridge(X.expand(2, -1, -1), Y.expand(2, -1, -1), lams)
    for got, lam in zip(both, lams, strict=True):
        torch.testing.assert_close(got, linear.ridge(X, Y, float(lam)))


@settings(max_examples=30, deadline=None)
@given(SEEDS, st.integers(0, 2))
def test_constrained_beats_random_matrices_of_its_rank(seed, rank):
    rng, X, Y, lam = data(seed)
    Theta = linear.constrained(X, Y, lam, rank)
    assert int(torch.linalg.matrix_rank(Theta)) <= rank
    least = loss(X, Y, Theta, lam)
    for _ in range(20):
        A, B = (torch.from_numpy(rng.standard_normal(s)) for s in ((2, rank), (rank, 3)))
        move = float(10 ** rng.uniform(-3, 0))
        U, s, Vh = torch.linalg.svd(Theta + move * A @ B, full_matrices=False)
        near = (U[:, :rank] * s[:rank]) @ Vh[:rank]
        assert loss(X, Y, near, lam) >= least - 1e-12


def test_full_rank_is_no_constraint():
    _, X, Y, lam = data(5)
    torch.testing.assert_close(linear.constrained(X, Y, lam, 2), linear.ridge(X, Y, lam))


@settings(max_examples=30, deadline=None)
@given(SEEDS)
def test_whitened_coordinates_turn_the_loss_into_a_distance(seed):
    rng, X, Y, lam = data(seed)
    Q, half = linear.whitened(X, Y, lam)
    A, B = (torch.from_numpy(rng.standard_normal((2, 3))) for _ in range(2))

    def distance(T):
        return float((Q - T @ torch.linalg.inv(half)).square().sum()) / X.shape[1]

    difference = loss(X, Y, A, lam) - loss(X, Y, B, lam)
    assert difference == pytest.approx(distance(A) - distance(B), rel=1e-7, abs=1e-9)


@settings(max_examples=20, deadline=None)
@given(SEEDS, st.integers(1, 3))
def test_optimal_partition_agrees_with_the_one_by_one_enumeration(seed, K):
    points = torch.from_numpy(np.random.default_rng(seed).standard_normal((3, 2, 6)))
    values, labels = linear.optimal_partition(points, K)
    for one, value, part in zip(points, values, labels, strict=True):
        assert float(value) == pytest.approx(ranks.variation(one, K, method="exact").value)
        assert float(value) == pytest.approx(float(ranks.wcss(one, part.numpy())))


@settings(max_examples=60, deadline=None)
@given(st.floats(0.001, 100), st.floats(0.01, 10), st.integers(1, 6))
def test_shrinkage_is_never_beaten(m, lam, depth):
    t = float(linear.shrinkage(torch.tensor([m], dtype=torch.float64), lam, depth))

    def value(t):
        return m * (1 - t) ** 2 + lam * depth * t ** (2 / depth)

    grid = np.linspace(0, 1, 4001)
    inner = minimize_scalar(value, bounds=(1e-9, 1), method="bounded")
    assert value(t) <= min(value(grid).min(), inner.fun) + 1e-9 * (m + lam)


@pytest.mark.parametrize("depth", [3, 4, 7])
def test_shrinkage_jumps_where_it_says(depth):
    ratio, height = linear.jump(depth)
    below, above = linear.shrinkage(
        torch.tensor([ratio * (1 - 1e-9), ratio * (1 + 1e-9)], dtype=torch.float64), 1.0, depth
    )
    assert float(below) == 0 and float(above) == pytest.approx(height, abs=1e-6)


@settings(max_examples=20, deadline=None)
@given(SEEDS, st.integers(1, 4))
def test_no_factors_beat_the_deep_autoencoder(seed, depth):
    rng = np.random.default_rng(seed)
    R = torch.from_numpy(rng.standard_normal((4, 4)))
    S, lam = R @ R.mT / 4, float(10 ** rng.uniform(-2, 0))
    best = linear.deep_autoencoder(S, lam, depth)
    off = torch.eye(4, dtype=torch.float64) - best
    s = torch.linalg.svdvals(best)
    s = torch.where(s > 1e-12, s, 0.0)
    least = float((off @ S @ off.mT).trace() + lam * linear.depth_penalty(s, depth))
    U, _, Vh = torch.linalg.svd(best)
    for _ in range(20):
        share = (s ** (1 / depth)).diag()
        W = [share.clone() for _ in range(depth)]
        W[0], W[-1] = W[0] @ Vh, U @ (W[-1] if depth > 1 else W[0] @ Vh)
        size = float(10 ** rng.uniform(-4, 0.3))
        W = [w + size * torch.from_numpy(rng.standard_normal((4, 4))) for w in W]
        product = W[0]
        for w in W[1:]:
            product = w @ product
        rest = torch.eye(4, dtype=torch.float64) - product
        value = (rest @ S @ rest.mT).trace() + lam * sum(w.square().sum() for w in W)
        assert float(value) >= least - 1e-9


def test_width_bounds_the_rank():
    S = torch.diag(torch.tensor([3.0, 2.0, 1.0], dtype=torch.float64))
    Theta = linear.deep_autoencoder(S, 0.01, 4, width=1)
    assert int(torch.linalg.matrix_rank(Theta)) == 1 and float(Theta[0, 0]) > 0.9


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: linear.ridge(torch.ones(2, 3), torch.ones(1, 4), 1.0), "one column for each"),
        (lambda: linear.ridge(torch.ones(2, 3), torch.ones(1, 3), -1.0), "negative"),
        (lambda: linear.whitened(torch.zeros(2, 3), torch.ones(1, 3)), "singular"),
        (lambda: linear.optimal_partition(torch.ones(2, 3), 2), "(B, p, N)"),
        (lambda: linear.shrinkage(torch.ones(2), 0.0, 2), "positive"),
        (lambda: linear.deep_autoencoder(torch.ones(2, 3), 1.0, 2), "square"),
        (lambda: linear.jump(0), "depth"),
        (lambda: linear.constrained(torch.eye(2), torch.eye(2), 1.0, -1), "rank"),
    ],
)
def test_refusals_say_what_was_wrong(call, words):
    with pytest.raises(ValueError) as error:
        call()
    assert words in str(error.value)
