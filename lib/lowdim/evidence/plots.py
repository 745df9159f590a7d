"""One style for every figure: vector, legible on light and on dark pages, with alt text.

Figures carry their own opaque white ground and dark ink, so they read the same in any notebook and
in print; the book's pages leave the ground out. Colours are Okabe and Ito's, told apart without
colour vision. Every figure is shown through :func:`show`; no page is built with one that has no
alt text.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.rcsetup import cycler

from lowdim.evidence._panels import layout
from lowdim.evidence.tables import short

INK, FAINT, BROKEN = "#1f2430", "#8a8f98", "#c1121f"
CYCLE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#5b5b5b")
STYLE: dict[Any, Any] = {
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "axes.facecolor": "white",
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.titlesize": 11,
    "axes.labelsize": 10.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.prop_cycle": cycler(color=CYCLE),
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.labelsize": 9.5,
    "ytick.labelsize": 9.5,
    "legend.frameon": False,
    "legend.fontsize": 9.5,
    "font.size": 10.5,
    "lines.linewidth": 1.8,
    "svg.hashsalt": "lowdim",  # the same figure gives the same bytes
    "mathtext.fontset": "cm",
}


def figure(width: float = 7.0, height: float = 3.4, **subplots: Any) -> tuple[Figure, Any]:
    """A styled figure and its axes, not registered with pyplot: (figure, axes).

    Examples
    --------
    >>> fig, ax = figure()
    >>> ax.get_facecolor()
    (1.0, 1.0, 1.0, 1.0)
    """
    with mpl.rc_context(STYLE):
        fig = Figure(figsize=(width, height), layout="constrained")
        return fig, fig.subplots(**subplots)


def svg(fig: Figure) -> str:
    """The figure as SVG text, without a date.

    Examples
    --------
    >>> svg(figure()[0]).lstrip().startswith("<?xml")
    True
    """
    buffer = io.StringIO()
    with mpl.rc_context(STYLE):
        fig.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return buffer.getvalue()


def legend(ax: Axes, **options: Any) -> None:
    """A legend in the book's style; options as for matplotlib's.

    Examples
    --------
    >>> ax = figure()[1]
    >>> _ = ax.plot([0, 1], label="line")
    >>> legend(ax)
    """
    with mpl.rc_context(STYLE):
        ax.legend(**options)


def show(fig: Figure, *, alt: str = "") -> None:
    """Display a figure as SVG.

    Alt text that is made from data travels with the output. Where ``alt`` is empty it is written in
    the chapter, beside the caption, with measured values inserted by name; the build refuses a
    figure that has neither. Where its panels are, and which of its colours stand for numbers,
    travels with it too, for pages that are narrow or dark.
    """
    alt = " ".join(alt.split())
    from IPython.display import display

    bundle = {"image/svg+xml": svg(fig), "text/plain": f"Figure: {alt}" if alt else "Figure"}
    metadata = {"lowdim_figure": layout(fig)} | ({"lowdim_alt": alt} if alt else {})
    display(bundle, raw=True, metadata=metadata)


def traces(
    steps: Sequence[int] | torch.Tensor,
    curves: Mapping[str, object],
    *,
    xlabel: str = "step",
    ylabel: str = "",
    log_x: bool = False,
    log_y: bool = False,
    levels: Mapping[str, float] | None = None,
    alt: str = "",
    show_figure: bool = True,
) -> Figure | None:
    """Median and middle-80% band over trials of each curve (len(steps), trials) against the step.

    A trial that diverged is NaN from then on; it is left out there, and the legend says how many.
    ``levels`` draws named horizontal reference lines.

    Examples
    --------
    >>> fig = traces([0, 1, 2], {"loss": torch.ones(3, 5)}, ylabel="loss", show_figure=False)
    >>> fig.axes[0].get_xlabel(), fig.axes[0].get_ylabel()
    ('step', 'loss')
    """
    fig, ax = figure()
    x = np.asarray(steps, dtype=float)
    if log_x:
        x = np.maximum(x, 0.5)  # step 0 has a place on a log axis, left of step 1
    for name, values in curves.items():
        y = np.atleast_2d(np.asarray(torch.as_tensor(values), dtype=float))
        y = y.T if y.shape[0] != len(x) else y
        lost = int(np.isnan(y).any(0).sum())
        label = f"{name} ({lost} of {y.shape[1]} diverged)" if lost else name
        alive = ~np.isnan(y).all(1)
        low, mid, high = np.nanpercentile(y[alive], (10, 50, 90), axis=1)
        (line,) = ax.plot(x[alive], mid, label=label)
        ax.fill_between(x[alive], low, high, color=line.get_color(), alpha=0.2, lw=0)
    for name, level in (levels or {}).items():
        ax.axhline(level, color=FAINT, ls="--", lw=1)
        ax.annotate(
            name, (1, level), xycoords=("axes fraction", "data"), ha="right", va="bottom",
            fontsize=9, color="#4a4f58",
        )  # fmt: skip
    if log_x:
        ax.set_xscale("log")
    if log_y:
        ax.set_yscale("log")
    ax.set(xlabel=xlabel, ylabel=ylabel)
    legend(ax)
    return _done(fig, alt, show_figure)


def by_layer(
    steps: Sequence[int],
    panels: Mapping[str, object],
    *,
    levels: Mapping[str, Mapping[str, float]] | None = None,
    columns: int = 2,
    xlabel: str = "step",
    alt: str = "",
    show_figure: bool = True,
) -> Figure | None:
    """Panels of one curve for each layer, (len(steps), trials, layers), against the step.

    Mean over trials and middle-80% band, from zero to one; NaN entries are left out. ``levels``
    gives named horizontal lines for a panel. Layers share one legend, above all panels.

    Examples
    --------
    >>> three_layers = {"before": torch.ones(2, 5, 3), "after": torch.zeros(2, 5, 3)}
    >>> fig = by_layer([0, 10], three_layers, show_figure=False)
    >>> [(ax.get_title(), len(ax.lines)) for ax in fig.axes]
    [('before', 3), ('after', 3)]
    """
    rows = -(-len(panels) // columns)
    fig, axes = figure(3.7 * columns, 2.6 * rows + 0.4, nrows=rows, ncols=columns, squeeze=False)
    for ax in axes.flat[len(panels) :]:
        ax.set_visible(False)
    x = np.asarray(steps, dtype=float)
    handles: list[Any] = []
    for ax, (name, values) in zip(axes.flat, panels.items(), strict=False):
        y = np.asarray(torch.as_tensor(values), dtype=float)
        handles = []
        for layer in range(y.shape[2]):
            seen = ~np.isnan(y[..., layer]).all(1)
            curve = y[seen, :, layer]
            low, high = np.nanpercentile(curve, (10, 90), axis=1)
            color = CYCLE[layer % len(CYCLE)]
            label = f"layer {layer + 1}"
            handles += ax.plot(x[seen], np.nanmean(curve, 1), color=color, label=label)
            ax.fill_between(x[seen], low, high, color=color, alpha=0.15, lw=0)
        for text, level in ((levels or {}).get(name) or {}).items():
            ax.axhline(level, color=FAINT, ls="--", lw=1)
            ax.annotate(
                text, (1, level), xycoords=("axes fraction", "data"), ha="right", va="bottom",
                fontsize=8.5, color="#4a4f58",
            )  # fmt: skip
        ax.set(title=name, ylim=(0, 1.05), xlabel=xlabel)
    with mpl.rc_context(STYLE):
        fig.legend(handles=handles, loc="outside upper center", ncols=max(1, len(handles)))
    return _done(fig, alt, show_figure)


def projectors(
    panels: Mapping[str, object],
    *,
    alt: str = "",
    limit: float | None = None,
    columns: int = 4,
    show_figure: bool = True,
) -> Figure | None:
    """Heat maps of small or large square matrices on one diverging scale, white at zero.

    ``limit`` is the absolute value at which colour saturates; by default the 99th percentile of
    the off-diagonal entries of the first panel, so that blocks are seen and the diagonal is not
    all that is.

    Examples
    --------
    >>> fig = projectors({"of the data": torch.eye(4) / 2 + 0.1}, limit=1.0, show_figure=False)
    >>> fig.axes[0].images[0].get_clim()
    (-1.0, 1.0)
    """
    matrices = {k: np.asarray(torch.as_tensor(v), dtype=float) for k, v in panels.items()}
    if limit is None:
        first = next(iter(matrices.values()))
        off = np.abs(first[~np.eye(len(first), dtype=bool)])
        limit = float(np.quantile(off, 0.99)) or 1.0
    count = len(matrices)
    columns = min(columns, count)
    rows = -(-count // columns)
    fig, axes = figure(
        7.6, 7.6 / columns * rows * 1.12 + 0.35, nrows=rows, ncols=columns, squeeze=False
    )
    for ax in axes.flat[count:]:
        ax.set_visible(False)
    for ax, (name, P) in zip(axes.flat, matrices.items(), strict=False):
        image = ax.imshow(
            P, cmap="RdBu_r", vmin=-limit, vmax=limit, interpolation="nearest", rasterized=True
        )
        ax.set_title(name, fontsize=10)
        ax.set(xticks=[], yticks=[])
        for spine in ax.spines.values():
            spine.set_visible(True)
    fig.colorbar(
        image, ax=axes, shrink=0.75, pad=0.015, aspect=28, ticks=[-limit, 0, limit]
    ).ax.set_yticklabels([f"−{short(limit, 2)}", "0", f"+{short(limit, 2)}"], fontsize=8.5)
    return _done(fig, alt, show_figure)


def compare(
    rows: Sequence[tuple[str, float | None, float]],
    *,
    xlabel: str,
    alt: str = "",
    log_x: bool = False,
    show_figure: bool = True,
) -> Figure | None:
    """Reported (hollow) against measured (solid), one line per quantity; None is "not reported".

    Examples
    --------
    >>> fig = compare([("slope", 0.5, 0.48), ("gap", None, 1.0)], xlabel="", show_figure=False)
    >>> [label.get_text() for label in fig.axes[0].get_yticklabels()]
    ['slope', 'gap']
    """
    fig, ax = figure(7.0, 0.42 * len(rows) + 1.0)
    for y, (_, reported, measured) in enumerate(rows):
        if reported is not None:
            ax.plot([reported, measured], [y, y], color=FAINT, lw=1)
            ax.plot(reported, y, "o", mfc="white", mec=CYCLE[1], ms=7, label="reported")
        ax.plot(measured, y, "o", color=CYCLE[0], ms=7, label="measured")
    ax.set_yticks(range(len(rows)), [name for name, _, _ in rows])
    ax.invert_yaxis()
    ax.set_xlabel(xlabel)
    if log_x:
        ax.set_xscale("log")
    handles, labels = ax.get_legend_handles_labels()
    unique = dict(zip(labels, handles, strict=True))
    legend(ax, handles=list(unique.values()), labels=list(unique.keys()))
    return _done(fig, alt, show_figure)


def _done(fig: Figure, alt: str, shown: bool) -> Figure | None:
    """Show the figure, or hand it over: never both, or a notebook would print its name too."""
    if not shown:
        return fig
    show(fig, alt=alt)
    return None
