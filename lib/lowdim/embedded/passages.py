r"""The wait that noise ends, step by step: a start behind the origin, and its trajectory.

:class:`Behind` is one signal direction, noise in the others and a start (-a, w_y) behind the
origin, given by its moments. :meth:`Behind.follow` solves it, and a :class:`Walk` has the
quantities of the proof: :meth:`Walk.drift` at each of its points, :meth:`Walk.bounds` along the
whole way. :func:`instances` draws random ones, the edges, and starts that strain the conditions;
:func:`walks` follows them, :func:`limits` at small noise.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.integrate import solve_ivp

from lowdim.embedded import flows, origin
from lowdim.embedded.flows import Flow
from lowdim.seeds import generator

__all__ = ["Behind", "Walk", "instances", "limits", "walks"]


@dataclass(frozen=True)
class Behind:
    r"""A start (-a, across) behind the origin, depth L, noise of size sigma.

    square: ⟨x²⟩; b: ⟨gx⟩, positive; xy, gy: ⟨xy⟩ and ⟨gy⟩ (d,); yy: ⟨yyᵀ⟩ (d, d).

    Examples
    --------
    >>> one, none = np.eye(1), np.zeros(1)
    >>> start = Behind(4, 0.01, 1.0, np.array([0.02]), 0.3, 1.0, none, none, one)
    >>> start.allowed, round(start.most, 6)  # without correlations k stays as it is
    (True, 0.039994)
    """

    depth: int
    sigma: float
    a: float
    across: np.ndarray
    square: float
    b: float
    xy: np.ndarray
    gy: np.ndarray
    yy: np.ndarray

    @property
    def flow(self) -> Flow:
        """The flow of the product on these moments."""
        s, d = self.sigma, len(self.xy)
        A = np.empty((d + 1, d + 1))
        A[0, 0], A[0, 1:], A[1:, 0], A[1:, 1:] = (
            self.square,
            s * self.xy,
            s * self.xy,
            s * s * self.yy,
        )
        return Flow(A, np.r_[self.b, s * self.gy], self.depth)

    @property
    def start(self) -> np.ndarray:
        """w(0), (d + 1,)."""
        return np.r_[-self.a, self.across]

    @property
    def conserved(self) -> np.ndarray:
        """k(0), the normal weights over ‖w(0)‖^(1 - 1/L)."""
        return self.across / np.linalg.norm(self.start) ** (1 - 1 / self.depth)

    @property
    def push(self) -> float:
        """a‖⟨xy⟩‖ + ‖⟨gy⟩‖: the noise's own gradient across, over σ."""
        return float(self.a * np.linalg.norm(self.xy) + np.linalg.norm(self.gy))

    @property
    def floor(self) -> float:
        """g₀, below which the gradient along the signal does not fall behind the origin."""
        return float(self.b - self.sigma * np.linalg.norm(self.xy))

    @property
    def reach(self) -> float:
        """ϱ^(1 - 1/L), ϱ the largest ‖w‖ on the way."""
        return math.hypot(self.a, 1.0) ** (1 - 1 / self.depth)

    @property
    def most(self) -> float:
        """K, which ‖k‖ does not exceed behind the origin."""
        noise = 4 * self.depth * self.a ** (1 / self.depth) * self.sigma * self.push / self.floor
        return float(2 * np.linalg.norm(self.conserved) + noise)

    @property
    def allowed(self) -> bool:
        """Whether the three conditions of the theorem's second part hold."""
        L, s, size = self.depth, self.sigma, float(np.linalg.norm(self.yy, 2))
        if self.floor <= 0 or np.linalg.norm(self.across) > 1:
            return False
        return (
            math.sqrt(L - 1) * s * (self.push + s * size) <= self.floor
            and 4 * L * self.a ** (1 / L) * s**2 * size * self.reach <= self.floor
            and self.most * self.reach < 1
        )

    @property
    def carried(self) -> np.ndarray:
        """c (d,): what noise adds to k up to the origin, over σ, as σ tends to zero."""
        sums = {"square": self.square, "b": self.b}
        pairs = zip(self.xy, self.gy, strict=True)
        return np.array([origin.carried(self.a, self.depth, xy=m, gy=n, **sums) for m, n in pairs])

    def law(self) -> float:
        """The wait of the theorem's third part, to first order in σ."""
        kappa = np.linalg.norm(self.conserved + self.sigma * self.carried)
        return origin.passage_time(float(kappa) ** self.depth, self.depth, b=self.b)

    def follow(self, to: float) -> Walk:
        """The trajectory until w_x = ``to``, on the clock dτ = ‖w‖^(2 - 2/L) dt.

        Raises
        ------
        RuntimeError
            If it does not arrive.
        """
        flow, L = self.flow, self.depth
        power, A, b = 1 - 1 / L, flow.moments, flow.target

        def velocity(_: float, z: np.ndarray) -> np.ndarray:
            w, out = z[:-1], np.empty_like(z)
            slope, square = A @ w - b, float(w @ w)
            out[:-1] = -slope - ((L - 1) * float(w @ slope) / square) * w
            out[-1] = square**-power
            return out

        arrives = flows.crosses(lambda z: z[0] - to, direction=1)
        arrives.terminal = True
        run = solve_ivp(
            velocity, (0.0, 1e6), np.r_[self.start, 0.0], "LSODA", rtol=1e-9, atol=1e-18,
            events=arrives,
        )  # fmt: skip
        if not len(run.t_events[0]):
            raise RuntimeError(f"the trajectory did not reach w_x = {to:g}: {run.message}")
        return Walk(self, run.y[:-1].T, run.y[-1], to)


