"""Pictures of gaps between a sample and what it was drawn from, and of what bounds them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from matplotlib.figure import Figure

from lowdim.evidence import plots
from lowdim.hashing import bounds, square_classes
from lowdim.hashing.trained_gaps import Run
from lowdim.seeds import generator

__all__ = ["offsets", "variance_gaps"]


def variance_gaps(runs: Sequence[Run], *, delta: float = 0.05) -> Figure:
    """Variance on new manifolds minus that on the sample, over ‖B‖_F², against m and against n.

    On the left at the smallest n, on the right at the largest m; only positive gaps are drawn.

    Examples
    --------
    >>> from lowdim.hashing.trained_gaps import networks
    >>> fig = variance_gaps(networks([3, 4], [2], width=20, repeats=1, unseen=20))
    >>> [ax.get_title(loc="left") for ax in fig.axes]
    ['$n=2$', '$m=4$']
    """
    fig, axes = plots.figure(7.8, 3.4, ncols=2, sharey=True)
    counts, points = (sorted({getattr(run, axis) for run in runs}) for axis in "mn")
    fixed = {"m": counts[-1], "n": points[0]}
    zeta = runs[0].zeta
    for ax, axis, other, grid in zip(axes, "mn", "nm", (counts, points), strict=True):
        chosen = [run for run in runs if getattr(run, other) == fixed[other]]
        at = [getattr(run, axis) for run in chosen]
        learnt = [(run.variance[2] - run.variance[0]) / run.size for run in chosen]
        ax.loglog(at, [g if g > 0 else np.nan for g in learnt], "o", ms=4.5, label="trained")
        ax.loglog(at, [run.worst_new for run in chosen], "x", ms=6, label="worst $B$")
        line = [{**fixed, axis: value} for value in grid]
        ours = [bounds.variance_new_manifolds(v["m"], zeta, delta) for v in line]
        paper = [bounds.paper_variance_new_manifolds(v["m"], v["n"], delta) for v in line]
        ax.loglog(grid, ours, label="our bound")
        ax.loglog(grid, paper, "--", label="the paper's")
        ax.set_xlabel(f"${axis}$")
        ax.set_xticks(grid, [str(v) for v in grid])
        ax.minorticks_off()
        ax.set_title(f"${other}={fixed[other]}$", loc="left")
    axes[0].set_ylabel(r"gap / $\|B\|_F^2$")
    plots.legend(axes[1], loc="center left", bbox_to_anchor=(1.0, 0.5))
    return fig


def offsets(*, points: int = 6, radius: float = 0.3, seed: int = 0) -> tuple[Figure, float]:
    """The complexity of x ↦ ‖Px + b‖² on unit vectors against ‖b‖, and where the bound is crossed.

    The bound is the printed one; the place is the first of those drawn, or nan.

    Examples
    --------
    >>> fig, place = offsets(points=3)
    >>> len(fig.axes), 0 < place < 3
    (1, True)
    """
    X = torch.from_numpy(generator(seed, 0, "offsets").standard_normal((points, 3)))
    X = X / X.norm(dim=1, keepdim=True)
    b = torch.linspace(0, 3, 31, dtype=torch.float64)
    case = {"X": X.expand(len(b), *X.shape), "beta": torch.full_like(b, radius), "b": b}
    free, fixed = (square_classes.complexities(**case, free=f) for f in (True, False))
    printed = (2 * b * radius + radius**2) / points**0.5
    mended = (2 * b * radius + radius**2 / 2**0.5) / points**0.5
    fig, ax = plots.figure(6.2, 3.4)
    ax.plot(b, free, color=plots.CYCLE[1], label="$b$ free in a ball, exactly")
    ax.plot(b, fixed, color=plots.CYCLE[0], label="$b$ fixed, exactly")
    ax.plot(b, printed, "--", color=plots.CYCLE[1], label="the printed bound")
    ax.plot(b, mended, "--", color=plots.CYCLE[0], label="the mended bound, $b$ fixed")
    ax.set(xlabel=r"$\|b\|$", ylabel="$R_n$")
    plots.legend(ax)
    above = b[free > printed].tolist()
    return fig, above[0] if above else float("nan")
