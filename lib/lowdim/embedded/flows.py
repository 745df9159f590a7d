r"""The gradient flow of a deep linear network, end to end, and the descent that it is the limit of.

A linear network :math:`f(x)=W^L\cdots W^1x` with one output is the linear function :math:`w^\top x`
with :math:`w^\top=W^L\cdots W^1`. On data it has the loss
:math:`J(w)=\frac1{2N}\sum(w^\top x_i-g_i)^2=\frac12w^\top Aw-b^\top w+c`. When the factors start
*balanced*, :math:`(W^{l+1})^\top W^{l+1}=W^l(W^l)^\top`, and descend their gradients, w moves by

.. math:: \dot w=-\|w\|^{2-2/L}\Big(\nabla J(w)+(L-1)\frac{ww^\top}{\|w\|^2}\nabla J(w)\Big)

(Arora, Cohen and Hazan, 2018). :class:`Flow` is this vector field with its Jacobian,
:func:`follow` solves it with a stiff method and stops at events, and :func:`descend_factors` trains
the factors themselves by gradient descent from balanced weights, so that the two can be compared.
:func:`orbits` runs many flows at once on a clock of their own.

On data that lie in the first components (A and b vanish in the others) the components
:math:`w_y` normal to the data move only along themselves, and :math:`w_y/\|w\|^{1-1/L}` does not
move at all: :func:`normal_invariant` is this vector, :func:`normal_limit` where it leads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from typing import Any, Protocol, cast

import numpy as np
import torch
from scipy.integrate import solve_ivp
from torch import Tensor

from lowdim import checks
from lowdim.nets import training
from lowdim.nets.losses import Quadratic
from lowdim.nets.networks import Dense
from lowdim.seeds import generator


class Event(Protocol):
    """A function of time and place that solve_ivp watches for its zeros."""

    direction: float
    terminal: bool

    def __call__(self, t: float, w: np.ndarray, /) -> float: ...


@dataclass(frozen=True)
class Flow:
    """The end-to-end flow of a linear network of a given depth on given second moments.

    moments: A (d, d), the mean of x xᵀ; target: b (d,), the mean of g x; depth: the number L of
    factors, 1 for plain linear regression; offset: the mean of g² / 2.

    Examples
    --------
    >>> flow = Flow(np.eye(2), np.array([1.0, 0.0]), depth=2)
    >>> flow.field(np.array([0.5, 0.5])).round(4).tolist()
    [0.3536, -0.3536]
    >>> flow.minimizer().tolist()
    [1.0, 0.0]
    """

    moments: np.ndarray
    target: np.ndarray
    depth: int
    offset: float = 0.0

    def __post_init__(self) -> None:
        moments, target = np.asarray(self.moments, float), np.asarray(self.target, float)
        if moments.ndim != 2 or moments.shape != (target.size, target.size) or target.ndim != 1:
            raise ValueError(
                "moments must be (d, d) and target (d,); "
                f"their shapes are {moments.shape} and {target.shape}."
            )
        if not (np.isfinite(moments).all() and np.isfinite(target).all()):
            raise ValueError("moments and target must be finite; some entries are not.")
        if not np.allclose(moments, moments.T, rtol=1e-12, atol=1e-14 * np.abs(moments).max()):
            raise ValueError("moments must be symmetric: it is the mean of x xᵀ.")
        checks.whole(self.depth, "depth", 1)
        object.__setattr__(self, "moments", moments)
        object.__setattr__(self, "target", target)

    @classmethod
    def from_data(cls, x: object, g: object, *, depth: int) -> Flow:
        """The flow on points ``x`` (N, d) with values ``g`` (N,).

        Examples
        --------
        >>> flow = Flow.from_data([[1.0, 0.0], [0.0, 2.0]], [3.0, 1.0], depth=3)
        >>> flow.moments.tolist(), flow.target.tolist()
        ([[0.5, 0.0], [0.0, 2.0]], [1.5, 1.0])
        """
        x, g = np.asarray(x, float), np.asarray(g, float)
        if x.ndim != 2 or g.shape != (len(x),) or not len(x):
            raise ValueError(
                f"x must be (N, d) and g (N,) with N of 1 or more; their shapes are {x.shape} and "
                f"{g.shape}."
            )
        return cls(x.T @ x / len(x), x.T @ g / len(x), depth, float(g @ g) / (2 * len(x)))

    def loss(self, w: np.ndarray) -> np.ndarray:
        """J at points ``w`` (..., d): (...)."""
        return 0.5 * np.einsum("...i,ij,...j", w, self.moments, w) - w @ self.target + self.offset

    def gradient(self, w: np.ndarray) -> np.ndarray:
        """The gradient of J at points ``w`` (..., d)."""
        return w @ self.moments - self.target

    def field(self, w: np.ndarray) -> np.ndarray:
        """The velocity at points ``w`` (..., d); zero at the origin when the depth is 2 or more."""
        w = np.asarray(w, float)
        slope = self.gradient(w)
        square = (w**2).sum(-1, keepdims=True)
        along = (w * slope).sum(-1, keepdims=True)
        power = 1 / self.depth
        # ‖w‖^(2-2/L) and ‖w‖^(-2/L) wwᵀ both vanish with w from depth 2 on; 0/0 must not be formed.
        unit = along * w / np.where(square > 0, square, 1.0)
        return -(square ** (1 - power)) * (slope + (self.depth - 1) * unit)

    def jacobian(self, w: np.ndarray) -> np.ndarray:
        """The Jacobian (d, d) of the field at one point ``w`` (d,).

        At the origin it is zero for a depth above 2 and does not exist for depth 2.

        Raises
        ------
        ValueError
            At the origin when the depth is 2.
        """
        w = np.asarray(w, float)
        L, square = self.depth, float(w @ w)
        if L == 1:
            return -self.moments
        if square == 0:
            if L == 2:
                raise ValueError("the field of depth 2 has no Jacobian at the origin.")
            return np.zeros_like(self.moments)
        slope = self.gradient(w)
        along = float(w @ slope)
        scale = square ** (1 - 1 / L)
        unit = np.outer(w, w) / square
        moved = slope + (L - 1) * along * w / square
        first = 2 * (1 - 1 / L) * np.outer(moved, w) / square
        second = (np.eye(w.size) + (L - 1) * unit) @ self.moments
        third = (L - 1) * (
            np.outer(w, slope) / square
            + along * np.eye(w.size) / square
            - 2 * along * np.outer(w, w) / square**2
        )
        return -scale * (first + second + third)

    def minimizer(self) -> np.ndarray:
        """The minimizer (d,) of J; of several, the one of least norm."""
        return np.linalg.lstsq(self.moments, self.target, rcond=None)[0]


@dataclass(frozen=True)
class Trajectory:
    """A solved flow: times (k,), points (k, d), the time of each event or None, and a continuation.

    ended_by: the name of the event that ended it, or None when the end of time was reached.
    """

    times: np.ndarray
    points: np.ndarray
    reached: dict[str, float | None]
    ended_by: str | None
    at: Callable[[np.ndarray], np.ndarray]


def leaves_ball(radius: float, centre: object = 0.0) -> Event:
    """An event: the distance to ``centre`` grows to ``radius``.

    Examples
    --------
    >>> leaves_ball(2.0)(0.0, np.array([0.0, 3.0]))
    1.0
    """
    return _directed(lambda w: float(np.linalg.norm(w - np.asarray(centre)) - radius), 1)


def comes_within(distance: float, point: object, *, component: int | slice | None = None) -> Event:
    """An event: the distance to ``point`` (d,), or of some components, falls to ``distance``.

    Examples
    --------
    >>> comes_within(0.5, [0.0, 1.0], component=1)(0.0, np.array([9.0, 2.0]))
    0.5
    """
    target = np.asarray(point, float)
    pick = slice(None) if component is None else component

    def apart(w: np.ndarray) -> float:
        return float(np.linalg.norm(np.atleast_1d(w[pick] - target[pick])) - distance)

    return _directed(apart, -1)


def crosses(function: Callable[[np.ndarray], float], *, direction: int = 0) -> Event:
    """An event: ``function`` of the point passes zero; upwards for 1, downwards for -1.

    Examples
    --------
    >>> crosses(lambda w: w[0] - 1)(0.0, np.array([3.0]))
    2.0
    """
    return _directed(lambda w: float(function(w)), direction)


def _directed(function: Callable[[np.ndarray], float], direction: int) -> Event:
    def event(t: float, w: np.ndarray, /) -> float:
        return function(w)

    made = cast(Event, event)
    made.direction = direction
    return made


def follow(
    flow: Flow,
    start: object,
    until: float,
    *,
    events: dict[str, Event] | None = None,
    stop_at: Sequence[str] = (),
    method: str = "LSODA",
    rtol: float = 1e-10,
    atol: float = 1e-13,
) -> Trajectory:
    """Solve the flow from ``start`` (d,) to the time ``until``, watching for events.

    Every event's first time is kept; those named in ``stop_at`` end the run. An event whose
    condition holds at the start already is not an event: its time is None unless it happens anew.
    ``method`` is one of scipy's stiff solvers, which are given the Jacobian.

    Raises
    ------
    ValueError
        If ``start`` does not fit, ``until`` is not positive, a name in ``stop_at`` is not an
        event, or ``method`` is unknown.
    RuntimeError
        If the solver gives up, with its own message.

    Examples
    --------
    >>> flow = Flow(np.eye(1), np.array([1.0]), depth=1)  # w' = 1 - w
    >>> run = follow(flow, [0.0], 5.0, events={"half": crosses(lambda w: w[0] - 0.5)})
    >>> round(run.reached["half"], 6), run.ended_by
    (0.693147, None)
    """
    w = np.asarray(start, float)
    if w.shape != flow.target.shape or not np.isfinite(w).all():
        raise ValueError(
            f"start must be {flow.target.size} finite numbers; its shape is {w.shape}."
        )
    if not until > 0:
        raise ValueError(f"until must be above 0; you gave {until!r}.")
    checks.choice(method, ("LSODA", "Radau", "BDF"), "method")
    events = dict(events or {})
    for name in stop_at:
        checks.choice(name, tuple(events), "stop_at")
    for name, event in events.items():
        event.terminal = name in stop_at
    solution = solve_ivp(
        lambda t, w: flow.field(w),
        (0.0, until),
        w,
        method=method,
        jac=lambda t, w: flow.jacobian(w),
        events=list(events.values()),
        rtol=rtol,
        atol=atol,
        dense_output=True,
    )
    if solution.status < 0:
        raise RuntimeError(f"the flow from {w.tolist()} could not be solved: {solution.message}")
    found = zip(events, solution.t_events or [], strict=True)
    reached = {name: float(times[0]) if len(times) else None for name, times in found}
    ended = None
    if solution.status == 1:
        stops = {name: at for name in stop_at if (at := reached[name]) is not None}
        ended = max(stops, key=lambda name: stops[name])
    return Trajectory(
        solution.t, solution.y.T, reached, ended, lambda t: np.moveaxis(solution.sol(t), 0, -1)
    )


def time_until(
    flow: Flow, start: object, event: Event, *, until: float, **options: Any
) -> float | None:
    """The first time (or None) at which ``event`` happens, at most ``until``; see :func:`follow`.

    Examples
    --------
    >>> flow = Flow(np.eye(1), np.array([1.0]), depth=1)
    >>> round(time_until(flow, [0.0], comes_within(0.1, [1.0]), until=9.0), 4)
    2.3026
    """
    run = follow(flow, start, until, events={"it": event}, stop_at=("it",), **options)
    return run.reached["it"]


def orbits(
    moments: object,
    target: object,
    depth: object,
    start: object,
    marks: object,
    *,
    rtol: float = 1e-12,
) -> np.ndarray:
    r"""Points (k, B, d) on the orbits of B flows at once, at the marks (k,) of a common clock.

    ``moments`` (B, d, d), ``target`` (B, d), ``depth`` (B,) or one number, ``start`` (B, d). The
    clock :math:`d\tau=L\|w\|^{2-2/L}dt` makes the speed of every flow that of a regression,
    :math:`w'=-\frac1L(\nabla J+(L-1)P_w\nabla J)`: the orbits are those of :class:`Flow`, only the
    times on them differ. An orbit that passes very close to the origin needs very small steps.

    Raises
    ------
    ValueError
        If shapes disagree, or ``marks`` are not increasing from 0 or more.
    RuntimeError
        If the solver gives up, with its own message.

    Examples
    --------
    >>> eye = np.diag([1.0, 0.0])[None]
    >>> w = orbits(eye, [[1.0, 0.0]], 3, [[2.0, 1.0]], [0.0, 60.0])
    >>> w[-1, 0].round(4).tolist()
    [1.0, 0.6596]
    """
    A, b, w = (np.asarray(v, float) for v in (moments, target, start))
    marks = np.asarray(marks, float)
    if w.ndim != 2 or b.shape != w.shape or A.shape != (*w.shape, w.shape[1]):
        raise ValueError(
            "moments must be (B, d, d), target and start (B, d); "
            f"their shapes are {A.shape}, {b.shape} and {w.shape}."
        )
    if marks.ndim != 1 or not marks.size or marks[0] < 0 or (np.diff(marks) <= 0).any():
        raise ValueError(f"marks must increase from 0 or more; you gave {marks.tolist()}.")
    share = np.broadcast_to(1 - 1 / np.asarray(depth, float), w.shape[:1])[:, None]

    def velocity(_: float, flat: np.ndarray) -> np.ndarray:
        v = flat.reshape(w.shape)
        slope = (A @ v[..., None])[..., 0] - b
        square = (v * v).sum(1, keepdims=True)
        along = (v * slope).sum(1, keepdims=True) / np.where(square > 0, square, 1.0)
        return (-(1 - share) * slope - share * along * v).ravel()

    if marks[-1] == 0:
        return w[None].copy()
    solution = solve_ivp(
        velocity, (0.0, marks[-1]), w.ravel(), "DOP853", t_eval=marks, rtol=rtol, atol=1e-3 * rtol
    )
    if solution.status < 0:
        raise RuntimeError(f"the orbits could not be followed: {solution.message}")
    return np.moveaxis(solution.y, -1, 0).reshape(len(marks), *w.shape)


def normal_invariant(w: object, tangent: int, depth: object) -> np.ndarray:
    r"""The vector :math:`w_y/\|w\|^{1-1/L}` (..., d - tangent) of points ``w`` (..., d).

    ``tangent`` is the number of components in which the data lie; ``depth`` a number or (...,).
    It is constant along every flow on such data, and, times a unit vector, the columns of the
    first factor of a balanced network that see only the normal components.

    Examples
    --------
    >>> normal_invariant([3.0, 0.0, 4.0], 2, 1).tolist()
    [4.0]
    >>> normal_invariant([3.0, 0.0, 4.0], 2, 2).round(4).tolist()
    [1.7889]
    """
    w = np.asarray(w, float)
    size = np.linalg.norm(w, axis=-1)
    power = 1 - 1 / np.asarray(depth, float)
    return w[..., tangent:] / (size**power)[..., None]


def normal_limit(tangent: object, normal: object, final: object, depth: object) -> np.ndarray:
    r"""Where :math:`\|w_y\|^2` is when :math:`\|w_x\|^2` is ``final``, in closed form.

    ``tangent`` and ``normal`` are :math:`\|w_x\|^2` and :math:`\|w_y\|^2` at some time, on data
    that lie in the components x; arrays of one shape, like ``final`` and ``depth`` (a real number
    of 1 or more). The answer q solves :math:`q=\kappa^2(\text{final}+q)^{1-1/L}`, where
    :math:`\kappa^2=\text{normal}/(\text{tangent}+\text{normal})^{1-1/L}`.

    Raises
    ------
    ValueError
        If a number is negative, or a depth below 1.

    Examples
    --------
    >>> normal_limit(4.0, 1.0, 1.0, 1).tolist()  # linear regression does not move it
    1.0
    >>> [round(float(q), 4) for q in normal_limit(4.0, 1.0, 1.0, np.array([2, 5, 1e9]))]
    [0.5583, 0.351, 0.25]
    """
    p, q, end, depth = np.broadcast_arrays(
        *(np.asarray(v, float) for v in (tangent, normal, final, depth))
    )
    if (p < 0).any() or (q < 0).any() or (end < 0).any() or (depth < 1).any():
        raise ValueError("squared norms must be 0 or more, and depths 1 or more.")
    total = np.where(p + q > 0, p + q, 1.0)
    with np.errstate(divide="ignore"):
        part, wanted = np.log(q / total), np.log(end / total)
    # With s = total e^u the equation is u + log(1 - (q / total) e^(-u/L)) = log(end / total); its
    # left side increases from -inf at u = L log(q / total). Logarithms: e^L would overflow.
    safe = np.where(q > 0, part, 0.0)
    low = depth * safe
    high = np.maximum(np.maximum(depth * np.log(2.0), wanted + np.log(2.0)), low + 1.0)
    for _ in range(110):
        middle = (low + high) / 2
        with np.errstate(divide="ignore"):
            value = middle + np.log(-np.expm1(np.minimum(safe - middle / depth, 0.0)))
        below = value < wanted
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.where(q > 0, q * np.exp((1 - 1 / depth) * high), 0.0)


def balanced_factors(w: object, depth: int, width: int, *, seed: int = 0) -> list[Tensor]:
    r"""Factors :math:`W^1,\dots,W^L` with :math:`W^L\cdots W^1=w^\top` that are exactly balanced.

    ``w`` is (d,); the shapes are (width, d), (width, width), ..., (1, width). Each has rank one and
    norm :math:`\|w\|^{1/L}`; the directions between them are random.

    Examples
    --------
    >>> factors = balanced_factors([3.0, 4.0], 3, 5)
    >>> [round(float(W.norm()), 6) for W in factors], (factors[2] @ factors[1] @ factors[0]).round()
    ([1.709976, 1.709976, 1.709976], tensor([[3., 4.]], dtype=torch.float64))
    """
    w = torch.as_tensor(np.asarray(w, float))
    if w.ndim != 1 or not bool(torch.isfinite(w).all()) or not bool(w.any()):
        raise ValueError(f"w must be a finite vector that is not zero; you gave {w.tolist()}.")
    depth, width = checks.whole(depth, "depth", 1), checks.whole(width, "width", 1)
    size = torch.linalg.vector_norm(w)
    if depth == 1:
        return [w[None].clone()]
    draw = torch.from_numpy(generator(seed, 0, "factors").standard_normal((depth - 1, width)))
    units = draw / torch.linalg.vector_norm(draw, dim=1, keepdim=True)
    ends = [w / size, *units, torch.ones(1, dtype=w.dtype)]
    return [size ** (1 / depth) * torch.outer(out, into) for into, out in pairwise(ends)]


def product(factors: Sequence[Tensor]) -> Tensor:
    """The product W^L … W^1 of factors W^1, …, W^L, each (out, in) or (T, out, in).

    Examples
    --------
    >>> product([torch.ones(2, 3), torch.ones(1, 2)]).tolist()
    [[2.0, 2.0, 2.0]]
    """
    return reduce(lambda below, W: W @ below, factors)


def descend_factors(
    flow: Flow,
    factors: Sequence[Tensor],
    *,
    rate: float | Callable[[int], float],
    steps: int,
    every: int = 1,
) -> tuple[np.ndarray, np.ndarray, list[Tensor]]:
    """Gradient descent on the factors: step numbers (k,), end-to-end weights (k, d), last factors.

    ``rate`` is a number or a function of the step. Step k of size η stands beside time kη of the
    flow. A linear network shows :math:`w^\\top` as its output on the identity, so this is training
    on the identity with the loss :math:`\\frac12w^\\top Aw-b^\\top w`.

    Raises
    ------
    ValueError
        If the factors do not multiply to a row of the right length, a number is out of range, or
        the descent diverges.

    Examples
    --------
    >>> flow = Flow(np.eye(2), np.array([1.0, 0.0]), depth=2)
    >>> factors = balanced_factors([0.5, 0.5], 2, 3)
    >>> steps, w, _ = descend_factors(flow, factors, rate=0.05, steps=200)
    >>> bool(np.abs(w[-1, 0] - 1) < 1e-3), w.shape
    (True, (201, 2))
    """
    checks.whole(every, "every", 1)
    start = [torch.as_tensor(W, dtype=torch.float64) for W in factors]
    d = flow.target.size
    if len(start) != flow.depth or start[0].shape[1] != d or start[-1].shape[0] != 1:
        raise ValueError(
            f"factors must be {flow.depth} matrices from dimension {d} to 1; "
            f"their shapes are {[tuple(W.shape) for W in start]}."
        )
    net = Dense((d, *(W.shape[0] for W in start)), activation="identity", bias=False)
    objective = training.Objective(
        net, torch.eye(d, dtype=torch.float64), torch.from_numpy(flow.target)[None],
        loss=Quadratic(torch.from_numpy(flow.moments)),
    )  # fmt: skip
    run = training.train(
        objective, [(W[None], None) for W in start], training.GD(rate), steps,
        measure={"w": lambda state: product([W for W, _ in state.weights])[:, 0]}, schedule=every,
    )  # fmt: skip
    if bool(run.diverged.any()):
        raise ValueError(f"the descent diverged at step {int(run.diverged_at[0])}.")
    return (
        np.array(run.trace_steps),
        run.trace["w"][:, 0].numpy(),
        [W[0] for W, _ in run.weights],
    )
