r"""What the labels' projector, the tail, the variation within classes and ρ have to do with one
another.

A layer's values are :math:`H\in\mathbb R^{p\times n}`, a column for each point. The labels have a
projector of their own, :math:`P_L=\bigoplus_k\mathbf 1\mathbf 1^\top/n_k`: it replaces each point
by the mean of its class, so :math:`\|H(I-P_L)\|_F^2` is the sum of squares within classes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from lowdim import checks
from lowdim.checks import ArrayLike

__all__ = ["Links", "Ratio", "collinear", "indicator", "links", "ratio", "turned"]


def indicator(labels: ArrayLike) -> Tensor:
    r"""Orthonormal basis (n, K) of the labels' space: column k is :math:`1/\sqrt{n_k}` on class k.

    Raises
    ------
    ValueError
        If ``labels`` is not a list of whole numbers.

    Examples
    --------
    >>> indicator([0, 1, 1, 1, 1])[:, 1].tolist()
    [0.0, 0.5, 0.5, 0.5, 0.5]
    """
    given = torch.as_tensor(labels)
    if given.ndim != 1 or given.is_floating_point():
        raise ValueError(
            f"labels must be whole numbers, one for each point; their shape is "
            f"{tuple(given.shape)} and their type {given.dtype}."
        )
    member = (given[:, None] == given.unique()).to(torch.float64)
    return member / member.sum(0).sqrt()


@dataclass(frozen=True)
class Links:
    """Numbers (...) of a layer H and a K-dimensional space L, which sines are measured against.

    within: ‖H(I − P_L)‖²_F; tail: squares of the singular values beyond K; turn: the sum of squared
    sines of the K angles between L and the principal row space, K D²; distance: D, from 0 to 1;
    squares (..., n): squared singular values, completed by zeros; off (..., n): the squared sine
    between each right singular vector and L; lower, upper: the two ends of the excess.
    """

    within: Tensor
    tail: Tensor
    turn: Tensor
    squares: Tensor
    off: Tensor
    K: int

    @property
    def distance(self) -> Tensor:
        """D = ‖P − P_L‖_F / √(2K)."""
        return (self.turn / self.K).sqrt()

    @property
    def excess(self) -> Tensor:
        """What the variation within classes has beyond the tail."""
        return self.within - self.tail

    @property
    def gap(self) -> Tensor:
        """σ_K² − σ_(K+1)²."""
        return self.squares[..., self.K - 1] - self.squares[..., self.K]

    @property
    def spread(self) -> Tensor:
        """σ_1² − σ_n²."""
        return self.squares[..., 0] - self.squares[..., -1]

    @property
    def lower(self) -> Tensor:
        """(σ_K² − σ_(K+1)²) K D²."""
        return self.gap * self.turn

    @property
    def upper(self) -> Tensor:
        """(σ_1² − σ_n²) K D²."""
        return self.spread * self.turn


def links(H: ArrayLike, basis: ArrayLike, *, gram: bool = False) -> Links:
    """The numbers of layers H (..., p, n) and orthonormal bases (..., n, K) of a space L, K < n.

    Each is taken from its own definition: ``within`` from H, sines from the singular vectors. With
    ``gram`` these come from H Hᵀ, many times faster for n far above p, which needs p of K or more;
    squares of singular values are then off by rounding of the largest one.

    Raises
    ------
    ValueError
        If the shapes do not fit together, or K is not below n.

    Examples
    --------
    >>> found = links([[3.0, 3.0, 0.0], [0.0, 0.0, 1.0]], indicator([0, 0, 1]))
    >>> bool(found.within < 1e-12), bool(found.tail < 1e-12), bool(found.distance < 1e-9)
    (True, True, True)
    """
    H, L = checks.matrices(H, "H"), checks.matrices(basis, "basis")
    n, K = L.shape[-2:]
    if H.shape[-1] != n or not 0 < K < n:
        raise ValueError(
            "H (..., p, n) and basis (..., n, K) need the same n, and K below it; "
            f"their shapes are {tuple(H.shape)} and {tuple(L.shape)}."
        )
    if gram and H.shape[-2] >= K:
        eigen, vectors = torch.linalg.eigh(H @ H.mT)
        squares = eigen.flip(-1).clamp_min(0)[..., :n]
        right = vectors.flip(-1)[..., :n].mT @ H / squares.clamp_min(1e-300).sqrt()[..., None]
    else:
        _, values, right = torch.linalg.svd(H, full_matrices=False)
        squares = values.square()
    lead = min(H.shape[-2], n)
    if lead < n:
        squares = torch.cat([squares, squares.new_zeros(*squares.shape[:-1], n - lead)], -1)
    if lead < K:  # the principal space is completed by any vectors that are orthogonal to it
        right = torch.linalg.svd(H, full_matrices=True)[2]
    V = right[..., :K, :].mT
    away = V - L @ (L.mT @ V)
    within = (H - (H @ L) @ L.mT).square().sum((-2, -1))
    kept = (right @ L).square().sum(-1)
    off = (1 - kept).clamp_min(0)
    return Links(within, squares[..., K:].sum(-1), away.square().sum((-2, -1)), squares, off, K)


def turned(
    squares: ArrayLike, pair: tuple[int, int], sine: ArrayLike, K: int
) -> tuple[Tensor, Tensor]:
    """A diagonal layer (..., n, n), and L (..., n, K): e_1 … e_K with one of them turned.

    ``squares`` (..., n) are the squared singular values, largest first; L has e_i turned towards
    e_j, (i, j) = ``pair`` counted from 0, by an angle with this ``sine`` (...). With i = K − 1 and
    j = K the lower end of the excess is attained, with i = 0 and j = n − 1 the upper one.

    Examples
    --------
    >>> H, L = turned([9.0, 4.0, 1.0], (1, 2), 0.6, 2)
    >>> found = links(H, L)
    >>> round(found.excess.item(), 9), round(found.lower.item(), 9)
    (1.08, 1.08)
    """
    values = torch.as_tensor(squares, dtype=torch.float64)
    s = torch.as_tensor(sine, dtype=torch.float64)
    n, (i, j) = values.shape[-1], pair
    shape = torch.broadcast_shapes(values.shape[:-1], s.shape)
    L = torch.eye(n, K, dtype=torch.float64).expand(*shape, n, K).clone()
    L[..., i, i] = (1 - s.square()).sqrt()
    L[..., j, i] = s
    return torch.diag_embed(values.sqrt()).expand(*shape, n, n).clone(), L


@dataclass(frozen=True)
class Ratio:
    """nu: V/σ_K(M)², with V the largest variance of a class and M (p, K) the means; balance: the
    smallest class against n/K; rho, epsilon: Definition 2's on these points, epsilon being V."""

    nu: Tensor
    balance: float
    rho: Tensor
    epsilon: Tensor


