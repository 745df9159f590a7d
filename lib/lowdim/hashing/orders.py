"""A picture of orders: variances against ε, the number of samples and the number of manifolds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lowdim.evidence import exponent, plots
from lowdim.evidence.values import Estimate

__all__ = ["draw", "slope"]


def _bars(ax: Axes, x: Sequence[float], y: np.ndarray, colour: str, label: str) -> None:
    """Medians over draws of y (draws, len(x)) on a log axis, with bars over all draws."""
    low, high, mid = y.min(0), y.max(0), _middle(y)
    bars = (mid - low, high - mid)
    ax.errorbar(x, mid, bars, fmt="o-", ms=4, lw=1.4, capsize=2, color=colour, label=label)


def _middle(y: np.ndarray) -> np.ndarray:
    return np.exp(np.median(np.log(y), axis=0))


def _law(ax: Axes, x: Sequence[float], first: float, power: float, style: str, name: str) -> None:
    """A power law from ``first`` on, named at its end."""
    line = first * (np.array(x) / x[0]) ** power
    ax.plot(x, line, style, color=plots.INK, lw=1)
    end = (x[-1], line[-1])
    ax.annotate(name, end, (2, 11), textcoords="offset points", fontsize=9, ha="right")


def draw(
    runs: Mapping[str, tuple[Sequence[float], np.ndarray]], *, dashed: np.ndarray | None = None
) -> Figure:
    """Variances (draws, len(x), 3 or more) in three panels, on training, fresh and unseen points.

    ``runs`` has the keys ``ε``, ``n`` and ``m``, each with the places x and what was measured
    there; ``dashed`` is one more measurement over those of ``m``, of which the unseen is drawn.

    Examples
    --------
    >>> run = ([1, 2], np.ones((3, 2, 4)))
    >>> fig = draw({"ε": run, "n": run, "m": run})
    >>> [ax.get_xlabel() for ax in fig.axes][1:]
    ['samples $n$', 'manifolds $m$']
    """
    fig, axes = plots.figure(8.4, 3.3, ncols=3)
    across = {"ε": r"$\varepsilon$", "n": "samples $n$", "m": "manifolds $m$"}
    for ax, (name, title) in zip(axes, across.items(), strict=True):
        x, y = runs[name]
        for j, label in enumerate(("training", "new points", "new manifolds")):
            _bars(ax, x, y[..., j], plots.CYCLE[j], label)
        ax.set(xscale="log", yscale="log", xlabel=title)
        ax.set_xticks(x, [f"{place:g}" for place in x])
        ax.minorticks_off()
    if dashed is not None:
        axes[2].plot(runs["m"][0], _middle(dashed[..., 2]), "--", color=plots.CYCLE[2])
    sizes, found = runs["n"]
    level = 1.6 * float(_middle(found[..., 2])[0])
    _law(axes[1], sizes, level, -1, ":", "$1/n$")
    _law(axes[1], sizes, level, -0.5, "--", r"$1/\sqrt{n}$")
    axes[0].set_ylabel("$V$")
    handles = axes[0].get_legend_handles_labels()
    fig.legend(*handles, loc="outside upper center", ncols=3, frameon=False)
    return fig


def slope(x: Sequence[float], y: np.ndarray, *, errors: float = 1.0) -> Estimate:
    """The exponent of y (draws, len(x)) in x with so many standard errors; nan if it has none.

    Examples
    --------
    >>> print(slope([1, 2], np.array([[1.0, 2.0], [1.0, 2.0]])), slope([1], np.ones((2, 1))).value)
    1.00 ± 0.00 nan
    """
    if len(set(x)) < 2 or len(y) < 2:
        return Estimate(math.nan, math.nan)
    found = exponent(x, y)
    return Estimate(found.value, found.error / 2 * errors)
