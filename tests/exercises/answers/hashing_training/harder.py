"""Exercise 2 of Theorem 8."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor


def solution(labels: Tensor, rng: np.random.Generator) -> np.ndarray:
    return rng.permutation(labels)


def also_in_turn(labels: Tensor, rng: np.random.Generator) -> Tensor:
    """In turn, 0 1 2 0 1 2 …: every manifold has all labels."""
    m = int(labels.max()) + 1
    return torch.arange(len(labels)) % m


def wrong_names(labels: Tensor, rng: np.random.Generator) -> Tensor:
    """Other names for the same classes."""
    return labels.max() - labels


def wrong_given(labels: Tensor, rng: np.random.Generator) -> Tensor:
    """Hard enough as they are."""
    return labels


def wrong_one_class(labels: Tensor, rng: np.random.Generator) -> Tensor:
    """Puts everything in one class."""
    return torch.zeros_like(labels)


def wrong_new_draw(labels: Tensor, rng: np.random.Generator) -> np.ndarray:
    """Draws labels anew, so that the classes change their size."""
    return rng.integers(0, int(labels.max()) + 1, len(labels))
