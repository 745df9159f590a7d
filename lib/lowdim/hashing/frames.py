"""Lines that are spread evenly: few dimensions, many vectors, inner products all of one size."""

from __future__ import annotations

from math import cos, pi, sin

import torch
from torch import Tensor

from lowdim import checks
from lowdim.checks import ArrayLike

__all__ = ["best_multiple", "circle", "icosahedron", "pair", "simplex"]


def pair(vectors: ArrayLike) -> dict[str, Tensor]:
    """A case of one instance, A (1, m, T) and B (1, T, m): unit vectors along the rows given.

    Examples
    --------
    >>> case = pair([[3.0, 4.0], [0.0, 2.0]])
    >>> (case["A"] @ case["B"])[0].tolist()
    [[1.0, 0.8], [0.8, 1.0]]
    """
    v = checks.matrices(vectors, "vectors").double()
    v = v / v.norm(dim=-1, keepdim=True)
    return {"A": v[None], "B": v.mT[None]}


def best_multiple(M: Tensor) -> Tensor:
    """The multiple a M (..., m, m), a >= 0, of outputs that has the least weighted square loss.

    Output M[j, l] is for class j on class l.

    Examples
    --------
    >>> best_multiple(2 * torch.eye(3).double()).diagonal().tolist()
    [1.0, 1.0, 1.0]
    """
    m, own = M.shape[-1], M.diagonal(dim1=-2, dim2=-1)
    squares = own.square().sum(-1) * (1 - 1 / (m - 1)) + M.square().sum((-2, -1)) / (m - 1)
    return (own.sum(-1) / squares.clamp_min(1e-300)).clamp_min(0)[..., None, None] * M


def circle(m: int) -> list[list[float]]:
    """m points of the circle (m, 2) at equal angles.

    Examples
    --------
    >>> [round(x, 6) for x in circle(4)[1]]
    [0.0, 1.0]
    """
    return [[cos(2 * pi * k / m), sin(2 * pi * k / m)] for k in range(m)]


def icosahedron() -> list[list[float]]:
    """Six corners (6, 3) of the icosahedron, one of each opposite pair.

    Examples
    --------
    >>> len({round(sum(x * x for x in corner), 9) for corner in icosahedron()})
    1
    """
    phi = (1 + 5**0.5) / 2
    return [[0, 1, phi], [0, 1, -phi], [1, phi, 0], [1, -phi, 0], [phi, 0, 1], [-phi, 0, 1]]


def simplex(m: int) -> Tensor:
    """The m corners (m, m - 1) of a regular simplex about the origin.

    Examples
    --------
    >>> torch.pdist(simplex(4)).round(decimals=9).unique().numel()
    1
    """
    centred = torch.eye(m, dtype=torch.float64) - 1 / m
    return centred @ torch.linalg.svd(centred)[0][:, : m - 1]
