"""Exercise 2 of Lemma 3.1."""

from __future__ import annotations


def solution(mu: float) -> tuple[float, float]:
    return (1 - mu**0.5) ** 2, (1 + mu**0.5) ** 2


def wrong_half(mu: float) -> tuple[float, float]:
    """One number near the middle of all that converge: best for some μ, not the ends."""
    return 0.5, 0.5


def wrong_one(mu: float) -> tuple[float, float]:
    """a = 1, where plain descent is done in one step: it is among the best, and not alone."""
    return 1.0, 1.0


def wrong_stable(mu: float) -> tuple[float, float]:
    """All that converge, instead of those that converge fastest."""
    return 1e-9, 2 * (1 + mu)


def wrong_squares(mu: float) -> tuple[float, float]:
    """Forgets the root: the discriminant is (1 + μ − a)² − 4μ, not − 4μ²."""
    return (1 - mu) ** 2, (1 + mu) ** 2


def wrong_open(mu: float) -> tuple[float, float]:
    """Only the first of the two ends, twice."""
    return (1 - mu**0.5) ** 2, (1 - mu**0.5) ** 2
