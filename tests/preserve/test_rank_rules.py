"""Rules for r on spectra that are known."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from lowdim.preserve import rank_rules


@given(st.lists(st.floats(0.1, 10), min_size=1, max_size=8), st.floats(0.05, 0.95))
def test_reach_is_the_least_number_that_holds_the_share(values, share):
    s = np.sort(values)[::-1].copy()
    k = rank_rules.reach(torch.from_numpy(s), share)
    energy = (s**2).sum()
    assert (s[:k] ** 2).sum() >= share * energy * (1 - 1e-12)
    assert (s[: k - 1] ** 2).sum() < share * energy * (1 + 1e-12)


def test_rules_on_a_known_spectrum():
    X = torch.diag(torch.tensor([10.0, 1.0, 0.9, 0.1, 0.09, 0.08])).double()
    found = rank_rules.chosen(X, np.array([0, 1, 2, 0, 1, 2]), top=5)
    assert found["largest ratio of σ_r to the next"] == 1
    assert found["largest ratio with r ≥ K"] == 3  # 0.9 to 0.1
    assert found["one line for each class, r = K"] == 3
    assert found["90 % of the energy"] == 1
    assert found["99 % of the energy in each class"] >= 3


def test_centring_removes_a_common_direction():
    noise = np.random.default_rng(0).standard_normal((6, 40))
    X = torch.from_numpy(noise + 100)
    found = rank_rules.chosen(X, np.arange(40) % 2, top=5)
    assert found["90 % of the energy"] == 1 < found["90 % of the energy, centred"]


def test_a_top_with_no_value_after_it_is_refused():
    with pytest.raises(ValueError, match=r"top \+ 1 must be"):
        rank_rules.chosen(torch.eye(3).double(), np.arange(3), top=3)
