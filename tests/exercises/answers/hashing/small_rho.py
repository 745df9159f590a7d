"""Exercise 2 of the hashing property."""

from __future__ import annotations


def solution() -> tuple[list, list]:
    return [[[0.0], [0.0]], [[1.0], [1.0]], [[-8.0], [12.0]]], [[0.5, 0.5]] * 3


def wrong_equal_means() -> tuple[list, list]:
    """One wide manifold about the mean of the others, all three at the same place."""
    return [[[0.0], [0.0]], [[0.0], [0.0]], [[-10.0], [10.0]]], [[0.5, 0.5]] * 3


def wrong_equal_widths() -> tuple[list, list]:
    """Three wide manifolds with different means: the variances themselves keep ρ at 2."""
    return [[[-10.0], [10.0]], [[-9.0], [11.0]], [[-8.0], [12.0]]], [[0.5, 0.5]] * 3


def wrong_points() -> tuple[list, list]:
    """Three points close together: no variance at all."""
    return [[[0.0]], [[0.01]], [[0.02]]], [[1.0]] * 3


def wrong_not_wide_enough() -> tuple[list, list]:
    """The right idea, with a variance of 4 only."""
    return [[[0.0], [0.0]], [[1.0], [1.0]], [[0.0], [4.0]]], [[0.5, 0.5]] * 3
