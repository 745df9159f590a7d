"""Exercise 2 of Theorem 3.2."""

from __future__ import annotations

import numpy as np


def solution(v: np.ndarray, eta: float) -> float:
    return eta**2 * v.sum() ** 2


def wrong_independent(v: np.ndarray, eta: float) -> float:
    """Adds squares, as if the neurons' changes were orthogonal: they are all the same."""
    return eta**2 * (v**2).sum()


def wrong_whole(v: np.ndarray, eta: float) -> float:
    """E s² = 2η²; the ReLU keeps half of it."""
    return 2 * eta**2 * v.sum() ** 2


def wrong_one_direction(v: np.ndarray, eta: float) -> float:
    """Counts one of the two normal directions."""
    return eta**2 / 2 * v.sum() ** 2


def wrong_mean_square(v: np.ndarray, eta: float) -> float:
    """Takes the square of the mean of α in place of the mean of its square."""
    return eta**2 / np.pi * v.sum() ** 2
