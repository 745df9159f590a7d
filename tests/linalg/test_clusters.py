"""Clusters read off a projector: brute force, invariances, exact rational projectors."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
import sympy
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from lowdim.linalg import clusters
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

labellings = st.integers(2, 10).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(0, 3), min_size=n, max_size=n),
        st.lists(st.integers(0, 3), min_size=n, max_size=n),
    )
)


def rational_projector(*rows: list[int]) -> sympy.Matrix:
    """The projector onto the row space, in exact arithmetic."""
    A = sympy.Matrix(rows)
    return A.T * (A * A.T).inv() * A


def exact_components(P: sympy.Matrix) -> list[set[int]]:
    """Connected components by the definition: closure of 'the entry is not zero'."""
    groups = [{i} for i in range(P.rows)]
    for i in range(P.rows):
        for j in range(i):
            if P[i, j] != 0:
                one = next(g for g in groups if i in g)
                two = next(g for g in groups if j in g)
                if one is not two:
                    groups.remove(two)
                    one |= two
    return sorted(groups, key=min)


def as_sets(labels: np.ndarray) -> list[set[int]]:
    groups = [set(np.flatnonzero(labels == k).tolist()) for k in np.unique(labels)]
    return sorted(groups, key=min)


@settings(max_examples=60, deadline=None)
@given(labellings)
def test_accuracy_is_the_best_over_all_matchings(pair):
    found, truth = pair
    names = range(4)  # every way to rename the four possible groups
    best = max(
        sum(renamed[f] == t for f, t in zip(found, truth, strict=True)) / len(found)
        for renamed in permutations(names)
    )
    assert float(clusters.accuracy(found, truth)) == pytest.approx(best)


@settings(max_examples=30, deadline=None)
@given(labellings, st.permutations(range(4)))
def test_scores_do_not_see_the_names_of_groups(pair, renamed):
    found, truth = pair
    other = [renamed[f] for f in found]
    for score in (clusters.accuracy, clusters.nmi, clusters.ari):
        assert float(score(found, truth)) == pytest.approx(float(score(other, truth)))
    assert float(clusters.accuracy(other, found)) == 1
    assert float(clusters.nmi(other, found)) == pytest.approx(1)
    assert float(clusters.ari(other, found)) == pytest.approx(1)


def test_scores_work_along_leading_axes_and_are_the_usual_ones():
    rng = np.random.default_rng(0)
    found, truth = rng.integers(0, 3, (2, 4, 20)), rng.integers(0, 3, 20)
    usual = {clusters.nmi: normalized_mutual_info_score, clusters.ari: adjusted_rand_score}
    for score, oracle in usual.items():
        whole = score(found, truth)
        assert whole.shape == (2, 4)
        assert whole[1, 2] == pytest.approx(oracle(truth, found[1, 2]))
    assert clusters.accuracy(found, truth).shape == (2, 4)
    assert clusters.accuracy(found, truth)[0, 3] == float(clusters.accuracy(found[0, 3], truth))


def test_numbers_of_groups_may_differ():
    assert float(clusters.accuracy([0, 1, 2, 3], [0, 0, 1, 1])) == 0.5
    assert float(clusters.accuracy([0, 0, 0, 0], [0, 0, 1, 2])) == 0.5


@pytest.mark.parametrize(
    "rows",
    [
        ([1, 2, 0, 0, 0], [0, 0, 1, 1, 3]),  # two independent lines: two blocks
        ([1, 1, 1, 0, 0], [0, 0, 1, 1, 3]),  # overlapping: one component
        ([1, 0, 0, 0, 0], [0, 1, -1, 0, 0], [0, 0, 0, 2, 5]),
        ([1, -1, 0, 0, 0], [0, 0, 0, 1, 0]),  # column 2 is zero: a point alone
        ([3, 1, 4, 1, 5],),
    ],
)
def test_components_of_rational_projectors(rows):
    P = rational_projector(*rows)
    assert P * P == P
    found = clusters.components(np.array(P.tolist(), dtype=float), threshold=1e-12)
    assert as_sets(found) == exact_components(P)


def test_the_threshold_of_components_is_strict():
    P = torch.tensor([[1.0, 0.25], [-0.25, 1.0]])
    assert clusters.components(P, threshold=0.25).tolist() == [0, 1]
    assert clusters.components(P, threshold=0.24).tolist() == [0, 0]


def test_the_smallest_entry_on_the_support_of_a_rational_projector():
    P = rational_projector([1, 2, 0, 0, 0], [0, 0, 1, 1, 3])
    exact = min(abs(x) for x in P if x != 0)
    found = clusters.smallest_on_support(np.array(P.tolist(), dtype=float)).item()
    assert found == pytest.approx(float(exact), rel=1e-14)
    stack = torch.stack([torch.eye(3), torch.zeros(3, 3)])
    assert clusters.smallest_on_support(stack).tolist() == [1, torch.inf]


def blocks(sizes: tuple[int, ...], dims: tuple[int, ...], seed: int) -> torch.Tensor:
    rng = np.random.default_rng(seed)
    parts = [
        torch.from_numpy(np.linalg.qr(rng.standard_normal((n, d)))[0])
        for n, d in zip(sizes, dims, strict=True)
    ]
    return torch.block_diag(*parts)


def test_spectral_clustering_recovers_blocks():
    sizes, dims = (12, 7, 9), (2, 1, 3)
    truth = np.repeat(np.arange(3), sizes)
    V = torch.stack([blocks(sizes, dims, seed) for seed in range(3)])
    noisy = torch.linalg.qr(V + 0.01 * torch.randn(V.shape, generator=_generator()).double()).Q
    for basis in (V, noisy, noisy.float()):
        found = clusters.spectral(basis, 3, seed=0)
        assert found.shape == (3, 28)
        assert clusters.accuracy(found, truth).tolist() == [1, 1, 1]
    shuffle = np.random.default_rng(1).permutation(28)
    found = clusters.spectral(V[0][shuffle], 3, seed=4)
    assert float(clusters.ari(found, truth[shuffle])) == 1
    assert clusters.spectral(V[0], 3, seed=7, power=2.0).shape == (28,)


def _generator() -> torch.Generator:
    return torch.Generator().manual_seed(0)


def test_spectral_clustering_repeats_itself():
    V = torch.linalg.qr(torch.randn(30, 4, generator=_generator()).double()).Q
    one, two = (clusters.spectral(V, 4, seed=3) for _ in range(2))
    assert (one == two).all()


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: clusters.components(torch.ones(2, 3), threshold=0.1), "(2, 3)"),
        (lambda: clusters.components(torch.ones(2, 2, 2), threshold=0.1), "(2, 2, 2)"),
        (lambda: clusters.components(torch.eye(2), threshold=-0.5), "-0.5"),
        (lambda: clusters.components([[float("nan")]], threshold=0.1), "finite"),
        (lambda: clusters.spectral(torch.eye(3), 4), "n = 3"),
        (lambda: clusters.spectral(torch.eye(3), 0), "you gave 0"),
        (lambda: clusters.accuracy([0, 1], [0, 1, 1]), "(2,) and (3,)"),
        (lambda: clusters.nmi([], []), "(0,) and (0,)"),
    ],
)
def test_refusals_name_the_values(call, said):
    with pytest.raises(ValueError) as refusal:
        call()
    assert said in str(refusal.value)


def test_kmeans_finds_blobs_and_does_not_depend_on_the_rest_of_a_stack():
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(3), 8)
    centres = 20 * rng.standard_normal((2, 5, 3))
    Y = torch.from_numpy(centres[..., truth] + rng.standard_normal((2, 5, 24)))
    found = clusters.kmeans(Y, 3, seed=1)
    assert found.shape == (2, 24)
    assert clusters.accuracy(found, truth).tolist() == [1.0, 1.0]
    assert np.array_equal(clusters.kmeans(Y[1], 3, seed=1), found[1])
    with pytest.raises(ValueError, match="k must be from 1 to n = 24; you gave 25"):
        clusters.kmeans(Y, 25)


def test_kmeans_ends_where_every_point_is_nearest_to_its_own_mean():
    Y = torch.from_numpy(np.random.default_rng(4).standard_normal((2, 40)))
    found = clusters.kmeans(Y, 4)
    means = torch.stack([Y[:, found == k].mean(1) for k in range(4)], 1)
    away = torch.cdist(Y.mT, means.mT)
    assert away.argmin(1).tolist() == found.tolist()


@settings(max_examples=30, deadline=None)
@given(labellings)
def test_scores_are_the_three_measures_in_order(pair):
    found, truth = pair
    expected = [
        float(clusters.accuracy(found, truth)),
        normalized_mutual_info_score(truth, found),
        adjusted_rand_score(truth, found),
    ]
    assert clusters.scores(found, truth).tolist() == pytest.approx(expected)
