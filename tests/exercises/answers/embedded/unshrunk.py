"""Exercise 2 of noise as a regularizer."""

from __future__ import annotations

import numpy as np


def solution(w: np.ndarray, sigma: float, Sigma: np.ndarray) -> np.ndarray:
    return w + sigma**2 * np.linalg.solve(Sigma, w)


def wrong_scalar(w: np.ndarray, sigma: float, Sigma: np.ndarray) -> np.ndarray:
    """One factor for all directions, as if Σ were the identity."""
    return (1 + sigma**2) * w


def wrong_twice(w: np.ndarray, sigma: float, Sigma: np.ndarray) -> np.ndarray:
    """Shrinks once more instead of undoing it."""
    return np.linalg.solve(Sigma + sigma**2 * np.eye(len(w)), Sigma @ w)


def wrong_order(w: np.ndarray, sigma: float, Sigma: np.ndarray) -> np.ndarray:
    """σ where the moments have its square."""
    return w + sigma * np.linalg.solve(Sigma, w)


def wrong_factor(w: np.ndarray, sigma: float, Sigma: np.ndarray) -> np.ndarray:
    """Forgets that b = Σν: returns b."""
    return (Sigma + sigma**2 * np.eye(len(w))) @ w
