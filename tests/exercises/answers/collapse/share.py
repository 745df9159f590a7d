"""Exercise 2 of Figures 4 and 5."""

from __future__ import annotations

import math

from scipy.optimize import brentq


def _share(turn: float) -> float:
    return 1 - 2 / math.pi * (turn + math.sin(turn) * math.cos(turn))


def solution(epsilon: float) -> float:
    turn = brentq(lambda a: 2 / math.pi * (a - math.sin(4 * a) / 4) - epsilon, 0, math.pi / 2)
    return _share(turn)


def wrong_values(epsilon: float) -> float:
    """Values in place of squares, as in the theorem."""
    return _share(math.acos((1 - epsilon) ** (1 / 3)))


def wrong_straight(epsilon: float) -> float:
    """As if all singular values were equal."""
    return 1 - epsilon


def wrong_uniform(epsilon: float) -> float:
    """A uniform law on [0, 2] in place of the quarter circle."""
    return 1 - epsilon ** (1 / 3)


def wrong_below(epsilon: float) -> float:
    """The share that is removed instead of the one that is kept."""
    return 1 - solution(epsilon)
