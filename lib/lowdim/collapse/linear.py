"""The regularized linear model: its minimizers in closed form, with and without a bound on rank.

Data are columns: inputs X (..., d, N), targets Y (..., c, N). The loss is
``‖Y - Theta X‖²/N + lam ‖Theta‖²``. For autoencoders of several linear layers with weight decay on
each layer the global minimizer has a closed form as well (:func:`deep_autoencoder`).
"""

from __future__ import annotations

import torch
from torch import Tensor

from lowdim import checks
from lowdim.checks import ArrayLike
from lowdim.linalg.ranks import partitions, spread_centroids


def _matrices(X: object, Y: object) -> tuple[Tensor, Tensor]:
    X, Y = torch.as_tensor(X), torch.as_tensor(Y)
    if X.ndim < 2 or Y.ndim < 2 or X.shape[-1] != Y.shape[-1]:
        raise ValueError(
            "X and Y must be matrices with one column for each point; "
            f"you gave shapes {tuple(X.shape)} and {tuple(Y.shape)}."
        )
    return X, Y


def _weight(lam: object, X: Tensor) -> Tensor:
    lam = torch.as_tensor(lam, dtype=X.dtype)
    if bool((lam < 0).any()):
        raise ValueError(f"lam must not be negative; the smallest given is {float(lam.min())}.")
    return lam[..., None, None]


def gram(X: object, lam: object = 0.0) -> Tensor:
    """``XXᵀ + N lam I`` (..., d, d) for X (..., d, N) and lam a number or (...).

    Raises
    ------
    ValueError
        If lam is negative.

    Examples
    --------
    >>> gram(torch.tensor([[1.0, 2.0]]), 0.5).item()
    6.0
    """
    X = torch.as_tensor(X)
    eye = torch.eye(X.shape[-2], dtype=X.dtype)
    return X @ X.mT + X.shape[-1] * _weight(lam, X) * eye


def ridge(X: object, Y: object, lam: object) -> Tensor:
    """The minimizer (..., c, d) of ``‖Y - Theta X‖²/N + lam ‖Theta‖²``, lam a number or (...).

    Raises
    ------
    ValueError
        If shapes do not fit or lam is negative.
    torch.linalg.LinAlgError
        If lam is zero and XXᵀ is singular: the minimizer is not unique.

    Examples
    --------
    >>> ridge(torch.tensor([[1.0, -1.0]]), torch.tensor([[2.0, -2.0]]), 1.0).item()
    1.0
    """
    X, Y = _matrices(X, Y)
    return torch.linalg.solve(gram(X, lam), Y @ X.mT, left=False)


def optimal_partition(points: object, K: int) -> tuple[Tensor, Tensor]:
    """The total cluster variation (B,) of points (B, p, N) in at most K parts, and labels (B, N).

    All partitions are tried, for all matrices at once: for few points only.

    Raises
    ------
    ValueError
        If ``points`` do not have three axes, or as :func:`lowdim.linalg.ranks.partitions`.

    Examples
    --------
    >>> value, labels = optimal_partition(torch.tensor([[[0.0, 1.0, 10.0, 11.0]]]).double(), 2)
    >>> value.item(), labels.tolist()
    (0.25, [[0, 0, 1, 1]])
    """
    points = torch.as_tensor(points)
    if points.ndim != 3:
        raise ValueError(f"points must be (B, p, N); you gave shape {tuple(points.shape)}.")
    rows = torch.from_numpy(partitions(points.shape[-1], K)).long()
    # what lies between the parts is largest where what lies within is least
    centred = (points - points.mean(-1, keepdim=True)).detach()
    between = torch.zeros(len(points), len(rows), dtype=points.dtype)
    for k in range(K):
        member = (rows == k).to(points.dtype)
        size = member.sum(1).clamp_min(1.0)
        between += (centred @ member.T).square().sum(1) / size
    labels = rows[between.argmax(1)]
    off = points - spread_centroids(points, labels)
    return off.square().sum((-2, -1)) / points.shape[-1], labels


def whitened(X: object, Y: object, lam: object = 0.0) -> tuple[Tensor, Tensor]:
    """Q = Y Xᵀ G^(-1/2) (..., c, d) and G^(-1/2) (..., d, d), with G = XXᵀ + N lam I.

    In the coordinates Z = Theta G^(1/2) the loss is ``(‖Q - Z‖² + const)/N``.

    Raises
    ------
    ValueError
        If shapes do not fit, lam is negative, or G is singular.

    Examples
    --------
    >>> Q, half = whitened(torch.tensor([[2.0]]), torch.tensor([[3.0]]))
    >>> Q.item(), half.item()
    (3.0, 0.5)
    """
    X, Y = _matrices(X, Y)
    values, vectors = torch.linalg.eigh(gram(X, lam))
    if bool((values[..., 0] <= 0).any()):
        raise ValueError("XXᵀ + N lam I must be positive definite; it is singular.")
    half = (vectors * values[..., None, :].rsqrt()) @ vectors.mT
    return Y @ X.mT @ half, half


