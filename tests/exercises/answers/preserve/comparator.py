"""Exercise 2 of Theorem 3.1."""

from __future__ import annotations

import torch
from torch import Tensor


def solution(Y: Tensor, X: Tensor) -> Tensor:
    return Y @ torch.linalg.pinv(X)


def wrong_transpose(Y: Tensor, X: Tensor) -> Tensor:
    """As if the rows of X were orthonormal."""
    return Y @ X.T


def wrong_ridge(Y: Tensor, X: Tensor) -> Tensor:
    """A little weight decay, so that the inverse exists: near, and not nearest."""
    return Y @ X.T @ torch.linalg.inv(X @ X.T + 1e-3 * torch.eye(len(X)))


def wrong_half(Y: Tensor, X: Tensor) -> Tensor:
    """Half of what would fit: thinks of W/2, but Y is already the output."""
    return Y @ torch.linalg.pinv(X) / 2
