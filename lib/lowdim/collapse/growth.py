r"""Soft ranks of trained layers against width and depth, for several weight decays at once.

Tanh networks learn images by full-batch descent with momentum from the same starts, once for each
weight decay. A *soft rank* is the number of singular values that carry all but a tenth of their
sum. Trainings are kept for the life of the process, because a picture and a table may ask for the
same ones.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import cycle
from typing import Any

import torch
from matplotlib.figure import Figure
from torch import Tensor

from lowdim.collapse import classes, decay
from lowdim.evidence import plots
from lowdim.linalg import ranks
from lowdim.nets import networks, training
from lowdim.nets.networks import Weights

__all__ = ["Grid", "Sweep", "Trained", "picture", "random_share"]

MOMENTUM = 0.9


def random_share(epsilon: float) -> float:
    """The limit of soft rank over width of a random square matrix, for tails below ``epsilon``.

    The singular values follow the quarter circle; those below 2 sin θ carry a share 1 - cos³θ.

    Examples
    --------
    >>> round(random_share(0.1), 3), random_share(0.0)
    (0.672, 1.0)
    """
    angle = math.acos((1 - epsilon) ** (1 / 3))
    return 1 - 2 / math.pi * (angle + math.sin(angle) * math.cos(angle))


@dataclass(frozen=True)
class Trained:
    """Networks of one shape, an axis for the weight decays and one for the draws.

    plain: soft ranks (looks, decays, draws, layers); square, frobenius: (decays, draws, layers) at
    the end, with squares summed to all but 0.1, and to all but 0.01 (an error of ten per cent);
    accuracy on the images learned, norm of the gradient: (decays, draws).
    """

    plain: Tensor
    square: Tensor
    frobenius: Tensor
    accuracy: Tensor
    gradient: Tensor

    @property
    def alive(self) -> Tensor:
        """(decays,) whether in all draws accuracy is above 0.2 and no layer is zero."""
        return ((self.accuracy > 0.2) & (self.plain[-1].amin(-1) > 0)).all(-1)


@dataclass(frozen=True)
class Sweep:
    """Trained networks at rising widths or depths ``x``."""

    x: tuple[int, ...]
    runs: tuple[Trained, ...]

    @property
    def alive(self) -> list[bool]:
        """For each weight decay, whether all networks are alive."""
        return torch.stack([run.alive for run in self.runs], -1).all(-1).tolist()

    @property
    def gradient(self) -> list[float]:
        """The largest norm of a gradient, for each weight decay."""
        return torch.stack([run.gradient.amax(-1) for run in self.runs]).amax(0).tolist()

    @property
    def accuracy(self) -> list[float]:
        """The least accuracy, for each weight decay."""
        return torch.stack([run.accuracy.amin(-1) for run in self.runs]).amin(0).tolist()

    def layer(self, at: int, *, by: str = "plain") -> Tensor:
        """Soft ranks (..., decays, draws, x) of one layer, counted from 0; ``by`` as `Trained`."""
        return torch.stack([getattr(run, by)[..., at] for run in self.runs], -1)

    def mean(self, *, inner: bool = False) -> Tensor:
        """Mean soft ranks (looks, decays, draws, x) over layers, first and last left out if inner.

        With no layer between the two it is NaN.
        """
        part = slice(1, -1) if inner else slice(None)
        return torch.stack([run.plain[..., part].mean(-1) for run in self.runs], -1)


@dataclass(frozen=True)
class Grid:
    """How networks are trained: images of ten classes, weight decays, draws, steps and their rate.

    Examples
    --------
    >>> sweep = Grid(per_class=3, decays=(0.0, 0.1), draws=2, steps=4).widths((12, 14))
    >>> tuple(sweep.layer(2).shape), len(sweep.alive)
    ((4, 2, 2, 2), 2)
    """

    dataset: str = "digits"
    per_class: int = 10
    decays: tuple[float, ...] = (0.0, 0.002, 0.005, 0.01, 0.02)
    draws: int = 3
    steps: int = 1200
    rate: float = 0.05
    seed: int = 0

    @property
    def looks(self) -> tuple[int, ...]:
        """Steps at which soft ranks are measured: start, a quarter, a half, end."""
        return 0, max(1, self.steps // 4), max(2, self.steps // 2), self.steps

    def images(self, side: int | None = None) -> tuple[classes.Classes, ...]:
        """The images of each draw, ``side`` by ``side`` if given."""
        return _images(self, side)

    def forgotten(self, lam: float) -> float:
        """The factor by which descent has shrunk what it never touched, at the end."""
        how = {"rate": self.rate, "momentum": MOMENTUM}
        return decay.forgetting(self.steps, decay=lam, **how)

    def widths(self, widths: Sequence[int], *, hidden: int = 4) -> Sweep:
        """Networks with ``hidden`` hidden layers of each width."""
        runs = (_trained(self, (n,) * hidden, None) for n in widths)
        return Sweep(tuple(widths), tuple(runs))

    def depths(self, depths: Sequence[int], *, side: int) -> Sweep:
        """So many hidden layers twice as wide as the images, ``side`` by ``side``, have pixels."""
        n = 2 * len(self.images(side)[0].pixels)
        runs = (_trained(self, (n,) * hidden, side) for hidden in depths)
        return Sweep(tuple(depths), tuple(runs))


def _images(grid: Grid, side: int | None) -> tuple[classes.Classes, ...]:
    # the loader reads files; decays, steps and rate do not matter to it
    return _drawn(replace(grid, decays=(), steps=0, rate=0.0), side)


@lru_cache(maxsize=4)
def _drawn(grid: Grid, side: int | None) -> tuple[classes.Classes, ...]:
    size: dict[str, Any] = {"per_class": grid.per_class, "side": side}
    seeds = range(grid.seed, grid.seed + grid.draws)
    return tuple(classes.draw(grid.dataset, seed=s, **size) for s in seeds)


@lru_cache(maxsize=64)
def _trained(grid: Grid, hidden: tuple[int, ...], side: int | None) -> Trained:
    drawn = grid.images(side)
    count = len(grid.decays)
    X, Y = torch.stack([c.pixels for c in drawn]), drawn[0].onehot
    net = networks.Dense((X.shape[1], *hidden, len(Y)), activation="tanh")
    first = net.init(trials=grid.draws, seed=grid.seed, kind="xavier")
    start = networks.mapped(first, lambda t: t.repeat(count, 1, 1))
    X = X.repeat(count, 1, 1)

    def soft(weights: Weights, **options: Any) -> Tensor:
        return torch.stack([ranks.soft_rank(W, **options) for W, _ in weights], -1)

    def fold(values: Tensor, axis: int = 0) -> Tensor:
        return values.unflatten(axis, (count, grid.draws))

    strength = torch.tensor(grid.decays).repeat_interleave(grid.draws)
    path = training.train(
        training.Objective(net, X, Y, normalization="sample", penalty=strength),
        start,
        training.Momentum(grid.rate, MOMENTUM),
        grid.steps,
        measure={"plain": lambda state: soft(state.weights)},
        schedule=grid.looks,
    )
    guess = net.forward(path.weights, X)[1][-1].argmax(1)
    return Trained(
        plain=fold(path.trace["plain"].double(), 1),
        square=fold(soft(path.weights, power=2).double()),
        frobenius=fold(soft(path.weights, power=2, epsilon=0.01).double()),
        accuracy=fold((guess == Y.argmax(0)).double().mean(1)),
        gradient=fold(path.gradient_norm),
    )


def picture(wide: Sweep, deep: Sweep, decays: Sequence[float]) -> Figure:
    """Soft ranks at the end: left, middle matrices against width; right, means against depth.

    Bands are ranges over draws, the dashed line is the limit for random matrices.

    Examples
    --------
    >>> grid = Grid(per_class=3, decays=(0.0, 0.1), draws=2, steps=4)
    >>> fig = picture(grid.widths((12, 14)), grid.depths((2, 3), side=4), grid.decays)
    >>> [len(ax.lines) for ax in fig.axes]
    [3, 2]
    """
    fig, (left, right) = plots.figure(7.6, 3.6, ncols=2)
    middle = wide.layer((wide.runs[0].plain.shape[-1] - 1) // 2)[-1]
    for ax, sweep, soft in ((left, wide, middle), (right, deep, deep.mean()[-1])):
        for lam, v, mark in zip(decays, soft, cycle("os^Dv<>"), strict=False):
            (line,) = ax.plot(sweep.x, v.mean(0), f"{mark}-", ms=4, label=rf"$\lambda={lam:g}$")
            ax.fill_between(sweep.x, v.amin(0), v.amax(0), color=line.get_color(), alpha=0.2, lw=0)
    line = [random_share(0.1) * n for n in wide.x]
    left.plot(wide.x, line, "--", color=plots.FAINT, lw=1)
    left.set(xscale="log", yscale="log", xlabel="width $n$", ylabel="rk(0.1), middle matrix")
    left.set_xticks(wide.x, [str(n) for n in wide.x])
    left.set_yticks([4, 8, 16, 32, 64], ["4", "8", "16", "32", "64"])
    left.minorticks_off()
    right.set(xlabel="hidden layers", ylabel="rk(0.1), mean over layers", ylim=(0, None))
    right.set_xticks(deep.x)
    plots.legend(left, fontsize=8.5)
    return fig
