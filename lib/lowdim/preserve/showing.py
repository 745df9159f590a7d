"""Projectors that show given labels, nearly or not at all: cases for the price of clusters.

A case has bases ``V`` and ``W`` (B, 9, r) and ``Q`` (B, 9, r), whose projector is block-diagonal;
the nine points have the labels 0, 1, 2 in turn.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor

from lowdim.evidence.attacks import Case
from lowdim.preserve import blocks

__all__ = ["GROUPS", "LABELS", "build", "line", "random"]

POINTS, GROUPS = 9, 3
LABELS = torch.arange(POINTS) % GROUPS


def random(count: int, rng: np.random.Generator) -> dict[str, Tensor]:
    """V near the indicators of the labels or far from them, W near V or far, any Q.

    Examples
    --------
    >>> case = random(4, np.random.default_rng(0))
    >>> bool(blocks.off_block(case["Q"], LABELS).max() < 1e-12)
    True
    """
    own = torch.nn.functional.one_hot(LABELS).double()
    size = torch.from_numpy(10 ** rng.uniform(-3, 1, (count, 1, 1)))

    def noise() -> Tensor:
        return torch.from_numpy(rng.standard_normal((count, POINTS, GROUPS)))

    V = torch.linalg.qr(own + size * noise()).Q
    W = torch.linalg.qr(V + size * noise()).Q
    return {"V": V, "W": W, "Q": blocks.nearest(torch.linalg.qr(noise()).Q, LABELS)}


def build(free: Case) -> dict[str, Tensor]:
    """The case that three free matrices (B, 9, 3) stand for, for a climb.

    Examples
    --------
    >>> case = build({name: torch.randn(2, 9, 3).double() for name in "VWQ"})
    >>> bool((case["V"].mT @ case["V"] - torch.eye(3)).abs().max() < 1e-12)
    True
    """
    V, W, Q = (torch.linalg.qr(free[name]).Q for name in "VWQ")
    return {"V": V, "W": W, "Q": blocks.nearest(Q, LABELS)}


def line(angle: float, *, turn: float = 0.1) -> dict[str, Tensor]:
    """The line of (cos t, sin t) in the plane of two points with different labels, r = 1.

    W is the line turned on, Q that of a third point. The lower bound of the price is approached as
    t tends to 0, the upper one attained at π/4.

    Examples
    --------
    >>> V = line(math.pi / 4)["V"]
    >>> bool(abs(blocks.price(V, LABELS) ** 2 - blocks.off_block(V, LABELS)) < 1e-12)
    True
    """

    def at(t: float) -> Tensor:
        rows = [[math.cos(t)], [math.sin(t)], *[[0.0]] * (POINTS - 2)]
        return torch.tensor(rows, dtype=torch.float64)[None]

    third = torch.eye(POINTS)[None, :, 3:4].double()
    return {"V": at(angle), "W": at(angle + turn), "Q": third}