def ratio(H: ArrayLike, labels: ArrayLike) -> Ratio:
    """The one ratio of layers H (..., p, n) with labels (n,), and ρ beside it.

    Examples
    --------
    >>> found = ratio([[2.0, 4.0, 0.0, 0.0], [0.0, 0.0, 2.0, 4.0]], [0, 0, 1, 1])
    >>> round(found.nu.item(), 9), round(found.rho.item(), 9), found.balance
    (0.111111111, 20.0, 1.0)
    """
    H = checks.matrices(H, "H")
    L = indicator(labels)
    counts = 1 / L.amax(0).square()
    means = (H @ L) / counts.sqrt()
    apart = H - (H @ L) @ L.mT
    variance = apart.square().sum(-2) @ L.square()
    most = variance.amax(-1)
    K = L.shape[1]
    least = torch.linalg.svdvals(means)
    least = least[..., K - 1] if least.shape[-1] >= K else torch.zeros_like(most)
    table = torch.cdist(means.mT, means.mT, compute_mode="donot_use_mm_for_euclid_dist").square()
    table = table + variance[..., :, None] + variance[..., None, :]
    outside = table[..., ~torch.eye(K, dtype=torch.bool)]
    balance = float(counts.min() * K / counts.sum())
    nu = most / least.square()
    return Ratio(nu, balance, outside.amin(-1) / most, most)


def collinear(K: int, wobble: float) -> tuple[Tensor, Tensor]:
    """A layer (K + 1, 2K) whose class means are 1, 2, …, K on a line, and its labels (2K,).

    Each class has two points, ``wobble`` to either side along an axis of its own: ρ is large, and
    the labels' space is far from the principal one.

    Examples
    --------
    >>> H, labels = collinear(3, 1e-3)
    >>> turn = links(H, indicator(labels)).turn
    >>> ratio(H, labels).rho.item() > 1e5, round(turn.item() / 3, 6)
    (True, 0.666667)
    """
    labels = torch.arange(K).repeat_interleave(2)
    H = torch.zeros(K + 1, 2 * K, dtype=torch.float64)
    H[0] = labels + 1.0
    H[1 + labels, torch.arange(2 * K)] = wobble * torch.from_numpy(np.tile([1.0, -1.0], K))
    return H, labels
