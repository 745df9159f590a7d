r"""Balanced factors of a product are its own up to a rotation: how far two pairs of them are apart.

A pair is stacked, :math:`X=\left(\begin{smallmatrix}A\\B^\top\end{smallmatrix}\right)`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from matplotlib.figure import Figure
from torch import Tensor

from lowdim.evidence import plots
from lowdim.hashing import factored

__all__ = ["Moves", "distances", "nearest", "random_moves", "stacked", "two_products"]


def stacked(W: Tensor, width: int) -> Tensor:
    """Balanced factors of W (..., m, n), padded with zeros to ``width``: X (..., m + n, width).

    They are not rotated: A = U S^½ and B = S^½ Vᵀ.

    Raises
    ------
    ValueError
        If ``width`` is less than min(m, n).

    Examples
    --------
    >>> X = stacked(torch.tensor([[4.0, 0.0]], dtype=torch.float64), 2)
    >>> (X @ X.mT)[0].abs().tolist()
    [4.0, 4.0, 0.0]
    """
    A, B = factored.balanced(W)
    missing = width - A.shape[-1]
    if missing < 0:
        raise ValueError(f"width must be {A.shape[-1]} or more; you gave {width}.")
    X = torch.cat([A, B.mT], -2)
    return torch.cat([X, X.new_zeros(*X.shape[:-1], missing)], -1)


def nearest(X: Tensor, Y: Tensor) -> Tensor:
    """Y R (..., n, T) with the rotation R that brings Y nearest to X (Procrustes).

    Examples
    --------
    >>> X = torch.tensor([[1.0, 2.0], [0.0, 1.0]], dtype=torch.float64)
    >>> swapped = X.flip(-1)
    >>> bool((nearest(X, swapped) - X).abs().max() < 1e-12)
    True
    """
    U, _, Vh = torch.linalg.svd(Y.mT @ X)
    return Y @ U @ Vh


@dataclass(frozen=True)
class Moves:
    """Products that were moved a little or much, and their factors.

    size: (count,) lengths ‖W₁ - W₂‖; X1, X2: (count, m + n, T) stacked balanced factors, those of
    W₁ turned at random; deficient: (count,) whether W₁ has a zero row.
    """

    size: Tensor
    X1: Tensor
    X2: Tensor
    deficient: Tensor


def random_moves(
    count: int, rng: np.random.Generator, *, m: int = 3, n: int = 4, T: int = 5
) -> Moves:
    """Random products, a quarter of them without their first row, and moves over five decades.

    Examples
    --------
    >>> drawn = random_moves(8, np.random.default_rng(0))
    >>> tuple(drawn.X1.shape), int(drawn.deficient.sum())
    ((8, 7, 5), 2)
    """

    def normal(*shape: int) -> Tensor:
        return torch.from_numpy(rng.standard_normal((count, *shape)))

    W1 = normal(m, n) * torch.where(normal(1, 1) > 0, 1.0, normal(1, n))
    deficient = torch.arange(count) < count // 4
    W1[deficient, 0] = 0
    size = torch.from_numpy(10 ** rng.uniform(-4, 1, count))
    move = normal(m, n)
    W2 = W1 + (size / move.square().sum((-2, -1)).sqrt())[:, None, None] * move
    turn = torch.linalg.qr(normal(T, T)).Q
    return Moves(size, stacked(W1, T) @ turn, stacked(W2, T), deficient)


def two_products(count: int, rng: np.random.Generator) -> dict[str, Tensor]:
    """Products W and V of all sizes, and R to make a rotation of: (count, 3, 3) each.

    Examples
    --------
    >>> sorted(two_products(2, np.random.default_rng(0)))
    ['R', 'V', 'W']
    """

    def normal() -> Tensor:
        return torch.from_numpy(rng.standard_normal((count, 3, 3)))

    W, V = normal(), normal()
    V = V * torch.from_numpy(10 ** rng.uniform(-4, 0, (count, 1, 1)))
    return {"W": W, "V": V, "R": normal()}


def distances(moves: Moves, far: Tensor, near: Tensor, *, bound: float) -> Figure:
    """Squared distances of factors as they are and rotated, (count,), against that of products.

    The line is √(``bound`` ‖W₁ - W₂‖).

    Examples
    --------
    >>> drawn = random_moves(8, np.random.default_rng(0))
    >>> fig = distances(drawn, torch.ones(8), torch.ones(8), bound=2.0)
    >>> fig.axes[0].get_yscale()
    'log'
    """
    fig, ax = plots.figure(7, 3.3)
    low = moves.deficient
    clouds = {
        "paper's factors": (moves.size, far, 1),
        "rotated, full rank": (moves.size[~low], near[~low], 0),
        "rotated, rank deficient": (moves.size[low], near[low], 2),
    }
    for name, (x, y, at) in clouds.items():
        ax.loglog(x, y.sqrt(), ".", ms=3, color=plots.CYCLE[at], label=name)
    line = np.logspace(-4, 1, 20)
    ax.loglog(line, np.sqrt(bound * line), color=plots.INK, lw=1, label="our bound")
    ax.set(xlabel=r"$\|W_1-W_2\|_F$", ylabel="distance of the factors", ylim=(1e-5, 100))
    plots.legend(ax, loc="lower right")
    return fig
