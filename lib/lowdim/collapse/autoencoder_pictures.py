"""Pictures of how far apart linear autoencoders on points and on centroids are."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lowdim.collapse.autoencoders import Grid, Pairs
from lowdim.evidence import plots

__all__ = ["against_spread", "bound_curves", "bounds", "figure_two"]

STYLES = ("o-", "s-", "^-")
DECAYS, SPREADS = (1, 4, 7), (0, 4, 8)  # places on the grid that are drawn
ROWS = {"one layer": "one layer", "deep": "four layers"}


def _mean(grid: Grid, kind: str) -> np.ndarray:
    """Mean distances (λ, σ) over draws; what is zero in every draw is not drawn."""
    mean = grid.minima().distance[kind].mean(0)
    return np.where(mean > 0, mean, np.nan)


def _curves(ax: Axes, x: np.ndarray, curves: Iterable[np.ndarray], names: Iterable[str]) -> None:
    for y, name, style in zip(curves, names, STYLES, strict=True):
        ax.loglog(x, y, style, ms=4, label=name)


def _over_spreads(ax: Axes, grid: Grid, mean: np.ndarray) -> None:
    """Distances against σ, and a dotted line of slope two."""
    sigmas = grid.sigmas
    names = [rf"$\lambda={grid.lambdas[i]:.1g}$" for i in DECAYS]
    _curves(ax, sigmas, (mean[i] for i in DECAYS), names)
    square = mean[DECAYS[-1], 0] * (sigmas / sigmas[0]) ** 2
    ax.loglog(sigmas, square, ":", color=plots.INK, lw=1)


def against_spread(grid: Grid) -> Figure:
    """Mean distances of global minima against σ: one layer left, four layers right.

    Examples
    --------
    >>> fig = against_spread(Grid(dim=8, clusters=2, points=20, draws=2))
    >>> [ax.get_title() for ax in fig.axes]
    ['one layer', 'four layers']
    """
    fig, axes = plots.figure(7.6, 3.4, ncols=2, sharey=True)
    for ax, (kind, title) in zip(axes, ROWS.items(), strict=True):
        _over_spreads(ax, grid, _mean(grid, kind))
        ax.set(title=title, xlabel=r"$\sigma$")
    axes[0].set_ylabel("distance")
    plots.legend(axes[0], fontsize=8.5)
    return fig


def bound_curves(grid: Grid) -> dict[str, np.ndarray]:
    """Distance of one layer, its two bounds, and the norm above which they say nothing, each (σ,).

    Means over draws, at the middle λ of those that are drawn elsewhere.

    Examples
    --------
    >>> {name: len(y) for name, y in bound_curves(Grid(dim=8, clusters=2, points=20)).items()}
    {'distance': 9, 'this book': 9, 'printed': 9, 'norm of the minimizer': 9}
    """
    found, (printed, ours) = grid.minima(), grid.bounds()
    arrays = {
        "distance": found.distance["one layer"],
        "this book": ours,
        "printed": printed,
        "norm of the minimizer": found.norm,
    }
    return {name: values[:, DECAYS[1]].mean(0) for name, values in arrays.items()}


def bounds(grid: Grid) -> Figure:
    """The distance of one layer and two bounds on it, against σ.

    Examples
    --------
    >>> len(bounds(Grid(dim=8, clusters=2, points=20, draws=2)).axes[0].lines)
    4
    """
    fig, ax = plots.figure(7, 3.6)
    *curves, (name, norm) = bound_curves(grid).items()
    for (label, y), style in zip(curves, STYLES, strict=True):
        ax.loglog(grid.sigmas, y, style, ms=4, label=label)
    ax.loglog(grid.sigmas, norm, "--", color=plots.FAINT, label=name)
    ax.set(xlabel=r"$\sigma$", ylabel="distance and bounds")
    plots.legend(ax, fontsize=8.5)
    return fig


def figure_two(grid: Grid, pairs: Pairs) -> Figure:
    """Mean distances against λ (left) and σ (right), one layer above four; crosses are networks.

    Examples
    --------
    >>> from lowdim.collapse.autoencoders import train_pairs
    >>> grid = Grid(dim=8, clusters=2, points=20, draws=2)
    >>> few = train_pairs(8, 2, draws=1, steps=5, seed=0, lambdas=(1.0,), sigmas=(0.1, 0.2))
    >>> [len(ax.lines) for ax in figure_two(grid, few).axes]
    [3, 4, 4, 5]
    """
    fig, axes = plots.figure(7.6, 5.6, nrows=2, ncols=2, sharey="row")
    for (left, right), (kind, title) in zip(axes, ROWS.items(), strict=True):
        mean = _mean(grid, kind)
        names = [rf"$\sigma={grid.sigmas[j]:.2g}$" for j in SPREADS]
        _curves(left, grid.lambdas, (mean[:, j] for j in SPREADS), names)
        _over_spreads(right, grid, mean)
        for ax in (left, right):
            plots.legend(ax, fontsize=8.5)
        left.set_ylabel(f"{title}: distance")
    lam, _, sigma = np.meshgrid(
        pairs.lambdas, range(pairs.distance.shape[1]), pairs.sigmas, indexing="ij"
    )
    for ax, x, name in zip(axes[1], (lam, sigma), (r"$\lambda$", r"$\sigma$"), strict=True):
        ax.plot(x.ravel(), pairs.distance.ravel(), "x", color=plots.INK, ms=4, alpha=0.6)
        ax.set_xlabel(name)
    return fig
