"""Optimizers on a plane: who moves the weights across it, and the gradient by hand."""

from __future__ import annotations

import pytest
import torch
from lowdim.embedded import optimizers
from lowdim.embedded.optimizers import TWELVE, Plane, Recipe, across, along

PLANE = Plane.draw(width=4, seed=2)


def change(name, Q):
    start, end = PLANE.train(TWELVE[name], Q, steps=15)
    return tuple(float((part(end, Q) - part(start, Q)).norm()) for part in (across, along))


@pytest.mark.parametrize("name", TWELVE)
def test_nothing_moves_across_data_along_the_axes(name):
    normal, tangent = change(name, PLANE.bases["Q = I"])
    assert normal == 0 and tangent > 1e-3


@pytest.mark.parametrize("name", TWELVE)
def test_only_entrywise_steps_leave_a_turned_plane(name):
    normal, _ = change(name, PLANE.turn)
    assert (normal > 1e-6) == TWELVE[name].entrywise
    assert normal > 1e-6 or normal < 1e-12


def test_the_rotation_is_orthogonal_and_the_labels_are_of_the_plane():
    assert torch.allclose(PLANE.turn @ PLANE.turn.T, torch.eye(5).double(), atol=1e-12)
    assert torch.allclose(PLANE.labels, torch.sin(torch.pi * PLANE.points).sum(1))


def test_the_path_starts_at_the_network_and_ends_at_the_trained_one():
    path = PLANE.path(TWELVE["Adam"], PLANE.turn, steps=6, penalty=0.1)
    start, end = PLANE.train(TWELVE["Adam"], PLANE.turn, steps=6, penalty=0.1)
    assert path.shape == (7, 4, 2)
    assert torch.equal(path[0], across(start, PLANE.turn))
    assert torch.equal(path[-1], across(end, PLANE.turn))


def test_clipping_bounds_a_step():
    start, end = PLANE.train(TWELVE["clipped by norm"], PLANE.turn, steps=1)
    moved = (
        sum(float((a - b.detach()).square().sum()) for a, b in zip(start, end, strict=True)) ** 0.5
    )
    assert 0 < moved <= 0.1 * 0.1 * (1 + 1e-6)


def test_an_unknown_mode_is_refused():
    with pytest.raises(ValueError, match="mode"):
        Recipe(optimizers.Signs, "some")
