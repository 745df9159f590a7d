"""Wide random layers as kernels: dual activations, their power series, random features, q-norms.

For unit vectors x and y at inner product ρ and a standard Gaussian r, the *dual* of a pointwise
activation s is E[s(r·x) s(r·y)], a function of ρ alone. A random layer of width D is
Z = s(RX)/√D with the entries of R standard normal. For a ReLU that is s(CX) with the rows of C from
N(0, I/D), and then ZᵀZ has the dual's Gram matrix as its mean. Activations are not rescaled:
max(t, 0) is the ReLU, and its dual is 1/2 at ρ = 1.

Columns are samples. With ``bias`` a sample x is replaced by (x/√2, 1/√2), so that ρ becomes
(1 + ρ)/2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import comb, factorial, inf, pi, prod, sqrt
from typing import Any, cast

import numpy as np
import torch
from scipy.special import gammaln
from scipy.stats import binom, chi2
from torch import Tensor

from lowdim import checks
from lowdim.checks import ArrayLike
from lowdim.seeds import generator

__all__ = [
    "ACTIVATIONS", "arc_cosine", "dual", "dual_by_quadrature", "feature_variance", "gram",
    "length_tail", "power_series", "q_norm", "random_features", "random_layer", "ridge_norm",
    "rotation_error", "sphere_series", "square_root", "with_bias",
]  # fmt: skip


@dataclass(frozen=True)
class _Kind:
    """An activation, its dual, the degree in which it is homogeneous, and where its series is from.

    ``arc`` is (p, c) if the p-th derivative of the dual is c/√(1 − ρ²); else ``series(k)`` is the
    k-th coefficient as a sympy number.
    """

    value: Callable[[Tensor], Tensor]
    dual: Callable[[np.ndarray], np.ndarray]
    degree: int | None = None
    arc: tuple[int, str] | None = None
    series: Callable[[int], Any] | None = None


def _angle(rho: np.ndarray) -> np.ndarray:
    return np.arccos(np.clip(rho, -1, 1))


def _root(rho: np.ndarray) -> np.ndarray:
    return np.sqrt(np.clip((1 - rho) * (1 + rho), 0, None))


def _arc(order: int, rho: np.ndarray) -> np.ndarray:
    theta = _angle(rho)
    rest = pi - theta
    if order == 0:
        return rest / (2 * pi)
    if order == 1:
        return (_root(rho) + rest * rho) / (2 * pi)
    return (3 * _root(rho) * rho + rest * (1 + 2 * rho**2)) / (2 * pi)


def _over_factorial(k: int, odd: bool | None) -> Any:
    from sympy import Rational

    present = odd is None or k % 2 == odd
    return Rational(1, factorial(k)) if present else Rational(0)


def _erf_coefficient(k: int) -> Any:
    from sympy import Rational
    from sympy import pi as exact_pi

    if k % 2 == 0:
        return Rational(0)
    m = k // 2
    scale = Rational(2, 3) ** k * Rational(comb(2 * m, m), 4**m * k)
    return 2 * scale / exact_pi


def _wave(k: int, odd: bool) -> Any:
    from sympy import E

    return _over_factorial(k, odd) / E


def _exponential(k: int) -> Any:
    from sympy import E

    return E * _over_factorial(k, None)


ACTIVATIONS: dict[str, _Kind] = {
    "relu": _Kind(lambda t: t.clamp_min(0), lambda p: _arc(1, p), 1, (2, "1/(2π)")),
    "step": _Kind(lambda t: (t > 0).to(t.dtype), lambda p: _arc(0, p), 0, (1, "1/(2π)")),
    "abs": _Kind(torch.abs, lambda p: 2 * (_arc(1, p) + _arc(1, -p)), 1, (2, "2/π")),
    "sign": _Kind(torch.sign, lambda p: 1 - 2 * _angle(p) / pi, 0, (1, "2/π")),
    "relu_squared": _Kind(lambda t: t.clamp_min(0) ** 2, lambda p: _arc(2, p), 2),
    "identity": _Kind(lambda t: t, lambda p: p, 1, series={1: 1}.get),
    "square": _Kind(torch.square, lambda p: 1 + 2 * p**2, 2, series={0: 1, 2: 2}.get),
    "exponential": _Kind(torch.exp, lambda p: np.exp(1 + p), series=_exponential),
    "sin": _Kind(torch.sin, lambda p: np.sinh(p) / np.e, series=lambda k: _wave(k, True)),
    "cos": _Kind(torch.cos, lambda p: np.cosh(p) / np.e, series=lambda k: _wave(k, False)),
    "erf": _Kind(torch.erf, lambda p: 2 / pi * np.arcsin(2 * p / 3), series=_erf_coefficient),
}  # fmt: skip


def _kind(name: str) -> _Kind:
    return ACTIVATIONS[checks.choice(name, ACTIVATIONS, "activation")]


def _cosines(rho: ArrayLike) -> np.ndarray:
    values = rho.detach().numpy() if isinstance(rho, Tensor) else np.asarray(rho, dtype=float)
    if not (np.abs(values) <= 1 + 1e-9).all():
        raise ValueError(
            "rho must lie between -1 and 1; its largest absolute value is "
            f"{np.abs(values).max():.6g}."
        )
    return np.clip(values.astype(float), -1, 1)


def _like(values: np.ndarray, given: ArrayLike) -> Any:
    if isinstance(given, Tensor):
        return torch.as_tensor(values)
    return values if values.ndim else float(values)


def dual(name: str) -> Callable[[Any], Any]:
    """The dual activation in closed form, a function of the inner product ρ of unit vectors.

    The function takes a number, an array or a tensor of any shape, and gives back the same kind.

    Raises
    ------
    ValueError
        If the name is unknown; the function refuses values outside [-1, 1].

    Examples
    --------
    >>> round(dual("relu")(1.0), 12), round(dual("step")(0.0), 12)
    (0.5, 0.25)
    """
    kind = _kind(name)
    return lambda rho: _like(np.asarray(kind.dual(_cosines(rho))), rho)


def arc_cosine(order: int, rho: ArrayLike) -> Any:
    """E[s(r·x) s(r·y)] for s(t) = max(t, 0)^order, order 0, 1 or 2: the arc-cosine kernels, halved.

    ``rho`` is a number, an array or a tensor; the answer is of the same kind.

    Raises
    ------
    ValueError
        If ``order`` is not 0, 1 or 2, or ``rho`` leaves [-1, 1].

    Examples
    --------
    >>> round(arc_cosine(2, 1.0), 12)
    1.5
    """
    checks.choice(order, (0, 1, 2), "order")
    return _like(np.asarray(_arc(order, _cosines(rho))), rho)


def feature_variance(rho: ArrayLike) -> Any:
    """Var[s(r·x) s(r·y)] for the ReLU s and unit vectors at inner product ρ.

    An entry of ZᵀZ, Z the features of a random ReLU layer of width D, has this variance over D.

    Raises
    ------
    ValueError
        If ``rho`` leaves [-1, 1].

    Examples
    --------
    >>> round(feature_variance(1.0), 12)
    1.25
    """
    p = _cosines(rho)
    return _like(np.asarray(_arc(2, p) - _arc(1, p) ** 2), rho)


def dual_by_quadrature(
    function: Callable[[np.ndarray], np.ndarray],
    rho: ArrayLike,
    *,
    nodes: int = 64,
    kink: bool = False,
) -> Any:
    """The dual of any pointwise function of an array, by quadrature.

    A product Gauss–Hermite rule of ``nodes``² points, for functions that are smooth and grow at
    most like a polynomial or a slow exponential. With ``kink`` the plane is cut where a sign
    changes and integrated in polar coordinates, which is as precise for functions with one kink or
    jump, at zero (ReLU, step).

    Raises
    ------
    ValueError
        If ``nodes`` is not a whole number of 2 or more, or ``rho`` leaves [-1, 1].

    Examples
    --------
    >>> round(dual_by_quadrature(np.sin, 0.5) - dual("sin")(0.5), 12) == 0
    True
    >>> relu = lambda t: np.maximum(t, 0)
    >>> abs(dual_by_quadrature(relu, 0.5, kink=True) - dual("relu")(0.5)) < 1e-12
    True
    """
    checks.whole(nodes, "nodes", 2)
    p = _cosines(rho)
    rule = _polar if kink else _product
    values = np.array([rule(function, float(x), nodes) for x in p.ravel()]).reshape(p.shape)
    return _like(values, rho)


def _product(function: Callable[[np.ndarray], np.ndarray], rho: float, nodes: int) -> float:
    t, w = np.polynomial.hermite_e.hermegauss(nodes)
    w = w / w.sum()
    u = t[:, None]
    v = rho * u + sqrt(max(1 - rho * rho, 0.0)) * t
    return float(w @ (function(np.broadcast_to(u, v.shape)) * function(v)) @ w)


def _polar(function: Callable[[np.ndarray], np.ndarray], rho: float, nodes: int) -> float:
    t, w = np.polynomial.legendre.leggauss(nodes)
    radius, mass = 6 * (t + 1), 6 * w
    mass = mass * radius * np.exp(-(radius**2) / 2) / (2 * pi)
    theta = float(_angle(np.asarray(rho)))
    cuts = np.sort(np.mod([pi / 2, -pi / 2, theta + pi / 2, theta - pi / 2], 2 * pi))
    cuts = np.append(cuts, cuts[0] + 2 * pi)
    total = 0.0
    for low, high in pairwise(cuts):
        phi = (low + high) / 2 + (high - low) / 2 * t
        u, v = np.outer(radius, np.cos(phi)), np.outer(radius, np.cos(phi - theta))
        total += float(mass @ (function(u) * function(v)) @ w) * (high - low) / 2
    return total


def power_series(name: str, order: int, *, bias: bool = False, exact: bool = False) -> Any:
    """Coefficients 0..order of the dual in powers of ρ, as an array, or exactly with ``exact``.

    With ``bias``, of the dual at (1 + ρ)/2 in powers of ρ. Exact coefficients are a list of sympy
    numbers.

    Raises
    ------
    ValueError
        If the name is unknown or has no series here (``relu_squared``), or ``order`` is not a
        whole number of 0 or more.

    Examples
    --------
    >>> power_series("relu", 6, exact=True)
    [1/(2*pi), 1/4, 1/(4*pi), 0, 1/(48*pi), 0, 1/(160*pi)]
    >>> power_series("relu", 3, bias=True, exact=True)
    [sqrt(3)/(4*pi) + 1/6, 1/6, sqrt(3)/(24*pi), sqrt(3)/(216*pi)]
    """
    kind = _kind(name)
    checks.whole(order, "order", 0)
    if kind.arc is None and kind.series is None:
        raise ValueError(f"no power series is known here for {name!r}.")
    if kind.arc is not None:
        found = _arc_series(kind, order, bias, exact)
        return found if exact else np.array(found, dtype=float)
    if bias:
        found = _shifted(name, order)
    else:
        assert kind.series is not None  # each activation has one of the three
        found = [kind.series(k) or 0 for k in range(order + 1)]
    if exact:
        from sympy import sympify

        return [sympify(c) for c in found]
    return np.array([float(c) for c in found])


def _roots(order: int, bias: bool, one: Any, a: int = 3) -> list[Any]:
    """Coefficients of 1/√(1 − ρ²); with bias those of √a/√(a − 2ρ − ρ²), rational too."""
    u = [one]
    for n in range(order):
        before = n * u[n - 1] if n else 0 * one
        u.append(((2 * n + 1) * u[n] + before) / (a * (n + 1)) if bias else before / (n + 1))
    return u


def _arc_series(kind: _Kind, order: int, bias: bool, exact: bool) -> list[Any]:
    """Integrate c/√(1 − ρ²), at ρ or at (1 + ρ)/2, once or twice."""
    import sympy

    assert kind.arc is not None
    p, name = kind.arc
    at = sympy.Rational(1, 2) if bias else sympy.Integer(0)
    if name == "1/(2π)":
        c, slope = 1 / (2 * sympy.pi), (1 - sympy.acos(at) / sympy.pi) / 2
    else:
        c, slope = 2 / sympy.pi, 2 * sympy.asin(at) / sympy.pi
    start = [slope] if p == 1 else [c * sympy.sqrt(1 - at**2) + slope * at, slope]
    scale = c
    if bias:
        start = [value / 2**k for k, value in enumerate(start)]
        scale = c * 2 / sympy.sqrt(3) / 2**p
    u = _roots(max(order - p, 0), bias, sympy.Integer(1) if exact else 1.0)
    if not exact:
        start, scale = [float(x) for x in start], float(scale)
    tail = [scale * u[k - p] / (k if p == 1 else k * (k - 1)) for k in range(p, order + 1)]
    return (start + tail)[: order + 1]


def _shifted(name: str, order: int) -> list:
    """Coefficients of f((1 + ρ)/2) for the entire duals and for erf's, exactly."""
    from sympy import E, Integer, Rational, asin, cosh, exp, pi, sinh, sqrt

    half = Rational(1, 2)
    if name == "erf":
        u = _roots(order, True, Integer(1), 8)
        rest = [2 * u[k - 1] / (pi * sqrt(8) * k) for k in range(1, order + 1)]
        return [2 * asin(Rational(1, 3)) / pi, *rest]
    short = {"identity": [half, half], "square": [Rational(3, 2), Integer(1), half]}
    if name in short:
        return [*short[name], *[Integer(0)] * order][: order + 1]
    pair = {
        "exponential": (exp(half) * E, exp(half) * E),
        "sin": (sinh(half) / E, cosh(half) / E),
        "cos": (cosh(half) / E, sinh(half) / E),
    }[name]
    return [pair[k % 2] * half**k / factorial(k) for k in range(order + 1)]


