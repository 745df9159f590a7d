"""Exercise 2 of the projector."""

from __future__ import annotations

import torch
from torch import Tensor


def solution(P: Tensor, S: list[int]) -> int:
    rest = [j for j in range(len(P)) if j not in S]
    return int(torch.linalg.matrix_rank(P[S][:, rest], atol=1e-9))


def also_by_columns(P: Tensor, S: list[int]) -> int:
    """Columns of P have the ranks of columns of X, and its trace is the rank of X."""
    rest = [j for j in range(len(P)) if j not in S]
    ranks = [int(torch.linalg.matrix_rank(P[:, part], atol=1e-9)) for part in (S, rest)]
    return sum(ranks) - round(float(P.trace()))


def wrong_inside(P: Tensor, S: list[int]) -> int:
    """The rank of the block within S, which is that of X_S."""
    return int(torch.linalg.matrix_rank(P[S][:, S], atol=1e-9))


def wrong_entries(P: Tensor, S: list[int]) -> int:
    """Counts entries that are not zero: it is zero at the right times, and too large else."""
    rest = [j for j in range(len(P)) if j not in S]
    return int((P[S][:, rest].abs() > 1e-9).sum())


def wrong_connected(P: Tensor, S: list[int]) -> int:
    """One bridge or none: whether the two parts are joined, not by how much."""
    rest = [j for j in range(len(P)) if j not in S]
    return int((P[S][:, rest].abs() > 1e-9).any())


def wrong_half(P: Tensor, S: list[int]) -> float:
    """The sum of squares between the parts: right for eigenvalues one half, not in general."""
    rest = [j for j in range(len(P)) if j not in S]
    return round(4 * float((P[S][:, rest] ** 2).sum()))
