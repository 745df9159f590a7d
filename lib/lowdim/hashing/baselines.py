r"""What ρ is worth: what the data have by themselves, what a linear map gets, what rescaling does.

A representation with a large ratio ρ of distances between manifolds to distances within is only
remarkable against something simpler. Here are the simpler things. Points are (..., m, n, d): m
manifolds (or classes), n points on each, d coordinates, as in :mod:`lowdim.hashing.separation`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor

from lowdim import checks
from lowdim.checks import ArrayLike

ORDERS = (1, 2)


def raw_ratio(order: int, *, s: int, k: int, terms: int = 1, spread: float | None = None) -> float:
    r"""ρ of squared pair distances of :math:`x=\sum_i(V_i\gamma+W_i\theta)^{order}`, exactly.

    Expectations of both distances are also over the maps, whose entries are independent Gaussians.
    γ is standard Gaussian in s dimensions, θ has variance ``spread``² in each of k (1/k unless
    given); order 1 stands for odd functions near zero, order 2 for even ones. The ambient dimension
    cancels.

    Raises
    ------
    ValueError
        If ``order`` is not 1 or 2, a count is not 1 or more, or ``spread`` is not above 0.

    Examples
    --------
    >>> raw_ratio(1, s=11, k=11), round(raw_ratio(2, s=11, k=11, terms=4), 4)
    (12.0, 8.5039)
    """
    checks.choice(order, ORDERS, "order")
    for name, value in (("s", s), ("k", k), ("terms", terms)):
        checks.whole(value, name, 1)
    square = 1 / k if spread is None else float(spread) ** 2
    if not 0 < square < math.inf:
        raise ValueError(f"spread must be a number above 0; you gave {spread!r}.")
    if order == 1:
        return 1 + s / (k * square)
    between = s * (s + terms + 1)
    within = 2 * square * s * k + square**2 * k * (k + terms + 1)
    return 1 + between / within


def untangle(V: Tensor, W: Tensor, slopes: Sequence[float]) -> Tensor:
    r"""The linear map L (s, d) with L S = I and L U = 0, where S = Σ φᵢ'(0) Vᵢ and U = Σ φᵢ'(0) Wᵢ.

    V is (terms, d, s), W (terms, d, k). To first order L x is γ, whatever θ is. Of all such maps
    it has the smallest norm.

    Raises
    ------
    ValueError
        If there are not as many slopes as terms, or S and U together do not have full column rank.

    Examples
    --------
    >>> V, W = torch.eye(3)[None, :, :2], torch.eye(3)[None, :, 2:]
    >>> untangle(V.double(), W.double(), [2.0]).tolist()
    [[0.5, 0.0, 0.0], [0.0, 0.5, 0.0]]
    """
    V, W = checks.matrices(V, "V"), checks.matrices(W, "W")
    if len(slopes) != len(V) or len(V) != len(W):
        raise ValueError(
            f"each term needs a slope; there are {len(V)} and {len(W)} maps and {len(slopes)} "
            "slopes."
        )
    weight = torch.as_tensor(slopes, dtype=V.dtype)[:, None, None]
    both = torch.cat([(weight * V).sum(0), (weight * W).sum(0)], dim=1)
    if int(torch.linalg.matrix_rank(both)) < both.shape[1]:
        raise ValueError(
            f"S and U together need rank {both.shape[1]}; theirs is "
            f"{int(torch.linalg.matrix_rank(both))} in {both.shape[0]} dimensions."
        )
    return torch.linalg.pinv(both)[: V.shape[2]]


def principal(X: Tensor, rank: int) -> Tensor:
    """Directions (rank, d) of largest variance of the points (m, n, d), which are not labelled.

    Raises
    ------
    ValueError
        If ``rank`` is not from 1 to min(m n, d).

    Examples
    --------
    >>> principal(torch.tensor([[[3.0, 0.0], [-3.0, 0.0]], [[0.0, 1.0], [0.0, -1.0]]]), 1).abs()
    tensor([[1., 0.]])
    """
    flat = _points(X).flatten(0, 1)
    checks.rank_in_range(rank, flat.shape[0], flat.shape[1], "rank")
    return torch.linalg.svd(flat - flat.mean(0), full_matrices=False)[2][:rank]


def fisher(X: Tensor, rank: int, *, ridge: float = 1e-8) -> Tensor:
    """Fisher's discriminants (rank, d): the directions with most variance between for that within.

    Rows are scaled so that the variance within is the identity, up to ``ridge`` times its mean
    eigenvalue, which is added to it. X is (m, n, d), labelled by its first axis.

    Raises
    ------
    ValueError
        If ``rank`` is not from 1 to min(m, d), ``ridge`` is negative, or nothing varies within.

    Examples
    --------
    >>> X = torch.tensor([[[0.0, 9.0], [0.1, -9.0]], [[5.0, 9.0], [5.1, -9.0]]]).double()
    >>> L = fisher(X, 1)
    >>> bool((L[0, 1] / L[0, 0]).abs() < 0.01)
    True
    """
    X = _points(X).to(torch.float64)
    checks.rank_in_range(rank, len(X), X.shape[2], "rank")
    if not ridge >= 0:
        raise ValueError(f"ridge must be 0 or more; you gave {ridge!r}.")
    means = X.mean(1)
    off = (X - means[:, None]).flatten(0, 1)
    within = off.mT @ off / len(off)
    size = float(within.diagonal().mean())
    if size == 0:
        raise ValueError(
            "Fisher's discriminants need variance within the manifolds; there is none."
        )
    within = within + ridge * size * torch.eye(X.shape[2], dtype=X.dtype)
    values, vectors = torch.linalg.eigh(within)
    whiten = vectors / values.clamp_min(1e-300).sqrt()  # (d, d)
    centred = (means - means.mean(0)) @ whiten
    return torch.linalg.svd(centred, full_matrices=False)[2][:rank] @ whiten.mT


def dead_decay(length: float, *, classes: int, layers: int, share: float = 1.0) -> float:
    r"""The λ from which on the zero network is a global minimum of squared loss plus decay.

    The objective is ``share`` times the mean of :math:`\|f(x)-y\|^2` over balanced one-hot classes
    plus :math:`\frac\lambda2\sum_l\|W_l\|_F^2`, for a network of ``layers`` ≥ 2 weight matrices
    without biases whose activations satisfy :math:`|\sigma(t)|\le|t|`; ``length`` is the root of
    the mean square of the inputs' norms.

    Raises
    ------
    ValueError
        If a count is too small or a number is not above 0.

    Examples
    --------
    >>> round(dead_decay(2.0, classes=2, layers=3), 6)  # (R² / 2m)^(1/3)
    1.0
    """
    checks.whole(classes, "classes", 1)
    checks.whole(layers, "layers", 2)
    if not (length > 0 and share > 0):
        raise ValueError(f"length and share must be above 0; you gave {length!r} and {share!r}.")
    a = 2 / layers
    t = 2 * (1 - a) / (2 - a)
    peak = 2.0 if layers == 2 else 2 * t ** (1 - a) - t ** (2 - a)
    return 2 * share / layers * (length / classes**0.5) ** a * peak


def feature_squares(R: ArrayLike) -> tuple[Tensor, Tensor]:
    """Mean squared differences (p,) of each feature between and within manifolds, over pairs.

    R is (m, n, p) with m and n at least 2. The sums over features are the mean squared distances.

    Raises
    ------
    ValueError
        If there is one manifold only, or one point on each.

    Examples
    --------
    >>> between, within = feature_squares([[[0.0], [2.0]], [[5.0], [7.0]]])
    >>> between.tolist(), within.tolist()
    ([27.0], [4.0])
    """
    R = _points(R).to(torch.float64)
    m, n, _ = R.shape
    if m < 2 or n < 2:
        raise ValueError(
            f"ratios need two manifolds and two points on each; R is {tuple(R.shape)}."
        )
    variance = R.var(1, correction=0)  # (m, p)
    within = (2 * variance * n / (n - 1)).mean(0)
    between = 2 * m / (m - 1) * R.mean(1).var(0, correction=0) + 2 * variance.mean(0)
    return between, within


def feature_ratios(R: ArrayLike) -> Tensor:
    """ρ of squared pair distances of each feature alone, (p,), from representations (m, n, p).

    NaN for a feature that never varies, infinite for one that does not vary within any manifold.

    Examples
    --------
    >>> feature_ratios([[[0.0, 1.0], [2.0, 1.0]], [[5.0, 1.0], [7.0, 1.0]]]).tolist()
    [6.75, nan]
    """
    between, within = feature_squares(R)
    return between / within


def rescale(R: ArrayLike, target: float) -> Tensor:
    """Factors (p,) above 0 for the features of R (m, n, p) that bring its ρ to ``target``.

    ρ is that of squared pair distances. Multiplying feature i by its factor and dividing the next
    layer's weights by it leaves a network's outputs as they are. Factors have mean square one over
    the features that vary.

    Raises
    ------
    ValueError
        If ``target`` is not strictly between the smallest and the largest ratio of one feature.

    Examples
    --------
    >>> R = torch.tensor([[[0.0, 0.0], [1.0, 3.0]], [[9.0, 1.0], [8.0, 4.0]]]).double()
    >>> from lowdim.hashing.separation import rho
    >>> [round(float(rho(Q, within="pairs", over="mean")), 3) for Q in (R, R * rescale(R, 10.0))]
    [7.0, 10.0]
    """
    between, within = feature_squares(R)
    ratios = between / within
    low, high = float(ratios[~ratios.isnan()].min()), float(ratios[~ratios.isnan()].max())
    if not low < target < high:
        raise ValueError(f"target must lie strictly between {low} and {high}; you gave {target}.")
    # weights exp(h·rank) on the sorted ratios move the mean ratio from one end to the other
    alive = between > 0
    order = torch.zeros_like(between)
    order[alive] = ratios[alive].argsort().argsort().double()
    order = order / order.max().clamp_min(1.0) - 0.5

    def found(h: float) -> tuple[float, Tensor]:
        weight = torch.where(alive, (h * order - abs(h) / 2).exp(), 1.0)
        return float((weight * between).sum() / (weight * within).sum()), weight

    low, high = -700.0, 700.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if found(middle)[0] < target else (low, middle)
    weight = found((low + high) / 2)[1]
    return (weight / weight[alive].mean()).sqrt()


def random_classes(count: int, rng: np.random.Generator) -> Iterator[tuple[Tensor, float]]:
    """Representations (m, n, p) with every size from 2 to 6, each with a ρ that rescaling reaches.

    That ρ, of squared pair distances, is uniform between those of the worst and the best feature,
    a twentieth of the way from both.

    Examples
    --------
    >>> R, target = next(random_classes(1, np.random.default_rng(0)))
    >>> each = feature_ratios(R)
    >>> bool(each.min() < target < each.max())
    True
    """
    for _ in range(count):
        m, n, p = (int(v) for v in rng.integers(2, 7, 3))
        own, shared = rng.standard_normal((m, n, p)), rng.standard_normal((m, 1, p))
        R = torch.from_numpy(own + 2 * shared)
        low, high = (float(v) for v in feature_ratios(R).aminmax())
        yield R, low + rng.uniform(0.05, 0.95) * (high - low)


def _points(X: ArrayLike) -> Tensor:
    X = checks.matrices(X, "X")
    if X.ndim != 3:
        raise ValueError(f"points need axes (m, n, d); the shape is {tuple(X.shape)}.")
    return X
