"""Exercise 2 of Four instruments."""

from __future__ import annotations

from torch import Tensor


def _fill(values: Tensor, turn: float) -> float:
    """The sum of the values, the first ones whole, until ``turn`` is used up."""
    total = 0.0
    for value in values.tolist():
        share = min(1.0, max(0.0, turn))
        total += share * value
        turn -= share
    return total


def solution(squares: Tensor, K: int, turn: float) -> tuple[float, float]:
    low = _fill(squares[:K].flip(0), turn) - _fill(squares[K:], turn)
    high = _fill(squares[:K], turn) - _fill(squares[K:].flip(0), turn)
    return low, high


def wrong_theorem(squares: Tensor, K: int, turn: float) -> tuple[float, float]:
    """The theorem's two ends, which are reached only while one vector turns."""
    low = float(squares[K - 1] - squares[K]) * turn
    return low, float(squares[0] - squares[-1]) * turn


def wrong_order(squares: Tensor, K: int, turn: float) -> tuple[float, float]:
    """Takes the far end of the tail for the near one."""
    low = _fill(squares[:K].flip(0), turn) - _fill(squares[K:].flip(0), turn)
    high = _fill(squares[:K], turn) - _fill(squares[K:], turn)
    return low, high


def wrong_swapped(squares: Tensor, K: int, turn: float) -> tuple[float, float]:
    """Returns them the other way round."""
    low, high = solution(squares, K, turn)
    return high, low


def wrong_three(squares: Tensor, K: int, turn: float) -> tuple[float, float]:
    """The example's K in place of the given one."""
    return solution(squares, 3, turn)
