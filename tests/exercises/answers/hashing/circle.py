"""Exercise 2 of recovering γ."""

from __future__ import annotations

import numpy as np


def solution(m: int) -> np.ndarray:
    return 2 * np.pi * np.arange(m) / m


def also_turned(m: int) -> np.ndarray:
    """The same, turned."""
    return 1 + 2 * np.pi * np.arange(m) / m


def wrong_half(m: int) -> np.ndarray:
    """Equally spaced on half of the circle."""
    return np.pi * np.arange(m) / m


def wrong_ends(m: int) -> np.ndarray:
    """Both ends of the interval, which are one point of the circle."""
    return np.linspace(0, 2 * np.pi, m)


def wrong_by_lot(m: int) -> np.ndarray:
    """Uniform draws: exact only in the limit of many."""
    return np.array([0.1, 1.3, 2.0, 2.9, 3.5, 4.2, 4.9, 5.4, 6.0])[:m]
