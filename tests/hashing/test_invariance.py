"""Averages over orbits are projections, and minima on symmetric data are invariant."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from lowdim.hashing import factored, invariance, kernels, separation

SEEDS = st.integers(0, 2**31)


def unit_columns(rng, d, n):
    X = rng.standard_normal((d, n))
    return torch.from_numpy(X / np.linalg.norm(X, axis=0))


def frame(rng, d, k):
    return torch.from_numpy(np.linalg.qr(rng.standard_normal((d, k)))[0])


@pytest.mark.parametrize("k", [1, 2, 3, 6])
def test_the_rule_has_the_moments_of_a_sphere(k):
    t, w = invariance.sphere_rule(k, nodes=40)
    moments = [float((w * t**p).sum()) for p in range(5)]
    np.testing.assert_allclose(moments, [1, 0, 1 / k, 0, 3 / (k * (k + 2))], atol=1e-12)


@settings(max_examples=10, deadline=None)
@given(SEEDS, st.integers(1, 4))
def test_the_averaged_kernel_is_an_average_over_rotations(seed, k):
    rng = np.random.default_rng(seed)
    X, Y, Q = 2 * unit_columns(rng, 5, 3), 3 * unit_columns(rng, 5, 2), frame(rng, 5, k)
    turns = np.linalg.qr(rng.standard_normal((4000, k, k)))
    turns = turns[0] * np.sign(np.diagonal(turns[1], axis1=1, axis2=2))[:, None]
    g = torch.eye(5).double() - Q @ Q.mT + Q @ torch.from_numpy(turns) @ Q.mT
    many = torch.stack([kernels.gram(X, turn @ Y) for turn in g[:1500]])
    error = many.std(0) / 1500**0.5
    exact = invariance.orbit_gram(X, Y, Q)
    assert bool(((many.mean(0) - exact).abs() < 6 * error + 1e-9).all())


@settings(max_examples=10, deadline=None)
@given(SEEDS, st.integers(1, 3))
def test_averaging_is_an_orthogonal_projection(seed, k):
    rng = np.random.default_rng(seed)
    X, Q = unit_columns(rng, 5, 6), frame(rng, 5, k)
    averaged = invariance.orbit_gram(X, X, Q)
    torch.testing.assert_close(averaged, averaged.mT)
    for matrix in (averaged, kernels.gram(X) - averaged):  # both parts are kernels
        assert float(torch.linalg.eigvalsh(matrix)[0]) > -1e-8
    turn = frame(rng, k, k)
    turned = X - Q @ Q.mT @ X + Q @ turn @ Q.mT @ X
    torch.testing.assert_close(invariance.orbit_gram(X, turned, Q), averaged, atol=1e-8, rtol=1e-8)


def test_a_minimum_on_polygons_does_not_see_the_corner():
    angle = 2 * np.pi * np.arange(5) / 5
    ring = 0.8 * np.stack([np.cos(angle), np.sin(angle)])
    names = ([0.6, 0.0], [0.0, 0.6], [-0.6, 0.0])
    X = np.hstack([np.vstack([np.outer(name, np.ones(5)), ring]) for name in names])
    labels = torch.arange(3).repeat_interleave(5)
    fit = invariance.fit_wide(X, labels, 0.01, 0.003)
    R = fit(torch.from_numpy(X.T).reshape(3, 5, 4))
    assert float(separation.intra(R).max()) < 1e-16
    assert fit.distances(torch.from_numpy(X.T).reshape(3, 5, 4))[1] > 0.5
    lopsided = invariance.fit_wide(X[:, 1:], labels[1:], 0.01, 0.003)
    assert float(separation.intra(lopsided(torch.from_numpy(X.T).reshape(3, 5, 4))).max()) > 1e-5


def test_the_representation_is_the_one_of_the_kernels_root():
    rng = np.random.default_rng(5)
    X, labels = unit_columns(rng, 4, 12), torch.arange(3).repeat_interleave(4)
    for variance in (0.0, 1.0):
        fit = invariance.fit_wide(X, labels, 0.004, 0.002, variance=variance)
        K = kernels.gram(X)
        chol = torch.linalg.cholesky(K).mT  # another square root
        p = factored.problem(chol, labels, 0.004, 0.002, variance=variance)
        found = factored.convex(p, goal=1e-12)
        torch.testing.assert_close(fit.A @ fit.C @ K, found.W @ chol, atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(fit.singular, torch.linalg.svdvals(found.W), atol=1e-4, rtol=0)
        mine, other = fit.C @ K, found.B @ chol  # equal up to a rotation
        torch.testing.assert_close(mine.mT @ mine, other.mT @ other, atol=1e-4, rtol=1e-4)


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 500), st.integers(1, 3), st.sampled_from([0.0, 1.0]))
def test_the_stability_identity(seed, k, constant):
    D = invariance.linear_split(m=3, n=4, s=2, k=k, tau=0.8, constant=constant, seed=seed)
    eps = 0.1
    fit = invariance.fit_wide(*D.columns, eps / 3, eps / D.beta)
    size = invariance.asymmetry(fit, D.Q) ** 0.5
    joint, split = invariance.stability(fit, D.Q)
    assert size <= joint * (1 + 1e-6) + 1e-9
    assert joint <= split * (1 + 1e-9)
    # λ₂B⊥ + Aᵀ(Ω ∘ AB⊥Z)Zᵀ⊥, exactly, from the stationarity in B; ⊥ is what no rotation fixes
    X, labels = D.columns
    gram = kernels.gram(X) - invariance.orbit_gram(X, X, D.Q)
    curved = fit.A.mT @ (factored.class_weights(labels) * (fit.A @ fit.C @ gram))
    whole = fit.C + curved / fit.lam2
    # The squares: a sum of rounding may be below zero, and its root is the root of rounding.
    square = float(((whole @ gram) * whole).sum())
    assert square == pytest.approx(joint**2, rel=1e-5, abs=1e-12)
    x = D.train.X[:, 0].mT
    own = kernels.gram(x).diagonal() - invariance.orbit_gram(x, x, D.Q).diagonal()
    within, _ = fit.distances(D.fresh.X)
    assert within <= size**2 * float(own.max()) * (1 + 1e-6) + 1e-12


def test_fresh_points_are_new_points_of_the_same_manifolds_and_unseen_ones_are_not():
    D = invariance.linear_split(m=4, n=3, s=3, k=2, tau=0.9, held=6, unseen=4)
    torch.testing.assert_close(D.fresh.gamma, D.train.gamma)
    apart = torch.cdist(D.fresh.theta, D.train.theta)  # (4, 6, 3), manifold by manifold
    assert float(apart.min()) > 1e-6
    assert float(torch.cdist(D.unseen.gamma, D.train.gamma).min()) > 1e-6
    assert (
        float(torch.cdist(D.unseen.theta.flatten(0, 1), D.fresh.theta.flatten(0, 1)).min()) > 1e-6
    )
    inside = D.Q.mT @ (D.fresh.X - D.train.X[:, :1]).flatten(0, 1).mT  # they differ along Q only
    torch.testing.assert_close(D.Q @ inside, (D.fresh.X - D.train.X[:, :1]).flatten(0, 1).mT)


def test_the_symmetric_cost_is_what_a_fit_pays_on_whole_orbits():
    X = torch.tensor([[0.6, 0.6, -0.6, -0.6], [0.8, -0.8, 0.8, -0.8]]).double()
    Q = torch.eye(2).double()[:, 1:]
    fit = invariance.fit_wide(X, [0, 0, 1, 1], 1e-7, 1e-7)
    beta = invariance.symmetric_cost(X[:, ::2], Q)
    assert float(fit.singular.sum() ** 2 / 2) == pytest.approx(beta, rel=1e-4)


def test_refusals_name_what_was_given():
    X, Q = torch.eye(3).double(), torch.eye(3).double()[:, :1]
    with pytest.raises(ValueError, match="orthonormal"):
        invariance.orbit_gram(X, X, 2 * Q)
    with pytest.raises(ValueError, match="as many rows"):
        invariance.orbit_gram(X[:2], X, Q)
    with pytest.raises(ValueError, match="not zero"):
        invariance.orbit_gram(0 * X, X, Q)
    with pytest.raises(ValueError, match="k must be a whole number"):
        invariance.sphere_rule(0)
    with pytest.raises(ValueError, match="coincide"):
        same = torch.tensor([[0.6, 0.6], [0.8, -0.8]]).double()
        invariance.symmetric_cost(same, torch.eye(2).double()[:, 1:])
    fit = invariance.fit_wide(X, [0, 1, 2], 0.1, 0.1, variance=0.0)
    with pytest.raises(ValueError, match="different orbits"):
        invariance.stability(invariance.fit_wide(X, [0, 0, 1], 0.01, 0.01), Q)
    assert fit.gap < 1e-9
