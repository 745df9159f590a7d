"""Two solvers agree, their certificates are bounds, and the formulas are what the loops say."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from lowdim.hashing import factored as f

SEEDS = st.integers(0, 2**31)


def draw(seed: int, *, m=3, n=4, D=5, trials=(), lam=None, variance=0.0, reading="balanced"):
    rng = np.random.default_rng(seed)
    Z = torch.from_numpy(rng.standard_normal((*trials, D, m * n))).clamp_min(0.0)
    labels = torch.arange(m).repeat_interleave(n)
    lam1, lam2 = lam or tuple(10 ** rng.uniform(-3, -1, 2))
    return rng, f.problem(Z, labels, lam1, lam2, variance=variance, reading=reading), labels


def pair(rng, p, T=3):
    m, D = p.targets.shape[-2], p.features.shape[-2]
    return tuple(torch.from_numpy(rng.standard_normal(s)) for s in ((m, T), (T, D)))


@settings(max_examples=20, deadline=None)
@given(SEEDS, st.sampled_from(f.READINGS), st.lists(st.integers(1, 4), min_size=2, max_size=5))
def test_the_loss_is_the_papers_average_whatever_the_order_of_points(seed, reading, sizes):
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    out, m = rng.standard_normal((len(sizes), len(labels))), len(sizes)
    total = 0.0
    for cls in range(m):
        for i in np.flatnonzero(labels == cls):
            for j in range(m):
                w = 1 / 2 if j == cls else 1 / (2 * (m - 1))
                w = w * w if reading == "printed" else w
                total += w * (out[j, i] - (j == cls)) ** 2 / sizes[cls] / m
    got = f.weighted_loss(out, torch.from_numpy(labels), reading=reading)
    assert float(got) == pytest.approx(total, rel=1e-12)


def test_balanced_weights_give_the_own_class_as_much_as_all_others():
    labels = torch.arange(7).repeat_interleave(3)
    own = torch.nn.functional.one_hot(labels).T > 0
    for reading, same in (("balanced", True), ("printed", False)):
        weights = f.class_weights(labels, reading=reading)
        assert np.isclose(float(weights[own].sum()), float(weights[~own].sum())) == same


def test_the_variances_are_those_of_numpy():
    rng = np.random.default_rng(3)
    R = rng.standard_normal((2, 4, 15))
    labels = torch.arange(3).repeat_interleave(5)
    for ddof, unbiased in ((0, False), (1, True)):
        want = R.reshape(2, 4, 3, 5).var(axis=3, ddof=ddof).sum(1).mean(1)
        np.testing.assert_allclose(f.within_variance(R, labels, unbiased=unbiased), want)


@settings(max_examples=15, deadline=None)
@given(SEEDS, st.sampled_from([0.0, 1.0, 3.0]))
def test_value_gradient_and_hessian_agree_with_loops_and_autograd(seed, variance):
    rng, p, labels = draw(seed, variance=variance)
    A, B = pair(rng, p)
    r = B @ p.features
    want = f.weighted_loss(A @ r, labels) + p.lam1 * A.norm() ** 2 + p.lam2 * B.norm() ** 2
    if variance:
        want += p.lam2 * variance * f.within_variance(r, labels, unbiased=True)
    torch.testing.assert_close(p.value(A, B), want)
    x = torch.cat([A.flatten(), B.flatten()])

    def value(x):
        return p.value(x[: A.numel()].reshape(A.shape), x[A.numel() :].reshape(B.shape))

    got = torch.cat([g.flatten() for g in p.gradient(A, B)])
    torch.testing.assert_close(got, torch.func.grad(value)(x))
    torch.testing.assert_close(f.hessian(p, A, B), torch.func.hessian(value)(x))


@settings(max_examples=20, deadline=None)
@given(SEEDS, st.sampled_from([0.0, 1.0]))
def test_the_convex_value_is_the_least_over_factorizations(seed, variance):
    rng, p, _ = draw(seed, variance=variance)
    A, B = pair(rng, p, T=4)
    least = p.convex_value(A @ B)
    assert float(least) <= float(p.value(A, B)) * (1 + 1e-12)
    torch.testing.assert_close(p.value(*f.balanced(A @ B, p.lam1, p.lam2, root=p.root())), least)


@settings(max_examples=20, deadline=None)
@given(SEEDS, st.sampled_from([0.0, 1.0]), st.sampled_from(f.READINGS))
def test_descent_and_the_convex_problem_agree_and_are_certified(seed, variance, reading):
    rng, p, _ = draw(seed, variance=variance, reading=reading)
    found, down = f.convex(p), f.descend(p, width=4, seed=seed % 100)
    assert float(found.gap) <= 1e-9 * float(found.value)
    assert float(down.gradient) < 1e-8
    assert float(down.gap) < 1e-5 * float(down.value)
    assert float(down.value) == pytest.approx(float(found.value), rel=1e-9)
    torch.testing.assert_close(p.convex_value(found.W), found.value)
    A, B = pair(rng, p)
    for W in (A @ B, found.W + 1e-3 * A @ B):  # a gap bounds the distance from the minimum
        assert float(p.convex_value(W) - found.value) <= float(p.gap(W)) + 1e-12


def test_the_solution_for_orthonormal_features_is_a_soft_threshold():
    rng = np.random.default_rng(5)
    Q = torch.from_numpy(np.linalg.qr(rng.standard_normal((8, 8)))[0])
    labels, (lam1, lam2) = torch.tensor([0, 1] * 4), (0.02, 0.005)
    p = f.problem(Q, labels, lam1, lam2)  # two classes: all weights are 1/2, over mn = 8
    U, s, Vh = torch.linalg.svd(p.targets @ Q.mT, full_matrices=False)
    want = (U * (s - (lam1 * lam2) ** 0.5 * 16).clamp_min(0)) @ Vh
    torch.testing.assert_close(f.convex(p).W, want, atol=1e-8, rtol=0)


@pytest.mark.parametrize("factor", [0.999, 1.001])
def test_the_solution_vanishes_exactly_where_the_gradient_at_zero_says(factor):
    _, p, labels = draw(11, lam=(1.0, 1.0))
    G = 2 * (p.weights * p.targets) @ p.features.mT
    mu = float(torch.linalg.matrix_norm(G, 2)) / 2 * factor
    W = f.convex(f.problem(p.features, labels, 4 * mu, mu / 4)).W
    assert bool(W.norm() == 0) == (factor > 1)


def test_arbitrary_weights_and_targets_are_solved_too():
    rng = np.random.default_rng(8)
    Z, Y = (torch.from_numpy(rng.standard_normal(s)) for s in ((6, 9), (4, 9)))
    weights = torch.from_numpy(rng.uniform(0.1, 3.0, (4, 9)))
    p = f.Problem(Z, Y, weights, 0.3, 0.2)
    found, down = f.convex(p), f.descend(p)
    assert float(found.gap) < 1e-9 * float(found.value)
    assert float(down.value) == pytest.approx(float(found.value), rel=1e-10)


def test_a_trial_is_the_same_alone_and_in_a_batch():
    _, p, labels = draw(2, trials=(2, 2), variance=1.0)
    start = (torch.ones(3, 2).double(), torch.ones(2, 5).double())
    start[0][0, 0] = start[1][0, 0] = 2.0
    for solve in (f.convex, lambda q: f.descend(q, start=start)):
        both = solve(p)
        alone = solve(f.problem(p.features[1, 0], labels, p.lam1, p.lam2, variance=1.0))
        assert both.A.shape[:2] == both.gap.shape == both.steps.shape == (2, 2)
        torch.testing.assert_close(both.W[1, 0], alone.W)
        torch.testing.assert_close(both.value[1, 0], alone.value)
    torch.testing.assert_close(
        f.hessian(p, both.A, both.B)[1, 0],
        f.hessian(f.problem(p.features[1, 0], labels, p.lam1, p.lam2, variance=1.0),
                  both.A[1, 0], both.B[1, 0]),
    )  # fmt: skip


def test_newtons_steps_finish_what_descent_began():
    Z = torch.from_numpy(np.random.default_rng(3).standard_normal((4, 10, 12)))
    p = f.problem(Z, torch.arange(3).repeat_interleave(4), 0.05, 0.02)
    found = f.descend(p, width=4, steps=200, goal=1e-11)
    assert float(found.gradient.max()) < 1e-11  # L-BFGS alone stops above 1e-9


def test_descent_starts_at_normal_entries_of_the_stated_size(monkeypatch):
    seen = []

    def stay(core, A, B, goal, steps):
        seen.append((A / core.ratio, np.linalg.lstsq(core.lift.T, (B * core.ratio).T)[0].T))
        return A, B, 0

    monkeypatch.setattr(f._Core, "down", stay)
    _, p, _ = draw(1, D=40, n=40, lam=(0.3, 0.002))
    for scale in (None, 0.1, 0.7):
        f.descend(p, width=60, seed=3, **({} if scale is None else {"scale": scale}))
    sizes = [(float(A.std()), float(B.std())) for A, B in seen]
    np.testing.assert_allclose(sizes[0], sizes[1], rtol=1e-12)  # what is said is what is done
    np.testing.assert_allclose(sizes[1:], [(0.1, 0.1), (0.7, 0.7)], rtol=0.1)


def test_what_no_feature_sees_gets_no_weight():
    rng = np.random.default_rng(4)
    Z = torch.zeros(7, 6).double()
    Z[:4] = torch.from_numpy(rng.standard_normal((4, 6)))
    p = f.problem(Z, [0, 0, 1, 1, 2, 2], 0.01, 0.02, variance=1.0)
    for found in (f.convex(p), f.descend(p)):
        assert float(found.B[:, 4:].abs().max()) < 1e-12
        assert float(found.gradient) < 1e-7


def test_refusals_are_one_sentence():
    Z = torch.ones(2, 4)
    with pytest.raises(ValueError, match=r"count the classes from 0, .* \[0, 2\]\."):
        f.problem(Z, [0, 0, 2, 2], 0.1, 0.1)
    with pytest.raises(ValueError, match=r"one for each of 4 columns; .* \(3,\)\."):
        f.problem(Z, [0, 1, 1], 0.1, 0.1)
    with pytest.raises(ValueError, match=r"positive .* lam1 = 0, lam2 = 0\.1"):
        f.problem(Z, [0, 0, 1, 1], 0, 0.1)
    with pytest.raises(ValueError, match="two points or more in each class"):
        f.problem(Z, [0, 0, 0, 1], 0.1, 0.1, variance=1.0)
    with pytest.raises(ValueError, match="'balanced', 'printed'; you gave 'both'"):
        f.class_weights([0, 1], reading="both")
    with pytest.raises(ValueError, match="at least the rank 2"):
        f.convex(f.problem(torch.eye(2), [0, 1], 0.01, 0.01), width=1)
