"""Pictures of linear autoencoders: what is drawn is what was measured."""

from __future__ import annotations

import numpy as np
from lowdim.collapse import autoencoder_pictures, autoencoders

GRID = autoencoders.Grid(dim=8, clusters=2, points=20, draws=2)


def test_lines_are_means_over_draws_and_zeros_are_left_out():
    mean = GRID.minima().distance["deep"].mean(0)
    right = autoencoder_pictures.against_spread(GRID).axes[1]
    for line, i in zip(right.lines, autoencoder_pictures.DECAYS, strict=False):
        drawn = np.asarray(line.get_ydata(), float)
        np.testing.assert_allclose(drawn, np.where(mean[i] > 0, mean[i], np.nan))


def test_every_pair_is_a_cross_at_its_place():
    how = {"draws": 2, "steps": 5, "seed": 0, "lambdas": (1.0, 2.0), "sigmas": (0.1, 0.2, 0.3)}
    pairs = autoencoders.train_pairs(8, 2, **how)
    left, right = autoencoder_pictures.figure_two(GRID, pairs).axes[2:]
    for ax, place in ((left, lambda i, j: pairs.lambdas[i]), (right, lambda i, j: pairs.sigmas[j])):
        expected = [
            (place(i, j), pairs.distance[i, draw, j])
            for i in range(2)
            for draw in range(2)
            for j in range(3)
        ]
        np.testing.assert_allclose(np.transpose(ax.lines[-1].get_data()), expected)


def test_bounds_lie_above_the_distance_and_ours_below_the_printed_one():
    for grid in (GRID, autoencoders.Grid(dim=5, clusters=7, points=30, draws=2, seed=4)):
        printed, ours = grid.bounds()
        assert (grid.minima().distance["one layer"] <= ours * (1 + 1e-9)).all()
        assert (ours <= printed).all()
        curves = autoencoder_pictures.bound_curves(grid)
        assert (curves["distance"] <= curves["this book"]).all()
        drawn = autoencoder_pictures.bounds(grid).axes[0].lines
        for line, expected in zip(drawn, curves.values(), strict=True):
            np.testing.assert_allclose(np.asarray(line.get_ydata(), float), expected)
