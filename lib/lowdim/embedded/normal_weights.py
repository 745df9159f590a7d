r"""Least squares with noise directions: the weights normal to the data, and their law.

Points :math:`(x_i,y_i)`, of which the y are noise with :math:`\sigma=1` (for another σ the normal
weights are divided by it), values :math:`g_i`. :func:`fit` solves batches of such problems and
keeps what the law of the normal weights is about: the residual of the fit by x alone, and the share
of it that the noise explains.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from lowdim import checks
from lowdim.evidence.values import Estimate
from lowdim.seeds import generator

__all__ = [
    "SETTINGS", "Fit", "Setting", "by_size", "cube", "fit", "heavy_tailed", "on_the_square",
    "power_plane", "signs", "sines", "sweep",
]  # fmt: skip

Law = Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]
Function = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Fit:
    """Least squares on B data sets: solutions, residual of the fit by x alone, second moments.

    tangent: w_x (B, dx); normal: w_y (B, dy); residual: r (B, N); S: (B, dy, dy), the moments of y
    without what x explains of them; xx, xy, gx, gy, yr: means (B, ·, ·) of products.
    """

    tangent: np.ndarray
    normal: np.ndarray
    residual: np.ndarray
    S: np.ndarray
    xx: np.ndarray
    xy: np.ndarray
    gx: np.ndarray
    gy: np.ndarray
    yr: np.ndarray

    @property
    def residual_square(self) -> np.ndarray:
        """τ_N² (B,), the mean square of the residual."""
        return (self.residual**2).mean(1)

    @property
    def share(self) -> np.ndarray:
        """R² (B,), the share of τ_N² that the noise explains."""
        explained = np.einsum("bi,bij,bj->b", self.normal, self.S, self.normal)
        return explained / np.maximum(self.residual_square, 1e-300)

    @property
    def size_square(self) -> np.ndarray:
        """‖w_y‖²/τ_N² (B,)."""
        return (self.normal**2).sum(1) / self.residual_square


def fit(x: np.ndarray, y: np.ndarray, g: np.ndarray) -> Fit:
    """Least squares of g (B, N) by linear functions of x (B, N, dx) and y (B, N, dy).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.standard_normal((3, 9, 2)), rng.standard_normal((3, 9, 1))
    >>> found = fit(x, y, x.sum(-1) - y[..., 0])
    >>> found.tangent.round(6)[0].tolist(), found.normal.round(6)[0].tolist()
    ([1.0, 1.0], [-1.0])
    """
    N, dx = x.shape[1:]

    def mean(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.swapaxes(a, 1, 2) @ b / N

    xx, xy, yy = mean(x, x), mean(x, y), mean(y, y)
    gx, gy = mean(x, g[..., None]), mean(y, g[..., None])
    A = np.block([[xx, xy], [np.swapaxes(xy, 1, 2), yy]])
    both = np.linalg.solve(A, np.concatenate([gx, gy], 1))[..., 0]
    rest = g - (x @ np.linalg.solve(xx, gx))[..., 0]
    S = yy - np.swapaxes(xy, 1, 2) @ np.linalg.solve(xx, xy)
    return Fit(both[:, :dx], both[:, dx:], rest, S, xx, xy, gx, gy, mean(y, rest[..., None]))


def signs(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Independent signs, -1.0 or 1.0.

    Examples
    --------
    >>> sorted(set(signs(np.random.default_rng(0), (20,)).tolist()))
    [-1.0, 1.0]
    """
    return rng.choice([-1.0, 1.0], shape)


