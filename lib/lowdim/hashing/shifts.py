r"""What it costs to move weights off θ: rows of B with given means, and as short as may be.

A row of B with values f on samples has at least the squared norm :math:`f^\top K^{-1}f`, with the
kernel matrix K of the samples.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from lowdim import checks
from lowdim.hashing import kernels

__all__ = ["at_width", "cheapest", "four_places", "printed_width"]


def four_places(g: float, *, constant: float = 0.0) -> Tensor:
    """The points (g, a), (g, -a), (-g, -a), (-g, a) of the unit circle as columns, (2, 4).

    A ``constant`` other than 0 is one more entry of each, (3, 4).

    Examples
    --------
    >>> four_places(0.6).round(decimals=9).tolist()
    [[0.6, 0.6, -0.6, -0.6], [0.8, -0.8, -0.8, 0.8]]
    """
    a = (1 - g * g) ** 0.5
    X = torch.tensor([[g, g, -g, -g], [a, -a, -a, a]], dtype=torch.float64)
    return torch.cat([X, torch.full_like(X[:1], constant)]) if constant else X


def printed_width(samples: int, epsilon: float, *, delta: float = 0.1) -> int:
    """The width √N log(N/δ)/ε of the random layer, N samples in all, rounded up.

    Examples
    --------
    >>> printed_width(40, 1e-3)
    37894
    """
    return int(np.ceil(samples**0.5 * np.log(samples / delta) / epsilon))


def cheapest(K: Tensor, f: Tensor, *, p: float, level: float, angles: int = 721) -> Tensor:
    """The least ‖B'‖²/‖B‖² (T,) over rows with the means of f and a variance of ``level`` at most.

    K: (T, 4, 4) kernel matrices of two places on each of two manifolds, of which the first has the
    share ``p`` of the samples; f: (4,) the values of B. With the means given, what is left is a
    point of a disc: the minimum is at its centre of attraction if that lies inside, else on the
    rim, which is searched at so many ``angles``.

    Raises
    ------
    ValueError
        If ``p`` is not between 0 and 1, or ``level`` is negative.

    Examples
    --------
    >>> K = torch.eye(4, dtype=torch.float64)[None]
    >>> f = torch.tensor([1.0, -1.0, 0.0, 0.0], dtype=torch.float64)
    >>> cheapest(K, f, p=0.5, level=0.0).item()
    0.0
    """
    if not (0 < p < 1 and level >= 0):
        raise ValueError(
            f"p must be between 0 and 1 and level 0 or more; you gave p = {p}, level = {level}."
        )
    K = checks.matrices(K, "K").double()
    inverse = torch.linalg.inv(K)
    share = torch.tensor([p, 1 - p], dtype=torch.float64)
    flat = (share @ f.reshape(2, 2).mT).repeat_interleave(2)
    away = torch.tensor([[((1 - p) / p) ** 0.5], [-((p / (1 - p)) ** 0.5)]], dtype=torch.float64)
    modes = torch.block_diag(away, away)  # mean 0 and variance 1 on one manifold each

    def norm(v: Tensor) -> Tensor:
        """vᵀK⁻¹v (T, ...) of values v (T, ..., 4)."""
        return ((v @ inverse) * v).sum(-1)

    centre = -torch.linalg.solve(modes.mT @ inverse @ modes, flat @ inverse @ modes)
    angle = torch.linspace(0, 2 * torch.pi, angles, dtype=torch.float64)
    rim = (2 * level) ** 0.5 * torch.stack([angle.cos(), angle.sin()], -1)
    best = norm(flat + rim @ modes.mT).amin(-1)
    inside = centre.square().sum(-1) <= 2 * level
    at_centre = norm((flat + centre @ modes.mT)[:, None])[:, 0]
    return torch.where(inside, at_centre, best) / norm(f.expand(len(K), 1, 4))[:, 0]


def at_width(
    g: float, epsilon: float, *, constant: float, layers: int, seed: int
) -> tuple[int, Tensor]:
    """The printed width, and the least price (layers,) of moving weights off θ under such layers.

    On :func:`four_places` with p = 9/10 and twenty samples of each manifold; variance up to 4ε.

    Examples
    --------
    >>> width, price = at_width(0.1, 0.01, constant=0.0, layers=2, seed=0)
    >>> width, bool((price > 1).all())
    (3790, True)
    """
    X = four_places(g, constant=constant)
    width = printed_width(40, epsilon)
    Z = kernels.random_features(X, width, seed=seed, trials=layers)
    return width, cheapest(Z.mT @ Z, X[1], p=0.9, level=4 * epsilon)
