"""Exercise 2 of Lemma 4.2."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor


def _complete(labels: np.ndarray) -> Tensor:
    V = torch.stack([torch.as_tensor(labels == k).double() for k in (0, 1)], 1)
    return torch.linalg.qr(V, mode="complete").Q


def solution(X: Tensor, labels: np.ndarray) -> Tensor:
    scale = torch.tensor([1.0] * 2 + [0.1] * (len(X) - 2)).double()
    return (_complete(labels) * scale).T @ torch.linalg.inv(X)


def also_by_projector(X: Tensor, labels: np.ndarray) -> Tensor:
    """The target's projector plus a little of the identity."""
    V = _complete(labels)[:, :2]
    return (V @ V.T + 0.2 * torch.eye(len(X))) @ torch.linalg.inv(X)


def wrong_not_shrunk(X: Tensor, labels: np.ndarray) -> Tensor:
    """All directions of equal strength: none of them is principal."""
    return _complete(labels).T @ torch.linalg.inv(X)


def wrong_rank_two(X: Tensor, labels: np.ndarray) -> Tensor:
    """Shrinks the completion to nothing, and W with it."""
    V = _complete(labels)[:, :2]
    return V @ V.T @ torch.linalg.inv(X)


def wrong_enlarged(X: Tensor, labels: np.ndarray) -> Tensor:
    """Shrinks the two directions that it wants."""
    scale = torch.tensor([0.1] * 2 + [1.0] * (len(X) - 2)).double()
    scale[2:] += 0.1 * torch.arange(len(X) - 2)
    return (_complete(labels) * scale).T @ torch.linalg.inv(X)


def wrong_without_inverse(X: Tensor, labels: np.ndarray) -> Tensor:
    """Forgets that W is applied to X."""
    scale = torch.tensor([1.0] * 2 + [0.1] * (len(X) - 2)).double()
    return (_complete(labels) * scale).T
