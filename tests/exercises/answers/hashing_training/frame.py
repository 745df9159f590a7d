"""Exercise 2 of the ground truth."""

from __future__ import annotations

import numpy as np


def least(eps: float, m: int) -> int:
    return next(T for T in range(1, m + 1) if (m - T) / (m + m * T - 2 * T) <= 2 * eps)


def waves(T: int, m: int) -> np.ndarray:
    if T == m:
        return np.eye(m)
    angles = 2 * np.pi * np.outer(np.arange(m), np.arange(1, T // 2 + 1)) / m
    constant = np.full((m, T % 2), 0.5**0.5)
    v = np.concatenate([constant, np.cos(angles), np.sin(angles)], 1)
    return v / np.linalg.norm(v, axis=1, keepdims=True)


def solution(eps: float, m: int) -> np.ndarray:
    return waves(least(eps, m), m)


def gaussian(T: int, m: int) -> np.ndarray:
    v = np.random.default_rng(0).standard_normal((m, T))
    return v / np.linalg.norm(v, axis=1, keepdims=True)


def wrong_gaussian(eps: float, m: int) -> np.ndarray:
    """Random directions in the least dimension: nearly tight is not tight."""
    return gaussian(least(eps, m), m)


def wrong_more_gaussian(eps: float, m: int) -> np.ndarray:
    """Random directions, and three times as many dimensions to make up for it."""
    return gaussian(min(m, 3 * least(eps, m)), m)


def wrong_identity(eps: float, m: int) -> np.ndarray:
    """No loss at all, in m dimensions."""
    return np.eye(m)


def wrong_pairs(eps: float, m: int) -> np.ndarray:
    """Pairs of cosine and sine only: where the least dimension is odd it takes one more."""
    T = least(eps, m)
    return waves(T if T == m else min(T + T % 2, m), m)


def wrong_long(eps: float, m: int) -> np.ndarray:
    """Tight, but not of length one."""
    return 2 * solution(eps, m)


def wrong_circle(eps: float, m: int) -> np.ndarray:
    """The plane for every ε."""
    return waves(2, m)
