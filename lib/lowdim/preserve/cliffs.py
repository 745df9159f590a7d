r"""Data at the edge of the first condition of (2): cases for the gap that Theorem 3.1 needs.

A case has ``clean`` (B, m, n) of rank r, noise ``Z`` (B, m, n), the factor ``c`` (B,), which is
:math:`\sqrt{128r}/\varepsilon`, and ``r`` (B,).
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from lowdim.data import unions
from lowdim.linalg import clusters, subspaces

__all__ = ["diagonal", "random"]

RANK = 3


def random(count: int, rng: np.random.Generator) -> dict[str, Tensor]:
    """Small unions of three lines with noise just small enough, or too large, for (2).

    Examples
    --------
    >>> case = random(3, np.random.default_rng(0))
    >>> case["clean"].shape, case["r"].tolist()
    (torch.Size([3, 8, 12]), [3, 3, 3])
    """
    D = unions.union_of_subspaces(
        trials=count,
        ambient=8,
        dims=(1,) * RANK,
        sizes=(4,) * RANK,
        noise=1.0,
        seed=int(rng.integers(2**31)),
    )
    V = subspaces.principal_rows(D.clean, RANK, method="svd")
    eps = clusters.smallest_on_support(V @ V.mT, zero=1e-9)
    c = (128 * RANK) ** 0.5 / eps
    top = subspaces.singular_values(D.clean)[:, RANK - 1]
    size = torch.from_numpy(rng.uniform(0.1, 1.2, count)) * top / c
    Z = D.noise * (size / subspaces.spectral_norm(D.noise))[:, None, None]
    return {"clean": D.clean, "Z": Z, "c": c, "r": torch.full((count,), RANK)}


def diagonal(share: float) -> dict[str, Tensor]:
    """X* = diag(1 + s, 0) and Z = diag(-s, s) with cs = ``share``: admitted just below 1.

    Examples
    --------
    >>> case = diagonal(0.5)
    >>> round(float((case["clean"] + case["Z"])[0, 0, 0]), 6)
    1.0
    """
    return {
        "clean": torch.diag(torch.tensor([1 + share / 128**0.5, 0.0]))[None].double(),
        "Z": torch.diag(torch.tensor([-share, share]) / 128**0.5)[None].double(),
        "c": torch.tensor([128**0.5]).double(),
        "r": torch.tensor([1]),
    }
