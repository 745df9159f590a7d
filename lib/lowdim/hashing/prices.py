r"""What a function costs above a random ReLU layer with a bias: prices of degrees, bounded fits.

On the unit sphere the kernel is :math:`\hat\sigma(\frac{1+x\cdot y}2)=\sum_kq'_k(x\cdot y)^k`,
and a power :math:`(\beta\cdot x)^k` of a unit vector costs at most :math:`1/\sqrt{q'_k}`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import pi, sqrt

import numpy as np
import torch
from torch import Tensor

from lowdim.hashing import kernels

__all__ = ["PRICE", "Powers", "bounded_fit", "powers", "random_ridges", "remark_1"]

PRICE = sqrt(8 * pi**1.5)  # a power k costs at most PRICE k^(5/4), and no less will do


@dataclass(frozen=True)
class Powers:
    """Norms of (β·x)^k for unit β: degrees (n,), least norms (n,) by dimension, and their limit."""

    degrees: np.ndarray
    least: dict[int, np.ndarray]
    limit: np.ndarray


def powers(order: int, dims: Sequence[int]) -> Powers:
    """Norms of powers for some degrees up to ``order``, in several dimensions.

    They are kept, so that a figure and a table of the same ones cost no more than one of them.

    Examples
    --------
    >>> found = powers(16, [3])
    >>> bool((found.least[3] <= found.limit * (1 + 1e-9)).all())
    True
    """
    return _powers(order, tuple(dims))


@lru_cache(maxsize=8)
def _powers(order: int, dims: tuple[int, ...]) -> Powers:
    degrees = np.unique(np.round(np.geomspace(1, order, 25)).astype(int))
    single = np.eye(order + 1)[degrees]
    q = kernels.power_series("relu", order, bias=True)
    return Powers(degrees, {d: kernels.ridge_norm(single, d) for d in dims}, q[degrees] ** -0.5)


def random_ridges(count: int, rng: np.random.Generator) -> dict[str, Tensor]:
    """Coefficients a_k‖β‖^k (count, 9) of functions of β·x, some of them single powers.

    Examples
    --------
    >>> tuple(random_ridges(4, np.random.default_rng(0))["a"].shape)
    (4, 9)
    """
    a = rng.standard_normal((count, 9)) * (rng.random((count, 9)) < 0.5)
    a[np.arange(count), rng.integers(0, 9, count)] += 1
    return {"a": torch.from_numpy(a * rng.uniform(0.2, 2, (count, 1)) ** np.arange(9))}


def remark_1(size: int = 40) -> np.ndarray:
    """Taylor coefficients (size,) of e^y sin y + cos y, the paper's own example.

    Examples
    --------
    >>> remark_1(4).round(6).tolist()
    [1.0, 1.0, 0.5, 0.333333]
    """
    factorial = np.cumprod([1.0, *range(1, size)])
    sine = np.resize([0, 1, 0, -1], size) / factorial
    cosine = np.resize([1, 0, -1, 0], size) / factorial
    return np.convolve(1 / factorial, sine)[:size] + cosine


def bounded_fit(Z: Tensor, f: Tensor, limit: float) -> float:
    """The largest error on samples of the least-squares a·Z with ‖a‖ at most ``limit``.

    Z: (D, N) features, f: (N,) values.

    Examples
    --------
    >>> f = torch.tensor([3.0, 4.0], dtype=torch.float64)
    >>> eye = torch.eye(2, dtype=torch.float64)
    >>> round(bounded_fit(eye, f, 2.5), 6), round(bounded_fit(eye, f, 9.0), 6)
    (2.0, 0.0)
    """
    _, s, right = torch.linalg.svd(Z, full_matrices=False)
    c = right @ f

    def length(lam: float) -> float:
        return float((s * c / (s**2 + lam)).norm())

    low, high = 1e-14, 1e6
    if length(low) > limit:
        for _ in range(80):
            mid = (low * high) ** 0.5
            low, high = (mid, high) if length(mid) > limit else (low, mid)
        low = high
    a = s * c / (s**2 + low)
    return float((right.mT @ (s * a) - f).abs().max())
