r"""Clean data with noise of the size that a gap condition just allows; pairs that attain a bound.

A case has ``clean`` (B, m, n), ``Z`` (B, m, n) and ``rank`` (B,), as the attacks on Lemma 4.1 take
them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from sympy import Expr, Matrix, sqrt
from torch import Tensor

from lowdim.data import unions
from lowdim.evidence.attacks import Case
from lowdim.linalg import clusters, subspaces
from lowdim.preserve import preservation

__all__ = [
    "Moved", "Pairs", "cloud", "epsilon", "exact_mirror", "mirror", "single", "turned", "within",
]  # fmt: skip


def epsilon(clean: Tensor, rank: int, *, zero: float = 1e-12) -> Tensor:
    """The ε of Part I (...): the smallest entry of P(X*) on its support, for ``clean`` (..., m, n).

    Entries up to ``zero`` are off the support.

    Examples
    --------
    >>> round(epsilon(torch.tensor([[1.0, 2.0]], dtype=torch.float64), 1).item(), 9)
    0.2
    """
    V = subspaces.principal_rows(clean, rank, method="svd")
    return clusters.smallest_on_support(V @ V.mT, zero=zero)


def within(
    clean: Tensor, Z: Tensor, rank: int, *, factor: float, slack: Tensor
) -> dict[str, Tensor]:
    """The case with Z (B, m, n) scaled until δ₁ is ``slack`` (B,) times ``factor`` ‖Z‖/ε, or more.

    By Weyl δ₁ is at least σ_r(X*) − ‖Z‖, which is made that large.

    Examples
    --------
    >>> X = torch.tensor([[[3.0, 4.0]]], dtype=torch.float64)
    >>> case = within(X, torch.ones_like(X), 1, factor=8.0, slack=torch.ones(1))
    >>> step = preservation.sin_theta(X, case["Z"], 1)
    >>> bool((step.gap >= 8 * step.spectral / epsilon(X, 1)).all())
    True
    """
    eps = epsilon(clean, rank)
    s = subspaces.singular_values(clean)[..., rank - 1]
    size = s * eps / (factor * slack + eps)
    Z = Z * (size / torch.linalg.matrix_norm(Z, 2))[..., None, None]
    return {"clean": clean, "Z": Z, "rank": torch.full((len(Z),), float(rank))}


@dataclass(frozen=True)
class Pairs:
    """Pairs of clean data on a union of subspaces of dimensions ``dims`` in R^m, and noise.

    rows: m; sizes: points of each cluster.
    """

    rows: int
    dims: Sequence[int]
    sizes: Sequence[int]

    @property
    def rank(self) -> int:
        """The rank r of the clean data."""
        return sum(self.dims)

    def draw(self, count: int, *, seed: int, variance: float) -> tuple[Tensor, Tensor]:
        """Clean data and Gaussian noise of a variance, both (count, m, n).

        Examples
        --------
        >>> clean, Z = Pairs(5, (1, 2), (3, 4)).draw(2, seed=0, variance=0.1)
        >>> clean.shape == Z.shape == (2, 5, 7)
        True
        """
        D = unions.union_of_subspaces(
            trials=count,
            ambient=self.rows,
            dims=self.dims,
            sizes=self.sizes,
            noise=variance,
            seed=seed,
        )
        return D.clean, D.noise

    def allowed(self, factor: float) -> Callable[[int, np.random.Generator], Case]:
        """Draws cases with δ₁ at least one to two times ``factor`` ‖Z‖/ε, and hardly more.

        Examples
        --------
        >>> case = Pairs(5, (1, 1), (3, 4)).allowed(8.0)(6, np.random.default_rng(0))
        >>> step = preservation.sin_theta(case["clean"], case["Z"], 2)
        >>> bool((step.gap >= 8 * step.spectral / epsilon(case["clean"], 2)).all())
        True
        """

        def draw(count: int, rng: np.random.Generator) -> dict[str, Tensor]:
            clean, _ = self.draw(count, seed=int(rng.integers(2**31)), variance=0.0)
            Z = torch.from_numpy(rng.standard_normal(clean.shape))
            slack = torch.from_numpy(rng.uniform(1.0, 2.0, count))
            return within(clean, Z, self.rank, factor=factor, slack=slack)

        return draw


@dataclass(frozen=True)
class Moved:
    """How far the largest entry moves (k,), ‖Z‖/δ₁ (k,), the median ε of the clean data, and r."""

    largest: Tensor
    ratio: Tensor
    epsilon: float
    rank: int


def cloud(pairs: Pairs | None = None, *, count: int = 400, seed: int = 0) -> Moved:
    """Noise of deviation from 10^-7 to 10^-0.8 on ``pairs``, where δ₁ > 0.

    Without ``pairs``: two planes in R^20 with 12 points each.

    Examples
    --------
    >>> seen = cloud(count=20)
    >>> bool((seen.largest <= seen.ratio).all())
    True
    """
    pairs = Pairs(20, (2, 2), (12, 12)) if pairs is None else pairs
    clean, Z = pairs.draw(count, seed=seed, variance=1.0)
    size = torch.logspace(-7, -0.8, count, dtype=torch.float64)
    step = preservation.sin_theta(clean, size[:, None, None] * Z, pairs.rank)
    keep = step.gap > 0
    V = subspaces.principal_rows(clean, pairs.rank)
    smallest = clusters.smallest_on_support(subspaces.projector(V)).median()
    ratio = (step.spectral / step.gap)[keep]
    return Moved(step.largest_entry[keep], ratio, smallest.item(), pairs.rank)


def single(
    clean: Sequence[Sequence[float]], Z: Sequence[Sequence[float]], *, rank: int = 1
) -> dict[str, Tensor]:
    """One pair as a case, from rows of numbers.

    Examples
    --------
    >>> single([[3.0, 4.0]], [[0.0, 0.0]])["clean"].shape
    torch.Size([1, 1, 2])
    """
    X, noise = (torch.as_tensor(np.array(A, dtype=float))[None] for A in (clean, Z))
    return {"clean": X, "Z": noise, "rank": torch.tensor([float(rank)])}


def mirror(p: float, q: float) -> dict[str, Tensor]:
    """X* = (p, q) and X its projection onto (q, p), as a case: equality in the sharp Lemma 4.1.

    Examples
    --------
    >>> (mirror(1.0, 2.0)["clean"] + mirror(1.0, 2.0)["Z"]).tolist()
    [[[1.6, 0.8]]]
    """
    factor = 2 * p * q / (p * p + q * q)
    return single([[p, q]], [[factor * q - p, factor * p - q]])


def exact_mirror(p: int, q: int) -> tuple[Expr, Expr, Expr]:
    """ε, the largest entry moved and ‖Z‖/δ₁ of the pair of :func:`mirror`, exactly.

    Examples
    --------
    >>> exact_mirror(1, 2)
    (1/5, 3/5, 3/5)
    """

    def projector(row: Matrix) -> Matrix:
        return (row.T * row) / (row * row.T)[0]

    clean = Matrix([[p, q]])
    X = clean * projector(Matrix([[q, p]]))
    Z = X - clean
    largest = max(abs(entry) for entry in projector(X) - projector(clean))
    ratio = sqrt((Z * Z.T)[0] / (clean * clean.T)[0])
    return min(projector(clean)), largest, ratio


def turned(points: int, sine: float) -> tuple[Tensor, Tensor]:
    """X* = (1, …, 1) and noise (1, points) that turns its row space towards the first point.

    ``sine`` is that of the angle, and ‖Z‖/δ₁.

    Examples
    --------
    >>> clean, Z = turned(4, 0.1)
    >>> round(preservation.sin_theta(clean, Z, 1).sines.item(), 9)
    0.1
    """
    star = torch.full((points, 1), points**-0.5, dtype=torch.float64)
    away = torch.eye(points, dtype=torch.float64)[:, :1] - star * star[0]
    basis = (1 - sine**2) ** 0.5 * star + sine * away / away.norm()
    clean = points**0.5 * star.T
    return clean, clean @ basis @ basis.T - clean
