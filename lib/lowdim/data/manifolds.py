r"""Manifolds with a name and a place on them: points :math:`x=f(\gamma,\theta)` of Part IV.

:math:`\gamma\in\mathbb R^s` says which manifold, :math:`\theta\in\mathbb R^k` where on it, and all
manifolds share one analytic map

.. math:: f(\gamma,\theta)=\sum_i\varphi_i(V_i\gamma+W_i\theta),\qquad \varphi_i\text{ entrywise.}

One term with the identity is a linear manifold :math:`P\gamma+Q\theta`; four terms with the sine,
the cosine, the exponential or a logarithm are the synthetic data of the paper's experiments.

A family is described first, :class:`LinearFamily` or :class:`AnalyticFamily`, and then manifolds
and points of it are drawn. The maps, the latents of manifold j and the place of point i come from
streams of their own: ``first_manifold`` and ``first_point`` moved on give held-out manifolds and
held-out points of the same family.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from lowdim import checks
from lowdim.checks import ArrayLike
from lowdim.seeds import generator

FUNCTIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "identity": lambda x: x,
    "sine": torch.sin,
    "cosine": torch.cos,
    "log": lambda x: torch.log((1 + x * x) / 2),
    "exp": lambda x: torch.exp(x / 2),
    "half-exp": lambda x: torch.exp(x) / 2,
}
MIXED = ("sine", "cosine", "log", "exp")
FAMILIES = ("mixture", "sine", "cosine", "log", "exp", "half-exp")
LATENTS = ("gaussian", "sphere")
NORMS = ("none", "divide")


@dataclass(frozen=True)
class Manifolds:
    """m manifolds with n points each in d dimensions, and the map that made them.

    X: (m, n, d); gamma: (m, s); theta: (m, n, k); V: (terms, d, s) and W: (terms, d, k), the maps
    before the entrywise functions named in ``functions``; ``norm`` says what was done to X last.
    """

    X: Tensor
    gamma: Tensor
    theta: Tensor
    V: Tensor
    W: Tensor
    family: str
    functions: tuple[str, ...]
    norm: str

    @property
    def labels(self) -> Tensor:
        """Number of the manifold of each point, (m, n)."""
        return torch.arange(len(self.X))[:, None].expand(self.X.shape[:2])

    def at(self, gamma: Tensor, theta: Tensor) -> Tensor:
        """f(γ, θ) of shape (..., d) for γ (..., s) and θ (..., k), before any normalization.

        Examples
        --------
        >>> D = AnalyticFamily("sine", ambient=4).draw(m=2, n=3)
        >>> torch.equal(D.at(D.gamma[:, None], D.theta), D.X)
        True
        """
        total = torch.zeros((), dtype=gamma.dtype)
        for name, V, W in zip(self.functions, self.V, self.W, strict=True):
            total = total + FUNCTIONS[name](gamma @ V.mT + theta @ W.mT)
        return total


@dataclass(frozen=True)
class LinearFamily:
    r"""All linear manifolds :math:`x=P\gamma+Q\theta` of one P and Q, γ on the unit sphere.

    P and Q have orthonormal columns over :math:`\sqrt{1+t^2}` and t over the same, with
    t = ``spread``; with ``orthogonal`` (the paper's :math:`P\gamma\perp Q\theta`) their ranges are
    orthogonal too, and then :math:`\|x\|=1` if :math:`\theta` is drawn on the sphere.

    Parameters
    ----------
    ambient, s, k
        Dimensions d of the points, of γ and of θ.
    spread
        Length of Qθ against that of Pγ.
    tau
        Largest inner product allowed between the γ of two manifolds; None allows all.
    theta
        ``"sphere"`` or ``"gaussian"`` (variance 1/k in each coordinate, so unit mean square).
    norm
        ``"none"`` or ``"divide"`` (each point by its own length; then no longer linear in θ).

    Raises
    ------
    ValueError
        If a number is out of range or a name unknown.

    Examples
    --------
    >>> D = LinearFamily(ambient=8, tau=0.5).draw(m=4, n=5)
    >>> tuple(D.X.shape), tuple(D.gamma.shape), tuple(D.theta.shape)
    ((4, 5, 8), (4, 3), (4, 5, 2))
    >>> bool((D.X.norm(dim=-1) - 1).abs().max() < 1e-12), bool(separation(D.gamma) <= 0.5)
    (True, True)
    """

    ambient: int = field(kw_only=True)
    s: int = field(default=3, kw_only=True)
    k: int = field(default=2, kw_only=True)
    spread: float = field(default=1.0, kw_only=True)
    tau: float | None = field(default=None, kw_only=True)
    theta: str = field(default="sphere", kw_only=True)
    orthogonal: bool = field(default=True, kw_only=True)
    norm: str = field(default="none", kw_only=True)
    seed: int = field(default=0, kw_only=True)
    trial: int = field(default=0, kw_only=True)

    def __post_init__(self) -> None:
        _dimensions(self.ambient, self.s, self.k)
        checks.choice(self.theta, LATENTS, "theta")
        checks.choice(self.norm, NORMS, "norm")
        if not (self.spread >= 0 and np.isfinite(self.spread)):
            raise ValueError(f"spread must be 0 or more; you gave {self.spread}.")
        both = self.s + self.k if self.orthogonal else max(self.s, self.k)
        if both > self.ambient:
            raise ValueError(
                f"P and Q with {self.s} and {self.k} columns do not fit into ambient = "
                f"{self.ambient} dimensions{' with orthogonal ranges' if self.orthogonal else ''}."
            )

    def draw(
        self,
        *,
        m: int,
        n: int,
        first_manifold: int = 0,
        first_point: int = 0,
        dtype: torch.dtype = torch.float64,
    ) -> Manifolds:
        """Draw m manifolds and n points on each, numbered from the given ones on.

        Raises
        ------
        ValueError
            If a number is out of range or the points γ cannot be τ-separated by drawing.

        Examples
        --------
        >>> family = LinearFamily(ambient=8)
        >>> seen, fresh = family.draw(m=4, n=5), family.draw(m=4, n=2, first_point=5)
        >>> torch.equal(seen.gamma, fresh.gamma), torch.equal(seen.X[:, :2], fresh.X)
        (True, False)
        """
        block = Block(m, n, first_manifold, first_point)
        s, k = self.s, self.k
        columns = generator(self.seed, self.trial, "linear manifolds").standard_normal(
            (self.ambient, s + k)
        )
        if self.orthogonal:
            columns = np.linalg.qr(columns)[0]
        else:
            columns = np.hstack(
                [np.linalg.qr(part)[0] for part in (columns[:, :s], columns[:, s:])]
            )
        scale = (1 + self.spread**2) ** -0.5
        P, Q = scale * columns[:, :s], scale * self.spread * columns[:, s:]
        names = block.gamma(self.seed, self.trial, s, "sphere", self.tau)
        places = block.theta(self.seed, self.trial, k)
        if self.theta == "sphere":
            places = places / np.linalg.norm(places, axis=-1, keepdims=True)
        else:
            places = places * k**-0.5
        return _build(
            "linear", ("identity",), (P[None], Q[None]), (names, places), self.norm, dtype
        )


@dataclass(frozen=True)
class AnalyticFamily:
    r"""One of the paper's five families, :math:`x=\sum_i\varphi_i(V_i\gamma+W_i\theta)`.

    Parameters
    ----------
    family
        ``"sine"``, ``"cosine"``, ``"log"`` for log((1+x²)/2), ``"exp"`` for e^{x/2}
        (``"half-exp"`` for the other reading, e^x/2), or ``"mixture"``, one of each in turn.
    ambient, s, k
        Dimensions d of the points (the paper names none), of γ and of θ (both 11 in the paper).
    terms
        Summands; for the mixture a multiple of 4. The paper's "sum of 4 functions of each type" is
        4 for a pure family; for the mixture it may mean 4 (one of each) or 16 (four of each).
    gamma
        ``"gaussian"`` (standard, the experiments) or ``"sphere"`` (the theorems).
    gamma_scale, theta_scale
        Factors of γ and of the standard Gaussian θ; ``theta_scale`` is ``k**-0.5`` by default.
    weight_scale
        Standard deviation of the entries of V and W; ``ambient**-0.5`` by default.
    tau
        With ``gamma="sphere"``: largest inner product allowed between two γ (before the scale).
    norm
        ``"none"`` or ``"divide"`` (each point by its own length); see also :func:`on_sphere`.

    Raises
    ------
    ValueError
        If a name is unknown or a number is out of range.

    Examples
    --------
    >>> family = AnalyticFamily("mixture", ambient=20)
    >>> train, test = family.draw(m=5, n=8), family.draw(m=5, n=2, first_point=8)
    >>> unseen = family.draw(m=3, n=2, first_manifold=5)
    >>> torch.equal(train.gamma, test.gamma), torch.equal(train.V, unseen.V)
    (True, True)
    """

    family: str
    ambient: int = field(kw_only=True)
    s: int = field(default=11, kw_only=True)
    k: int = field(default=11, kw_only=True)
    terms: int = field(default=4, kw_only=True)
    gamma: str = field(default="gaussian", kw_only=True)
    gamma_scale: float = field(default=1.0, kw_only=True)
    theta_scale: float | None = field(default=None, kw_only=True)
    weight_scale: float | None = field(default=None, kw_only=True)
    tau: float | None = field(default=None, kw_only=True)
    norm: str = field(default="none", kw_only=True)
    seed: int = field(default=0, kw_only=True)
    trial: int = field(default=0, kw_only=True)

    def __post_init__(self) -> None:
        checks.choice(self.family, FAMILIES, "family")
        checks.choice(self.gamma, LATENTS, "gamma")
        checks.choice(self.norm, NORMS, "norm")
        _dimensions(self.ambient, self.s, self.k)
        checks.whole(self.terms, "terms", 1)
        if self.family == "mixture" and self.terms % len(MIXED):
            raise ValueError(f"a mixture needs a multiple of 4 terms; you gave {self.terms}.")
        if not all(scale >= 0 and np.isfinite(scale) for scale in self.scales):
            raise ValueError(
                f"the scales of γ, θ and the weights must be 0 or more; you gave {self.scales}."
            )
        if self.tau is not None and self.gamma != "sphere":
            raise ValueError("tau bounds inner products on the sphere; it needs gamma='sphere'.")

    @property
    def scales(self) -> tuple[float, float, float]:
        """The factors of γ, of θ and of the weights."""
        theta = self.k**-0.5 if self.theta_scale is None else self.theta_scale
        weights = self.ambient**-0.5 if self.weight_scale is None else self.weight_scale
        return self.gamma_scale, theta, weights

    @property
    def functions(self) -> tuple[str, ...]:
        """The entrywise function of each term."""
        if self.family == "mixture":
            return tuple(MIXED[i % 4] for i in range(self.terms))
        return (self.family,) * self.terms

    def draw(
        self,
        *,
        m: int,
        n: int,
        first_manifold: int = 0,
        first_point: int = 0,
        dtype: torch.dtype = torch.float64,
    ) -> Manifolds:
        """Draw m manifolds and n points on each, numbered from the given ones on.

        Raises
        ------
        ValueError
            If a number is out of range or the points γ cannot be τ-separated by drawing.

        Examples
        --------
        >>> AnalyticFamily("sine", ambient=4).draw(m=2, n=3).X.shape
        torch.Size([2, 3, 4])
        """
        block = Block(m, n, first_manifold, first_point)
        of_gamma, of_theta, of_weights = self.scales
        rng = generator(self.seed, self.trial, "analytic manifolds")
        maps = of_weights * rng.standard_normal((self.terms, self.ambient, self.s + self.k))
        names = of_gamma * block.gamma(self.seed, self.trial, self.s, self.gamma, self.tau)
        places = of_theta * block.theta(self.seed, self.trial, self.k)
        halves = maps[..., : self.s], maps[..., self.s :]
        return _build(self.family, self.functions, halves, (names, places), self.norm, dtype)


def separated(
    m: int,
    s: int,
    *,
    tau: float,
    seed: int = 0,
    trial: int = 0,
    tries: int = 2000,
) -> Tensor:
    """m points (m, s) on the unit sphere, no two with an inner product above ``tau``.

    Uniform draws, each kept if it is far enough from those before it; the first points are the same
    whatever m is.

    Raises
    ------
    ValueError
        If ``tau`` is not from -1 up to 1, or ``tries`` draws in a row were refused.

    Examples
    --------
    >>> gamma = separated(6, 3, tau=0.3)
    >>> tuple(gamma.shape), bool(separation(gamma) <= 0.3)
    ((6, 3), True)
    """
    checks.whole(m, "m", 1)
    checks.whole(s, "s", 1)
    checks.whole(tries, "tries", 1)
    if not -1 <= tau < 1:
        raise ValueError(f"tau must be from -1 up to 1, not including 1; you gave {tau}.")
    rng = generator(seed, trial, "separated")
    kept = np.empty((0, s))
    while len(kept) < m:
        draws = rng.standard_normal((tries, s))
        draws /= np.linalg.norm(draws, axis=1, keepdims=True)
        added = False
        for draw in draws:
            if len(kept) < m and (kept @ draw <= tau).all():
                kept, added = np.vstack([kept, draw]), True
        if not added:
            raise ValueError(
                f"after {len(kept)} of m = {m} points on the sphere in {s} dimensions, {tries} "
                f"draws in a row came closer than tau = {tau} to one of them."
            )
    return torch.from_numpy(kept)


def separation(gamma: ArrayLike) -> Tensor:
    """The smallest τ (...) for which points (..., m, s) are τ-separated: their largest cosine.

    Raises
    ------
    ValueError
        If there are fewer than two points, or a point is zero.

    Examples
    --------
    >>> separation([[1.0, 0.0], [0.0, 2.0], [-3.0, 0.0]]).item()
    0.0
    """
    gamma = checks.matrices(gamma, "gamma")
    if gamma.shape[-2] < 2:
        raise ValueError(f"separation needs two points or more; the shape is {tuple(gamma.shape)}.")
    length = gamma.norm(dim=-1, keepdim=True)
    if bool((length == 0).any()):
        raise ValueError("separation needs points other than zero; at least one is zero.")
    gram = (gamma / length) @ (gamma / length).mT
    same = torch.eye(gamma.shape[-2], dtype=torch.bool)
    return gram.masked_fill(same, -torch.inf).amax((-2, -1))


def on_sphere(X: ArrayLike, *, radius: float | None = None) -> Tensor:
    """Points (..., d) brought to the unit sphere.

    Without ``radius`` each is divided by its own length, which loses it. With it, all are divided
    by ``radius`` and get one more coordinate that completes them to length one, (..., d + 1): that
    loses nothing, and is the same map for training and held-out points.

    Raises
    ------
    ValueError
        If a point to be divided is zero, or one is longer than ``radius``.

    Examples
    --------
    >>> on_sphere([[3.0, 4.0]]).tolist(), on_sphere([[3.0, 0.0]], radius=5.0).tolist()
    ([[0.6, 0.8]], [[0.6, 0.0, 0.8]])
    """
    X = checks.matrices(X, "X")
    length = X.norm(dim=-1, keepdim=True)
    if radius is None:
        if bool((length == 0).any()):
            raise ValueError("a point at zero has no direction; at least one is zero.")
        return X / length
    if not bool(length.max() <= radius):
        raise ValueError(
            f"radius must be at least the largest length, {float(length.max())}; you gave {radius}."
        )
    X = X / radius
    return torch.cat([X, (1 - X.square().sum(-1, keepdim=True)).clamp_min(0).sqrt()], dim=-1)


def _dimensions(ambient: int, s: int, k: int) -> None:
    for name, value in (("ambient", ambient), ("s", s), ("k", k)):
        checks.whole(value, name, 1)


@dataclass(frozen=True)
class Block:
    """Which manifolds and which points of a family: so many, from these numbers on.

    Raises
    ------
    ValueError
        If ``m`` or ``n`` is no whole number from 1, or a first number none from 0.

    Examples
    --------
    >>> Block(3, 2).theta(0, 0, k=4).shape
    (3, 2, 4)
    """

    m: int
    n: int
    first_manifold: int = 0
    first_point: int = 0

    def __post_init__(self) -> None:
        checks.whole(self.m, "m", 1)
        checks.whole(self.n, "n", 1)
        checks.whole(self.first_manifold, "first_manifold", 0)
        checks.whole(self.first_point, "first_point", 0)

    def gamma(self, seed: int, trial: int, s: int, kind: str, tau: float | None) -> np.ndarray:
        """Names γ (m, s): one stream, in the order of the manifolds."""
        last = self.first_manifold + self.m
        if tau is not None:
            return separated(last, s, tau=tau, seed=seed, trial=trial)[
                self.first_manifold :
            ].numpy()
        draw = generator(seed, trial, "gamma").standard_normal((last, s))[self.first_manifold :]
        return draw / np.linalg.norm(draw, axis=1, keepdims=True) if kind == "sphere" else draw

    def theta(self, seed: int, trial: int, k: int) -> np.ndarray:
        """Standard Gaussian places θ (m, n, k): one stream for each point's number."""
        last = self.first_manifold + self.m
        rows = (
            generator(seed, trial, "theta", i).standard_normal((last, k))[self.first_manifold :]
            for i in range(self.first_point, self.first_point + self.n)
        )
        return np.stack(list(rows), axis=1)


def _build(
    family: str,
    functions: tuple[str, ...],
    maps: tuple[np.ndarray, np.ndarray],
    latents: tuple[np.ndarray, np.ndarray],
    norm: str,
    dtype: torch.dtype,
) -> Manifolds:
    v, w, g, t = (torch.from_numpy(np.ascontiguousarray(A)) for A in (*maps, *latents))
    X = Manifolds(t, g, t, v, w, family, functions, norm).at(g[:, None], t)
    if norm != "none":
        X = on_sphere(X)
    X, g, t, v, w = (A.to(dtype) for A in (X, g, t, v, w))
    return Manifolds(X, g, t, v, w, family, functions, norm)
