"""Exercise 2 of Theorem 2.2."""

from __future__ import annotations

import numpy as np


def solution(A: np.ndarray, sigma: float) -> float:
    return (A[0, 0] / A[1, 1]) ** 0.5 / sigma


def wrong_undo(A: np.ndarray, sigma: float) -> float:
    """Undoes σ and forgets that x and y have sizes of their own."""
    return 1 / sigma


def wrong_square(A: np.ndarray, sigma: float) -> float:
    """The ratio of the diagonal entries, which c enters squared."""
    return A[0, 0] / A[1, 1] / sigma


def wrong_inverse(A: np.ndarray, sigma: float) -> float:
    """The ratio upside down."""
    return (A[1, 1] / A[0, 0]) ** 0.5 / sigma
