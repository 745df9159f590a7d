"""Exercise 2 of Proposition 3.1."""

from __future__ import annotations

import math


def solution(rate: float, decay: float, factor: float) -> int:
    return math.ceil(math.log(factor) / math.log(1 - 2 * rate * decay))


def wrong_constant(rate: float, decay: float, factor: float) -> int:
    """Right for one setting, which was looked up."""
    return 69


def wrong_half(rate: float, decay: float, factor: float) -> int:
    """The gradient of the penalty without its factor two."""
    return math.ceil(math.log(factor) / math.log(1 - rate * decay))


def wrong_flow(rate: float, decay: float, factor: float) -> int:
    """The exponential of gradient flow, which descent overtakes."""
    return math.ceil(-math.log(factor) / (2 * rate * decay))


def wrong_floor(rate: float, decay: float, factor: float) -> int:
    """Rounds down."""
    return max(1, math.floor(math.log(factor) / math.log(1 - 2 * rate * decay)))
