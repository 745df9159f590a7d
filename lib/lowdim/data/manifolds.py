r"""Manifolds with a name and a place on them: points :math:`x=f(\gamma,\theta)` of Part IV.

:math:`\gamma\in\mathbb R^s` says which manifold, :math:`\theta\in\mathbb R^k` where on it, and all
manifolds share one analytic map

.. math:: f(\gamma,\theta)=\sum_i\varphi_i(V_i\gamma+W_i\theta),\qquad \varphi_i\text{ entrywise.}

One term with the identity is a linear manifold :math:`P\gamma+Q\theta`; four terms with the sine,
the cosine, the exponential or a logarithm are the synthetic data of the paper's experiments.

The maps, the latents of manifold j and the place of point i are drawn from streams of their own:
the same ``seed`` and ``trial`` with ``first_manifold`` and ``first_point`` moved on give held-out
manifolds and held-out points of the same family.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

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
        >>> D = analytic_manifolds("sine", m=2, n=3, ambient=4)
        >>> torch.equal(D.at(D.gamma[:, None], D.theta), D.X)
        True
        """
        total = torch.zeros((), dtype=gamma.dtype)
        for name, V, W in zip(self.functions, self.V, self.W, strict=True):
            total = total + FUNCTIONS[name](gamma @ V.mT + theta @ W.mT)
        return total


def linear_manifolds(
    *,
    m: int,
    n: int,
    ambient: int,
    s: int = 3,
    k: int = 2,
    spread: float = 1.0,
    tau: float | None = None,
    theta: str = "sphere",
    orthogonal: bool = True,
    norm: str = "none",
    seed: int = 0,
    trial: int = 0,
    first_manifold: int = 0,
    first_point: int = 0,
    dtype: torch.dtype = torch.float64,
) -> Manifolds:
    r"""Draw linear manifolds :math:`x=P\gamma+Q\theta`, with :math:`\gamma` on the unit sphere.

    P and Q have orthonormal columns over :math:`\sqrt{1+t^2}` and t over the same, with
    t = ``spread``; with ``orthogonal`` (the paper's :math:`P\gamma\perp Q\theta`) their ranges are
    orthogonal too, and then :math:`\|x\|=1` if :math:`\theta` is drawn on the sphere.

    Parameters
    ----------
    m, n
        Manifolds, and points on each.
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
        If a number is out of range or the m points γ cannot be τ-separated by drawing.

    Examples
    --------
    >>> D = linear_manifolds(m=4, n=5, ambient=8, tau=0.5)
    >>> tuple(D.X.shape), tuple(D.gamma.shape), tuple(D.theta.shape)
    ((4, 5, 8), (4, 3), (4, 5, 2))
    >>> bool((D.X.norm(dim=-1) - 1).abs().max() < 1e-12), bool(separation(D.gamma) <= 0.5)
    (True, True)
    """
    _counts(m, n, ambient, s, k, first_manifold, first_point)
    checks.choice(theta, LATENTS, "theta")
    if not (spread >= 0 and np.isfinite(spread)):
        raise ValueError(f"spread must be 0 or more; you gave {spread}.")
    if s + (k if orthogonal else 0) > ambient or max(s, k) > ambient:
        raise ValueError(
            f"P and Q with {s} and {k} columns do not fit into ambient = {ambient} dimensions"
            f"{' with orthogonal ranges' if orthogonal else ''}."
        )
    rng = generator(seed, trial, "linear manifolds")
    draw = rng.standard_normal((ambient, s + k))
    if orthogonal:
        draw = np.linalg.qr(draw)[0]
    else:
        draw = np.hstack([np.linalg.qr(draw[:, :s])[0], np.linalg.qr(draw[:, s:])[0]])
    scale = (1 + spread**2) ** -0.5
    P, Q = scale * draw[:, :s], scale * spread * draw[:, s:]
    if tau is None:
        names = _gamma(seed, trial, first_manifold, m, s, "sphere", 1.0)
    else:
        apart = separated(first_manifold + m, s, tau=tau, seed=seed, trial=trial)
        names = apart[first_manifold:].numpy()
    places = _theta(seed, trial, first_manifold, m, first_point, n, k)
    if theta == "sphere":
        places = places / np.linalg.norm(places, axis=-1, keepdims=True)
    else:
        places = places * k**-0.5
    return _build("linear", ("identity",), P[None], Q[None], names, places, norm, dtype)


