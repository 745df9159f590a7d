"""Exercise 1 of Theorem 5.1."""

from __future__ import annotations

import math


def solution(q: int, r: int) -> int:
    return math.comb(q, r)


def wrong_repeated(q: int, r: int) -> int:
    """As printed: indices may repeat."""
    return q**r


def wrong_order(q: int, r: int) -> int:
    """Counts the order in which triples are chosen."""
    return math.perm(q, r)


def wrong_one(q: int, r: int) -> int:
    """Counts the minimum alone."""
    return 1
