"""Instances of Lemma 4.2: what their builders promise, and exact examples against floats."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from lowdim.linalg import subspaces
from lowdim.preserve import maps

SHAPE = maps.Maps(9, 6, (1, 2), (4, 5))


def moved(q) -> torch.Tensor:
    return subspaces.distance(q.x, q.wx, norm="max")


def test_printed_maps_satisfy_the_hypothesis_and_break_its_conclusion():
    case = SHAPE.printed(200, np.random.default_rng(0))
    q = maps.measured(case)
    ratio = q.gap_wx * q.epsilon / ((128 * 3) ** 0.5 * q.mapped_noise)
    assert bool(((ratio > 1) & (ratio < 2.01)).all())
    assert bool((moved(q) > q.epsilon / 4).any())


def test_repaired_maps_satisfy_both_hypotheses_one_of_them_just():
    q = maps.measured(SHAPE.repaired(200, np.random.default_rng(1)))
    first = q.gap_x * q.epsilon / (8 * q.noise)
    second = q.gap_wx * q.epsilon / (8 * q.mapped_noise)
    least = torch.minimum(first, second)
    assert bool(((least > 1) & (least < 2.01)).all())
    assert bool((moved(q) < q.epsilon / 4).all())


@pytest.mark.parametrize("phi", [0.02, 0.1, 0.7])
def test_opposed_noise_comes_near_the_repaired_bound_from_below(phi):
    q = maps.measured(maps.opposed(phi))
    assert bool((q.gap_x > 8 * q.noise / q.epsilon).all())
    assert bool((q.gap_wx > 8 * q.mapped_noise / q.epsilon).all())
    ratio = (moved(q) / (q.epsilon / 4)).item()
    # a'a − b'b is sin 2θ times cos 2φ off the diagonal and sin 2φ on it
    theta = np.arcsin(0.9999 * np.sin(phi) ** 2 / 8)
    expected = 0.9999 * np.cos(theta) * max(np.cos(2 * phi), np.sin(2 * phi))
    assert ratio == pytest.approx(expected, rel=1e-5)
    assert ratio < 1


@pytest.mark.parametrize("seed", range(6))
def test_exact_examples_agree_with_floating_point(seed):
    rng = np.random.default_rng(seed)
    p = rng.integers(1, 5, 2)
    clean = np.array([p, rng.integers(0, 2) * 2 * p])
    Z, W = rng.integers(-2, 3, (2, 2)), rng.integers(-3, 4, (1, 2))
    if not (W @ clean).any():
        W = np.array([[1, 1]])
    found = maps.exact(clean.tolist(), Z.tolist(), W.tolist())
    q = maps.measured(maps.single(clean, Z, W))
    assert float(found.quarter) == pytest.approx(q.epsilon.item() / 4)
    assert float(found.moved) == pytest.approx(moved(q).item(), abs=1e-9)
    assert found.printed == bool(q.gap_wx > 128**0.5 * q.mapped_noise / q.epsilon)
    assert found.four == bool(q.gap_x > 128**0.5 * q.noise / q.epsilon)


def test_climbs_start_on_instances_that_their_hypotheses_admit():
    rng = np.random.default_rng(3)
    shapes = {"z": (2, 2), "w": (1, 2), "p": (1, 2), "k": (1, 2)}
    free = {k: torch.from_numpy(rng.standard_normal((50, *s))) for k, s in shapes.items()}
    q = maps.measured(maps.at_repaired(free))
    assert bool((q.gap_wx > 8 * q.mapped_noise / q.epsilon).all())
    assert bool((q.gap_x > 8 * q.noise / q.epsilon).all())
    q = maps.measured(maps.at_printed(free))
    assert bool((q.gap_wx > 128**0.5 * q.mapped_noise / q.epsilon).all())
    torch.testing.assert_close(q.epsilon, torch.full((50,), 0.5, dtype=torch.float64))


def test_of_the_four_views_the_noisy_and_the_blind_one_are_far_from_the_truth():
    clean, noisy, removed, blind = maps.four_views(SHAPE, seed=5).values()
    assert subspaces.distance(clean, removed).item() == pytest.approx(0, abs=1e-9)
    assert subspaces.distance(clean, noisy).item() > 1
    assert subspaces.distance(clean, blind).item() > 1
