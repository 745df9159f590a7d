r"""The regions of the flow on data without noise, and trajectories through them.

The data lie in the first components, with moments A and minimum :math:`w_x^*` of norm one. With
:math:`e=w_x^\top A(w_x-w_x^*)` the regions are :math:`E=\{e=0\}`, an ellipsoid times the normal
directions, its inside :math:`E^-`, and the half space :math:`U^+` that touches it along the line of
minima. :func:`trajectories` makes many flows at once, :func:`moments_in_time` cases for attacks
from them, :func:`on_boundary` points of E, :func:`on_one_axis` exact cases for one dimension.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
import torch
from scipy.integrate import solve_ivp
from torch import Tensor

from lowdim.embedded import flows
from lowdim.evidence.attacks import Case
from lowdim.seeds import generator

__all__ = [
    "TANGENT", "Trajectories", "largest_outward", "moments_in_time", "on_boundary", "on_one_axis",
    "problems", "trajectories",
]  # fmt: skip

D, TANGENT, LOW = 5, 3, 0.3  # d; d_x at most 3, d_y = 2; smallest eigenvalue of A
ARRIVED = 1e-4  # nearer to the minimum the sign of e is rounding


def problems(count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A (count, 5, 5), w* and w(0) (count, 5), with d_x = 1, 2, 3 in turn, half of them isotropic.

    A third of the starts is in U⁺, a third in E⁻.

    Examples
    --------
    >>> A, star, start = problems(12, np.random.default_rng(0))
    >>> A.shape, np.linalg.norm(star, axis=1).round(9).tolist() == [1.0] * 12
    ((12, 5, 5), True)
    """
    A, star, start = np.zeros((count, D, D)), np.zeros((count, D)), np.zeros((count, D))
    A[:, :TANGENT, :TANGENT] = np.eye(TANGENT)  # unused directions: no target, weight or effect
    for k in range(count):
        n, isotropic, kind = 1 + k % 3, (k // 3) % 2 == 0, (k // 6) % 3
        turn = np.linalg.qr(rng.standard_normal((n, n)))[0]
        values = np.ones(n) if isotropic else rng.uniform(LOW, 1, n)
        A[k, :n, :n] = turn * values @ turn.T
        v, u = rng.standard_normal((2, n))
        v /= np.linalg.norm(v)
        star[k, :n] = v
        b = A[k, :n, :n] @ v
        if kind == 0:  # U⁺
            start[k, :n] = v + rng.uniform(0.05, 1.5) * u * np.sign(u @ b)
        elif kind == 1:  # E⁻
            radius = rng.uniform(0, 0.5) * np.sqrt(v @ b) / np.linalg.norm(u)
            start[k, :n] = v / 2 + radius * turn / np.sqrt(values) @ u
        else:
            start[k, :n] = rng.choice([0.3, 1, 2]) * u
        start[k, TANGENT:] = rng.uniform(0.2, 1.2) * rng.standard_normal(2)
    return A, star, start


@dataclass(frozen=True)
class Trajectories:
    """B flows: moments (B, 5, 5), minimum (B, 5), depth (B,), and points w (marks, B, 5)."""

    moments: np.ndarray
    star: np.ndarray
    depth: np.ndarray
    w: np.ndarray

    @cached_property
    def target(self) -> np.ndarray:
        """b (B, 5)."""
        return (self.moments @ self.star[..., None])[..., 0]

    @cached_property
    def p(self) -> np.ndarray:
        """‖w_x‖² (marks, B)."""
        return (self.w[..., :TANGENT] ** 2).sum(-1)

    @cached_property
    def q(self) -> np.ndarray:
        """‖w_y‖² (marks, B)."""
        return (self.w[..., TANGENT:] ** 2).sum(-1)

    @cached_property
    def size(self) -> np.ndarray:
        """‖w‖ (marks, B)."""
        return np.linalg.norm(self.w, axis=-1)

    @cached_property
    def gradient(self) -> np.ndarray:
        """The gradient of J (marks, B, 5)."""
        return (self.moments @ self.w[..., None])[..., 0] - self.target

    @cached_property
    def e(self) -> np.ndarray:
        """w · ∇J (marks, B): negative in E⁻."""
        return (self.w * self.gradient).sum(-1)

    @cached_property
    def off(self) -> np.ndarray:
        """‖w_x - w_x*‖ (marks, B)."""
        return np.linalg.norm(self.w[..., :TANGENT] - self.star[:, :TANGENT], axis=-1)

    @property
    def live(self) -> np.ndarray:
        """Where (marks, B) the minimum has not been reached to four digits."""
        return self.off > ARRIVED

    @cached_property
    def beyond(self) -> np.ndarray:
        """b · (w(0) - w*) (B,): positive in U⁺."""
        return ((self.w[0] - self.star) * self.target).sum(-1)

    @property
    def crossed(self) -> np.ndarray:
        """Which (B,) meet E before they arrive."""
        return ((np.sign(self.e) != np.sign(self.e[0])) & self.live).any(0)

    @cached_property
    def eigenvalues(self) -> np.ndarray:
        """Of A in the directions of the data, (B, 3), increasing."""
        return np.linalg.eigvalsh(self.moments[:, :TANGENT, :TANGENT])

    @property
    def isotropic(self) -> np.ndarray:
        """Which (B,) have A = cI."""
        return np.ptp(self.eigenvalues, axis=1) < 1e-9

    @property
    def flat(self) -> np.ndarray:
        """Which (B,) have data on one axis."""
        return (self.star[:, 1:TANGENT] == 0).all(1)

    def field(self) -> np.ndarray:
        """The velocity (marks, B, 5) at every point."""
        along = (self.depth - 1)[:, None] * (self.e / self.size**2)[..., None] * self.w
        return -(self.size ** (2 - 2 / self.depth))[..., None] * (self.gradient + along)

    def enters_later(self, k: int, *, until: float = 300.0) -> bool:
        """Whether trajectory k, on isotropic data, comes into E⁻ if it is followed on.

        The minimum is the origin of the coordinates here, so that e keeps its digits.

        Examples
        --------
        >>> star, start = np.eye(5)[:1], np.array([[1.5, 0.4, 0.0, 0.3, 0.0]])
        >>> moments = np.diag([1.0, 1.0, 1.0, 0.0, 0.0])[None]
        >>> Trajectories(moments, star, np.array([9.0]), start[None]).enters_later(0)
        True
        """
        goal, depth = self.star[k, :TANGENT], self.depth[k]

        def e_of(z: np.ndarray) -> float:
            return (z[:TANGENT] + goal) @ z[:TANGENT]

        def field(t: float, z: np.ndarray) -> np.ndarray:
            x = z[:TANGENT] + goal
            pull = (depth - 1) * e_of(z) / (x @ x + z[TANGENT:] @ z[TANGENT:])
            return np.concatenate([-(z[:TANGENT] + pull * x), -pull * z[TANGENT:]])

        def crossing(t: float, z: np.ndarray) -> float:
            return e_of(z) / (z[:TANGENT] @ z[:TANGENT])

        watched = cast(Any, crossing)
        watched.terminal, watched.direction = True, -1
        begin = self.w[0, k] - self.star[k]
        run = solve_ivp(field, (0, until), begin, "LSODA", events=watched, rtol=1e-9, atol=1e-200)
        return run.status == 1


def trajectories(depths: Sequence[int], *, count: int, seed: int) -> Trajectories:
    """``count`` orbits for every depth at 91 marks, from :func:`problems`.

    Those that pass within 0.02 of the origin are left out: there the solver is at its end.

    Examples
    --------
    >>> run = trajectories([2, 3], count=4, seed=0)
    >>> run.w.shape, run.depth.tolist()
    ((91, 8, 5), [2.0, 2.0, 2.0, 2.0, 3.0, 3.0, 3.0, 3.0])
    """
    parts = []
    for L in depths:
        A, star, start = problems(2 * count, generator(seed, L, "trajectories"))
        b = (A @ star[..., None])[..., 0]
        reach = np.linalg.norm(flows.normal_invariant(start, TANGENT, L), axis=1) ** L
        keep = np.flatnonzero((reach > 0.02) | ((start * b).sum(1) > 0))[:count]
        marks = np.append(0, np.geomspace(1e-2, 25 * L / LOW, 90))
        w = flows.orbits(A[keep], b[keep], L, start[keep], marks)
        parts.append((A[keep], star[keep], np.full(len(keep), float(L)), w))
    A, star, L, w = zip(*parts, strict=True)
    joined = np.concatenate(A), np.concatenate(star), np.concatenate(L)
    return Trajectories(*joined, np.concatenate(w, axis=1))


def moments_in_time(
    run: Trajectories, *, times: int, seed: int
) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """Cases for claims about p(0), q(0) and p(T), q(T): at random times, and in the end.

    The first has ``times`` times on each trajectory before it arrives. A case has p0, q0, pT, qT,
    ps (= p*), L; beyond and inside, positive for starts in U⁺ and in E⁻; and clear, positive if E
    was not met at the marks up to T.

    Examples
    --------
    >>> run = trajectories([2], count=4, seed=0)
    >>> finite, end = moments_in_time(run, times=6, seed=0)
    >>> finite["qT"].shape, end["qT"].shape
    (torch.Size([24]), torch.Size([4]))
    """
    rng = generator(seed, 0, "times")
    count, live = len(run.depth), run.live
    last = live.shape[0] - 1 - live[::-1].argmax(0)  # last mark before arrival
    at = 1 + (rng.random((times, count)) * np.maximum(last, 1)).astype(int)
    columns = np.broadcast_to(np.arange(count), at.shape)
    clear = np.cumprod((np.sign(run.e) == np.sign(run.e[0])), 0).astype(bool)

    def flat(values: np.ndarray) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(values, float).ravel())

    def each(values: np.ndarray) -> Tensor:
        return flat(np.broadcast_to(values, at.shape))

    finite = {
        "p0": each(run.p[0]),
        "q0": each(run.q[0]),
        "pT": flat(run.p[at, columns]),
        "qT": flat(run.q[at, columns]),
        "ps": each(np.ones(count)),
        "L": each(run.depth),
        "beyond": each(run.beyond),
        "inside": each(-run.e[0]),
        "clear": flat(clear[at, columns]) - 0.5,
    }
    end = {name: values[:count] for name, values in finite.items()}
    return finite, {**end, "pT": flat(run.p[-1]), "qT": flat(run.q[-1])}


