"""Pictures of tails and clusters while networks train."""

from __future__ import annotations

import numpy as np
import torch
from matplotlib.figure import Figure

from lowdim.collapse.trajectories import CLASSES, Course
from lowdim.evidence import plots

__all__ = ["figure_three", "tail_and_clusters"]


def tail_and_clusters(course: Course, *, layer: int = 1) -> Figure:
    """The tail of a layer, counted from 0, and the relative variation of its inputs, by step.

    A line for each λ, means over draws.

    Examples
    --------
    >>> from lowdim.collapse.trajectories import Setting
    >>> small = Setting(per_class=3, width=12, decays=(0.01, 0.05), draws=2, steps=20)
    >>> [len(ax.lines) for ax in tail_and_clusters(small.course()).axes]
    [3, 3]
    """
    setting = course.setting
    steps = np.maximum(setting.looks, 1)
    fig, (left, right) = plots.figure(7.6, 3.4, ncols=2, sharey=True)
    tail, relative = course.tail(layer).mean(-1), course.relative[..., layer].mean(-1)
    for c in range(setting.plain):
        left.semilogx(steps, tail[:, c], label=rf"$\lambda={setting.lams[c]:g}$")
        right.semilogx(steps, relative[:, c])
    left.set(title=f"tail of layer {layer + 1}", xlabel="step", ylabel="share", ylim=(0, None))
    right.set(title=f"variation within classes, input of layer {layer + 1}", xlabel="step")
    plots.legend(left, fontsize=8.5)
    return fig


def figure_three(course: Course) -> Figure:
    """A column for each λ: shares beyond r of three layers in one draw, and the variation below.

    Light lines are early, dark ones late.

    Examples
    --------
    >>> from lowdim.collapse.trajectories import Setting
    >>> small = Setting(per_class=3, width=12, decays=(0.01, 0.05), draws=2, steps=20)
    >>> fig = figure_three(small.course())
    >>> len(fig.axes), len(fig.axes[-1].lines)
    (12, 4)
    """
    setting, looks = course.setting, course.setting.looks
    fig, axes = plots.figure(7.8, 8.2, nrows=4, ncols=setting.plain, sharey="row")
    shades = np.linspace(0.15, 1, len(looks))
    for c in range(setting.plain):
        for ax, layer in zip(axes[:3, c], course.layers, strict=False):
            v = course.spectra[layer][:, c, 0]
            curve = torch.cat([v, v[:, :1] * 0], -1).flip(-1).cumsum(-1).flip(-1)
            for at in range(0, len(looks), 3):
                shade = {"color": plots.CYCLE[0], "alpha": shades[at]}
                ax.plot(curve[at] / curve[at, 0], lw=1.1, **shade)
            ax.axvline(CLASSES, color=plots.FAINT, ls=":", lw=1)
        for layer in range(1, course.net.depth + 1):
            y = course.within[:, c, :, layer].mean(1)
            axes[3, c].loglog(np.maximum(looks, 1), y, lw=1.5, label=f"$z^{layer}$")
        axes[0, c].set_title(setting.names[c], fontsize=10)
        axes[2, c].set_xlabel("$r$")
        axes[3, c].set_xlabel("step")
    for ax, layer in zip(axes[:3, 0], course.layers, strict=False):
        ax.set_ylabel(f"layer {layer + 1}: $e$ beyond $r$")
    axes[3, 0].set_ylabel("within classes")
    plots.legend(axes[3, 0], fontsize=8)
    return fig
