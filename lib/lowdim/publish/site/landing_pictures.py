"""Small pictures for the cards of the landing page, from the formulas that the cards show."""

from __future__ import annotations

import math
from collections.abc import Callable

from lowdim.publish.site.moving_flow import FLOW, LEVELS, conserved, flow_line
from lowdim.publish.site.moving_plane import Plane, text

SIZE = (240, 120)


def picture(name: str) -> str:
    """The picture of that name as an SVG that a reader may pass over: the card says it all.

    Raises
    ------
    KeyError
        If there is none.

    Examples
    --------
    >>> picture("neurons").startswith('<svg class="landing-picture" viewBox="0 0 240 120"')
    True
    """
    width, height = SIZE
    return (
        f'<svg class="landing-picture" viewBox="0 0 {width} {height}" aria-hidden="true"'
        f' focusable="false">{PICTURES[name]()}</svg>'
    )


def _tangent() -> str:
    centre, reach, most, seen = (34.0, 88.0), 196.0, math.atan(0.36), math.atan(0.2)

    def end(angle: float) -> tuple[float, float]:
        return centre[0] + reach * math.cos(angle), centre[1] - reach * math.sin(angle)

    up, at = end(most), end(seen)
    dots = []
    for k in range(11):
        along = 0.12 + 0.078 * k
        x = centre[0] + reach * along * math.cos(seen)
        y = centre[1] - reach * along * math.sin(seen) + 9 * math.sin(2.9 * k + 1)
        dots.append(f"M{x - 3:.1f} {y:.1f}a3 3 0 1 0 6 0a3 3 0 1 0 -6 0")
    return (
        f'<path class="mv-wedge" d="M{centre[0]} {centre[1]}L{up[0]:.1f} {up[1]:.1f}'
        f'L{up[0]:.1f} {centre[1]}Z"/>'
        f'<path class="mv-target" d="M14 {centre[1]}H232"/>'
        f'<path class="mv-dots" d="{"".join(dots)}"/>'
        f'<path class="mv-line mv-main" d="M{centre[0]} {centre[1]}L{at[0]:.1f} {at[1]:.1f}"/>'
    )


def _jump() -> str:
    from lowdim.collapse import linear

    plane = Plane((0, 12), (0, 1), (14, 14, 232, 100))
    edge, height = linear.jump(4)
    along = [edge + (12 - edge) * k / 40 for k in range(41)]
    kept = linear.shrinkage([m + 1e-9 for m in along], 1.0, 4).tolist()
    x, y = plane.at(edge, height)
    return (
        f'<path class="mv-axis" d="M14 100H232"/>'
        f'<path class="mv-line mv-warn mv-dash" d="M{x:.1f} 100V{y:.1f}"/>'
        f'<path class="mv-line mv-main" d="{plane.path([(0, 0), (edge, 0)])}'
        f'{plane.path(zip(along, kept, strict=True))}"/>'
        f'<circle class="mv-dot mv-hollow" cx="{x:.1f}" cy="100"/>'
        f'<circle class="mv-dot mv-main" cx="{x:.1f}" cy="{y:.1f}"/>'
    )


def _flow() -> str:
    frame = conserved({"x": -0.75, "y": 0.6, "L": 3, "u": 1.0})
    left, top, right, _ = FLOW.box
    ground, target = FLOW.at(0, 0), FLOW.at(1, 0)[0]
    levels = "".join(
        f'<path class="mv-flow mv-k{k}" d="{flow_line((1.0, LEVELS[k]), 3, (2.6, -1.7), 40)}"/>'
        for k in range(0, len(LEVELS), 2)
    )
    inside = (
        f'<path class="mv-axis" d="M{left} {ground[1]:.1f}H{right}"/>'
        f'<path class="mv-target" d="M{target:.1f} {top}V{ground[1]:.1f}"/>'
        f"{levels}"
        f'<path class="mv-line mv-path" d="{frame.parts["line"]["d"]}"/>'
        f'<path class="mv-arrow" d="{frame.parts["kept"]["d"]}"/>'
    )
    return f'<g transform="translate(2 -21) scale(0.47)" class="landing-scaled">{inside}</g>'


def _neurons() -> str:
    """What two equal neurons may change the output by, squared, and what they do: 2 and 4."""
    unit, bars = 21.0, [("one", 1, "good"), ("bound for two", 2, "open"), ("two", 4, "bad")]
    out = ['<path class="mv-axis" d="M14 100H232"/>']
    for k, (name, height, tone) in enumerate(bars):
        x = 32 + 70 * k
        out.append(
            f'<rect class="landing-bar landing-{tone}" x="{x}" y="{100 - unit * height:.1f}"'
            f' width="44" height="{unit * height:.1f}"/>'
        )
        out.append(text(x + 22, 94 - unit * height, str(height), "mv-name", anchor="middle"))
        out.append(text(x + 22, 115, name, "landing-small", anchor="middle"))
    return "".join(out)


def _hills() -> str:
    """Squared distances of a key to its own kind and to another, in 24 dimensions, ρ = 12."""
    n, rho = 24, 12.0
    plane = Plane((0, 17), (0, 0.75), (14, 12, 232, 100))

    def own(x: float) -> float:  # 2 χ²_n / n
        k, scale = n / 2, 4 / n
        if x <= 0:
            return 0.0
        return math.exp((k - 1) * math.log(x / scale) - x / scale - math.lgamma(k)) / scale

    def other(x: float) -> float:
        variance = 8 * (rho - 1) / n
        return math.exp(-((x - rho) ** 2) / (2 * variance)) / math.sqrt(2 * math.pi * variance)

    missed = [(2 + 3 * k / 40, own(2 + 3 * k / 40)) for k in range(41)]
    along = [17 * k / 150 for k in range(151)]
    cut = plane.at(2, 0)[0]
    return (
        f'<path class="landing-bar landing-bad" d="{plane.path([(2, 0), *missed, (5, 0)])}Z"/>'
        f'<path class="mv-line mv-main" d="{plane.path((x, own(x)) for x in along)}"/>'
        f'<path class="mv-line mv-warn" d="{plane.path((x, other(x)) for x in along)}"/>'
        f'<path class="mv-target" d="M{cut:.1f} 100V8"/><path class="mv-axis" d="M14 100H232"/>'
        + text(cut + 6, 17, "2ε", "mv-name")
    )


PICTURES: dict[str, Callable[[], str]] = {
    "tangent": _tangent,
    "jump": _jump,
    "flow": _flow,
    "neurons": _neurons,
    "hills": _hills,
}
