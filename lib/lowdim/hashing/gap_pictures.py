"""Pictures of gaps between a sample and what it was drawn from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from lowdim.evidence import plots
from lowdim.hashing import bounds
from lowdim.hashing.trained_gaps import Run

__all__ = ["variance_gaps"]


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