def with_bias(X: ArrayLike) -> Tensor:
    """(x/√2, 1/√2) for each column x: (..., d, N) to (..., d + 1, N); unit columns stay unit.

    Raises
    ------
    ValueError
        If ``X`` is not a stack of finite matrices.

    Examples
    --------
    >>> with_bias([[1.0], [0.0]]).square().flatten().round(decimals=12).tolist()
    [0.5, 0.0, 0.5]
    """
    X = checks.matrices(X, "X")
    return torch.cat([X, torch.ones_like(X[..., :1, :])], -2) / sqrt(2)


def gram(
    X: ArrayLike, Y: ArrayLike | None = None, *, activation: str = "relu", bias: bool = False
) -> Tensor:
    """The infinite-width Gram matrix (..., N, M) of the columns of X (..., d, N) and Y (..., d, M).

    Homogeneous activations (ReLU, step, abs, sign, identity and squares) take columns of any
    length but zero; the others need unit columns. ``Y`` is ``X`` unless given.

    Raises
    ------
    ValueError
        If columns are zero, or not of unit length where they must be, or the name is unknown.

    Examples
    --------
    >>> gram([[1.0, 0.0], [0.0, 2.0]]).diagonal().round(decimals=12).tolist()
    [0.5, 2.0]
    """
    kind = _kind(activation)
    pair = [checks.matrices(A, n) for A, n in ((X, "X"), (X if Y is None else Y, "Y"))]
    if bias:
        pair = [with_bias(A) for A in pair]
    if pair[0].shape[-2] != pair[1].shape[-2]:
        raise ValueError(
            "X and Y need columns of one dimension; their shapes are "
            f"{tuple(pair[0].shape)} and {tuple(pair[1].shape)}."
        )
    lengths = [A.norm(dim=-2) for A in pair]
    smallest = min(float(a.min()) for a in lengths)
    if smallest == 0:
        raise ValueError("a kernel of directions needs columns that are not zero; one is.")
    if kind.degree is None and max(float((a - 1).abs().max()) for a in lengths) > 1e-9:
        raise ValueError(f"the dual of {activation!r} needs columns of length one.")
    A, B = (A / a[..., None, :] for A, a in zip(pair, lengths, strict=True))
    cosines = (A.mT @ B).clamp(-1, 1).to(torch.float64)
    K = cast(Tensor, dual(activation)(cosines)).to(A.dtype)
    if kind.degree:
        K = K * (lengths[0][..., :, None] * lengths[1][..., None, :]) ** kind.degree
    return K


