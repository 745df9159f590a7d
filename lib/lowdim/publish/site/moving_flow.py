"""The moving figure of the landing page: a vector that no gradient moves (Part III)."""

from __future__ import annotations

import math

from lowdim.publish.site.moving_frames import Figure, Frame, Handle, Setting, State
from lowdim.publish.site.moving_plane import Plane, dots, falling_root, letter, text

FLOW = Plane((-1.6, 2.5), (-0.12, 2.0), (8, 8, 512, 269))
LEVELS = (0.1, 0.24, 0.42, 0.63, 0.87, 1.13, 1.42, 1.74, 2.1)  # where lines meet the minima
SWARM = ((-1.5, -0.72, 0.05, 1.8), (-1.12, -0.35, 1.45, 2.25))  # where points of a line begin


def _on_line(theta: float, start: tuple[float, float], depth: float) -> tuple[float, float]:
    """The point at the angle ``theta`` of the flow line r sin^L θ = const through ``start``."""
    angle = math.atan2(start[1], start[0])
    log = math.log(math.hypot(*start)) + depth * (
        math.log(math.sin(angle)) - math.log(math.sin(theta))
    )
    r = math.exp(min(log, 30.0))
    return r * math.cos(theta), r * math.sin(theta)


def angle_at(x: float, start: tuple[float, float], depth: float) -> float:
    """The angle at which the flow line through ``start`` has the tangent weight ``x``.

    Examples
    --------
    >>> round(angle_at(0.5, (0.5, 0.5), 3), 6) == round(math.pi / 4, 6)
    True
    """
    return falling_root(lambda a: _on_line(a, start, depth)[0] - x, 1e-9, math.pi - 1e-9)


def flow_line(
    start: tuple[float, float], depth: float, ends: tuple[float, float], count: int
) -> str:
    """The flow line through ``start``, between two values of the tangent weight, as a path.

    Examples
    --------
    >>> flow_line((1.0, 1.0), 1, (1.0, 0.0), 1)  # depth 1: the normal weight stays
    'M327.6 131.1L204.7 131.1'
    """
    a, b = (angle_at(x, start, depth) for x in ends)
    # Closer at the ends: there a small turn is a long way.
    shares = ((k / count) ** 2 * (3 - 2 * k / count) for k in range(count + 1))
    angles = (a + (b - a) * share for share in shares)
    return FLOW.path(_on_line(angle, start, depth) for angle in angles)


def family(depth: float, along: float) -> dict[str, dict[str, str]]:
    """Flow lines that fill the plane, and points on their way along them; each line is two parts.

    Examples
    --------
    >>> len(family(3, 0.5)) == 2 * len(LEVELS)
    True
    """
    parts = {}
    for k, level in enumerate(LEVELS):
        line = (1.0, level)
        swarm = (x + along * (1 - x) for x in SWARM[k % len(SWARM)])
        at = (FLOW.at(*_on_line(angle_at(x, line, depth), line, depth)) for x in swarm)
        parts[f"level{k}"] = {"d": flow_line(line, depth, (2.6, -1.7), 64)}
        parts[f"swarm{k}"] = {"d": dots(at, 2.6)}
    return parts


def conserved(state: State) -> Frame:
    """The flow line from a start to the minima, and the vector that does not move along it.

    Examples
    --------
    >>> values = conserved({"x": 2.0, "y": 1.0, "L": 2, "u": 1.0}).values
    >>> values["limit"], values["kept"]
    ('0.75', '0.67')
    """
    start, L = (state["x"], state["y"]), state["L"]
    now = _on_line(angle_at(start[0] + state["u"] * (1 - start[0]), start, L), start, L)
    end = _on_line(angle_at(1.0, start, L), start, L)
    kept = start[1] / math.hypot(*start) ** (1 - 1 / L)
    foot, top = FLOW.at(now[0], 0), FLOW.at(*now)
    origin, tip = FLOW.at(0, 0), FLOW.at(0, kept)
    places = {"begin": start, "grip": start, "limit": end, "now": now}
    return Frame(
        {
            **family(L, state["u"]),
            "line": {"d": flow_line(start, L, (start[0], 1.0), 120)},
            "normal": {"d": f"M{foot[0]:.1f} {foot[1]:.1f}L{top[0]:.1f} {top[1]:.1f}"},
            "kept": {
                "d": f"M{origin[0]:.1f} {origin[1]:.1f}L{tip[0]:.1f} {tip[1]:.1f}"
                f"m-5.5 9l5.5 -9l5.5 9"
            },
            **{
                name: dict(zip(("cx", "cy"), FLOW.at(*at), strict=True))
                for name, at in places.items()
            },
        },
        {
            "L": f"{L:.0f}",
            "u": f"{100 * state['u']:.0f} %",
            "begin": f"({start[0]:.2f}, {start[1]:.2f})",
            "now": f"{now[1]:.2f}",
            "limit": f"{end[1]:.2f}",
            "kept": f"{kept:.2f}",
        },
        "lowdim run embedded/theorem_2_4" + (f" -p 'depths=[{L:.0f}]'" if L >= 2 else ""),
        "from lowdim.embedded.flows import normal_limit; "
        f"print(normal_limit(({start[0]:.2f})**2, ({start[1]:.2f})**2, 1, {L:.0f})**0.5)",
    )


def _scenery() -> tuple[str, str]:
    _, top, _, bottom = FLOW.box
    a, b = FLOW.at(-1, 0)[0], FLOW.at(1, 0)[0]
    y0 = FLOW.at(0, 0)[1]
    behind = (
        f'<rect class="mv-region" x="{a:.1f}" y="{top}" width="{b - a:.1f}"'
        f' height="{y0 - top:.1f}"/>'
        f'<path class="mv-target" d="M{b:.1f} {top}V{bottom}"/>'
    )
    behind += FLOW.axes([], [], names=(letter("w", "x"), letter("w", "y")), cross=(0.0, 0.0))
    x, y = FLOW.at(START[0], START[1])
    front = text(b + 8, y0 - 10, "minima", "mv-note mv-over")
    front += text(x - 16, y + 5, "drag", "mv-note mv-over mv-hint", anchor="end")
    return behind, front


START = (-0.75, 0.6)
CONSERVED = Figure(
    (520, 277),
    {"flow": FLOW},
    {
        "x": Setting(-1.4, 2.35, 0.05, START[0]),
        "y": Setting(0.05, 1.8, 0.05, START[1]),
        "L": Setting(1, 12, 1, 3),
        "u": Setting(0, 1, 0.01, 0.6, play=True),
    },
    conserved,
    _scenery,
    (
        *(("path", f"level{k}", f"mv-flow mv-k{k}") for k in range(len(LEVELS))),
        *(("path", f"swarm{k}", f"mv-swarm mv-k{k}") for k in range(len(LEVELS))),
        ("path", "line", "mv-line mv-path"),
        ("path", "normal", "mv-line mv-warn mv-dash"),
        ("path", "kept", "mv-arrow"),
        ("circle", "limit", "mv-dot mv-hollow"),
        ("circle", "now", "mv-dot mv-warn"),
        ("circle", "begin", "mv-dot mv-main"),
        ("circle", "grip", "mv-grip"),
    ),
    Handle("begin", "grip", ("x", "y"), "flow"),
    {"levels": LEVELS, "swarm": SWARM},
)
