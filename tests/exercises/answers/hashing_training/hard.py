"""Exercise 2 of generalization."""

from __future__ import annotations

import numpy as np


def solution(n: int) -> list[list[float]]:
    return [[1.0, 0.0]] * (n - 1) + [[0.0, 1.0]]


def also_halves(n: int) -> list[list[float]]:
    """Half of the points along each axis."""
    return [[1.0, 0.0]] * (n // 2) + [[0.0, 1.0]] * (n - n // 2)


def wrong_same(n: int) -> list[list[float]]:
    """One point n times: right in the limit, too small for each even n up to 10."""
    return [[1.0]] * n


def wrong_orthogonal(n: int) -> np.ndarray:
    """All points orthogonal: one sign decides, and the complexity falls like 1/n."""
    return np.eye(n)


def wrong_long(n: int) -> list[list[float]]:
    """Longer points have a larger complexity."""
    return [[1.1]] * n
