"""Two clouds of points with targets: cases for the start that centroids give to a linear layer.

A case has ``X`` (B, d, N), ``Y`` (B, c, N) and ``lam`` (B,). Points belong to two parts in turn;
two points are one part.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from lowdim.evidence.attacks import Case

__all__ = ["clouds", "edges", "pairs", "parts"]

POINTS = 8


def parts(n: int) -> Tensor:
    """The part (n,) of each of ``n`` points.

    Examples
    --------
    >>> parts(4).tolist(), parts(2).tolist()
    ([0, 1, 0, 1], [0, 0])
    """
    return torch.arange(n) % (1 if n == 2 else 2)


def clouds(count: int, rng: np.random.Generator) -> dict[str, Tensor]:
    """Eight points about two centres, tight or wide; λ from a hundredth to ten.

    Examples
    --------
    >>> case = clouds(3, np.random.default_rng(0))
    >>> [tuple(case[name].shape) for name in ("X", "Y", "lam")]
    [(3, 4, 8), (3, 3, 8), (3,)]
    """

    def normal(*shape: int) -> Tensor:
        return torch.from_numpy(rng.standard_normal((count, *shape)))

    def scale(low: float, high: float) -> Tensor:
        return torch.from_numpy(10 ** rng.uniform(low, high, (count, 1, 1)))

    two = np.arange(POINTS) % 2
    return {
        "X": normal(4, 2)[..., two] + scale(-2, 0.7) * normal(4, POINTS),
        "Y": normal(3, 2)[..., two] + scale(-2, 0.7) * normal(3, POINTS),
        "lam": scale(-2, 1).flatten(),
    }


def pairs(free: Case) -> dict[str, Tensor]:
    """Two points on a line, from free numbers ``z`` (B, 5): means and halves of x and y, log λ.

    Examples
    --------
    >>> pairs({"z": torch.tensor([[1.0, 2.0, 0.0, 3.0, 0.0]])})["X"].tolist()
    [[[3.0, -1.0]]]
    """
    x, dx, y, dy, log = free["z"].unbind(1)

    def both(mean: Tensor, half: Tensor) -> Tensor:
        return torch.stack([mean + half, mean - half], -1)[:, None]

    return {"X": both(x, dx), "Y": both(y, dy), "lam": log.exp()}


def edges() -> dict[str, dict[str, Tensor]]:
    """Two points where the factor is attained, without spread, and with tiny and huge λ.

    Examples
    --------
    >>> list(edges())
    ['x = ±2, y = ±2, λ = 1', 'no spread', 'tiny λ', 'huge λ']
    """
    pair = torch.tensor([[[2.0, -2.0]]]).double()

    def case(X: Tensor, Y: Tensor, lam: float) -> dict[str, Tensor]:
        return {"X": X, "Y": Y, "lam": torch.full((1,), lam).double()}

    return {
        "x = ±2, y = ±2, λ = 1": case(pair, pair, 1.0),
        "no spread": case(pair.abs(), pair.abs(), 1.0),
        "tiny λ": case(pair + 1, pair - 3, 1e-9),
        "huge λ": case(pair + 1, pair - 3, 1e9),
    }
