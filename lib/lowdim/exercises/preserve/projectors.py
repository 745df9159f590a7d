"""Checkers about row spaces: the projector, Lemmas 4.1 and 4.2."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lowdim.exercises.checking import checker, matrix, number, outcome, wants
from lowdim.linalg import clusters, subspaces
from lowdim.preserve import connectivity, preservation
from lowdim.seeds import generator


def _two(value: Any, name: str) -> tuple[Any, Any]:
    """Two things in a list or tuple; anything else is Wrong."""
    if isinstance(value, (tuple, list)) and len(value) == 2:
        return value[0], value[1]
    outcome(f"{name} does not return two things")


@checker
def check_bridges(bridges: Callable[[Tensor, list[int]], Any]) -> None:
    """Exercise 2 of the projector: rank X_S + rank X_Sᶜ - rank X from the projector alone.

    Examples
    --------
    >>> check_bridges(lambda P, S: 0)
    'Not yet: on some split it is not rank X_S + rank X_Sᶜ − rank X.'
    """
    for n in (2, 4, 5, 7):
        rng = generator(0, n, "exercise: bridges")
        splits = [split for split in connectivity.splits(n) if 0 < len(split) < n]
        for X in connectivity.integer_matrices(6, n, rng):
            V = subspaces.row_space(X)
            P = subspaces.projector(V)
            for S in (splits[int(k)] for k in rng.integers(0, len(splits), 4)):
                rest = [j for j in range(n) if j not in S]
                parts = (X[:, S], X[:, rest], X)
                of_S, of_rest, of_all = (int(connectivity.rank(A)) for A in parts)
                found = number(bridges(P.clone(), list(S)), "what bridges returns")
                wants(
                    found == of_S + of_rest - of_all,
                    "on some split it is not rank X_S + rank X_Sᶜ − rank X",
                )


@checker
def check_tie(tie: Callable[[], Any]) -> None:
    """Exercise 1 of Lemma 4.1: a positive gap although P(X*) of rank one is not unique.

    Examples
    --------
    >>> check_tie(lambda: ([[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [0.0, 0.0]]))
    'Not yet: the gap σ_1(X*) − σ_2(X* + Z) is not positive.'
    """
    clean, noise = _two(tie(), "tie")
    clean = matrix(clean, (None, None), "X*")
    noise = matrix(noise, tuple(clean.shape), "Z")
    values = subspaces.singular_values(clean)
    second = float(values[1]) if len(values) > 1 else 0.0
    wants(float(values[0]) > 0, "X* is zero")
    # equal up to the rounding of a decomposition
    wants(
        float(values[0]) - second < 1e-12 * float(values[0]),
        "P(X*) of rank one is unique: the two largest singular values of X* differ",
    )
    gap = float(subspaces.gap(clean, clean + noise, 1))
    wants(gap > 1e-9 * float(values[0]), "the gap σ_1(X*) − σ_2(X* + Z) is not positive")


@checker
def check_pair(pair: Callable[[float], Any]) -> None:
    """Exercise 2 of Lemma 4.1: noise for which one bound beats another by any factor.

    Examples
    --------
    >>> check_pair(lambda factor: ([[1.0, 0.0]], [[0.0, 0.5]]))
    'Not yet: the better bound is not smaller by the factor asked for.'
    """
    asked = [1.5, 3.0, 20.0, 400.0]
    for factor in asked:
        clean, noise = _two(pair(factor), "pair")
        clean = matrix(clean, (None, None), "X*")
        noise = matrix(noise, tuple(clean.shape), "Z")
        step = preservation.sin_theta(clean, noise, 1)
        s, t, a, b = (float(x) for x in (step.top, step.following, step.left, step.right))
        wants(s > t, "there is no gap: σ_1(X*) is not above σ_2(X* + Z)")
        turned = max(a, b)
        wants(turned > 1e-9 * s, "both bounds are zero, so neither is better")
        wants(
            turned / (s - t) > factor * (s * a + t * b) / (s**2 - t**2),
            "the better bound is not smaller by the factor asked for",
        )
        better = (s * a + t * b) / (s**2 - t**2)
        gain = turned / (s - t) / better if better > 0 else math.inf
        if len(asked) < 8 and gain < 1e8:  # twice what it has: one answer for all is not enough
            asked.append(2 * gain)


@checker
def check_smallest_noise(smallest_noise: Callable[[], Any]) -> None:
    """Exercise 1 of Lemma 4.2: the smallest entry that still refutes the lemma.

    Examples
    --------
    >>> check_smallest_noise(lambda: 1.0)
    'Not yet: a smaller entry refutes the lemma as well.'
    """
    t = number(smallest_noise(), "what smallest_noise returns")
    wants(t > 0, "the entry is not positive")

    def moved(entry: float) -> float:
        X = torch.tensor([[1.0, 1.0], [0.0, entry]], dtype=torch.float64)
        bases = (subspaces.principal_rows(A, 1) for A in (X, X[:1]))
        P, Q = (subspaces.projector(V) for V in bases)
        return float((P - Q).abs().max())

    # ε = 1/2, so the lemma says: below 1/8
    wants(moved(t) >= 0.125 - 1e-9, "with this entry the lemma's conclusion is true")
    wants(moved(t * (1 - 1e-6)) < 0.125, "a smaller entry refutes the lemma as well")


@checker
def check_mislead(mislead: Callable[[Tensor, np.ndarray], Any]) -> None:
    """Exercise 2 of Lemma 4.2: an invertible map after which P shows any two groups.

    Examples
    --------
    >>> check_mislead(lambda X, labels: torch.eye(len(X)))
    'Not yet: P(WX) of rank two does not show the two groups as two blocks.'
    """
    sizes: Sequence[tuple[int, int]] = ((4, 2), (6, 3), (7, 2), (9, 8))
    for trial, (n, first) in enumerate(sizes):
        draw = generator(0, trial, "exercise: mislead")
        left, right = (np.linalg.qr(draw.standard_normal((n, n)))[0] for _ in range(2))
        X = torch.from_numpy(left * draw.uniform(0.5, 2, n) @ right)
        labels = draw.permutation([0] * first + [1] * (n - first))
        W = matrix(mislead(X.clone(), labels.copy()), (n, n), "W")
        values = torch.linalg.svdvals(W)
        wants(float(values[-1]) > 1e-9 * float(values[0]), "W is not invertible")
        values = torch.linalg.svdvals(W @ X)
        wants(
            float(values[1]) > (1 + 1e-6) * float(values[2]),
            "the two leading directions of WX are not unique",
        )
        P = subspaces.projector(subspaces.principal_rows(W @ X, 2))
        found = clusters.components(P, threshold=1e-6)
        wants(
            float(clusters.accuracy(found, labels)) == 1,
            "P(WX) of rank two does not show the two groups as two blocks",
        )
