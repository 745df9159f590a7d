"""Pictures of learned weights: distances while a network trains, shares against the noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from lowdim.evidence import plots
from lowdim.preserve.learning import Fitted

__all__ = ["distances", "shares"]

_STYLES = ("-", "--", ":", "-.", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 3)))
_PANELS = {"truth Y": "distance from $P(X^*)$", "data Y": "distance from $P(X)$"}
_MARKS = ("o-", "s--", "^-.", "v:", "d-", "x--")


def distances(
    runs: Mapping[str, Fitted], chance: float, *, panels: Sequence[str] = tuple(_PANELS)
) -> Figure:
    """Distance of P(Y) from P(X*) and from P(X) against the step: median, middle 80 % of draws.

    Examples
    --------
    >>> from lowdim.preserve import foils, learning
    >>> run = foils.trained(learning.Setting(80, 20), "clusters", draws=1, steps=3)
    >>> len(distances({"clusters": run}, 0.9).axes)
    2
    """
    height = 4.3 if len(panels) > 1 else 3.2
    fig, axes = plots.figure(7.6, height, ncols=len(panels), sharey=True, squeeze=False)
    for ax, key in zip(axes[0], panels, strict=True):
        for (name, fitted), style in zip(runs.items(), _STYLES, strict=False):
            steps = fitted.run.trace_steps
            bands = np.percentile(fitted.run.trace[key].numpy(), (10, 50, 90), axis=1)
            (line,) = ax.plot(steps, bands[1], ls=style, label=name)
            ax.fill_between(steps, bands[0], bands[2], color=line.get_color(), alpha=0.15, lw=0)
        ax.axhline(chance, color=plots.FAINT, ls="--", lw=1)
        ax.set(xlabel="step", title=_PANELS[key])
    axes[0, 0].set_ylabel("distance")
    handles, names = axes[0, 0].get_legend_handles_labels()
    with mpl.rc_context(plots.STYLE):
        fig.legend(handles, names, loc="outside lower center", ncols=2, fontsize=8.5)
    return fig


def shares(levels: Sequence[float], curves: Mapping[str, Sequence[float]]) -> Figure:
    """Shares of draws against the variance of the noise; no noise has a place at the left.

    Examples
    --------
    >>> len(shares([0.0, 1e-8, 0.1], {"(2)": [1.0, 0.5, 0.0]}).axes[0].lines)
    1
    """
    fig, ax = plots.figure(7, 3.9)
    place = [1e-22 if level == 0 else level for level in levels]
    for (name, y), style in zip(curves.items(), _MARKS, strict=False):
        ax.semilogx(place, y, style, ms=4.5, label=name, alpha=0.9)
    ticks = ["0", "1e-16", "1e-12", "1e-8", "1e-4", "1"]
    ax.set_xticks([1e-22, *map(float, ticks[1:])], ticks)
    ax.minorticks_off()
    ax.set(xlabel="$s^2$", ylabel="share of draws")
    with mpl.rc_context(plots.STYLE):
        fig.legend(loc="outside lower center", ncols=3, fontsize=8.5)
    return fig
