"""Explicit bounds on what a sample says about a population, for representations r = Bz.

All hold with probability 1 - δ for all ‖B‖_F <= β at once, where ‖z‖ <= ζ and z >= 0, and are given
in units of β²: multiply by ‖B‖_F². ``paper_…`` are those of Part IV's paper with the constants that
its proofs give and ‖C‖₂ = 4; the others are proved in this book.
"""

from __future__ import annotations

from math import ceil, log, log2, sqrt

import torch
from torch import Tensor

PAPER = 16.0  # ‖C‖₂² at the paper's 4


def relu_radius(width: int, inputs: int, delta: float = 1e-3) -> float:
    """1/√2 + √(d/D) + √(2 log(1/δ)/D), at least sup ‖σ(Cx)‖ over unit x with probability 1 - δ.

    Examples
    --------
    >>> round(relu_radius(10**8, 4), 3)
    0.708
    """
    return sqrt(0.5) + sqrt(inputs / width) + sqrt(2 * log(1 / delta) / width)


def variance_new_points(m: int, n: int, zeta: float, delta: float) -> float:
    """Mean variance on the training manifolds minus the penalty: pooled over mn points.

    Examples
    --------
    >>> variance_new_points(4, 25, 1.0, 1.0) == 2**0.5 / 10
    True
    """
    return zeta**2 * (sqrt(2) + sqrt(2 * log(1 / delta))) / sqrt(m * n)


def variance_new_manifolds(m: int, zeta: float, delta: float) -> float:
    """Mean variance over all manifolds minus the penalty, from two points or more on each of m.

    Examples
    --------
    >>> variance_new_manifolds(4, 1.0, 1.0)
    0.5
    """
    return zeta**2 * (1 + sqrt(log(1 / delta) / 2)) / sqrt(m)


def distance_new_manifolds(m: int, zeta: float, delta: float) -> float:
    """Mean squared distance in the sample minus that over two new manifolds.

    Examples
    --------
    >>> variance_new_manifolds(9, 1.0, 0.1) < distance_new_manifolds(9, 1.0, 0.1)
    True
    """
    return 2 * zeta**2 * (sqrt(2) + sqrt(2 * log(1 / delta))) / sqrt(m)


def distance_new_points(m: int, n: int, zeta: float, delta: float) -> float:
    """Mean squared distance in the sample minus that between the training manifolds: pooled.

    Examples
    --------
    >>> distance_new_points(4, 25, 1.0, 1.0)
    0.4
    """
    return 2 * zeta**2 * (2 + sqrt(2 * log(1 / delta))) / sqrt(m * n)


def paper_variance_new_points(m: int, n: int, delta: float) -> float:
    """Lemma 50: 2 R_n with R_n = 3‖C‖²/√n, and c√(2 log(m/δ)/n) with c = 4‖C‖².

    Examples
    --------
    >>> paper_variance_new_points(1, 16, 1.0)
    24.0
    """
    return PAPER * (6 + 4 * sqrt(2 * log(m / delta))) / sqrt(n)


def paper_variance_new_manifolds(m: int, n: int, delta: float) -> float:
    """Lemma 51: 8‖C‖²/√m + 4‖C‖²√(2 log(2/δ)/m), on top of Lemma 50.

    Examples
    --------
    >>> paper_variance_new_manifolds(4, 9, 0.1) > paper_variance_new_points(4, 9, 0.1)
    True
    """
    own = PAPER * (8 + 4 * sqrt(2 * log(2 / delta))) / sqrt(m)
    return own + paper_variance_new_points(m, n, delta)


def paper_distance_new_points(m: int, n: int, delta: float) -> float:
    """Lemma 52: 8‖C‖²/√n + 4‖C‖²√(2 log(2m(m-1)/δ)/n).

    Examples
    --------
    >>> round(paper_distance_new_points(2, 256, 4.0), 9)
    8.0
    """
    return PAPER * (8 + 4 * sqrt(2 * log(2 * m * (m - 1) / delta))) / sqrt(n)


def paper_distance_new_manifolds(m: int, n: int, delta: float) -> float:
    """Lemma 54: 8√2‖C‖²/√m + 4‖C‖²√(4 log(2/δ)/m), on top of Lemma 52.

    Examples
    --------
    >>> paper_distance_new_manifolds(4, 9, 0.1) > paper_distance_new_points(4, 9, 0.1)
    True
    """
    own = PAPER * (8 * sqrt(2) + 8 * sqrt(log(2 / delta))) / sqrt(m)
    return own + paper_distance_new_points(m, n, delta)


def row_sizes(A: Tensor) -> Tensor:
    """ã_l² = ½‖A_l‖² + Σ_{j≠l} ‖A_j‖²/(2(m-1)), (m,), for A (m, T): what ‖w_l ⊙ AB‖ really sees.

    Examples
    --------
    >>> row_sizes(torch.tensor([[0.0], [2.0], [2.0]])).tolist()
    [2.0, 3.0, 3.0]
    """
    rows = A.square().sum(-1)
    return 0.5 * rows + 0.5 * (rows.sum() - rows) / (len(rows) - 1)


def loss_new_points(A: Tensor, beta: float, n: int, zeta: float, delta: float) -> float:
    """Lemma 48 with octaves for the norms of the rows of A (m, T); β is ‖B‖_F, not in its units.

    Examples
    --------
    >>> one, four = (loss_new_points(torch.eye(3), 1.0, n, 1.0, 0.1) for n in (10, 40))
    >>> round(one / four, 9)
    2.0
    """
    m = len(A)
    octaves = max(0, ceil(log2(max(float(A.square().sum()) / 2, 1.0))))
    r = 2 ** (torch.log2(row_sizes(A).clamp_min(1.0)).ceil() / 2)
    reach = r * beta * zeta
    rough = 2 * (sqrt(2) * reach + reach**2 / sqrt(2))
    tail = (sqrt(0.5) + reach) ** 2 * sqrt(log(m * (1 + octaves) / delta) / 2)
    return float((rough + tail).mean()) / sqrt(n)


def paper_loss_new_points(A: Tensor, beta: float, n: int, delta: float) -> float:
    """Lemma 48 as its proof has it: ‖P‖ = a_l β, ‖b‖ = 1/2, ‖z‖ = 4, the O's read as one.

    Examples
    --------
    >>> paper_loss_new_points(torch.eye(3), 1.0, 10, 0.1) > loss_new_points(torch.eye(3), 1.0, 10, 1.0, 0.1)
    True
    """  # noqa: E501
    reach = A.square().sum(-1).sqrt() * beta * sqrt(PAPER)
    tail = (0.5 + reach) ** 2 * sqrt(2 * log(len(A) / delta))
    return float((2 * (reach + reach**2) + tail).mean()) / sqrt(n)
