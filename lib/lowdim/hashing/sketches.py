"""Random projections to T dimensions: which keep inner products, and what they do to a loss.

A projection is a Gaussian matrix with entries of variance 1/T. The loss is that of m classes whose
outputs are inner products, a Gram matrix (m, m).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from matplotlib.figure import Figure
from torch import Tensor

from lowdim import checks
from lowdim.evidence import plots
from lowdim.hashing import factored, kernels

__all__ = ["best_loss", "losses", "misses", "picture", "smallest_width"]


def smallest_width(
    n: int,
    eps: float,
    delta: float,
    *,
    draws: int,
    rng: np.random.Generator,
    step: int = 2,
    most: int = 4000,
) -> int:
    """The least k (a multiple of ``step``) at which a share 1 - δ of ``draws`` is within ε.

    n orthonormal points are projected; a draw is as far off as the worst of their inner products.
    ``most`` if there is none up to there.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> smallest_width(2, 0.5, 0.5, draws=200, rng=rng) < smallest_width(
    ...     8, 0.5, 0.1, draws=200, rng=rng
    ... )
    True
    """
    total, eye = torch.zeros(draws, n, n, dtype=torch.float64), torch.eye(n, dtype=torch.float64)
    for k in range(step, most + 1, step):
        g = torch.from_numpy(rng.standard_normal((draws, step, n)))
        total = total + g.mT @ g
        error = (total / k - eye).abs().amax((-2, -1))
        if float(torch.quantile(error, 1 - delta)) <= eps:
            return k
    return most


def misses(n: int, k: int, eps: float, *, draws: int, rng: np.random.Generator) -> int:
    """How many of ``draws`` projections of n orthonormal points to k dimensions are off by over ε.

    Examples
    --------
    >>> misses(3, 4, 2.0**0.5, draws=50, rng=np.random.default_rng(0)) < 50
    True
    """
    g = torch.from_numpy(rng.standard_normal((draws, k, n)))
    error = (g.mT @ g / k - torch.eye(n, dtype=torch.float64)).abs().amax((-2, -1))
    return int((error > eps).sum())


def losses(gram: Tensor, T: int, *, draws: int, rng: np.random.Generator) -> Tensor:
    """Losses (draws,) of m classes with this Gram matrix (m, m), each projected to T dimensions.

    Raises
    ------
    ValueError
        If T is no whole number above zero.

    Examples
    --------
    >>> found = losses(torch.eye(3).double(), 4, draws=2000, rng=np.random.default_rng(0))
    >>> abs(float(found.mean()) - 1.5 / 4) < 0.03  # variances 2/T and 1/T, half and half
    True
    """
    checks.whole(T, "T", 1)
    m = len(gram)
    g = torch.from_numpy(rng.standard_normal((draws, T, m))) @ kernels.square_root(gram) / T**0.5
    return factored.weighted_loss(g.mT @ g, torch.arange(m))


def best_loss(m: int, T: int, *, starts: int = 4) -> float:
    """The least loss of m classes, one point each, that descent finds with inner width T.

    Examples
    --------
    >>> round(best_loss(2, 1), 4)
    0.25
    """
    q = factored.problem(torch.eye(m).double(), torch.arange(m), 1e-7, 1e-7)
    found = (factored.descend(q, width=T, scale=0.5, seed=i, steps=400).loss for i in range(starts))
    return min(map(float, found))


def picture(
    widths: Sequence[int],
    mean: np.ndarray,
    error: np.ndarray,
    exact: np.ndarray,
    best: Sequence[float],
    floor: np.ndarray,
) -> Figure:
    """Losses against the inner width: projections with their exact mean, descent with its bound.

    ``mean``, ``error`` (standard errors) and ``exact`` (len(widths),); ``best`` for the first
    widths; ``floor`` (2, k) is the curve of the lower bound, widths over losses.

    Examples
    --------
    >>> ones = np.ones(2)
    >>> picture([1, 2], ones, ones, ones, [0.5], np.ones((2, 3))).axes[0].get_xlabel()
    'inner width $T$'
    """
    fig, ax = plots.figure(7, 3.3)
    one, other = plots.CYCLE[:2]
    bars = {"yerr": 2 * error, "fmt": "o", "ms": 5, "color": one}
    ax.errorbar(widths, mean, **bars, label="random projection")
    ax.loglog(widths, exact, color=one, lw=1)
    ax.loglog(widths[: len(best)], best, "s", ms=5, color=other, label="best by descent")
    ax.loglog(*floor, "--", color=other, lw=1, label="lower bound")
    ax.set(xlabel="inner width $T$", ylabel="weighted square loss", ylim=(1e-3, 3))
    plots.legend(ax)
    return fig
