"""A rectangle of an SVG with coordinates of its own: points, paths, axes.

The same numbers go to the page's script as JSON, so that both draw in the same place.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

Point = tuple[float, float]


@dataclass(frozen=True)
class Plane:
    """Ranges of x and y, and the box (left, top, right, bottom) that shows them; axes may be log.

    Examples
    --------
    >>> Plane((0, 2), (0, 1), (10, 0, 110, 50)).at(1, 1)
    (60.0, 0.0)
    >>> Plane((1, 100), (0, 1), (0, 0, 100, 50), log=(True, False)).at(10, 0)
    (50.0, 50.0)
    """

    x: Point
    y: Point
    box: tuple[float, float, float, float]
    log: tuple[bool, bool] = (False, False)

    def at(self, x: float, y: float) -> Point:
        """Where a point is in the drawing."""
        left, top, right, bottom = self.box
        across = _share(x, self.x, self.log[0])
        up = _share(y, self.y, self.log[1])
        return left + across * (right - left), bottom - up * (bottom - top)

    def path(self, points: Iterable[Point]) -> str:
        """A line through points, as the ``d`` of a path.

        Examples
        --------
        >>> Plane((0, 1), (0, 1), (0, 0, 10, 10)).path([(0, 0), (1, 1)])
        'M0.0 10.0L10.0 0.0'
        """
        return "M" + "L".join("{:.1f} {:.1f}".format(*self.at(x, y)) for x, y in points)

    def data(self) -> dict[str, Any]:
        """What the script needs to know."""
        return {"x": self.x, "y": self.y, "box": self.box, "log": self.log}

    def axes(
        self,
        xs: Sequence[tuple[float, str]],
        ys: Sequence[tuple[float, str]],
        *,
        names: tuple[str, str],
        cross: Point | None = None,
    ) -> str:
        """Axes at the lower left, or through ``cross``, with marks and names (markup allowed)."""
        at_x, at_y = cross or (self.x[0], self.y[0])
        left, top, right, bottom = self.box
        x0, y0 = self.at(at_x, at_y)
        out = [f'<path class="mv-axis" d="M{left} {y0:.1f}H{right}M{x0:.1f} {bottom}V{top}"/>']
        for value, name in xs:
            x, _ = self.at(value, at_y)
            out.append(f'<path class="mv-axis" d="M{x:.1f} {y0:.1f}v5"/>')
            out.append(text(x, y0 + 19, name, "mv-tick", anchor="middle"))
        for value, name in ys:
            _, y = self.at(at_x, value)
            out.append(f'<path class="mv-axis" d="M{x0:.1f} {y:.1f}h-5"/>')
            out.append(text(x0 - 9, y + 4.5, name, "mv-tick", anchor="end"))
        out.append(text(right, y0 + 38 if xs else y0 - 9, names[0], "mv-name", anchor="end"))
        out.append(
            text(x0 + 9, top + 13, names[1], "mv-name mv-over")
            if cross
            else text(left - 9, top - 8, names[1], "mv-name")
        )
        return "".join(out)


def _share(value: float, ends: Point, log: bool) -> float:
    low, high = ends
    if log:
        low, high, value = math.log(low), math.log(high), math.log(max(value, 1e-300))
    return (value - low) / (high - low)


def text(x: float, y: float, markup: str, style: str, *, anchor: str = "start") -> str:
    """A line of text; ``markup`` may hold tspans.

    Examples
    --------
    >>> text(1.0, 2.0, "a", "mv-label")
    '<text class="mv-label" x="1.0" y="2.0" text-anchor="start">a</text>'
    """
    return f'<text class="{style}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{markup}</text>'


def dots(places: Iterable[Point], radius: float) -> str:
    """Filled circles at places of the drawing, as the ``d`` of one path.

    Examples
    --------
    >>> dots([(10.0, 5.0)], 2)
    'M8.0 5.0a2 2 0 1 0 4 0a2 2 0 1 0 -4 0'
    """
    r, d = f"{radius:g}", f"{2 * radius:g}"
    ring = f"a{r} {r} 0 1 0 {d} 0a{r} {r} 0 1 0 -{d} 0"
    return "".join(f"M{x - radius:.1f} {y:.1f}{ring}" for x, y in places)


def letter(name: str, index: str = "") -> str:
    """A letter of mathematics with an index below it.

    Examples
    --------
    >>> letter("w")
    '<tspan class="mv-it">w</tspan>'
    """
    below = f'<tspan class="mv-sub" dy="4">{index}</tspan><tspan dy="-4">&#8203;</tspan>'
    return f'<tspan class="mv-it">{name}</tspan>' + (below if index else "")


def element(name: str, part: str, style: str, given: dict[str, Any]) -> str:
    """An element that moves: ``part`` is how the script finds it, ``given`` its attributes now.

    Examples
    --------
    >>> element("circle", "dot", "mv-dot", {"cx": 1.0, "cy": 2.0})
    '<circle data-part="dot" class="mv-dot" cx="1.0" cy="2.0"/>'
    """
    inside = html.escape(str(given.get("text", "")))
    attributes = "".join(
        f' {key}="{shown(value)}"' for key, value in given.items() if key != "text"
    )
    head = f'<{name} data-part="{part}" class="{style}"{attributes}'
    return f"{head}>{inside}</{name}>" if inside else head + "/>"


def shown(value: Any) -> str:
    """An attribute's value: numbers with one digit, as the script writes them.

    Examples
    --------
    >>> shown(1.26), shown("M0 0")
    ('1.3', 'M0 0')
    """
    return f"{value:.1f}" if isinstance(value, float) else html.escape(str(value))


def significant(value: float, digits: int) -> str:
    """A number with so many digits and without powers of ten, as the script writes it.

    Examples
    --------
    >>> significant(5.0003e-5, 3), significant(2134.0, 3)
    ('0.00005', '2130')
    """
    return format(Decimal(f"{value:.{digits}g}"), "f")


def falling_root(function: Any, low: float, high: float, *, rounds: int = 60) -> float:
    """Where a falling function passes zero between ``low`` and ``high``.

    Examples
    --------
    >>> round(falling_root(lambda x: 2 - x * x, 0, 2), 6)
    1.414214
    """
    for _ in range(rounds):
        middle = (low + high) / 2
        if function(middle) > 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2
