"""Checkers about gradients, clusters and weight decay."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats

from lowdim.exercises.checking import checker, number, wants
from lowdim.linalg import ranks
from lowdim.seeds import generator


def _outside(rate: float, decay: float, steps: int, trial: int) -> np.ndarray:
    """‖W_1(I - P)‖ (steps + 1,) of a small tanh network under gradient descent, from one."""
    draw = generator(0, trial, "exercise: steps needed")
    d, width, inputs = 5, 4, 2
    X, Y = draw.standard_normal((d, inputs)), draw.standard_normal((3, inputs))
    W, V = 0.5 * draw.standard_normal((width, d)), 0.5 * draw.standard_normal((3, width))
    off = np.eye(d) - X @ np.linalg.pinv(X)
    sizes = [np.linalg.norm(W @ off)]
    for _ in range(steps):
        Z = np.tanh(W @ X)
        error = 2 * (V @ Z - Y) / inputs
        back = (V.T @ error) * (1 - Z**2)
        W, V = (
            W - rate * (back @ X.T + 2 * decay * W),
            V - rate * (error @ Z.T + 2 * decay * V),
        )
        sizes.append(np.linalg.norm(W @ off))
    return np.array(sizes) / sizes[0]


@checker
def check_steps_needed(steps_needed: Callable[[float, float, float], Any]) -> None:
    """Exercise 2 of Proposition 3.1: when descent has shrunk what no input sees.

    Examples
    --------
    >>> check_steps_needed(lambda rate, decay, factor: 69)
    'Not yet: one step fewer is enough.'
    """
    settings = ((0.1, 0.05, 0.5), (0.1, 0.1, 0.5), (0.02, 0.3, 0.1), (0.2, 0.2, 0.95))
    for trial, (rate, decay, factor) in enumerate(settings):
        count = number(steps_needed(rate, decay, factor), "what steps_needed returns")
        wants(count == int(count) and count >= 1, "it is no whole number of steps")
        # e^-2 a t bounds the descent's (1 - 2 a)^t from above
        most = math.ceil(-math.log(factor) / (2 * rate * decay))
        wants(count <= most, "one step fewer is enough")
        sizes = _outside(rate, decay, int(count), trial)
        wants(sizes[-1] <= factor, "after that many steps W_1(I − P) is still too large")
        wants(sizes[-2] > factor, "one step fewer is enough")


@checker
def check_single_centroid_gap(single_centroid_gap: Callable[..., Any]) -> None:
    """Exercise 2 of Lemma 3.3: the remainder of one unit against its bound.

    Examples
    --------
    >>> check_single_centroid_gap(lambda w, z, y: 1.0)
    'Not yet: on some cluster it is not ‖R‖ over the bound ½ M WCSS.'
    """

    def gradient(w: float, z: np.ndarray, y: np.ndarray) -> np.ndarray:
        return 2 * z * (w * z - y)

    for trial in range(40):
        draw = generator(0, trial, "exercise: gap")
        n, w = int(draw.integers(2, 9)), float(draw.normal())
        z, y = draw.standard_normal(n), draw.standard_normal(n)
        if trial == 0:  # along the extreme eigenvector of the Hessian the bound is reached
            w, z, y = 0.75, np.array([2.0, -2.0]), np.array([-1.0, 1.0])
        found = number(single_centroid_gap(w, z.copy(), y.copy()), "what it returns")
        wants(found <= 1 + 1e-9, "on some cluster it exceeds one")
        left = abs(gradient(w, z, y).mean() - gradient(w, z.mean(), y.mean()))
        spread = z.var() + y.var()
        bound = (abs(w) + math.hypot(1, w)) * spread
        wants(
            abs(found - left / bound) < 1e-9,
            "on some cluster it is not ‖R‖ over the bound ½ M WCSS",
        )


@checker
def check_failure(failure: Callable[[], Any]) -> None:
    """Exercise 1 of Proposition 4.1: how often two points in the plane exceed the printed bound.

    Examples
    --------
    >>> check_failure(lambda: 0.24)
    'Not yet: two points in the plane exceed the printed bound with another probability.'
    """
    found = number(failure(), "what failure returns")
    # two points on each of two axes: half the square of their difference is χ² of one degree
    truth = stats.chi2.sf(2 * (2 + 1), 2)
    wants(
        abs(found - truth) < 1e-6,
        "two points in the plane exceed the printed bound with another probability",
    )


@checker
def check_enough(enough: Callable[[int, int, int, float], Any]) -> None:
    """Exercise 2 of Proposition 4.1: a bound on the variation that is rarely exceeded.

    Examples
    --------
    >>> check_enough(lambda d, K, N, p: d + (d * K / N) ** 0.5)
    'Not yet: the blobs exceed the bound with a probability above p.'
    """
    draw = generator(0, 0, "exercise: enough")
    for _ in range(60):
        d, K = int(draw.integers(1, 50)), int(draw.integers(1, 8))
        p, N = float(10 ** draw.uniform(-4, -0.5)), K * int(draw.integers(2, 200))
        bound = number(enough(d, K, N, p), "what enough returns")
        dof = d * (N - K)
        wants(
            stats.chi2.sf(N * bound, dof) <= p * (1 + 1e-9),
            "the blobs exceed the bound with a probability above p",
        )
        u = math.log(1 / p)
        repaired = (dof + 2 * math.sqrt(dof * u) + 2 * u) / N
        wants(bound <= repaired * (1 + 1e-9), "the bound is above that of the repaired proposition")


@checker
def check_relative_tail(relative_tail: Callable[..., Any]) -> None:
    """Exercise 2 of Theorem 3.4: the tail of one linear layer on two blobs.

    Examples
    --------
    >>> check_relative_tail(lambda m, sigma, decay, d: 0.0)
    'Not yet: at some decay it is not the squared relative tail of W beyond rank one.'
    """
    for trial, d in enumerate((2, 3, 5, 9)):
        draw = generator(0, trial, "exercise: relative tail")
        m, sigma = draw.standard_normal(d), float(draw.uniform(0.2, 2))
        C = np.outer(m, m) + sigma**2 * np.eye(d)
        for decay in (0.01, 0.5, 5.0, 300.0):
            truth = float(ranks.tails(C @ np.linalg.inv(C + decay * np.eye(d)))[1])
            found = number(relative_tail(m.copy(), sigma, decay, d), "what relative_tail returns")
            wants(
                abs(found - truth) < 1e-9,
                "at some decay it is not the squared relative tail of W beyond rank one",
            )
