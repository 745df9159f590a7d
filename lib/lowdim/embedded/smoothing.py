r"""What smoothing by normal noise does on an interval: to means of kinks, and to a predictor.

X is uniform on (-1, 1). :func:`kinks` compares means of sums of ``|x - k|`` before and after
smoothing; :func:`best_predictor` compares :math:`E[g(X)\mid X+\sigma\varepsilon=x]` with g(x) for
sums of sines, where all that is lost to first order lies in a layer at each end, whose square is
:func:`kappa`.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import torch
from scipy import stats
from scipy.integrate import quad
from torch import Tensor

from lowdim.embedded import noise

__all__ = ["best_predictor", "boundary_layer", "kappa", "kinks"]


def kinks(c: Tensor, k: Tensor, s: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """|Eφ(X+σε) - Eφ(X)|, K·E ∫σ|ε|·‖p_s - p‖₁, and Kσ²/2, (B,) each.

    φ is the sum of c|x - k|, c and k (B, n), with Lipschitz constant K; σ = exp(s), s (B,).

    Examples
    --------
    >>> one = torch.ones(1, 1, dtype=torch.float64)
    >>> [round(float(v), 6) for v in kinks(one, 0 * one, np.log(0.01) * one[0])]
    [5e-05, 5e-05, 5e-05]
    """
    sigma = s.exp()
    before = torch.where(k.abs() < 1, (1 + k**2) / 2, k.abs())
    gap = (c * (noise.smoothed_distance(k, sigma[:, None]) - before)).sum(1).abs()
    jumps = 2 * c.gather(1, k.argsort(1))
    none = torch.zeros_like(sigma[:, None])
    K = (torch.cat([none, jumps.cumsum(1)], 1) - c.sum(1, keepdim=True)).abs().amax(1)
    e, by = (torch.from_numpy(v) for v in np.polynomial.hermite_e.hermegauss(80))
    shift = sigma[:, None] * e.abs()
    moved = torch.where(shift <= 2, shift**2 / 2, 2 * shift - 2) @ by / by.sum()
    return gap, K * moved, K * sigma**2 / 2


@cache
def kappa() -> float:
    """The integral of (φ/Φ)² over the positive half line, φ and Φ of the standard normal.

    Examples
    --------
    >>> round(kappa(), 3)
    0.32
    """
    return float(quad(lambda t: (stats.norm.pdf(t) / stats.norm.cdf(t)) ** 2, 0, np.inf)[0])


def best_predictor(a: Tensor, b: Tensor, s: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """‖m_σ - g‖, σ‖g'q‖ + K₂σ²/2, and K√κ σ^(3/2) + K₂σ²/2, (B,) each.

    m_σ(x) = E[g(X) | X+σε = x]; g is the sum of a_j sin(jπx/2 + b_j), a and b (B, n); σ = exp(s),
    s (B,), from 0.03 up; q is the mean of a normal cut to the interval, in closed form.

    Examples
    --------
    >>> one = torch.ones(1, 1, dtype=torch.float64)
    >>> off, taylor, bound = best_predictor(one, 0 * one, np.log(0.1) * one[0])
    >>> bool(off < taylor < bound)
    True
    """
    sigma, nodes, by = s.exp(), *map(torch.from_numpy, np.polynomial.legendre.leggauss(160))
    freq = torch.arange(1, a.shape[1] + 1).double() * torch.pi / 2

    def g(x: Tensor) -> Tensor:
        waves = torch.sin(freq[:, None] * x[:, None] + b[..., None])
        return (a[..., None] * waves).sum(1)

    def norm(values: Tensor) -> Tensor:
        return ((values**2) @ by / 2).sqrt()

    def density(t: Tensor) -> Tensor:
        return (-(t**2) / 2).exp() / (2 * torch.pi) ** 0.5

    at = nodes.expand(len(sigma), -1)
    off = noise.conditional_mean(g, at, sigma, nodes=320) - g(at)
    slope = ((a * freq)[..., None] * torch.cos(freq[:, None] * nodes + b[..., None])).sum(1)
    up, down = (1 - nodes) / sigma[:, None], (1 + nodes) / sigma[:, None]
    inside = torch.special.ndtr(up) - torch.special.ndtr(-down)
    q = (density(down) - density(up)) / inside
    K, rest = a.abs() @ freq, (a.abs() @ freq**2) * sigma**2 / 2
    return norm(off), sigma * norm(slope * q) + rest, K * (kappa() * sigma**3).sqrt() + rest


def boundary_layer(sigmas: np.ndarray) -> np.ndarray:
    """‖m_σ - g‖² (k,) for g = sin πx at ``sigmas`` (k,), each of 0.007 or more.

    Examples
    --------
    >>> wide, narrow = boundary_layer(np.array([0.04, 0.02]))
    >>> bool(6 < wide / narrow < 10)  # σ³, nearly
    True
    """
    x, by = np.polynomial.legendre.leggauss(800)

    def g(at: Tensor) -> Tensor:
        return torch.sin(torch.pi * at)

    off = [noise.conditional_mean(g, x, s, nodes=800)[0] - g(torch.from_numpy(x)) for s in sigmas]
    return np.array([float((v.numpy() ** 2) @ by / 2) for v in off])
