"""Lines over layers or steps as SVG whose colours follow the page: light, dark and on paper."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Line", "alt_text", "chart"]

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 680, 300, 52, 14, 14, 84


@dataclass(frozen=True)
class Line:
    """One line: label; values, lows, highs, each with None where there is none."""

    label: str
    values: Sequence[float | None]
    lows: Sequence[float | None]
    highs: Sequence[float | None]


def alt_text(title: str, names: Sequence[str], lines: Sequence[Line]) -> str:
    """What a chart shows, in words.

    Examples
    --------
    >>> alt_text("Distance", ["a", "b"], [Line("x", [0.1, 0.9], [None] * 2, [None] * 2)])
    'Distance. x: from 0.1 at a to 0.9 at b, least 0.1 at a, most 0.9 at b.'
    """
    parts = [f"{title}."]
    for line in lines:
        there = [(v, n) for v, n in zip(line.values, names, strict=True) if v is not None]
        if not there:
            parts.append(f"{line.label}: nowhere measured.")
            continue
        (a, at), (b, to) = there[0], there[-1]
        least, most = min(there), max(there)
        parts.append(
            f"{line.label}: from {a:.3g} at {at} to {b:.3g} at {to}, "
            f"least {least[0]:.3g} at {least[1]}, most {most[0]:.3g} at {most[1]}."
        )
    return " ".join(parts)


def _ticks(low: float, high: float, log: bool) -> list[float]:
    if log:
        a, b = math.floor(math.log10(low)), math.ceil(math.log10(high))
        step = max(1, (b - a) // 4)
        return [10.0**k for k in range(a, b + 1, step)]
    span = high - low
    unit = 10 ** math.floor(math.log10(span / 4))
    unit *= min((m for m in (1, 2, 5, 10) if span / (unit * m) <= 5), default=10)
    return [
        k * unit for k in range(math.ceil(low / unit - 1e-9), math.floor(high / unit + 1e-9) + 1)
    ]


def chart(
    title: str,
    names: Sequence[str],
    lines: Sequence[Line],
    *,
    log: bool = False,
    unit: bool = False,
    level: tuple[float, str] | None = None,
    identifier: str = "chart",
) -> str:
    """A chart as SVG text: one place for each of ``names``, whiskers for ranges.

    ``unit`` fixes the axis to 0 … 1; ``level`` is a dashed line with a name.

    Examples
    --------
    >>> drawn = chart("T", ["a", "b"], [Line("x", [0.1, None], [0.0, None], [0.2, None])])
    >>> drawn.startswith("<svg"), "<title" in drawn
    (True, True)
    """
    every = [
        v for x in lines for part in (x.values, x.lows, x.highs) for v in part if v is not None
    ]
    if level is not None:
        every.append(level[0])
    every = [v for v in every if math.isfinite(v) and (v > 0 or not log)] or [0.1, 1.0]
    low, high = (0.0, 1.0) if unit else (min(every), max(every))
    if log:
        low, high = max(low, 1e-5 * high) / 1.2, high * 1.2  # what is smaller lies on the edge
    elif not unit:
        low, high = min(low, 0.0), high + 0.05 * (high - min(low, 0.0)) or 1.0
    ticks = _ticks(low, high, log)
    if log:
        low, high = min(low, ticks[0]), max(high, ticks[-1])

    def y(value: float) -> float:
        value = min(max(value, low), high)
        at = math.log(value / low) / math.log(high / low) if log else (value - low) / (high - low)
        return HEIGHT - BOTTOM - at * (HEIGHT - BOTTOM - TOP)

    room = WIDTH - LEFT - RIGHT
    step = room / max(len(names), 1)

    def x(i: int, k: int = 0) -> float:
        return LEFT + step * (i + 0.5) + (k - (len(lines) - 1) / 2) * min(5.0, step / 8)

    out = [
        f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-labelledby="{identifier}-t">',
        f'<title id="{identifier}-t">{html.escape(alt_text(title, names, lines))}</title>',
    ]
    for tick in ticks:
        if low - 1e-12 <= tick <= high * (1 + 1e-12):
            out.append(f'<path class="grid" d="M{LEFT} {y(tick):.1f}H{WIDTH - RIGHT}"/>')
            out.append(f'<text class="tick" x="{LEFT - 6}" y="{y(tick) + 4:.1f}">{tick:.4g}</text>')
    every_name = max(1, math.ceil(len(names) / 24))
    for i, name in enumerate(names):
        if i % every_name == 0:
            short = name if len(name) <= 16 else f"…{name[-15:]}"
            out.append(
                f'<text class="name" transform="translate({x(i) + 3:.1f} {HEIGHT - BOTTOM + 12}) '
                f'rotate(-40)">{html.escape(short)}</text>'
            )
    if level is not None:
        at = y(level[0])
        out.append(f'<path class="level" d="M{LEFT} {at:.1f}H{WIDTH - RIGHT}"/>')
        out.append(
            f'<text class="said" x="{WIDTH - RIGHT}" y="{at - 5:.1f}">'
            f"{html.escape(level[1])}</text>"
        )
    for k, line in enumerate(lines):
        there = [(i, v) for i, v in enumerate(line.values) if v is not None and (v > 0 or not log)]
        path = "L".join(f"{x(i, k):.1f} {y(v):.1f}" for i, v in there)
        if path:
            out.append(f'<path class="line c{k}" d="M{path}"/>')
        for i, v in there:
            a, b = line.lows[i], line.highs[i]
            if a is not None and b is not None:
                foot = max(a, low)
                out.append(f'<path class="bar c{k}" d="M{x(i, k):.1f} {y(foot):.1f}V{y(b):.1f}"/>')
            if k % 2:
                out.append(
                    f'<rect class="dot c{k}" x="{x(i, k) - 3.4:.1f}" y="{y(v) - 3.4:.1f}" '
                    'width="6.8" height="6.8"/>'
                )
            else:
                out.append(f'<circle class="dot c{k}" cx="{x(i, k):.1f}" cy="{y(v):.1f}" r="3.6"/>')
    out.append("</svg>")
    return "".join(out)
