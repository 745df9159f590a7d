r"""Minima on non-linear manifolds, and how they hash the sample, new points and new manifolds.

Manifolds are :math:`x=f(\gamma,\theta)/\|f\|`, f a sum of four sines, γ on a sphere and separated.
The network is that of :mod:`lowdim.hashing.threelayer`; every objective is solved to its global
minimum. Three penalties are told apart (:data:`lowdim.hashing.threelayer.PENALTIES`), and two
readings of the paper's :math:`\beta^2`: a constant, and :math:`s^{\log1/\varepsilon}`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log
from typing import NamedTuple

import numpy as np
import torch
from matplotlib.figure import Figure
from torch import Tensor

from lowdim import checks
from lowdim.data import manifolds
from lowdim.evidence import plots
from lowdim.hashing import factored, kernels, separation, threelayer

__all__ = [
    "INPUTS", "LEVELS", "READINGS", "WHERE", "Found", "Sample", "Truth", "World", "look",
    "picture", "raw_ratios", "size", "with_truth",
]  # fmt: skip

AMBIENT, LATENT = 14, 8
INPUTS = AMBIENT + 1  # of the random layer: the bias is one
HELD, NEW = 30, 24  # new points on a manifold, new manifolds
LEVELS = (0.3, 0.1, 0.03, 0.01, 0.001, 0.0001)
READINGS = ("constant", "power")
WHERE = ("training points", "new points", "new manifolds")


class Sample(NamedTuple):
    """Features of the training ``pool`` (m, n, D) and of new manifolds ``fresh`` (m', n', D).

    The last points of each manifold of the pool are held back as new ones; ``points`` (m', n', d)
    are the raw inputs of the new manifolds.
    """

    pool: Tensor
    fresh: Tensor
    points: Tensor


@dataclass(frozen=True)
class World:
    """Up to so many ``manifolds`` with ``points`` each to train on, under a layer of ``width``."""

    width: int = 200
    manifolds: int = 64
    points: int = 24
    seed: int = 0

    def draw(self, rep: int) -> Sample:
        """Maps, manifolds and features of one draw; kept, as many minima share them.

        Examples
        --------
        >>> sample = World(width=20, manifolds=3, points=2).draw(0)
        >>> tuple(sample.pool.shape), tuple(sample.fresh.shape)
        ((3, 32, 20), (24, 30, 20))
        """
        return _draw(self, rep)


@lru_cache(maxsize=32)
def _draw(world: World, rep: int) -> Sample:
    family = manifolds.AnalyticFamily(
        "sine", trial=rep, seed=world.seed, ambient=AMBIENT, s=LATENT, k=2, gamma="sphere",
        norm="divide", weight_scale=1.0, theta_scale=0.3, tau=0.7,
    )  # fmt: skip
    C = kernels.random_layer(world.width, INPUTS, seed=world.seed, trials=rep + 1)[rep]
    points = family.draw(m=NEW, n=HELD, first_manifold=world.manifolds).X
    pool = family.draw(m=world.manifolds, n=world.points + HELD).X
    return Sample(threelayer.features(pool, C), threelayer.features(points, C), points)


def size(reading: str, epsilon: float) -> float:
    """β² under a reading: 100, or s^{log 1/ε}.

    Raises
    ------
    ValueError
        If the reading is unknown.

    Examples
    --------
    >>> size("constant", 0.1), size("power", 1.0)
    (100.0, 1.0)
    """
    checks.choice(reading, READINGS, "reading")
    return 100.0 if reading == "constant" else LATENT ** log(1 / epsilon)


class Found(NamedTuple):
    """Mean variance and ρ (mean over mean), each (repeats, settings, 3), for each of WHERE."""

    variance: np.ndarray
    rho: np.ndarray

    def curves(self) -> dict[str, np.ndarray]:
        """What the theorem speaks of, by names for a reader, (repeats, settings) each.

        Examples
        --------
        >>> found = Found(np.zeros((2, 5, 3)), np.ones((2, 5, 3)))
        >>> found.curves()["ρ, new points"].shape
        (2, 5)
        """
        return {
            "V, sample": self.variance[..., 0],
            "V, new manifolds": self.variance[..., 2],
            "ρ, sample": self.rho[..., 0],
            "ρ, new points": self.rho[..., 1],
            "ρ, new manifolds": self.rho[..., 2],
        }


def look(
    world: World,
    settings: Sequence[tuple[int, int, float]],
    *,
    penalty: str = "own",
    reading: str = "constant",
    repeats: int = 3,
) -> Found:
    """Minima for settings (m, n, ε) on so many draws, and how they hash.

    They are kept, so that a figure and a table of the same ones cost no more than one of them.

    Raises
    ------
    ValueError
        If ``world`` has fewer manifolds or points, or a name is unknown.

    Examples
    --------
    >>> world = World(width=20, manifolds=4, points=3)
    >>> look(world, [(4, 3, 0.1), (4, 3, 0.01)], repeats=1).rho.shape
    (1, 2, 3)
    """
    for m, n, _ in settings:
        if m > world.manifolds or n > world.points:
            raise ValueError(
                f"this world has {world.manifolds} manifolds with {world.points} points; "
                f"you asked for {m} with {n}."
            )
    runs = [[_learn(world, i, *at, penalty, reading) for at in settings] for i in range(repeats)]
    return Found(
        np.array([[[on.variance for on in run] for run in row] for row in runs]),
        np.array([[[on.mean for on in run] for run in row] for row in runs]),
    )


@lru_cache(maxsize=4096)
def _learn(
    world: World, rep: int, m: int, n: int, epsilon: float, penalty: str, reading: str
) -> tuple[threelayer.Hashing, ...]:
    sample = world.draw(rep)
    Z = sample.pool[:m, :n]
    p = threelayer.objective(Z, epsilon, size(reading, epsilon), penalty=penalty, allowed=epsilon)
    B = factored.convex(p, goal=1e-5, steps=2000).B
    held = sample.pool[:m, -HELD:]
    return tuple(threelayer.measure(B, features) for features in (Z, held, sample.fresh))


def raw_ratios(world: World, repeats: int) -> list[float]:
    """ρ of the raw inputs of the new manifolds, for each draw.

    Examples
    --------
    >>> len(raw_ratios(World(width=20, manifolds=4, points=3), 2))
    2
    """
    drawn = (world.draw(rep).points for rep in range(repeats))
    return [float(separation.rho(X, over="mean", unbiased=True)) for X in drawn]


def picture(levels: Sequence[float], panels: Mapping[str, np.ndarray], raw: float) -> Figure:
    """ρ (repeats, len(levels), 3) against falling ε: a panel a penalty, a curve each of WHERE.

    ``raw`` is the level of raw inputs.

    Examples
    --------
    >>> fig = picture([0.1, 0.01], {"own weight": np.full((2, 2, 3), 10.0)}, 5.0)
    >>> fig.axes[0].get_title()
    'own weight'
    """
    fig, axes = plots.figure(7.8, 3.4, ncols=len(panels), sharey=True, squeeze=False)
    for ax, (title, rho) in zip(axes[0], panels.items(), strict=True):
        for y, name in zip(np.moveaxis(rho, -1, 0), WHERE, strict=True):
            (line,) = ax.loglog(levels, np.median(y, 0), "o-", ms=3, label=name)
            colour = line.get_color()
            ax.fill_between(levels, y.min(0), y.max(0), color=colour, alpha=0.2, lw=0)
        ax.axhline(raw, color=plots.INK, ls="--", lw=1, label="raw inputs")
        guide = raw * max(levels) / np.array(levels)
        ax.loglog(levels, guide, ":", color=plots.FAINT, label="slope −1")
        ends = (max(levels) * 1.3, min(levels) / 1.3)
        ax.set(title=title, xlabel=r"$\varepsilon$", xlim=ends, ylim=(3, 3000))
    axes[0, 0].set_ylabel(r"$\rho$, mean over mean")
    place = {"loc": "outside upper center", "ncols": 5, "fontsize": 8, "frameon": False}
    fig.legend(*axes[0, 0].get_legend_handles_labels(), **place)
    return fig


class Truth(NamedTuple):
    """A ground truth's ε and β², and how the minimum for these hashes sample and new manifolds."""

    epsilon: float
    size: float
    sample: threelayer.Hashing
    new: threelayer.Hashing


def with_truth(world: World, rep: int, m: int, n: int, *, rough: float) -> Truth:
    """A ground truth with ‖A*‖² = m, found at the weight ``rough``, and the minimum that it bounds.

    ε is the larger of its loss and its variance; the variance penalty has its own weight.

    Examples
    --------
    >>> found = with_truth(World(width=20, manifolds=4, points=3), 0, 4, 3, rough=0.03)
    >>> found.sample.variance <= 4 * found.epsilon
    True
    """
    sample = world.draw(rep)
    Z = sample.pool[:m, :n]
    start = factored.convex(
        threelayer.objective(Z, rough, 100.0, penalty="own", allowed=0.1 * rough), goal=1e-6
    )
    B = start.B / torch.sqrt(m / start.A.square().sum())
    epsilon = max(float(start.loss), threelayer.measure(B, Z).variance)
    beta2 = float(B.square().sum())
    objective = threelayer.objective(Z, epsilon, beta2, penalty="own", allowed=epsilon)
    found = factored.convex(objective, goal=1e-6)
    on, new = (threelayer.measure(found.B, features) for features in (Z, sample.fresh))
    return Truth(epsilon, beta2, on, new)
