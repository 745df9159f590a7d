"""Small matrices, splits and exact projectors against brute force and floating point."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
import torch
from lowdim.linalg import clusters, subspaces
from lowdim.preserve import connectivity


def test_splits_are_all_proper_sets_once():
    found = {tuple(s) for s in connectivity.splits(6)}
    assert len(connectivity.splits(6)) == len(found) == 2**6 - 2
    assert all(set(range(6)) - set(s) for s in found)


@pytest.mark.parametrize("seed", range(5))
def test_ranks_and_exact_projectors_of_integer_matrices_agree_with_sympy(seed):
    for X in connectivity.integer_matrices(6, 5, np.random.default_rng(seed)):
        assert int(connectivity.rank(X)) == sympy.Matrix(X.int().tolist()).rank()
        exact = connectivity.exact_projector(X.int().tolist())
        assert exact * exact == exact == exact.T
        V = subspaces.row_space(X)
        found = torch.tensor(np.array(exact, dtype=float))
        torch.testing.assert_close(found, subspaces.projector(V), atol=1e-10, rtol=0)


def test_integer_matrices_leave_zero_out_and_have_three_entries():
    found = list(connectivity.integer_matrices(300, 2, np.random.default_rng(1)))
    assert len(found) < 300
    assert all(X.any() for X in found)
    assert {float(x) for X in found for x in X.flatten()} == {-1.0, 0.0, 1.0}


def test_shapes_have_room_for_each_subspace_and_not_always_for_all():
    shapes = list(connectivity.random_shapes(200, np.random.default_rng(2)))
    assert all(ambient >= max(dims) for ambient, dims, _, _ in shapes)
    assert any(ambient < sum(dims) for ambient, dims, _, _ in shapes)
    assert any(ambient >= sum(dims) for ambient, dims, _, _ in shapes)


def test_the_four_data_sets_are_what_their_names_say():
    size, dim = 7, 2
    P = connectivity.four_data_sets(size=size, dim=dim, seed=4)
    parts = {name: clusters.components(p, threshold=1e-8) for name, p in P.items()}
    assert clusters.ari(parts["independent"], np.repeat([0, 1, 2], size)) == 1
    assert len(set(parts["dependent"])) == 1
    starved = P["$n_2=r_2$"][size : size + dim, size : size + dim]
    torch.testing.assert_close(starved, torch.eye(dim, dtype=torch.float64))
    assert clusters.ari(parts["one cluster, two halves"], np.repeat([0, 1], size)) == 1
