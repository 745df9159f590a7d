r"""The phase transition of shortcuts, step by step: each quantity of its proof at a minimum.

Four points :math:`(\pm g,\pm a)` of the circle, as in :mod:`lowdim.hashing.shortcuts`. At every g,
not in the limit only, stationarity ties the outputs c along γ' and d along θ' to the angle φ of
what is read, and both to V(r). With q = p(1-p), :math:`t=g\sqrt\beta`, x = t(1 - c),
:math:`gV(r)\le q(2p-1)\,x\sqrt{1-(xq/\varepsilon)^2}` up to the even part, which is of order g.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from lowdim.hashing import kernels, minima

READ = 1e-4  # below it, outputs are zero up to the accuracy of a minimum

__all__ = ["Place", "at", "cases", "exact", "norms", "sines", "variances"]


class Place(NamedTuple):
    """What is measured at a minimum: the data, outputs c and d, the sums of outputs, V, norms.

    even, odd: parts of V(r); sums: 1ᵀŷ on majority and minority; even_norm: the norm of the even
    part of W; nuclear: that of W.
    """

    p: float
    epsilon: float
    g: float
    beta: float
    c: float
    d: float
    sums: tuple[float, float]
    variance: float
    even: float
    odd: float
    even_norm: float
    nuclear: float

    @property
    def a(self) -> float:
        """The length of θ'."""
        return math.sqrt(1 - self.g**2)

    @property
    def q(self) -> float:
        """p(1-p)."""
        return self.p * (1 - self.p)

    @property
    def t(self) -> float:
        """g√β, which tends to 1."""
        return self.g * math.sqrt(self.beta)

    @property
    def root(self) -> float:
        """√(c² + g²d²/a²)."""
        return math.hypot(self.c, self.g * self.d / self.a)


def _within(values: Tensor, copies: int) -> float:
    parts = values.unflatten(1, (2, copies))
    return float((parts - parts.mean(2, keepdim=True)).square().sum() / (2 * copies))


def at(g: float, level: float, *, many: int = 18, copies: int = 20) -> Place:
    """The minimum with p = many/copies and ε = ``level`` · p(1-p), and what the proof uses of it.

    Examples
    --------
    >>> found = at(0.1, 2.0)
    >>> abs(found.variance / (found.even + found.odd) - 1) < 1e-6
    True
    """
    fit = minima.two_manifolds(g, many=many, copies=copies, level=level)
    here, there = (fit.C @ kernels.gram(fit.X, X) for X in (fit.X, -fit.X))
    y = fit.A @ here
    gap = y[0] - y[1]
    sums = (float(y[:, 0].sum()), float(y[:, many].sum()))
    points = fit.X[:, [0, many]]
    even = (kernels.gram(points) + kernels.gram(points, -points)) / 2
    f = torch.tensor(sums, dtype=torch.float64) / math.sqrt(2)
    return Place(
        many / copies, 2 * fit.lam1, g, 2 * fit.lam1 / fit.lam2,
        float(gap[0] + gap[many]) / 2, float(gap[0] - gap[many]) / 2, sums,
        _within(here, copies), _within((here + there) / 2, copies),
        _within((here - there) / 2, copies), float(f @ torch.linalg.solve(even, f)) ** 0.5,
        float(fit.singular.sum()),
    )  # fmt: skip


def cases(draws: int, rng: np.random.Generator) -> list[Place]:
    """Minima to climb on: random p, ε and g, edges, and a search for a tight chain.

    Where g is large and ε too, nothing odd is read; those minima are left out.

    Examples
    --------
    >>> all(found.root > 0 for found in cases(1, np.random.default_rng(0)))
    True
    """
    found = []
    for _ in range(6 * draws):
        g, level = np.exp(rng.uniform(np.log([0.003, 0.2]), np.log([0.9, 5.0])))
        found.append(at(float(g), float(level), many=int(rng.integers(11, 20))))
    edges = [(0.97, 2.0, 18), (0.001, 2.0, 18), (0.001, 0.5, 18), (0.1, 0.99, 18), (0.1, 1.01, 18)]
    edges += [(0.03, 1.5, 11), (0.03, 1.5, 19), (0.03, 0.7, 11)]
    found += [at(g, level, many=many) for g, level, many in edges]
    spot, tight = np.log([0.3, 2.0]), 0.0
    for _ in range(8 * draws):
        near = spot + rng.normal(0, 0.3, 2)
        near[0] = min(near[0], math.log(0.97))
        g, level = np.exp(near)
        found.append(at(float(g), float(level), many=int(rng.integers(11, 20))))
        if found[-1].root > READ and max(found[-1].sums) > READ:
            first, *_, last = variances(found[-1:])[:, 0].tolist()
            spot, tight = (near, first / last) if first / last > tight else (spot, tight)
    return [place for place in found if place.root > READ and max(place.sums) > READ]


