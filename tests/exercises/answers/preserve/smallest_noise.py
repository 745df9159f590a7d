"""Exercise 1 of Lemma 4.2."""

from __future__ import annotations


def solution() -> float:
    return (4 / 15) ** 0.25


def wrong_one() -> int:
    """Refutes the lemma with whole numbers, and is not the smallest."""
    return 1


def wrong_square() -> float:
    """Solves for the square of the entry and forgets the root."""
    return (4 / 15) ** 0.5


def wrong_off_diagonal() -> float:
    """Asks the entry off the diagonal to move by an eighth: that comes later."""
    return (28 / 9) ** 0.25
