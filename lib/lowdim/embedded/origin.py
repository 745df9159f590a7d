r"""Near the origin: how long a deep linear network waits there, and who comes close.

The flow of depth L moves at most at the speed :math:`Lr^{2-2/L}(\|b\|+C_2r)` at the radius r, so
that leaving takes the time :func:`least_time`, attained along b as the radius tends to zero
(:func:`sharp_constant`). :func:`passage_time` is the time of a passage on data with A = 0.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.integrate import solve_ivp

from lowdim import checks
from lowdim.embedded import flows
from lowdim.embedded.flows import Flow

__all__ = [
    "carried", "escape_time", "least_time", "nearest", "passage_distance", "passage_time",
    "sharp_constant", "through",
]  # fmt: skip

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(30)


def least_time(
    eps: object, depth: object, b: object, largest: object, *, until: float = 1.5
) -> np.ndarray:
    r"""The integral of :math:`1/(L r^{2-2/L}(b + C_2 r))` over r from ε to ``until`` times ε.

    ``eps``, ``depth`` (real, 1 or more), ``b`` and ``largest``, the bound :math:`C_2` on A,
    broadcast. In one dimension with A = -``largest`` it is the time of the flow from ε itself.

    Examples
    --------
    >>> round(float(least_time(0.01, 1, 2.0, 0.0)), 6)  # half of ε, at the speed 2
    0.0025
    """
    eps, L, b, C2 = np.broadcast_arrays(*(np.asarray(v, float) for v in (eps, depth, b, largest)))
    r = eps[..., None] * (1 + (until - 1) * (_NODES + 1) / 2)
    speed = L[..., None] * r ** (2 - 2 / L[..., None]) * (b[..., None] + C2[..., None] * r)
    return eps * (until - 1) / 2 * ((1 / speed) @ _WEIGHTS)


def sharp_constant(depth: float) -> float:
    """The limit c_L of ‖b‖ ε^(1-2/L) T as ε tends to zero, T the least time to leave.

    Examples
    --------
    >>> round(sharp_constant(1), 9), round(sharp_constant(2), 6)
    (0.5, 0.202733)
    """
    L = depth
    return math.log(1.5) / 2 if L == 2 else (1 - (2 / 3) ** (1 - 2 / L)) / (L - 2)


def escape_time(flow: Flow, start: np.ndarray, *, until: float) -> float | None:
    """The time at which ``start`` (d,) is left by half its length; None if not by ``until``.

    Examples
    --------
    >>> flow = Flow(np.zeros((1, 1)), np.array([2.0]), depth=1)  # w' = 2
    >>> round(escape_time(flow, np.array([0.01]), until=1.0), 6)
    0.0025
    """
    eps = float(np.linalg.norm(start))
    event = flows.leaves_ball(eps / 2, start)
    return flows.time_until(flow, start, event, until=until, rtol=1e-9, atol=1e-11 * eps)


def passage_distance(flow: Flow, start: np.ndarray, *, until: float = 1e7) -> float:
    """‖w‖ where the trajectory from ``start`` (d,), behind the origin, passes the plane w ⊥ b.

    Raises
    ------
    ValueError
        If ``start`` is not behind the origin, b · w < 0.

    Examples
    --------
    >>> flow = Flow(np.zeros((2, 2)), np.array([1.0, 0.0]), depth=2)
    >>> round(passage_distance(flow, np.array([-1.0, 1.0])), 6)  # r sin²θ = √2/2
    0.707107
    """
    b = flow.target
    if not start @ b < 0:
        raise ValueError(f"the start must be behind the origin, b·w < 0; b·w is {start @ b:g}.")
    across = flows.crosses(lambda w: w @ b, direction=1)
    run = flows.follow(
        flow, start, until, events={"across": across}, stop_at=("across",), rtol=1e-10, atol=1e-13
    )
    return float(np.linalg.norm(run.points[-1]))


def passage_time(distance: float, depth: int, *, b: float = 1.0) -> float:
    """Time of a passage from infinity to infinity for A = 0, ``distance`` the least distance.

    Raises
    ------
    ValueError
        If the depth is not 3 or more: below, the passage takes for ever.

    Examples
    --------
    >>> round(passage_time(1.0, 3), 6)  # π
    3.141593
    """
    L = checks.whole(depth, "depth", 3)
    ratio = math.gamma(L / 2 - 1) / math.gamma((L - 1) / 2)
    return distance ** (2 / L - 1) / b * math.sqrt(math.pi) * ratio


def nearest(flow: Flow, start: np.ndarray) -> float:
    """Least distance from the origin along the trajectory from ``start`` (d,), at 1501 marks.

    Examples
    --------
    >>> flow = Flow(np.eye(2), np.array([1.0, 0.0]), depth=2)
    >>> nearest(flow, np.array([0.5, 0.0])) == 0.5  # it moves outwards
    True
    """
    marks = np.append(0, np.geomspace(1e-2, 60 * flow.depth, 1500))
    moments, target = flow.moments[None], flow.target[None]
    w = flows.orbits(moments, target, flow.depth, [start], marks, rtol=1e-8)
    return float(np.linalg.norm(w[:, 0], axis=1).min())


def through(flow: Flow, start: np.ndarray, *, to: float) -> tuple[float, float]:
    r"""How long from behind the origin to :math:`w_x=` ``to``, and :math:`\kappa` where w_x = 0.

    The first component is the signal's, ``start`` (d,) has it negative; :math:`\kappa` is the
    length of :math:`w_y/\|w\|^{1-1/L}` on the way past. On the clock
    :math:`d\tau=\|w\|^{2-2/L}dt` the passage takes a time of order one, and t is carried along.

    Raises
    ------
    ValueError
        If ``start`` is not behind the origin or ``to`` not beyond it.
    RuntimeError
        If the trajectory does not arrive.

    Examples
    --------
    >>> flow = Flow(np.zeros((2, 2)), np.array([1.0, 0.0]), depth=4)
    >>> t, kappa = through(flow, np.array([-1.0, 0.01]), to=1.0)
    >>> round(t * kappa**2 / passage_time(1.0, 4), 2)  # κ^(2-L) times the constant
    1.0
    """
    start = np.asarray(start, float)
    if not start[0] < 0 < to:
        raise ValueError(
            f"the start must have w_x < 0 and the end w_x > 0; you gave {start[0]:g} and {to:g}."
        )
    power, A, b = 2 - 2 / flow.depth, flow.moments, flow.target

    def velocity(_: float, z: np.ndarray) -> np.ndarray:
        w, out = z[:-1], np.empty_like(z)
        slope, square = A @ w - b, float(w @ w)
        out[:-1] = -slope - ((flow.depth - 1) * float(w @ slope) / square) * w
        out[-1] = square ** (-power / 2)
        return out

    arrives = flows.crosses(lambda z: z[0] - to, direction=1)
    arrives.terminal = True
    run = solve_ivp(
        velocity, (0.0, 1e6), np.r_[start, 0.0], "LSODA", rtol=1e-9, atol=1e-18, events=arrives
    )
    if not len(run.t_events[0]):
        raise RuntimeError(f"the trajectory did not reach w_x = {to:g}: {run.message}")
    # κ hardly moves near the origin, so the first step beyond it will do.
    middle = run.y[:-1, np.argmax(run.y[0] > 0)]
    kappa = np.linalg.norm(middle[1:]) / np.linalg.norm(middle) ** (power / 2)
    return float(run.y[-1, -1]), float(kappa)


def carried(a: float, depth: int, *, square: float, b: float, xy: float, gy: float) -> float:
    r"""What noise adds to :math:`w_y/\|w\|^{1-1/L}` between (-a, 0) and the origin, over σ.

    To first order in σ: :math:`\int_0^{a^{1/L}}\frac{\langle xy\rangle u^L+\langle gy\rangle}
    {b+\langle x^2\rangle u^L}\,du`, with ``square`` for ⟨x²⟩, ``xy`` and ``gy`` for ⟨xy⟩ and ⟨gy⟩.

    Examples
    --------
    >>> round(carried(1.0, 4, square=0.0, b=1.0, xy=0.0, gy=-0.5), 9)
    -0.5
    """
    nodes, weights = np.polynomial.legendre.leggauss(60)
    u = (nodes + 1) / 2 * a ** (1 / depth)
    total = weights @ ((xy * u**depth + gy) / (b + square * u**depth))
    return float(total) * a ** (1 / depth) / 2
