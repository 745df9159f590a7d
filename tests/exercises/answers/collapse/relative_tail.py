"""Exercise 2 of Theorem 3.4."""

from __future__ import annotations

import numpy as np


def solution(m: np.ndarray, sigma: float, decay: float, d: int) -> float:
    strong, weak = m @ m + sigma**2, sigma**2
    a, b = strong / (strong + decay), weak / (weak + decay)
    return (d - 1) * b**2 / (a**2 + (d - 1) * b**2)


def wrong_no_decay(m: np.ndarray, sigma: float, decay: float, d: int) -> float:
    """The tail of the data, which is the limit for large decay."""
    a, b = m @ m + sigma**2, sigma**2
    return (d - 1) * b**2 / (a**2 + (d - 1) * b**2)


def wrong_sums(m: np.ndarray, sigma: float, decay: float, d: int) -> float:
    """Sums of values in place of squares."""
    strong, weak = m @ m + sigma**2, sigma**2
    a, b = strong / (strong + decay), weak / (weak + decay)
    return (d - 1) * b / (a + (d - 1) * b)


def wrong_mean_only(m: np.ndarray, sigma: float, decay: float, d: int) -> float:
    """Forgets that there is noise along the mean, too."""
    a, b = m @ m / (m @ m + decay), sigma**2 / (sigma**2 + decay)
    return (d - 1) * b**2 / (a**2 + (d - 1) * b**2)
