"""Exercise 2 of the random ReLU kernel."""

from __future__ import annotations

import torch
from torch import Tensor


def rows(X: Tensor, count: int, seed: int) -> Tensor:
    draw = torch.Generator().manual_seed(seed)
    return torch.randn(count, X.shape[0], generator=draw, dtype=X.dtype)


def solution(X: Tensor, width: int, seed: int) -> Tensor:
    C = rows(X, width // 2, seed) / width**0.5
    return torch.cat([C @ X, -C @ X]).clamp_min(0)


def wrong_scale(X: Tensor, width: int, seed: int) -> Tensor:
    """Divides by the number of pairs: twice the kernel."""
    C = rows(X, width // 2, seed) / (width // 2) ** 0.5
    return torch.cat([C @ X, -C @ X]).clamp_min(0)


def wrong_independent(X: Tensor, width: int, seed: int) -> Tensor:
    """Independent rows: the right mean, and no pairs."""
    return (rows(X, width, seed) / width**0.5 @ X).clamp_min(0)


def wrong_sign_outside(X: Tensor, width: int, seed: int) -> Tensor:
    """Turns the sign after the ReLU in place of before it."""
    Z = (rows(X, width // 2, seed) / width**0.5 @ X).clamp_min(0)
    return torch.cat([Z, -Z])


def wrong_absolute(X: Tensor, width: int, seed: int) -> Tensor:
    """Adds the two of a pair: an absolute value, whose kernel is another."""
    Z = (rows(X, width // 2, seed) / width**0.5 @ X).abs()
    return torch.cat([Z, torch.zeros_like(Z)])
