"""Exercise 1 of Lemma 4.1."""

from __future__ import annotations


def solution() -> tuple[list, list]:
    return [[1, 0], [0, 1]], [[0, 0], [0, -1]]


def also_wide() -> tuple[list, list]:
    """More columns, and noise that leaves a little of the second value."""
    return [[2, 0, 0], [0, 2, 0]], [[0, 0, 0], [0, -1.5, 0]]


def wrong_no_noise() -> tuple[list, list]:
    """A tie alone: without noise there is no gap either."""
    return [[1, 0], [0, 1]], [[0, 0], [0, 0]]


def wrong_rank_one() -> tuple[list, list]:
    """A positive gap, and a leading direction that is unique."""
    return [[1, 0], [0, 0]], [[0, 0], [0, 0.5]]


def wrong_tie_of_noisy() -> tuple[list, list]:
    """The noisy matrix has the tie, not the clean one."""
    return [[1, 0], [0, 0.5]], [[-0.5, 0], [0, 0]]


def wrong_nearly() -> tuple[list, list]:
    """Nearly equal is not equal."""
    return [[1, 0], [0, 0.999]], [[0, 0], [0, -0.999]]
