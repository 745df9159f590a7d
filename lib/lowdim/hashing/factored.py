r"""The network y = A B σ(C x) above a fixed random layer, solved to a true minimum in two ways.

Features are columns: Z = σ(CX) is (..., D, N), one column for each of the N points of all m
classes, and ``labels`` (N,) says which class a column belongs to (:func:`columns` turns an array
(..., m, n, D) into this). The objective of Part IV is

.. math:: \sum_{j,i}\Omega_{ji}\,(Y - ABZ)_{ji}^2 + \lambda_1\|A\|_F^2
          + \lambda_2\bigl(\|B\|_F^2 + v\,V_{reg}(BZ)\bigr)

with one-hot targets Y (m, N). The weights Ω are those of the paper's (1): 1/2 on the own class and
1/(2(m-1)) on each of the others, divided by m n for the averages. They multiply the square
(``reading="balanced"``); the formula as printed would square them (``"printed"``).

With H = I + v S, where V_reg(BZ) = tr(B S Bᵀ), the objective in W = AB is convex,

.. math:: \sum\Omega\,(Y - WZ)^2 + 2\sqrt{\lambda_1\lambda_2}\,\|W H^{1/2}\|_*,

and has the same minimum if the inner width is at least min(m, rank Z). :func:`convex` solves it
(ADMM, stopped by a duality gap) and factors the solution; :func:`descend` goes down in (A, B). The
gap of any A, B or W comes from :meth:`Problem.gap`: it bounds the distance to the minimum.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from scipy.optimize import minimize
from torch import Tensor

from lowdim import checks
from lowdim.checks import ArrayLike
from lowdim.seeds import generator

__all__ = [
    "Minimum", "Problem", "balanced", "class_weights", "columns", "convex", "descend", "hessian",
    "problem", "weighted_loss", "within_variance",
]  # fmt: skip

READINGS = ("balanced", "printed")


def columns(Z: ArrayLike) -> tuple[Tensor, Tensor]:
    """Features (..., m, n, D) as columns (..., D, m n), and the label (m n,) of each column.

    Raises
    ------
    ValueError
        If there are fewer than three axes.

    Examples
    --------
    >>> Z, labels = columns(torch.arange(12.0).reshape(2, 3, 2))
    >>> Z.shape, labels.tolist()
    (torch.Size([2, 6]), [0, 0, 0, 1, 1, 1])
    """
    Z = torch.as_tensor(Z)
    if Z.ndim < 3:
        raise ValueError(f"Z must be (..., m, n, D); its shape is {tuple(Z.shape)}.")
    m, n = Z.shape[-3:-1]
    return Z.flatten(-3, -2).mT, torch.arange(m).repeat_interleave(n)


def _labels(labels: ArrayLike, points: int) -> Tensor:
    labels = torch.as_tensor(labels)
    if labels.ndim != 1 or len(labels) != points or labels.is_floating_point():
        raise ValueError(
            f"labels must be whole numbers, one for each of {points} columns; "
            f"you gave {labels.dtype} of shape {tuple(labels.shape)}."
        )
    counts = torch.bincount(labels) if int(labels.min()) >= 0 else torch.zeros(1)
    if len(counts) < 2 or bool((counts == 0).any()):
        raise ValueError(
            "labels must count the classes from 0, two or more, each with a point; "
            f"those that occur are {sorted(set(labels.tolist()))}."
        )
    return labels.long()


def class_weights(labels: ArrayLike, *, reading: str = "balanced") -> Tensor:
    """The weights Ω (m, N) of the squares in the loss (1), averages over the points included.

    A class of n_l points has weight 1/(m n_l) in all, so that classes count alike. ``"balanced"``:
    1/2 on the own class, 1/(2(m-1)) on the others; ``"printed"``: the squares of these numbers.

    Raises
    ------
    ValueError
        If labels do not count two classes or more from 0, or the reading is unknown.

    Examples
    --------
    >>> class_weights([0, 1, 2])[0].tolist() == [1 / 6, 1 / 12, 1 / 12]
    True
    """
    checks.choice(reading, READINGS, "reading")
    labels = _labels(labels, len(torch.as_tensor(labels)))
    own = torch.nn.functional.one_hot(labels).T.double()
    m = len(own)
    weights = 0.5 * own + (1 - own) / (2 * (m - 1))
    share = own.sum(1)[labels] * m
    return (weights.square() if reading == "printed" else weights) / share


def weighted_loss(outputs: ArrayLike, labels: ArrayLike, *, reading: str = "balanced") -> Tensor:
    """The weighted square loss (1) of outputs (..., m, N) against one-hot targets, (...).

    Raises
    ------
    ValueError
        As :func:`class_weights`, or if outputs do not have a row for each class.

    Examples
    --------
    >>> weighted_loss(torch.zeros(3, 6), [0, 0, 1, 1, 2, 2]).item()
    0.5
    """
    outputs = checks.matrices(outputs, "outputs")
    labels = _labels(labels, outputs.shape[-1])
    own = torch.nn.functional.one_hot(labels).T.to(outputs)
    if outputs.shape[-2] != len(own):
        raise ValueError(
            f"outputs need one row for each of {len(own)} classes; "
            f"their shape is {tuple(outputs.shape)}."
        )
    weights = class_weights(labels, reading=reading).to(outputs)
    return (weights * (outputs - own).square()).sum((-2, -1))


def _spread(Z: Tensor, labels: Tensor, unbiased: bool) -> Tensor:
    """Centred columns (..., D, N), scaled so that their squares sum to V_mn (or to V_reg)."""
    own = torch.nn.functional.one_hot(labels).to(Z)
    counts = own.sum(0)
    if unbiased and bool((counts < 2).any()):
        raise ValueError("the variance penalty needs two points or more in each class.")
    centred = Z - Z @ (own / counts) @ own.T
    share = len(counts) * (counts - 1 if unbiased else counts)
    return centred * share.rsqrt()[labels]


def within_variance(R: ArrayLike, labels: ArrayLike, *, unbiased: bool = False) -> Tensor:
    """The mean over classes of the variance of representations R (..., T, N) in a class, (...).

    This is V_mn of (3); ``unbiased`` divides by n - 1 instead of n and gives V_reg of (5).

    Raises
    ------
    ValueError
        If labels do not fit, or for ``unbiased`` if a class has a single point.

    Examples
    --------
    >>> R, labels = torch.tensor([[0.0, 4.0, 5.0, 5.0, 5.0, 5.0]]), [0, 0, 1, 1, 2, 2]
    >>> [round(within_variance(R, labels, unbiased=u).item(), 5) for u in (False, True)]
    [1.33333, 2.66667]
    """
    R = checks.matrices(R, "R")
    return _spread(R, _labels(labels, R.shape[-1]), unbiased).square().sum((-2, -1))


@dataclass(frozen=True)
class Problem:
    """The objective above; leading axes (...) are trials.

    features: (..., D, N); targets, weights: (m, N) or with the trials' axes; lam1, lam2: weights of
    the penalties on A and B; spread: (..., D, K) with v V_reg(BZ) = ‖B spread‖², or None.
    """

    features: Tensor
    targets: Tensor
    weights: Tensor
    lam1: float
    lam2: float
    spread: Tensor | None = None

    def loss(self, W: Tensor) -> Tensor:
        """The weighted square loss (...) of W = AB (..., m, D)."""
        return (self.weights * (self.targets - W @ self.features).square()).sum((-2, -1))

    def value(self, A: Tensor, B: Tensor) -> Tensor:
        """The objective (...) at A (..., m, T) and B (..., T, D)."""
        size = B.square().sum((-2, -1))
        if self.spread is not None:
            size = size + (B @ self.spread).square().sum((-2, -1))
        return self.loss(A @ B) + self.lam1 * A.square().sum((-2, -1)) + self.lam2 * size

    def gradient(self, A: Tensor, B: Tensor) -> tuple[Tensor, Tensor]:
        """The gradients of :meth:`value` by A and by B, in their shapes."""
        H = B @ self.features
        G = 2 * self.weights * (A @ H - self.targets)
        right = B if self.spread is None else B + (B @ self.spread) @ self.spread.mT
        by_A = G @ H.mT + 2 * self.lam1 * A
        return by_A, A.mT @ (G @ self.features.mT) + 2 * self.lam2 * right

    def root(self) -> Tensor:
        """H^{1/2} (..., D, D), the matrix of the weighted nuclear norm."""
        eye = torch.eye(self.features.shape[-2], dtype=self.features.dtype)
        if self.spread is None:
            return eye.expand(*self.features.shape[:-2], *eye.shape)
        values, vectors = torch.linalg.eigh(eye + self.spread @ self.spread.mT)
        return (vectors * values.sqrt()[..., None, :]) @ vectors.mT

    def convex_value(self, W: Tensor) -> Tensor:
        """The convex objective (...) at W (..., m, D): the least :meth:`value` with AB = W."""
        # W H Wᵀ is the Gram matrix of the rows of [W, W spread]
        wide = W if self.spread is None else torch.cat([W, W @ self.spread], -1)
        return self.loss(W) + 2 * (self.lam1 * self.lam2) ** 0.5 * _nuclear(wide)

    def gap(self, W: Tensor) -> Tensor:
        """A duality gap (...): the convex objective at W exceeds its minimum by at most this."""
        batch = self.features.shape[:-2]
        flat = _flat(W.expand(*batch, *W.shape[-2:]))
        dual = [core.dual(core.reduce(w)) for core, w in zip(self._cores, flat, strict=True)]
        return self.convex_value(W) - self._stack(dual)

    @cached_property
    def _cores(self) -> list[_Core]:
        batch = self.features.shape[:-2]

        def every(T: Tensor) -> list[np.ndarray]:
            return _flat(T.expand(*batch, *T.shape[-2:]))

        spreads = [None] * batch.numel() if self.spread is None else every(self.spread)
        parts = zip(
            every(self.features), every(self.targets), every(self.weights), spreads, strict=True
        )
        return [_Core(*part, self.lam1, self.lam2) for part in parts]

    def _stack(self, values: list) -> Tensor:
        stacked = torch.from_numpy(np.stack([np.asarray(v) for v in values]))
        return stacked.reshape(self.features.shape[:-2] + stacked.shape[1:])


def _nuclear(W: Tensor) -> Tensor:
    return torch.linalg.svdvals(W).sum(-1)


def _flat(T: Tensor) -> list[np.ndarray]:
    return list(T.detach().double().reshape(-1, *T.shape[-2:]).numpy())


def problem(
    Z: ArrayLike,
    labels: ArrayLike,
    lam1: float,
    lam2: float,
    *,
    variance: float = 0.0,
    reading: str = "balanced",
) -> Problem:
    """The objective for features Z (..., D, N) and their labels (N,), shared by all trials.

    ``variance`` multiplies V_reg inside the penalty on B: 0 gives the paper's (2), 1 its (6).

    Raises
    ------
    ValueError
        If shapes or labels do not fit, a penalty is not positive or ``variance`` is negative.

    Examples
    --------
    >>> p = problem(torch.eye(2, dtype=torch.float64), [0, 1], 0.1, 0.1)
    >>> p.value(torch.eye(2).double(), torch.eye(2).double()).item()
    0.4
    """
    Z = checks.matrices(Z, "Z").double()
    labels = _labels(labels, Z.shape[-1])
    if not (lam1 > 0 and lam2 > 0 and variance >= 0):
        raise ValueError(
            "lam1 and lam2 must be positive and variance not negative; "
            f"you gave lam1 = {lam1}, lam2 = {lam2}, variance = {variance}."
        )
    targets = torch.nn.functional.one_hot(labels).T.double()
    spread = variance**0.5 * _spread(Z, labels, unbiased=True) if variance else None
    weights = class_weights(labels, reading=reading)
    return Problem(Z, targets, weights, float(lam1), float(lam2), spread)


class _Core:
    """One trial in the coordinates where the penalty is mu(‖A‖² + ‖B‖²), on the features' span."""

    def __init__(
        self,
        Z: np.ndarray,
        Y: np.ndarray,
        weights: np.ndarray,
        spread: np.ndarray | None,
        lam1: float,
        lam2: float,
    ) -> None:
        self.Y, self.weights = Y, weights
        self.mu, self.ratio = (lam1 * lam2) ** 0.5, (lam1 / lam2) ** 0.25
        U, s, Vh = np.linalg.svd(Z, full_matrices=False)
        r = max(1, int((s > s[0] * max(Z.shape) * np.finfo(float).eps).sum()))
        F, root = s[:r, None] * Vh[:r], np.eye(r)
        if spread is not None:
            inside = U[:, :r].T @ spread
            e, E = np.linalg.eigh(np.eye(r) + inside @ inside.T)
            F, root = (E.T @ F) / np.sqrt(e)[:, None], E * np.sqrt(e)
        # what all rows of W have in common, made diagonal; the rest is of low rank for each row
        self.base = weights.min(0)
        self.common, Q = np.linalg.eigh(2 * (F * self.base) @ F.T)
        self.common = self.common.clip(0.0)
        self.F, inner = Q.T @ F, root @ Q
        self.lift = U[:, :r] @ inner  # B ↦ B lift: from the network's coordinates to these
        self.back = np.linalg.solve(inner, U[:, :r].T)

    def reduce(self, W: np.ndarray) -> np.ndarray:
        return W @ self.lift

    def primal(self, W: np.ndarray) -> float:
        R = self.Y - W @ self.F
        nuclear = np.linalg.svd(W, compute_uv=False).sum()
        return float((self.weights * R * R).sum() + 2 * self.mu * nuclear)

    def dual(self, W: np.ndarray) -> float:
        """The dual objective at the best feasible multiple of the residual at W."""
        R = self.Y - W @ self.F
        L = 2 * self.weights * R
        norm = np.linalg.norm(L @ self.F.T, 2)
        linear, square = float((L * self.Y).sum()), float((L * R).sum()) / 2
        most = 2 * self.mu / norm if norm > 0 else np.inf
        t = min(max(linear / (2 * square), -most), most) if square > 0 else 0.0
        return t * linear - t * t * square

    def solve(self, goal: float, steps: int) -> tuple[np.ndarray, int]:
        """ADMM for the convex problem until the gap is at most ``goal`` times the value."""
        m, extra = len(self.Y), self.weights - self.base
        most = max(1, int((extra > 0).sum(1).max()))
        own = np.argsort(-extra, axis=1, kind="stable")[:, :most]
        low = (
            self.F[:, own].transpose(1, 0, 2)
            * np.sqrt(2 * np.take_along_axis(extra, own, 1))[:, None]
        )
        target = 2 * (self.weights * self.Y) @ self.F.T
        V, dual, rho, inner = np.zeros((m, len(self.F))), 0.0, 2 * self.mu, None
        best = np.inf, V, 0
        for step in range(1, steps + 1):
            if inner is None:
                d = 1 / (self.common + rho)
                inner = np.linalg.inv(np.eye(most) + low.transpose(0, 2, 1) @ (d[:, None] * low))
            x = d * (target + rho * (V - dual))
            W = x - d * (low @ (inner @ (low.transpose(0, 2, 1) @ x[..., None])))[..., 0]
            relaxed = 1.6 * W - 0.6 * V
            U, s, Vh = np.linalg.svd(relaxed + dual, full_matrices=False)
            last, V = V, (U * (s - 2 * self.mu / rho).clip(0.0)) @ Vh
            dual = dual + relaxed - V
            if step % 10 and step < steps:
                continue
            value = self.primal(V)
            gap = value - self.dual(V)
            if gap < 0.9 * best[0]:
                best = gap, V, step
            if gap <= goal * value or step > best[2] + 500:  # reached, or as near as rounding lets
                break
            tiny = 1e-300
            first = np.linalg.norm(W - V) / (np.linalg.norm(V) + tiny)
            second = np.linalg.norm(V - last) / (np.linalg.norm(dual) + tiny)
            balance = np.sqrt((first + tiny) / (second + tiny))
            if not 0.5 < balance < 2:
                factor = min(max(balance, 0.2), 5.0)
                rho, dual, inner = rho * factor, dual / factor, None
        return best[1], step

    def factors(self, W: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray]:
        """The balanced factors of W, padded with zeros, in the network's coordinates."""
        U, s, Vh = np.linalg.svd(W, full_matrices=False)
        rank = int((s > s[0] * 1e-12).sum()) if s[0] > 0 else 0
        if rank > width:
            raise ValueError(f"width must be at least the rank {rank} of W; you gave {width}.")
        k = min(width, len(s))
        A, B = np.zeros((len(U), width)), np.zeros((width, W.shape[1]))
        A[:, :k], B[:k] = U[:, :k] * np.sqrt(s[:k]), np.sqrt(s[:k, None]) * Vh[:k]
        return A / self.ratio, B * self.ratio @ self.back

    def down(
        self, A: np.ndarray, B: np.ndarray, goal: float, steps: int
    ) -> tuple[np.ndarray, np.ndarray, int]:
        """L-BFGS from A, B (these coordinates), then Newton steps; ``goal`` for the gradient."""
        shape, cut, evaluations = (A.shape, B.shape), A.size, 0

        def split(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            return x[:cut].reshape(shape[0]), x[cut:].reshape(shape[1])

        def objective(x: np.ndarray) -> tuple[float, np.ndarray]:
            nonlocal evaluations
            evaluations += 1
            A, B = split(x)
            H = B @ self.F
            R = A @ H - self.Y
            G = 2 * self.weights * R
            by = (G @ H.T).ravel(), (A.T @ (G @ self.F.T)).ravel()
            value = float((self.weights * R * R).sum() + self.mu * (x @ x))
            return value, np.concatenate(by) + 2 * self.mu * x

        def bend(x: np.ndarray, y: np.ndarray) -> np.ndarray:
            (A, B), (dA, dB) = split(x), split(y)
            H, dH = B @ self.F, dB @ self.F
            G, dG = 2 * self.weights * (A @ H - self.Y), 2 * self.weights * (dA @ H + A @ dH)
            by = dG @ H.T + G @ dH.T, (dA.T @ G + A.T @ dG) @ self.F.T
            return np.concatenate([part.ravel() for part in by]) + 2 * self.mu * y

        options = {"maxiter": steps, "maxfun": 10**9, "maxcor": 30, "maxls": 50, "ftol": 0.0}
        x = np.concatenate([A.ravel(), B.ravel()])
        found = minimize(
            objective,
            x,
            jac=True,
            method="L-BFGS-B",
            options=options | {"gtol": goal / x.size**0.5},
        )
        return *split(_newton(objective, bend, found.x, goal)), evaluations


def _newton(
    objective: Callable[[np.ndarray], tuple[float, np.ndarray]],
    bend: Callable[[np.ndarray, np.ndarray], np.ndarray],
    x: np.ndarray,
    goal: float,
    *,
    most: int = 30,
    inner: int = 400,
) -> np.ndarray:
    """Newton steps by conjugate gradients, as long as they shrink the gradient and do not climb."""
    value, g = objective(x)
    for _ in range(most):
        size = float(np.linalg.norm(g))
        if size <= goal:
            break
        step, r = np.zeros_like(x), -g
        p, rr = r.copy(), r @ r
        for _ in range(inner):
            Hp = bend(x, p)
            curve = p @ Hp
            if curve <= 0:
                break
            step += rr / curve * p
            r = r - rr / curve * Hp
            rr, before = r @ r, rr
            if rr <= 1e-4 * size**2 * min(1.0, size):
                break
            p = r + rr / before * p
        for length in (1.0, 0.5, 0.1):
            new, gradient = objective(x + length * step)
            if new <= value + 1e-12 * abs(value) and np.linalg.norm(gradient) < size:
                break
        else:
            break
        x, value, g = x + length * step, new, gradient
    return x


@dataclass(frozen=True)
class Minimum:
    """What a solver reached, trials first.

    A: (..., m, T); B: (..., T, D); value: (...) the objective; gap: (...) by how much the convex
    objective at AB can exceed its minimum; gradient: (...) norm of the objective's gradient in
    (A, B); steps: (...) iterations of ADMM or evaluations of the objective.
    """

    problem: Problem
    A: Tensor
    B: Tensor
    value: Tensor
    gap: Tensor
    gradient: Tensor
    steps: Tensor

    @property
    def W(self) -> Tensor:
        """The product AB (..., m, D)."""
        return self.A @ self.B

    @property
    def loss(self) -> Tensor:
        """The weighted square loss (...), without penalties."""
        return self.problem.loss(self.W)


def _minimum(p: Problem, pairs: list, steps: list[int]) -> Minimum:
    A, B = p._stack([a for a, _ in pairs]), p._stack([b for _, b in pairs])
    squares = [g.square().sum((-2, -1)) for g in p.gradient(A, B)]
    norm = torch.stack(squares).sum(0).sqrt()
    return Minimum(p, A, B, p.value(A, B), p.gap(A @ B), norm, p._stack(steps))


def convex(
    p: Problem, *, width: int | None = None, goal: float = 1e-10, steps: int = 20000
) -> Minimum:
    """The minimum over all W by ADMM, and its balanced factors of inner width ``width``.

    ADMM stops where the duality gap is at most ``goal`` times the value, or after ``steps``; the
    gap reached is in the result. ``width`` is min(m, D) unless given; it only pads with zeros.

    Raises
    ------
    ValueError
        If ``width`` is less than the rank of the minimizer, which then has no such factors.

    Examples
    --------
    >>> found = convex(problem(torch.eye(2, dtype=torch.float64), [0, 1], 0.1, 0.1))
    >>> found.W.round(decimals=6).tolist(), bool(found.gap < 1e-10)
    ([[0.6, 0.0], [0.0, 0.6]], True)
    """
    width = _width(p, width)
    pairs, taken = [], []
    for core in p._cores:
        W, step = core.solve(goal, checks.whole(steps, "steps", 1))
        pairs.append(core.factors(W, width))
        taken.append(step)
    return _minimum(p, pairs, taken)


def descend(
    p: Problem,
    *,
    width: int | None = None,
    start: tuple[Tensor, Tensor] | None = None,
    scale: float = 0.1,
    seed: int = 0,
    goal: float = 1e-10,
    steps: int = 20000,
) -> Minimum:
    """A local minimum in (A, B) of inner width ``width``: L-BFGS, then Newton steps.

    It starts at ``start`` or at normal entries times ``scale``; the part of B that no feature sees
    is left out (dropping it lowers the objective). It works in coordinates where both penalties are
    equal and stops at a gradient norm of ``goal`` there; the result reports the norm in (A, B).

    Raises
    ------
    ValueError
        If ``width`` is not a whole number, 1 or more, or ``start`` does not fit.

    Examples
    --------
    >>> p = problem(torch.eye(2, dtype=torch.float64), [0, 1], 0.1, 0.1)
    >>> found = descend(p, width=3)
    >>> (found.W.round(decimals=6) + 0.0).tolist(), bool(found.gap < 1e-8)
    ([[0.6, 0.0], [0.0, 0.6]], True)
    """
    width = _width(p, width) if start is None else start[0].shape[-1]
    m, D = p.targets.shape[-2], p.features.shape[-2]
    batch = p.features.shape[:-2]
    if start is not None:
        if start[0].shape[-2:] != (m, width) or start[1].shape[-2:] != (width, D):
            raise ValueError(
                f"start must be A (..., {m}, T) and B (..., T, {D}); "
                f"you gave {tuple(start[0].shape)} and {tuple(start[1].shape)}."
            )
        starts = [_flat(S.expand(*batch, *S.shape[-2:])) for S in start]
    pairs, taken = [], []
    for trial, core in enumerate(p._cores):
        if start is None:
            rng = generator(seed, trial, "factored")
            A, B = scale * rng.standard_normal((m, width)), scale * rng.standard_normal((width, D))
        else:
            A, B = starts[0][trial], starts[1][trial]
        A, B, step = core.down(A * core.ratio, B @ core.lift / core.ratio, goal, steps)
        pairs.append((A / core.ratio, B * core.ratio @ core.back))
        taken.append(step)
    return _minimum(p, pairs, taken)


def _width(p: Problem, width: int | None) -> int:
    least = min(p.targets.shape[-2], p.features.shape[-2])
    return least if width is None else checks.whole(width, "width", 1)


def balanced(
    W: ArrayLike, lam1: float = 1.0, lam2: float = 1.0, *, root: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    r"""Factors A (..., m, k), B (..., k, D) of W with the least λ₁‖A‖² + λ₂‖B R‖², k = min(m, D).

    ``root`` is an invertible R (..., D, D), the identity unless given. The least value is
    :math:`2\sqrt{\lambda_1\lambda_2}\,\|WR\|_*`.

    Raises
    ------
    ValueError
        If W is no matrix or a weight is not positive.

    Examples
    --------
    >>> A, B = balanced([[4.0, 0.0], [0.0, 1.0]], 1.0, 16.0)
    >>> A.square().sum().item(), B.square().sum().item()
    (20.0, 1.25)
    """
    W = checks.matrices(W, "W")
    if not (lam1 > 0 and lam2 > 0):
        raise ValueError(f"weights must be positive; you gave lam1 = {lam1}, lam2 = {lam2}.")
    U, s, Vh = torch.linalg.svd(W if root is None else W @ root, full_matrices=False)
    ratio = (lam1 / lam2) ** 0.25
    A, B = U * s.sqrt()[..., None, :] / ratio, ratio * s.sqrt()[..., None] * Vh
    return A, B if root is None else torch.linalg.solve(root, B, left=False)


def hessian(p: Problem, A: Tensor, B: Tensor) -> Tensor:
    """The Hessian (..., P, P) of the objective in the P = T(m + D) entries of A, then of B.

    For small problems: it is dense.

    Examples
    --------
    >>> p = problem(torch.eye(2, dtype=torch.float64), [0, 1], 0.1, 0.1)
    >>> hessian(p, torch.zeros(2, 1).double(), torch.zeros(1, 2).double()).diagonal().tolist()
    [0.2, 0.2, 0.2, 0.2]
    """
    batch, T = torch.broadcast_shapes(A.shape[:-2], p.features.shape[:-2]), A.shape[-1]
    m, D = A.shape[-2], B.shape[-1]
    P = T * (m + D)
    moves = torch.eye(P, dtype=A.dtype)
    dA, dB = moves[:, : m * T].reshape(P, m, T), moves[:, m * T :].reshape(P, T, D)
    A, B, Z = A[..., None, :, :], B[..., None, :, :], p.features[..., None, :, :]
    weights, targets = p.weights[..., None, :, :], p.targets[..., None, :, :]
    H, dH = B @ Z, dB @ Z
    G, dG = 2 * weights * (A @ H - targets), 2 * weights * (dA @ H + A @ dH)
    right = dB
    if p.spread is not None:
        S = p.spread[..., None, :, :]
        right = dB + (dB @ S) @ S.mT
    by_A = dG @ H.mT + G @ dH.mT + 2 * p.lam1 * dA
    by_B = (dA.mT @ G + A.mT @ dG) @ Z.mT + 2 * p.lam2 * right
    return torch.cat(
        [by_A.expand(*batch, P, m, T).flatten(-2), by_B.expand(*batch, P, T, D).flatten(-2)], -1
    )
