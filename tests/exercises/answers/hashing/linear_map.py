"""Exercise 2 of Table 1."""

from __future__ import annotations

import torch
from torch import Tensor


def solution(V: Tensor, W: Tensor) -> Tensor:
    both = torch.cat([V.sum(0), W.sum(0)], 1)
    return torch.linalg.pinv(both)[: V.shape[2]]


def also_complement(V: Tensor, W: Tensor) -> Tensor:
    """First the complement of what θ moves, then least squares for γ there."""
    S, Q = V.sum(0), torch.linalg.qr(W.sum(0))[0]
    P = torch.eye(len(S), dtype=S.dtype) - Q @ Q.mT
    return torch.linalg.pinv(P @ S) @ P


def wrong_tangent(V: Tensor, W: Tensor) -> Tensor:
    """Solves for γ as if θ were not there."""
    return torch.linalg.pinv(V.sum(0))


def wrong_transpose(V: Tensor, W: Tensor) -> Tensor:
    """Projects on the columns, which are orthogonal only nearly."""
    return V.sum(0).mT


def wrong_all_rows(V: Tensor, W: Tensor) -> Tensor:
    """Inverts everything and forgets to leave θ out."""
    return torch.linalg.pinv(torch.cat([V.sum(0), W.sum(0)], 1))


def wrong_one_term(V: Tensor, W: Tensor) -> Tensor:
    """Inverts the first of the four terms only."""
    return torch.linalg.pinv(torch.cat([V[0], W[0]], 1))[: V.shape[2]]
