"""Duels: antisymmetry, scale, intervals of scipy, refusals."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from lowdim.collapse import duels
from scipy import stats

SIZES = st.lists(st.floats(1e-3, 1e3), min_size=2, max_size=6)


@given(SIZES, SIZES)
def test_the_interval_is_scipys(a, b):
    n = min(len(a), len(b))
    x, y = (torch.tensor(v[:n], dtype=torch.float64) for v in (a, b))
    found = duels.duel(x, y)
    logs = np.log10((x / y).numpy())
    if logs.std() < 1e-9:
        return
    low, high = stats.ttest_1samp(logs, 0).confidence_interval(0.95)
    np.testing.assert_allclose([found.mean - found.half, found.mean + found.half], [low, high])
    assert found.outcome == ("win" if high < 0 else "lose" if low > 0 else "tie")


@given(SIZES, st.floats(0.1, 10))
def test_sides_change_the_sign_and_scale_changes_nothing(a, factor):
    x = torch.tensor(a, dtype=torch.float64)
    y = x.flip(0) * 1.5
    there, back, scaled = duels.duel(x, y), duels.duel(y, x), duels.duel(factor * x, factor * y)
    assert there.mean == pytest.approx(-back.mean) and there.half == pytest.approx(back.half)
    assert scaled.mean == pytest.approx(there.mean, abs=1e-9)


def test_a_tally_counts_every_duel_once():
    low, high = torch.tensor([1.0, 1.1, 1.2]), torch.tensor([9.0, 9.5, 9.1])
    pairs = [(low, high), (high, low), (low, low.flip(0)), (low, high)]
    assert duels.tally(duels.duel(*pair) for pair in pairs) == [2, 1, 1]


@pytest.mark.parametrize(("a", "b"), [((1,), (1,)), ((3,), (2,)), ((2, 2), (2, 2))])
def test_fewer_than_two_paired_draws_are_refused(a, b):
    with pytest.raises(ValueError, match="two draws or more"):
        duels.duel(torch.ones(a), torch.ones(b))
