"""Exercise 2 of linear regression."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def solution(g: Callable) -> Callable:
    return lambda x: g(x) + 3 * x


def wrong_itself(g: Callable) -> Callable:
    """Equal normal weights, since nothing has changed."""
    return lambda x: g(x)


def wrong_constant(g: Callable) -> Callable:
    """A constant is linear in a network with biases; here there is none."""
    return lambda x: g(x) + 1


def wrong_mean(g: Callable) -> Callable:
    """Takes the mean away: the same constant in disguise."""
    return lambda x: g(x) - np.mean(g(x))


def wrong_residual(g: Callable) -> Callable:
    """Adds something that x is uncorrelated with on a symmetric law, which is not enough."""
    return lambda x: g(x) + x**2


def wrong_sized(g: Callable) -> Callable:
    """Adds x divided by its norm, which depends on all points: no function of one x."""
    return lambda x: g(x) + x / np.linalg.norm(x)
