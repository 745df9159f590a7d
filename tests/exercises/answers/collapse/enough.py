"""Exercise 2 of Proposition 4.1."""

from __future__ import annotations

import math

from scipy import stats


def solution(d: int, K: int, N: int, p: float) -> float:
    u, dof = math.log(1 / p), d * (N - K)
    return (dof + 2 * math.sqrt(dof * u) + 2 * u) / N


def also_exact(d: int, K: int, N: int, p: float) -> float:
    """The quantile itself, which is smaller."""
    return stats.chi2.isf(p, d * (N - K)) / N


def wrong_printed(d: int, K: int, N: int, p: float) -> float:
    """The printed bound, which does not look at p."""
    return d + (d * K / N) ** 0.5


def wrong_normal(d: int, K: int, N: int, p: float) -> float:
    """A normal law in place of χ²: the right tail is heavier."""
    dof = d * (N - K)
    return (dof + stats.norm.isf(p) * math.sqrt(2 * dof)) / N


def wrong_union(d: int, K: int, N: int, p: float) -> float:
    """Each blob by itself, and a union bound: too careful."""
    u, dof = math.log(K / p), d * (N // K - 1)
    return K * (dof + 2 * math.sqrt(dof * u) + 2 * u) / N


def wrong_loose(d: int, K: int, N: int, p: float) -> float:
    """A factor to be on the safe side."""
    return 2 * solution(d, K, N, p)
