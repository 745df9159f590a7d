r"""Ridge regression on all points and on the centroids of their clusters, side by side.

With :math:`D_x=(X-\bar X)/\sqrt N` and :math:`D_y=(Y-\bar Y)/\sqrt N`, what is left within the
parts of a partition, cross terms vanish:
:math:`\frac1NXX^\top=\frac1N\bar X\bar X^\top+D_xD_x^\top`, and likewise for
:math:`YX^\top`. The distance of the two minimizers is made of these.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from lowdim import checks
from lowdim.collapse import linear
from lowdim.linalg import ranks

__all__ = ["Ridges", "clouds", "instance", "nearest_derivative", "two_points"]


@dataclass(frozen=True)
class Ridges:
    r"""Both minimizers, for instances X (T, d, N), Y (T, c, N), and what their distance is made of.

    d, lam: the dimension and λ (T,); tcv: (T,) the total cluster variation of the joint points,
    over all partitions; full, centre: (T, c, d) the minimizers on points and on centroids; Dx, Dy:
    (T, d, N) and (T, c, N); B, Bc: (T, d, d) second moments of points and of centroids plus λ;
    Ac: (T, c, d) the mixed moment of the centroids; Xc, Yc: the centroids over √N.

    Examples
    --------
    >>> pair = Ridges.of(instance([[1.0, -1.0]], [[2.0, -2.0]], 1.0, 1))
    >>> [round(v.item(), 9) for v in (pair.distance, pair.tcv, pair.wx, pair.wy)]
    [1.0, 5.0, 1.0, 4.0]
    """

    d: int
    lam: Tensor
    tcv: Tensor
    full: Tensor
    centre: Tensor
    Dx: Tensor
    Dy: Tensor
    B: Tensor
    Bc: Tensor
    Ac: Tensor
    Xc: Tensor
    Yc: Tensor

    @classmethod
    def of(cls, case: Mapping[str, Tensor]) -> Ridges:
        """From a case with X, Y, lam and K (T,), the same K in all; all partitions are tried."""
        X, Y, lam = case["X"], case["Y"], case["lam"]
        tcv, labels = linear.optimal_partition(torch.cat([X, Y], 1), int(case["K"][0]))
        Xc, Yc = (ranks.spread_centroids(A, labels) for A in (X, Y))
        n, d = X.shape[-1], X.shape[-2]
        eye = torch.eye(d, dtype=X.dtype)
        return cls(
            d=d,
            lam=lam,
            tcv=tcv,
            full=linear.ridge(X, Y, lam),
            centre=linear.ridge(Xc, Yc, lam),
            Dx=(X - Xc) / n**0.5,
            Dy=(Y - Yc) / n**0.5,
            B=X @ X.mT / n + lam[:, None, None] * eye,
            Bc=Xc @ Xc.mT / n + lam[:, None, None] * eye,
            Ac=Yc @ Xc.mT / n,
            Xc=Xc / n**0.5,
            Yc=Yc / n**0.5,
        )

    @property
    def distance(self) -> Tensor:
        """(T,) the Frobenius norm of the difference of the minimizers."""
        return torch.linalg.matrix_norm(self.full - self.centre)

    @property
    def m(self) -> Tensor:
        """(T,) the spectral norm of the minimizer on centroids."""
        return torch.linalg.matrix_norm(self.centre, 2)

    @property
    def wx(self) -> Tensor:
        """(T,) the variation of the inputs within parts."""
        return torch.linalg.matrix_norm(self.Dx) ** 2

    @property
    def wy(self) -> Tensor:
        """(T,) the variation of the targets within parts."""
        return torch.linalg.matrix_norm(self.Dy) ** 2


def clouds(
    count: int, rng: np.random.Generator, *, d: int = 3, c: int = 2, n: int = 7, K: int = 2
) -> dict[str, Tensor]:
    """Cases X (count, d, n), Y (count, c, n), lam, K: points about K centres.

    Sizes of the centres, spreads about them and lam go over several decades.

    Examples
    --------
    >>> case = clouds(5, np.random.default_rng(0), n=4)
    >>> case["X"].shape, case["Y"].shape, case["lam"].shape
    (torch.Size([5, 3, 4]), torch.Size([5, 2, 4]), torch.Size([5]))
    """

    def normal(*shape: int) -> Tensor:
        return torch.from_numpy(rng.standard_normal((count, *shape)))

    def scale(low: float, high: float) -> Tensor:
        return torch.from_numpy(10 ** rng.uniform(low, high, (count, 1, 1)))

    at = torch.from_numpy(rng.integers(0, K, n))
    X = scale(-1, 1) * normal(d, K)[..., at] + scale(-3, 0.5) * normal(d, n)
    Y = scale(-1, 1) * normal(c, K)[..., at] + scale(-3, 0.5) * normal(c, n)
    return {"X": X, "Y": Y, "lam": scale(-2, 1).flatten(), "K": torch.full((count,), K)}


def instance(X: object, Y: object, lam: float, K: int) -> dict[str, Tensor]:
    """The case with this one instance, X (d, N), Y (c, N).

    Raises
    ------
    ValueError
        If ``K`` is not a whole number of 1 or more.

    Examples
    --------
    >>> instance([[1.0, 2.0]], [[3.0, 5.0]], 1.0, 2)["X"].shape
    torch.Size([1, 1, 2])
    """
    checks.whole(K, "K", 1)
    one = {name: torch.tensor([v], dtype=torch.float64) for name, v in (("X", X), ("Y", Y))}
    return {**one, "lam": torch.tensor([lam], dtype=torch.float64), "K": torch.tensor([K])}


def two_points(z: Tensor) -> dict[str, Tensor]:
    """Cases of one input, one output and one part of two points, from any z (T, 5).

    The logarithms of a, b, u, v and lam: inputs a ± u, targets -b ± v, signs together.

    Examples
    --------
    >>> two_points(torch.zeros(1, 5).double())["Y"].tolist()
    [[[0.0, -2.0]]]
    """
    a, b, u, v = (z[:, i].exp() for i in range(4))

    def pair(mid: Tensor, off: Tensor) -> Tensor:
        return torch.stack([mid + off, mid - off], -1)[:, None]

    lam = z[:, 4].exp()
    return {"X": pair(a, u), "Y": pair(-b, v), "lam": lam, "K": torch.ones(len(lam))}


def nearest_derivative(pair: Ridges, *, rounds: int = 9) -> tuple[Tensor, Tensor]:
    r"""What a mean value theorem for inverses would need, as well as any t in [0, 1] can give it.

    The difference :math:`B^{-1}-\bar B^{-1}` and, of all :math:`-A^{-1}HA^{-1}` with
    :math:`A=\bar B+tH`, :math:`H=B-\bar B`, the nearest to it; both (T, d, d). A grid in t, then
    ``rounds`` ever finer grids about the best point, so that the grid is not what misses.

    Examples
    --------
    >>> pair = Ridges.of(instance([[1.0, -1.0]], [[2.0, -2.0]], 1.0, 1))
    >>> gap, nearest = nearest_derivative(pair)  # one dimension: there is such a t
    >>> round(gap.item(), 9), round(nearest.item(), 9)
    (-0.5, -0.5)
    """
    H, inverse = pair.Dx @ pair.Dx.mT, torch.linalg.inv
    gap = inverse(pair.B) - inverse(pair.Bc)
    half, offsets = 0.5, torch.linspace(-1, 1, 101).double()
    middle = torch.full((len(gap),), 0.5).double()
    best, least = torch.zeros_like(gap), torch.full((len(gap),), torch.inf).double()
    for _ in range(rounds):
        centre = middle
        for step in half * offsets:
            t = (centre + step).clamp(0, 1)
            F = inverse(pair.Bc + t[:, None, None] * H)
            miss = torch.linalg.matrix_norm(gap + F @ H @ F)
            closer = miss < least
            best = torch.where(closer[:, None, None], -F @ H @ F, best)
            middle = torch.where(closer, t, middle)
            least = torch.minimum(least, miss)
        half /= 25
    return gap, best