def random_layer(width: int, inputs: int, *, seed: int, trials: int | None = None) -> Tensor:
    """Weights C (width, inputs), or (trials, width, inputs), with rows from N(0, I/width).

    Trial t is the same in every batch that holds it, and is what no ``trials`` gives for t = 0.

    Raises
    ------
    ValueError
        If a size is not a whole number of 1 or more.

    Examples
    --------
    >>> random_layer(5, 3, seed=0).shape, random_layer(5, 3, seed=0, trials=2).shape
    (torch.Size([5, 3]), torch.Size([2, 5, 3]))
    """
    for value, name in ((width, "width"), (inputs, "inputs")):
        checks.whole(value, name, 1)
    many = 1 if trials is None else checks.whole(trials, "trials", 1)
    draws = [generator(seed, t, "features").standard_normal((width, inputs)) for t in range(many)]
    C = torch.from_numpy(np.stack(draws)) / sqrt(width)
    return C[0] if trials is None else C


def random_features(
    X: ArrayLike,
    width: int,
    *,
    seed: int,
    activation: str = "relu",
    bias: bool = False,
    trials: int | None = None,
) -> Tensor:
    """Features Z (width, N) of the columns of X (d, N) under a random layer, or (trials, width, N).

    Z = s(RX)/√width with R standard normal, so that the mean of ZᵀZ is ``gram(X)``. For the ReLU
    this is s(CX) with C from :func:`random_layer` under the same seed.

    Raises
    ------
    ValueError
        If ``X`` is not one matrix, a size is not 1 or more, or the activation is unknown.

    Examples
    --------
    >>> X = torch.eye(3, dtype=torch.float64)
    >>> Z = random_features(X, 20000, seed=0)
    >>> bool((Z.mT @ Z - gram(X)).abs().max() < 0.02)
    True
    """
    kind = _kind(activation)
    X = checks.matrices(X, "X")
    if X.ndim != 2:
        raise ValueError(f"X must be one matrix (d, N); its shape is {tuple(X.shape)}.")
    X = with_bias(X) if bias else X
    C = random_layer(width, X.shape[0], seed=seed, trials=trials)
    return kind.value(sqrt(width) * (C @ X.to(torch.float64))) / sqrt(width)


