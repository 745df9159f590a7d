"""The moving figure of Part V: how much noise a hash bears."""

from __future__ import annotations

import math

from lowdim.publish.site.moving_frames import Figure, Frame, Setting, State
from lowdim.publish.site.moving_plane import Plane, letter

NOISE = Plane((0, 6), (0, 1.04), (34, 28, 512, 236))
LEVELS = (10, 30, 100)  # ρ of the lines behind


def _line(rho: float) -> tuple[float, list[tuple[float, float]]]:
    """The noise from which on nothing is promised, and the bound up to there."""
    from lowdim.bridge import noisy

    end = (math.sqrt(rho - 2) - math.sqrt(2)) / 2
    taus = [end * k / 120 for k in range(121)]
    return end, [(tau, min(1.0, noisy.worst_bound(rho, tau))) for tau in taus]


def noise(state: State) -> Frame:
    """The bound on both errors of one shot, against how far a query is moved.

    Examples
    --------
    >>> values = noise({"rho": 38.0, "tau": 1.0}).values
    >>> values["left"], values["both"], values["end"]
    ('18', '40 %', '2.29')
    """
    from lowdim.bridge import noisy

    rho, tau = state["rho"], state["tau"]
    end, line = _line(rho)
    left = 2 + max(math.sqrt(rho - 2) - 2 * tau, 0) ** 2
    both = float(noisy.worst_bound(rho, tau)) if tau < end else 1.0
    here, last = NOISE.at(tau, both), NOISE.at(end, 1)
    top, right = NOISE.at(0, 1)[1], NOISE.box[2]
    shade = f"M{last[0]:.1f} {NOISE.box[3]}V{top:.1f}H{right}V{NOISE.box[3]}Z"
    return Frame(
        {
            "shade": {"d": shade},
            "curve": {"d": NOISE.path(line)},
            "drop": {"d": f"M{here[0]:.1f} {NOISE.box[3]}V{here[1]:.1f}"},
            "end": {"cx": last[0], "cy": last[1]},
            "now": {"cx": here[0], "cy": here[1]},
        },
        {
            "rho": f"{rho:.0f}",
            "tau": f"{tau:.2f}",
            "left": f"{left:.3g}",
            "both": f"{100 * both:.0f} %" if tau < end else "none",
            "end": f"{end:.2f}",
        },
        "lowdim run bridge/four_instruments",
        "from lowdim.bridge.noisy import effective; "
        f"print(effective({rho:.0f}, {min(tau, (rho - 2) ** 0.5 / 2):.4f}))",
    )


def _scenery() -> tuple[str, str]:
    xs = [(float(k), str(k)) for k in range(0, 7, 2)]
    names = (f"how far a query is moved, {letter('τ')}√ε", "each error at most")
    behind = NOISE.axes(xs, [(0.0, "0"), (0.5, "½"), (1.0, "1")], names=names)
    for rho in LEVELS:
        behind += f'<path class="mv-level" d="{NOISE.path(_line(rho)[1])}"/>'
    return behind, ""


NOISY = Figure(
    (520, 282),
    {"plane": NOISE},
    {"rho": Setting(9, 150, 1, 60), "tau": Setting(0, 6, 0.05, 1.5)},
    noise,
    _scenery,
    (
        ("path", "shade", "mv-region"),
        ("path", "drop", "mv-stem"),
        ("path", "curve", "mv-line mv-main"),
        ("circle", "end", "mv-dot mv-hollow"),
        ("circle", "now", "mv-dot mv-warn"),
    ),
)