def analytic_manifolds(
    family: str,
    *,
    m: int,
    n: int,
    ambient: int,
    s: int = 11,
    k: int = 11,
    terms: int = 4,
    gamma: str = "gaussian",
    gamma_scale: float = 1.0,
    theta_scale: float | None = None,
    weight_scale: float | None = None,
    tau: float | None = None,
    norm: str = "none",
    seed: int = 0,
    trial: int = 0,
    first_manifold: int = 0,
    first_point: int = 0,
    dtype: torch.dtype = torch.float64,
) -> Manifolds:
    r"""Draw one of the paper's five families, :math:`x=\sum_i\varphi_i(V_i\gamma+W_i\theta)`.

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
        If a name is unknown, a number is out of range, or the γ cannot be τ-separated.

    Examples
    --------
    >>> train = analytic_manifolds("mixture", m=5, n=8, ambient=20)
    >>> test = analytic_manifolds("mixture", m=5, n=2, ambient=20, first_point=8)
    >>> unseen = analytic_manifolds("mixture", m=3, n=2, ambient=20, first_manifold=5)
    >>> torch.equal(train.gamma, test.gamma), torch.equal(train.V, unseen.V)
    (True, True)
    """
    checks.choice(family, FAMILIES, "family")
    checks.choice(gamma, LATENTS, "gamma")
    _counts(m, n, ambient, s, k, first_manifold, first_point)
    checks.whole(terms, "terms", 1)
    if family == "mixture" and terms % len(MIXED):
        raise ValueError(f"a mixture needs a multiple of 4 terms; you gave {terms}.")
    theta_scale = k**-0.5 if theta_scale is None else theta_scale
    weight_scale = ambient**-0.5 if weight_scale is None else weight_scale
    scales = (gamma_scale, theta_scale, weight_scale)
    if not all(scale >= 0 and np.isfinite(scale) for scale in scales):
        raise ValueError(
            f"the scales of γ, θ and the weights must be 0 or more; you gave {scales}."
        )
    if tau is not None and gamma != "sphere":
        raise ValueError("tau bounds inner products on the sphere; it needs gamma='sphere'.")
    rng = generator(seed, trial, "analytic manifolds")
    maps = weight_scale * rng.standard_normal((terms, ambient, s + k))
    if tau is None:
        names = _gamma(seed, trial, first_manifold, m, s, gamma, gamma_scale)
    else:
        apart = separated(first_manifold + m, s, tau=tau, seed=seed, trial=trial)
        names = gamma_scale * apart[first_manifold:].numpy()
    places = theta_scale * _theta(seed, trial, first_manifold, m, first_point, n, k)
    kinds = tuple(MIXED[i % 4] for i in range(terms)) if family == "mixture" else (family,) * terms
    return _build(family, kinds, maps[..., :s], maps[..., s:], names, places, norm, dtype)


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


def _counts(
    m: int, n: int, ambient: int, s: int, k: int, first_manifold: int, first_point: int
) -> None:
    for name, value in (("m", m), ("n", n), ("ambient", ambient), ("s", s), ("k", k)):
        checks.whole(value, name, 1)
    checks.whole(first_manifold, "first_manifold", 0)
    checks.whole(first_point, "first_point", 0)


def _gamma(
    seed: int, trial: int, first: int, m: int, s: int, kind: str, scale: float
) -> np.ndarray:
    """γ of manifolds first … first + m − 1, (m, s): one stream, in the order of the manifolds."""
    draw = generator(seed, trial, "gamma").standard_normal((first + m, s))[first:]
    if kind == "sphere":
        draw = draw / np.linalg.norm(draw, axis=1, keepdims=True)
    return scale * draw


def _theta(
    seed: int, trial: int, first_manifold: int, m: int, first_point: int, n: int, k: int
) -> np.ndarray:
    """Standard Gaussian θ, (m, n, k): one stream for each point's number."""
    rows = (
        generator(seed, trial, "theta", i).standard_normal((first_manifold + m, k))[first_manifold:]
        for i in range(first_point, first_point + n)
    )
    return np.stack(list(rows), axis=1)


def _build(
    family: str,
    functions: tuple[str, ...],
    V: np.ndarray,
    W: np.ndarray,
    gamma: np.ndarray,
    theta: np.ndarray,
    norm: str,
    dtype: torch.dtype,
) -> Manifolds:
    checks.choice(norm, NORMS, "norm")
    g, t, v, w = (torch.from_numpy(np.ascontiguousarray(A)) for A in (gamma, theta, V, W))
    X = Manifolds(t, g, t, v, w, family, functions, norm).at(g[:, None], t)
    if norm != "none":
        X = on_sphere(X)
    X, g, t, v, w = (A.to(dtype) for A in (X, g, t, v, w))
    return Manifolds(X, g, t, v, w, family, functions, norm)
