r"""Is a representation a hash of the manifold? Distances within and between, ρ, the one-shot table.

Representations are arrays R of shape (..., m, n, p): m manifolds, n points on each, p features.
With the empirical mean :math:`\mu_l` of manifold l, the paper's Definition 2 speaks of

.. math:: V_l=\frac1n\sum_i\|r_{il}-\mu_l\|^2\quad\text{and}\quad
          \frac1{n^2}\sum_{i,j}\|r_{il}-r_{jk}\|^2=\|\mu_l-\mu_k\|^2+V_l+V_k .

The second is exact for the samples at hand, so squared distances cost no pairs; it also says that
pure noise, the same on every manifold, is at ratio 2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from lowdim import checks
from lowdim.checks import ArrayLike

OVER = ("worst", "mean")
WITHIN = ("centre", "pairs")


def intra(R: ArrayLike, *, unbiased: bool = False) -> Tensor:
    """Variance V_M (..., m) of the representations (..., m, n, p) of each manifold.

    The mean squared distance to the mean, summed over features; ``unbiased`` multiplies it by
    n/(n-1), so that its expectation is the variance of the distribution.

    Raises
    ------
    ValueError
        If R has fewer than three axes, or ``unbiased`` meets a single point.

    Examples
    --------
    >>> R = [[[0.0], [2.0]], [[5.0], [5.0]]]
    >>> intra(R).tolist(), intra(R, unbiased=True).tolist()
    ([1.0, 0.0], [2.0, 0.0])
    """
    R = _stack(R)
    variance = (R - R.mean(-2, keepdim=True)).square().sum(-1).mean(-1)
    if not unbiased:
        return variance
    n = _two_points(R, "an unbiased variance")
    return variance * (n / (n - 1))


def inter(R: ArrayLike, *, squared: bool = True) -> Tensor:
    """Mean distances, squared or not, (..., m, m) between points of two manifolds.

    Off the diagonal the mean is over all n² pairs, which is unbiased for independent points. On it,
    over the n(n-1) pairs of *different* points of one manifold (NaN if n = 1); for squares that is
    twice the unbiased variance. Plain distances off the diagonal come from inner products of the
    centred points where n is large; their squares are right up to rounding of the largest square.

    Examples
    --------
    >>> inter([[[0.0], [2.0]], [[5.0], [5.0]]]).tolist()
    [[4.0, 17.0], [17.0, 0.0]]
    >>> inter([[[0.0], [2.0]], [[5.0], [5.0]]], squared=False).tolist()
    [[2.0, 4.0], [4.0, 0.0]]
    """
    R = _stack(R)
    m, n, _ = R.shape[-3:]
    if squared:
        variance = intra(R)
        mean = R.mean(-2)
        table = _distances(mean, mean).square() + variance[..., :, None] + variance[..., None, :]
        own = 2 * variance * n / (n - 1) if n > 1 else torch.full_like(variance, torch.nan)
        return _with_diagonal(table, own)
    R = R - R.mean((-3, -2), keepdim=True)
    flat = R.flatten(-3, -2)
    rows = []
    for index in range(m):
        own = R[..., index, :, :]
        means = torch.cdist(own, flat).unflatten(-1, (m, n)).mean((-3, -1))  # (..., m)
        inside = _distances(own, own).sum((-2, -1)) / (n * (n - 1) if n > 1 else torch.nan)
        means[..., index] = inside
        rows.append(means)
    return torch.stack(rows, -2)


def centres(R: ArrayLike, *, unbiased: bool = True) -> Tensor:
    """Squared distances (..., m, m) between the means of the manifolds, zero on the diagonal.

    The squared distance of two sample means is too large by V_l/n + V_k/n on average; ``unbiased``
    takes that off, and may be negative.

    Examples
    --------
    >>> centres([[[0.0], [2.0]], [[5.0], [5.0]]]).tolist()
    [[0.0, 15.0], [15.0, 0.0]]
    """
    R = _stack(R)
    mean = R.mean(-2)
    table = _distances(mean, mean).square()
    if unbiased:
        noise = intra(R, unbiased=True) / R.shape[-2]
        table = table - noise[..., :, None] - noise[..., None, :]
    return _with_diagonal(table, torch.zeros_like(table[..., 0]))


def rho(
    R: ArrayLike,
    *,
    squared: bool = True,
    over: str = "worst",
    within: str = "centre",
    unbiased: bool = False,
) -> Tensor:
    """The ratio ρ (...) of distances between manifolds to distances within, in one reading.

    Parameters
    ----------
    squared
        Squared distances (Definition 2) or distances (the paper's figures).
    over
        ``"worst"``: the smallest over pairs of manifolds over the largest over manifolds, the ρ
        for which Definition 2 holds with its smallest ε; ``"mean"``: mean over mean.
    within
        ``"centre"``: (squared) distances of points to their manifold's mean, as in Definition 2;
        ``"pairs"``: between two different points of a manifold.
    unbiased
        For squares to the centre: variances with n - 1 (those of pairs always are). For plain
        distances to the centre, the distance to the mean of the *other* points, shrunk by
        ((n-1)/n)^½, which is unbiased in the square.

    Returns infinity where nothing varies within any manifold and something differs between, and NaN
    where nothing differs at all.

    Raises
    ------
    ValueError
        If there is one manifold only, a reading is unknown, or a single point is asked for pairs.

    Examples
    --------
    >>> R = [[[0.0], [2.0]], [[5.0], [7.0]]]
    >>> rho(R).item(), rho(R, within="pairs").item(), rho(R, squared=False, over="mean").item()
    (27.0, 6.75, 5.0)
    """
    checks.choice(over, OVER, "over")
    checks.choice(within, WITHIN, "within")
    R = _stack(R)
    m = R.shape[-3]
    if m < 2:
        raise ValueError(f"ρ compares manifolds and needs two or more; R has {m}.")
    if within == "pairs" or unbiased:
        _two_points(R, "this reading of ρ")
    table = inter(R, squared=squared)
    if within == "pairs":
        inside = table.diagonal(dim1=-2, dim2=-1)
    elif squared:
        inside = intra(R, unbiased=unbiased)
    else:
        inside = (R - R.mean(-2, keepdim=True)).norm(dim=-1).mean(-1)
        if unbiased:
            inside = inside * (R.shape[-2] / (R.shape[-2] - 1)) ** 0.5
    different = ~torch.eye(m, dtype=torch.bool)
    outside = table[..., different]
    if over == "worst":
        return outside.amin(-1) / inside.amax(-1)
    return outside.mean(-1) / inside.mean(-1)


def accepts(R: ArrayLike, *, threshold: float) -> Tensor:
    """Shares (..., m, m) of pairs (key of l, query of k) that Theorem 5's rule calls one manifold.

    The rule is ``|r - r'|² < threshold``. All pairs of points are tried; on the diagonal only pairs
    of different points, where the share of *refusals* is the miss rate.

    Raises
    ------
    ValueError
        If ``threshold`` is not a number above 0, or a manifold has a single point.

    Examples
    --------
    >>> accepts([[[0.0], [2.0]], [[5.0], [5.0]]], threshold=10.0).tolist()
    [[1.0, 0.5], [0.5, 1.0]]
    """
    R = _stack(R)
    n = _two_points(R, "a miss rate")
    _positive(threshold)
    m = R.shape[-3]
    flat = R.flatten(-3, -2)
    rows = []
    for index in range(m):
        close = _distances(R[..., index, :, :], flat).square() < threshold
        counts = close.unflatten(-1, (m, n)).double().sum((-3, -1))
        counts[..., index] = (counts[..., index] - n) * n / (n - 1)  # a point accepts itself
        rows.append(counts / n**2)
    return torch.stack(rows, -2)


@dataclass(frozen=True)
class HashTable:
    """Theorem 5's table: one stored representation for each new manifold.

    keys: (k, p), one example each; threshold: on *squared* distances, 2ε in the paper.

    Examples
    --------
    >>> table = HashTable(torch.tensor([[0.0, 0.0], [3.0, 0.0]]), threshold=1.0)
    >>> queries = torch.tensor([[0.1, 0.0], [2.9, 0.2], [9.0, 9.0]])
    >>> table.members(queries).tolist()
    [[True, False], [False, True], [False, False]]
    >>> table.lookup(queries).tolist(), table.nearest(queries).tolist()
    ([0, 1, -1], [0, 1, 1])
    """

    keys: Tensor
    threshold: float

    def __post_init__(self) -> None:
        keys = checks.matrices(self.keys, "keys")
        if keys.ndim != 2:
            raise ValueError(f"keys must be one matrix (k, p); its shape is {tuple(keys.shape)}.")
        _positive(self.threshold)
        object.__setattr__(self, "keys", keys)

    def members(self, R: ArrayLike) -> Tensor:
        """Whether each query (..., p) is called a member of each key's manifold, (..., k)."""
        return self._squares(R) < self.threshold

    def nearest(self, R: ArrayLike) -> Tensor:
        """Number (...) of the nearest key of each query (..., p), however far; ties: the first."""
        return self._squares(R).argmin(-1)

    def lookup(self, R: ArrayLike) -> Tensor:
        """Number (...) of the nearest key of each query (..., p), or -1 if none is a match."""
        squares = self._squares(R)
        best, at = squares.min(-1)
        return torch.where(best < self.threshold, at, -1)

    def _squares(self, R: ArrayLike) -> Tensor:
        R = checks.matrices(R, "R")
        if R.shape[-1] != self.keys.shape[-1]:
            raise ValueError(
                f"queries need as many features as the keys, {self.keys.shape[-1]}; "
                f"their shape is {tuple(R.shape)}."
            )
        flat = R.reshape(-1, R.shape[-1])
        return _distances(flat, self.keys.to(R.dtype)).square().unflatten(0, R.shape[:-1])


@dataclass(frozen=True)
class Recovery:
    """A linear map from representations to γ, and how well it does on held-out points.

    weight: (p, s); offset: (s,); predicted: (points, s), held out; r2: share of the variance of γ
    that is explained; angle: mean angle in degrees between γ and its prediction (90 where the
    prediction is zero); distance and squared: mean of |γ̂ - γ| (of its square) over the mean of
    |γᵢ - γⱼ| (of its square) over pairs of different manifolds. For Gaussian γ an independent copy
    scores 1 on both, and the constant mean 0.71 and 0.5: only below that is anything recovered.
    """

    weight: Tensor
    offset: Tensor
    predicted: Tensor
    r2: float
    angle: float
    distance: float
    squared: float


def recover(
    R: ArrayLike,
    gamma: ArrayLike,
    *,
    held_out: tuple[ArrayLike, ArrayLike],
    intercept: bool = True,
    ridge: float = 0.0,
) -> Recovery:
    """Fit γ linearly from representations by least squares, and score it on held-out manifolds.

    Parameters
    ----------
    R, gamma
        Representations (m, n, p) and the γ (m, s) of their manifolds, for the fit.
    held_out
        The same two for the score, (m', n', p) and (m', s) with m' at least 2.
    intercept
        Whether the map may add a constant.
    ridge
        Penalty on the squared weight, times the number of points. At 0 the smallest solution.

    Raises
    ------
    ValueError
        If shapes disagree or ``ridge`` is negative.

    Examples
    --------
    >>> gamma = torch.randn(30, 2, generator=torch.manual_seed(0), dtype=torch.float64)
    >>> R = (gamma @ torch.tensor([[1.0, 2.0, 0.0], [0.0, 1.0, 1.0]]).double())[:, None]
    >>> found = recover(R[:20], gamma[:20], held_out=(R[20:], gamma[20:]))
    >>> round(found.r2, 6), round(found.distance, 6)
    (1.0, 0.0)
    """
    X, Y = _pairs(R, gamma, "R and gamma")
    Xt, Yt = _pairs(*held_out, "held_out")
    names = checks.matrices(held_out[1], "gamma").to(torch.float64)
    if X.shape[1] != Xt.shape[1] or Y.shape[1] != Yt.shape[1] or len(names) < 2:
        raise ValueError(
            "held_out needs the same features and at least two manifolds; the flattened shapes are "
            f"{tuple(X.shape)}, {tuple(Y.shape)} and {tuple(Xt.shape)}, {tuple(Yt.shape)}."
        )
    if not (ridge >= 0 and np.isfinite(ridge)):
        raise ValueError(f"ridge must be 0 or more; you gave {ridge}.")
    x0 = X.mean(0) if intercept else torch.zeros_like(X[0])
    y0 = Y.mean(0) if intercept else torch.zeros_like(Y[0])
    U, d, Vh = torch.linalg.svd(X - x0, full_matrices=False)
    keep = d > d[0] * max(X.shape) * torch.finfo(torch.float64).eps
    gain = torch.where(keep, d / (d.square() + ridge * len(X)).clamp_min(1e-300), 0.0)
    weight = Vh.mT @ (gain[:, None] * (U.mT @ (Y - y0)))
    offset = y0 - x0 @ weight
    predicted = Xt @ weight + offset
    return Recovery(weight, offset, predicted, *_scores(predicted, Yt, names))


def _scores(predicted: Tensor, truth: Tensor, names: Tensor) -> tuple[float, ...]:
    error = predicted - truth
    spread = (truth - truth.mean(0)).square().sum()
    r2 = 1 - float(error.square().sum() / spread)
    lengths = predicted.norm(dim=1) * truth.norm(dim=1)
    cosine = torch.where(lengths > 0, (predicted * truth).sum(1) / lengths.clamp_min(1e-300), 0.0)
    angle = float(torch.rad2deg(cosine.clamp(-1, 1).acos()).mean())
    apart = torch.pdist(names)
    squared = float(error.square().sum(1).mean() / apart.square().mean())
    return r2, angle, float(error.norm(dim=1).mean() / apart.mean()), squared


def _pairs(R: ArrayLike, gamma: ArrayLike, name: str) -> tuple[Tensor, Tensor]:
    R, gamma = _stack(R), checks.matrices(gamma, "gamma")
    if R.ndim != 3 or gamma.ndim != 2 or len(R) != len(gamma):
        raise ValueError(
            f"{name} need shapes (m, n, p) and (m, s) with the same m; "
            f"they are {tuple(R.shape)} and {tuple(gamma.shape)}."
        )
    flat = R.flatten(0, 1).to(torch.float64)
    return flat, gamma.to(torch.float64).repeat_interleave(R.shape[1], 0)


def _stack(R: ArrayLike) -> Tensor:
    R = checks.matrices(R, "R")
    if R.ndim < 3:
        raise ValueError(
            f"R needs axes (..., manifolds, points, features); its shape is {tuple(R.shape)}."
        )
    return R


def _two_points(R: Tensor, what: str) -> int:
    n = R.shape[-2]
    if n < 2:
        raise ValueError(f"{what} needs two points on each manifold or more; R has {n}.")
    return n


def _positive(threshold: float) -> None:
    if not (threshold > 0 and np.isfinite(threshold)):
        raise ValueError(f"threshold must be a number above 0; you gave {threshold}.")


def _distances(A: Tensor, B: Tensor) -> Tensor:
    """Distances (..., a, b) by differences: the Gram form loses what is small against the norms."""
    return torch.cdist(A, B, compute_mode="donot_use_mm_for_euclid_dist")


def _with_diagonal(table: Tensor, own: Tensor) -> Tensor:
    same = torch.eye(table.shape[-1], dtype=torch.bool)
    return torch.where(same, own[..., :, None], table)
