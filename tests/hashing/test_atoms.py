"""Finite representations: identities, exact fractions, and the forms for samples."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from lowdim.hashing import atoms, separation


def random_atoms(seed: int, *batch: int, m: int = 3, a: int = 4, p: int = 2) -> atoms.Atoms:
    rng = np.random.default_rng(seed)
    at = torch.from_numpy(rng.standard_normal((*batch, m, a, p)))
    weight = torch.from_numpy(rng.dirichlet(np.ones(a), (*batch, m)))
    return atoms.Atoms(at, weight)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6))
def test_squares_are_centres_and_two_variances(seed):
    A = random_atoms(seed, 2)
    V = A.variance
    torch.testing.assert_close(A.squares, A.centres + V[..., :, None] + V[..., None, :])
    assert bool((A.distances**2 <= A.squares * (1 + 1e-12) + 1e-12).all())
    assert bool((A.radius**2 <= V * (1 + 1e-12)).all())


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6))
def test_energy_distance_is_not_negative(seed):
    A = random_atoms(seed, m=2)
    table = A.distances
    assert 2 * table[0, 1] >= table[0, 0] + table[1, 1] - 1e-12


def test_uniform_weights_are_the_samples_themselves():
    R = torch.from_numpy(np.random.default_rng(0).standard_normal((3, 5, 2)))
    A = atoms.Atoms(R, torch.full((3, 5), 0.2, dtype=torch.float64))
    different = ~torch.eye(3, dtype=torch.bool)
    torch.testing.assert_close(A.variance, separation.intra(R))
    torch.testing.assert_close(A.squares[different], separation.inter(R)[different])
    plain = separation.inter(R, squared=False)
    torch.testing.assert_close(A.distances[different], plain[different])
    torch.testing.assert_close(A.rho, separation.rho(R))
    share = separation.accepts(R, threshold=1.7)
    torch.testing.assert_close(A.accept(1.7)[different], share[different])
    own = A.accept(1.7).diagonal()  # here a point may meet itself
    torch.testing.assert_close(own, share.diagonal() * 4 / 5 + 1 / 5)


def test_a_batch_is_its_members_and_thresholds_are_one_for_each():
    A = random_atoms(1, 4)
    t = torch.tensor([0.1, 0.5, 1.0, 3.0], dtype=torch.float64)
    miss, false = A.errors(t)
    for i in range(4):
        one = atoms.Atoms(A.at[i], A.weight[i])
        torch.testing.assert_close(one.accept(t[i]), A.accept(t)[i])
        assert (one.errors(t[i])[0] - miss[i]).abs() < 1e-12
        assert (one.errors(t[i])[1] - false[i]).abs() < 1e-12
        torch.testing.assert_close(one.rho, A.rho[i])


def test_errors_are_the_worst_over_manifolds():
    wide = atoms.Atoms([[[0.0], [0.0]], [[8.0], [12.0]], [[1.0], [1.0]]], [[0.5, 0.5]] * 3)
    miss, false = wide.errors(2.0)  # only the second misses, only the first and third are mixed up
    assert miss.item() == pytest.approx(0.5)
    assert false.item() == pytest.approx(1)
    assert wide.errors(0.5)[1] == 0


def test_projected_distances_are_no_longer():
    A = random_atoms(2, 6)
    different = ~torch.eye(3, dtype=torch.bool)
    for t in (0.3, 1.0, 4.0):
        assert bool((A.accept(t) <= A.below(t) + 1e-12)[:, different].all())


@pytest.mark.parametrize("corners", [2, 3, 10])
def test_simplex_has_variance_one_and_corners_just_beyond_two(corners):
    S = atoms.simplex(corners, distance=5.0)
    assert S.rho.item() == pytest.approx(27)
    miss, false = S.errors(2.0)
    assert miss.item() == pytest.approx(1 - 1 / corners)
    assert false == 0
    sides = torch.pdist(S.at[0]).square()
    np.testing.assert_allclose(sides, 2 * corners / (corners - 1))


@pytest.mark.parametrize("rho", [2.5, 6.0, 18.0, 1000.0])
def test_the_shared_point_has_its_rho_and_its_floor(rho):
    A = atoms.shared_point(rho)
    p = Fraction(4) / (Fraction(rho) + 2)
    assert A.rho.item() == pytest.approx(rho)
    assert atoms.confusion_floor(A).item() == pytest.approx(float(1 - (1 - p) ** 2))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.01, 10))
def test_no_threshold_beats_the_floor(seed, threshold):
    rng = np.random.default_rng(seed)
    at = torch.from_numpy(rng.integers(0, 3, (2, 3, 1)).astype(float))
    A = atoms.Atoms(at, torch.from_numpy(rng.dirichlet(np.ones(3), 2)))
    share = A.accept(threshold)
    errors = 1 - (share[0, 0] + share[1, 1]) / 2 + share[0, 1]
    assert errors >= atoms.confusion_floor(A) - 1e-12


def test_floor_of_equal_and_of_disjoint_laws():
    coin = atoms.Atoms([[[-1.0], [1.0]]] * 2, [[0.5, 0.5]] * 2)
    assert atoms.confusion_floor(coin).item() == pytest.approx(1)
    apart = atoms.Atoms([[[-1.0], [1.0]], [[5.0], [6.0]]], [[0.5, 0.5]] * 2)
    assert atoms.confusion_floor(apart) == 0


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: atoms.Atoms([[[0.0]]], [[1.0, 0.0]]), "(1, 2)"),
        (lambda: atoms.Atoms([[[0.0], [1.0]]], [[1.5, -0.5]]), "-0.5"),
        (lambda: atoms.Atoms([[[0.0], [1.0]]], [[0.5, 0.4]]), "add to 1"),
        (lambda: atoms.simplex(1), "you gave 1"),
        (lambda: atoms.shared_point(2.0), "you gave 2.0"),
        (lambda: atoms.confusion_floor(random_atoms(0)), "there are 3"),
        (lambda: atoms.Atoms([[[0.0]]], [[1.0]]).rho, "there is 1"),
    ],
)
def test_refusals_name_the_values(make, said):
    with pytest.raises(ValueError) as refusal:
        make()
    assert said in str(refusal.value)
