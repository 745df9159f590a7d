"""Tails, ranks and cluster variation: identities, oracles, refusals."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from lowdim.linalg import ranks

SEEDS = st.integers(0, 10_000)


def normal(seed: int, *shape: int) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(seed).standard_normal(shape))


# --- tails, soft rank, distance -------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.integers(1, 7), st.integers(1, 7), st.sampled_from([1, 2, 0.5]))
def test_tails_fall_from_one_to_zero_and_ignore_scale(seed, m, n, power):
    W = normal(seed, 3, m, n)
    t = ranks.tails(W, power=power)
    assert t.shape == (3, min(m, n) + 1)
    assert (t.diff(dim=-1) <= 0).all()
    assert (t[:, 0] == 1).all() and (t[:, -1] == 0).all()
    torch.testing.assert_close(t, ranks.tails(1e-200 * W, power=power))
    torch.testing.assert_close(t, ranks.tails(1e150 * W.mT, power=power))


def test_tails_of_zero_say_nothing():
    assert ranks.tails(torch.zeros(2, 3)).isnan().all()
    assert ranks.soft_rank(torch.zeros(2, 3)).item() == 0


@settings(max_examples=30, deadline=None)
@given(SEEDS, st.integers(0, 6))
def test_distance_is_that_of_the_truncated_svd(seed, K):
    W = normal(seed, 5, 6)
    U, s, V = torch.linalg.svd(W, full_matrices=False)
    left = W - (U[:, :K] * s[:K]) @ V[:K]
    norms = {"fro": torch.linalg.matrix_norm(left), "spectral": torch.linalg.matrix_norm(left, 2)}
    for norm, expected in norms.items():
        found = ranks.rank_distance(W, K, norm=norm)
        torch.testing.assert_close(found, expected, atol=1e-12, rtol=1e-10)
    relative = ranks.tails(W)[min(K, 5)]
    torch.testing.assert_close(relative, (norms["fro"] / W.norm()) ** 2, atol=1e-12, rtol=1e-9)


@settings(max_examples=30, deadline=None)
@given(SEEDS, st.integers(1, 4))
def test_no_matrix_of_rank_k_is_closer(seed, K):
    W = normal(seed, 5, 4)
    other = normal(seed + 1, 5, K) @ normal(seed + 2, K, 4)
    assert ranks.rank_distance(W, K) <= (W - other).norm() + 1e-12


def test_soft_rank_counts_and_the_printed_one_counts_one_more():
    W = torch.diag(torch.tensor([4.0, 3.0, 2.0, 1.0]))
    for epsilon in (0.05, 0.1, 0.35, 0.7):
        s = [4, 3, 2, 1]
        needed = min(r for r in range(5) if sum(s[r:]) / 10 <= epsilon)
        printed = min(r for r in range(1, 6) if sum(s[r - 1 :]) / 10 <= epsilon)
        assert ranks.soft_rank(W, epsilon=epsilon).item() == needed
        assert ranks.soft_rank(W, epsilon=epsilon, printed=True).item() == printed == needed + 1


# --- clusters -------------------------------------------------------------------------------------


@settings(max_examples=30, deadline=None)
@given(SEEDS, st.integers(1, 4))
def test_total_is_within_plus_between(seed, k):
    rng = np.random.default_rng(seed)
    labels = np.concatenate([np.arange(k), rng.integers(0, k, 9)])
    points = normal(seed, 2, 3, len(labels))
    c, sizes = ranks.centroids(points, labels), torch.from_numpy(np.bincount(labels))
    mean = points.mean(-1, keepdim=True)
    between = (sizes * (c - mean).square().sum(-2)).sum(-1) / len(labels)
    total = (points - mean).square().sum((-2, -1)) / len(labels)
    torch.testing.assert_close(ranks.wcss(points, labels) + between, total)
    trace = ranks.within_covariance(points, points, labels).diagonal(dim1=-2, dim2=-1).sum(-1)
    torch.testing.assert_close(trace, ranks.wcss(points, labels))


def test_covariance_within_is_what_centroids_leave_of_a_product():
    A, B, labels = normal(1, 3, 10), normal(2, 4, 10), [0, 1, 1, 2, 0, 2, 2, 1, 0, 0]
    shares = torch.bincount(torch.tensor(labels)) / 10
    at_centroids = (ranks.centroids(A, labels) * shares) @ ranks.centroids(B, labels).mT
    torch.testing.assert_close(A @ B.mT / 10, at_centroids + ranks.within_covariance(A, B, labels))


@pytest.mark.parametrize(("n", "K"), [(1, 1), (4, 2), (5, 3), (6, 6), (3, 9)])
def test_partitions_are_all_of_them_once(n, K):
    rows = ranks.partitions(n, K)
    as_sets = {
        frozenset(frozenset(np.flatnonzero(row == k)) for k in set(row.tolist())) for row in rows
    }
    every = {
        frozenset(frozenset(np.flatnonzero(np.array(f) == k)) for k in set(f))
        for f in itertools.product(range(min(K, n)), repeat=n)
    }
    assert as_sets == every and len(rows) == len(every) == ranks._count(n, K)


@settings(max_examples=25, deadline=None)
@given(SEEDS, st.integers(1, 4))
def test_exact_is_least_and_between_floor_and_others(seed, K):
    points = normal(seed, 2, 8)
    exact = ranks.variation(points, K)
    assert exact.exact and exact.method == "exact"
    assert exact.floor <= exact.value + 1e-12
    for row in ranks.partitions(8, K)[:: max(1, K)]:
        assert exact.value <= ranks.wcss(points, row) + 1e-12
    means = ranks.variation(points, K, method="kmeans", seed=seed)
    assert not means.exact and means.value >= exact.value - 1e-12
    if K > 1:
        assert exact.value <= ranks.variation(points, K - 1).value + 1e-12


def test_exact_agrees_with_the_optimum_on_a_line():
    """In one dimension optimal parts are intervals: few enough to look at all of them."""
    x = np.sort(np.random.default_rng(5).standard_normal(9))
    ends = itertools.combinations(range(1, 9), 2)
    best = min(sum(((p - p.mean()) ** 2).sum() for p in np.split(x, cut)) / 9 for cut in ends)
    assert ranks.variation(x[None], 3).value == pytest.approx(best, rel=1e-12)


def test_clusters_that_coincide_have_no_variation_and_the_result_says_how():
    labels = np.repeat([0, 1, 2], 30)
    points = normal(0, 4, 3)[:, torch.from_numpy(labels)]
    given_ = ranks.variation(points, 3, method="labels", labels=labels)
    found = ranks.variation(points, 3, seed=1)
    assert given_.value == pytest.approx(0, abs=1e-28) and found.value == pytest.approx(
        0, abs=1e-28
    )
    assert "upper bound, the given partition" in str(given_)
    assert "k-means with 20 restarts" in str(found) and found.method == "kmeans"
    assert "exact" in str(ranks.variation(points[:, ::15], 3))


def test_kmeans_uses_labels_as_a_start():
    labels = np.repeat(np.arange(6), 20)
    points = 3 * normal(3, 5, 6)[:, torch.from_numpy(labels)] + normal(4, 5, 120)
    bound = ranks.variation(points, 6, method="labels", labels=labels)
    found = ranks.variation(points, 6, method="kmeans", labels=labels, restarts=1)
    assert found.value <= bound.value + 1e-12


def test_joint_points_add_their_variations():
    Z, Y, labels = normal(1, 2, 3, 8), normal(2, 2, 8), [0, 0, 1, 1, 1, 2, 2, 0]
    both = ranks.wcss(ranks.joint(Z, Y), labels)
    torch.testing.assert_close(both, ranks.wcss(Z, labels) + ranks.wcss(Y, labels))
    assert ranks.joint(Z) is Z


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ranks.tails(torch.ones(2, 2), power=0), "power must be above 0"),
        (lambda: ranks.soft_rank(torch.ones(2, 2), epsilon=1.0), "epsilon must be from 0"),
        (lambda: ranks.rank_distance(torch.ones(2, 2), -1), "K must be a whole number"),
        (lambda: ranks.rank_distance(torch.ones(2, 2), 1, norm="max"), "norm must be one of"),
        (lambda: ranks.joint(torch.ones(2, 3), torch.ones(1, 4)), "as many columns"),
        (lambda: ranks.wcss(torch.ones(2, 3), [0, 1]), "labels need the shape"),
        (lambda: ranks.within_covariance(torch.ones(2, 3), torch.ones(2, 2), [0] * 3), "as many"),
        (lambda: ranks.variation(torch.ones(2, 3), 4), "K must be from 1 to N = 3"),
        (lambda: ranks.variation(torch.ones(1, 2, 3), 1), "one matrix"),
        (lambda: ranks.variation(torch.ones(2, 3), 2, method="labels"), "needs labels"),
        (lambda: ranks.variation(torch.ones(2, 3), 1, labels=[0, 1, 1]), "more than K = 1"),
        (lambda: ranks.variation(normal(0, 2, 60), 4, method="exact"), "too many to enumerate"),
        (lambda: ranks.variation(torch.ones(2, 3), 1, method="best"), "method must be one of"),
        (lambda: ranks.partitions(0, 1), "n must be a whole number"),
    ],
)
def test_refusals_say_what_was_wrong(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_spread_centroids_keeps_means_and_is_idempotent():
    points = torch.from_numpy(np.random.default_rng(0).standard_normal((2, 3, 5)))
    labels = torch.tensor([[0, 1, 0, 1, 1], [0, 0, 0, 0, 1]])
    spread = ranks.spread_centroids(points, labels)
    torch.testing.assert_close(spread.mean(-1), points.mean(-1))
    torch.testing.assert_close(ranks.spread_centroids(spread, labels), spread)
    alone = [ranks.spread_centroids(A, part) for A, part in zip(points, labels, strict=True)]
    torch.testing.assert_close(torch.stack(alone), spread)
    for wrong in ([0, 1], labels[:1]):
        with pytest.raises(ValueError, match="one for each"):
            ranks.spread_centroids(points, wrong)
