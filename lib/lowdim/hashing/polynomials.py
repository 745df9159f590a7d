r"""Polynomials in two variables as dictionaries from exponents to coefficients, and their norms.

:math:`\|g\|_{qu}=\tilde g'(1)+\tilde g(0)` and :math:`\|g\|_{qs}=\sum_J|g_J|/\sqrt{q'_{|J|}}`, both
with monomials: :math:`\tilde a_k=\sum_{|J|=k}|g_J|`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np
import torch
from torch import Tensor

from lowdim.evidence.attacks import Case
from lowdim.hashing import kernels

Polynomial = Mapping[tuple[int, int], float]

__all__ = [
    "Polynomial", "absolute", "add", "cubes", "multiply", "power_of_sum", "qs", "qu",
    "random_polynomial", "random_powers",
]  # fmt: skip

NAMES = ("qu", "co", "s", "c", "M", "M2")


def random_polynomial(rng: np.random.Generator, *, terms: int, below: int) -> Polynomial:
    """So many normal coefficients at random exponents below ``below``; of equal ones the last.

    Examples
    --------
    >>> len(random_polynomial(np.random.default_rng(0), terms=4, below=3)) <= 4
    True
    """
    values = rng.standard_normal(terms)
    return {tuple(rng.integers(0, below, 2).tolist()): float(v) for v in values}


def absolute(g: Polynomial) -> Polynomial:
    """g⁺, with the absolute values of the coefficients.

    Examples
    --------
    >>> absolute({(1, 0): -2.0})
    {(1, 0): 2.0}
    """
    return {J: abs(v) for J, v in g.items()}


def add(f: Polynomial, g: Polynomial) -> Polynomial:
    """f + g.

    Examples
    --------
    >>> add({(1, 0): 1.0}, {(1, 0): 2.0})
    {(1, 0): 3.0}
    """
    return {J: f.get(J, 0) + g.get(J, 0) for J in {*f, *g}}


def multiply(f: Polynomial, g: Polynomial) -> Polynomial:
    """f · g.

    Examples
    --------
    >>> multiply({(1, 0): 2.0}, {(0, 1): 3.0, (0, 0): 1.0})
    {(1, 1): 6.0, (1, 0): 2.0}
    """
    out: dict[tuple[int, int], float] = {}
    for (J, a), (L, b) in product(f.items(), g.items()):
        key = (J[0] + L[0], J[1] + L[1])
        out[key] = out.get(key, 0.0) + a * b
    return out


def qu(g: Polynomial) -> float:
    """‖g‖_qu: each coefficient times its degree, a constant once.

    Examples
    --------
    >>> qu({(0, 0): -1.0, (2, 1): 2.0})
    7.0
    """
    return sum(abs(v) * max(sum(J), float(sum(J) == 0)) for J, v in g.items())


def qs(g: Polynomial, q: np.ndarray) -> float:
    """‖g‖_qs for the kernel with coefficients ``q``.

    Examples
    --------
    >>> qs({(0, 0): -1.0, (2, 1): 2.0}, np.array([0.25, 1.0, 1.0, 4.0]))
    3.0
    """
    return float(sum(abs(v) / q[sum(J)] ** 0.5 for J, v in g.items()))


def power_of_sum(parts: Sequence[Polynomial], c: int) -> tuple[float, ...]:
    """Of f = (Σ g_i)^c: ‖f‖_qu, ‖f‖_co, s, c, and the largest of g̃_i and its derivatives at 1.

    First with one derivative, then with two.

    Examples
    --------
    >>> power_of_sum([{(1, 0): 1.0}, {(0, 1): 1.0}], 2)[::2]
    (8.0, 2, 1.0)
    """
    total: Polynomial = {}
    for g in parts:
        total = add(total, g)
    f: Polynomial = {(0, 0): 1.0}
    for _ in range(c):
        f = multiply(f, total)
    first, second = 0.0, 0.0
    for g in parts:
        degrees = [(abs(v), sum(J)) for J, v in g.items()]
        first = max(first, sum(v for v, _ in degrees), sum(v * k for v, k in degrees))
        second = max(second, sum(v * k * (k - 1) for v, k in degrees))
    return qu(f), kernels.q_norm(f), len(parts), c, first, max(first, second)


def random_powers(count: int, rng: np.random.Generator) -> dict[str, Tensor]:
    """Powers up to the fourth of sums of up to four random polynomials, by the names of a case.

    Examples
    --------
    >>> sorted(random_powers(2, np.random.default_rng(0)))
    ['M', 'M2', 'c', 'co', 'qu', 's']
    """
    rows = []
    for _ in range(count):
        s, c = int(rng.integers(1, 5)), int(rng.integers(1, 5))
        parts = [random_polynomial(rng, terms=3, below=2) for _ in range(s)]
        rows.append(power_of_sum(parts, c))
    return _case(rows)


def cubes(free: Case) -> dict[str, Tensor]:
    """Cubes of sums of two functions with the same four monomials, coefficients ``g`` (B, 2, 4).

    Examples
    --------
    >>> cubes({"g": torch.ones(1, 2, 4)})["c"].tolist()
    [3.0]
    """
    monomials = ((0, 0), (1, 0), (0, 1), (1, 1))
    pairs = [[dict(zip(monomials, g, strict=True)) for g in pair] for pair in free["g"].tolist()]
    return _case([power_of_sum(pair, 3) for pair in pairs])


def _case(rows: Sequence[tuple[float, ...]]) -> dict[str, Tensor]:
    return dict(zip(NAMES, torch.tensor(rows, dtype=torch.float64).T, strict=True))
