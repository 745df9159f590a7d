"""Exercise 2 of Theorem 2.1."""

from __future__ import annotations

import numpy as np


def solution(x: np.ndarray) -> np.ndarray:
    return np.hstack([x, x**3, x**5])


def also_sines(x: np.ndarray) -> np.ndarray:
    """The target's own functions."""
    return np.sin(np.pi * x)


def wrong_flat(x: np.ndarray) -> np.ndarray:
    """One function, as a vector in place of a column."""
    return x[:, 0] ** 3


def wrong_even(x: np.ndarray) -> np.ndarray:
    """More functions, but of the wrong parity: they explain nothing of an odd target."""
    return np.hstack([x, x**2, x**4])


def wrong_cubes(x: np.ndarray) -> np.ndarray:
    """The right idea, one term short."""
    return np.hstack([x, x**3])


def wrong_normalized(x: np.ndarray) -> np.ndarray:
    """Divides each column by its spread over the sample: depends on the other points."""
    F = np.hstack([x, x**3, x**5])
    return F / F.std(0)


def wrong_many(x: np.ndarray) -> np.ndarray:
    """A polynomial of degree seven: eight functions."""
    return np.hstack([x, x**3, x**5, x**7])
