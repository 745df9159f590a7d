"""Merged neurons and twins without clusters."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from lowdim.collapse.condensation import (
    Twins,
    distinct,
    exact_ranks,
    groups,
    next_moment,
    predicted,
    twin,
)
from lowdim.collapse.transition import Setting, grid
from lowdim.seeds import generator

SMALL = Setting(
    ambient=6, width=4, bottleneck=4, samples=12, clusters=2, decays=(0.3,), spreads=(0.1, 0.2)
)


def test_distinct_rows_whatever_their_order_and_signs() -> None:
    rng = generator(0, 0, "rows")
    rows = torch.from_numpy(rng.standard_normal((3, 5)))
    copies = torch.cat([rows, -rows[:2], 0 * rows[:1], rows[1:]])
    order = torch.from_numpy(rng.permutation(len(copies)))
    assert distinct(copies[order]) == 3


def test_a_twin_has_mean_and_second_moment_and_no_more() -> None:
    rng = generator(1, 0, "twin")
    X = torch.from_numpy(rng.standard_normal((4, 30)))
    X[:, ::2] += 5
    Z = twin(X, torch.from_numpy(rng.standard_normal((4, 30))))
    np.testing.assert_allclose(Z @ Z.mT, X @ X.mT, atol=1e-9)
    np.testing.assert_allclose(Z.mean(1), X.mean(1), atol=1e-12)
    assert float((Z - X).norm()) > 1
    with pytest.raises(ValueError, match="N > d"):
        twin(X[:, :4], X[:, :4])


def test_ranks_are_at_most_the_groups_on_both_sides() -> None:
    for seen in (grid(SMALL), grid(Twins.of(SMALL))):
        found, many = exact_ranks(seen), groups(seen)
        assert (found <= many).all()
        assert (found[1:] <= many[:-1]).all()


def test_a_twin_of_a_setting_is_another_setting() -> None:
    twins = Twins.of(SMALL)
    assert twins != SMALL
    assert (twins.decays, twins.seed) == (SMALL.decays, SMALL.seed)
    assert predicted(SMALL).tolist() == predicted(twins).tolist()


@pytest.mark.parametrize("clusters", [2, 5, 9])
def test_the_next_moment_is_above_one_where_more_than_k_are_kept(clusters: int) -> None:
    setting = Setting(ambient=8, clusters=clusters, decays=(0.003, 0.05, 0.2), spreads=(0.1, 0.7))
    following = next_moment(setting)
    assert ((following > 1) == (predicted(setting) > clusters)).all()
    assert (following == 0).all() == (clusters >= 8)
    assert (next_moment(Twins.of(setting)) - following).abs().max() < 1e-9
