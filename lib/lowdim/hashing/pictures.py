"""Figures of Part IV that only draw what a chapter measured; each returns what is to be shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure
from torch import Tensor

from lowdim.evidence import plots

__all__ = ["distance_matrices", "vanishing_variance"]


def distance_matrices(panels: Mapping[str, Tensor], *, most: float = 1.5) -> Figure:
    """Matrices (m, m) of distances between manifolds side by side, colours from 0 to ``most``.

    Examples
    --------
    >>> import torch
    >>> fig = distance_matrices({"inputs": torch.ones(3, 3), "trained": torch.eye(3)})
    >>> [ax.get_title() for ax in fig.axes[:2]]
    ['inputs', 'trained']
    """
    fig, axes = plots.figure(7.6, 3.0, ncols=len(panels), squeeze=False)
    for ax, (name, table) in zip(axes[0], panels.items(), strict=True):
        image = ax.imshow(table, cmap="viridis", vmin=0, vmax=most, interpolation="nearest")
        ends = [0, len(table) - 1]
        ax.set(title=name, xlabel="manifold", xticks=ends, yticks=ends)
    axes[0, 0].set_ylabel("manifold")
    fig.colorbar(image, ax=axes[0], shrink=0.8, pad=0.015, aspect=25)
    return fig


def vanishing_variance(epsilons: Sequence[float], curves: Mapping[str, Tensor]) -> Figure:
    """Variances (draws, len(ε)) against falling ε: medians, and bands from smallest to largest.

    ``curves`` are those of :func:`lowdim.hashing.vanishing.curves`.

    Examples
    --------
    >>> import torch
    >>> names = ("training", "training, labels by lot", "new points", "new manifolds")
    >>> more = ("training, with penalty", "new manifolds, with penalty")
    >>> fig = vanishing_variance([0.1, 0.01], {name: torch.ones(3, 2) for name in names + more})
    >>> fig.axes[0].get_xscale()
    'log'
    """
    style = {
        "training": ("o-", 0),
        "training, labels by lot": ("s--", 1),
        "new points": ("^-", 2),
        "new manifolds": ("v-", 3),
    }
    fig, ax = plots.figure(7.2, 3.8)
    for name, (mark, at) in style.items():
        y, colour = curves[name], plots.CYCLE[at]
        ax.plot(epsilons, y.quantile(0.5, 0), mark, ms=5, color=colour, label=name)
        ax.fill_between(epsilons, y.amin(0), y.amax(0), color=colour, alpha=0.15, lw=0)
    crosses = {
        "training, with penalty": None,
        "new manifolds, with penalty": "with variance penalty",
    }
    for name, label in crosses.items():
        middle = curves[name].quantile(0.5, 0)
        ax.plot(epsilons, middle, "x", ms=8, color=plots.INK, mew=0.9, label=label)
    path = r"$\varepsilon$, with $\lambda_1=\varepsilon/m$, $\lambda_2=\varepsilon/\beta$"
    ax.set(xscale="log", yscale="log", xlabel=path, ylabel="variance $V$ within a class")
    fig.legend(*ax.get_legend_handles_labels(), loc="outside right center", frameon=False)
    return fig