def heavy_tailed(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """X = ±2^k with probability 7/16 · 8^(-k) each: E X² = 7/4 and E X⁶ is infinite.

    Examples
    --------
    >>> heavy_tailed(np.random.default_rng(3), (5,)).tolist()
    [1.0, -1.0, -1.0, -1.0, -1.0]
    """
    return signs(rng, shape) * 2.0 ** (rng.geometric(7 / 8, shape) - 1)


def sines(x: np.ndarray) -> np.ndarray:
    """The sum of sin πx over the last axis, (...) of x (..., d).

    Examples
    --------
    >>> sines(np.array([0.5, 0.5])).tolist()
    2.0
    """
    return np.sin(np.pi * x).sum(-1)


def _gauss(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return rng.standard_normal(shape)


def cube(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Independent uniform numbers between -1 and 1.

    Examples
    --------
    >>> bool((np.abs(cube(np.random.default_rng(0), (5, 2))) <= 1).all())
    True
    """
    return rng.uniform(-1, 1, shape)


@dataclass(frozen=True)
class Setting:
    """A kind of data: numbers of signal and noise directions, the law of x, and g."""

    dx: int
    dy: int
    law: Law
    g: Function

    def draw(
        self, N: int, *, count: int, seed: int, purpose: str, noise: Law = _gauss
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """x (count, N, dx), y (count, N, dy) and g (count, N).

        Examples
        --------
        >>> x, y, g = SETTINGS["Gauss, |x|²"].draw(20, count=3, seed=0, purpose="demo")
        >>> x.shape, y.shape, bool((g == (x**2).sum(-1)).all())
        ((3, 20, 3), (3, 20, 2), True)
        """
        rng = generator(seed, N, purpose)
        x = self.law(rng, (count, N, self.dx))
        return x, noise(rng, (count, N, self.dy)), self.g(x)


SETTINGS = {
    "square, sines": Setting(2, 1, cube, lambda x: np.pi * sines(x)),
    "Gauss, |x|²": Setting(3, 2, _gauss, lambda x: (x**2).sum(-1)),
    "Student 3, sign": Setting(
        1, 3, lambda rng, shape: rng.standard_t(3, shape), lambda x: np.sign(x[..., 0] - 1)
    ),
    "exponential, product": Setting(
        2, 4, lambda rng, shape: rng.exponential(1, shape), lambda x: x[..., 0] ** 3 * x[..., 1]
    ),
}


def by_size(sizes: Sequence[int], *, count: int, seed: int) -> np.ndarray:
    """Root mean square and median (len(sizes), 2) of ‖w_y‖/τ_N over ``count`` data sets of each N.

    Two signal and two noise directions; sines and a linear function as values.

    Examples
    --------
    >>> by_size([10, 100], count=20, seed=0).shape
    (2, 2)
    """
    rng = generator(seed, 0, "picture")
    out = []
    for N in sizes:
        x = rng.uniform(-1, 1, (count, N, 2))
        y = rng.standard_normal((count, N, 2))
        size2 = fit(x, y, sines(x) + 5 * x.sum(-1)).size_square
        out.append((np.sqrt(size2.mean()), np.sqrt(np.median(size2))))
    return np.array(out)


def on_the_square(N: int, rng: np.random.Generator, targets: Sequence[Function]) -> list[float]:
    """w_y for one draw of N points on the square with one noise direction, for each target.

    Examples
    --------
    >>> plain, tilted = (lambda x: x[..., 0] ** 2), (lambda x: x[..., 0] ** 2 + x[..., 1])
    >>> a, b = on_the_square(50, np.random.default_rng(0), [plain, tilted])
    >>> abs(a - b) < 1e-12
    True
    """
    x, y = rng.uniform(-1, 1, (1, N, 2)), rng.standard_normal((1, N, 1))
    return [float(fit(x, y, g(x)).normal[0, 0]) for g in targets]


def sweep(
    target: Function, noise: Sequence[float], sizes: Sequence[int], *, draws: int, seed: int
) -> np.ndarray:
    """w_y on the square (len(noise), len(sizes), draws), fresh data for every entry.

    Examples
    --------
    >>> sweep(sines, [1.0, 0.5], [20, 40], draws=3, seed=0).shape
    (2, 2, 3)
    """
    checks.whole(draws, "draws", 1)

    def one(j: int, N: int, k: int) -> float:
        return on_the_square(N, generator(seed, k, "left", N, j), [target])[0] / noise[j]

    return np.array(
        [[[one(j, N, k) for k in range(draws)] for N in sizes] for j in range(len(noise))]
    )


def power_plane(first: object, second: object, values: object) -> tuple[Estimate, Estimate]:
    """The exponents p, q of values ~ first^p second^q, each with two standard errors.

    ``first`` (j,), ``second`` (k,), ``values`` (j, k, draws), all positive; one plane is fitted to
    all of them on logarithmic axes.

    Examples
    --------
    >>> a, b = np.array([1.0, 2.0, 4.0]), np.array([1.0, 3.0])
    >>> p, q = power_plane(a, b, (a[:, None] ** -1 * b**2)[..., None])
    >>> round(p.value, 9), round(q.value, 9)
    (-1.0, 2.0)
    """
    logs = np.log(np.asarray(values, float))
    j, k = (np.log(np.asarray(axis, float)) for axis in (first, second))
    if logs.ndim != 3 or logs.shape[:2] != (j.size, k.size) or logs.size < 4:
        raise ValueError(
            f"values must be (j, k, draws) with 4 entries or more for axes of {j.size} and "
            f"{k.size}; their shape is {logs.shape}."
        )
    axes = (j[:, None, None], k[None, :, None], np.ones(1))
    columns = np.stack([np.broadcast_to(axis, logs.shape).ravel() for axis in axes], -1)
    found = np.linalg.lstsq(columns, logs.ravel(), rcond=None)[0]
    rest = ((logs.ravel() - columns @ found) ** 2).sum() / (logs.size - 3)
    errors = np.sqrt(np.diag(np.linalg.inv(columns.T @ columns)) * rest)
    p, q, _ = (Estimate(float(v), float(2 * e)) for v, e in zip(found, errors, strict=True))
    return p, q
