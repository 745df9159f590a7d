r"""Linear regression on a line in the plane: points (x, σy), values g(x), one weight for each.

Only second moments of the data enter. :class:`Moments` holds them for many data sets at once, or
for one in exact arithmetic, and :func:`draw` makes them for x uniform on (-1, 1) and Gaussian y.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from lowdim import checks
from lowdim.seeds import generator

__all__ = ["TARGETS", "Moments", "draw", "normal_level", "residual"]

Function = Callable[[np.ndarray], np.ndarray]

TARGETS: dict[str, Function] = {
    "$x$": lambda x: x,
    "$2x$": lambda x: 2 * x,
    r"$\sin\pi x$": lambda x: np.sin(np.pi * x),
    r"$\sin\pi x+5x$": lambda x: np.sin(np.pi * x) + 5 * x,
    "$3x^2$": lambda x: 3 * x**2,
}


class Moments(NamedTuple):
    """The means ⟨x²⟩, ⟨y²⟩, ⟨xy⟩, ⟨gx⟩, ⟨gy⟩ and ⟨g²⟩ of data sets, each (...)."""

    xx: np.ndarray
    yy: np.ndarray
    xy: np.ndarray
    gx: np.ndarray
    gy: np.ndarray
    gg: np.ndarray

    @classmethod
    def of(cls, x: np.ndarray, y: np.ndarray, g: np.ndarray) -> Moments:
        """The moments of points and values (..., N), over the last axis; fractions stay fractions.

        Examples
        --------
        >>> from fractions import Fraction
        >>> x = np.array([Fraction(1), Fraction(2)])
        >>> Moments.of(x, x, x).xx
        Fraction(5, 2)
        """
        pairs = ((x, x), (y, y), (x, y), (g, x), (g, y), (g, g))
        return cls(*((a * b).mean(-1) for a, b in pairs))

    def minimizer(self, sigma: float = 1) -> tuple[np.ndarray, np.ndarray]:
        """The least-squares weights w_x* and w_y* on (x, σy), each (...), by Cramer's rule.

        Examples
        --------
        >>> x, y = np.array([1.0, 0.0]), np.array([0.0, 1.0])
        >>> [float(w) for w in Moments.of(x, y, 2 * x + 3 * y).minimizer(0.5)]
        [2.0, 6.0]
        """
        det = self.xx * self.yy - self.xy**2
        across = self.gy * self.xx - self.gx * self.xy
        return (self.gx * self.yy - self.gy * self.xy) / det, across / det / sigma

    @property
    def residual_square(self) -> np.ndarray:
        """τ_N² (...), the mean square of what the best multiple of x leaves over of g."""
        return self.gg - self.gx**2 / self.xx


def draw(g: Function, N: int, *, count: int, seed: int, purpose: str = "data") -> Moments:
    """Moments (count,) of data sets of N points with x uniform on (-1, 1) and standard normal y.

    Examples
    --------
    >>> draw(np.sin, 50, count=3, seed=0).xx.shape
    (3,)
    """
    checks.whole(N, "N", 1)
    checks.whole(count, "count", 1)
    rng = generator(seed, N, purpose)
    x, y = rng.uniform(-1, 1, (count, N)), rng.standard_normal((count, N))
    return Moments.of(x, y, g(x))


def normal_level(
    g: Function, sizes: Sequence[int], *, sigma: float, count: int, seed: int
) -> np.ndarray:
    """Root mean square of w_y* over ``count`` data sets, for each number of points: (len(sizes),).

    Examples
    --------
    >>> bool((normal_level(lambda x: 2 * x, [5, 50], sigma=0.1, count=9, seed=0) < 1e-9).all())
    True
    """
    across = (draw(g, N, count=count, seed=seed).minimizer(sigma)[1] for N in sizes)
    return np.array([np.sqrt((w**2).mean()) for w in across])


def residual(g: Function) -> float:
    """τ, the root mean square of what the best multiple of x leaves over of g on (-1, 1).

    By Gauss-Legendre quadrature: for smooth g.

    Examples
    --------
    >>> round(residual(lambda x: 3 * x**2) ** 2, 9)
    1.8
    """
    x, weight = np.polynomial.legendre.leggauss(64)
    square, cross = weight @ g(x) ** 2 / 2, weight @ (g(x) * x) / 2
    return float(np.sqrt(max(square - 3 * cross**2, 0.0)))
