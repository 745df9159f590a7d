"""Rademacher complexities against brute force, exact small cases and convexity."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from lowdim.hashing import complexity


def brute(X, signs, radius, offset, free, starts=20, steps=600):
    """Supremum by projected gradient ascent over P (2, d) and b (2,) from many starts."""
    rng = np.random.default_rng(0)
    d = X.shape[1]
    P = torch.from_numpy(rng.normal(size=(starts, 2, d)))
    b = torch.zeros(starts, 2, dtype=torch.float64)
    b[:, 0] = offset
    if free:
        b = b * torch.from_numpy(rng.uniform(0, 1, (starts, 1)))
    P.requires_grad_(True)
    b.requires_grad_(free)
    best, rate = -torch.inf, 0.5 / float(2 * X.pow(2).sum())

    def project():
        with torch.no_grad():
            P.mul_((radius / P.flatten(1).norm(dim=1).clamp_min(radius))[:, None, None])
            b.mul_((offset / b.norm(dim=1).clamp_min(max(offset, 1e-300)))[:, None])

    project()
    for _ in range(steps):
        value = (((P @ X.T) + b[..., None]).pow(2).sum(1) * signs).sum(1)
        best = max(best, float(value.detach().max()))
        grads = torch.autograd.grad(value.sum(), [P, b] if free else [P])
        with torch.no_grad():
            for variable, grad in zip([P, b], grads, strict=False):
                variable.add_(rate * grad)
        project()
    return best


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("case", range(6))
def test_supremum_is_what_a_search_finds(case, free):
    rng = np.random.default_rng(case)
    n, d = [(1, 1), (3, 2), (2, 4), (5, 3), (4, 4), (6, 1)][case]
    X = torch.from_numpy(rng.normal(size=(n, d)))
    radius, offset = rng.uniform(0.3, 1.2, 2)
    for signs in torch.from_numpy(rng.choice([-1.0, 1.0], (2, n))):
        exact = float(complexity.signed_supremum(X, signs[None], radius, offset, free_offset=free))
        found = brute(X, signs, radius, offset, free)
        assert found <= exact + 1e-8
        assert found >= exact - 1e-3 * (1 + abs(exact))


@given(st.integers(1, 30), st.integers(1, 30), st.integers(1, 30))
def test_one_point_by_hand(a, b, x):
    """n = 1: half of the largest minus half of the smallest value of (px + b)²."""
    radius, offset, point = Fraction(a, 10), Fraction(b, 10), Fraction(x, 10)
    top, low = (offset + radius * point) ** 2, max(offset - radius * point, Fraction(0)) ** 2
    X = [[float(point)]]
    fixed = complexity.square_ball(X, float(radius), float(offset)).value.item()
    free = complexity.square_ball(X, float(radius), float(offset), free_offset=True).value.item()
    assert fixed == pytest.approx(float((top - low) / 2), rel=1e-9)
    assert free == pytest.approx(float(top / 2), rel=1e-9)


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 6), st.integers(1, 5), st.integers(0, 10**6))
def test_proved_bounds(n, d, seed):
    """(2 b r a + r² a² / √2 + b² / 2) / √n with the last term only where b is free."""
    rng = np.random.default_rng(seed)
    X = torch.from_numpy(rng.normal(size=(n, d)))
    radius, offset = rng.uniform(0.01, 3, 2)
    alpha = float(X.norm(dim=1).max())
    fixed = complexity.square_ball(X, radius, offset)
    free = complexity.square_ball(X, radius, offset, free_offset=True)
    bound = (2 * offset * radius * alpha + radius**2 * alpha**2 / 2**0.5) / n**0.5
    assert fixed.exact and free.exact
    assert float(fixed.value) <= bound * (1 + 1e-9)
    assert float(free.value) <= (bound + offset**2 / 2 / n**0.5) * (1 + 1e-9)
    assert float(free.value) >= float(fixed.value) - 1e-9


def test_linear_is_the_limit_of_small_radius():
    """‖Px + b‖² with tiny P is b² + 2 bᵀPx."""
    X = torch.from_numpy(np.random.default_rng(1).normal(size=(6, 3)))
    linear = complexity.linear_ball(X, 1.0).value
    square = complexity.square_ball(X, 1e-6, 1.0).value
    assert torch.allclose(square / 2e-6, linear, rtol=1e-5)


def test_linear_by_enumeration():
    X = np.random.default_rng(2).normal(size=(5, 3))
    by_hand = np.mean([np.linalg.norm(np.array(s) @ X) for s in product((-1, 1), repeat=5)]) / 5
    assert complexity.linear_ball(X, 3.0).value.item() == pytest.approx(3 * by_hand)


def test_sampling_agrees_with_enumeration_and_batches_with_singles():
    X = torch.from_numpy(np.random.default_rng(3).normal(size=(2, 8, 3)))
    all_of = complexity.square_ball(X, 1.0, 0.5)
    some = complexity.square_ball(X, 1.0, 0.5, draws=200)
    assert all_of.exact and not some.exact
    assert bool(((all_of.value - some.value).abs() < 5 * some.error).all())
    one = complexity.square_ball(X[1], 1.0, 0.5)
    assert torch.allclose(one.value, all_of.value[1])


def test_more_coordinates_than_points_is_an_isometric_copy():
    X = torch.from_numpy(np.random.default_rng(4).normal(size=(4, 2)))
    Q = torch.linalg.qr(torch.from_numpy(np.random.default_rng(5).normal(size=(9, 9))))[0]
    wide = torch.cat([X, torch.zeros(4, 7)], 1).double() @ Q
    a, b = (complexity.square_ball(A, 0.7, 0.4, free_offset=True).value for A in (X, wide))
    assert torch.allclose(a, b)


def test_within_is_unbiased_over_all_samples():
    population = np.array([[0.0, 1.0], [2.0, 0.0], [1.0, 5.0]])
    samples = torch.from_numpy(np.array([population[list(i)] for i in product(range(3), repeat=3)]))
    expected = np.cov(population.T, bias=True)
    assert np.allclose(complexity.within(samples), expected)


def test_within_is_the_mean_of_the_covariances():
    Z = torch.from_numpy(np.random.default_rng(4).normal(size=(2, 5, 3, 4)))
    expected = [[np.cov(group, rowvar=False) for group in groups] for groups in Z.numpy()]
    assert np.allclose(complexity.within(Z), np.mean(expected, 1))


def test_between_is_the_mean_over_pairs():
    Z = np.random.default_rng(6).normal(size=(4, 3, 2))
    pairs = [
        np.outer(a - b, a - b)
        for i in range(4) for j in range(4) if i != j for a in Z[i] for b in Z[j]
    ]  # fmt: skip
    assert np.allclose(complexity.between(Z), np.mean(pairs, 0))


def test_largest_gap_is_attained_and_not_passed():
    rng = np.random.default_rng(7)
    M = rng.normal(size=(4, 4))
    M = torch.from_numpy(M + M.T)
    gap = float(complexity.largest_gap(M, torch.zeros(4, 4).double(), 1.5))
    B = torch.from_numpy(rng.normal(size=(200, 3, 4)))
    B = 1.5 * B / B.flatten(1).norm(dim=1)[:, None, None]
    values = torch.einsum("bij,jk,bik->b", B, M, B)
    assert float(values.max()) <= gap + 1e-12
    v = torch.linalg.eigh(M)[1][:, -1]
    assert float(1.5**2 * v @ M @ v) == pytest.approx(gap)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: complexity.linear_ball([[1.0]], 0.0), "radius must be above 0; you gave 0.0"),
        (lambda: complexity.square_ball([[1.0]], 1.0, -1.0), "offset must be 0 or more"),
        (lambda: complexity.sign_vectors(0), "points must be a whole number"),
        (lambda: complexity.within([[[1.0]]]), "2 points or more; Z has 1"),
        (lambda: complexity.within([[1.0]]), "at least 1 of the first"),
        (lambda: complexity.between([[1.0]]), "at least 2 of the first"),
    ],
)
def test_refusals(call, words):
    with pytest.raises(ValueError, match=words):
        call()
