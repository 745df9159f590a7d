"""Minimizers with and without a bound on rank: distances, worst cases and the way to the bound."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from lowdim.collapse import linear, truncation
from lowdim.collapse.truncation import Minimizers


def drawn(**sizes):
    sizes = {"c": 3, "d": 4, "n": 7, "K": 2} | sizes
    return Minimizers.of(truncation.instances(30, np.random.default_rng(1), **sizes))


def test_the_tail_is_what_the_best_approximation_leaves():
    A = torch.from_numpy(np.random.default_rng(0).standard_normal((4, 5)))
    U, s, Vh = torch.linalg.svd(A, full_matrices=False)
    best = (U[:, :2] * s[:2]) @ Vh[:2]
    torch.testing.assert_close(truncation.tail(A, 2), (A - best).square().sum())


@pytest.mark.parametrize("sizes", [{}, {"c": 2, "d": 9, "n": 5, "K": 1}])
def test_the_gap_keeps_the_sharp_bound(sizes):
    pair = drawn(**sizes)
    bound = truncation.tail(pair.Y, pair.K) / (pair.sizes[2] * pair.lam)
    assert bool((pair.gap <= bound * (1 + 1e-9)).all())
    assert bool((bound <= pair.tcv / pair.lam * (1 + 1e-9)).all())


def test_overlaps_are_those_of_orthonormal_rows():
    pair = drawn()
    part, whole = pair.overlap()
    assert bool((whole <= min(pair.sizes[:2]) + 1e-9).all())
    # (S_Y - S_K) V_YᵀV_X is a matrix at distance ‖·‖ from Q, up to rotation: Q_K is nearer
    assert bool((truncation.tail(pair.Q, pair.K) <= part * (1 + 1e-9)).all())
    assert bool((part <= whole * truncation.tail(pair.Y, pair.K) * (1 + 1e-9)).all())


def test_cross_has_the_gap_of_its_closed_form():
    a, b, x1, x2, lam = 7.0, 2.0, 0.1, 5.0, 0.7
    q1, q2 = (y * y * x * x / (x * x + lam) for y, x in ((a, x1), (b, x2)))
    expected = q1 / (x1 * x1 + lam) if q1 < q2 else q2 / (x2 * x2 + lam)
    pair = Minimizers.of(truncation.cross(a, b, x1, x2, lam))
    assert pair.gap.item() == pytest.approx(expected)
    assert pair.tcv.item() == pytest.approx(b * b)


def test_the_strong_label_is_dropped_wherever_the_search_goes():
    z = torch.from_numpy(np.random.default_rng(2).normal(size=(50, 5)))
    pair = Minimizers.of(truncation.drop_strong(z))
    low = linear.constrained(pair.X, pair.Y, pair.lam, 1)
    assert float(low[:, 0].abs().max()) < 1e-9 < float(low[:, 1].abs().amin(0).max())


def test_isotropic_inputs_stay_below_a_quarter_and_hidden_labels_pass_it():
    scales = np.logspace(-2, 2, 9)
    same, nearest = truncation.against_scale(scales, hide=False)
    np.testing.assert_allclose(same, scales**2 / (scales**2 + 1) ** 2, rtol=1e-9)
    np.testing.assert_allclose(nearest, same, rtol=1e-9)
    hidden, near = truncation.against_scale(scales, hide=True)
    assert hidden.max() > 0.9 and near.max() <= 0.25 + 1e-9


def test_excess_losses_fall_to_the_infimum_and_never_reach_it():
    rng = np.random.default_rng(3)
    X = torch.from_numpy(rng.standard_normal((3, 5)))
    Y = torch.from_numpy(np.outer(rng.standard_normal(3), rng.standard_normal(5)))
    found, excess = zip(*truncation.just_above(X, Y, 0.5, 2, (1e-1, 1e-2, 1e-3)), strict=True)
    assert set(found) == {2} and 0 < excess[2] < excess[1] < excess[0]
