"""Exercise 2 of Theorem 5.1."""

from __future__ import annotations

import torch
from torch import Tensor


def solution(Q: Tensor, J: tuple[int, ...]) -> Tensor:
    U, s, Vh = torch.linalg.svd(Q, full_matrices=False)
    i = min(k for k in range(len(s)) if k not in J)
    j = max(J)
    return torch.outer(U[:, i], Vh[j]) + torch.outer(U[:, j], Vh[i])


def wrong_sign(Q: Tensor, J: tuple[int, ...]) -> Tensor:
    """The other eigenvector of the pair, along which the loss rises fastest."""
    U, s, Vh = torch.linalg.svd(Q, full_matrices=False)
    i, j = min(k for k in range(len(s)) if k not in J), max(J)
    return torch.outer(U[:, i], Vh[j]) - torch.outer(U[:, j], Vh[i])


def wrong_one_side(Q: Tensor, J: tuple[int, ...]) -> Tensor:
    """Turns the columns and leaves the rows."""
    U, s, Vh = torch.linalg.svd(Q, full_matrices=False)
    i, j = min(k for k in range(len(s)) if k not in J), max(J)
    return torch.outer(U[:, i], Vh[j])


def wrong_normal(Q: Tensor, J: tuple[int, ...]) -> Tensor:
    """Adds the dropped triple, which leaves the matrices of that rank."""
    U, s, Vh = torch.linalg.svd(Q, full_matrices=False)
    i = min(k for k in range(len(s)) if k not in J)
    return torch.outer(U[:, i], Vh[i])


def wrong_strong(Q: Tensor, J: tuple[int, ...]) -> Tensor:
    """Turns the strongest kept direction towards the weakest dropped one."""
    U, s, Vh = torch.linalg.svd(Q, full_matrices=False)
    i, j = max(k for k in range(len(s)) if k not in J), min(J)
    return torch.outer(U[:, i], Vh[j]) + torch.outer(U[:, j], Vh[i])
