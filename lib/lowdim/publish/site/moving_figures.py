r"""The moving figures: what each shows for given settings.

A :class:`Figure` has settings with ranges, a plane or two, scenery that does not move, and a
function ``frame`` from settings to attributes of what moves and to the values beside the picture.
``book/_static/js/moving_figures.js`` has the same functions; the tests compare the two.
"""

from __future__ import annotations

import math

from lowdim.publish.site.moving_flow import CONSERVED
from lowdim.publish.site.moving_frames import Figure, Frame, Setting, State
from lowdim.publish.site.moving_noise import NOISY
from lowdim.publish.site.moving_plane import Plane, dots, letter, significant, text

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
    cloud = [
        CLOUD.at(SPREAD * a, SPREAD * q * (c * a + beside * o))
        for a, o in zip(POINTS["a"], POINTS["o"], strict=True)
    ]
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
            "dots": {"d": dots(cloud, 3.5)},
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
        "from lowdim.linalg.subspaces import principal_rows; "
        f"print(principal_rows([[1, {q * c:.4f}], [0, {q * beside:.4f}]], 1))",
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
    at = [SHRINK.at(m, t) for m, t in zip(MOMENTS, shares, strict=True)]
    x, y = SHRINK.at(edge, height)
    left = sum(t > 0 for t in shares)
    return Frame(
        {
            "stems": {"d": "".join(f"M{x:.1f} {SHRINK.box[3]}V{y:.1f}" for x, y in at)},
            "edge": {"d": f"M{x:.1f} {SHRINK.box[3]}V{y:.1f}" if L > 2 else ""},
            "curve": {"d": curve},
            "dots": {"d": dots(at, 5)},
        },
        {
            "L": f"{L}",
            "lam": f"{lam:.3g}",
            "rank": f"{left} of {len(MOMENTS)}",
            "edge": "none" if L == 1 else f"{ratio * lam:.3g}",
            "jump": "none" if L < 3 else f"0 → {height:.2f}",
        },
        "lowdim run collapse/deep_linear",
        "from lowdim.collapse.linear import shrinkage; "
        f"print(shrinkage({list(MOMENTS)}, {lam:.4g}, {L}))",
    )


def _shrink_scenery() -> tuple[str, str]:
    marks = [(0.1, "0.1"), (1.0, "1"), (10.0, "10")]
    names = (f"second moment {letter('m')} of a direction", "what is kept")
    return SHRINK.axes(marks, [(0.0, "0"), (0.5, "½"), (1.0, "1")], names=names), ""


# --- waiting at the origin (Part III) -------------------------------------------------------------

DEPTHS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100, 150, 200, 300)
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

    k, L = state["k"], float(DEPTHS[round(state["L"])])
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
            "k": significant(10.0**-k, 1 if k == round(k) else 2),
            "L": f"{L:.0f}",
            "time": significant(time, 3),
            "peak": f"{depths[highest]:.0f}",
            "rule": f"{2 * k * math.log(10):.1f}",
        },
        f"lowdim run embedded/theorem_2_3 -p radii={max(3, math.ceil(k))}",
        "from lowdim.embedded.origin import least_time; "
        f"print(least_time({significant(10.0**-k, 3)}, {L:.0f}, 1, -1))",
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
    spots = {"miss": HASH.at(t, miss), "hit": HASH.at(t, hit), "best": crossing}
    points = list(zip(along.tolist(), hits.tolist(), strict=True))
    return Frame(
        {
            "hits": {"d": HASH.path(points)},
            "cut": {"d": f"M{at[0]:.1f} {HASH.box[3]}V{HASH.box[1]}"},
            **{name: {"cx": x, "cy": y} for name, (x, y) in spots.items()},
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
        "from lowdim.hashing.oneshot import bound, false_hits, threshold; "
        f"print(false_hits({rho:.0f}, {t:.4g}), threshold({rho:.0f}), bound({rho:.0f}))",
    )


def _hash_scenery() -> tuple[str, str]:
    marks = [(1.0, "1"), (10.0, "10"), (100.0, "100")]
    names = (f"threshold {letter('t')}, in units of ε", "at most this often")
    behind = HASH.axes(marks, [(0.0, "0"), (0.5, "½"), (1.0, "1")], names=names)
    printed = HASH.at(2, 0)[0]
    behind += f'<path class="mv-target" d="M{printed:.1f} {HASH.box[3]}V{HASH.box[1]}"/>'
    misses = [(1.0, 1.0), *((2 * 100 ** (k / 80), 100 ** (-k / 80)) for k in range(81))]
    behind += f'<path class="mv-line mv-bad" d="{HASH.path(misses)}"/>'
    front = text(printed + 7, HASH.at(1, 0.2)[1], "the paper’s", "mv-note")
    return behind, front


FIGURES: dict[str, Figure] = {
    "conserved": CONSERVED,
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
        {"k": Setting(1, 4, 0.25, 3), "L": Setting(0, len(DEPTHS) - 1, 1, 4)},
        wait,
        _wait_scenery,
        (
            ("path", "drop", "mv-stem"),
            ("path", "curve", "mv-line mv-main"),
            ("circle", "peak", "mv-dot mv-hollow"),
            ("circle", "now", "mv-dot mv-warn"),
        ),
        fixed={"depths": DEPTHS},
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
    "noise": NOISY,
}
