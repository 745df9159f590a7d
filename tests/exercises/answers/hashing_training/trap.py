"""Exercise 2 of the landscape."""

from __future__ import annotations


def solution(a: float) -> list[list[float]]:
    d = 2 * (a + 2) / (a - 1)
    same, other = d / 2 + 1 / (2 * a), d / 2 + 1 / 2
    return [[same, other], [other, same]]


def also_equal(a: float) -> list[list[float]]:
    """All targets equal: the convex solution is then below them, by the same everywhere."""
    y = (a + 2) / (a - 1)
    return [[y, y], [y, y]]


def wrong_seven(a: float) -> list[list[float]]:
    """The chapter's targets, which belong to a = 7."""
    return [[11 / 7, 2.0], [2.0, 11 / 7]]


def wrong_no_penalty(a: float) -> list[list[float]]:
    """Forgets the penalty where the gradient is to vanish."""
    y = (a + 1) / (a - 1)
    return [[y, y], [y, y]]


def wrong_only_stationary(a: float) -> list[list[float]]:
    """Makes the gradient vanish and looks no further: the trap is then the global minimum."""
    return [[1 + 1 / a, -1.0], [-1.0, 1 + 1 / a]]


def wrong_equal_weights(a: float) -> list[list[float]]:
    """Divides by the wrong weight off the diagonal."""
    d = 2 * (a + 2) / (a - 1)
    same = d / 2 + 1 / (2 * a)
    return [[same, same], [same, same]]
