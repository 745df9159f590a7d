"""Part IV's network on Part IV's data: features of points, its objectives, how well r = Bz hashes.

Points are X (m, n, d), m manifolds with n points each; features Z (m, n, D) are z = σ(C x') with
x' = (x/√2, 1/√2). See :mod:`lowdim.hashing.factored` for the network above them.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from lowdim import checks
from lowdim.hashing import factored, kernels, separation

PENALTIES = ("none", "printed", "own")


def features(X: Tensor, C: Tensor) -> Tensor:
    """ReLU features (m, n, D) of X (m, n, d) under a layer C (D, d + 1), with the bias appended.

    Raises
    ------
    ValueError
        If C does not have d + 1 columns.

    Examples
    --------
    >>> X = torch.tensor([[[0.6, 0.8], [1.0, 0.0]]], dtype=torch.float64)
    >>> C = kernels.random_layer(4000, 3, seed=0)
    >>> abs(float(features(X, C)[0, 0].square().sum()) - 0.5) < 0.05
    True
    """
    X = checks.matrices(X, "X")
    if X.ndim != 3 or C.shape[-1] != X.shape[-1] + 1:
        raise ValueError(
            f"X must be (m, n, d) and C (D, d + 1); their shapes are {tuple(X.shape)} and "
            f"{tuple(C.shape)}."
        )
    flat = kernels.with_bias(X.flatten(0, 1).mT).mT
    return (flat @ C.mT).clamp_min(0).unflatten(0, X.shape[:2])


def objective(
    Z: Tensor, epsilon: float, size: float, *, penalty: str = "printed", allowed: float = 1.0
) -> factored.Problem:
    """The paper's objective on features Z (m, n, D) with λ₁ = ε/m and λ₂ = ε/size.

    ``size`` is the bound on ‖B*‖² of a ground truth. The variance penalty is absent (``"none"``),
    weighs as much as ‖B‖² (``"printed"``, the paper's (6)), or has the weight ε/``allowed`` of its
    own (``"own"``), where ``allowed`` bounds the ground truth's V_reg.

    Raises
    ------
    ValueError
        If a number is not positive or the penalty unknown.

    Examples
    --------
    >>> p = objective(torch.rand(2, 3, 4).double(), 0.1, 100.0)
    >>> p.lam1, p.lam2
    (0.05, 0.001)
    """
    checks.choice(penalty, PENALTIES, "penalty")
    if not min(epsilon, size, allowed) > 0:
        raise ValueError(
            f"epsilon, size and allowed must be above 0; you gave {epsilon}, {size} and {allowed}."
        )
    lam2 = epsilon / size
    weight = {"none": 0.0, "printed": 1.0, "own": epsilon / allowed / lam2}[penalty]
    flat, labels = factored.columns(Z)
    return factored.problem(flat, labels, epsilon / len(Z), lam2, variance=weight)


@dataclass(frozen=True)
class Hashing:
    """How well r = Bz hashes: mean variance, mean squared distance, ρ on average and at worst."""

    variance: float
    distance: float
    mean: float
    worst: float


def measure(B: Tensor, Z: Tensor) -> Hashing:
    """The measures of :class:`Hashing` for B (T, D) on features Z (m, n, D), with n - 1.

    Examples
    --------
    >>> Z = torch.tensor([[[0.0], [2.0]], [[5.0], [7.0]]], dtype=torch.float64)
    >>> measure(torch.ones(1, 1).double(), Z)
    Hashing(variance=2.0, distance=27.0, mean=13.5, worst=13.5)
    """
    R = Z @ B.mT
    table = separation.inter(R)
    different = ~torch.eye(len(R), dtype=torch.bool)
    inside = separation.intra(R, unbiased=True)
    outside = table[different]
    return Hashing(
        float(inside.mean()),
        float(outside.mean()),
        float(outside.mean() / inside.mean()),
        float(outside.min() / inside.max()),
    )


def stationary_variance(found: factored.Minimum, n: int) -> tuple[Tensor, Tensor]:
    """V_reg at a stationary point, and √(λ₁/λ₂) √(2 r (m-1) n/(n-1) L), which bounds it.

    ``found`` is a single minimum of an objective with a variance penalty; r is the rank of A.

    Raises
    ------
    ValueError
        If the objective has no variance penalty.

    Examples
    --------
    >>> Z = torch.rand(3, 4, 5, generator=torch.manual_seed(0)).double()
    >>> left, right = stationary_variance(factored.convex(objective(Z, 0.1, 10.0)), 4)
    >>> bool(left <= right)
    True
    """
    p = found.problem
    if p.spread is None:
        raise ValueError("this objective has no variance penalty.")
    labels = p.targets.argmax(0)
    variance = factored.within_variance(found.B @ p.features, labels, unbiased=True)
    m = len(p.targets)
    rank = (torch.linalg.svdvals(found.A) > 1e-9).sum()
    loss = 2 * rank * (m - 1) * n / (n - 1) * found.loss
    return variance, (p.lam1 / p.lam2) ** 0.5 * loss.sqrt()
