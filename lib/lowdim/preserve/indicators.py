r"""Spaces that contain the indicators of the clusters, as those of a perfect clusterer do.

A case has coefficients ``C`` (B, r, n), of which the blocks on the diagonal are used, and ``B``
(B, n, r − K): the space is that of the K indicators and the columns of ``B``. Three clusters of 4,
5 and 6 points have dimensions 2, 2 and 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from lowdim.evidence.attacks import Case
from lowdim.preserve import drift

__all__ = ["CLUSTERS", "DIMS", "RANK", "SIZES", "Against", "against", "aligned", "random", "units"]

SIZES, DIMS = (4, 5, 6), (2, 2, 1)
CLUSTERS, RANK, POINTS = len(SIZES), sum(DIMS), sum(SIZES)


def units() -> Tensor:
    """The indicators of the clusters as unit vectors, (n, K).

    Examples
    --------
    >>> torch.allclose(units().T @ units(), torch.eye(3, dtype=torch.float64))
    True
    """
    ones = torch.block_diag(*[torch.ones(1, size, dtype=torch.float64) for size in SIZES])
    return (ones / ones.sum(1, keepdim=True).sqrt()).T


@dataclass(frozen=True)
class Against:
    r"""A space S with the indicators against the row space :math:`P^*` of the data, each (B,).

    distance: normalized; overlap: :math:`\operatorname{tr}(SP^*)`; kept: :math:`\sum_kc_k`, what
    :math:`P^*` keeps of the indicators.
    """

    distance: Tensor
    overlap: Tensor
    kept: Tensor


def against(case: Case) -> Against:
    """Measure the spaces of a case.

    Examples
    --------
    >>> found = against(aligned(0))
    >>> bool(abs(found.distance**2 - (CLUSTERS - found.kept) / RANK) < 1e-9)
    True
    """
    blocks = [torch.ones(d, n, dtype=torch.float64) for d, n in zip(DIMS, SIZES, strict=True)]
    star = torch.linalg.qr((case["C"] * torch.block_diag(*blocks)).mT).Q
    unit = units()
    V = torch.linalg.qr(torch.cat([unit.expand(len(case["C"]), -1, -1), case["B"]], -1)).Q
    overlap = (star.mT @ V).square().sum((-2, -1))
    kept = (star.mT @ unit).square().sum((-2, -1))
    return Against(drift.apart(star, V), overlap, kept)


def random(count: int, rng: np.random.Generator) -> dict[str, Tensor]:
    """Gaussian coefficients, and the other directions of the space Gaussian too.

    Examples
    --------
    >>> random(2, np.random.default_rng(0))["B"].shape
    torch.Size([2, 15, 2])
    """
    shapes = {"C": (RANK, POINTS), "B": (POINTS, RANK - CLUSTERS)}
    return {k: torch.from_numpy(rng.standard_normal((count, *s))) for k, s in shapes.items()}


def aligned(seed: int) -> dict[str, Tensor]:
    r"""One case whose other directions lie in :math:`P^*`, orthogonal to the indicators: equality.

    In each of the two planes it is the combination of the rows whose entries sum to zero.

    Examples
    --------
    >>> bool(aligned(0)["B"].sum(1).abs().max() < 1e-12)
    True
    """
    C = torch.randn(1, 5, 15, generator=torch.Generator().manual_seed(seed)).double()
    B = torch.zeros(1, POINTS, 2, dtype=torch.float64)
    for k, (part, first) in enumerate(((C[0, :2, :4], 0), (C[0, 2:4, 4:9], 4))):
        total = part.sum(1)
        B[0, first : first + part.shape[1], k] = total[1] * part[0] - total[0] * part[1]
    return {"C": C, "B": B}
