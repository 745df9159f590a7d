"""Checkers about the course of training and about soft ranks."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from scipy.optimize import brentq

from lowdim.collapse import decay as forgetful
from lowdim.exercises.checking import checker, number, wants


@checker
def check_settle(settle: Callable[[float, float, float], Any]) -> None:
    """Exercise 2 of Figure 3: when the start is forgotten.

    Examples
    --------
    >>> check_settle(lambda decay, rate, momentum: 1_000_000)
    'Not yet: a hundredth has been reached long before.'
    """
    settings = ((1e-2, 0.02, 0.0), (3e-3, 0.1, 0.5), (2e-3, 0.05, 0.9), (5e-3, 0.05, 0.8))
    for decay, rate, momentum in settings:
        steps = number(settle(decay, rate, momentum), "what settle returns")
        wants(steps >= 1, "it is no number of steps")
        usual = math.log(100) * (1 - momentum) / (2 * decay * rate)
        wants(steps < 3 * usual + 100, "a hundredth has been reached long before")
        how = {"decay": decay, "rate": rate, "momentum": momentum}
        wants(
            forgetful.forgetting(math.ceil(steps), **how) < 0.01,
            "after that many steps more than a hundredth of the start is left",
        )
        # e^(-2ηλt/(1-β)) is off by terms of order ηλ/(1-β)² and by the first 1/(1-β) steps
        slack = 0.03 * steps + 3 / (1 - momentum)
        early = max(0, math.floor(steps - slack))
        wants(
            forgetful.forgetting(early, **how) >= 0.01,
            "a hundredth has been reached long before",
        )


@checker
def check_share(share: Callable[[float], Any]) -> None:
    """Exercise 2 of Figures 4 and 5: the soft rank of squares of a random matrix.

    Examples
    --------
    >>> check_share(lambda epsilon: 1 - epsilon)
    'Not yet: the values beyond that share hold another part of the squares than ε.'
    """

    def below(q: float) -> float:
        """The share of the quarter circle below q."""
        return (2 * math.asin(q / 2) + q * math.sqrt(1 - q * q / 4)) / math.pi

    for epsilon in (0.01, 0.05, 0.1, 0.3, 0.7):
        kept = number(share(epsilon), "what share returns")
        wants(0 < kept < 1, "it is no share between 0 and 1")
        q = brentq(lambda x, kept=kept: below(x) - (1 - kept), 0, 2)
        turn = math.asin(q / 2)
        squares = (2 * turn - math.sin(4 * turn) / 2) / math.pi
        wants(
            abs(squares - epsilon) < 1e-6,
            "the values beyond that share hold another part of the squares than ε",
        )
