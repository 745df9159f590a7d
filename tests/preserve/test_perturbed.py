"""Pairs at the edge of a gap condition: Weyl's bound, the case of equality, the angle asked for."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from lowdim.preserve import perturbed, preservation


@settings(max_examples=30, deadline=None)
@given(
    st.integers(0, 10**6),
    st.floats(1.0, 50.0),
    st.integers(1, 3),
    st.lists(st.floats(1, 3), min_size=2, max_size=2),
)
def test_noise_within_a_condition_satisfies_it_and_hardly_more(seed, factor, rank, slack):
    rng = np.random.default_rng(seed)
    X, Z = (torch.from_numpy(rng.standard_normal((2, 3, 5))) for _ in range(2))
    X = X[..., :rank, :]
    slack = torch.tensor(slack, dtype=torch.float64)
    case = perturbed.within(X, Z[..., :rank, :], rank, factor=factor, slack=slack)
    step = preservation.sin_theta(case["clean"], case["Z"], rank)
    asked = slack * factor * step.spectral / perturbed.epsilon(X, rank)
    assert bool((step.gap >= asked * (1 - 1e-9)).all())
    assert bool((step.top - step.spectral <= asked * (1 + 1e-9)).all())


@pytest.mark.parametrize(("p", "q"), [(1, 2), (12, 13), (16, 17), (1, 9)])
def test_the_mirror_attains_the_sharp_lemma_in_floats_and_exactly(p, q):
    case = perturbed.mirror(p, q)
    step = preservation.sin_theta(case["clean"], case["Z"], 1)
    eps, moved, ratio = perturbed.exact_mirror(p, q)
    assert moved == ratio == sympy.Rational(q * q - p * p, p * p + q * q)
    assert eps == sympy.Rational(p * p, p * p + q * q)
    assert step.largest_entry.item() == pytest.approx(float(moved))
    assert (step.spectral / step.gap).item() == pytest.approx(float(ratio))


@pytest.mark.parametrize("points", [2, 5, 64])
@pytest.mark.parametrize("sine", [1e-3, 0.3])
def test_turned_data_turn_by_the_angle_asked_for(points, sine):
    clean, Z = perturbed.turned(points, sine)
    step = preservation.sin_theta(clean, Z, 1)
    assert step.sines.item() == pytest.approx(sine)
    assert (step.spectral / step.gap).item() == pytest.approx(sine)
    torch.testing.assert_close(clean, torch.ones_like(clean))


def test_a_cloud_keeps_only_pairs_with_a_gap_and_obeys_the_sharp_lemma():
    pairs = perturbed.Pairs(6, (1, 2), (4, 5))
    seen = perturbed.cloud(pairs, count=50, seed=3)
    assert len(seen.ratio) == len(seen.largest) <= 50
    assert bool((seen.ratio > 0).all() and (seen.largest <= seen.ratio * (1 + 1e-9)).all())
    assert seen.rank == 3
