"""Linear networks on noisy points: what stays, what is carried, and the minimum."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from lowdim.embedded import noisy_linear, tradeoff

HOW = {"nets": 2, "epochs": 3, "rate": 0.02, "seed": 1}


@pytest.fixture(scope="module")
def made():
    return noisy_linear.fitted(3, 100, **HOW)


def test_without_noise_the_normal_columns_stay(made):
    assert made.held
    assert torch.allclose(made.after[-1], made.carried[-1], rtol=1e-12)
    assert not torch.allclose(made.after[0], made.carried[0], rtol=1e-3)
    assert not torch.equal(made.after[-1], made.before[-1])  # mixing


def test_all_levels_start_from_the_same_weights(made):
    assert all(torch.equal(made.before[0], level) for level in made.before)
    assert made.sizes.shape == (7, 2) and made.off.shape == (6, 2)


def test_the_minimum_falls_as_one_over_sigma(made):
    scaled = made.minimum * torch.from_numpy(noisy_linear.LEVELS[:-1, None, None])
    assert torch.allclose(scaled, scaled[:1].expand_as(scaled), rtol=1e-9)


def test_long_training_arrives_where_noise_is_large():
    """The share left says where: at σ = 1 nothing is left of the start."""
    long = {**HOW, "epochs": 300}
    made = noisy_linear.fitted(2, 100, **long)
    time = noisy_linear.time_of(100, epochs=300, rate=0.02)
    left = noisy_linear.unlearned(2, noisy_linear.LEVELS[:-1], time)
    assert left[0] < 1e-6 < 0.5 < left[-1]
    assert made.off[left < 1e-6].max() < 0.05 < made.off[-1].min()


def test_the_turn_is_an_angle(made):
    a, b = (v[-1, 0].numpy() for v in (made.after, made.before))
    wanted = np.degrees(np.abs(np.angle(complex(*a) / complex(*b))))
    assert float(made.turned[-1, 0]) == pytest.approx(wanted, abs=1e-6)


def test_time_counts_every_batch():
    one = noisy_linear.time_of(50, epochs=10, rate=0.1)
    assert noisy_linear.time_of(101, epochs=10, rate=0.1) == pytest.approx(3 * one)


def test_the_share_left_is_that_of_the_slow_eigenvalue():
    size = np.linalg.norm(tradeoff.sloping().weights(0.0))
    assert float(noisy_linear.unlearned(2, 0.5, 2.0)) == pytest.approx(np.exp(-size / 2))
