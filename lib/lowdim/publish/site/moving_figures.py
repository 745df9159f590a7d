r"""The five moving figures: what each shows for given settings.

A :class:`Figure` has settings with ranges, a plane or two, scenery that does not move, and a
function ``frame`` from settings to attributes of what moves and to the values beside the picture.
``book/_static/js/moving_figures.js`` has the same five functions; the tests compare the two.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lowdim.publish.site.moving_plane import Plane, element, falling_root, letter, text

State = Mapping[str, float]


@dataclass(frozen=True)
class Frame:
    """One picture: attributes of each moving part, values by name, and the command."""

    parts: dict[str, dict[str, Any]]
    values: dict[str, str]
    command: str


@dataclass(frozen=True)
class Setting:
    """A slider: where it begins and ends, its step, where it stands at first.

    ``play`` offers a button that runs through it.
    """

    low: float
    high: float
    step: float
    start: float
    play: bool = False


@dataclass(frozen=True)
class Handle:
    """A point to drag: the part that is it, its two settings, and the plane that it lives in."""

    part: str
    settings: tuple[str, str]
    plane: str


@dataclass(frozen=True)
class Figure:
    """All that a moving figure is, but its words."""

    size: tuple[int, int]
    planes: Mapping[str, Plane]
    settings: Mapping[str, Setting]
    frame: Callable[[State], Frame]
    scenery: Callable[[], tuple[str, str]]
    moving: tuple[tuple[str, str, str], ...]
    handle: Handle | None = None
    fixed: Mapping[str, Any] = field(default_factory=dict)

    @property
    def start(self) -> dict[str, float]:
        """The settings of the first frame."""
        return {name: setting.start for name, setting in self.settings.items()}

    def svg(self, frame: Frame) -> str:
        """What is inside the picture: scenery behind, what moves, scenery in front."""
        behind, front = self.scenery()
        drawn = [element(tag, part, css, frame.parts[part]) for tag, part, css in self.moving]
        return behind + "".join(drawn) + front


# --- the conserved vector (Part III, Theorem 2.4) -------------------------------------------------

FLOW = Plane((-1.6, 2.5), (-0.12, 2.0), (8, 8, 512, 269))
LEVELS = (0.2, 0.45, 0.75, 1.1, 1.5, 1.95)


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
    angles = (a + (b - a) * k / count for k in range(count + 1))
    return FLOW.path(_on_line(angle, start, depth) for angle in angles)


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
    levels = "".join(flow_line((1.0, y), L, (2.6, -1.7), 48) for y in LEVELS)
    foot, top = FLOW.at(now[0], 0), FLOW.at(*now)
    origin, tip = FLOW.at(0, 0), FLOW.at(0, kept)
    dots = {name: dict(zip(("cx", "cy"), FLOW.at(*at), strict=True)) for name, at in
            {"begin": start, "limit": end, "now": now}.items()}  # fmt: skip
    return Frame(
        {
            "levels": {"d": levels},
            "line": {"d": flow_line(start, L, (start[0], 1.0), 120)},
            "normal": {"d": f"M{foot[0]:.1f} {foot[1]:.1f}L{top[0]:.1f} {top[1]:.1f}"},
            "kept": {
                "d": f"M{origin[0]:.1f} {origin[1]:.1f}L{tip[0]:.1f} {tip[1]:.1f}"
                f"m-5.5 9l5.5 -9l5.5 9"
            },
            **dots,
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
    )


def _flow_scenery() -> tuple[str, str]:
    _, top, _, bottom = FLOW.box
    a, b = FLOW.at(-1, 0)[0], FLOW.at(1, 0)[0]
    y0 = FLOW.at(0, 0)[1]
    behind = (
        f'<rect class="mv-region" x="{a:.1f}" y="{top}" width="{b - a:.1f}"'
        f' height="{y0 - top:.1f}"/>'
        f'<path class="mv-target" d="M{b:.1f} {top}V{bottom}"/>'
    )
    behind += FLOW.axes([], [], names=(letter("w", "x"), letter("w", "y")), cross=(0.0, 0.0))
    front = text(b + 8, top + 14, "minima", "mv-note")
    front += text(a + 8, top + 14, f"here {letter('w', 'y')} grows", "mv-note")
    return behind, front


# --- the tangent bound (Part I) -------------------------------------------------------------------

CLOUD = Plane((-1.2, 1.2), (-1.2, 1.2), (4, 14, 248, 258))
RATIO = Plane((0, 1.2), (0, 1.2), (304, 32, 510, 238))


def _cloud() -> dict[str, list[float]]:
    """Fixed unit vectors a and o, orthogonal: how points lie along the truth, and beside it."""
    a = [math.cos(2.4 * k) * (0.55 + 0.45 * math.cos(1.1 * k)) for k in range(16)]
    o = [math.sin(3.7 * k + 1) for k in range(16)]
    dot, square = sum(x * y for x, y in zip(a, o, strict=True)), sum(x * x for x in a)
    o = [y - dot / square * x for x, y in zip(a, o, strict=True)]
    sizes = [math.sqrt(sum(x * x for x in v)) for v in (a, o)]
    return {name: [round(x / size, 6) for x in v]
            for name, v, size in zip("ao", (a, o), sizes, strict=True)}  # fmt: skip


POINTS = _cloud()
SPREAD = 2.4  # a unit vector of sixteen entries, drawn so that it fills the plane


def tangent(state: State) -> Frame:
    """Points near a line, the direction that they show, and the bound on its angle.

    Examples
    --------
    >>> values = tangent({"q": 0.5, "c": 1.0}).values
    >>> values["angle"], values["bound"]
    ('26.6°', '26.6°')
    """
    q, c = state["q"], state["c"]
    beside = math.sqrt(1 - c * c)
    theta = 0.5 * math.atan2(2 * q * c, 1 - q * q)
    most = math.atan(q)
    dots = []
    for a, o in zip(POINTS["a"], POINTS["o"], strict=True):
        x, y = CLOUD.at(SPREAD * a, SPREAD * q * (c * a + beside * o))
        dots.append(f"M{x - 3.5:.1f} {y:.1f}a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0")
    far = 1.16
    ends = [(far * math.cos(t), far * math.sin(t)) for t in (most, theta)]
    wedge = "" if q >= 1 else "".join(
        CLOUD.path([(0, 0), (s * ends[0][0], ends[0][1]), (s * ends[0][0], -ends[0][1])]) + "Z"
        for s in (1, -1)
    )  # fmt: skip
    angles = ((p, 0.5 * math.atan2(2 * p * c, 1 - p * p)) for p in (k / 80 for k in range(97)))
    curve = [(p, math.tan(angle)) for p, angle in angles if angle <= math.atan(1.2)]
    measured, bound = RATIO.at(q, min(math.tan(min(theta, 1.5)), 1.2)), RATIO.at(q, min(q, 1.2))
    return Frame(
        {
            "wedge": {"d": wedge},
            "dots": {"d": "".join(dots)},
            "seen": {"d": CLOUD.path([(-ends[1][0], -ends[1][1]), ends[1]])},
            "curve": {"d": RATIO.path(curve)},
            "bound": {"cx": bound[0], "cy": bound[1]},
            "measured": {"cx": measured[0], "cy": measured[1]},
        },
        {
            "q": f"{q:.2f}",
            "c": f"{c:.2f}",
            "angle": f"{math.degrees(theta):.1f}°",
            "bound": f"{math.degrees(most):.1f}°" if q < 1 else "none",
        },
        "lowdim run preserve/theorem_3_1",
    )


def _tangent_scenery() -> tuple[str, str]:
    left, right = CLOUD.at(-1.2, 0), CLOUD.at(1.2, 0)
    behind = f'<path class="mv-target" d="M{left[0]:.1f} {left[1]:.1f}H{right[0]:.1f}"/>'
    marks = [(0.0, "0"), (0.5, "½"), (1.0, "1")]
    behind += RATIO.axes(marks, marks[1:], names=(letter("q"), f"tan {letter('θ')}"))
    top = RATIO.at(1, 1)
    behind += f'<path class="mv-bound" d="{RATIO.path([(0, 0), (1, 1)])}"/>'
    behind += f'<path class="mv-guide" d="M{top[0]:.1f} {RATIO.box[3]}V{RATIO.box[1]}"/>'
    return behind, text(right[0] - 2, right[1] + 18, "truth", "mv-note", anchor="end")


# --- shrinkage (Part II) --------------------------------------------------------------------------

SHRINK = Plane((0.03, 30), (0, 1.04), (34, 28, 512, 236), log=(True, False))
MOMENTS = (0.06, 0.12, 0.2, 0.35, 0.6, 1.0, 1.7, 3.0, 6.0, 14.0)


def shrinkage(state: State) -> Frame:
    """What weight decay leaves of each direction of the data, against its moment.

    Examples
    --------
    >>> shrinkage({"L": 4, "lam": 0.0}).values["jump"]
    '0 → 0.67'
    """
    import torch

    from lowdim.collapse import linear

    L, lam = round(state["L"]), 10 ** state["lam"]
    ratio, height = linear.jump(L)
    edge = min(max(ratio * lam, SHRINK.x[0]), SHRINK.x[1])
    first = SHRINK.x[0] if L == 1 else edge
    steps = (math.log(SHRINK.x[1] / first) * k / 120 for k in range(121))
    along = [first * math.exp(step) for step in steps]
    # A hair to the right of the edge, where rounding cannot fall on the other side of the jump.
    asked = torch.tensor([m * (1 + 1e-9) for m in along], dtype=torch.float64)
    kept = linear.shrinkage(asked, lam, L).tolist()
    curve = SHRINK.path(zip(along, kept, strict=True))
    if L > 1:
        curve = SHRINK.path([(SHRINK.x[0], 0), (edge, 0)]) + curve
    shares = linear.shrinkage(torch.tensor(MOMENTS, dtype=torch.float64), lam, L).tolist()
    dots, stems = [], []
    for m, t in zip(MOMENTS, shares, strict=True):
        x, y = SHRINK.at(m, t)
        dots.append(f"M{x - 5:.1f} {y:.1f}a5 5 0 1 0 10 0a5 5 0 1 0 -10 0")
        stems.append(f"M{x:.1f} {SHRINK.box[3]}V{y:.1f}")
    x, y = SHRINK.at(edge, height)
    left = sum(t > 0 for t in shares)
    return Frame(
        {
            "stems": {"d": "".join(stems)},
            "edge": {"d": f"M{x:.1f} {SHRINK.box[3]}V{y:.1f}" if L > 2 else ""},
            "curve": {"d": curve},
            "dots": {"d": "".join(dots)},
        },
        {
            "L": f"{L}",
            "lam": f"{lam:.3g}",
            "rank": f"{left} of {len(MOMENTS)}",
            "edge": "none" if L == 1 else f"{ratio * lam:.3g}",
            "jump": "none" if L < 3 else f"0 → {height:.2f}",
        },
        "lowdim run collapse/theorem_5_3",
    )


def _shrink_scenery() -> tuple[str, str]:
    marks = [(0.1, "0.1"), (1.0, "1"), (10.0, "10")]
    names = (f"second moment {letter('m')} of a direction", "what is kept")
    return SHRINK.axes(marks, [(0.0, "0"), (0.5, "½"), (1.0, "1")], names=names), ""


# --- waiting at the origin (Part III) -------------------------------------------------------------

WAIT = Plane((1, 300), (1e-5, 2e3), (52, 28, 512, 236), log=(True, True))


def _wait_line(k: float) -> tuple[list[float], list[float]]:
    import numpy as np

    from lowdim.embedded import origin

    depths = np.geomspace(1, 300, 121)
    return depths.tolist(), origin.least_time(10.0**-k, depths, 1.0, -1.0).tolist()


def wait(state: State) -> Frame:
    """How long a linear network takes to leave its start near the origin, against its depth.

    Examples
    --------
    >>> wait({"k": 2.0, "L": 0.0}).values["time"]  # depth 1: about half of ε
    '0.00506'
    """
    from lowdim.embedded import origin

    k, L = state["k"], float(round(10 ** state["L"]))
    depths, times = _wait_line(k)
    time = float(origin.least_time(10.0**-k, L, 1.0, -1.0))
    highest = max(range(len(times)), key=times.__getitem__)
    peak, now = WAIT.at(depths[highest], times[highest]), WAIT.at(L, time)
    return Frame(
        {
            "curve": {"d": WAIT.path(zip(depths, times, strict=True))},
            "drop": {"d": f"M{now[0]:.1f} {WAIT.box[3]}V{now[1]:.1f}"},
            "peak": {"cx": peak[0], "cy": peak[1]},
            "now": {"cx": now[0], "cy": now[1]},
        },
        {
            "k": f"{10.0**-k:.1g}" if k == round(k) else f"{10.0**-k:.2g}",
            "L": f"{L:.0f}",
            "time": f"{time:.3g}",
            "peak": f"{depths[highest]:.0f}",
            "rule": f"{2 * k * math.log(10):.1f}",
        },
        f"lowdim run embedded/theorem_2_3 -p radii={max(3, math.ceil(k))}",
    )


def _wait_scenery() -> tuple[str, str]:
    xs = [(1.0, "1"), (10.0, "10"), (100.0, "100")]
    ys = [(10.0**e, name) for e, name in ((-4, "10⁻⁴"), (-2, "10⁻²"), (0, "1"), (2, "100"))]
    behind = WAIT.axes(xs, ys, names=(f"depth {letter('L')}", "time to leave"))
    for k in (1.0, 2.0, 3.0, 4.0):
        behind += f'<path class="mv-level" d="{WAIT.path(zip(*_wait_line(k), strict=True))}"/>'
    return behind, ""


# --- the threshold of a hash (Part IV) ------------------------------------------------------------

HASH = Plane((1, 200), (0, 1.04), (34, 28, 512, 236), log=(True, False))


def threshold(state: State) -> Frame:
    """Bounds on misses and on false hits of a look-up, against its threshold.

    Examples
    --------
    >>> values = threshold({"rho": 40.0, "t": 1.0}).values
    >>> values["miss"], values["best"]
    ('20 %', '10.5')
    """
    import numpy as np

    from lowdim.hashing import oneshot

    rho, t = state["rho"], 10 ** state["t"]
    along = np.geomspace(1, 200, 161)
    hits, best = oneshot.false_hits(rho, along), float(oneshot.threshold(rho))
    miss, hit = min(1.0, 2 / t), float(oneshot.false_hits(rho, np.array(t)))
    both = float(oneshot.bound(rho))
    at, crossing = HASH.at(t, 0), HASH.at(best, both)
    dots = {"miss": HASH.at(t, miss), "hit": HASH.at(t, hit), "best": crossing}
    points = list(zip(along.tolist(), hits.tolist(), strict=True))
    return Frame(
        {
            "hits": {"d": HASH.path(points)},
            "cut": {"d": f"M{at[0]:.1f} {HASH.box[3]}V{HASH.box[1]}"},
            **{name: {"cx": x, "cy": y} for name, (x, y) in dots.items()},
        },
        {
            "rho": f"{rho:.0f}",
            "t": f"{t:.3g}",
            "miss": f"{100 * miss:.0f} %",
            "hit": f"{100 * hit:.0f} %",
            "best": f"{best:.3g}",
            "both": f"{100 * both:.0f} %",
        },
        f"lowdim run hashing/theorem_5 -p rho_shown={rho:.1f}",
    )


def _hash_scenery() -> tuple[str, str]:
    marks = [(1.0, "1"), (10.0, "10"), (100.0, "100")]
    names = (f"threshold {letter('t')}, in units of ε", "at most this often")
    behind = HASH.axes(marks, [(0.0, "0"), (0.5, "½"), (1.0, "1")], names=names)
    printed = HASH.at(2, 0)[0]
    behind += f'<path class="mv-target" d="M{printed:.1f} {HASH.box[3]}V{HASH.box[1]}"/>'
    misses = [(1.0, 1.0), *((2 * 100 ** (k / 80), 100 ** (-k / 80)) for k in range(81))]
    behind += f'<path class="mv-line mv-bad" d="{HASH.path(misses)}"/>'
    front = text(printed + 7, HASH.at(1, 0.45)[1], "the paper’s", "mv-note")
    return behind, front


FIGURES: dict[str, Figure] = {
    "conserved": Figure(
        (520, 277),
        {"flow": FLOW},
        {
            "x": Setting(-1.4, 2.35, 0.05, 0.25),
            "y": Setting(0.05, 1.8, 0.05, 0.35),
            "L": Setting(1, 12, 1, 3),
            "u": Setting(0, 1, 0.01, 0.6, play=True),
        },
        conserved,
        _flow_scenery,
        (
            ("path", "levels", "mv-level"),
            ("path", "line", "mv-line mv-main"),
            ("path", "normal", "mv-line mv-warn mv-dash"),
            ("path", "kept", "mv-arrow"),
            ("circle", "limit", "mv-dot mv-hollow"),
            ("circle", "now", "mv-dot mv-warn"),
            ("circle", "begin", "mv-dot mv-main"),
        ),
        Handle("begin", ("x", "y"), "flow"),
        {"levels": LEVELS},
    ),
    "tangent": Figure(
        (520, 290),
        {"cloud": CLOUD, "ratio": RATIO},
        {"q": Setting(0, 1.2, 0.01, 0.55), "c": Setting(0, 1, 0.01, 0.6)},
        tangent,
        _tangent_scenery,
        (
            ("path", "wedge", "mv-wedge"),
            ("path", "dots", "mv-dots"),
            ("path", "seen", "mv-line mv-main"),
            ("path", "curve", "mv-line mv-main"),
            ("circle", "bound", "mv-dot mv-hollow"),
            ("circle", "measured", "mv-dot mv-main"),
        ),
        fixed={**POINTS, "spread": SPREAD},
    ),
    "shrinkage": Figure(
        (520, 282),
        {"plane": SHRINK},
        {"L": Setting(1, 8, 1, 4), "lam": Setting(-1.5, 0.7, 0.02, -0.7)},
        shrinkage,
        _shrink_scenery,
        (
            ("path", "stems", "mv-stem"),
            ("path", "edge", "mv-line mv-warn mv-dash"),
            ("path", "curve", "mv-line mv-main"),
            ("path", "dots", "mv-dots"),
        ),
        fixed={"moments": MOMENTS},
    ),
    "wait": Figure(
        (520, 282),
        {"plane": WAIT},
        {"k": Setting(1, 4, 0.25, 3), "L": Setting(0, 2.4, 0.02, 0.7)},
        wait,
        _wait_scenery,
        (
            ("path", "drop", "mv-stem"),
            ("path", "curve", "mv-line mv-main"),
            ("circle", "peak", "mv-dot mv-hollow"),
            ("circle", "now", "mv-dot mv-warn"),
        ),
    ),
    "threshold": Figure(
        (520, 282),
        {"plane": HASH},
        {"rho": Setting(9, 150, 1, 40), "t": Setting(0, 2.1, 0.01, 0.3)},
        threshold,
        _hash_scenery,
        (
            ("path", "cut", "mv-guide"),
            ("path", "hits", "mv-line mv-main"),
            ("circle", "best", "mv-dot mv-hollow"),
            ("circle", "hit", "mv-dot mv-main"),
            ("circle", "miss", "mv-dot mv-bad"),
        ),
    ),
}
