"""Networks with one hidden layer trained on a plane, and bounds on what they do off it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from lowdim.embedded import offdata, shifts
from lowdim.nets import training
from lowdim.nets.networks import Dense, Weights, mapped
from lowdim.seeds import generator

__all__ = ["OffPlane", "bounds", "train"]


def train(
    normal: float | None,
    *,
    nets: int,
    width: int,
    points: int,
    epochs: int,
    seed: int,
    looks: Sequence[int] = (),
) -> dict[int, Weights]:
    """Weights of ``nets`` networks by epoch of SGD on ``points`` of a cube in 3 of 5.

    The labels are Σ sin πx. The normal weights start as drawn, or all at ``normal``. Kept are the
    weights before (0), after (``epochs``) and at the ``looks`` in between.

    Examples
    --------
    >>> seen = train(1.0, nets=2, width=4, points=40, epochs=2, seed=0, looks=[1])
    >>> list(seen), bool((seen[2][0][0][..., 3:] == 1).all())
    ([0, 1, 2], True)
    """
    net = Dense((5, width, 1))
    x = torch.from_numpy(2 * generator(seed, 0, "points").random((3, points)) - 1).float()
    X, goal = torch.cat([x, torch.zeros(2, points)]), torch.sin(torch.pi * x).sum(0, keepdim=True)
    start = net.init(trials=nets, seed=seed, kind="uniform")
    if normal is not None:
        start[0][0][..., 3:] = normal
    rates = training.cosine_rates(5e-2, 5e-4, epochs)
    objective = training.Objective(net, X, goal, normalization="half")
    seen: dict[int, Weights] = {}

    def each(epoch: int, weights: Weights) -> None:
        if epoch in {0, epochs, *looks}:
            seen[epoch] = mapped(weights, torch.Tensor.clone)

    offdata.anneal(objective, start, rates, batch=20, seed=seed, each=each)
    return seen


@dataclass(frozen=True)
class OffPlane:
    """What networks do off the plane (nets,): squared norm of the change, and bounds on it.

    ``printed``: the sum of the neurons' bounds; ``two``: added up by signs; ``lipschitz``: in one
    line; ``better``: the share of neurons whose own bound is below Lipschitz.
    """

    change: Tensor
    printed: Tensor
    two: Tensor
    lipschitz: Tensor
    better: Tensor


def bounds(weights: Weights, y: Tensor, *, samples: int = 4096) -> OffPlane:
    """Networks with one hidden layer on (x, y), x in three dimensions, at one y (2,).

    The norm is an average over Sobol points, the bounds are exact.

    Examples
    --------
    >>> seen = train(1.0, nets=2, width=4, points=40, epochs=1, seed=0)
    >>> q = bounds(seen[0], torch.tensor([0.1, 0.1]).double(), samples=256)
    >>> bool((q.change <= q.two).all() and (q.change <= q.lipschitz).all())
    True
    """
    whole = mapped(weights, torch.Tensor.double)
    (W1, b1), (W2, _) = whole
    w, s, v = W1[..., :3], W1[..., 3:] @ y, W2[:, 0]
    q = shifts.measured(w, b1.view_as(s), s)
    B = v.square() * q.printed
    net = Dense((5, W1.shape[1], 1))
    away = y[:, None].expand(2, samples)
    change = 8 * offdata.stability(net, whole, offdata.cube_points(3, samples), away)
    return OffPlane(
        change,
        B.sum(1),
        shifts.two_signs(v.square() * q.one_sided, v * s),
        8 * v.square().sum(1) * s.square().sum(1),
        (B < 8 * v.square() * s.square()).double().mean(1),
    )
