"""Exercise 2 of Theorem 3."""

from __future__ import annotations

import numpy as np


def solution() -> list[float]:
    return [0.4, np.pi - 0.4, np.pi + 0.4, -0.4]


def also_turned() -> list[float]:
    """Another rectangle, turned."""
    return [0.3, 1.3, np.pi + 0.3, np.pi + 1.3]


def wrong_square() -> list[float]:
    """A square, turned by ten degrees."""
    return [0.17 + k * np.pi / 2 for k in range(4)]


def wrong_equal() -> list[float]:
    """One point four times: constant for the wrong reason."""
    return [0.4] * 4


def wrong_kite() -> list[float]:
    """A mirror symmetry alone: two of the points are mirrored to themselves."""
    return [0.0, 1.0, np.pi, -1.0]


def wrong_trapezoid() -> list[float]:
    """Two pairs of mirror images, but nothing takes one pair to the other."""
    return [0.4, -0.4, 2.0, -2.0]


def wrong_any() -> list[float]:
    """Any four points: training would have to forget θ by itself."""
    return [0.1, 1.0, 2.5, 4.0]
