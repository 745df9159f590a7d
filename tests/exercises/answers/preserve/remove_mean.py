"""Exercise 2 of real data."""

from __future__ import annotations

from torch import Tensor


def solution(X: Tensor) -> Tensor:
    return X - X.mean(1, keepdim=True)


def wrong_zero(X: Tensor) -> Tensor:
    """Nothing has mean zero and does not mind shifts."""
    return 0 * X


def wrong_axis(X: Tensor) -> Tensor:
    """Takes from every image its own mean brightness."""
    return X - X.mean(0, keepdim=True)


def wrong_overall(X: Tensor) -> Tensor:
    """One number for all pixels."""
    return X - X.mean()


def wrong_spread(X: Tensor) -> Tensor:
    """Divides by the spread of each pixel, too."""
    return (X - X.mean(1, keepdim=True)) / (X - X.mean(1, keepdim=True)).norm()
