"""Exercise 2 of Theorem 5."""

from __future__ import annotations


def solution(rho: float, h: int) -> float:
    v = 1 + 1 / h
    return (rho - 2 + v) ** 2 / (4 * (rho - 2))


def wrong_unchanged(rho: float, h: int) -> float:
    """The threshold for one key: right for h = 1 only."""
    return rho**2 / (4 * (rho - 2))


def wrong_paper(rho: float, h: int) -> float:
    """The mean square of what should be accepted."""
    return 1 + 1 / h


def wrong_limit(rho: float, h: int) -> float:
    """What it tends to for large ρ."""
    return rho / 4


def wrong_constant(rho: float, h: int) -> float:
    """A constant, as if ρ did not matter."""
    return 2.5


def wrong_distance(rho: float, h: int) -> float:
    """Uses the h examples for the distance of the means as well: ρ − 1 − 1/h in place of ρ − 2."""
    v = 1 + 1 / h
    return rho**2 / (4 * (rho - v))


def wrong_half(rho: float, h: int) -> float:
    """Half of ρ, in the middle between the two manifolds: false hits are not so symmetric."""
    return 0.5 * (rho - 2)
