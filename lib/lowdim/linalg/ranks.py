r"""How far a matrix is from low rank, and how far points are from a few clusters.

Singular values are ordered :math:`\sigma_1\ge\sigma_2\ge\dots`. The *tail* beyond K is what a best
approximation of rank K leaves over. Points are columns. The *within-cluster sum of squares* of a
partition is the mean squared distance of the points to the centroids of their parts, and the
*total cluster variation* is its minimum over all partitions into at most K parts. That minimum is
NP-hard in general: it is taken exactly by enumeration where there are few partitions, bounded from
above by k-means or by given labels, and from below by a spectral tail. Which of them was used is
always said.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from sklearn.cluster import KMeans
from torch import Tensor

from lowdim import checks
from lowdim.checks import ArrayLike
from lowdim.linalg.subspaces import singular_values

__all__ = [
    "Variation", "centroids", "joint", "partitions", "rank_distance", "soft_rank", "tails",
    "variation", "variation_floor", "wcss", "within_covariance",
]  # fmt: skip

METHODS = ("auto", "exact", "kmeans", "labels")
LIMIT = 200_000  # partitions that "auto" is willing to enumerate


def tails(W: ArrayLike, *, power: float = 2) -> Tensor:
    r"""Relative tails :math:`t_K=\sum_{j>K}\sigma_j^p/\sum_j\sigma_j^p` of each matrix.

    Parameters
    ----------
    W
        Matrices (..., m, n).
    power
        p; 2 is the squared relative Frobenius distance from rank K, 1 the plain sums of Part II's
        equation (22), whose e(r) starts its sum *at* r and so is ``tails(W, power=1)[..., r - 1]``.

    Returns
    -------
    Tensor
        (..., min(m, n) + 1) for K = 0, …, min(m, n); NaN for a zero matrix, which has no shape.

    Raises
    ------
    ValueError
        If ``W`` is not finite, or ``power`` is not above 0.

    Examples
    --------
    >>> tails(torch.diag(torch.tensor([2.0, 1.0, 1.0])), power=1).tolist()
    [1.0, 0.5, 0.25, 0.0]
    """
    W = checks.matrices(W, "W")
    if not power > 0:
        raise ValueError(f"power must be above 0; you gave {power!r}.")
    s = singular_values(W)
    top = s[..., :1]
    # relative to the largest, so that no power under- or overflows; summed from the small end
    parts = torch.where(top > 0, s / torch.where(top > 0, top, 1.0), 0.0) ** power
    sums = parts.flip(-1).cumsum(-1).flip(-1)
    beyond = torch.cat([sums, torch.zeros_like(top)], -1)
    return torch.where(top > 0, beyond / beyond[..., :1].clamp_min(1e-300), torch.nan)


def soft_rank(
    W: ArrayLike, *, epsilon: float = 0.1, power: float = 1, printed: bool = False
) -> Tensor:
    """Fewest singular values (...) whose removal from the spectrum leaves a tail of ``epsilon``.

    With ``printed`` the definition of Part II is followed to the letter: the least r whose e(r),
    a sum that includes the r-th value, is at most ``epsilon``. That is one more.

    Raises
    ------
    ValueError
        If ``epsilon`` is not from 0 up to 1, or as ``tails``.

    Examples
    --------
    >>> W = torch.diag(torch.tensor([6.0, 3.0, 1.0]))
    >>> soft_rank(W, epsilon=0.2).item(), soft_rank(W, epsilon=0.2, printed=True).item()
    (2, 3)
    """
    if not 0 <= epsilon < 1:
        raise ValueError(f"epsilon must be from 0 up to 1; you gave {epsilon!r}.")
    t = torch.nan_to_num(tails(W, power=power), nan=0.0)
    return (t > epsilon).sum(-1) + int(printed)


def rank_distance(W: ArrayLike, K: int, *, norm: Literal["fro", "spectral"] = "fro") -> Tensor:
    """Distance (...) of each matrix to the nearest one of rank at most ``K`` (Eckart and Young).

    Raises
    ------
    ValueError
        If ``K`` is not a whole number of 0 or more, or ``norm`` is neither "fro" nor "spectral".

    Examples
    --------
    >>> W = torch.diag(torch.tensor([9.0, 4.0, 3.0]))
    >>> rank_distance(W, 1).item(), rank_distance(W, 1, norm="spectral").item()
    (5.0, 4.0)
    """
    checks.whole(K, "K", 0)
    checks.choice(norm, ("fro", "spectral"), "norm")
    s = singular_values(checks.matrices(W, "W"))[..., K:]
    if s.shape[-1] == 0:
        return s.sum(-1)
    return torch.linalg.vector_norm(s, dim=-1) if norm == "fro" else s[..., 0]


def joint(Z: ArrayLike, Y: ArrayLike | None = None) -> Tensor:
    """Points (..., p + c, N) whose columns are the pairs (z_i, y_i); ``Z`` itself without ``Y``.

    Raises
    ------
    ValueError
        If the numbers of columns differ or the leading axes do not match.

    Examples
    --------
    >>> joint(torch.zeros(2, 5), torch.ones(1, 5)).shape
    torch.Size([3, 5])
    """
    Z = checks.matrices(Z, "Z")
    if Y is None:
        return Z
    Y = checks.matrices(Y, "Y")
    checks.same_batch(Z, Y, ("Z", "Y"))
    if Z.shape[-1] != Y.shape[-1]:
        raise ValueError(
            f"Z and Y need as many columns; they have {Z.shape[-1]} and {Y.shape[-1]}."
        )
    lead = torch.broadcast_shapes(Z.shape[:-2], Y.shape[:-2])
    return torch.cat([A.expand(*lead, *A.shape[-2:]) for A in (Z, Y)], -2)


def _labels(labels: ArrayLike, n: int) -> tuple[np.ndarray, int]:
    given = np.asarray(labels)
    if given.shape != (n,):
        raise ValueError(f"labels need the shape ({n},), one for each column; it is {given.shape}.")
    kinds, numbers = np.unique(given, return_inverse=True)
    return numbers, len(kinds)


def centroids(points: ArrayLike, labels: ArrayLike) -> Tensor:
    """Centroids (..., p, k) of the parts that ``labels`` (N,) make of points (..., p, N), sorted.

    Raises
    ------
    ValueError
        If there is not one label for each column.

    Examples
    --------
    >>> centroids(torch.tensor([[0.0, 2.0, 7.0]]), [0, 0, 1]).tolist()
    [[1.0, 7.0]]
    """
    points = checks.matrices(points, "points")
    numbers, count = _labels(labels, points.shape[-1])
    member = torch.nn.functional.one_hot(torch.from_numpy(numbers), count).to(points.dtype)
    return points @ (member / member.sum(0))


def spread_centroids(points: ArrayLike, labels: ArrayLike) -> Tensor:
    """Each column of points (..., p, N) replaced by the centroid of its part.

    ``labels`` are (N,), or (B, N) for points (B, p, N): a partition of its own for each.

    Raises
    ------
    ValueError
        If there is not one label for each column.

    Examples
    --------
    >>> spread_centroids(torch.tensor([[0.0, 2.0, 7.0]]), [0, 0, 1]).tolist()
    [[1.0, 1.0, 7.0]]
    """
    points = checks.matrices(points, "points")
    if np.ndim(labels) < 2:
        numbers, _ = _labels(labels, points.shape[-1])
        return centroids(points, labels)[..., torch.from_numpy(numbers)]
    many = torch.as_tensor(labels)
    if many.shape != (*points.shape[:-2], points.shape[-1]):
        raise ValueError(
            f"labels must be one for each of {points.shape[-1]} columns, (N,) or with the leading "
            f"axes of points; points have shape {tuple(points.shape)}, labels {tuple(many.shape)}."
        )
    same = (many[..., :, None] == many[..., None, :]).to(points.dtype)
    return points @ (same / same.sum(-1, keepdim=True))


def _off_centre(points: Tensor, labels: ArrayLike) -> Tensor:
    return points - spread_centroids(points, labels)


def wcss(points: ArrayLike, labels: ArrayLike) -> Tensor:
    """Within-cluster sum of squares (...), divided by the number of points, of points (..., p, N).

    Raises
    ------
    ValueError
        If there is not one label for each column.

    Examples
    --------
    >>> wcss(torch.tensor([[0.0, 2.0, 7.0, 7.0]]), [0, 0, 1, 1]).item()
    0.5
    """
    off = _off_centre(checks.matrices(points, "points"), labels)
    return off.square().sum((-2, -1)) / off.shape[-1]


def within_covariance(A: ArrayLike, B: ArrayLike, labels: ArrayLike) -> Tensor:
    r"""Pooled covariance (..., a, b) of A (..., a, N) and B (..., b, N) within the parts.

    This is :math:`\frac1N\sum_k\sum_{i\in C_k}(a_i-\bar a_k)(b_i-\bar b_k)^\top`.

    Raises
    ------
    ValueError
        If the numbers of columns differ, or there is not one label for each.

    Examples
    --------
    >>> x = torch.tensor([[0.0, 2.0, 7.0, 7.0]])
    >>> within_covariance(x, 3 * x, [0, 0, 1, 1]).item()
    1.5
    """
    A, B = checks.matrices(A, "A"), checks.matrices(B, "B")
    if A.shape[-1] != B.shape[-1]:
        raise ValueError(
            f"A and B need as many columns; they have {A.shape[-1]} and {B.shape[-1]}."
        )
    return _off_centre(A, labels) @ _off_centre(B, labels).mT / A.shape[-1]


@dataclass(frozen=True)
class Variation:
    """A total cluster variation, with how it was found.

    ``value`` is the WCSS of the partition ``labels`` (N,); ``method`` is "exact" (the minimum over
    all partitions into at most K parts), "kmeans" (the best of several descents) or "labels" (a
    given partition). Only the first is the minimum; the others are upper bounds. ``floor`` is a
    lower bound on the minimum, whatever the method.
    """

    value: float
    labels: np.ndarray
    method: str
    K: int
    floor: float
    tried: int

    @property
    def exact(self) -> bool:
        """Whether ``value`` is the minimum, found by enumeration."""
        return self.method == "exact"

    def __str__(self) -> str:
        how = {
            "exact": f"exact, least of {self.tried} partitions",
            "kmeans": f"upper bound, k-means with {self.tried} restarts",
            "labels": "upper bound, the given partition",
        }[self.method]
        return f"{self.value:.6g} ({how}; at least {self.floor:.6g})"


def partitions(n: int, K: int) -> np.ndarray:
    """All partitions of n points into at most K parts: labels (count, n), each partition once.

    A row numbers its parts in the order of their first points.

    Raises
    ------
    ValueError
        If n or K is not a whole number of 1 or more.

    Examples
    --------
    >>> partitions(3, 2).tolist()
    [[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1]]
    """
    checks.whole(n, "n", 1)
    checks.whole(K, "K", 1)
    rows = np.zeros((1, 1), dtype=np.int8)
    for _ in range(n - 1):
        room = np.minimum(rows.max(1) + 2, K)  # an old part, or one new part
        source = np.repeat(np.arange(len(rows)), room)
        last = np.arange(len(source)) - np.repeat(np.cumsum(room) - room, room)
        rows = np.column_stack([rows[source], last.astype(np.int8)])
    return rows


def _count(n: int, K: int) -> int:
    """How many rows ``partitions`` would have: Stirling numbers of the second kind, summed."""
    row = [1] + [0] * K
    for _ in range(n):
        row = [0] + [k * row[k] + row[k - 1] for k in range(1, K + 1)]
    return sum(row)


def variation_floor(points: ArrayLike, K: int) -> Tensor:
    """A lower bound (...) on the total cluster variation of points (..., p, N) in K parts.

    Centred points replaced by their centroids have rank at most K - 1, so that the squared singular
    values from the K-th on of the centred points cannot be avoided (Ding and He, 2004).

    Raises
    ------
    ValueError
        If ``K`` is not a whole number of 1 or more.

    Examples
    --------
    >>> x = torch.tensor([[1.0, -1.0, 1.0, -1.0], [0.5, 0.5, -0.5, -0.5]])
    >>> variation_floor(x, 2).item()
    0.25
    """
    points = checks.matrices(points, "points")
    checks.whole(K, "K", 1)
    centred = points - points.mean(-1, keepdim=True)
    return rank_distance(centred, K - 1).square() / points.shape[-1]


def variation(
    points: ArrayLike,
    K: int,
    *,
    method: Literal["auto", "exact", "kmeans", "labels"] = "auto",
    labels: ArrayLike | None = None,
    restarts: int = 20,
    seed: int = 0,
) -> Variation:
    """The total cluster variation of points (p, N) in at most ``K`` parts, or a bound on it.

    ``"exact"`` enumerates. ``"kmeans"`` takes the best of ``restarts`` descents and, if ``labels``
    are given, one more from their centroids. ``"labels"`` only evaluates the given partition.
    ``"auto"`` enumerates up to 200 000 partitions and is k-means beyond.

    Raises
    ------
    ValueError
        If points are not one matrix, ``K`` is not between 1 and N, labels are missing where they
        are needed or have more than ``K`` parts, or there are too many partitions to enumerate.

    Examples
    --------
    >>> found = variation(torch.tensor([[0.0, 1.0, 10.0, 11.0]]), 2)
    >>> found.value, found.method, found.labels.tolist()
    (0.25, 'exact', [0, 0, 1, 1])
    """
    points = checks.matrices(points, "points").to(torch.float64)
    if points.ndim != 2:
        raise ValueError(f"points must be one matrix (p, N); its shape is {tuple(points.shape)}.")
    n = points.shape[1]
    if checks.whole(K, "K", 1) > n:
        raise ValueError(f"K must be from 1 to N = {n}; you gave {K}.")
    checks.choice(method, METHODS, "method")
    checks.whole(restarts, "restarts", 1)
    if method == "auto":
        method = "exact" if _count(n, K) <= LIMIT else "kmeans"
    if labels is not None and _labels(labels, n)[1] > K:
        raise ValueError(f"labels have {_labels(labels, n)[1]} parts, more than K = {K}.")
    if method == "labels":
        if labels is None:
            raise ValueError("method 'labels' needs labels; you gave None.")
        best, tried = _labels(labels, n)[0], 1
    elif method == "exact":
        best, tried = _enumerate(points.numpy(), K)
    else:
        best, tried = _descend(points.numpy(), K, labels, restarts, seed)
    value, floor = float(wcss(points, best)), float(variation_floor(points, K))
    return Variation(value, best, method, K, floor, tried)


def _enumerate(points: np.ndarray, K: int) -> tuple[np.ndarray, int]:
    n, count = points.shape[1], _count(points.shape[1], K)
    if count > 20 * LIMIT:
        raise ValueError(
            f"{n} points have {count} partitions into at most {K} parts, too many to enumerate; "
            "take 'kmeans'."
        )
    centred = points - points.mean(1, keepdims=True)
    rows, least = partitions(n, K), np.inf
    best: np.ndarray | None = None
    for piece in np.array_split(rows, -(-len(rows) // 20_000)):
        between = np.zeros(len(piece))  # maximal where the part within is minimal
        for k in range(K):
            member = (piece == k).astype(float)
            size = np.maximum(member.sum(1), 1)
            between += ((member @ centred.T) ** 2).sum(1) / size
        at = int(between.argmax())
        if -between[at] < least:
            best, least = piece[at].astype(int), -between[at]
    assert best is not None  # there is a partition into one part at least
    return best, len(rows)


def _descend(
    points: np.ndarray, K: int, labels: ArrayLike | None, restarts: int, seed: int
) -> tuple[np.ndarray, int]:
    found = [KMeans(K, n_init=restarts, random_state=seed).fit(points.T)]
    if labels is not None:
        numbers, count = _labels(labels, points.shape[1])
        if count == K:
            start = centroids(torch.from_numpy(points), numbers).numpy().T
            found.append(KMeans(K, init=start, n_init=1).fit(points.T))
    best = min(found, key=lambda fit: fit.inertia_)
    return best.labels_.astype(int), restarts + len(found) - 1
