r"""The bound on training ρ, step by step: each quantity of its proof at minima of the plain loss.

The loss is half the mean squared error, and the layer below is infinitely wide. With
:math:`\tau=\sqrt{\lambda_1/\lambda_2}`, :math:`P=(WW^\top)^{1/2}`, class means of the outputs in
the columns of I + E, their covariance M between classes and C within, the proof climbs from V(r)
to :math:`(8m+256)\,\rho\,V(r)` times the objective.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from lowdim.checks import ArrayLike
from lowdim.hashing import factored, kernels, separation

__all__ = ["Plain", "cases", "fit", "large_loss", "singular_values", "small_loss", "sums"]

KAPPA = math.sqrt(2 * math.pi)  # the norm of the constant function 1, at most
ZETA = math.sqrt(0.5)  # the length of every feature of a unit vector


class Plain(NamedTuple):
    """A minimum of the plain loss: A (m, T), representations R (T, N) in the order of classes."""

    A: Tensor
    R: Tensor
    singular: Tensor
    left: Tensor
    loss: float
    lam1: float
    lam2: float

    @property
    def objective(self) -> float:
        """The loss and both penalties, which at a minimum are one nuclear norm."""
        return self.loss + 2 * (self.lam1 * self.lam2) ** 0.5 * float(self.singular.sum())

    @property
    def variance(self) -> float:
        """The mean variance of representations within classes, V(r)."""
        R = self.R.reshape(len(self.R), len(self.A), -1)
        return float((R - R.mean(2, keepdim=True)).square().sum() / self.R.shape[1])

    @property
    def apart(self) -> float:
        """The mean squared distance of representations of different classes, ρ V(r)."""
        m = len(self.A)
        table = separation.inter(self.R.mT.reshape(m, -1, len(self.R)))
        return float(table[~torch.eye(m, dtype=torch.bool)].mean())

    @property
    def small(self) -> bool:
        """Whether √(2mL) ≤ 1/2, where the proof climbs; above it ρ ≥ 2 is enough."""
        return 2 * len(self.A) * self.loss <= 0.25


def fit(X: ArrayLike, classes: int, lam1: float, lam2: float) -> Plain:
    """The minimum on the columns X (d, N), in classes of equal size, one after the other.

    Examples
    --------
    >>> found = fit(torch.eye(4).double(), 2, 0.01, 0.01)
    >>> found.small, found.loss < found.objective
    (True, True)
    """
    K = kernels.gram(X)
    labels = torch.arange(classes).repeat_interleave(len(K) // classes)
    p = factored.problem(kernels.square_root(K), labels, lam1, lam2)
    p = replace(p, weights=torch.full_like(p.weights, 0.5 / len(K)))
    found = factored.descend(p, goal=1e-10 * (lam1 * lam2) ** 0.5)
    U, singular, _ = torch.linalg.svd(found.A @ found.B, full_matrices=False)
    loss = float(found.loss)
    return Plain(found.A, found.B @ p.features, singular, U, loss, lam1, lam2)


def cases(draws: int, rng: np.random.Generator) -> list[Plain]:
    """Minima to climb on: random points, edges, and a search for a small ρ times the objective.

    Two, three and five classes of three unit vectors, apart or close to those of other classes, and
    penalties over ten decades; equal and opposite points, one point in a class; from the random
    minimum with the smallest product, steps that make it smaller.

    Examples
    --------
    >>> found = cases(1, np.random.default_rng(0))
    >>> sorted({len(at.A) for at in found})
    [2, 3, 5]
    """

    def drawn(m: int) -> tuple[Tensor, int, list[float]]:
        X = torch.from_numpy(rng.standard_normal((4, 3 * m)))
        near = X[:, :3].repeat(1, m), X[:, :m].repeat_interleave(3, 1)
        kind = rng.integers(3)  # classes alike, points of a class alike, neither
        X = X if kind == 2 else near[kind] + 0.1 * X
        return X / X.norm(dim=0), m, (10.0 ** rng.uniform(-6, [-1.0, -1.0])).tolist()

    def product(at: Plain) -> float:
        return at.objective * at.apart / at.variance if at.variance > 1e-12 else math.inf

    given = [drawn(m) for m in (2, 3, 5) for _ in range(4 * draws)]
    found = [fit(X, m, *lam) for X, m, lam in given]
    eye = torch.eye(4, dtype=torch.float64)
    edges = [eye[:, :2], torch.cat([eye[:, :2], -eye[:, :2]], 1), eye[:, [0, 1, 1, 2]]]
    found += [fit(X, 2, lam, lam) for X in edges for lam in (1e-1, 1e-3, 1e-6)]
    low, (X, m, lam) = min(zip(map(product, found), given, strict=False), key=lambda pair: pair[0])
    for _ in range(10 * draws):
        moved = X + 0.1 * torch.from_numpy(rng.standard_normal(X.shape))
        moved, weights = (
            moved / moved.norm(dim=0),
            (np.array(lam) * np.exp(rng.normal(0, 0.5, 2))).tolist(),
        )
        found.append(fit(moved, m, *weights))
        if product(found[-1]) < low:
            low, X, lam = product(found[-1]), moved, weights
    return found


class _Outputs(NamedTuple):
    """Outputs (m, m, n) by output, class and sample; their means I + E, and covariances C and M."""

    y: Tensor
    mean: Tensor
    C: Tensor
    M: Tensor
    delta: Tensor


def _outputs(at: Plain) -> _Outputs:
    m = len(at.A)
    y = (at.A @ at.R).reshape(m, m, -1)
    mean = y.mean(2)
    centred = (y - mean[..., None]).flatten(1)
    M = (mean - mean.mean(1, keepdim=True)) @ mean.mT / m
    delta = torch.linalg.solve(mean.mT, mean.sum(0) - 1)
    return _Outputs(y, mean, centred @ centred.mT / centred.shape[1], M, delta)


def _weights(at: Plain) -> tuple[int, float, float]:
    """m, τ and μ."""
    return len(at.A), (at.lam1 / at.lam2) ** 0.5, 2 * (at.lam1 * at.lam2) ** 0.5


def _stacked(rungs: Callable[[Plain], Sequence[float]], fits: Sequence[Plain]) -> Tensor:
    return torch.tensor([rungs(at) for at in fits if at.small], dtype=torch.float64).T


def small_loss(fits: Sequence[Plain]) -> Tensor:
    """V(r) and the seven quantities that the proof puts above it, (8, instances of small loss).

    Examples
    --------
    >>> rungs = small_loss([fit(torch.eye(4).double(), 2, 0.01, 0.01)])[:, 0]
    >>> bool((rungs.diff() > -1e-9).all())
    True
    """

    def rungs(at: Plain) -> list[float]:
        (m, tau, mu), out = _weights(at), _outputs(at)
        inverse = (at.left / at.singular) @ at.left.mT  # of P
        between = tau * float((inverse * out.M).sum())
        v, n = out.mean.sum(1) / m**0.5, 1 - out.delta
        along = 2 * tau / m * float(v @ inverse @ v)
        first, constant = 16 * m * at.loss * between, 16 * m + 288 * KAPPA * ZETA
        return [
            at.variance,
            tau * float((inverse * out.C).sum()),
            first + along * float(n @ out.C @ n),
            first + along * 4 * m**0.5 * mu * KAPPA,
            first + tau * 36 * mu * KAPPA * ZETA,
            constant * at.objective * between,
            constant * at.objective * (m - 1) / (2 * m) * (at.apart - 2 * at.variance),
            (8 * m + 256) * at.objective * at.apart,
        ]

    return _stacked(rungs, fits)


def sums(fits: Sequence[Plain]) -> Tensor:
    """The variance of nᵀŷ and the three quantities above it, (4, instances of small loss).

    Examples
    --------
    >>> rungs = sums([fit(torch.eye(4).double(), 2, 0.01, 0.01)])[:, 0]
    >>> bool((rungs.diff() > -1e-9).all())
    True
    """

    def rungs(at: Plain) -> list[float]:
        (m, _, mu), out = _weights(at), _outputs(at)
        n = 1 - out.delta
        off = float(((1 - out.y.sum(0)) ** 2).mean())
        split = 2 * float(out.C.sum()) + 4 * at.loss * float(out.delta @ out.delta)
        return [float(n @ out.C @ n), split, 2 * off, 4 * m**0.5 * mu * KAPPA]

    return _stacked(rungs, fits)


def singular_values(fits: Sequence[Plain]) -> Tensor:
    """Bounds of the singular values of W and these, times ζ, (6, instances of small loss).

    Examples
    --------
    >>> rungs = singular_values([fit(torch.eye(4).double(), 2, 0.01, 0.01)])[:, 0]
    >>> bool((rungs.diff() > -1e-9).all())
    True
    """

    def rungs(at: Plain) -> list[float]:
        (m, _, mu), out = _weights(at), _outputs(at)
        rms = (at.left.mT @ out.mean).square().mean(1).sqrt()
        ends = at.singular.min().item(), at.singular.max().item(), at.singular.sum().item()
        return [0.5 / m**0.5, rms.min().item(), *(ZETA * x for x in ends), ZETA * at.objective / mu]

    return _stacked(rungs, fits)


def large_loss(fits: Sequence[Plain]) -> Tensor:
    """V(r)/(8m + 256) and the four quantities above it, (5, instances of a loss not small).

    Minima where W is zero are left out.

    Examples
    --------
    >>> rungs = large_loss([fit(torch.eye(4).double(), 2, 0.1, 0.1)])[:, 0]
    >>> bool((rungs.diff() > -1e-9).all())
    True
    """
    rows = []
    for at in (at for at in fits if not at.small and at.apart > 1e-12):
        m, V = len(at.A), at.variance
        ends = at.apart * at.loss, at.apart * at.objective
        rows.append([V / (8 * m + 256), V / (4 * m), 2 * V * at.loss, *ends])
    return torch.tensor(rows, dtype=torch.float64).T
