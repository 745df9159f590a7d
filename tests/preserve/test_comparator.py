"""Bounds free of scale: invariance, a grid search as oracle, and the order of the theorem."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from lowdim.linalg import subspaces
from lowdim.preserve import comparator


def pair(seed: int, rank: int | None = None) -> tuple[torch.Tensor, torch.Tensor]:
    rng = np.random.default_rng(seed)
    H = torch.from_numpy(rng.standard_normal((4, 6)))
    if rank is not None:
        H = torch.from_numpy(rng.standard_normal((4, rank)) @ rng.standard_normal((rank, 6)))
    return torch.where(H < 0, 0.1 * H, 0.7 * H), H


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 3))
def test_the_best_scalar_is_that_of_a_fine_grid(seed, r):
    Y, H = pair(seed)
    top, after = subspaces.singular_values(Y)[r - 1], subspaces.singular_values(H)[r]
    a = torch.linspace(0, 2, 4001, dtype=torch.float64)
    below = top - a * after
    size = torch.linalg.matrix_norm(Y - a[:, None, None] * H, 2)
    oracle = torch.where(below > 0, size / below, torch.inf).min()
    assert comparator.best_scalar(Y, H, r).item() == pytest.approx(oracle.item(), rel=1e-3)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.01, 100), st.floats(0.01, 100))
def test_both_free_bounds_ignore_scale_and_hold(seed, a, b):
    Y, H = pair(seed)
    found, scaled = comparator.bounds(Y, H, 2), comparator.bounds(a * Y, b * H, 2)
    assert scaled.tangent.item() == pytest.approx(found.tangent.item(), rel=1e-6)
    sine = found.step.sines[0].item()
    assert sine <= found.tangent.item() * (1 + 1e-9)
    assert sine <= found.scalar.item() * (1 + 1e-9)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_for_data_of_rank_r_the_tangent_bound_is_the_better_one(seed):
    found = comparator.bounds(*pair(seed, rank=2), 2)
    if found.off < found.on:
        assert found.tangent.item() <= found.scalar.item() * (1 + 1e-9)


def test_half_of_the_input_is_a_perfect_copy_only_to_the_free_bounds():
    _, H = pair(3, rank=2)
    rows = comparator.curve(H[None], lambda t: t / 2, torch.ones(1).double(), 2)[0]
    paper, sharp, scalar, tangent, truth = rows.tolist()
    assert paper == 1
    assert sharp > 0.5
    assert max(scalar, tangent, truth) < 1e-4