def on_one_axis(free: Case, *, in_the_end: bool = False) -> dict[str, Tensor]:
    """Cases as in :func:`moments_in_time` for d_x = 1 from the closed form of the curve.

    ``free`` has p0, q0, L and step (B,), any numbers: logarithms of p(0), q(0), L - 1 and
    q(T)/q(0), cut to where the curve keeps its digits. With ``in_the_end`` p* is p(T).

    Examples
    --------
    >>> free = {name: torch.zeros(1, dtype=torch.float64) for name in ("p0", "q0", "L", "step")}
    >>> case = on_one_axis({**free, "step": free["step"] + 1})
    >>> bool(case["pT"] > case["p0"]), bool(case["inside"] > 0)  # from E⁻, growing
    (True, True)
    """
    p0, q0 = (free[name].clamp(-7, 7).exp() for name in ("p0", "q0"))
    L = 1 + free["L"].clamp(-4, 7).exp()
    step = free["step"].clamp(-3, 3)
    qT = q0 * step.exp()
    pT = (p0 + q0) * (step * L / (L - 1)).exp() - qT
    side = torch.where(step < 0, 1.0, -1.0).double()
    case = {"p0": p0, "q0": q0, "pT": pT, "qT": qT, "L": L, "beyond": side, "inside": -side}
    case["ps"] = pT if in_the_end else torch.where(step < 0, pT / 2, 2 * pT)
    case["clear"] = torch.minimum(pT / p0, torch.ones_like(p0))
    return case


