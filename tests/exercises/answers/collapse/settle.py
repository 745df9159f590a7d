"""Exercise 2 of Figure 3."""

from __future__ import annotations

import math


def solution(decay: float, rate: float, momentum: float) -> float:
    usual = math.log(100) * (1 - momentum) / (2 * decay * rate)
    return usual + 2 / (1 - momentum)


def also_counted(decay: float, rate: float, momentum: float) -> int:
    """The recursion itself."""
    w, v, steps = 1.0, 0.0, 0
    while w >= 0.01:
        v = momentum * v + 2 * decay * w
        w, steps = w - rate * v, steps + 1
    return steps


def wrong_no_momentum(decay: float, rate: float, momentum: float) -> float:
    """Forgets that momentum makes steps longer."""
    return math.log(100) / (2 * decay * rate) + 5


def wrong_half(decay: float, rate: float, momentum: float) -> float:
    """λ in place of 2λ."""
    return math.log(100) * (1 - momentum) / (decay * rate) + 5


def wrong_slower(decay: float, rate: float, momentum: float) -> float:
    """Momentum on the wrong side: it does not slow things down."""
    return math.log(100) / (2 * decay * rate * (1 - momentum)) + 5


def wrong_tenth(decay: float, rate: float, momentum: float) -> float:
    """A tenth for a hundredth."""
    return math.log(10) * (1 - momentum) / (2 * decay * rate) + 5
