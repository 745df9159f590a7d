"""Noise in a query: bounds against exact probabilities, and the case without noise."""

from __future__ import annotations

import torch
from lowdim.bridge import noisy
from lowdim.hashing import oneshot
from lowdim.hashing.atoms import Atoms
from lowdim.seeds import generator


def test_bounds_hold_on_random_pairs() -> None:
    case = noisy.random_pairs(300, generator(0, 0, "noisy"))
    R = Atoms(case["at"], case["weight"])
    worst = torch.maximum(*noisy.errors(R, case["tau"]))
    assert (worst <= noisy.worst_bound(R.rho, case["tau"]) + 1e-9).all()
    case = noisy.random_shifts(300, generator(1, 0, "noisy"))
    R = Atoms(case["at"], case["weight"])
    miss, hit, tau = noisy.mean_errors(R, case["shift"])
    assert (torch.maximum(miss, hit) <= noisy.mean_bound(R.rho, tau) + 1e-9).all()


def test_without_noise_both_forms_are_part_fours() -> None:
    rho = torch.tensor([5.0, 18.0, 400.0])
    torch.testing.assert_close(noisy.worst_bound(rho, 0.0), oneshot.bound(rho))
    torch.testing.assert_close(noisy.mean_bound(rho, 0.0), oneshot.bound(rho))
    torch.testing.assert_close(noisy.reach(rho, 0.0) ** 2, oneshot.threshold(rho))


def test_an_adversary_does_what_the_formula_says() -> None:
    """Move each query by hand and count."""
    R, tau = Atoms(**oneshot.jumps(30.0)), torch.tensor([0.5])
    a, eps = noisy.reach(R.rho, tau), R.epsilon
    level, step = (a + tau) * eps.sqrt(), tau * eps.sqrt()
    miss = hit = 0.0
    for key in range(2):
        for query in range(2):
            w = float((R.at[0, 0, key] - R.at[0, 0, query]).norm())
            miss += float(R.weight[0, 0, key] * R.weight[0, 0, query]) * bool(w + step >= level)
            w = float((R.at[0, 0, key] - R.at[0, 1, query]).norm())
            hit += float(R.weight[0, 0, key] * R.weight[0, 1, query]) * bool(w - step < level)
    found = noisy.errors(R, tau)
    assert abs(float(found[0]) - float(miss)) < 1e-9 and abs(float(found[1]) - float(hit)) < 1e-9