def length_tail(width: int, level: ArrayLike) -> Any:
    """P(‖s(Cx)‖² > level) for a unit vector x and a random ReLU layer of that width, exactly.

    The number of active units is binomial, and given it width·‖s(Cx)‖² is chi-squared. ``level``
    is a number or an array; so is the answer.

    Raises
    ------
    ValueError
        If ``width`` is not a whole number of 1 or more.

    Examples
    --------
    >>> round(length_tail(1, 0.0), 12)
    0.5
    """
    checks.whole(width, "width", 1)
    reach = 9 * sqrt(width) / 2 + 40
    low, high = max(0, int(width / 2 - reach)), min(width, int(width / 2 + reach) + 1)
    active = np.arange(low, high + 1)
    weights = binom.pmf(active, width, 0.5)
    levels = np.asarray(level, dtype=float)
    tails = chi2.sf(width * levels[..., None], np.maximum(active, 1))
    tails = np.where(active == 0, levels[..., None] < 0, tails)
    return _like(np.asarray(tails @ weights), level)


def square_root(K: ArrayLike) -> Tensor:
    """The symmetric square root (..., N, N) of positive semidefinite matrices.

    Raises
    ------
    ValueError
        If ``K`` is not a stack of finite matrices.

    Examples
    --------
    >>> square_root([[4.0, 0.0], [0.0, 9.0]]).diagonal().tolist()
    [2.0, 3.0]
    """
    values, vectors = torch.linalg.eigh(checks.matrices(K, "K"))
    return (vectors * values.clamp_min(0).sqrt()[..., None, :]) @ vectors.mT


