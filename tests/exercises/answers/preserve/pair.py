"""Exercise 2 of Lemma 4.1."""

from __future__ import annotations


def solution(factor: float) -> tuple[list, list]:
    t = 1 / factor
    return [[1, 0], [0, 0]], [[0, 0], [0.01, t]]


def also_tall(factor: float) -> tuple[list, list]:
    """A row more, and the part that turns nothing in a row of its own."""
    return [[3, 0], [0, 0], [0, 0]], [[0, 0], [0.1, 0], [0, 1 / factor]]


def wrong_right_side(factor: float) -> tuple[list, list]:
    """Noise that annihilates the signal's rows: the gain is (s + t) / s, below two."""
    return [[1, 0], [0, 0]], [[0, 0.001], [0, 0.99]]


def wrong_symmetric(factor: float) -> tuple[list, list]:
    """Both residuals equal: the two bounds agree."""
    return [[1, 0], [0, 0]], [[0, 0.1], [0.1, 0]]


def wrong_nothing_turned(factor: float) -> tuple[list, list]:
    """Noise beside the signal: both residuals vanish."""
    return [[1, 0], [0, 0]], [[0, 0], [0, 1 / factor]]


def wrong_no_gap(factor: float) -> tuple[list, list]:
    """Noise above the signal."""
    return [[1, 0], [0, 0]], [[1, 0], [0.1, 2]]


def wrong_one_for_all(factor: float) -> tuple[list, list]:
    """One pair with a large gain: there is always a larger factor."""
    return [[1, 0], [0, 0]], [[0, 0], [0.01, 1e-6]]
