"""Exercise 2 of Theorem 3.1."""

from __future__ import annotations

from math import gamma, pi


def solution(d: int) -> float:
    return pi ** ((d - 1) / 2) / gamma((d - 1) / 2 + 1)


def wrong_ball(d: int) -> float:
    """The volume of the ball itself."""
    return pi ** (d / 2) / gamma(d / 2 + 1)


def wrong_cube(d: int) -> float:
    """The slice of the cube of the same width."""
    return 2.0 ** (d - 1)


def wrong_sphere(d: int) -> float:
    """The surface of the equator in place of the slice that it bounds."""
    return 2 * pi ** ((d - 1) / 2) / gamma((d - 1) / 2) if d > 1 else 1.0
