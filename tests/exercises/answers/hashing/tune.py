"""Exercise 2 of natural images."""

from __future__ import annotations

import torch
from torch import Tensor


def parts(R: Tensor) -> tuple[Tensor, Tensor]:
    """Mean squares of each feature, between classes and within."""
    n, spread = R.shape[1], R.var(1, correction=0)
    within = 2 * n / (n - 1) * spread.mean(0)
    return 2 * R.mean(1).var(0) + 2 * spread.mean(0), within


def solution(R: Tensor, target: float) -> Tensor:
    between, within = parts(R)
    above = between > target * within
    lack = (target * within - between)[~above].sum()
    weight = lack / (between - target * within)[above].sum()
    return torch.where(above, weight.sqrt(), 1.0)


def also_bisection(R: Tensor, target: float) -> Tensor:
    """The slow way: the same two groups, and a search for the weight."""
    between, within = parts(R)
    above = between > target * within
    low, high = -60.0, 60.0
    for _ in range(100):
        middle = (low + high) / 2
        weight = torch.where(above, torch.tensor(middle).double().exp(), 1.0)
        found = (weight * between).sum() / (weight * within).sum()
        low, high = (middle, high) if found < target else (low, middle)
    return weight.sqrt()


def wrong_no_root(R: Tensor, target: float) -> Tensor:
    """Squares are weighted by the square of the factor."""
    return solution(R, target) ** 2


def wrong_common(R: Tensor, target: float) -> Tensor:
    """One factor for all features, which cancels in a ratio."""
    between, within = parts(R)
    return torch.full((R.shape[2],), float((target * within.sum() / between.sum()).sqrt()))


def wrong_drop(R: Tensor, target: float) -> Tensor:
    """Drops the features that are below the target: a factor of zero is not allowed."""
    between, within = parts(R)
    return (between > target * within).double()


def wrong_population(R: Tensor, target: float) -> Tensor:
    """Takes the variance of the class means for the distance between, without its 2 and its W."""
    within = R.var(1).mean(0)
    between = R.mean(1).var(0)
    above = between > target * within
    lack = (target * within - between)[~above].sum()
    gain = (between - target * within)[above].sum()
    return torch.where(above, (lack / gain).clamp(0.01, 100.0).sqrt(), 1.0)
