"""Figures of Part V."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure
from torch import Tensor

from lowdim.bridge.clock import NAMES
from lowdim.evidence import plots

__all__ = ["against_decay", "noise_curves", "on_one_clock"]


def on_one_clock(ticks: Sequence[int], found: Mapping[str, Tensor], *, title: str = "") -> Figure:
    """Each reading (ticks, T) over its largest value, against the step: mean and range.

    Examples
    --------
    >>> import torch
    >>> fig = on_one_clock([0, 10], {"rho": torch.tensor([[1.0], [2.0]])})
    >>> fig.axes[0].get_ylabel()
    'reading / its largest'
    """
    fig, ax = plots.figure(7, 3.6)
    x = np.maximum(np.asarray(ticks, dtype=float), 1)
    shown = [name for name in NAMES if name in found]
    for k, name in enumerate(shown):
        y = (found[name] / found[name].amax()).numpy()
        style = ("-", "--", ":")[k // 4]
        colour = plots.CYCLE[k % len(plots.CYCLE)]
        ax.plot(x, y.mean(1), style, color=colour, marker=".", ms=4, label=NAMES[name])
        ax.fill_between(x, y.min(1), y.max(1), color=colour, alpha=0.15, lw=0)
    ax.set(xscale="log", xlabel="step", ylabel="reading / its largest", ylim=(0, 1.05), title=title)
    plots.legend(ax, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return fig


def against_decay(decays: Sequence[float], panels: Mapping[str, Mapping[str, Tensor]]) -> Figure:
    """A panel for each group of readings (decays, seeds) against the decay: mean and range.

    Examples
    --------
    >>> import torch
    >>> fig = against_decay([0.0, 0.1], {"IV": {"rho": torch.ones(2, 3)}})
    >>> fig.axes[0].get_title()
    'IV'
    """
    fig, axes = plots.figure(9, 2.9, ncols=len(panels), squeeze=False)
    least = min((d for d in decays if d > 0), default=1.0)
    x = np.array([d if d > 0 else least / 3 for d in decays])
    for ax, (title, group) in zip(axes[0], panels.items(), strict=True):
        for k, (name, values) in enumerate(group.items()):
            y, colour = values.numpy(), plots.CYCLE[k]
            ax.plot(x, y.mean(1), color=colour, marker=".", label=name)
            ax.fill_between(x, y.min(1), y.max(1), color=colour, alpha=0.2, lw=0)
        ax.set(
            xscale="log", xlabel="decay λ (leftmost: 0)" if 0 in decays else "decay λ", title=title
        )
        if len(group) > 1:
            plots.legend(ax, fontsize=8)
    return fig


def noise_curves(noises: Sequence[float], rates: Mapping[str, Tensor], *, chance: float) -> Figure:
    """One-shot accuracy (noises, seeds) of each network against the length of the noise.

    Examples
    --------
    >>> import torch
    >>> fig = noise_curves([0.0, 1.0], {"a": torch.ones(2, 3)}, chance=0.2)
    >>> fig.axes[0].get_xlabel()
    'length of the noise normal to the data'
    """
    fig, ax = plots.figure(7, 3.2)
    for k, (name, values) in enumerate(rates.items()):
        y, colour = values.numpy(), plots.CYCLE[k % len(plots.CYCLE)]
        ax.plot(noises, y.mean(1), color=colour, marker=".", label=name)
        ax.fill_between(noises, y.min(1), y.max(1), color=colour, alpha=0.15, lw=0)
    ax.axhline(chance, color=plots.FAINT, ls="--", lw=1)
    ax.set(xlabel="length of the noise normal to the data", ylabel="nearest key is right")
    plots.legend(ax, fontsize=8)
    return fig
