"""Pictures of deep networks off their data; each function returns a figure to show."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure
from torch import Tensor

from lowdim.evidence import plots

__all__ = ["metric_curves"]


def metric_curves(powers: np.ndarray, curves: Mapping[int, Tensor]) -> Figure:
    """The stability metric (len(powers), nets) against γ = 2^power for each depth.

    Left: mean and range; dotted: slope 2. Right: divided by γ².

    Examples
    --------
    >>> import torch
    >>> fig = metric_curves(np.arange(3), {2: torch.ones(3, 4), 3: torch.ones(3, 4)})
    >>> [len(ax.lines) for ax in fig.axes]
    [3, 2]
    """
    fig, (ax, flat) = plots.figure(7.4, 3.5, ncols=2)
    for depth, curve in curves.items():
        logs, label = curve.log2().numpy(), f"L = {depth}"
        (line,) = ax.plot(powers, logs.mean(1), "o-", ms=3.5, label=label)
        color = line.get_color()
        ax.fill_between(powers, logs.min(1), logs.max(1), color=color, alpha=0.15)
        flat.plot(powers, logs.mean(1) - 2 * powers, "o-", ms=3.5, label=label)
    base = float(next(iter(curves.values())).log2().mean(1)[0])
    ax.plot(powers, base + 2 * (powers - powers[0]), ":", color=plots.FAINT)
    ax.set(xlabel=r"$\log_2\gamma$ (or $\log_2\eta$)", ylabel=r"$\log_2$ metric")
    flat.set(xlabel=r"$\log_2\gamma$", ylabel=r"$\log_2$ metric$/\gamma^2$")
    plots.legend(ax)
    return fig
