"""Exercise 2 of Lemma 3.3."""

from __future__ import annotations

import numpy as np


def solution(w: float, z: np.ndarray, y: np.ndarray) -> float:
    a, b = z - z.mean(), y - y.mean()
    remainder = abs(2 * np.mean(w * a * a - b * a))
    return remainder / ((abs(w) + (1 + w * w) ** 0.5) * np.mean(a * a + b * b))


def wrong_half(w: float, z: np.ndarray, y: np.ndarray) -> float:
    """Divides by M WCSS, as printed: never above one half."""
    return solution(w, z, y) / 2


def wrong_labels(w: float, z: np.ndarray, y: np.ndarray) -> float:
    """Leaves the labels out of the remainder."""
    a, b = z - z.mean(), y - y.mean()
    return abs(2 * w * np.mean(a * a)) / ((abs(w) + (1 + w * w) ** 0.5) * np.mean(a * a + b * b))


def wrong_spread(w: float, z: np.ndarray, y: np.ndarray) -> float:
    """The variation of the inputs alone: it can exceed one."""
    a, b = z - z.mean(), y - y.mean()
    remainder = abs(2 * np.mean(w * a * a - b * a))
    return remainder / ((abs(w) + (1 + w * w) ** 0.5) * np.mean(a * a))


def wrong_capped(w: float, z: np.ndarray, y: np.ndarray) -> float:
    """Knows that it is at most one."""
    return min(1.0, 2 * solution(w, z, y))
