"""Pictures of weight decay; each function returns a figure to show."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure
from torch import Tensor

from lowdim.embedded.decay_training import NAMES, Grown
from lowdim.evidence import plots

__all__ = ["during_and_after", "paths", "returns"]


def paths(lines: Mapping[str, Tensor]) -> Figure:
    """Sizes of weights (T + 1,) against the step, on a logarithmic axis.

    Examples
    --------
    >>> import torch
    >>> len(paths({"constant": torch.ones(3)}).axes[0].lines)
    1
    """
    fig, ax = plots.figure(7, 3.3)
    for name, path in lines.items():
        ax.plot(path.abs().clamp_min(1e-9), label=name)
    ax.set(yscale="log", ylim=(1e-6, 1.5), xlabel="step", ylabel=r"$|w_t|/|w_0|$")
    plots.legend(ax)
    return fig


def returns(lines: Mapping[str, np.ndarray], *, rate: float, floor: float) -> Figure:
    """Sizes of weights (T + 1,) over the step size, for a long time; dotted, the share ``floor``.

    Examples
    --------
    >>> len(returns({"one": np.ones(3)}, rate=0.01, floor=0.1).axes[0].lines)
    2
    """
    fig, ax = plots.figure(7, 3.1)
    for name, path in lines.items():
        ax.plot(np.maximum(np.abs(path) / rate, 1e-320), lw=0.8, label=name)
    ax.axhline(floor, color=plots.CYCLE[-1], ls=":", lw=1)
    ax.set(yscale="log", xlabel="step", ylabel=r"$|w_t|/\eta$")
    plots.legend(ax)
    return fig


def during_and_after(grown: Mapping[float, Grown]) -> Figure:
    """Losses and stability during training for two λ (left), and at the end against λ (right).

    Of more than two λ the last but two (dashed) and the last but one are shown at the left.

    Examples
    --------
    >>> import torch
    >>> one = Grown(torch.ones(3, 4, 2), 1.0)
    >>> [len(ax.lines) for ax in during_and_after({0.0: one, 0.1: one}).axes]
    [8, 4]
    """
    fig, (left, right) = plots.figure(7.4, 3.5, ncols=2)
    decays = list(grown)
    pair = (decays[-3], decays[-2]) if len(decays) > 2 else (decays[0], decays[-1])
    for k, name in enumerate(NAMES):
        color = plots.CYCLE[k]
        left.plot(grown[pair[0]].trace[:, k].mean(1), "--", color=color)
        left.plot(grown[pair[1]].trace[:, k].mean(1), "-", color=color, label=name)
        values = [float(made.final[k]) for made in grown.values()]
        right.plot(range(len(decays)), values, "o-", ms=4, color=color, label=name)
    title = f"λ = {pair[0]:g} (dashed), {pair[1]:g}"
    left.set(yscale="log", xlabel="epoch", title=title)
    right.set(yscale="log", xlabel="λ")
    right.set_xticks(range(len(decays)), [f"{decay:g}" for decay in decays])
    plots.legend(left, fontsize=7.5)
    return fig