def rotation_error(Z: ArrayLike, K: ArrayLike) -> Tensor:
    """The least ‖Z − UΦ‖_F (...,) over matrices U with orthonormal columns, for any Φ with ΦᵀΦ = K.

    Z is (..., D, N), K (..., N, N) positive semidefinite; where D < N rows of zeros are added
    to Z.

    Raises
    ------
    ValueError
        If shapes do not fit.

    Examples
    --------
    >>> Z = torch.tensor([[0.0, 1.0], [1.0, 0.0], [0.0, 0.0]], dtype=torch.float64)
    >>> rotation_error(Z, Z.mT @ Z).item() < 1e-12
    True
    """
    Z, K = checks.matrices(Z, "Z"), checks.matrices(K, "K")
    if K.shape[-1] != K.shape[-2] or K.shape[-1] != Z.shape[-1]:
        raise ValueError(
            f"Z must be (D, N) and K (N, N); their shapes are {tuple(Z.shape)} "
            f"and {tuple(K.shape)}."
        )
    missing = Z.shape[-1] - Z.shape[-2]
    if missing > 0:
        Z = torch.cat([Z, Z.new_zeros(*Z.shape[:-2], missing, Z.shape[-1])], -2)
    R = torch.linalg.qr(Z, mode="r").R
    root = square_root(K)
    left, _, right = torch.linalg.svd(R @ root)
    return torch.linalg.matrix_norm(R - left @ right @ root)


