r"""Networks that tell manifolds of the paper's five synthetic families apart, and their ρ.

Points are x = Σ φᵢ(Vᵢγ + Wᵢθ) (:class:`lowdim.data.manifolds.AnalyticFamily`) with γ and θ in
eleven dimensions. A network of two hidden layers learns the number of the manifold; it is measured
on its training points, on test points of the same manifolds and on unseen manifolds. ρ is the mean
distance between points of two manifolds over the mean distance between two points of one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import NamedTuple, cast

import numpy as np
import torch
from torch import Tensor

from lowdim import checks
from lowdim.data import manifolds
from lowdim.hashing import baselines, classifiers, separation
from lowdim.nets import training
from lowdim.nets.networks import Dense, Network, Weights, flat, mapped
from lowdim.seeds import generator

__all__ = [
    "FAMILIES", "KINDS", "PRINTED", "Learnt", "Ratios", "Scored", "Task", "Trained", "World",
    "beside", "controls", "one_shot", "pairs", "ratio", "tails", "trained",
]  # fmt: skip

FAMILIES = ("mixture", "sine", "cosine", "log", "exp")
# Table 1: ρ on training points, on test points, on unseen manifolds; recovery of γ.
PRINTED = {
    "mixture": (19.13, 19.09, 20.46, 0.11),
    "sine": (26.8, 26.8, 28.4, 0.09),
    "cosine": (10.7, 10.79, 11.09, 0.71),
    "log": (12.38, 12.38, 11.23, 0.71),
    "exp": (25.2, 25.2, 28.77, 0.08),
}
KINDS = ("train", "test", "unseen")
INPUTS = ("centred", "as drawn", "sphere")
BATCH = 32
TESTED = 10  # test points on each manifold
DIRECTIONS = 11  # as many as γ has


class World(NamedTuple):
    """Points (m, n, d) of three kinds from one draw of the maps, and γ (m', 11) of the unseen."""

    train: Tensor
    test: Tensor
    unseen: Tensor
    gamma: Tensor


class Ratios(NamedTuple):
    """ρ (trials, 3) on training points, test points and unseen manifolds; accuracy (trials,)."""

    rho: Tensor
    accuracy: Tensor


class Scored(NamedTuple):
    """ρ and accuracy on test points, and whether training diverged."""

    rho: float
    accuracy: float
    diverged: bool = False

    def cells(self) -> tuple[str, str]:
        """As a table shows it.

        Examples
        --------
        >>> Scored(1.25, 0.5).cells(), Scored(float("inf"), 1.0).cells(), Scored(1, 0, True).cells()
        (('1.2', '0.50'), ('∞', '1.00'), ('diverged', '0.00'))
        """
        rho = "diverged" if self.diverged else f"{self.rho:.1f}".replace("inf", "∞")
        return rho, f"{self.accuracy:.2f}"


def ratio(R: Tensor, *, squared: bool = False) -> float:
    """ρ of representations (m, n, p), over pairs of points; of squared distances if ``squared``.

    Examples
    --------
    >>> ratio(torch.tensor([[[0.0], [1.0]], [[4.0], [5.0]]]).double())
    4.0
    """
    return float(separation.rho(R, over="mean", within="pairs", squared=squared))


@dataclass(frozen=True)
class Learnt:
    """A network with the weights of several trials, one for each world; diverged: (trials,)."""

    net: Dense
    weights: Weights
    diverged: Tensor

    def of(self, trials: Sequence[int]) -> Learnt:
        """The same with some of its trials."""
        at = list(trials)
        return Learnt(self.net, mapped(self.weights, lambda W: W[at].clone()), self.diverged[at])

    def represent(
        self, worlds: Sequence[World], kind: str, *, layer: int = 1, pre: bool = False
    ) -> Tensor:
        """Representations (trials, m, n, p): a hidden layer, before its ReLU if ``pre``."""
        return self._look(worlds, kind, layer, pre)[0]

    def ratios(self, worlds: Sequence[World], *, layer: int = 1, pre: bool = False) -> Ratios:
        """ρ on at most five points of at most a hundred manifolds of each kind, and accuracy."""
        seen = {kind: self._look(worlds, kind, layer, pre) for kind in KINDS}
        table = [[ratio(R[:100, :5]) for R in seen[kind][0]] for kind in KINDS]
        scores = seen["test"][1]
        own = torch.arange(scores.shape[1]).repeat_interleave(TESTED)
        return Ratios(torch.tensor(table).T, (scores.argmax(1) == own).double().mean(1))

    def scored(self, worlds: Sequence[World], *, layer: int = 1, pre: bool = False) -> list[Scored]:
        """What each trial has on test points."""
        rho, accuracy = self.ratios(worlds, layer=layer, pre=pre)
        each = zip(rho[:, 1].tolist(), accuracy.tolist(), self.diverged.tolist(), strict=True)
        return [Scored(*values) for values in each]

    def _look(
        self, worlds: Sequence[World], kind: str, layer: int, pre: bool
    ) -> tuple[Tensor, Tensor]:
        """Representations (trials, m, n, p) and scores (trials, classes, m n)."""
        checks.choice(kind, KINDS, "kind")
        shape = getattr(worlds[0], kind).shape[:2]
        before, after = self.net.forward(self.weights, _columns(worlds, kind))
        return (before if pre else after)[layer].mT.unflatten(1, shape).double(), after[-1]


@dataclass(frozen=True)
class Task:
    """Which manifolds, in which dimension, and which network learns them for how long.

    Examples
    --------
    >>> task = Task(ambient=25, classes=3, per_class=8, width=6, epochs=2)
    >>> worlds = [task.world("sine"), task.world("cosine")]
    >>> tuple(worlds[0].train.shape), tuple(task.learn(worlds).ratios(worlds).rho.shape)
    ((3, 8, 25), (2, 3))
    """

    ambient: int = 100
    classes: int = 50
    per_class: int = 40
    width: int = 100
    epochs: int = 60
    rate: float = 0.1
    decay: float = 0.01
    seed: int = 0

    @property
    def half(self) -> int:
        """Steps in half of the epochs."""
        return self.epochs * -(-self.classes * self.per_class // BATCH) // 2

    def world(
        self,
        family: str,
        trial: int = 0,
        *,
        ambient: int | None = None,
        inputs: str = "centred",
        few: int = 100,
        terms: int = 4,
    ) -> World:
        """One draw of a family, with ``few`` unseen manifolds; ``inputs`` is one of INPUTS.

        On the sphere points are (x, 1)/√2 with ‖x‖ = 1, as in the paper's Section 3.

        Raises
        ------
        ValueError
            If family or inputs are unknown.
        """
        checks.choice(inputs, INPUTS, "inputs")
        described = manifolds.AnalyticFamily(
            family,
            ambient=self.ambient if ambient is None else ambient,
            terms=terms,
            seed=self.seed,
            trial=trial,
        )
        make = partial(described.draw, dtype=torch.float32)
        new = make(m=few, n=5, first_manifold=self.classes)
        train = make(m=self.classes, n=self.per_class).X
        test = make(m=self.classes, n=TESTED, first_point=self.per_class).X
        mean = train.mean((0, 1))

        def seen(X: Tensor) -> Tensor:
            if inputs == "centred":
                return X - mean
            if inputs == "sphere":
                X = manifolds.on_sphere(X)
                return torch.cat([X, torch.ones_like(X[..., :1])], -1) / 2**0.5
            return X

        return World(seen(train), seen(test), seen(new.X), new.gamma)

    def untrained(self, worlds: Sequence[World]) -> Learnt:
        """The networks that training on these worlds starts from."""
        net = Dense((worlds[0].train.shape[2], self.width, self.width, self.classes))
        start = net.init(trials=len(worlds), seed=self.seed)
        return Learnt(net, start, torch.zeros(len(worlds), dtype=torch.bool))

    def learn(
        self,
        worlds: Sequence[World],
        *,
        decay: float | None = None,
        loss: str = "sample",
        start: Learnt | None = None,
        steps: int | None = None,
    ) -> Learnt:
        """Train a network for each world, side by side, by default for half of the epochs.

        The squared loss is summed over outputs, or averaged over them too if ``loss`` is "mean".
        """
        start = self.untrained(worlds) if start is None else start
        X = _columns(worlds, "train")
        Y = torch.eye(self.classes).repeat_interleave(self.per_class, 1)
        penalty = training.from_weight_decay(self.decay if decay is None else decay)
        run = training.train(
            training.Objective(cast(Network, start.net), X, Y, normalization=loss, penalty=penalty),
            start.weights,
            training.GD(self.rate),
            self.half if steps is None else steps,
            batches=training.Shuffled(min(BATCH, X.shape[2]), seed=self.seed),
            schedule=[0],
        )
        return Learnt(start.net, run.weights, run.diverged)

    def with_variance(
        self, start: Learnt, worlds: Sequence[World], *, steps: int, strength: float
    ) -> Learnt:
        """Go on with ``strength`` times the variance penalty V_reg of equation (6) added.

        Batches are of eight manifolds with four points each.
        """
        moving = mapped(start.weights, lambda W: W.clone().requires_grad_())
        W1, b1, W2, b2, W3, b3 = flat(moving)
        step = torch.optim.SGD(flat(moving), lr=self.rate, weight_decay=self.decay)
        rng = generator(self.seed, 0, "variance")
        X = torch.stack([world.train for world in worlds])  # (trial, m, n, d)
        for _ in range(steps):
            which = torch.from_numpy(rng.permutation(self.classes)[:8])
            where = torch.from_numpy(rng.permutation(self.per_class)[:4])
            H = X[:, which][:, :, where].flatten(1, 2).mT
            H = torch.relu(W2 @ torch.relu(W1 @ H + b1) + b2)
            Y = torch.eye(self.classes)[:, which].repeat_interleave(4, 1)
            spread = H.unflatten(2, (len(which), 4)).var(3).sum(1).mean(1)
            loss = ((W3 @ H + b3 - Y).square().sum(1).mean(1) + strength * spread).sum()
            step.zero_grad()
            loss.backward()
            step.step()
        return Learnt(start.net, mapped(moving, Tensor.detach), start.diverged)


def _columns(worlds: Sequence[World], kind: str) -> Tensor:
    """Points of one kind as columns, (worlds, d, m n)."""
    return torch.stack([getattr(world, kind).flatten(0, 1).T for world in worlds])


class Trained(NamedTuple):
    """All families, ``draws`` times: their worlds, and networks after half and all epochs."""

    worlds: list[World]
    halfway: Learnt
    end: Learnt


def trained(task: Task, draws: int = 1) -> Trained:
    """Networks for all families, draw after draw; kept, so that figure and tables train once.

    Examples
    --------
    >>> small = Task(ambient=25, classes=3, per_class=8, width=6, epochs=2)
    >>> len(trained(small).worlds), trained(small) is trained(small, draws=1)
    (5, True)
    """
    return _trained(task, draws)


@lru_cache(maxsize=4)
def _trained(task: Task, draws: int) -> Trained:
    worlds = [task.world(family, draw) for draw in range(draws) for family in FAMILIES]
    halfway = task.learn(worlds)
    return Trained(worlds, halfway, task.learn(worlds, start=halfway))


def pairs(found: Trained) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Distances within and between manifolds, Mixture: test points, unseen manifolds, raw points.

    Examples
    --------
    >>> list(pairs(trained(Task(ambient=25, classes=3, per_class=8, width=6, epochs=2))))
    ['test points', 'unseen manifolds', 'raw points, unseen']
    """
    test, unseen = (found.end.represent(found.worlds, kind)[0] for kind in ("test", "unseen"))
    return {
        "test points": classifiers.pair_distances(test),
        "unseen manifolds": classifiers.pair_distances(unseen[:100]),
        "raw points, unseen": classifiers.pair_distances(found.worlds[0].unseen[:100]),
    }


def tails(within: np.ndarray, between: np.ndarray) -> tuple[float, float]:
    """What 99 % of the distances within are below, and 99 % of those between above.

    Of more than 200000 distances evenly spaced ones are taken.

    Examples
    --------
    >>> tails(np.arange(101.0), np.arange(200.0, 301.0))
    (99.0, 201.0)
    """
    few = (v[:: max(1, len(v) // 100000)] for v in (within, between))
    low, high = (float(np.quantile(v, p)) for v, p in zip(few, (0.99, 0.01), strict=True))
    return low, high


def controls(world: World) -> dict[str, Tensor]:
    """Linear maps (p, d) that see no network: none, principal directions, Fisher's discriminants.

    Principal directions are those of the unlabelled training points; there are eleven of both.

    Examples
    --------
    >>> world = Task(ambient=25, classes=12, per_class=8).world("sine")
    >>> {name: tuple(L.shape) for name, L in controls(world).items()}
    {'raw': (25, 25), 'principal': (11, 25), 'Fisher': (11, 25)}
    """
    X = world.train.double()
    return {
        "raw": torch.eye(X.shape[2], dtype=torch.float64),
        "principal": baselines.principal(X, DIRECTIONS),
        "Fisher": baselines.fisher(X, min(DIRECTIONS, len(X))),
    }


def beside(found: Learnt, worlds: Sequence[World]) -> Tensor:
    """ρ (worlds, 3): of the networks on test points; of Fisher's map and raw on unseen manifolds.

    Examples
    --------
    >>> task = Task(ambient=25, classes=3, per_class=8, width=6, epochs=2)
    >>> worlds = [task.world("sine")]
    >>> tuple(beside(task.untrained(worlds), worlds).shape)
    (1, 3)
    """
    rows = []
    for world, rho in zip(worlds, found.ratios(worlds).rho, strict=True):
        P = world.unseen.double()
        rows.append([float(rho[1]), ratio(P @ controls(world)["Fisher"].mT), ratio(P)])
    return torch.tensor(rows, dtype=torch.float64)


def one_shot(R: Tensor) -> float:
    """Share of queries R[:, 1:] whose nearest key R[:, 0], one for each manifold, is their own.

    Examples
    --------
    >>> one_shot(torch.tensor([[[0.0], [1.0]], [[5.0], [2.0]]]).double())
    0.5
    """
    table = separation.HashTable(R[:, 0], 1.0)
    return float((table.nearest(R[:, 1:]) == torch.arange(len(R))[:, None]).double().mean())