def on_boundary(free: Case) -> dict[str, Tensor]:
    """Points x of E in three dimensions for A = diag(a), eigenvalues between 1 - t and 1 + t.

    ``free`` has t and m (B,), star and u (B, 3), any numbers.

    Examples
    --------
    >>> one = torch.ones(1, dtype=torch.float64)
    >>> ends = {"star": torch.eye(3, dtype=torch.float64)[:1], "u": torch.ones(1, 3).double()}
    >>> case = on_boundary({"t": one, "m": one, **ends})
    >>> e = (case["x"] * case["a"] * (case["x"] - case["star"])).sum()
    >>> abs(float(e)) < 1e-12
    True
    """
    t, middle = torch.sigmoid(free["t"]), torch.tanh(free["m"])
    a = 1 + t[:, None] * torch.stack([torch.ones_like(t), middle, -torch.ones_like(t)], 1)
    star = free["star"] / free["star"].norm(dim=1, keepdim=True)
    u = free["u"] / free["u"].norm(dim=1, keepdim=True)
    radius = (a * star**2).sum(1, keepdim=True).sqrt() / 2
    return {"a": a, "star": star, "x": star / 2 + radius * u / a.sqrt(), "t": t}


def largest_outward(t: float, *, count: int = 361) -> float:
    """Largest ‖w_x - w_x*‖/(ε/c) on E in the plane where the flow points outwards.

    A = diag(1 + t, 1 - t), so that ε/c = t, on a grid of ``count`` directions of w*.

    Examples
    --------
    >>> round(largest_outward(0.1, count=91), 1)
    1.0
    """
    phi, theta = np.meshgrid(np.linspace(0, np.pi, count), np.linspace(0, 2 * np.pi, 4 * count))
    a = np.array([1 + t, 1 - t])
    star = np.stack([np.cos(phi), np.sin(phi)], -1)
    radius = np.sqrt((a * star**2).sum(-1, keepdims=True)) / 2
    x = star / 2 + radius * np.stack([np.cos(theta), np.sin(theta)], -1) / np.sqrt(a)
    delta = x - star
    out = (a**2 * delta * (delta + x)).sum(-1) < -1e-12
    return float(np.linalg.norm(delta, axis=-1)[out].max() / t)