def q_norm(
    polynomial: Mapping[Any, Any],
    *,
    activation: str = "relu",
    bias: bool = True,
    exact: bool = False,
) -> Any:
    """√(Σ p_J²/q_J), q_J the coefficient of x^J y^J in the dual of x·y (with bias, of (1 + x·y)/2).

    ``polynomial`` maps exponents J, tuples of one length, to coefficients. This is the length of
    the shortest vector of weights on monomials that gives the polynomial; infinite if a monomial
    is missing from the kernel. With ``exact`` the answer is a sympy number.

    Raises
    ------
    ValueError
        If exponents are not tuples of one length with whole numbers of 0 or more.

    Examples
    --------
    >>> q_norm({(1, 0): 1}, exact=True), q_norm({(3,): 1}, bias=False)
    (sqrt(6), inf)
    """
    powers = list(polynomial)
    lengths = {len(J) for J in powers if isinstance(J, tuple)}
    if not powers or len(lengths) != 1 or not all(isinstance(J, tuple) for J in powers):
        raise ValueError(
            "a polynomial maps tuples of exponents, all of one length, to coefficients; "
            f"you gave {powers[:3]!r}."
        )
    for J in powers:
        for j in J:
            checks.whole(j, "an exponent", 0)
    q = power_series(activation, max(map(sum, powers)), bias=bias, exact=exact)
    total = 0
    for J, value in polynomial.items():
        ways = factorial(sum(J)) // prod(map(factorial, J))
        if value == 0:
            continue
        if q[sum(J)] == 0:
            return inf
        total += value * value / (q[sum(J)] * ways)
    if exact:
        from sympy import simplify
        from sympy import sqrt as root

        return root(simplify(total))
    return sqrt(total)


def _spread(j: np.ndarray, degree: int, dimension: int) -> np.ndarray:
    """Coefficient of P_degree in t^j on the sphere in ``dimension`` dimensions, P(1) = 1."""
    d, m = dimension, (j - degree) / 2
    if degree == 0:
        count = 0.0
    elif d == 2:
        count = np.log(2.0)
    else:
        count = (
            np.log(2 * degree + d - 2) + gammaln(degree + d - 2) - gammaln(degree + 1)
            - gammaln(d - 1)
        )  # fmt: skip
    logs = (
        count + gammaln(j + 1) - gammaln(2 * m + 1) - degree * np.log(2.0) + gammaln(d / 2)
        + gammaln(m + 0.5) - 0.5 * np.log(pi) - gammaln(m + degree + d / 2)
    )  # fmt: skip
    return np.exp(logs)


