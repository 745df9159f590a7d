r"""Ridge regression and the same under a bound on the rank: how far apart the two minimizers are.

With :math:`G=XX^\top+N\lambda I` and :math:`Q=YX^\top G^{-1/2}` the minimizers of
:math:`\frac1N\|Y-\Theta X\|^2+\lambda\|\Theta\|^2` are :math:`QG^{-1/2}` and, among matrices of
rank at most K, :math:`Q_KG^{-1/2}`. The truncation keeps what the inputs show best, which need not
be what the labels need most: :func:`cross` and :func:`against_scale` are built on that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from lowdim.collapse import linear
from lowdim.linalg import ranks

__all__ = [
    "Minimizers", "against_scale", "cross", "drop_strong", "instances", "just_above", "tail",
]  # fmt: skip


def tail(A: Tensor, K: int) -> Tensor:
    """The sum (...) of the squared singular values of A (..., m, n) beyond the first K.

    Examples
    --------
    >>> round(tail(torch.diag(torch.tensor([9.0, 4.0, 3.0])), 1).item(), 4)
    25.0
    """
    return ranks.rank_distance(A, K) ** 2


@dataclass
class Minimizers:
    """The minimizers with and without the bound on rank, for X (T, d, N), Y (T, c, N), lam (T,).

    Examples
    --------
    >>> pair = Minimizers.of(cross(5.0, 1.0, 1.0, 1.0, 1.0))
    >>> round(pair.gap.item(), 12), round(pair.tcv.item(), 12)
    (0.25, 1.0)
    """

    X: Tensor
    Y: Tensor
    lam: Tensor
    K: int

    @classmethod
    def of(cls, case: Mapping[str, Tensor]) -> Minimizers:
        """From a case with X, Y, lam and K (T,), the same K in all."""
        return cls(case["X"], case["Y"], case["lam"], int(case["K"][0]))

    @property
    def sizes(self) -> tuple[int, int, int]:
        """c, d and N."""
        return self.Y.shape[-2], *self.X.shape[-2:]

    @cached_property
    def _whitened(self) -> tuple[Tensor, Tensor]:
        return linear.whitened(self.X, self.Y, self.lam)

    @property
    def Q(self) -> Tensor:
        """Y Xᵀ G^(-1/2), (T, c, d)."""
        return self._whitened[0]

    @property
    def half(self) -> Tensor:
        """G^(-1/2), (T, d, d)."""
        return self._whitened[1]

    @cached_property
    def free(self) -> Tensor:
        """The minimizer without a bound, (T, c, d)."""
        return linear.ridge(self.X, self.Y, self.lam)

    @cached_property
    def gap(self) -> Tensor:
        """The squared distance (T,) of the two minimizers."""
        low = linear.constrained(self.X, self.Y, self.lam, self.K)
        return torch.linalg.matrix_norm(self.free - low) ** 2

    @cached_property
    def tcv(self) -> Tensor:
        """The total cluster variation (T,) of the labels in at most K parts; all are tried."""
        with torch.no_grad():
            _, labels = linear.optimal_partition(self.Y, self.K)
        off = self.Y - ranks.spread_centroids(self.Y, labels)
        return off.square().sum((-2, -1)) / self.X.shape[-1]

    def overlap(self) -> tuple[Tensor, Tensor]:
        """‖(S_Y - S_K) V_YᵀV_X‖² and ‖V_YᵀV_X‖² (T,), from X_λ = [X, √(Nλ) I] and Y_λ = [Y, 0].

        Decompositions are reduced, so that V_YᵀV_X has min(c, N + d) rows and d columns.
        """
        c, d, n = self.sizes
        eye = (n * self.lam).sqrt()[:, None, None] * torch.eye(d, dtype=self.X.dtype)
        Xl = torch.cat([self.X, eye], -1)
        Yl = torch.cat([self.Y, torch.zeros(len(eye), c, d, dtype=eye.dtype)], -1)
        Vx = torch.linalg.svd(Xl, full_matrices=False).Vh.mT
        _, s, Vy = torch.linalg.svd(Yl, full_matrices=False)
        s = torch.where(torch.arange(s.shape[-1]) >= self.K, s, 0.0)
        norm = torch.linalg.matrix_norm
        return norm(s[..., None] * (Vy @ Vx)) ** 2, norm(Vy @ Vx) ** 2


def instances(
    count: int, rng: np.random.Generator, *, c: int, d: int, n: int, K: int
) -> dict[str, Tensor]:
    """Inputs X (count, d, n) of any conditioning, labels Y (count, c, n) about K centres, lam, K.

    Scales of the inputs, of the centres, of the spread about them and lam go over decades.

    Examples
    --------
    >>> case = instances(5, np.random.default_rng(0), c=2, d=3, n=6, K=2)
    >>> case["X"].shape, case["Y"].shape, case["lam"].shape
    (torch.Size([5, 3, 6]), torch.Size([5, 2, 6]), torch.Size([5]))
    """

    def normal(*shape: int) -> Tensor:
        return torch.from_numpy(rng.standard_normal((count, *shape)))

    def scale(low: float, high: float, *shape: int) -> Tensor:
        return torch.from_numpy(10 ** rng.uniform(low, high, (count, *shape)))

    at = torch.from_numpy(rng.integers(0, K, n))
    X = scale(-1.5, 1.5, d, 1) * normal(d, n)
    Y = scale(-1, 1, c, 1) * normal(c, K)[..., at] + scale(-2, 0.5, 1, 1) * normal(c, n)
    return {"X": X, "Y": Y, "lam": scale(-2, 1), "K": torch.full((count,), K)}


def cross(a: object, b: object, x1: object, x2: object, lam: object) -> dict[str, Tensor]:
    """Labels (a, ±b) and inputs with the rows x1 (1, 1) and x2 (1, -1), K = 1; each (T,) or alone.

    Examples
    --------
    >>> cross(5.0, 1.0, 2.0, 3.0, 1.0)["X"]
    tensor([[[ 2.,  2.],
             [ 3., -3.]]], dtype=torch.float64)
    """
    values = (torch.as_tensor(v, dtype=torch.float64).reshape(-1) for v in (a, b, x1, x2, lam))
    a, b, x1, x2, lam = values

    def rows(u: Tensor, v: Tensor) -> Tensor:
        return torch.stack([torch.stack([u, u], -1), torch.stack([v, -v], -1)], -2)

    return {"X": rows(x1, x2), "Y": rows(a, b), "lam": lam, "K": torch.ones(len(lam))}


def drop_strong(z: Tensor) -> dict[str, Tensor]:
    """:func:`cross` with any z (T, 5), such that the truncation drops the label direction a.

    The logarithms of b, x1, x2 and lam, then how near the two singular values of Q are to a tie.

    Examples
    --------
    >>> pair = Minimizers.of(drop_strong(torch.zeros(1, 5).double()))
    >>> int(pair.Q[0].diagonal().argmax())
    1
    """
    b, x1, x2, lam = (z[:, i].exp() for i in range(4))
    c1, c2 = (x / (x**2 + lam).sqrt() for x in (x1, x2))
    share = torch.sigmoid(z[:, 4]) * 0.9999
    return cross(share * b * c2 / c1, b, x1, x2, lam)


def against_scale(
    scales: Sequence[float], *, hide: bool, size: int = 12, strong: float = 100.0, lam: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """Squared distances over Σ_{j>K} σ_j(Y)²/(N lam): to the constrained minimizer, to rank K.

    Diagonal problems of N = c = d = ``size``, K half of it: as many labels of size ``strong`` as of
    size one. Inputs have the given scale; with ``hide`` those of the strong labels are so small
    that Q shows them at 0.99 of the weak ones. Both results (len(scales),).

    Examples
    --------
    >>> same, nearest = against_scale([1.0], hide=False)
    >>> round(float(same[0]), 9), round(float(nearest[0]), 9)
    (0.25, 0.25)
    """
    K, first = size // 2, torch.arange(size) < size // 2
    Y = size**0.5 * torch.diag(torch.where(first, strong, 1.0).double())
    limit = tail(Y, K) / (size * lam)
    found = []
    for s in map(float, scales):
        x = torch.full((size,), s, dtype=torch.float64)
        if hide:
            shown = 0.99 * s / (s**2 + lam) ** 0.5 / strong
            x = torch.where(first, shown * (lam / (1 - shown**2)) ** 0.5, x)
        pair = Minimizers(size**0.5 * torch.diag(x), Y, torch.tensor(lam).double(), K)
        found.append([float(pair.gap / limit), float(tail(pair.free, K) / limit)])
    gaps, nearest = np.array(found).T
    return gaps, nearest


def just_above(
    X: Tensor, Y: Tensor, lam: float, K: int, steps: Sequence[float]
) -> list[tuple[int, float]]:
    """Matrices of rank K near the free minimizer, for X (d, N), Y (c, N): their rank, excess loss.

    The K largest singular values are raised to at least each of ``steps``, the others dropped.

    Examples
    --------
    >>> just_above(torch.eye(2).double(), torch.zeros(2, 2).double(), 0.5, 1, [0.1])
    [(1, 0.010000000000000002)]
    """

    def loss(T: Tensor) -> Tensor:
        norm = torch.linalg.matrix_norm
        return norm(Y - T @ X) ** 2 / X.shape[-1] + lam * norm(T) ** 2

    free = linear.ridge(X, Y, lam)
    U, s, Vh = torch.linalg.svd(free, full_matrices=False)
    found = []
    for e in steps:
        T = (U * torch.where(torch.arange(len(s)) < K, s.clamp_min(e), 0.0)) @ Vh
        rank = int(torch.linalg.matrix_rank(T, atol=e / 2))
        found.append((rank, float(loss(T) - loss(free))))
    return found
