"""Minima by inner width: stationary points of small problems, and what many starts reach."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np
import torch
from matplotlib.figure import Figure
from torch import Tensor

from lowdim.evidence import plots
from lowdim.hashing import factored, traps
from lowdim.hashing.factored import Problem
from lowdim.seeds import generator

__all__ = [
    "Reached", "Stationary", "by_width", "papers", "random_problems", "reached", "same_minimum",
    "stationary",
]  # fmt: skip

SETTLED = 1e-7  # a gradient norm below this is a stationary point to the accuracy needed here


def random_problems(count: int, rng: np.random.Generator, *, m: int = 3, n: int = 4) -> Problem:
    """Weighted square losses of W (count, m, n), weights over decades; both penalties are one.

    Examples
    --------
    >>> tuple(random_problems(5, np.random.default_rng(0)).weights.shape)
    (5, 3, 4)
    """
    weights = torch.from_numpy(10 ** rng.uniform(-1.5, 1.5, (count, m, n)))
    first, second = (torch.from_numpy(rng.standard_normal((count, m, n))) for _ in range(2))
    return traps.plain(weights, 2 * first + 1.5 / weights.sqrt() * second)


def papers(count: int, *, seed: int, variance: float, m: int = 3) -> Problem:
    """The paper's objective on random features of four points of each class, unequal penalties.

    ``variance`` 0 is its (2), 1 its (6).

    Examples
    --------
    >>> tuple(papers(2, seed=0, variance=1.0).features.shape)
    (2, 6, 12)
    """
    rng = generator(seed, 1, "papers")
    Z = torch.from_numpy(rng.standard_normal((count, 6, 4 * m))).clamp_min(0)
    labels = torch.arange(m).repeat_interleave(4)
    return factored.problem(Z, labels, 0.004, 0.03, variance=variance)


def same_minimum(p: Problem, T: int, *, seed: int) -> tuple[Tensor, Tensor]:
    """How much descent at width T ends above the certified convex minimum, relatively, and whether
    it settled: (problems,) both.

    Raises
    ------
    ValueError
        If the convex minimum is not certified to eight digits.

    Examples
    --------
    >>> excess, settled = same_minimum(papers(2, seed=0, variance=0.0), 3, seed=0)
    >>> bool((excess < 1e-7).all()), settled.tolist()
    (True, [True, True])
    """
    ideal, down = factored.convex(p), factored.descend(p, width=T, scale=1.0, seed=seed)
    if not bool((ideal.gap < 1e-8 * ideal.value).all()):
        raise ValueError(
            "the convex minimum is certified to a duality gap of "
            f"{float((ideal.gap / ideal.value).max()):.1e} only; 1e-8 is needed."
        )
    return (down.value / ideal.value - 1).flatten(), down.gradient.flatten() < SETTLED


@dataclass(frozen=True)
class Stationary:
    """What is measured at stationary points, (instances,) each.

    excess: of the objective over the convex minimum; slope: (‖G‖ - 2λ)₊‖W*‖; bend: minus the least
    eigenvalue of the Hessian (if negative) times ‖W*‖; with λ = 1, spectral and nuclear norms.
    """

    excess: Tensor
    slope: Tensor
    bend: Tensor


def _padded(found: factored.Minimum) -> tuple[Tensor, Tensor]:
    """One more column of A and row of B, of zeros."""
    A = torch.cat([found.A, torch.zeros_like(found.A[..., :1])], -1)
    return A, torch.cat([found.B, torch.zeros_like(found.B[..., :1, :])], -2)


def _at_width(p: Problem, T: int, seed: int) -> tuple[Tensor, ...]:
    ideal, found = factored.convex(p), factored.descend(p, width=T, scale=1.0, seed=seed)
    A, B = _padded(found)
    G = 2 * p.weights * (A @ B @ p.features - p.targets) @ p.features.mT
    norm = torch.linalg.svdvals(ideal.W).sum(-1)
    slope = (torch.linalg.svdvals(G)[..., 0] - 2).clamp_min(0) * norm
    low = torch.linalg.eigvalsh(factored.hessian(p, A, B))[..., 0].clamp_max(0)
    kept = found.gradient < SETTLED
    return tuple(v[kept] for v in (found.value - ideal.value, slope, -low * norm))


def stationary(count: int, rng: np.random.Generator, *, seed: int) -> Stationary:
    """Local minima of widths 1 to 3 of random problems, padded with zeros to one width more.

    Padding makes them stationary at that width. Those that did not settle are left out.

    Examples
    --------
    >>> found = stationary(2, np.random.default_rng(0), seed=0)
    >>> bool((found.excess <= found.slope + 1e-6).all())
    True
    """
    parts = [_at_width(random_problems(count, rng), T, seed + T) for T in (1, 2, 3)]
    names = [field.name for field in fields(Stationary)]
    return Stationary(*(torch.cat([part[i] for part in parts]) for i in range(len(names))))


@dataclass(frozen=True)
class Reached:
    """Local minima reached from random starts at one width: objectives and losses, (minima,) each.

    traps: how many lie above the best of them by more than a millionth.
    """

    values: np.ndarray
    losses: np.ndarray

    @property
    def traps(self) -> int:
        best = self.values.min(initial=np.inf)
        return int((self.values > best * (1 + 1e-6)).sum())


def reached(p: Problem, T: int, *, starts: int, seed: int) -> Reached:
    """Descent at width T from so many starts; what did not settle is left out.

    Up to T = 4 the Hessian is asked as well, and a point with a direction down is left out.

    Examples
    --------
    >>> p, A = traps.smallest()
    >>> reached(p, 2, starts=3, seed=0).traps
    0
    """
    kept = []
    for i in range(starts):
        run = factored.descend(p, width=T, scale=0.3, seed=1000 * seed + i, steps=3000)
        low = 0.0
        if T <= 4:
            low = float(torch.linalg.eigvalsh(factored.hessian(p, run.A, run.B))[0])
        if float(run.gradient) < 1e-8 and low > -1e-8:
            kept.append((float(run.value), float(run.loss)))
    return Reached(*np.array(kept).reshape(-1, 2).T)


def by_width(found: Mapping[int, Reached], *, convex: float, mark: int) -> Figure:
    """Objectives of local minima against the width, and their excess over the best of that width.

    A line marks the ``convex`` minimum, another the width ``mark``.

    Examples
    --------
    >>> some = Reached(np.array([1.0, 1.1]), np.array([0.5, 0.6]))
    >>> fig = by_width({1: some, 2: some}, convex=0.9, mark=2)
    >>> fig.axes[1].get_ylabel()
    'excess over the best at $T$ (%)'
    """
    fig, (ax, right) = plots.figure(7.4, 3.2, ncols=2)
    for T, at in found.items():
        v = at.values
        if not len(v):
            continue
        style = {"ms": 5, "alpha": 0.5}
        ax.plot(np.full(len(v), T), v, "o", color=plots.CYCLE[0], **style)
        right.plot(np.full(len(v), T), 100 * (v / v.min() - 1), "o", color=plots.CYCLE[1], **style)
    ax.axhline(convex, color=plots.CYCLE[2], label="convex minimum")
    for each in (ax, right):
        each.axvline(mark, color=plots.FAINT, ls="--", lw=1, label="$T=m$")
        each.set_xlabel("inner width $T$")
    ax.set(ylabel="objective", ylim=(0, None))
    right.set_ylabel("excess over the best at $T$ (%)")
    plots.legend(ax)
    return fig
