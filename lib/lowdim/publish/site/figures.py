"""Figures on narrow and on dark pages.

A figure stands on the page as it was drawn, without its white ground. On a dark page light and dark
are exchanged by the style sheet, hues staying what they are; where colours stand for numbers, a
window on the same picture as it is lies over the exchanged one. A narrow page shows the panels of a
figure below one another, each a window on the same file, which is named with the part to show:
``figure.svg#svgView(viewBox(x,y,width,height))``. What the windows are came with the figure
(:func:`lowdim.evidence.plots.show`); all of it is on the page, and the style sheet chooses.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING, Any

from docutils import nodes

if TYPE_CHECKING:
    from myst_nb.core.render import MimeData
    from sphinx.application import Sphinx

SVG = "image/svg+xml"

# The first thing that matplotlib draws, in the figure and in each of its axes.
GROUND = re.compile(
    r'(<g id="(?:figure|axes)_\d+">\s*)'
    r'<g id="patch_\d+">\s*<path [^>]*style="fill: #ffffff"/>\s*</g>'
)

EDGE = 0.02  # share of a figure's side within which a window ends at its edge

Box = Sequence[float]


class frame(nodes.General, nodes.Element):
    """An image with what is known of the figure in it."""


def setup(app: Sphinx) -> None:
    """Register the frame with Sphinx.

    Examples
    --------
    >>> from unittest.mock import Mock
    >>> app = Mock()
    >>> setup(app)
    >>> app.add_node.call_args.args
    (<class 'lowdim.publish.site.figures.frame'>,)
    """
    app.add_node(frame, html=(_enter, _leave), latex=(_pass, _pass), text=(_pass, _pass))


def without_ground(data: MimeData) -> MimeData:
    """The same SVG with no white under it; whatever else is no SVG as it is.

    Examples
    --------
    >>> from myst_nb.core.render import MimeData
    >>> white = '<g id="patch_1"><path d="M 0 0" style="fill: #ffffff"/></g>'
    >>> without_ground(MimeData(SVG, f'<g id="figure_1">{white}<g id="axes_1">')).content
    '<g id="figure_1"><g id="axes_1">'
    """
    if data.mime_type != SVG:
        return data
    return replace(data, content=GROUND.sub(r"\1", data.string))


def framed(image: nodes.Element, data: MimeData) -> nodes.Element:
    """An SVG in a frame, with what came with it; any other image alone.

    Examples
    --------
    >>> from myst_nb.core.render import MimeData
    >>> framed(nodes.image(uri="a.svg"), MimeData(SVG, "<svg/>")).tagname
    'frame'
    >>> framed(nodes.image(uri="a.png"), MimeData("image/png", "")).tagname
    'image'
    """
    if data.mime_type != SVG:
        return image
    known = {"size": [], "panels": [], "true": [], **data.output_metadata.get("lowdim_figure", {})}
    return frame("", image, known=known)


def panels(known: Mapping[str, Any], uri: str, alt: str) -> str:
    """The panels of a figure as HTML, each as large as it was drawn if there is room.

    Examples
    --------
    >>> boxes = [[0, 0, 4, 6]], [[5, 0, 4, 6]]
    >>> parts = [{"title": title, "boxes": box} for title, box in zip("ab", boxes)]
    >>> html = panels({"size": [9, 6], "panels": parts, "true": []}, "x.svg", "all of it")
    >>> html.count("<img"), "Panel 2 of 2: b" in html, "viewBox(5,0,4,6)" in html
    (2, True, True)
    """
    every = known["panels"]
    if not every:
        return ""
    made: list[str] = []
    for number, panel in enumerate(every, start=1):
        boxes = [outward(box, known["size"]) for box in panel["boxes"]]
        across = sum(box[2] for box in boxes)
        title = f"Panel {number} of {len(every)}" + (f": {panel['title']}" * bool(panel["title"]))
        windows: list[str] = []
        for box in boxes:
            # Of a listener the whole figure is told once, with its first window.
            told = f"{alt} {title}" if not made and not windows else title
            shown = _window("lowdim-ink", uri, box, told)
            true = "".join(
                _over(uri, part, box) for place in known["true"] if (part := _common(place, box))
            )
            share = f"width:{100 * box[2] / across:.2f}%;aspect-ratio:{box[2]:g}/{box[3]:g}"
            windows.append(f'<span class="lowdim-window" style="{share}">{shown}{true}</span>')
        made.append(
            f'<span class="lowdim-panel" style="width:{across:g}pt">{"".join(windows)}</span>'
        )
    return f'<div class="lowdim-panels">{"".join(made)}</div>'


def outward(box: Box, size: Sequence[float]) -> list[float]:
    """A window that ends near the edge of its figure, as far as that edge.

    Nothing else is there, and labels are measured by another renderer than the one that drew them.

    Examples
    --------
    >>> outward([6, 0, 200, 99], [400, 100])
    [0.0, 0.0, 206.0, 100.0]
    >>> outward([206, 20, 100, 60], [400, 100])
    [206.0, 20.0, 100.0, 60.0]
    """
    sides = []
    for low, length, end in zip(box[:2], box[2:], size, strict=True):
        first = 0.0 if low < EDGE * end else float(low)
        last = float(end) if low + length > (1 - EDGE) * end else float(low + length)
        sides.append((first, round(last - first, 1)))
    (x, across), (y, down) = sides
    return [x, y, across, down]


def _enter(translator: Any, node: frame) -> None:
    cut = " lowdim-cut" if node["known"]["panels"] else ""
    translator.body.append(
        f'<div class="lowdim-figure{cut}"><span class="lowdim-window lowdim-whole">'
    )


def _leave(translator: Any, node: Any) -> None:
    known, image = node["known"], node[0]  # whose address is by now the one on the page
    whole = [0.0, 0.0, *known["size"]]
    true = "".join(_over(image["uri"], place, whole) for place in known["true"])
    below = panels(known, image["uri"], image.get("alt", ""))
    translator.body.append(f"{true}</span>{below}</div>")


def _pass(translator: Any, node: frame) -> None:
    """Elsewhere the image stands alone."""


def _window(kind: str, uri: str, box: Box, alt: str, more: str = "") -> str:
    place = ",".join(f"{value:g}" for value in box)
    return f'<img class="{kind}" src="{uri}#svgView(viewBox({place}))" alt="{escape(alt)}"{more}/>'


def _over(uri: str, place: Box, box: Box) -> str:
    """A window in true colours over its place in another one."""
    sides = zip(("left", "top", "width", "height"), _within(place, box), strict=True)
    style = ";".join(f"{side}:{share:.3f}%" for side, share in sides)
    more = f' aria-hidden="true" style="{style}"'
    return _window("lowdim-true", uri, place, "The same in its own colours", more)


def _within(place: Box, box: Box) -> tuple[float, float, float, float]:
    """Left, top, width and height of a place in a box, in percent of the box."""
    x, y, across, down = box
    return (
        100 * (place[0] - x) / across, 100 * (place[1] - y) / down,
        100 * place[2] / across, 100 * place[3] / down,
    )  # fmt: skip


def _common(one: Box, other: Box) -> list[float] | None:
    """The box that two boxes share, if it is more than an edge."""
    low = [max(a, b) for a, b in zip(one[:2], other[:2], strict=True)]
    high = [
        min(a + c, b + d) for a, c, b, d in zip(one[:2], one[2:], other[:2], other[2:], strict=True)
    ]
    size = [round(h - w, 1) for w, h in zip(low, high, strict=True)]
    return [*low, *size] if min(size) > 1 else None
