"""Exercise 1 of Proposition 4.1."""

from __future__ import annotations

import math

from scipy import stats


def solution() -> float:
    return math.exp(-3)


def wrong_degrees() -> float:
    """Four normal numbers, and none lost to the mean."""
    return float(stats.chi2.sf(6, 4))


def wrong_normalized() -> float:
    """Forgets that WCSS is divided by N."""
    return float(stats.chi2.sf(3, 2))


def wrong_limit() -> float:
    """The limit for many points."""
    return float(stats.norm.sf(0.5**0.5))
