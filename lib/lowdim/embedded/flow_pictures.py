"""Pictures of the flow of a deep linear network; each function returns a figure to show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lowdim.embedded.flows import Flow
from lowdim.evidence import plots

__all__ = ["distances", "speeds"]

_COLOURS = (plots.CYCLE[5], plots.CYCLE[3])


def speeds(panels: Mapping[str, tuple[Flow, Sequence[np.ndarray]]]) -> Figure:
    """Phase portraits of flows in the plane over a map of speed, a panel for each title.

    A panel has its flow and trajectories (k, 2). The vertical line is where the loss without noise
    is least; the white dot the minimum, where it is a point; the ring the origin.

    Examples
    --------
    >>> flow = Flow(np.eye(2), np.array([1.0, 0.0]), depth=3)
    >>> fig = speeds({"one": (flow, [np.ones((3, 2))]), "two": (flow, [])})
    >>> [ax.get_title() for ax in fig.axes]
    ['one', 'two', '']
    """
    fig, axes = plots.figure(7.8, 3.6, ncols=len(panels), sharey=True)
    axes = np.atleast_1d(axes)
    for ax, (title, (flow, paths)) in zip(axes, panels.items(), strict=True):
        image = _panel(ax, flow, paths)
        ax.set(title=title, xlabel="$w_x$", xlim=(-2, 2.4), ylim=(-2, 2))
    axes[0].set_ylabel("$w_y$")
    with mpl.rc_context(plots.STYLE):
        fig.colorbar(image, ax=axes, shrink=0.85, label=r"$\|F\|$")
    return fig


def _panel(ax: Axes, flow: Flow, paths: Sequence[np.ndarray]) -> Any:
    x, y = np.linspace(-2, 2.4, 61), np.linspace(-2, 2, 51)
    F = flow.field(np.stack(np.meshgrid(x, y), -1))
    speed = np.linalg.norm(F, axis=-1)
    norm = mpl.colors.LogNorm(1e-3, 30.0)
    how: dict[str, Any] = {
        "shading": "gouraud",
        "cmap": "viridis",
        "rasterized": True,
        "norm": norm,
    }
    image = ax.pcolormesh(x, y, speed, **how)
    unit = F / np.maximum(speed, 1e-12)[..., None]
    style: dict[str, Any] = {"color": "white", "density": 0.8, "linewidth": 0.6, "arrowsize": 0.7}
    ax.streamplot(x, y, unit[..., 0], unit[..., 1], **style)
    best = flow.minimizer()
    ax.axvline(best[0], color="#ff6b6b", lw=1.6)
    for path, colour in zip(paths, _COLOURS, strict=False):
        ax.plot(*path.T, color=colour, lw=2)
        ax.plot(*path[0], "o", color=colour, ms=5)
    if np.linalg.matrix_rank(flow.moments) == 2:
        ax.plot(*best, "o", color="white", mec="black", ms=7)
    ax.plot(0, 0, "o", mfc="none", mec="white", ms=7)
    return image


def distances(rates: np.ndarray, measured: Mapping[str, np.ndarray]) -> Figure:
    """Distances (starts, len(rates)) to the flow against the step size, for each kind of start.

    Examples
    --------
    >>> fig = distances(np.array([0.1, 0.2]), {"balanced": np.ones((3, 2))})
    >>> [text.get_text() for text in fig.axes[0].get_legend().get_texts()]
    ['balanced']
    """
    fig, ax = plots.figure(6.4, 3.1)
    for (name, far), colour, mark in zip(measured.items(), plots.CYCLE, "os", strict=False):
        ax.loglog(rates, far.T, mark + "-", color=colour, lw=1.2, ms=4)
        ax.plot([], [], mark + "-", color=colour, label=name)
    ax.xaxis.set_minor_formatter(mpl.ticker.NullFormatter())
    ax.set(xlabel=r"step size $\eta$", ylabel="distance to the flow")
    plots.legend(ax)
    return fig
