"""How a figure of several panels is cut for a narrow page, and where its true colours lie.

A page that is narrow shows the panels below one another, each as a window on the same picture. A
window has everything that belongs to its panel: title, labels, legend, colour bar. Panels that
share an axis show it once; a panel without its own then gets a strip of the one that has it. What
belongs to no single panel, a legend of the whole figure or a colour bar of several panels, is a
window of its own. A figure that cannot be cut so is left whole.

On a dark page figures are shown with light and dark exchanged. Colours that stand for numbers must
not be, so the places of heat maps and pictures travel with the figure.

All boxes are ``[x, y, width, height]`` in points, from the upper left corner, as in SVG.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import combinations
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg, RendererAgg
from matplotlib.collections import QuadMesh
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

from lowdim.evidence.ladder import plain

POINTS = 72  # to the inch
NEAR = 1.5  # points within which two edges are the same
MARGIN = 3.0  # points around a window, for text is measured a little differently by each renderer
WIDEST = 0.72  # share of the figure's width above which cutting gains nothing


def layout(fig: Figure) -> dict[str, Any]:
    """Size, windows and places of true colours of a figure that has been drawn.

    Examples
    --------
    >>> from lowdim.evidence import plots
    >>> fig, axes = plots.figure(6, 3, ncols=2, sharey=True)
    >>> _ = plots.svg(fig)
    >>> found = layout(fig)
    >>> found["size"], [len(panel["boxes"]) for panel in found["panels"]]
    ([432.0, 216.0], [1, 2])
    """
    with _measured(fig) as renderer:
        width, height = (float(side) * POINTS for side in fig.get_size_inches())
        axes = [ax for ax in fig.axes if ax.get_visible()]
        kept = [ax.get_window_extent(renderer) for ax in axes if _coloured(ax)]
        panels = _panels(fig, axes, renderer, Bbox.from_bounds(0, 0, width, height))
        return {
            "size": [round(width, 1), round(height, 1)],
            "panels": [
                {"title": title, "boxes": [_svg(box, height) for box in boxes]}
                for title, boxes in panels
            ],
            "true": [_svg(box, height) for box in kept],
        }


@contextmanager
def _measured(fig: Figure) -> Iterator[RendererAgg]:
    """A renderer for which a point is a pixel, as in the SVG that was drawn."""
    before, canvas = fig.dpi, fig.canvas
    fig.dpi = POINTS
    try:
        yield FigureCanvasAgg(fig).get_renderer()
    finally:
        fig.dpi = before
        fig.set_canvas(canvas)


def _panels(
    fig: Figure, axes: list[Axes], renderer: RendererAgg, whole: Bbox
) -> list[tuple[str, list[Bbox]]]:
    """Titles and windows, in the order of reading; none for a figure that stays whole."""
    loose = [text for text in fig.texts if text.get_visible() and text.get_text()]
    if loose or fig.lines or fig.patches or fig.artists or fig.images or fig.subfigs:
        return []
    around = {ax: box for ax in axes if (box := ax.get_tightbbox(renderer)) is not None}
    if len(axes) < 2 or len(around) < len(axes):
        return []
    apart = _groups(axes, around, renderer)
    tight = [Bbox.union([around[ax] for ax in group]) for group in apart]
    groups = [(group, _padded(box, tight, whole)) for group, box in zip(apart, tight, strict=True)]
    cut = []
    for group, box in groups:
        boxes = [box]
        if strip := _strip(group, groups, renderer):
            low, high = min(box.y0, strip.y0), max(box.y1, strip.y1)
            boxes = [Bbox([[b.x0, low], [b.x1, high]]) for b in (strip, box)]
        cut.append((_title(group), boxes))
    widest = max(sum(box.width for box in boxes) for _, boxes in cut)
    if len(cut) < 2 or widest > WIDEST * whole.width:
        return []
    for key in fig.legends:
        box = _padded(key.get_window_extent(renderer), tight, whole)
        if any(_overlap(box, other) for _, other in groups):
            return []
        above = box.y0 + box.y1 > whole.height
        cut.insert(0 if above else len(cut), ("legend", [box]))
    return cut


def _groups(axes: list[Axes], around: dict[Axes, Bbox], renderer: RendererAgg) -> list[list[Axes]]:
    """Axes that are not to be separated, in the order of their first."""
    home = {ax: ax for ax in axes}

    def root(ax: Axes) -> Axes:
        while home[ax] is not ax:
            ax = home[ax]
        return ax

    def join(one: Axes, other: Axes) -> None:
        first, second = sorted((root(one), root(other)), key=axes.index)
        home[second] = first

    for ax in axes:
        parents = getattr(ax, "_colorbar_info", {}).get("parents", [])
        if len(parents) == 1:
            join(ax, parents[0])
        if below := _labelled(ax, "x", axes, renderer):
            join(ax, below)
    for one, other in combinations(axes, 2):
        if _overlap(around[one], around[other]):
            join(one, other)
    return [[ax for ax in axes if root(ax) is first] for first in axes if root(first) is first]


def _labelled(ax: Axes, which: str, axes: Iterable[Axes], renderer: RendererAgg) -> Axes | None:
    """The nearest of the axes below it ("x") or to its left ("y") that shows the shared numbers."""
    if _numbered(ax, which):
        return None
    here = ax.get_window_extent(renderer)
    siblings = (ax.get_shared_x_axes() if which == "x" else ax.get_shared_y_axes()).get_siblings(ax)
    found = []
    for other in siblings:
        there = other.get_window_extent(renderer)
        if other not in axes or not _numbered(other, which):
            continue
        if which == "x" and abs(there.x0 - here.x0) < NEAR and there.y1 < here.y0 + NEAR:
            found.append((here.y0 - there.y1, other))
        if which == "y" and abs(there.y0 - here.y0) < NEAR and there.x1 < here.x0 + NEAR:
            found.append((here.x0 - there.x1, other))
    return min(found, key=lambda pair: pair[0])[1] if found else None


def _numbered(ax: Axes, which: str) -> bool:
    labels = ax.get_xticklabels() if which == "x" else ax.get_yticklabels()
    return any(label.get_visible() and label.get_text() for label in labels)


def _strip(
    group: list[Axes], groups: list[tuple[list[Axes], Bbox]], renderer: RendererAgg
) -> Bbox | None:
    """The vertical axis that a group shares with one to its left and does not show."""
    every = [ax for axes, _ in groups for ax in axes]
    for ax in group:
        owner = _labelled(ax, "y", every, renderer)
        if owner is not None and owner not in group:
            box = next(box for axes, box in groups if owner in axes)
            edge = owner.get_window_extent(renderer).x0
            return Bbox([[box.x0, box.y0], [edge, box.y1]])
    return None


def _title(group: list[Axes]) -> str:
    titles = [ax.get_title(loc=loc) for ax in group for loc in ("left", "center", "right")]
    return plain(next((title for title in titles if title), ""))


def _padded(box: Bbox, others: list[Bbox], whole: Bbox) -> Bbox:
    """The box with its margin, as far as the figure goes and half way to the others."""
    x0, x1 = max(box.x0 - MARGIN, whole.x0), min(box.x1 + MARGIN, whole.x1)
    y0, y1 = max(box.y0 - MARGIN, whole.y0), min(box.y1 + MARGIN, whole.y1)
    for other in others:
        if other.y0 < box.y1 and box.y0 < other.y1:
            x1 = min(x1, (box.x1 + other.x0) / 2) if other.x0 > box.x0 else x1
            x0 = max(x0, (box.x0 + other.x1) / 2) if other.x1 < box.x1 else x0
        elif other.x0 < box.x1 and box.x0 < other.x1:
            y1 = min(y1, (box.y1 + other.y0) / 2) if other.y0 > box.y0 else y1
            y0 = max(y0, (box.y0 + other.y1) / 2) if other.y1 < box.y1 else y0
    return Bbox([[x0, y0], [x1, y1]])


def _overlap(one: Bbox, other: Bbox) -> bool:
    both = Bbox.intersection(one, other)
    return both is not None and min(both.width, both.height) > 2 * NEAR + MARGIN


def _coloured(ax: Axes) -> bool:
    """Whether colours in it stand for numbers, or are a picture's."""
    return bool(ax.images) or any(isinstance(shape, QuadMesh) for shape in ax.collections)


def _svg(box: Bbox, height: float) -> list[float]:
    return [round(float(v), 1) for v in (box.x0, height - box.y1, box.width, box.height)]
