"""How long random layers make a unit vector: with the ReLU, and without it."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from lowdim.hashing import bounds

__all__ = ["exceeding", "radii"]


def radii(count: int, rng: np.random.Generator) -> dict[str, Tensor]:
    """sup ‖σ(Cx)‖ over unit x by ascent (``left``), and its bound but for a chance of 10⁻⁶.

    ``count`` random layers C (D, d) of shapes d <= D < 60 with entries of variance 1/D.

    Examples
    --------
    >>> case = radii(5, np.random.default_rng(0))
    >>> bool((case["left"] < case["right"]).all())
    True
    """
    found = []
    for _ in range(count):
        D = int(rng.integers(1, 60))
        d = int(rng.integers(1, D + 1))
        C = rng.standard_normal((D, d)) / D**0.5
        x = rng.standard_normal((d, 12))
        z = np.zeros((D, 12))
        for _ in range(60):
            x = x / np.maximum(np.linalg.norm(x, axis=0), 1e-12)
            z = np.maximum(C @ x, 0)
            x = C.T @ z
        found.append((np.linalg.norm(z, axis=0).max(), bounds.relu_radius(D, d, 1e-6)))
    return _sides(found)


def exceeding(count: int, rng: np.random.Generator) -> dict[str, Tensor]:
    """Share of square C with ‖C‖₂ > 4, plus three standard errors (``left``), and e^(−2D).

    For D = 1, 2, 3, from 20000 layers each, whatever ``count`` is.

    Examples
    --------
    >>> exceeding(1, np.random.default_rng(0))["left"].shape
    torch.Size([3])
    """
    shares = []
    for D in (1, 2, 3):
        drawn = rng.standard_normal((20000, D, D)) / D**0.5
        share = (np.linalg.norm(drawn, 2, axis=(1, 2)) > 4).mean()
        shares.append((share + 3 * (max(share, 1e-5) / 20000) ** 0.5, np.exp(-2 * D)))
    return _sides(shares)


def _sides(pairs: list[tuple[float, float]]) -> dict[str, Tensor]:
    left, right = torch.tensor(pairs, dtype=torch.float64).T
    return {"left": left, "right": right}
