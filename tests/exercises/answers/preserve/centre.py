"""Exercise 2 of Lemma 4.3."""

from __future__ import annotations

import torch
from torch import Tensor


def solution(M: Tensor) -> Tensor:
    return M - M.mean(-2, keepdim=True)


def also_rows(M: Tensor) -> Tensor:
    """The other side serves as well."""
    return M - M.mean(-1, keepdim=True)


def wrong_nothing(M: Tensor) -> Tensor:
    """Forgets the constant."""
    return M


def wrong_half(M: Tensor) -> Tensor:
    """Takes away what the sigmoid adds: right for Y, but affine, and H is moved too."""
    return M - 0.5


def wrong_overall_mean(M: Tensor) -> Tensor:
    """One mean for the whole matrix instead of one for each column: linear, and not enough."""
    return M - 2 * M.mean()


def wrong_zero(M: Tensor) -> Tensor:
    """The bound of nothing is small."""
    return 0 * M


def wrong_signs(M: Tensor) -> Tensor:
    """Not linear: looks at what it was given and centres the sigmoid only."""
    return M - 0.5 * (M.mean() > 0.25)


def wrong_normalized(M: Tensor) -> Tensor:
    """Centres and divides by the spread, as batch normalization does: not linear."""
    return (M - M.mean(-2, keepdim=True)) / torch.std(M)
