"""Pictures of ρ for the synthetic families."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from lowdim.evidence import plots

__all__ = ["ratio_by_dimension"]


def ratio_by_dimension(
    dims: Sequence[int], curves: Mapping[str, np.ndarray], printed: Mapping[str, float]
) -> Figure:
    """ρ against the ambient dimension: by family, (3, len(dims)) of network, Fisher's map, points.

    Thin lines are what the paper prints.

    Examples
    --------
    >>> fig = ratio_by_dimension([30, 100], {"sine": np.ones((3, 2))}, {"sine": 26.8})
    >>> fig.axes[0].get_xscale()
    'log'
    """
    fig, ax = plots.figure(6.6, 3.8)
    for (family, rows), colour in zip(curves.items(), plots.CYCLE, strict=False):
        for y, style, label in zip(rows, ("o-", "s--", ":"), (family, None, None), strict=True):
            ax.plot(dims, y, style, color=colour, ms=4, label=label)
        ax.axhline(printed[family], color=colour, lw=0.8, alpha=0.6)
    ax.set(xscale="log", yscale="log", xlabel="ambient dimension $d$", ylabel="ρ")
    ax.set_xticks(dims, [str(d) for d in dims])
    ax.minorticks_off()
    plots.legend(ax, loc="upper left")
    return fig
