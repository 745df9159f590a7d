"""Trained three-layer networks, and how far their sample is from what it was drawn from.

Manifolds are x = f(γ, θ)/‖f‖ with f a sum of sines, in ten coordinates and a constant one; the
network of the paper is taken at its exact minimum with the variance penalty, λ₁ = 0.01/m and
λ₂ = 10⁻⁴. New points are on the training manifolds; new manifolds are many that were never seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from lowdim.data import manifolds
from lowdim.hashing import bounds, complexity, factored, kernels, threelayer

__all__ = ["Line", "Run", "cases", "lines", "looseness", "networks", "slope"]

INPUTS = 11
HELD = 24  # points on each manifold that no network sees


@dataclass(frozen=True)
class Run:
    """One trained network: m manifolds, n points on each, A (m, T), features Z (m, n, D).

    size is ‖B‖_F²; loss on the sample and on new points; variance and distance also on new
    manifolds. Worst gaps are those of the worst B with ‖B‖_F = 1, each an eigenvalue: of variance
    on new points and on new manifolds, of distance on new manifolds.
    """

    m: int
    n: int
    A: Tensor
    Z: Tensor
    size: float
    loss: tuple[float, float]
    variance: tuple[float, float, float]
    distance: tuple[float, float, float]
    worst_points: float
    worst_new: float
    worst_far: float

    @property
    def zeta(self) -> float:
        """A length that no feature exceeds, with probability 0.999."""
        return bounds.relu_radius(self.Z.shape[-1], INPUTS)


class Line(NamedTuple):
    """A lemma at a network: its gap, that of the worst B, our bound, the paper's, the goal.

    ``goal`` is how large a gap the lemma allows; ``axis`` ("m" or "n") says which number, now
    ``have``, makes the bound smaller.
    """

    gap: float
    worst: float | None
    ours: float
    paper: float
    goal: float
    axis: str
    have: int

    @property
    def needed(self) -> tuple[float, float]:
        """The counts from which on our bound and the paper's are no larger than the goal.

        Examples
        --------
        >>> Line(0.0, None, 2.0, 3.0, 1.0, "m", 10).needed
        (40.0, 90.0)
        """
        ours, paper = (self.have * (bound / self.goal) ** 2 for bound in (self.ours, self.paper))
        return ours, paper


def networks(
    counts: Sequence[int] = (4, 8, 16, 32, 64),
    points: Sequence[int] = (2, 4, 8, 16),
    *,
    width: int = 120,
    repeats: int = 3,
    unseen: int = 400,
    seed: int = 0,
) -> tuple[Run, ...]:
    """Networks of ``width`` for each m in ``counts``, each n in ``points``, ``repeats`` times.

    ``unseen`` manifolds stand for the distribution. What was trained is kept, so that a figure and
    the tables below it train once.

    Examples
    --------
    >>> found = networks([3], [2], width=20, repeats=1, unseen=20)
    >>> found[0].variance[0] < found[0].variance[2]
    True
    """
    return _networks(tuple(counts), tuple(points), width, repeats, unseen, seed)


@lru_cache(maxsize=4)
def _networks(
    counts: tuple[int, ...],
    points: tuple[int, ...],
    width: int,
    repeats: int,
    unseen: int,
    seed: int,
) -> tuple[Run, ...]:
    family = manifolds.AnalyticFamily(
        "sine", ambient=INPUTS - 1, s=3, k=2, gamma="sphere", norm="divide", weight_scale=1.0,
        theta_scale=0.3, seed=seed,
    )  # fmt: skip
    C = kernels.random_layer(width, INPUTS, seed=seed)

    def features(m: int, n: int, first: int) -> Tensor:
        """ReLU features (m, n, D) of n points on each of m manifolds, from number ``first`` on."""
        return threelayer.features(family.draw(m=m, n=n, first_manifold=first).X, C)

    most = max(counts) * repeats
    pool = features(most, max(points) + HELD, 0)  # training points first, held-out ones after
    fresh = features(unseen, HELD, most)
    truth = complexity.within(fresh), complexity.between(fresh)
    return tuple(
        _run(pool[rep * m :][:m, :n], pool[rep * m :][:m, max(points) :], truth)
        for m in counts
        for n in points
        for rep in range(repeats)
    )


def _run(Z: Tensor, new: Tensor, truth: tuple[Tensor, Tensor]) -> Run:
    """The network trained on Z (m, n, D), measured there, at ``new`` points and at the truth."""
    goal = threelayer.objective(Z, 0.01, 100.0)
    found = factored.convex(goal, goal=1e-6, steps=2000)
    G = found.B.mT @ found.B
    inside = [complexity.within(Z), complexity.within(new), truth[0]]
    across = [complexity.between(Z), complexity.between(new), truth[1]]
    flat, labels = factored.columns(new)
    return Run(
        m=Z.shape[0],
        n=Z.shape[1],
        A=found.A,
        Z=Z,
        size=float(G.trace()),
        loss=(float(found.loss), float(factored.weighted_loss(found.W @ flat, labels))),
        variance=_forms(G, inside),
        distance=_forms(G, across),
        worst_points=float(complexity.largest_gap(inside[1], inside[0], 1.0)),
        worst_new=float(complexity.largest_gap(inside[2], inside[0], 1.0)),
        worst_far=float(complexity.largest_gap(across[0], across[2], 1.0)),
    )


def _forms(G: Tensor, moments: Sequence[Tensor]) -> tuple[float, float, float]:
    sample, points, everywhere = (float((G * S).sum()) for S in moments)
    return sample, points, everywhere


def lines(run: Run, delta: float) -> dict[str, Line]:
    """Every lemma at a trained network, with its norm for β, which flatters all bounds.

    Loss and variance may double and distances may halve: that is the goal.

    Examples
    --------
    >>> run = networks([3], [2], width=20, repeats=1, unseen=20)[0]
    >>> all(line.gap <= line.ours for line in lines(run, 0.05).values())
    True
    """
    m, n, size, zeta = run.m, run.n, run.size, run.zeta
    loss, V, d, beta = run.loss, run.variance, run.distance, run.size**0.5
    return {
        "48: loss, new points": Line(
            loss[1] - loss[0],
            None,
            bounds.loss_new_points(run.A, beta, n, zeta, delta),
            bounds.paper_loss_new_points(run.A, beta, n, delta),
            loss[0],
            "n",
            n,
        ),
        "50: V, new points": Line(
            V[1] - V[0],
            size * run.worst_points,
            size * bounds.variance_new_points(m, n, zeta, delta),
            size * bounds.paper_variance_new_points(m, n, delta),
            V[0],
            "n",
            n,
        ),
        "51: V, new manifolds": Line(
            V[2] - V[0],
            size * run.worst_new,
            size * bounds.variance_new_manifolds(m, zeta, delta),
            size * bounds.paper_variance_new_manifolds(m, n, delta),
            V[0],
            "m",
            m,
        ),
        "52: distance, new points": Line(
            d[0] - d[1],
            None,
            size * bounds.distance_new_points(m, n, zeta, delta),
            size * bounds.paper_distance_new_points(m, n, delta),
            d[0] / 2,
            "n",
            n,
        ),
        "54: distance, new manifolds": Line(
            d[0] - d[2],
            size * run.worst_far,
            size * bounds.distance_new_manifolds(m, zeta, delta),
            size * bounds.paper_distance_new_manifolds(m, n, delta),
            d[0] / 2,
            "m",
            m,
        ),
    }


def cases(runs: Sequence[Run], delta: float) -> dict[str, dict[str, Tensor]]:
    """For each lemma, gaps (``left``) and our bounds (``right``) over all networks, (runs,).

    Examples
    --------
    >>> found = cases(networks([3, 6], [2], width=20, repeats=1, unseen=20), 0.05)
    >>> {tuple(sides["left"].shape) for sides in found.values()}
    {(2,)}
    """
    each = [lines(run, delta) for run in runs]
    return {
        name: {
            "left": torch.tensor([row[name].gap for row in each]).double().clamp_min(0),
            "right": torch.tensor([row[name].ours for row in each]).double(),
        }
        for name in each[0]
    }


def slope(runs: Sequence[Run]) -> float:
    """The exponent in m of the worst gap of variance on new manifolds, at the smallest n.

    Examples
    --------
    >>> -1.5 < slope(networks([3, 6, 12], [2], width=20, repeats=1, unseen=20)) < 0
    True
    """
    least = min(run.n for run in runs)
    few = [run for run in runs if run.n == least]
    m, worst = np.log([(run.m, run.worst_new) for run in few]).T
    return float(np.polyfit(m, worst, 1)[0])


def looseness(runs: Sequence[Run], delta: float) -> tuple[float, float]:
    """Our bound and the paper's over the worst gap of variance on new manifolds: medians.

    Examples
    --------
    >>> ours, paper = looseness(networks([3], [2], width=20, repeats=1, unseen=20), 0.05)
    >>> 1 < ours < paper
    True
    """
    ours = [bounds.variance_new_manifolds(r.m, r.zeta, delta) / r.worst_new for r in runs]
    paper = [bounds.paper_variance_new_manifolds(r.m, r.n, delta) / r.worst_new for r in runs]
    return float(np.median(ours)), float(np.median(paper))
