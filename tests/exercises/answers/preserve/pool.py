"""Exercise 2 of other architectures."""

from __future__ import annotations

import numpy as np


def solution(m: int) -> np.ndarray:
    return np.kron(np.eye(m // 2), [[0.5, 0.5]])


def wrong_sum(m: int) -> np.ndarray:
    """Sums instead of means."""
    return np.kron(np.eye(m // 2), [[1.0, 1.0]])


def wrong_halves(m: int) -> np.ndarray:
    """The factors of the product exchanged: averages the two halves of the signal."""
    return np.kron([[0.5, 0.5]], np.eye(m // 2))


def wrong_every_other(m: int) -> np.ndarray:
    """Takes one of each pair, which is subsampling."""
    return np.kron(np.eye(m // 2), [[1.0, 0.0]])


def wrong_transposed(m: int) -> np.ndarray:
    """The matrix that undoes pooling."""
    return np.kron(np.eye(m // 2), [[0.5], [0.5]])
