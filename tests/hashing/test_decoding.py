"""Recovering γ: the solved model against closed forms, the narrow minimum against the theorem."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch
from lowdim.hashing import decoding, factors


@pytest.fixture(scope="module")
def model():
    return decoding.solved_linear(10, 3, 2, seed=1)


def test_every_target_is_recovered_at_full_width_and_shares_fall(model):
    for G in decoding.lotteries(model.gamma, seed=1).values():
        left = model.left(G, range(1, 11))
        assert left[-1] < 1e-20
        assert all(a >= b - 1e-12 for a, b in pairwise(left))


def test_a_lottery_keeps_the_numbers_it_shuffles(model):
    targets = decoding.lotteries(model.gamma, seed=1)
    rows = [sorted(map(tuple, targets[name].tolist())) for name in ("γ", "γ, shuffled")]
    assert rows[0] == rows[1]
    assert not torch.equal(targets["γ"], targets["γ, shuffled"])


def test_eigenvalues_fall_and_eigenvectors_are_orthonormal(model):
    assert bool((model.kappa.diff() <= 0).all() and (model.kappa > 0).all())
    torch.testing.assert_close(model.U.T @ model.U, torch.eye(10, dtype=torch.float64))


def test_full_width_is_kernel_interpolation(model):
    guess = (model.gamma.T @ model.c).T
    spread = (model.new_gamma - model.new_gamma.mean(0)).square().sum()
    share = float((guess - model.new_gamma).square().sum() / spread)
    assert model.unseen([10])[0] == pytest.approx(share)


@pytest.mark.parametrize("lam", [1e-3, 0.05, 0.3])
def test_the_narrow_minimum_at_full_width_is_that_of_the_theorem(lam):
    kappa = np.array([4.0, 1.0, 0.25])
    a = kappa**0.5
    phi = np.where(a > 3 * lam, 2 * lam / a - 3 * lam**2 / a**2, 1 / 3)
    found = decoding.narrow_minimum(np.diag(kappa), np.eye(3), 3, lam=lam)[0]
    assert found == pytest.approx(phi.sum(), rel=1e-6)


def test_the_solution_has_the_value_of_the_theorem():
    case = factors.solution([2.0, 1.0, 0.05], 0.1)
    A, Q, a, lam = (case[name][0] for name in ("A", "Q", "a", "lam"))
    loss = (torch.eye(3).double() - A @ Q * a).square().sum() / 3
    value = loss + lam * (A.square() + Q.square()).sum()
    inside = 2 * lam / a - 3 * lam**2 / a**2
    least = torch.where(a > 3 * lam, inside, 1 / 3).sum()
    torch.testing.assert_close(value, least)
