r"""Accuracy against stability for linear networks whose inputs are noisy in every direction.

More noise lowers the weights across the data (they have the law of
:func:`lowdim.embedded.noise.normal_square`) and shrinks those along it. :func:`prices` puts both
along a grid of σ, :func:`accuracy` measures the second for any moments, and :func:`noisy_fits`
solves least squares on data sets to be held against the law.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from lowdim import checks
from lowdim.embedded import noise
from lowdim.seeds import generator

__all__ = ["Accuracy", "Prices", "accuracy", "noisy_fits", "prices", "sloping"]


@cache
def sloping() -> noise.Blurred:
    """Moments of g, the sum of 2x + 0.1 sin πx over three directions uniform on (-1, 1).

    Examples
    --------
    >>> sloping().weights(0.0).round(3).tolist()
    [2.095, 2.095, 2.095]
    """
    each = 2 / 3 + 0.1 / np.pi  # E[gx] in one direction
    square = 4 / 3 + 0.4 / np.pi + 0.005
    return noise.Blurred(np.eye(3) / 3, np.full(3, each), 3 * square)


@dataclass(frozen=True)
class Prices:
    """Along ``sigmas`` (k,): the accuracy lost, and the mean square ``residual`` on noisy x."""

    sigmas: np.ndarray
    accuracy: np.ndarray
    residual: np.ndarray

    def stability(
        self, N: int, *, dy: int = 2, gamma: float = 0.25, leading: bool = False
    ) -> np.ndarray:
        """γ² E‖w_y‖² (k,) at the minimum over N points; ``leading`` keeps the order 1/N alone.

        Examples
        --------
        >>> at = prices([0.1, 1.0])
        >>> bool((at.stability(100) > at.stability(100, leading=True)).all())
        True
        """
        size = dy / N if leading else noise.normal_square(N, 3, dy)
        return gamma**2 * self.residual * size / self.sigmas**2

    def best(self, N: int, **options: bool) -> tuple[float, float]:
        """The σ at which accuracy lost and :meth:`stability` have the least sum, and that sum.

        Examples
        --------
        >>> at = prices(np.geomspace(0.01, 1, 50))
        >>> at.best(10**5)[0] < at.best(10**3)[0]
        True
        """
        both = self.accuracy + self.stability(N, **options)
        return float(self.sigmas[both.argmin()]), float(both.min())


def prices(sigmas: checks.ArrayLike) -> Prices:
    """Prices of noise for :func:`sloping`, at ``sigmas`` (k,).

    Raises
    ------
    ValueError
        If a sigma is not positive.

    Examples
    --------
    >>> low, high = prices([0.1, 0.2]).accuracy
    >>> bool(8 < high / low < 16)  # σ⁴, nearly
    True
    """
    sigmas = np.asarray(sigmas, float)
    if not (sigmas > 0).all():
        raise ValueError(f"sigmas must be above 0; the least given is {sigmas.min():g}.")
    line = sloping()
    lost = np.array([line.clean_excess(s) for s in sigmas])
    return Prices(sigmas, lost, np.array([line.residual(s) for s in sigmas]))


class Accuracy(NamedTuple):
    """What noise costs a linear fit, (B,) each.

    lost: E(w·x - g)² - τ² from the weights; formula: σ⁴ νᵀΣ(Σ+σ²)⁻²ν; bound: σ⁴ νᵀΣ⁻¹ν; least: the
    least eigenvalue of Σ.
    """

    lost: Tensor
    formula: Tensor
    bound: Tensor
    least: Tensor


def accuracy(M: Tensor, v: Tensor, s: Tensor) -> Accuracy:
    """Accuracy lost for Σ = M Mᵀ (B, d, d), ν = v (B, d) and σ = exp(s), s (B, 1).

    Examples
    --------
    >>> one = torch.ones(1, 1, dtype=torch.float64)
    >>> [float(value) for value in accuracy(one[None], one, 0 * one)]
    [0.25, 0.25, 1.0, 1.0]
    """
    Sigma, nu, square = M @ M.mT, v[..., None], (2 * s).exp()[..., None]
    blurred = Sigma + square * torch.eye(M.shape[-1], dtype=M.dtype)
    off = torch.linalg.solve(blurred, Sigma @ nu) - nu
    inner = torch.linalg.solve(blurred, nu)
    fourth = (square**2)[:, 0, 0]
    return Accuracy(
        (off.mT @ Sigma @ off)[:, 0, 0],
        fourth * (inner.mT @ Sigma @ inner)[:, 0, 0],
        fourth * (nu.mT @ torch.linalg.solve(Sigma, nu))[:, 0, 0],
        torch.linalg.eigvalsh(Sigma)[:, 0],
    )


def noisy_fits(
    N: int, sigma: float, dy: int, *, draws: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """‖w_y‖² and τ_N² of least squares on ``draws`` data sets of N points, (draws,) each.

    Values are those of :func:`sloping`; noise of size σ is added to x and is all of y (dy
    directions). τ_N² is the mean square of what noisy x alone leave over.

    Raises
    ------
    ValueError
        If there are fewer points than weights.

    Examples
    --------
    >>> wy2, tau2 = noisy_fits(30, 0.3, 2, draws=4, seed=0)
    >>> wy2.shape, bool((tau2 > 0).all())
    ((4,), True)
    """
    if checks.whole(N, "N", 1) < 3 + dy:
        raise ValueError(f"{3 + dy} weights need as many points; N is {N}.")
    rng = generator(seed, N, "law", dy)
    x = rng.uniform(-1, 1, (draws, N, 3))
    g = (2 * x + 0.1 * np.sin(np.pi * x)).sum(-1, keepdims=True)
    seen = x + sigma * rng.standard_normal(x.shape)
    both = np.concatenate([seen, sigma * rng.standard_normal((draws, N, dy))], 2)

    def solution(A: np.ndarray) -> np.ndarray:
        T = np.swapaxes(A, 1, 2)
        return np.linalg.solve(T @ A, T @ g)

    left = (g - seen @ solution(seen)) ** 2
    return (solution(both)[:, 3:, 0] ** 2).sum(1), left.mean((1, 2))
