"""Exercise 2 of Theorem 2.4."""

from __future__ import annotations

import torch
from torch import Tensor


def solution(factors: list[Tensor]) -> list[Tensor]:
    return [factors[0] / 3, 3 * factors[1]]


def also_more(factors: list[Tensor]) -> list[Tensor]:
    """Further."""
    return [factors[0] / 100, 100 * factors[1]]


def wrong_direction(factors: list[Tensor]) -> list[Tensor]:
    """A large first layer, since it is the one whose normal part is frozen: the wrong way."""
    return [3 * factors[0], factors[1] / 3]


def wrong_product(factors: list[Tensor]) -> list[Tensor]:
    """Makes the frozen part small and the product with it."""
    return [factors[0] / 3, factors[1]]


def wrong_normal(factors: list[Tensor]) -> list[Tensor]:
    """Sets the frozen part to zero, which changes w."""
    return [factors[0] * torch.tensor([1.0, 0.0], dtype=torch.float64), factors[1]]


def wrong_rotation(factors: list[Tensor]) -> list[Tensor]:
    """Turns the hidden layer: the product stays, and so does everything else."""
    n = factors[0].shape[0]
    Q = torch.linalg.qr(torch.vander(torch.linspace(0.3, 1, n).double()))[0]
    return [Q @ factors[0], factors[1] @ Q.T]