@dataclass(frozen=True)
class Walk:
    """A solved trajectory: points (P, d + 1) and their times (P,), until w_x = ``to``."""

    of: Behind
    points: np.ndarray
    times: np.ndarray
    to: float

    @property
    def time(self) -> float:
        """How long it took."""
        return float(self.times[-1])

    def _k(self, w: np.ndarray) -> np.ndarray:
        size = np.linalg.norm(w, axis=-1, keepdims=True)
        return w[..., 1:] / size ** (1 - 1 / self.of.depth)

    @property
    def kappa(self) -> float:
        """‖k‖ where w_x = 0: at the first point beyond, for there it hardly moves."""
        return float(np.linalg.norm(self._k(self.points[np.argmax(self.points[:, 0] > 0)])))

    def drift(self) -> np.ndarray:
        r"""Rungs (8, points behind the origin): how fast k moves with w_x, and what bounds it.

        Times |w_x|^(1 - 1/L), which keeps them finite. First the derivative of k along the
        trajectory by the chain rule; then ‖G_y‖ in its place; the floor under the speed of w_x;
        the floor under |G_x|; |w_x| for ‖w‖; and three bounds for ‖G_y‖.
        """
        s, L = self.of, self.of.depth
        w = self.points[self.points[:, 0] < 0]
        G, dw = s.flow.gradient(w), s.flow.field(w)
        r, power = np.linalg.norm(w, axis=1), 1 - 1 / L
        scale = np.abs(w[:, 0]) ** power
        turn = (w * dw).sum(1) / r**2
        dk = (dw[:, 1:] - power * turn[:, None] * w[:, 1:]) / (r**power)[:, None]
        Gy, wy = np.linalg.norm(G[:, 1:], axis=1), np.linalg.norm(w[:, 1:], axis=1)
        size = float(np.linalg.norm(s.yy, 2))
        given, lent = s.sigma * s.push, s.sigma**2 * size
        return np.stack([
            scale * np.linalg.norm(dk, axis=1) / dw[:, 0],
            scale * r**power * Gy / dw[:, 0],
            scale * 2 * Gy / (r**power * np.abs(G[:, 0])),
            scale * 2 * Gy / (r**power * s.floor),
            2 * Gy / s.floor,
            2 * (given + lent * wy) / s.floor,
            2 * (given + lent * s.reach * np.linalg.norm(self._k(w), axis=1)) / s.floor,
            np.full_like(r, 2 * (given + lent * s.reach * s.most) / s.floor),
        ])  # fmt: skip

    def sizes(self) -> np.ndarray:
        """Rungs (4,): the largest ‖k‖ behind the origin, by the largest ‖G_y‖, by itself, by K."""
        s, L = self.of, self.of.depth
        w = self.points[self.points[:, 0] <= 0]
        k = float(np.linalg.norm(self._k(w), axis=1).max())
        Gy = float(np.linalg.norm(s.flow.gradient(w)[:, 1:], axis=1).max())
        first, length = float(np.linalg.norm(s.conserved)), 2 * L * s.a ** (1 / L) / s.floor
        return np.array([
            k, first + length * Gy, first + length * s.sigma * s.push + k / 2, s.most
        ])  # fmt: skip

    def speeds(self) -> np.ndarray:
        """Rungs (3, points within ``to`` of the origin): the speed of ‖w‖, and what bounds it."""
        s, L = self.of, self.of.depth
        w = self.points[np.linalg.norm(self.points, axis=1) <= self.to]
        r, G = np.linalg.norm(w, axis=1), np.linalg.norm(s.flow.gradient(w), axis=1)
        along = np.abs((w * s.flow.field(w)).sum(1)) / r
        pace = L * r ** (2 - 2 / L)
        return np.stack([along, pace * G, pace * self.steepest])

    @property
    def steepest(self) -> float:
        """A bound for Γ, the largest gradient within ``to`` of the origin."""
        flow = self.of.flow
        return float(np.linalg.norm(flow.target) + self.to * np.linalg.norm(flow.moments, 2))

    def bounds(self) -> np.ndarray:
        """Rungs (3,): the theorem's bound, the same with the distance κ^L at w_x = 0, the time."""
        L, far = self.of.depth, self.to ** (2 / self.of.depth - 1)
        scale = 2 / ((L - 2) * self.steepest)
        least = (scale * (k ** (2 - L) - far) for k in (self.of.most, self.kappa))
        return np.array([*least, self.time])


