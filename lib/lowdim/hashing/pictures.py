"""Figures of Part IV that only draw what a chapter measured; each returns what is to be shown."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.figure import Figure
from torch import Tensor

from lowdim.evidence import plots

__all__ = ["distance_matrices"]


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
