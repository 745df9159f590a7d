"""Exercise 2 of Theorem 5.3."""

from __future__ import annotations


def solution(m: float, lam: float) -> float:
    return max(0.0, 1 - lam / m)


def wrong_negative(m: float, lam: float) -> float:
    """The zero of the derivative, wherever it is."""
    return 1 - lam / m


def wrong_ridge(m: float, lam: float) -> float:
    """One layer: no threshold."""
    return m / (m + lam)


def wrong_factor(m: float, lam: float) -> float:
    """A factor two that cancels."""
    return max(0.0, 1 - 2 * lam / m)


def wrong_hard(m: float, lam: float) -> float:
    """Keeps or drops, and does not shrink."""
    return float(m > lam)
