r"""Local minima that are not global: the smallest trap of two factors, and one for every width.

The objective is a weighted square loss of :math:`W=AB` with penalties
:math:`\|A\|_F^2+\|B\|_F^2`, and the inner width is too small.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from matplotlib.figure import Figure
from torch import Tensor

from lowdim import checks
from lowdim.evidence import plots
from lowdim.hashing import factored
from lowdim.hashing.factored import Problem

__all__ = ["Look", "direct_sum", "look", "pictured", "plain", "smallest"]


def plain(weights: Tensor, targets: Tensor) -> Problem:
    """The problem of W itself, with both penalties one: weights and targets (..., m, n).

    Examples
    --------
    >>> p = plain(torch.ones(2, 2).double(), torch.eye(2).double())
    >>> p.loss(torch.zeros(2, 2).double()).item()
    2.0
    """
    n = targets.shape[-1]
    eye = torch.eye(n, dtype=torch.float64).expand(*targets.shape[:-2], n, n)
    return Problem(eye, targets, weights, 1.0, 1.0)


def smallest() -> tuple[Problem, Tensor]:
    """The trap of width one in a problem of two rows and two columns, and its A = Bᵀ (2, 1).

    Examples
    --------
    >>> p, A = smallest()
    >>> round(p.value(A, A.mT).item(), 6)
    26.571429
    """
    return direct_sum(1, extra=0)


def direct_sum(T: int, *, extra: int = 1) -> tuple[Problem, Tensor]:
    """A problem with a trap of width T, and the trap's A = Bᵀ (T + 1 + extra, T).

    The smallest trap, T - 1 held directions and ``extra`` empty ones. The convex problem has a
    solution of rank T.

    Raises
    ------
    ValueError
        If T is no whole number of 1 or more, or ``extra`` none of 0 or more.

    Examples
    --------
    >>> p, A = direct_sum(3)
    >>> tuple(A.shape), max(g.abs().max().item() for g in p.gradient(A, A.mT)) < 1e-12
    ((5, 3), True)
    """
    size = checks.whole(T, "T", 1) + 1 + checks.whole(extra, "extra", 0)
    weights = torch.full((size, size), 7.0, dtype=torch.float64)
    targets = torch.zeros(size, size, dtype=torch.float64)
    weights[0, 1] = weights[1, 0] = 1.0
    targets[:2, :2] = torch.tensor([[11 / 7, 2.0], [2.0, 11 / 7]], dtype=torch.float64)
    held = torch.arange(2, T + 1)
    weights[held, held], targets[held, held] = 1.0, 2.0
    A = torch.zeros(size, T, dtype=torch.float64)
    A[0, 0], A[1, 0] = 1.0, -1.0
    A[held, held - 1] = 1.0
    return plain(weights, targets), A


@dataclass(frozen=True)
class Look:
    """What a point A = Bᵀ is: gradient: its norm; flat: directions without curvature, in number;
    lowest, next: the least eigenvalue of the Hessian and the least beyond the flat ones; rank: that
    of the convex solution; excess: of the objective over the convex minimum.
    """

    gradient: float
    flat: int
    lowest: float
    next: float
    rank: int
    excess: float


def look(p: Problem, A: Tensor) -> Look:
    """What the point A = Bᵀ (n, T) of a problem is.

    Examples
    --------
    >>> at = look(*smallest())
    >>> at.flat, round(at.lowest, 9), at.rank, at.excess > 1
    (0, 4.0, 1, True)
    """
    curve = torch.linalg.eigvalsh(factored.hessian(p, A, A.mT))
    flat = int((curve.abs() < 1e-9).sum())
    ideal = factored.convex(p)
    return Look(
        sum(float(g.norm()) for g in p.gradient(A, A.mT)),
        flat,
        float(curve[0]),
        float(curve[flat]),
        int((torch.linalg.svdvals(ideal.W) > 1e-5).sum()),
        float(p.value(A, A.mT) - ideal.value),
    )


def pictured() -> tuple[Figure, list[float]]:
    """The smallest trap at widths one and two, and the heights that the picture shows.

    Left the objective over the direction of A, minimized over B and the length of A; right along
    the direction in which it bends down. The heights: the ridge, the trap, the global minimum, and
    the lowest point of the right curve.

    Examples
    --------
    >>> fig, heights = pictured()
    >>> [round(height, 2) for height in heights[1:3]], len(fig.axes)
    ([26.57, 6.57], 2)
    """
    p, A = smallest()
    angle = torch.linspace(-90, 90, 361, dtype=torch.float64)
    length = torch.logspace(-1.5, 1, 400, dtype=torch.float64)
    turn = torch.deg2rad(angle)
    rows = length[:, None, None] * torch.stack([turn.cos(), turn.sin()], -1)
    best = (rows @ (p.weights * p.targets)) / (rows.square() @ p.weights + 1)
    valley = p.value(rows[..., None], best[..., None, :]).amin(0)
    t = torch.linspace(0, 1.3, 200, dtype=torch.float64)
    second = t[:, None] * torch.full((2,), 0.5**0.5, dtype=torch.float64)
    wide = torch.stack([A[:, 0].expand(len(t), 2), second], -1)
    path = p.value(wide, wide.mT)
    trap, least = float(p.value(A, A.mT)), float(factored.convex(p).value)
    heights = [float(valley.max()), trap, least, float(path.min())]
    fig, (ax, right) = plots.figure(7.4, 3.1, ncols=2)
    ax.plot(angle, valley)
    ax.plot(-45, trap, "o", color=plots.CYCLE[1], label="trap")
    ax.plot(45, least, "o", color=plots.CYCLE[2], label="global minimum")
    ax.set(xlabel="direction of $A$ (degrees)", ylabel="objective", title="$T=1$")
    ax.set(xticks=[-90, -45, 0, 45, 90], ylim=(0, 1.12 * heights[0]))
    plots.legend(ax, loc="lower left")
    right.plot(t, path)
    right.plot(0, trap, "o", color=plots.CYCLE[1])
    right.axhline(least, color=plots.CYCLE[2], ls="--", lw=1)
    right.set(xlabel="step along the new direction", title="$T=2$", ylim=ax.get_ylim())
    return fig, heights
