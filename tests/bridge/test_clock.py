"""Readings against finite differences and by hand."""

from __future__ import annotations

import torch
from lowdim.bridge import clock, runs

WORLD = runs.digits(ambient=70, points=100)
RUN = runs.train(WORLD, decays=(0.0,), seeds=2, width=8, depth=3, steps=4)[-1]


def test_sensitivity_is_a_difference_quotient() -> None:
    x, step = WORLD.train[0][:5], 1e-6
    for basis, which in ((WORLD.normal, 0), (WORLD.along, 1)):
        squares = torch.zeros(2).double()
        for u in basis.mT:
            change = (RUN.hidden(x + step * u) - RUN.hidden(x - step * u)) / (2 * step)
            squares += change.square().sum(-1).mean(-1) / basis.shape[1]
        found = clock.normal(RUN, x, WORLD.along, WORLD.normal)[which]
        torch.testing.assert_close(found, squares.sqrt(), rtol=1e-4, atol=1e-6)


def test_scaling_normal_weights_moves_one_reading_only() -> None:
    base = clock.readings(RUN, WORLD)
    other = clock.readings(clock.scaled(RUN, WORLD, 2.0), WORLD)
    for name in clock.NAMES:
        if name != "normal":
            torch.testing.assert_close(other[name], base[name], rtol=1e-7, atol=1e-10)
    torch.testing.assert_close(other["normal"], 2 * base["normal"])


def test_half_times() -> None:
    path = torch.tensor([[0.0, 5.0], [1.0, 5.0], [4.0, 5.0]])
    found = clock.half_times([0, 2, 4], {"a": path})["a"]
    assert abs(float(found[0]) - (2 + 2 / 3)) < 1e-9 and torch.isnan(found[1])


def test_noise_moves_queries_only() -> None:
    right, move = clock.one_shot(RUN, WORLD, noise=1.0, keys=3)
    assert ((0 <= right) & (right <= 1)).all() and (move > 0).all()
