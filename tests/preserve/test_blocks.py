"""Off-block mass and the nearest block projector: dense oracles, brute force, exact arithmetic."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import sympy
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from lowdim.linalg import subspaces
from lowdim.preserve import blocks, drift


def basis(seed: int, n: int, r: int, *batch: int) -> torch.Tensor:
    rng = np.random.default_rng(seed)
    return torch.linalg.qr(torch.from_numpy(rng.standard_normal((*batch, n, r)))).Q


cases = st.tuples(st.integers(0, 10**6), st.integers(2, 9)).flatmap(
    lambda c: st.tuples(
        st.just(c[0]),
        st.integers(1, c[1]),
        st.lists(st.integers(0, 3), min_size=c[1], max_size=c[1]),
    )
)


@settings(max_examples=60, deadline=None)
@given(cases)
def test_off_block_is_what_the_dense_projector_holds_outside_its_blocks(case):
    seed, r, labels = case
    V = basis(seed, len(labels), r)
    P = (V @ V.mT).numpy()
    differ = np.not_equal.outer(labels, labels)
    assert float(blocks.off_block(V, labels)) == pytest.approx(
        (P[differ] ** 2).sum() / r, abs=1e-12
    )


@settings(max_examples=60, deadline=None)
@given(cases)
def test_price_is_the_distance_of_the_nearest_which_is_a_block_projector(case):
    seed, r, labels = case
    V = basis(seed, len(labels), r)
    B = blocks.nearest(V, labels)
    assert torch.allclose(B.mT @ B, torch.eye(r, dtype=torch.float64), atol=1e-9)
    assert float(blocks.off_block(B, labels)) < 1e-12
    assert float(drift.apart(V, B)) == pytest.approx(float(blocks.price(V, labels)), abs=1e-7)


@settings(max_examples=40, deadline=None)
@given(cases)
def test_two_sides_by_the_off_block_mass(case):
    seed, r, labels = case
    V = basis(seed, len(labels), r)
    squared, mass = float(blocks.price(V, labels)) ** 2, float(blocks.off_block(V, labels))
    assert mass / 2 <= squared + 1e-12
    assert squared <= mass + 1e-12


def test_no_block_projector_is_nearer():
    """Lines of two points each against a grid of all block projectors: r = 1 and r = 2."""
    labels = [0, 0, 1, 1]
    turns = torch.linspace(0, np.pi, 181, dtype=torch.float64)
    lines = torch.stack([turns.cos(), turns.sin()], -1)  # (181, 2)
    for seed in range(5):
        V = basis(seed, 4, 1)
        one = torch.zeros(2, 181, 4, 1, dtype=torch.float64)
        one[0, :, :2, 0], one[1, :, 2:, 0] = lines, lines
        best = drift.apart(V.expand_as(one), one).min()
        assert float(blocks.price(V, labels)) <= float(best) + 1e-12
        assert float(blocks.price(V, labels)) == pytest.approx(float(best), abs=2e-2)
    V = basis(7, 4, 2)
    eye = torch.eye(4, dtype=torch.float64)
    pairs = [(a, b) for a in range(0, 181, 6) for b in range(0, 181, 6)]
    mixed = [torch.stack([eye[:, :2] @ lines[a], eye[:, 2:] @ lines[b]], -1) for a, b in pairs]
    whole = [eye[:, list(c)] for c in combinations(range(4), 2) if c in ((0, 1), (2, 3))]
    best = min(float(drift.apart(V, B)) for B in mixed + whole)
    assert float(blocks.price(V, labels)) == pytest.approx(best, abs=2e-2)
    assert float(blocks.price(V, labels)) <= best + 1e-12


def test_by_hand_in_exact_arithmetic():
    """The line of (3, 4): P = [[9, 12], [12, 16]] / 25, off-block 288/625, price² 9/25."""
    v = sympy.Matrix([3, 4]) / 5
    P = v * v.T
    V = torch.tensor([[0.6], [0.8]], dtype=torch.float64)
    assert 2 * P[0, 1] ** 2 == sympy.Rational(288, 625)
    assert float(blocks.off_block(V, [0, 1])) == pytest.approx(288 / 625)
    assert float(blocks.price(V, [0, 1])) ** 2 == pytest.approx(float(1 - P[1, 1]))


def test_extremes():
    V = basis(0, 6, 2)
    assert float(blocks.price(V, [3] * 6)) == pytest.approx(0, abs=1e-7)  # one label: all is inside
    own = torch.eye(6, dtype=torch.float64)[:, :2]
    assert float(blocks.price(own, range(6))) == 0  # every point its own label
    whole = torch.eye(6, dtype=torch.float64)
    assert float(blocks.off_block(whole, [0, 0, 1, 1, 2, 2])) == 0  # r = n: the identity


def test_a_stack_equals_one_at_a_time_and_labels_may_differ():
    V = basis(1, 7, 3, 4)
    labels = np.random.default_rng(0).integers(0, 3, (4, 7))
    labels[:, :3] = [0, 1, 2]
    for f in (blocks.off_block, blocks.price):
        alone = [float(f(V[t], labels[t])) for t in range(4)]
        assert f(V, labels).tolist() == pytest.approx(alone)
    together = blocks.nearest(V, labels)
    for t in range(4):
        assert float(subspaces.distance(together[t], blocks.nearest(V[t], labels[t]))) < 1e-9


def test_renaming_labels_or_turning_the_basis_changes_nothing():
    V, turn = basis(2, 8, 3), basis(3, 3, 3)
    labels = np.array([0, 0, 1, 1, 1, 2, 2, 0])
    for f in (blocks.off_block, blocks.price):
        expected = float(f(V, labels))
        assert float(f(V @ turn, labels)) == pytest.approx(expected)
        assert float(f(V, 5 - labels)) == pytest.approx(expected)


def test_labels_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"each of the n = 4 points; their shape is \(3,\)"):
        blocks.price(basis(0, 4, 2), [0, 1, 2])
