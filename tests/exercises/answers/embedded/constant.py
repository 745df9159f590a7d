"""Exercise 2 of the gradient flow."""

from __future__ import annotations

from itertools import pairwise

import numpy as np


def solution(size: float, d: int, n: int, L: int) -> list[np.ndarray]:
    widths = [d, *[n] * (L - 1), 1]
    return [size ** (1 / L) * np.ones((b, a)) / (a * b) ** 0.5 for a, b in pairwise(widths)]


def also_signs(size: float, d: int, n: int, L: int) -> list[np.ndarray]:
    """Two layers with the other sign: still constant, still balanced."""
    W = solution(size, d, n, L)
    return [-W[0], *W[1:-1], -W[-1]]


def wrong_one_constant(size: float, d: int, n: int, L: int) -> list[np.ndarray]:
    """One constant for all layers, fitted to the norm: the layers have different shapes."""
    widths = [d, *[n] * (L - 1), 1]
    c = (size / (n ** (L - 1) * d**0.5)) ** (1 / L)
    return [c * np.ones((b, a)) for a, b in pairwise(widths)]


def wrong_fan_in(size: float, d: int, n: int, L: int) -> list[np.ndarray]:
    """Divides by the number of inputs, as initializations do."""
    widths = [d, *[n] * (L - 1), 1]
    return [size ** (1 / L) * np.ones((b, a)) / a for a, b in pairwise(widths)]


def wrong_shared_size(size: float, d: int, n: int, L: int) -> list[np.ndarray]:
    """Right layers, but the whole size in each."""
    return [size / size ** (1 / L) * W for W in solution(size, d, n, L)]


def wrong_identity(size: float, d: int, n: int, L: int) -> list[np.ndarray]:
    """Balanced, with identities in the middle: not constant."""
    W = solution(size, d, n, L)
    return [W[0], *(size ** (1 / L) * np.eye(n) for _ in W[1:-1]), W[-1]]
