"""Checkers about linear layers: Theorems 5.1, 5.3 and 5.4, and the warm-up on centroids."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lowdim.collapse import critical, linear
from lowdim.exercises.checking import checker, matrix, number, wants
from lowdim.linalg import ranks
from lowdim.seeds import generator


@checker
def check_critical_points(critical_points: Callable[[int, int], Any]) -> None:
    """Exercise 1 of Theorem 5.1: how many critical points there are without ties.

    Examples
    --------
    >>> check_critical_points(lambda q, r: q**r)
    'Not yet: for some q and r there are not that many of rank r that keep triples of Q.'
    """
    for q in range(1, 7):
        Q = torch.diag(torch.arange(1, q + 1, dtype=torch.float64))
        for r in range(1, 7):
            kept = [critical.white(Q, J).Theta for J in combinations(range(q), r)]
            wants(
                critical_points(q, r) == len(kept),
                "for some q and r there are not that many of rank r that keep triples of Q",
            )


@checker
def check_go_down(go_down: Callable[[Tensor, tuple[int, ...]], Any]) -> None:
    """Exercise 2 of Theorem 5.1: a way down from a critical point that is no minimum.

    Examples
    --------
    >>> check_go_down(lambda Q, J: Q)
    'Not yet: the direction is not tangent to the matrices of that rank.'
    """
    cases = ((4, 5, (0, 2)), (4, 5, (1, 3)), (3, 3, (1,)), (6, 4, (0, 1, 3)), (2, 7, (1,)))
    for trial, (c, d, J) in enumerate(cases):
        draw = generator(0, trial, "exercise: go down")
        left, right = (np.linalg.qr(draw.standard_normal((k, k)))[0] for k in (c, d))
        values = np.cumprod(draw.uniform(0.5, 0.9, min(c, d)))
        Q = torch.from_numpy(left[:, : len(values)] * values @ right[: len(values)])
        U, _, Vh = torch.linalg.svd(Q, full_matrices=False)
        xi = matrix(go_down(Q.clone(), J), (c, d), "the direction")
        size = float(xi.norm())
        wants(size > 0, "the direction is zero")
        xi = xi / size
        across = xi - U[:, J] @ U[:, J].T @ xi
        across = across - across @ Vh[list(J)].T @ Vh[list(J)]
        wants(
            float(across.norm()) < 1e-9,
            "the direction is not tangent to the matrices of that rank",
        )
        # rounding in a second difference is 1e-10 here
        falls = critical.second_difference(critical.white(Q, J), xi) < -1e-6
        wants(falls, "the loss does not fall along the direction")


@checker
def check_shrink(shrink: Callable[[float, float], Any]) -> None:
    """Exercise 2 of Theorem 5.3: the minimizer of m(1 - t)² + 2λt over t ≥ 0.

    Examples
    --------
    >>> check_shrink(lambda m, lam: 1 - lam / m)
    'Not yet: for some m and λ it is negative.'
    """
    draw, grid = generator(0, 0, "exercise: shrink"), np.linspace(0, 2, 401)
    for m, lam in [*draw.uniform(0.01, 3, (60, 2)), np.array([1.0, 1.0])]:
        t = number(shrink(float(m), float(lam)), "what shrink returns")
        wants(t >= 0, "for some m and λ it is negative")
        others = np.concatenate([grid, np.abs(t + np.array([-1e-5, 1e-5]))])
        values = m * (1 - others) ** 2 + 2 * lam * others
        best = m * (1 - t) ** 2 + 2 * lam * t
        wants(best <= values.min() + 1e-13, "for some m and λ another t has a smaller value")


@checker
def check_worst_inputs(worst_inputs: Callable[[Tensor, float], Any]) -> None:
    """Exercise 2 of Theorem 5.4: inputs for which a bound on the rank costs most.

    Examples
    --------
    >>> check_worst_inputs(lambda y, lam: (1.0, 1.0))
    'Not yet: for some labels the squared distance is below 0.9 of the bound.'
    """
    for trial in range(12):
        draw = generator(0, trial, "exercise: worst inputs")
        weak, lam = (float(x) for x in 10 ** draw.uniform(-1, 1, 2))
        y = torch.tensor([weak * draw.uniform(4, 50), weak], dtype=torch.float64)
        X = torch.diag(matrix(worst_inputs(y.clone(), lam), (2,), "what worst_inputs returns"))
        Y = torch.diag(y)
        apart = linear.ridge(X, Y, lam) - linear.constrained(X, Y, lam, 1)
        wants(
            float(apart.norm()) ** 2 >= 0.9 * weak**2 / (2 * lam),
            "for some labels the squared distance is below 0.9 of the bound",
        )


def _loss(X: Tensor, Y: Tensor, Theta: Tensor, lam: float) -> float:
    return float((Y - Theta @ X).norm() ** 2 / X.shape[1] + lam * Theta.norm() ** 2)


@checker
def check_floor(floor: Callable[[float, float, float, float], Any]) -> None:
    """Exercise 2 of the warm-up: the best lower bound on the minimum from four numbers.

    Examples
    --------
    >>> check_floor(lambda loss, misfit, spread, lam: loss - misfit)
    'Not yet: for some data with these four numbers a higher bound is known to hold.'
    """
    for trial in range(24):
        draw = generator(0, trial, "exercise: floor")
        d, c, n = (int(k) for k in draw.integers((1, 1, 4), (5, 4, 12)))
        X, Y = (torch.from_numpy(draw.standard_normal((k, n))) for k in (d, c))
        labels, lam = np.arange(n) % 2, float(10 ** draw.uniform(-1.5, 1))
        extreme = trial % 3 == 0
        if extreme:  # one part, x = ±u, y = (b, ±v): nothing but the bound is possible here
            u, v, b = draw.uniform(0.2, 3, 3)
            signs = torch.tensor([1.0, -1.0]).double()
            X, Y = u * signs[None], torch.stack([torch.full((2,), b).double(), v * signs])
            labels = np.zeros(2, dtype=int)
        n = X.shape[1]
        Xc, Yc = (ranks.spread_centroids(A, labels) for A in (X, Y))
        start = linear.ridge(Xc, Yc, lam)
        misfit = float((Y - Yc - start @ (X - Xc)).norm() ** 2 / n)
        spread = float(torch.linalg.matrix_norm(X - Xc, 2) ** 2 / n)
        loss, least = (_loss(X, Y, T, lam) for T in (start, linear.ridge(X, Y, lam)))
        found = number(floor(loss, misfit, spread, lam), "what floor returns")
        wants(found <= least + 1e-9 * (1 + loss), "for some data the minimum is below it")
        if extreme:
            wants(
                found >= least - 1e-9 * (1 + loss),
                "for some data with these four numbers a higher bound is known to hold",
            )
