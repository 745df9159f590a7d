"""The three-layer network: kernels as an oracle, balance, penalties and their weights."""

import numpy as np
import pytest
import torch
from lowdim.data import manifolds
from lowdim.hashing import factored, kernels, threelayer


def some(m=4, n=5, seed=0):
    rng = np.random.default_rng(seed)
    return torch.from_numpy(np.abs(rng.normal(size=(m, n, 6))))


def test_features_have_the_kernel_of_the_biased_points():
    D = manifolds.LinearFamily(ambient=6).draw(m=2, n=3)
    C = kernels.random_layer(60000, 7, seed=0)
    Z = threelayer.features(D.X, C).flatten(0, 1)
    expected = kernels.gram(D.X.flatten(0, 1).mT, bias=True)
    assert bool((Z @ Z.mT - expected).abs().max() < 0.02)


def test_own_weight_is_what_it_says():
    """The objective is L + λ₁‖A‖² + λ₂‖B‖² + (ε/allowed) V_reg."""
    Z = some()
    flat, labels = factored.columns(Z)
    rng = np.random.default_rng(1)
    A, B = torch.from_numpy(rng.normal(size=(4, 3))), torch.from_numpy(rng.normal(size=(3, 6)))
    parts = {"none": 0.0, "printed": 0.2 / 50, "own": 0.2 / 0.7}
    for penalty, weight in parts.items():
        p = threelayer.objective(Z, 0.2, 50.0, penalty=penalty, allowed=0.7)
        V = factored.within_variance(B @ flat, labels, unbiased=True)
        loss = factored.weighted_loss(A @ B @ flat, labels)
        by_hand = loss + 0.05 * A.square().sum() + 0.004 * B.square().sum() + weight * V
        assert float(p.value(A, B)) == pytest.approx(float(by_hand))


@pytest.mark.parametrize("seed", range(5))
def test_variance_bound_at_minima_and_balance(seed):
    p = threelayer.objective(some(seed=seed), 0.05, 20.0)
    found = factored.convex(p, goal=1e-12)
    left, right = threelayer.stationary_variance(found, 5)
    assert float(left) <= float(right) * (1 + 1e-6)
    size = found.B.square().sum() + (found.B @ p.spread).square().sum()
    assert float(p.lam1 * found.A.square().sum()) == pytest.approx(float(p.lam2 * size), rel=1e-6)


@pytest.mark.parametrize("n", [2, 3, 7])
def test_the_variance_bound_has_the_factors_of_its_proof(n):
    """Residuals are bounded by the loss over its smallest weight, V_mn becomes V_reg."""
    Z = some(m=3, n=n, seed=n)
    p = threelayer.objective(Z, 0.05, 20.0)
    found = factored.convex(p)
    left, right = threelayer.stationary_variance(found, n)
    labels = torch.arange(3).repeat_interleave(n)
    biased, unbiased = (
        factored.within_variance(found.B @ p.features, labels, unbiased=u) for u in (False, True)
    )
    rank = int(torch.linalg.matrix_rank(found.A))
    residuals = found.loss / p.weights.min() / (3 * n)  # in the mean over points
    assert rank >= 2 and float(left) == pytest.approx(float(unbiased))
    wanted = p.lam1 / p.lam2 * rank * residuals * unbiased / biased
    assert float(right) ** 2 == pytest.approx(float(wanted))


def test_measure_against_plain_loops():
    Z = some()
    B = torch.from_numpy(np.random.default_rng(2).normal(size=(2, 6)))
    R = (Z @ B.mT).numpy()
    V = [np.cov(r.T).trace() for r in R]
    d = [
        np.mean([np.sum((a - b) ** 2) for a in R[i] for b in R[j]])
        for i in range(4) for j in range(4) if i != j
    ]  # fmt: skip
    found = threelayer.measure(B, Z)
    assert found.variance == pytest.approx(np.mean(V))
    assert found.distance == pytest.approx(np.mean(d))
    assert found.mean == pytest.approx(np.mean(d) / np.mean(V))
    assert found.worst == pytest.approx(np.min(d) / np.max(V))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: threelayer.objective(some(), 0.0, 1.0), "must be above 0; you gave 0.0"),
        (lambda: threelayer.objective(some(), 1.0, 1.0, penalty="big"), "'none', 'printed', 'own'"),
        (lambda: threelayer.features(some(), torch.ones(3, 6)), r"C \(D, d \+ 1\)"),
        (
            lambda: threelayer.stationary_variance(
                factored.convex(threelayer.objective(some(), 1.0, 1.0, penalty="none")), 5
            ),
            "no variance penalty",
        ),
    ],
)
def test_refusals(call, words):
    with pytest.raises(ValueError, match=words):
        call()