def constrained(X: object, Y: object, lam: object, rank: int) -> Tensor:
    """A minimizer (..., c, d) of the same loss among matrices of rank at most ``rank``.

    It is unique if the singular values number ``rank`` and ``rank + 1`` of Q differ.

    Raises
    ------
    ValueError
        If ``rank`` is not a whole number, 0 or more, or as for :func:`whitened`.

    Examples
    --------
    >>> X = torch.eye(2, dtype=torch.float64)
    >>> constrained(X, torch.diag(torch.tensor([3.0, 1.0]).double()), 0.5, 1).round(decimals=9)
    tensor([[1.5000, 0.0000],
            [0.0000, 0.0000]], dtype=torch.float64)
    """
    checks.whole(rank, "rank", 0)
    Q, half = whitened(X, Y, lam)
    U, s, Vh = torch.linalg.svd(Q, full_matrices=False)
    return (U[..., :rank] * s[..., None, :rank]) @ Vh[..., :rank, :] @ half


def jump(depth: int) -> tuple[float, float]:
    """Where the shrinkage of :func:`shrinkage` leaves zero: the ratio moment/lam, and its height.

    Below the ratio a direction is dropped. For one layer there is no such ratio (0, 0); for two it
    leaves zero continuously (1, 0); from three on it jumps to (depth - 2)/(depth - 1).

    Raises
    ------
    ValueError
        If ``depth`` is not a whole number, 1 or more.

    Examples
    --------
    >>> jump(2), tuple(round(x, 4) for x in jump(4))
    ((1.0, 0.0), (3.6742, 0.6667))
    """
    checks.whole(depth, "depth", 1)
    if depth == 1:
        return 0.0, 0.0
    t = (depth - 2) / (depth - 1)
    return 1 / ((1 - t) * t ** (1 - 2 / depth)) if depth > 2 else 1.0, t


def shrinkage(moments: ArrayLike, lam: ArrayLike, depth: int) -> Tensor:
    """The t in [0, 1] that minimizes ``m (1 - t)² + lam depth t^(2/depth)``, for each moment m.

    Moments and lam (a number or a tensor) broadcast. At a jump the larger of the two minimizers is
    given.

    Raises
    ------
    ValueError
        If lam is not positive, a moment is negative, or ``depth`` is no whole number from 1.

    Examples
    --------
    >>> shrinkage(torch.tensor([1.0, 3.0]), 1.0, 1).tolist()
    [0.5, 0.75]
    >>> shrinkage(torch.tensor([1.0, 4.0]).double(), 1.0, 2).tolist()
    [0.0, 0.75]
    """
    m = torch.as_tensor(moments)
    strength = torch.as_tensor(lam, dtype=m.dtype)
    if not bool((strength > 0).all()) or bool((m < 0).any()):
        raise ValueError(
            "lam must be positive and moments not negative; the smallest are "
            f"{float(strength.min()):g} and {float(m.min()):g}."
        )
    m, strength = torch.broadcast_tensors(m, strength)
    ratio, height = jump(depth)
    if depth == 1:
        return m / (m + strength)
    if depth == 2:
        return (1 - strength / m.clamp_min(1e-300)).clamp_min(0.0)
    # On [height, 1] the derivative's sign changes once, from falling to rising: bisect.
    low, high = torch.full_like(m, height), torch.ones_like(m)
    for _ in range(60):
        t = (low + high) / 2
        falling = m * (1 - t) * t ** (1 - 2 / depth) > strength
        low, high = torch.where(falling, t, low), torch.where(falling, high, t)
    return torch.where(m >= ratio * strength, (low + high) / 2, 0.0)


def deep_autoencoder(moment: object, lam: float, depth: int, *, width: int | None = None) -> Tensor:
    """The product W_depth ⋯ W_1 (..., d, d) at a global minimum of a linear autoencoder.

    The loss is ``‖X - W_depth ⋯ W_1 X‖²/N + lam Σ ‖W_i‖²``; ``moment`` is XXᵀ/N (..., d, d) and
    ``width`` the narrowest hidden layer, which bounds the rank (no bound unless given).

    Raises
    ------
    ValueError
        As :func:`shrinkage`, or if ``moment`` is not square.

    Examples
    --------
    >>> deep_autoencoder(torch.diag(torch.tensor([1.0, 3.0])), 1.0, 1).diagonal().tolist()
    [0.5, 0.75]
    """
    moment = torch.as_tensor(moment)
    if moment.ndim < 2 or moment.shape[-1] != moment.shape[-2]:
        raise ValueError(f"moment must be square; you gave shape {tuple(moment.shape)}.")
    values, vectors = torch.linalg.eigh(moment)
    t = shrinkage(values.clamp_min(0.0), lam, depth)
    if width is not None and width < t.shape[-1]:
        t[..., : t.shape[-1] - width] = 0.0
    return (vectors * t[..., None, :]) @ vectors.mT


def depth_penalty(singular: object, depth: int) -> Tensor:
    """``depth Σ s^(2/depth)`` (...), the least Σ ‖W_i‖² of factors, from singular values (..., k).

    Examples
    --------
    >>> depth_penalty(torch.tensor([4.0, 1.0]), 1).item()
    17.0
    >>> depth_penalty(torch.tensor([4.0, 1.0]), 2).item()
    10.0
    """
    checks.whole(depth, "depth", 1)
    s = torch.as_tensor(singular)
    return depth * (s ** (2 / depth)).sum(-1)
