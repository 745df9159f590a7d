"""Exercise 3 of loss and distances."""

from __future__ import annotations

import numpy as np


def solution(m: int, loss: float) -> tuple[np.ndarray, np.ndarray]:
    a, h = loss**0.5, 1e3
    J = np.eye(m) - 1 / m
    R = np.vstack([J, h * np.ones((1, m))])
    want = (1 - 2 * a) * np.eye(m) + a
    return want @ np.linalg.pinv(R), R


def wrong_at_the_origin(m: int, loss: float) -> tuple[np.ndarray, np.ndarray]:
    """A simplex around the origin: the constant part costs A what it need not."""
    a = loss**0.5
    return (1 - 2 * a) * np.eye(m) + a, np.eye(m)


def wrong_own_only(m: int, loss: float) -> tuple[np.ndarray, np.ndarray]:
    """All of the loss at the own class: the loss is right, the means too far apart."""
    R = np.vstack([np.eye(m) - 1 / m, 1e3 * np.ones((1, m))])
    want = (1 - (2 * loss) ** 0.5) * np.eye(m)
    return want @ np.linalg.pinv(R), R


def wrong_perfect(m: int, loss: float) -> tuple[np.ndarray, np.ndarray]:
    """Outputs without any loss."""
    R = np.vstack([np.eye(m) - 1 / m, 1e3 * np.ones((1, m))])
    return np.linalg.pinv(R), R


def wrong_root(m: int, loss: float) -> tuple[np.ndarray, np.ndarray]:
    """Takes the loss for the error itself."""
    return solution(m, loss**2)
