"""Condition (2) against the quantities of one layer, and against brute force."""

from __future__ import annotations

import pytest
import torch
from lowdim.preserve import conditions, learning, preservation

SETTING = learning.Setting(80, 20, seed=1)
DATA = SETTING.draw(draws=2)


def test_gaps_and_sizes_are_those_of_the_layer():
    W = SETTING.net().init(trials=2, seed=4)[0][0].double()
    delta, size = conditions.gaps(DATA.clean, DATA.noise, W)
    q = preservation.layer(DATA.clean, DATA.noise, W, learning.RANK)
    torch.testing.assert_close(delta, torch.stack([q.gap_x, q.gap_wx, q.gap_y], 1))
    torch.testing.assert_close(size, torch.stack([q.noise, q.mapped_noise, q.cut], 1))
    alone = conditions.gaps(DATA.clean[1:], DATA.noise[1:], W[1:])
    torch.testing.assert_close(alone, (delta[1:], size[1:]))


def test_a_large_bias_leaves_nothing_to_cut():
    W = SETTING.net().init(trials=2, seed=4)[0][0].double()
    _, size = conditions.gaps(DATA.clean, DATA.noise, W, torch.full((2, 20, 1), 1e3))
    assert size[:, 2].tolist() == [0, 0]


def test_epsilon_is_the_smallest_entry_of_a_block():
    star = learning.top(DATA.clean)
    P, same = star @ star.mT, DATA.labels[:, None] == DATA.labels
    expected = [min(abs(x) for x in Q[torch.from_numpy(same)].tolist()) for Q in P]
    assert conditions.epsilon(star).tolist() == pytest.approx(expected)


def test_training_at_no_noise_leaves_two_of_three_sizes_at_zero():
    _, size = conditions.trained_at(SETTING, 0.0, draws=1, steps=1)
    assert size[0, :2].tolist() == [0, 0]
    assert size[0, 2] > 0


def test_levels_after_a_gap_still_count():
    assert conditions.last_level([0, 1, 2], [0.0, 0.6, 0.0]) == 1
    assert conditions.last_level([0, 1, 2], [0.5, 0.0, 0.5]) == 2


def test_a_line_for_each_condition_of_the_paper_and_for_each_dropped_one_with_a_fixed_epsilon():
    curves = {
        "(2)": [0.0, 0.0],
        "without the cut, ε = 1": [0.1, 0.0],
        "without the cut, ε of the data": [1.0, 1.0],
        "(4) alone, ε = 1": [1.0, 1.0],
    }
    found = conditions.lines([0.0, 0.5], curves, draws=10, agree={"(2)": True})
    assert [line["measured"] for line in found] == [{"count": 0, "of": 20}, None, 0.5]
    assert [line["agrees"] for line in found] == [True, None, None]
