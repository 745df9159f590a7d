"""Exercise 2 of five layers."""

from __future__ import annotations


def layers(*amounts: float) -> list:
    return [[[1, 0, 0], [0, 1, amount], [0, 0, 1]] for amount in amounts]


def solution() -> list:
    amounts = [12.3] + 13 * [17.4]
    return [[[1, 0, 0], [0, 1, k], [0, 0, 1]] for k in amounts]


def wrong_fifteen() -> list:
    """One layer fewer than the chapter has, which its own numbers allow."""
    return layers(12, *[16.7] * 14)


def wrong_too_small() -> list:
    """The chapter's layers, two of them left out."""
    return layers(12, *[16] * 13)


def wrong_one_leap() -> list:
    """All of the way in one layer: the gap does not allow it."""
    return layers(240)
