"""One shot: hard pairs have the ρ they were built for, and no pair beats the bounds."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from lowdim.hashing import oneshot, separation
from lowdim.hashing.atoms import Atoms


@settings(max_examples=30, deadline=None)
@given(st.floats(4.5, 1000))
def test_at_the_best_threshold_the_two_bounds_are_one(rho):
    t = oneshot.threshold(rho)
    assert 2 / t == pytest.approx(oneshot.bound(rho))
    assert float(oneshot.false_hits(rho, np.array(t))) == pytest.approx(oneshot.bound(rho))
    assert oneshot.bound(rho) <= 8 / rho


@settings(max_examples=20, deadline=None)
@given(st.floats(6, 500))
def test_hard_pairs_have_their_rho_and_stay_below_the_bound(rho):
    for pair in (oneshot.jumps(rho), oneshot.rare_far(rho)):
        R = Atoms(**pair)
        assert R.rho.item() == pytest.approx(rho, rel=1e-6)
        worst = torch.maximum(*R.errors(oneshot.threshold(R.rho) * R.epsilon))
        assert worst.item() <= oneshot.bound(rho) * (1 + 1e-9)


def test_random_pairs_keep_within_their_rho():
    case = oneshot.random_pairs(200, np.random.default_rng(1), low=6.0, high=60.0)
    rho = Atoms(**case).rho
    assert rho.min() > 6 * (1 - 1e-9) and rho.max() < 60 * (1 + 1e-9)


def test_free_jumps_start_at_jumps():
    start = oneshot.start_jumps(4, np.random.default_rng(0))
    R = Atoms(**oneshot.free_pairs(start))
    assert bool((R.rho > 5).all() and (R.rho < 70).all())


def test_a_sample_has_the_rates_of_its_table():
    rng = np.random.default_rng(0)
    R = torch.from_numpy(rng.standard_normal((6, 9, 3)) + 8 * rng.standard_normal((6, 1, 3)))
    found = oneshot.shot(R)
    eps = float(separation.intra(R).max())
    accepted = separation.accepts(R, threshold=2 * eps)
    assert found.miss_2 == pytest.approx(1 - float(accepted.diagonal().mean()))
    assert found.rho == pytest.approx(float(separation.rho(R)))
    near = torch.cdist(R[:, 1:].flatten(0, 1), R[:, 0]).argmin(1).unflatten(0, (6, 8))
    right = (near == torch.arange(6)[:, None]).double().mean()
    assert found.nearest == pytest.approx(float(right))


def test_with_one_example_the_rates_are_those_of_the_law():
    R = Atoms(**oneshot.jumps(20.0))
    limit = oneshot.threshold(R.rho) * R.epsilon
    miss, hit = oneshot.with_mean_key(R, limit, 1, np.random.default_rng(0), draws=20000)
    share = R.accept(limit)
    assert miss.item() == pytest.approx(1 - share[0, 0, 0].item(), abs=0.02)
    assert hit.item() == pytest.approx(share[0, 0, 1].item(), abs=0.02)
