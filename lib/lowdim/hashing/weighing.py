"""Minima beside ground truths: what the weight of a penalty does to the term that it weighs.

A case is a set of features Z (m, n, D) with a ground truth on them, of which loss, ‖B*‖² and V_reg
are known and ‖A*‖² = m. See :mod:`lowdim.hashing.threelayer` for the objectives.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from lowdim.hashing import factored, threelayer

__all__ = ["Case", "cross_features", "minimum", "random_cases", "ratios", "rungs"]


class Case(NamedTuple):
    """Features Z (m, n, D), and a ground truth's loss, ‖B*‖² and V_reg; its ‖A*‖² is m."""

    Z: Tensor
    loss: float
    size: float
    variance: float


def random_cases(
    count: int, rng: np.random.Generator, *, m: int = 3, n: int = 3, width: int = 5
) -> list[Case]:
    """Random features, each with a ground truth that was found at a random weight.

    Examples
    --------
    >>> (case,) = random_cases(1, np.random.default_rng(0))
    >>> tuple(case.Z.shape), case.variance > 0
    ((3, 3, 5), True)
    """
    cases = []
    for _ in range(count):
        Z = torch.from_numpy(np.abs(rng.standard_normal((m, n, width))))
        flat, labels = factored.columns(Z)
        rough = float(np.exp(rng.uniform(-6, 0)))
        p = threelayer.objective(Z, rough, 10.0, penalty="own")
        start = factored.convex(p, goal=1e-6)
        B = start.B / (m / start.A.square().sum()).sqrt()  # so that ‖A*‖² = m
        V = float(factored.within_variance(B @ flat, labels, unbiased=True))
        cases.append(Case(Z, float(start.loss), float(B.square().sum()), V))
    return cases


def minimum(case: Case, penalty: str) -> factored.Minimum:
    """The minimum of the objective whose weights a case's ground truth gives.

    Examples
    --------
    >>> (case,) = random_cases(1, np.random.default_rng(0))
    >>> bool(minimum(case, "own").value <= 4 * case.loss)
    True
    """
    p = threelayer.objective(case.Z, case.loss, case.size, penalty=penalty, allowed=case.variance)
    return factored.convex(p, goal=1e-9)


def ratios(case: Case, found: factored.Minimum) -> list[float]:
    """L/ε, ‖A‖²/m, ‖B‖²/β² and V/v of a minimum against its ground truth.

    Examples
    --------
    >>> (case,) = random_cases(1, np.random.default_rng(0))
    >>> sum(ratios(case, minimum(case, "own"))) <= 4
    True
    """
    flat, labels = factored.columns(case.Z)
    V = factored.within_variance(found.B @ flat, labels, unbiased=True)
    A, B = found.A.square().sum() / len(case.Z), found.B.square().sum() / case.size
    return [float(v) for v in (found.loss / case.loss, A, B, V / case.variance)]


def rungs(found: factored.Minimum, n: int) -> list[float]:
    """V_reg at a stationary point with n points a class, and what bounds it, step by step.

    In coordinates where AᵀA = diag(a_i²) and V_i is the variance along the i-th: Σ V_i,
    √(λ₁/λ₂) Σ a_i √V_i, √(λ₁/λ₂) √(r Σ a_i² V_i), √(λ₁/λ₂) √(2r(m-1)n/(n-1) L).

    Raises
    ------
    ValueError
        If the objective has no variance penalty.

    Examples
    --------
    >>> (case,) = random_cases(1, np.random.default_rng(0))
    >>> steps = rungs(minimum(case, "printed"), 3)
    >>> all(a <= b * (1 + 1e-5) for a, b in zip(steps, steps[1:], strict=False))
    True
    """
    p = found.problem
    _, last = threelayer.stationary_variance(found, n)
    values, R = torch.linalg.eigh(found.A.mT @ found.A)
    V = (R.mT @ found.B @ p.spread).square().sum(1)
    a2, scale = values.clamp_min(0), (p.lam1 / p.lam2) ** 0.5
    rank = int((a2 > 1e-18).sum())
    second, third = scale * (a2 * V).sqrt().sum(), scale * (rank * (a2 * V).sum()).sqrt()
    return [float(v) for v in (V.sum(), second, third, last)]


def cross_features(t: float, eta: float) -> Tensor:
    """Features (2, 2, 4): (η, 0, 1 ± t, 0) on the first manifold, (0, η, 0, 1 ± t) on the second.

    Examples
    --------
    >>> cross_features(0.5, 0.1)[1].tolist()
    [[0.0, 0.1, 0.0, 1.5], [0.0, 0.1, 0.0, 0.5]]
    """
    Z = torch.zeros(2, 2, 4, dtype=torch.float64)
    for k in range(2):
        Z[k, :, k], Z[k, :, 2 + k] = eta, torch.tensor([1 + t, 1 - t], dtype=torch.float64)
    return Z
