"""Pictures of neurons on the square; each function returns a figure to show."""

from __future__ import annotations

import torch
from matplotlib.figure import Figure

from lowdim.embedded.shifts import Strip
from lowdim.evidence import plots

__all__ = ["strip"]


def strip(drawn: Strip) -> Figure:
    """The strip in which a neuron switches (dark), and the rectangle over the shadow (light).

    Examples
    --------
    >>> len(strip(Strip((1.0, 0.5), 0.0, 0.5)).axes[0].lines)  # the square and two edges
    3
    """
    first, last = drawn.edges
    half, normal, along = drawn.half, drawn.normal, drawn.along
    corners = [(first, -half), (first, half), (last, half), (last, -half)]
    box = torch.stack([r * normal + q * along for r, q in corners])
    x, y, t = drawn.grid()
    fig, ax = plots.figure(5.2, 4.6)
    ax.fill(*box.T, color=plots.CYCLE[4], alpha=0.35, lw=0, label="cylinder")
    ax.contourf(x, y, t, levels=[-drawn.shift, 0], colors=[plots.CYCLE[0]])
    ax.plot([-1, 1, 1, -1, -1], [-1, -1, 1, 1, -1], color=plots.INK)
    for name, r in (("$H_0$", first), ("$H_1$", last)):
        ends = torch.stack([r * normal + q * along for q in (-1.15 * half, 1.15 * half)])
        ax.plot(*ends.T, color=plots.CYCLE[1], lw=1.2)
        ax.annotate(name, ends[1], color=plots.CYCLE[1], ha="right")
    ax.annotate(r"$\Omega^-$", (-0.35, 0.3), color="white", fontsize=13)
    ax.set(aspect="equal", xlabel="$x_1$", ylabel="$x_2$")
    return fig
