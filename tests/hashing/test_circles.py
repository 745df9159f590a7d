"""Circles as manifolds: symmetry of polygons, and what training on them leaves."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from lowdim.hashing import circles


def test_polygons_are_orbits_of_a_rotation():
    X = circles.polygons(5, 3, 0.6, turn=0.4)
    turn = torch.eye(4, dtype=torch.float64)
    c, s = np.cos(2 * np.pi / 5), np.sin(2 * np.pi / 5)
    turn[2:, 2:] = torch.tensor([[c, -s], [s, c]])
    torch.testing.assert_close(X @ turn.T, X.roll(-1, 1))
    assert X[..., :2].norm(dim=-1).numpy() == pytest.approx(np.full((3, 5), 0.6))


def test_representations_are_constant_on_polygons_and_not_on_random_samples():
    drawn = circles.samples(seed=1)
    _, marks = circles.follow(drawn["regular polygons"], steps=8)
    assert np.ptp(marks, axis=1).max() < 1e-6
    _, marks = circles.follow(drawn["five at random"], steps=8)
    assert np.ptp(marks, axis=1).max() > 1e-3
    assert circles.trained_variance(5) < 1e-14


def test_lines_pass_through_the_samples():
    steps = 11
    corners = np.tile(np.linspace(0, 2 * np.pi, steps)[:-1:2], (3, 1))
    lines, marks = circles.follow(corners, steps=steps)
    np.testing.assert_allclose(lines[:, :-1:2], marks, atol=1e-9)


def test_samples_are_those_of_their_seed_and_swings_need_no_scale():
    first, again, other = (circles.samples(seed=s)["five at random"] for s in (0, 0, 1))
    assert np.array_equal(first, again) and not np.array_equal(first, other)
    lines = np.random.default_rng(0).normal(size=(3, 9))
    assert circles.swing(3 * lines + 1) == pytest.approx(circles.swing(lines))


def test_a_picture_has_a_panel_and_a_swing_for_each():
    fig, swings = circles.followed({"a": np.zeros((3, 1)), "b": np.zeros((2, 1))})
    assert [ax.get_title() for ax in fig.axes] == ["a", "b"] and len(swings) == 2
    assert [len(ax.lines) for ax in fig.axes] == [6, 4]
