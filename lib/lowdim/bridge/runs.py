r"""Many networks trained at once on digits that lie in a plane, looked at on one clock.

The 64 pixels are turned into :math:`\mathbb R^m` by a random isometry, so the directions normal to
the data are known exactly. Networks are an axis: each has a weight decay and a seed of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor, nn

from lowdim import checks
from lowdim.data import images
from lowdim.seeds import generator

__all__ = ["Run", "World", "digits", "train"]

SEEN = 5
"""Digits from 0 to 4 are trained on; those from 5 to 9 are the unseen classes."""


@dataclass(frozen=True)
class World:
    """train, held_out, unseen: inputs (n, m) and labels (n,); along (m, d), normal (m, m - d):
    orthonormal bases of the plane of the data through their mean, and of its complement."""

    train: tuple[Tensor, Tensor]
    held_out: tuple[Tensor, Tensor]
    unseen: tuple[Tensor, Tensor]
    along: Tensor
    normal: Tensor

    def splits(self) -> dict[str, tuple[Tensor, Tensor]]:
        """The three sets by name."""
        return {"train": self.train, "held_out": self.held_out, "unseen": self.unseen}


def digits(*, ambient: int = 96, points: int = 600, seed: int = 0) -> World:
    """scikit-learn's digits in R^ambient; ``points`` of 0 to 4 to train on, the rest held out.

    Raises
    ------
    ValueError
        If ``ambient`` is below 65 or ``points`` is not between 50 and 850.

    Examples
    --------
    >>> world = digits(ambient=80, points=200)
    >>> world.train[0].shape, sorted(set(world.unseen[1].tolist()))
    (torch.Size([200, 80]), [5, 6, 7, 8, 9])
    >>> bool((world.unseen[0] @ world.normal - world.train[0][0] @ world.normal).abs().max() < 1e-9)
    True
    """
    checks.whole(ambient, "ambient", 65)
    if not 50 <= checks.whole(points, "points", 50) <= 850:
        raise ValueError(f"points must be between 50 and 850; you gave {points}.")
    found = images.load("digits")
    rng = generator(seed, 0, "world")
    order = rng.permutation(len(found.labels))
    raw = found.images[order].reshape(len(order), -1).astype(np.float64)
    y = torch.from_numpy(found.labels[order].astype(np.int64))
    turn = np.linalg.qr(rng.standard_normal((ambient, raw.shape[1])))[0]
    x = torch.from_numpy(raw / raw.max() @ turn.T)
    seen = y < SEEN
    # all ten digits: an unseen class is to leave the plane no more than a seen one
    centred = x - x.mean(0)
    values, vectors = torch.linalg.eigh(centred.mT @ centred)
    d = int((values > 1e-9 * values[-1]).sum())
    first, rest = seen.nonzero()[:points, 0], seen.nonzero()[points:, 0]
    new = (~seen).nonzero()[:, 0]
    return World(
        (x[first], y[first]),
        (x[rest], y[rest]),
        (x[new], y[new]),
        vectors[:, -d:].contiguous(),
        vectors[:, :-d].contiguous(),
    )


@dataclass(frozen=True)
class Run:
    """Weights after some steps: ``weights`` holds (T, out, in) and ``biases`` (T, out) by layer."""

    step: int
    weights: tuple[Tensor, ...]
    biases: tuple[Tensor, ...]

    def hidden(self, x: Tensor) -> Tensor:
        """The last hidden layer's values (T, n, width) at points (n, m), in double precision."""
        return self.layers(x)[-2]

    def layers(self, x: Tensor) -> list[Tensor]:
        """Values (T, n, width) of each hidden layer, after ReLU, and of the output."""
        out = []
        h = x.double().expand(len(self.weights[0]), *x.shape)
        for i, (W, b) in enumerate(zip(self.weights, self.biases, strict=True)):
            h = h @ W.double().mT + b.double()[:, None]
            if i < len(self.weights) - 1:
                h = h.relu()
            out.append(h)
        return out

    def module(self, trial: int) -> nn.Sequential:
        """One of the networks as a module of torch.

        Examples
        --------
        >>> W, b = torch.ones(1, 2, 3), torch.zeros(1, 2)
        >>> Run(0, (W,), (b,)).module(0)(torch.ones(1, 3)).tolist()
        [[3.0, 3.0]]
        """
        parts: list[nn.Module] = []
        for W, b in zip(self.weights, self.biases, strict=True):
            layer = nn.Linear(W.shape[2], W.shape[1])
            with torch.no_grad():
                layer.weight.copy_(W[trial])
                layer.bias.copy_(b[trial])
            parts += [layer, nn.ReLU()]
        return nn.Sequential(*parts[:-1])