def variances(places: Sequence[Place]) -> Tensor:
    """V(r) and the five quantities that the proof puts beside and above it, (6, instances).

    Examples
    --------
    >>> rungs = variances([at(0.1, 2.0)])[:, 0]
    >>> bool((rungs.diff() > -1e-6).all())
    True
    """

    def rungs(s: Place) -> list[float]:
        slope, x = 2 * s.p - 1, s.t * (1 - s.c)
        third = s.t * s.q * slope * (1 - s.c) * s.d / s.root
        fourth = s.q * slope * x * math.sqrt(max(0.0, 1 - (x * s.q / s.epsilon) ** 2)) / s.g
        if s.epsilon < s.q:  # there c stays away from 0
            fourth = s.t * s.q * (slope * (1 - s.c)) ** 2 / s.c
        size = 2 * math.sqrt(math.pi) * s.epsilon * math.sqrt(2 / s.beta)
        even = math.sqrt(s.beta / 2) * s.q / 2 * (size / (1 - s.p)) ** 2 / max(s.sums)
        return [
            s.variance,
            s.odd + s.even,
            s.t * s.q * s.d**2 / s.root + s.even,
            third + s.even,
            fourth + s.even,
            fourth + even,
        ]

    return torch.tensor([rungs(s) for s in places], dtype=torch.float64).T


def sines(places: Sequence[Place]) -> Tensor:
    """The sine of φ, and what stationarity in c and then in d says it is, (3, instances).

    Examples
    --------
    >>> rungs = sines([at(0.1, 2.0)])[:, 0]
    >>> bool((rungs / rungs[0] - 1).abs().max() < 1e-5)
    True
    """

    def rungs(s: Place) -> list[float]:
        slope, cosine = 2 * s.p - 1, s.g * s.d / (s.a * s.root)
        by_c = s.t * (1 - s.c - slope * s.d) / (4 * s.epsilon)
        by_d = s.t * s.q * (1 - s.c) / s.epsilon + slope * s.g / s.a * cosine
        return [s.c / s.root, by_c, by_d]

    return torch.tensor([rungs(s) for s in places], dtype=torch.float64).T


def norms(places: Sequence[Place]) -> Tensor:
    """1 and g√β with its upper bound; the norm of W and the sum of those of its parts, (5, …).

    Examples
    --------
    >>> one, t, bound, whole, parts = norms([at(0.1, 2.0)])[:, 0].tolist()
    >>> one <= t <= bound, abs(whole / parts - 1) < 1e-6
    (True, True)
    """

    def rungs(s: Place) -> list[float]:
        odd = math.sqrt(2) * s.root / s.g  # 2‖b‖
        bound = 1 + s.g * math.sqrt(math.pi / 2)
        return [1.0, s.t, bound, s.nuclear, odd + s.even_norm]

    return torch.tensor([rungs(s) for s in places], dtype=torch.float64).T


def exact(triple: tuple[int, int, int], sine: Fraction, p: Fraction) -> tuple[Fraction, Fraction]:
    r"""ε and the odd part of V(r) at a stationary point, in fractions.

    ``triple`` is (x, y, z) with x² + y² = z², g = x/z, a = y/z; ``sine`` is that of φ, itself of
    a right triangle with whole sides. :math:`g\sqrt\beta` is 1 + 1.26 g, which is enough for a
    ground truth. The equations of stationarity are then linear in d and in ε.

    Raises
    ------
    ValueError
        If the triple is none, or the cosine is not a fraction.

    Examples
    --------
    >>> epsilon, V = exact((20, 99, 101), Fraction(3, 5), Fraction(9, 10))
    >>> V > epsilon, round(float(V / epsilon), 2)
    (True, 1.26)
    """
    x, y, z = triple
    cosine = Fraction(math.isqrt(sine.denominator**2 - sine.numerator**2), sine.denominator)
    if x * x + y * y != z * z or sine**2 + cosine**2 != 1:
        raise ValueError(
            f"triple and sine need right triangles of whole sides; you gave {triple} and {sine}."
        )
    g, a, slope = Fraction(x, z), Fraction(y, z), 2 * p - 1
    t = 1 + g * Fraction(126, 100)
    k, w = g / a * sine / cosine, g / a * cosine / sine  # c = k d
    d = (slope - w) / (slope * k + 1 - w * k - w * slope)
    epsilon = t * (1 - k * d - slope * d) / (4 * sine)
    return epsilon, t * p * (1 - p) * d * a * cosine / g
