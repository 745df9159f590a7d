"""Exercise 2 of Theorem 7."""

from __future__ import annotations

import math


def base(j: int) -> float:
    """The coefficient of ρ^j without bias."""
    if j < 2:
        return (1 / (2 * math.pi), 0.25)[j]
    if j % 2:
        return 0.0
    n = j // 2 - 1
    b = math.exp(math.lgamma(2 * n + 1) - 2 * math.lgamma(n + 1) - n * math.log(4))
    return b / (2 * math.pi * (j - 1) * j)


def solution(k: int, tau: float) -> float:
    c = 1 / (1 + tau**2)
    terms = (base(j) * math.comb(j, k) * tau ** (2 * (j - k)) * c**j for j in range(k, 600))
    return sum(terms)


def wrong_no_bias(k: int, tau: float) -> float:
    """Forgets the bias: right at τ = 0."""
    return base(k)


def wrong_scale(k: int, tau: float) -> float:
    """Divides the power k only, not what the bias leaves of the higher ones."""
    return base(k) / (1 + tau**2) ** k


def wrong_root(k: int, tau: float) -> float:
    """τ in place of its square."""
    c = 1 / (1 + tau**2)
    return sum(base(j) * math.comb(j, k) * tau ** (j - k) * c**j for j in range(k, 600))


def wrong_short(k: int, tau: float) -> float:
    """The first twenty powers only: the tail has the power −3/2."""
    c = 1 / (1 + tau**2)
    return sum(base(j) * math.comb(j, k) * tau ** (2 * (j - k)) * c**j for j in range(k, 20))
