"""Exercise 1 of other architectures."""

from __future__ import annotations


def solution(a: int, b: int, c: int) -> bool:
    return b * b == a * c


def wrong_centre(a: int, b: int, c: int) -> bool:
    """A kernel without centre sees only neighbours, and that may well be enough."""
    return b == 0


def wrong_sum(a: int, b: int, c: int) -> bool:
    """A kernel that sums to zero kills constants, if there is no border."""
    return a + b + c == 0


def wrong_symmetric(a: int, b: int, c: int) -> bool:
    """All entries equal is one case of several."""
    return a == b == c