def train(
    world: World,
    *,
    decays: Sequence[float],
    seeds: int = 3,
    width: int = 64,
    depth: int = 2,
    rate: float = 0.2,
    steps: int = 600,
    batch: int = 50,
    ticks: Sequence[int] = (),
    seed: int = 0,
) -> list[Run]:
    """Stochastic gradient descent on all ``decays`` × ``seeds`` networks, T of them, at once.

    Network i has decay ``decays[i // seeds]`` and start and batches of seed ``i % seeds``; a step
    is W ← W − rate (gradient of the cross-entropy + decay W), biases are not decayed. ``depth``
    counts hidden layers. The state is kept after each step that ``ticks`` names, and at the end.

    Raises
    ------
    ValueError
        If a count is below 1.

    Examples
    --------
    >>> world = digits(points=100)
    >>> kept = train(world, decays=(0.0, 0.1), seeds=1, width=8, steps=2, ticks=(0,))
    >>> [run.step for run in kept], kept[0].weights[0].shape
    ([0, 2], torch.Size([2, 8, 96]))
    """
    for value, name in ((seeds, "seeds"), (width, "width"), (depth, "depth"), (steps, "steps")):
        checks.whole(value, name, 1)
    x, y = world.train[0].float(), world.train[1]
    sizes = [x.shape[1], *[width] * depth, SEEN]
    weights, biases = [], []
    for layer, (a, b) in enumerate(pairwise(sizes)):
        drawn = [
            generator(seed, trial, "start", layer).uniform(-1, 1, (b, a)) * (3 / a) ** 0.5
            for trial in range(seeds)
        ]
        start = torch.from_numpy(np.stack(drawn * len(decays))).float()
        weights.append(start.requires_grad_())
        biases.append(torch.zeros(len(start), b).requires_grad_())
    shrink = torch.tensor(decays, dtype=torch.float32).repeat_interleave(seeds)
    orders = [generator(seed, trial, "batches") for trial in range(seeds)]
    pools = [np.empty(0, dtype=np.int64)] * seeds
    kept: list[Run] = []

    def keep(step: int) -> None:
        copies = [tuple(p.detach().clone() for p in group) for group in (weights, biases)]
        kept.append(Run(step, *copies))

    if 0 in ticks:
        keep(0)
    for step in range(1, steps + 1):
        rows = []
        for s in range(seeds):
            if len(pools[s]) < batch:
                pools[s] = orders[s].permutation(len(y))
            rows.append(pools[s][:batch])
            pools[s] = pools[s][batch:]
        at = torch.from_numpy(np.stack(rows))
        h = x[at].repeat(len(decays), 1, 1)
        for i, (W, bias) in enumerate(zip(weights, biases, strict=True)):
            h = torch.baddbmm(bias[:, None], h, W.mT)
            if i < depth:
                h = h.relu()
        target = y[at].repeat(len(decays), 1)
        loss = nn.functional.cross_entropy(h.flatten(0, 1), target.flatten(), reduction="sum")
        grads = torch.autograd.grad(loss / at.shape[1], [*weights, *biases])
        with torch.no_grad():
            for p, g in zip([*weights, *biases], grads, strict=True):
                if p.ndim == 3:
                    p.mul_((1 - rate * shrink)[:, None, None])
                p.sub_(rate * g)
        if step in ticks or step == steps:
            keep(step)
    return kept
