"""Checkers about what a layer cuts: balanced data, and biases that cut nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lowdim.exercises.checking import checker, matrix, number, wants
from lowdim.seeds import generator


@checker
def check_one_sided(balance: Callable[[np.ndarray], Any]) -> None:
    """Exercise 2 of balanced data: the least share that any linear function has below zero.

    Examples
    --------
    >>> check_one_sided(lambda V: 0.9)
    'Not yet: for some coefficients a direction has a smaller share below zero.'
    """
    angles = np.linspace(0, 2 * np.pi, 20001)
    directions = np.stack([np.cos(angles), np.sin(angles)], 1)
    for trial, (n, shift) in enumerate(((9, 0.0), (30, 0.0), (9, 0.4), (4, 0.0), (12, 6.0))):
        draw = generator(0, trial, "exercise: one-sided")
        V = draw.standard_normal((2, n)) * draw.uniform(0.2, 5) + shift
        values = directions @ V
        shares = np.linalg.norm(values.clip(max=0), axis=1) / np.linalg.norm(values, axis=1)
        found = number(balance(V.copy()), "what balance returns")
        wants(
            found < shares.min() + 0.01,
            "for some coefficients a direction has a smaller share below zero",
        )
        wants(
            found > shares.min() - 0.01,
            "for some coefficients no direction has a share below zero as small as that",
        )


@checker
def check_lift(lift: Callable[[np.ndarray, np.ndarray], Any]) -> None:
    """Exercise 2 of a bias in the layer: biases that lift every row to one and no further.

    Examples
    --------
    >>> check_lift(lambda W, X: 100.0 * np.ones(len(W)))
    'Not yet: some row is lifted further than it needs: its smallest entry is above one.'
    """
    for trial, (h, m, n) in enumerate(((4, 3, 9), (1, 2, 5), (6, 2, 3), (3, 5, 1))):
        draw = generator(0, trial, "exercise: lift")
        W, X = 3 * draw.standard_normal((h, m)), draw.standard_normal((m, n)) + trial
        b = matrix(lift(W.copy(), X.copy()), (h,), "what lift returns").numpy()
        lowest = (W @ X + b[:, None]).min(1)
        wants((lowest > 1 - 1e-9).all(), "some row has an entry below one")
        wants(
            (lowest < 1 + 1e-9).all(),
            "some row is lifted further than it needs: its smallest entry is above one",
        )
