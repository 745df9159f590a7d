r"""Gradient and curvature of a ReLU autoencoder at one point, free of scale.

The loss is :math:`f(W,V)=\|X-V\sigma(WX)\|_F^2/n`, of one instance: X (m, n), W (h, m), V (m, h).
Ends of the spectrum of its Hessian by (W, V) come from Lanczos' method; a negative one proves a
direction of descent.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import log

import torch
from torch import Tensor

from lowdim.evidence.tables import short
from lowdim.linalg import curvature

__all__ = ["Steepness", "at", "log_determinant", "loss"]


def loss(X: Tensor) -> Callable[[Tensor, Tensor], Tensor]:
    """The loss of (W, V) on X (m, n), per point.

    Examples
    --------
    >>> one = torch.ones(1, 1)
    >>> loss(torch.ones(1, 5))(2 * one, one).item()
    1.0
    """
    return lambda W, V: ((V @ torch.relu(W @ X) - X) ** 2).sum() / X.shape[1]


@dataclass(frozen=True)
class Steepness:
    r"""What the loss does at a point.

    output: :math:`\|\hat X\|/\|X\|`; gradient: :math:`\|\nabla_Wf\|\|W\|/f`; least: a lower bound
    for it, from three norms; smallest, largest: eigenvalues of the Hessian by (W, V); tied: the
    gradient's size in the same units where :math:`V=W^\top`.
    """

    output: float
    gradient: float
    least: float
    smallest: float
    largest: float
    tied: float

    @property
    def cells(self) -> list[str]:
        """All but the last as cells of a table, two significant digits."""
        values = (self.output, self.gradient, self.least, self.smallest, self.largest)
        return [short(value, 2) for value in values]


def at(X: Tensor, W: Tensor, V: Tensor, *, seed: int) -> Steepness:
    """Gradient and curvature at (W, V); ``seed`` is that of Lanczos' first vector.

    Examples
    --------
    >>> one = torch.ones(1, 1, dtype=torch.float64)
    >>> found = at(one, 2 * one, 2 * one, seed=0)
    >>> [round(float(value), 6) for value in (found.output, found.smallest, found.largest)]
    [4.0, -6.0, 22.0]
    >>> round(found.gradient, 6) >= round(found.least, 6)
    True
    """
    f = loss(X)
    value, out = float(f(W, V)), (V @ torch.relu(W @ X)).norm()
    slope = curvature.gradient(f, [W, V])[: W.numel()].norm()
    least = 2 * float(out * (out - X.norm())) / X.shape[1] / value
    ends = curvature.extreme_eigenvalues(f, [W, V], end="both", tolerance=1e-2, seed=seed)

    def tied(W: Tensor) -> Tensor:
        return f(W, W.mT)

    return Steepness(
        output=float(out / X.norm()),
        gradient=float(slope * W.norm()) / value,
        least=max(0.0, least),
        smallest=float(ends.values[0]),
        largest=float(ends.values[1]),
        tied=float(curvature.gradient(tied, [W]).norm() * W.norm()) / float(tied(W)),
    )


def log_determinant(X: Tensor, V: Tensor) -> float:
    r"""Logarithm to base ten of :math:`\det(2XX^\top\otimes V^\top V)`, X (m, n) and V (m, h).

    This is the Hessian of the summed loss by W alone where all units are active.

    Examples
    --------
    >>> round(10 ** log_determinant(torch.eye(2).double(), torch.tensor([[3.0], [4.0]]).double()))
    2500
    """
    (m, _), h = X.shape, V.shape[1]
    parts = h * torch.linalg.slogdet(X @ X.mT)[1] + m * torch.linalg.slogdet(V.mT @ V)[1]
    return float(parts + h * m * log(2.0)) / log(10)
