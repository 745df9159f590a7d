r"""How much Gaussian blobs vary about their centroids: exact laws and sharp bounds of their tails.

For K balanced isotropic blobs of N points in dimension d, the within-cluster sum of squares of the
partition into blobs has :math:`N\,\mathrm{WCSS}/\sigma^2\sim\chi^2_{d(N-K)}`. Where weights differ,
each eigenvalue taken twice turns a quadratic form in normals into a sum of exponentials, whose tail
is elementary.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from scipy import stats
from torch import Tensor

__all__ = [
    "BEST", "chernoff", "deviation", "deviations", "failure", "failure_limit", "line_variation",
    "mixtures", "pair_tail",
]  # fmt: skip

BEST = (1 - math.log(2)) / 2  # the best constant of Hanson and Wright's inequality for Gaussians


def failure(n: object, d: object, K: object = 1, *, autoencoder: bool = False) -> np.ndarray:
    """The probability that WCSS exceeds √d σ² (√d + √(K/N)), for K balanced isotropic blobs.

    ``n`` (points in all), ``d`` and ``K`` broadcast. Labels are constant on each blob; in an
    autoencoder every deviation counts twice.

    Examples
    --------
    >>> round(float(failure(2.0, 2)), 3), round(math.exp(-3), 3)
    (0.05, 0.05)
    """
    n, d, K = (np.asarray(value, float) for value in (n, d, K))
    limit = d * n + np.sqrt(d * K * n)
    dof = np.maximum(d * (n - K), 1e-300)  # as many blobs as points: no variation at all
    return stats.chi2.sf(limit / 2 if autoencoder else limit, dof)


def failure_limit(K: float = 1) -> float:
    """What :func:`failure` tends to with growing n: P(Z > √(K/2)) for a standard normal Z.

    Examples
    --------
    >>> round(failure_limit(), 3)
    0.24
    """
    return float(stats.norm.sf((K / 2) ** 0.5))


def deviation(n: object, d: object, t: object) -> np.ndarray:
    """P(|Tr(VVᵀ)/N - d| ≥ t √d) for V (d, N) with standard normal entries, exactly.

    Examples
    --------
    >>> round(float(deviation(5.0, 2.0, 0.0)), 12)
    1.0
    """
    n, d, t = (np.asarray(value, float) for value in (n, d, t))
    k, u = n * d, t * (n * n * d) ** 0.5
    return stats.chi2.sf(k + u, k) + stats.chi2.cdf(k - u, k)


def deviations(count: int, rng: np.random.Generator, *, most: float = 8) -> dict[str, Tensor]:
    """Cases N, d, t, C (count,): up to 10^most points, deviations from a tenth of a standard one.

    Examples
    --------
    >>> sorted(deviations(3, np.random.default_rng(0)))
    ['C', 'N', 'd', 't']
    """
    n = np.floor(10 ** rng.uniform(0, most, count))
    d = np.floor(10 ** rng.uniform(0, 3, count))
    t = 10 ** rng.uniform(-1, 0.8, count) * np.sqrt(2 / n)
    C = 10 ** rng.uniform(-3, 0, count)
    return {k: torch.from_numpy(v) for k, v in {"N": n, "d": d, "t": t, "C": C}.items()}


def mixtures(count: int, rng: np.random.Generator) -> dict[str, Tensor]:
    """Cases N, K, d, u (count,): up to 19 balanced blobs, u from a hundredth to thirty.

    Examples
    --------
    >>> case = mixtures(9, np.random.default_rng(0))
    >>> bool((case["N"] % case["K"] == 0).all())
    True
    """
    K = np.floor(rng.uniform(1, 20, count))
    n = K * np.floor(10 ** rng.uniform(0.4, 5, count))
    d = np.floor(10 ** rng.uniform(0, 3, count))
    u = 10 ** rng.uniform(-2, 1.5, count)
    return {k: torch.from_numpy(v) for k, v in {"N": n, "K": K, "d": d, "u": u}.items()}


def pair_tail(weights: Tensor, u: Tensor) -> Tensor:
    """P(Σ w_i (χ²_2 - 2) ≥ u) (B,), exact for distinct weights (B, m): a mixture of exponentials.

    Its terms cancel: below some 1e-10 the result is rounding.

    Examples
    --------
    >>> one, u = torch.ones(1, 1).double(), torch.tensor([4.0]).double()
    >>> round(pair_tail(one, u).item(), 6) == round(math.exp(-3), 6)
    True
    """
    ratio = weights[:, :, None] / (weights[:, :, None] - weights[:, None, :])
    ratio = torch.where(torch.eye(weights.shape[1], dtype=torch.bool), 1.0, ratio)
    x = u + 2 * weights.sum(1)
    return (ratio.prod(2) * (-x[:, None] / (2 * weights)).exp()).sum(1)


def chernoff(weights: Tensor, u: Tensor, *, steps: int = 100) -> Tensor:
    """Chernoff's bound (B,) on the same tail: the least E e^(θ(form - u)), by bisection in θ.

    Examples
    --------
    >>> one, u = torch.ones(1, 1).double(), torch.tensor([4.0]).double()
    >>> round(chernoff(one, u).item(), 6) == round(3 * math.exp(-2), 6)
    True
    """
    low, high = torch.zeros_like(u), 0.5 / weights.amax(1) * (1 - 1e-12)
    for _ in range(steps):
        theta = (low + high) / 2
        x = theta[:, None] * weights
        down = (2 * weights * (1 / (1 - 2 * x) - 1)).sum(1) < u
        low, high = torch.where(down, theta, low), torch.where(down, high, theta)
    theta = (low + high) / 2
    x = theta[:, None] * weights
    return ((-torch.log1p(-2 * x) - 2 * x).sum(1) - theta * u).exp()


def line_variation(x: np.ndarray) -> np.ndarray:
    """The total cluster variation (B,) of points on a line (B, N) in two parts, exactly.

    The best partition is a cut of the sorted points.

    Examples
    --------
    >>> line_variation(np.array([[0.0, 10.0, 1.0, 11.0]])).tolist()
    [0.25]
    """
    x = np.sort(x, 1)
    n = x.shape[1]
    size = np.arange(1, n)
    left = np.cumsum(x, 1)[:, :-1]
    right = x.sum(1, keepdims=True) - left
    between = left**2 / size + right**2 / (n - size)
    return ((x**2).sum(1) - between.max(1)) / n
