"""Exercise 2 of Theorem 2.3."""

from __future__ import annotations

import math


def solution(eps: float) -> int:
    def wait(L: int) -> float:
        c = math.log(1.5) / 2 if L == 2 else (1 - (2 / 3) ** (1 - 2 / L)) / (L - 2)
        return c * eps ** (2 / L - 1)

    return max(range(1, 400), key=wait)


def wrong_asymptotic(eps: float) -> int:
    """2 ln(1/ε), which is right for small ε only."""
    return max(1, round(2 * math.log(1 / eps)))


def wrong_constant(eps: float) -> int:
    """The exponent alone, whose worst depth is as large as it is allowed to be."""
    return max(range(1, 400), key=lambda L: eps ** (2 / L - 1))


def wrong_third(eps: float) -> int:
    """1/(3L) in place of c_L, its limit for large L."""
    return max(range(1, 400), key=lambda L: eps ** (2 / L - 1) / (3 * L))
