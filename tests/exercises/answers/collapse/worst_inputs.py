"""Exercise 2 of Theorem 5.4."""

from __future__ import annotations

from torch import Tensor


def solution(y: Tensor, lam: float) -> list[float]:
    n, ratio = 2 * lam, 0.999 * float(y[1] / y[0])
    return [ratio * (n / (1 - ratio**2)) ** 0.5, 1e3 * n**0.5]


def wrong_equal(y: Tensor, lam: float) -> list[float]:
    """Best for the nearest matrix: a quarter of the bound."""
    return [(2 * lam) ** 0.5, (2 * lam) ** 0.5]


def wrong_other_side(y: Tensor, lam: float) -> list[float]:
    """A little too large: the weak label direction is dropped."""
    n, ratio = 2 * lam, 1.01 * float(y[1] / y[0])
    return [ratio * (n / (1 - ratio**2)) ** 0.5, 1e3 * n**0.5]


def wrong_tiny(y: Tensor, lam: float) -> list[float]:
    """Hides the strong label so well that there is nothing of it to lose."""
    return [1e-3, 1e3]


def wrong_one_size(y: Tensor, lam: float) -> list[float]:
    """The right shape without λ."""
    ratio = 0.999 * float(y[1] / y[0])
    return [ratio / (1 - ratio**2) ** 0.5, 1e3]