def _beyond(q: np.ndarray, last: int, degree: int, dimension: int) -> float:
    """Sum of q_j times the coefficient of P_degree in t^j over j = last + 2, last + 4, ...

    For q_j = A j^(-p) (1 + c/j), p, A and c read off q itself; midpoint rule for the sum, then a
    Gauss rule on j = (last + 1)/s², s from 0 to 1.
    """
    ends = np.array([last, last - 2 * (last // 8), last - 2 * (last // 4)])
    rows = np.stack([np.ones(3), -np.log(ends), 1 / ends], 1)
    log_scale, power, slope = np.linalg.solve(rows, np.log(q[ends]))
    t, w = np.polynomial.legendre.leggauss(120)
    s = (t + 1) / 2
    j = (last + 1) / s**2
    series = np.exp(log_scale - power * np.log(j) + slope / j)
    return float((w * (last + 1) / s**3 * series * _spread(j, degree, dimension)).sum() / 2)


def sphere_series(name: str, dimension: int, degree: int, *, bias: bool = False) -> np.ndarray:
    """Coefficients 0..degree of the dual in the Gegenbauer polynomials of a sphere, P_l(1) = 1.

    The sphere is that of unit vectors in ``dimension`` dimensions, 2 or more. All coefficients are
    sums of products of positive numbers, summed directly to twice ``degree`` and 2000 at least and
    by an integral beyond: relative errors are below 1e-6.

    Raises
    ------
    ValueError
        If a size is too small, or the dual has no series here.

    Examples
    --------
    >>> kappa = sphere_series("relu", 2, 3)
    >>> np.allclose(kappa, [2 / np.pi**2, 1 / 4, 4 / (9 * np.pi**2), 0])
    True
    """
    checks.whole(dimension, "dimension", 2)
    checks.whole(degree, "degree", 0)
    endless = _kind(name).arc is not None
    terms = max(2000, 2 * degree) if endless else degree + 160
    q = power_series(name, terms, bias=bias)
    found = []
    for k in range(degree + 1):
        j = np.arange(k, terms + 1, 2)
        total = q[j] @ _spread(j.astype(float), k, dimension)
        if endless and q[j[-1]] > 0:
            total += _beyond(q, int(j[-1]), k, dimension)
        found.append(total)
    return np.array(found)


def ridge_norm(
    coefficients: ArrayLike, dimension: int, *, activation: str = "relu", bias: bool = True
) -> Any:
    """Least ‖a‖ with E[a(r) s(r·x)] = Σ a_k (β·x)^k for all unit x, where β is a unit vector.

    ``coefficients`` (n + 1,) are the a_k, or (B, n + 1) for B functions; ``dimension`` is that of
    x, 2 or more. The answer, a number or (B,), is the norm of the function in the reproducing
    space of the kernel on the sphere: at most what :func:`q_norm` gives, since on a sphere a
    function has many polynomials. Infinite if a harmonic is missing from the kernel.

    Raises
    ------
    ValueError
        If there are no coefficients, or ``dimension`` is below 2.

    Examples
    --------
    >>> ridge_norm([0, 0, 1], 3) < q_norm({(2, 0, 0): 1})
    True
    """
    a = np.asarray(coefficients, dtype=float)
    if a.ndim not in (1, 2) or a.size == 0:
        raise ValueError(f"coefficients must be (n + 1,) or (B, n + 1); their shape is {a.shape}.")
    rows = np.atleast_2d(a)
    top = rows.shape[1] - 1
    kappa = sphere_series(activation, dimension, top, bias=bias)
    harmonics = np.zeros_like(rows)
    for k in range(top + 1):
        j = np.arange(k, top + 1, 2)
        harmonics[:, k] = rows[:, j] @ _spread(j.astype(float), k, dimension)
    small = 1e-13 * np.abs(rows).max(1)
    kept = kappa > 0
    norms = np.sqrt((harmonics[:, kept] ** 2 / kappa[kept]).sum(1))
    norms[(np.abs(harmonics[:, ~kept]) > small[:, None]).any(1)] = inf
    return norms if a.ndim == 2 else float(norms[0])
