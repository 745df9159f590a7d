"""Exercise 1 of learned weights."""

from __future__ import annotations


def solution(n: int, r: int) -> tuple[float, float]:
    return (2 * r * (1 - r / n)) ** 0.5, r / n**2


def wrong_orthogonal(n: int, r: int) -> tuple[float, float]:
    """Unrelated taken for orthogonal."""
    return (2 * r) ** 0.5, r / n**2


def wrong_normalized(n: int, r: int) -> tuple[float, float]:
    """The normalized distance, as in the figures."""
    return (1 - r / n) ** 0.5, r / n**2


def wrong_diagonal(n: int, r: int) -> tuple[float, float]:
    """The mean of the diagonal for the mean of all squares."""
    return (2 * r * (1 - r / n)) ** 0.5, r / n
