"""Exercise 2 of learned weights."""

from __future__ import annotations

import torch
from torch import Tensor


def solution(X: Tensor, S: Tensor) -> Tensor:
    U, s, Vh = torch.linalg.svd(X, full_matrices=False)
    R = torch.linalg.qr(Vh[:4] @ S, mode="complete").Q
    strength = torch.tensor([2.0 if i < S.shape[1] else 1.0 for i in range(4)]).double()
    return strength[:, None] * R.T @ torch.diag(1 / s[:4]) @ U[:, :4].T


def wrong_principal(X: Tensor, S: Tensor) -> Tensor:
    """Principal components: a minimizer, and it shows the space of X."""
    return torch.linalg.svd(X, full_matrices=False).U[:, :4].T


def wrong_rank(X: Tensor, S: Tensor) -> Tensor:
    """Shows the space and nothing else, so that a decoder has too little."""
    W = torch.zeros(4, len(X)).double()
    W[: S.shape[1]] = S.T @ torch.linalg.pinv(X)
    return W


def wrong_values(X: Tensor, S: Tensor) -> Tensor:
    """Forgets that X brings its own singular values along."""
    U, _, Vh = torch.linalg.svd(X, full_matrices=False)
    R = torch.linalg.qr(Vh[:4] @ S, mode="complete").Q
    strength = torch.tensor([2.0 if i < S.shape[1] else 1.0 for i in range(4)]).double()
    return strength[:, None] * R.T @ U[:, :4].T


def wrong_equal(X: Tensor, S: Tensor) -> Tensor:
    """Whitened: the space is in it, and no more principal than any other."""
    U, s, Vh = torch.linalg.svd(X, full_matrices=False)
    R = torch.linalg.qr(Vh[:4] @ S, mode="complete").Q
    return R.T @ torch.diag(1 / s[:4]) @ U[:, :4].T
