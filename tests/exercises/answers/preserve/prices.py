"""Exercise 1 of real data."""

from __future__ import annotations


def solution(K: int) -> tuple[float, float]:
    return 1 - 1 / K, (1 - 1 / K) ** 0.5


def wrong_root(K: int) -> tuple[float, float]:
    """Gives the square of the distance."""
    return 1 - 1 / K, 1 - 1 / K


def wrong_kept(K: int) -> tuple[float, float]:
    """The mass within the blocks instead of that off them."""
    return 1 / K, (1 - 1 / K) ** 0.5


def wrong_all_indicators(K: int) -> tuple[float, float]:
    """Takes the indicators of all classes for the nearest projector; it has rank one."""
    return 1 - 1 / K, 0.0
