"""Training with weight decay on data without noise: losses on and off the plane, and stability."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from lowdim.embedded import offdata
from lowdim.nets import training
from lowdim.nets.networks import Dense, Weights
from lowdim.seeds import generator

__all__ = ["NAMES", "Grown", "grow"]

NAMES = ("training loss", "test loss, off the plane", "test loss, on it", "stability metric")


@dataclass(frozen=True)
class Grown:
    """Traces (epochs + 1, 4, nets) of :data:`NAMES`, and the mean normal weight in the end."""

    trace: Tensor
    weight: float

    @property
    def final(self) -> Tensor:
        """The four in the end, means over the networks (4,)."""
        return self.trace[-1].mean(1)


def grow(
    decay: float,
    *,
    depth: int,
    width: int,
    nets: int,
    points: int,
    samples: int,
    epochs: int,
    batch: int,
    rate: float,
    seed: int,
) -> Grown:
    """Train ``nets`` networks with the penalty λ = ``decay`` on ``points`` of a cube in 3 of 5.

    The labels are Σ sin πx. All normal weights of the first layer start at 1. Rates fall from
    ``rate`` to a hundredth of it by a cosine; ``samples`` test points have normal components of
    standard deviation 1/2.

    Examples
    --------
    >>> how = {"depth": 2, "width": 4, "nets": 2, "points": 40, "samples": 50, "epochs": 2}
    >>> made = grow(0.0, batch=10, rate=0.03, seed=0, **how)
    >>> made.trace.shape, made.weight  # nothing moves the normal weights
    (torch.Size([3, 4, 2]), 1.0)
    """
    net = Dense((5, *(width,) * (depth - 1), 1))
    x = torch.from_numpy(2 * generator(seed, 0, "points").random((3, points)) - 1).float()
    draw = generator(seed, 0, "test")
    x_test = torch.from_numpy(2 * draw.random((3, samples)) - 1).float()
    y_test = torch.from_numpy(0.5 * draw.standard_normal((2, samples))).float()
    train = torch.cat([x, torch.zeros(2, points)]), _labels(x)
    places = [train] + [(torch.cat([x_test, k * y_test]), _labels(x_test)) for k in (1, 0)]
    start, trace = net.init(trials=nets, seed=seed, kind="kaiming"), []
    start[0][0][..., 3:] = 1.0

    def each(_: int, weights: Weights) -> None:
        outputs = [(net.forward(weights, X)[1][-1], g) for X, g in places]
        losses = [(f - g).square().mean((1, 2)) / 2 for f, g in outputs]
        trace.append(torch.stack([*losses, offdata.stability(net, weights, x_test, y_test)]))

    rates = training.cosine_rates(rate, rate / 100, epochs)
    objective = training.Objective(net, *train, normalization="half", penalty=decay)
    end = offdata.anneal(objective, start, rates, batch=batch, seed=seed, each=each)
    return Grown(torch.stack(trace), float(end[0][0][..., 3:].mean()))


def _labels(x: Tensor) -> Tensor:
    return torch.sin(torch.pi * x).sum(0, keepdim=True)
