"""The manifold of matrices of one rank, and the square loss on it: tangent space, slope, curvature.

The loss is ``‖Y - Theta X‖²/N + lam ‖Theta‖²`` for inputs X (d, N), targets Y (c, N) and a matrix
Theta (c, d) of rank r. Coordinates on the tangent space at Theta are those of
:func:`tangent_basis`. Every function works in the type of what it is given; use double precision.
"""

from __future__ import annotations

import torch
from torch import Tensor

from lowdim import checks
from lowdim.checks import ArrayLike


def _of_rank(Theta: ArrayLike, r: int) -> Tensor:
    Theta = checks.matrices(Theta, "Theta")
    if Theta.ndim != 2:
        raise ValueError(f"Theta must be one matrix (c, d); its shape is {tuple(Theta.shape)}.")
    checks.rank_in_range(r, *Theta.shape)
    return Theta


def _ambient_gradient(X: Tensor, Y: Tensor, Theta: Tensor, lam: float) -> Tensor:
    return 2 / X.shape[1] * (Theta @ X - Y) @ X.mT + 2 * lam * Theta


def tangent_basis(Theta: ArrayLike, r: int) -> Tensor:
    """An orthonormal basis (k, c, d) of the tangent space at Theta, k = r(c + d - r).

    Raises
    ------
    ValueError
        If Theta is not one finite matrix, or r is not between 1 and min(c, d).

    Examples
    --------
    >>> tangent_basis(torch.eye(3), 3).shape, tangent_basis(torch.ones(2, 4), 1).shape
    (torch.Size([9, 3, 3]), torch.Size([5, 2, 4]))
    """
    Theta = _of_rank(Theta, r)
    U, _, Vh = torch.linalg.svd(Theta)
    c, d = Theta.shape
    pairs = [(i, j) for i in range(c) for j in range(d) if i < r or j < r]
    return torch.stack([torch.outer(U[:, i], Vh[j]) for i, j in pairs])


def slope(X: Tensor, Y: Tensor, Theta: ArrayLike, r: int, *, lam: float = 0.0) -> float:
    """The norm of the loss's gradient along the manifold.

    Examples
    --------
    >>> X = Y = torch.eye(2, dtype=torch.float64)
    >>> slope(X, Y, torch.diag(torch.tensor([1.0, 0.0])).double(), 1)
    0.0
    """
    Theta = _of_rank(Theta, r)
    along = tangent_basis(Theta, r) * _ambient_gradient(X, Y, Theta, lam)
    return along.sum((1, 2)).norm().item()


def hessian(X: Tensor, Y: Tensor, Theta: ArrayLike, r: int, *, lam: float = 0.0) -> Tensor:
    """The Riemannian Hessian (k, k) of the loss in the coordinates of :func:`tangent_basis`.

    The second derivative along straight lines, and what the bending of the manifold adds: twice
    ``<E, P A pinv(Theta) A Q>`` for a direction A, the gradient E in the space of all matrices,
    and P, Q the projections off Theta's column and row spaces.

    Examples
    --------
    >>> X = torch.eye(2, dtype=torch.float64)
    >>> Y = torch.diag(torch.tensor([2.0, 1.0])).double()
    >>> least = torch.diag(torch.tensor([2.0, 0.0])).double()  # the best of rank one
    >>> bool(torch.linalg.eigvalsh(hessian(X, Y, least, 1)).min() > 0)
    True
    """
    Theta = _of_rank(Theta, r)
    n, xi = X.shape[1], tangent_basis(Theta, r)
    U, s, Vh = torch.linalg.svd(Theta)
    U, s, Vh = U[:, :r], s[:r], Vh[:r]
    inverse = Vh.mT @ (U.mT / s[:, None])
    flat = torch.einsum("aij,bij->ab", xi @ X, xi @ X) * 2 / n
    flat = flat + 2 * lam * torch.eye(len(xi), dtype=flat.dtype)
    off_left, off_right = xi - U @ (U.mT @ xi), xi - (xi @ Vh.mT) @ Vh
    E = _ambient_gradient(X, Y, Theta, lam)
    bend = torch.einsum("ij,aik,kl,blj->ab", E, off_left, inverse, off_right)
    return flat + bend + bend.mT