def _drawn(rng: np.random.Generator) -> Behind:
    """Random data of one signal and one to three noise directions."""
    L, d, N = int(rng.integers(3, 9)), int(rng.integers(1, 4)), int(rng.integers(50, 400))
    x, y = rng.uniform(-1, 1, N), rng.standard_normal((N, d))
    g = (1 + rng.uniform()) * x + np.sin(np.pi * x)
    s = 2.0 ** -rng.uniform(5, 9)
    across = s * rng.uniform() * rng.standard_normal(d)
    moments = (float(x @ x) / N, float(g @ x) / N, x @ y / N, g @ y / N, y.T @ y / N)
    return Behind(L, s, rng.uniform(0.5, 2), across, *moments)


def _strained(start: Behind) -> Behind:
    """The same with nearly as much noise as the conditions allow, the start in proportion."""
    low, high = start.sigma, 4.0
    for _ in range(40):
        middle = math.sqrt(low * high)
        try_ = replace(start, sigma=middle, across=start.across * middle / start.sigma)
        low, high = (middle, high) if try_.allowed else (low, middle)
    return replace(start, sigma=low, across=start.across * low / start.sigma)


def instances(count: int, *, seed: int) -> Iterator[tuple[str, Behind]]:
    """Starts that meet the conditions, each with its kind.

    From each random draw: itself; with no normal weight; with no correlation; pushed by the noise
    in its own direction; pushed against it, so that half is cancelled; and strained, with nearly as
    much noise as the conditions allow.

    Examples
    --------
    >>> kinds = [kind for kind, start in instances(2, seed=0) if start.allowed]
    >>> kinds[:3]
    ['random', 'no start', 'no correlation']
    """
    for trial in range(count):
        start = _drawn(generator(seed, trial, "behind"))
        none, c = np.zeros_like(start.across), start.carried
        toward = start.sigma * c * math.hypot(start.a, 0.0) ** (1 - 1 / start.depth)
        strange = [
            ("random", start),
            ("no start", replace(start, across=none)),
            ("no correlation", replace(start, xy=none, gy=none)),
            ("along", replace(start, across=toward)),
            ("against", replace(start, across=-toward / 2)),
            ("strained", _strained(replace(start, across=toward))),
        ]
        yield from ((kind, each) for kind, each in strange if each.allowed)


def walks(count: int, *, seed: int) -> list[Walk]:
    """The trajectories of :func:`instances` to half of a or of the minimizer, if K^L is below that.

    Examples
    --------
    >>> found = walks(1, seed=0)
    >>> all(walk.bounds()[0] <= walk.time for walk in found), len(found)
    (True, 6)
    """
    found = []
    for _, start in instances(count, seed=seed):
        to = min(start.a, float(start.flow.minimizer()[0])) / 2
        if start.most**start.depth <= to:
            found.append(start.follow(to))
    return found


def limits(count: int, sigma: float, *, ball: float, seed: int) -> np.ndarray:
    """Rungs (4, count): at small noise the wait, within ``ball`` of the origin, by κ, by h + c.

    The wait itself; the time within the ball; that of a passage with A = 0 and the κ of the
    trajectory; the same with σ‖h + c‖ for κ. Their ratios tend to 1 with σ, then the ball.

    Examples
    --------
    >>> rungs = limits(2, 1e-4, ball=0.05, seed=0)
    >>> bool((abs(rungs / rungs[0] - 1) < 0.02).all())
    True
    """
    rows = []
    for trial in range(count):
        start = _drawn(generator(seed, trial, "behind"))
        start = replace(start, sigma=sigma, across=start.across * sigma / start.sigma)
        walk = start.follow(min(start.a, start.b / start.square) / 2)
        size = np.linalg.norm(walk.points, axis=1)
        inside = np.flatnonzero(size <= ball)
        stay = walk.times[inside[-1]] - walk.times[inside[0]]
        by_kappa = origin.passage_time(walk.kappa**start.depth, start.depth, b=start.b)
        rows.append((walk.time, stay, by_kappa, start.law()))
    return np.array(rows).T
