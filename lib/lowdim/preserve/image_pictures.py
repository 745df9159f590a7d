"""Figures of the chapter on real images; each draws what was measured and returns the figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lowdim.data.images.catalogue import CATALOGUE
from lowdim.evidence import plots
from lowdim.preserve.imagenets import LAYERS
from lowdim.preserve.portraits import FALLS, FIGURES, NEAR, Portrait

__all__ = ["NAMES", "corner", "five_layers", "six_to_nine"]

NAMES = {
    "autoencoder": "autoencoder",
    "classifier": "classifier",
    "shuffled": "classifier, shuffled labels",
}
START = 0.5  # where the beginning stands on a logarithmic axis of epochs


def corner(points: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> Figure:
    """Accuracy (k,) against the change of the distance (k, 2), for each target.

    Examples
    --------
    >>> fig = corner({name: (np.ones((2, 2)), np.ones(2)) for name in NAMES})
    >>> len(fig.axes[0].collections)
    7
    """
    fig, ax = plots.figure(7, 3.6)
    for (name, (ratio, accuracy)), colour, marker in zip(
        points.items(), plots.CYCLE, "osD", strict=False
    ):
        for kind, face in ((0, colour), (1, "none")):
            label = None if kind else NAMES[name]
            style = {"facecolor": face, "edgecolor": colour, "marker": marker}
            ax.scatter(ratio[:, kind], accuracy, s=42, label=label, **style)
    left, right = ax.get_xlim()
    left = min(left, 0.5)
    ax.fill_between([left, FALLS], NEAR, 1.03, color=plots.FAINT, alpha=0.2, lw=0)
    ax.axvline(FALLS, color=plots.FAINT, ls="--", lw=1)
    ax.axhline(NEAR, color=plots.FAINT, ls="--", lw=1)
    ax.set(xlabel="distance at the end / at the start", ylabel="accuracy, last layer")
    ax.set(ylim=(0, 1.03), xlim=(left, right))
    plots.legend(ax, loc="lower right")
    return fig


def five_layers(looks: Sequence[int], curves: Mapping[str, np.ndarray], *, chance: float) -> Figure:
    """Distances (looks, draws, 2, 5) of the layers over the epochs, a row for each target.

    Examples
    --------
    >>> fig = five_layers([0, 1, 2], {"classifier": np.full((3, 2, 2, 5), 0.5)}, chance=0.9)
    >>> [ax.get_title() for ax in fig.axes]
    ['classifier: from own input', 'classifier: from the data']
    """
    rows = len(curves)
    size = (7.4, 7.0 / 3 * rows)
    fig, axes = plots.figure(*size, nrows=rows, ncols=2, sharex=True, sharey=True, squeeze=False)
    x = np.maximum(np.asarray(looks, dtype=float), START)
    for row, (name, d) in zip(axes, curves.items(), strict=True):
        for kind, what in enumerate(("own input", "the data")):
            ax = row[kind]
            for layer in range(LAYERS):
                each, colour = d[:, :, kind, layer], plots.CYCLE[layer]
                ax.plot(x, each.mean(1), color=colour, label=f"layer {layer + 1}")
                ax.fill_between(x, each.min(1), each.max(1), color=colour, alpha=0.15, lw=0)
            ax.axhline(chance, color=plots.FAINT, ls="--", lw=1)
            ax.set(xscale="log", ylim=(0, 1.05))
            ax.set_title(f"{NAMES[name]}: from {what}", fontsize=9.5)
        row[0].set_ylabel("distance")
    for ax in axes[-1]:
        ax.set_xlabel("epoch (the start at 0.5)")
    handles, names = axes[0, 0].get_legend_handles_labels()
    with rc_context(plots.STYLE):
        fig.legend(handles, names, loc="outside lower center", ncols=LAYERS, fontsize=9)
    return fig


def six_to_nine(sets: Mapping[str, Portrait | None]) -> Figure:
    """The paper's Figures 6 to 9, three sets in a row: distances from each layer's own input.

    Examples
    --------
    >>> fig = six_to_nine({})
    >>> len(fig.axes), fig.axes[0].texts[0].get_text()
    (12, 'no record')
    """
    fig, axes = plots.figure(7.6, 8.2, nrows=4, ncols=3, sharex=True, sharey=True)
    handles: list = []
    for (number, names), row in zip(FIGURES.items(), axes, strict=True):
        row[0].set_ylabel(f"Figure {number}: distance")
        for name, ax in zip(names, row, strict=True):
            ax.set(xscale="log", ylim=(0, 1))
            ax.set_title(CATALOGUE[name].title, fontsize=9.5)
            found = sets.get(name)
            if found is None:
                style = {"ha": "center", "va": "center", "color": plots.FAINT}
                ax.text(0.5, 0.5, "no record", transform=ax.transAxes, **style)
                continue
            epoch = np.maximum(np.asarray(found.values["looks"], dtype=float), START)
            _own_input(ax, epoch, found)
            handles = handles or ax.get_legend_handles_labels()[0]
    for ax in axes[-1]:
        ax.set_xlabel("epoch (start at 0.5)")
    if handles:
        with rc_context(plots.STYLE):
            fig.legend(handles=handles, loc="outside lower center", ncols=6, fontsize=8.5)
    return fig


def _own_input(ax: Axes, epoch: np.ndarray, found: Portrait) -> None:
    """One panel: the autoencoder's layers with their range over draws, the classifier's mean."""

    def grab(name: str) -> np.ndarray:
        return np.asarray(found.values[name])[:, 0]

    middle, low, high = (grab(f"autoencoder_{part}") for part in ("layers", "low", "high"))
    for layer in range(LAYERS):
        colour = plots.CYCLE[layer]
        ax.plot(epoch, middle[:, layer], color=colour, lw=1.4, label=f"layer {layer + 1}")
        ax.fill_between(epoch, low[:, layer], high[:, layer], color=colour, alpha=0.15, lw=0)
    mean = grab("classifier_layers").mean(1)
    ax.plot(epoch, mean, "--", color=plots.INK, lw=1.2, label="classifier")
