"""Representations to attack with: laws that are laws, expectations against their closed forms."""

from __future__ import annotations

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from lowdim.hashing import packing, representations, separation
from lowdim.hashing.atoms import Atoms


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 4))
def test_expectations_over_all_samples_have_their_closed_forms(seed, n):
    case = representations.random_atoms(3, np.random.default_rng(seed), manifolds=2, values=3)
    A = Atoms(**case)
    found = representations.over_samples(A.at[:, 0], A.weight[:, 0], n)
    square = (A.weight[:, 0] * A.at[:, 0].square().sum(-1)).sum(-1)
    centre = A.mean[:, 0].square().sum(-1)
    torch.testing.assert_close(found.variance, A.variance[:, 0])
    torch.testing.assert_close(found.square, square)
    torch.testing.assert_close(found.mean_square, (square + (n - 1) * centre) / n)
    torch.testing.assert_close(found.mixed, 2 * found.mean_square)


def test_random_means_range_from_one_to_far_apart():
    A = Atoms(**representations.random_atoms(400, np.random.default_rng(0)))
    assert A.rho.min() < 2.5 and A.rho.max() > 30


def test_the_hash_separates_and_the_noise_does_not():
    made = representations.hash_and_noise(seed=3)
    ratio = {name: float(separation.rho(R, over="mean")) for name, R in made.items()}
    assert ratio["a hash"] > 50
    assert abs(ratio["noise"] - 2) < 0.1


def test_drawing_stays_within_the_packing_bound():
    for s, tau in ((1, -1.0), (2, 0.0), (3, 0.5)):
        assert 1 <= packing.found(s, tau) <= packing.bound(s, tau)
    assert packing.found(1, -1.0, tries=50) == 2
