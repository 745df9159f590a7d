"""Tanh networks that begin on class centroids, and rivals that spend as many sample gradients.

A run may cost ``budget`` full-batch steps. A warm-up spends a share of that on cheap steps, on the
K class centroids or on K fresh samples, and the rest on full-batch steps. Every weight decay, rate
and draw is trained at once. Trainings are kept for the life of the process, because a picture and
the tables below it ask for the same ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import torch
from torch import Tensor

from lowdim.collapse import decay
from lowdim.collapse.duels import Duel, duel
from lowdim.data import images
from lowdim.data.images import Provenance
from lowdim.linalg import ranks
from lowdim.nets import networks, training
from lowdim.nets.networks import Weights
from lowdim.seeds import generator

__all__ = ["CLASSES", "METHODS", "RIVALS", "WARM", "Contest", "Ending", "blobs", "drawn_images"]

CLASSES = 10
METHODS = ("plain", "centroids", "random K", "one per class", "all mini-batches")
WARM = METHODS[1:4]
RIVALS = ("plain", "random K", "one per class", "all mini-batches")
KINDS = {"random K": "random", "one per class": "class", "all mini-batches": "random"}
LARGE, CLIPPED = 1e9, 1e3  # in place of an objective that is no number; of too large a weight


def drawn_images(dataset: str, per_class: int, *, seed: int) -> tuple[Tensor, Tensor]:
    """Images of ten classes as columns (d, 10 n), class by class, and as many for the test.

    The mean of the first is taken from both.

    Examples
    --------
    >>> train, test = drawn_images("digits", 3, seed=0)
    >>> train.shape, bool(train.mean(1).abs().max() < 1e-12)
    (torch.Size([64, 30]), True)
    """
    taken = images.load(dataset, per_class=2 * per_class, classes=CLASSES, seed=seed)
    at = np.argsort(taken.labels, kind="stable").reshape(CLASSES, -1)
    P = torch.from_numpy(taken.columns())
    train, test = P[:, at[:, :per_class].ravel()], P[:, at[:, per_class:].ravel()]
    middle = train.mean(1, keepdim=True)
    return train - middle, test - middle


def blobs(
    sigma: float, per_class: int, *, draw: int, seed: int, d: int = 20
) -> tuple[Tensor, Tensor]:
    """Ten blobs of spread ``sigma`` as columns (d, 10 n), and as many points for the test.

    Examples
    --------
    >>> train, test = blobs(0.1, 3, draw=0, seed=0)
    >>> train.shape, bool((train - test).abs().max() < 1)
    (torch.Size([20, 30]), True)
    """
    rng = generator(seed, draw, "blobs")
    centres = rng.standard_normal((d, CLASSES))[:, np.repeat(np.arange(CLASSES), per_class)]
    noise = rng.standard_normal((2, d, CLASSES * per_class))
    train, test = (torch.from_numpy(centres + sigma * part) for part in noise)
    return train, test


@dataclass(frozen=True)
class Ending:
    """Where a method ends with its best rates.

    objective: on all training samples (draws,); accuracy: on as many points not trained on; tail:
    of the middle layer beyond K singular values; both means over draws.
    """

    objective: Tensor
    accuracy: float
    tail: float

    @property
    def mean(self) -> float:
        """The mean objective over draws."""
        return float(self.objective.mean())


@dataclass(frozen=True)
class Contest:
    """All sets, weight decays, rates and draws of the experiment.

    Examples
    --------
    >>> small = {"per_class": 5, "width": 12, "budget": 10, "draws": 2}
    >>> contest = Contest(spreads=(0.5,), decays=(0.01,), rates=(0.05,), **small)
    >>> contest.names, contest.phases(0.1)
    (['blobs, σ = 0.5', 'digits'], (5, 9))
    >>> contest.ending("digits", 0, "plain").objective.shape
    torch.Size([2])
    """

    dataset: str = "digits"
    per_class: int = 20
    spreads: tuple[float, ...] = (0.1, 0.3, 1.0)
    decays: tuple[float, ...] = (0.0, 0.001, 0.01)
    width: int = 24
    budget: int = 60
    share: float = 0.1
    rates: tuple[float, ...] = (0.02, 0.05, 0.1)
    draws: int = 4
    seed: int = 0

    @property
    def names(self) -> list[str]:
        """The sets: blobs by their spread, then images."""
        return [*(f"blobs, σ = {sigma:g}" for sigma in self.spreads), self.dataset]

    @property
    def cells(self) -> list[tuple[str, int]]:
        """Every set with every weight decay, by the place of the latter."""
        return [(name, i) for name in self.names for i in range(len(self.decays))]

    @property
    def samples(self) -> int:
        """The number N of training samples."""
        return CLASSES * self.per_class

    @cached_property
    def labels(self) -> np.ndarray:
        """Their classes (N,), rising."""
        return np.repeat(np.arange(CLASSES), self.per_class)

    @property
    def provenance(self) -> Provenance:
        """Where the images of the first draw come from."""
        count = 2 * self.per_class
        taken = images.load(self.dataset, per_class=count, classes=CLASSES, seed=self.seed)
        return taken.provenance

    def phases(self, share: float) -> tuple[int, int]:
        """Steps on K columns that cost this share of the budget, and full steps for the rest."""
        first = max(1, round(share * self.budget * self.samples / CLASSES))
        return first, self.budget - -(-first * CLASSES // self.samples)

    def data(self, name: str) -> tuple[Tensor, Tensor]:
        """Training and test columns (draws, d, N) of a set, float32."""
        return _data(self, name)

    def net(self, name: str) -> networks.Dense:
        """Two hidden tanh layers."""
        widths = (self.data(name)[0].shape[1], self.width, self.width, CLASSES)
        return networks.Dense(widths, activation="tanh")

    def run(self, name: str, method: str, *, share: float | None = None) -> training.Run:
        """Train on a set by one of :data:`METHODS`: for all decays, rates and draws at once."""
        return _run(self, name, method, self.share if share is None else share)

    def ending(self, name: str, i: int, method: str, *, share: float | None = None) -> Ending:
        """Where a method ends at the decay number ``i``, with the rates of least mean objective."""
        path = self.run(name, method, share=share)
        value = self._folded(path.objective)[i]
        at = int(value.mean(1).argmin())

        def pick(t: Tensor) -> Tensor:
            return t.unflatten(0, (len(self.decays), -1, self.draws))[i, at]

        w = _each(path.weights, pick)
        guess = self.net(name).forward(w, self.data(name)[1])[1][-1].argmax(1)
        right = float((guess == torch.from_numpy(self.labels)).double().mean())
        beyond = ranks.tails(w[1][0], power=1).nan_to_num(0.0)  # zero has no tail
        # a narrow layer has nothing beyond K
        tail = float(beyond[:, min(CLASSES, beyond.shape[-1] - 1)].mean())
        return Ending(value[at].double(), right, tail)

    def early(self, name: str, i: int) -> dict[str, float]:
        """Loss on all samples right after each warm-up, best rate, mean over draws."""
        return {
            method: float(self._folded(_after(self, name, method))[i].mean(1).min())
            for method in WARM
        }

    def duels(self, rival: str) -> list[Duel]:
        """Centroids against a rival in every cell."""
        return [
            duel(*(self.ending(*cell, method).objective for method in ("centroids", rival)))
            for cell in self.cells
        ]

    def costs(self) -> dict[str, tuple[int, float]]:
        """Sample gradients, and operations on the images over those of plain training."""
        net, N = self.net(self.dataset), self.samples
        first, rest = self.phases(self.share)
        small = self.budget * N // CLASSES
        every, few = decay.flops(net, N), decay.flops(net, CLASSES)
        found = {
            "plain": (self.budget * N, self.budget * every),
            "a warm-up on K, then full": (first * CLASSES + rest * N, first * few + rest * every),
            "all mini-batches": (small * CLASSES, small * few),
        }
        base = self.budget * every
        return {name: (spent, flops / base) for name, (spent, flops) in found.items()}

    def _folded(self, values: Tensor) -> Tensor:
        """One value for each trial as (decays, rates, draws), what is no number very large."""
        known = torch.nan_to_num(values, nan=LARGE, posinf=LARGE)
        return known.unflatten(0, (len(self.decays), -1, self.draws))


@cache
def _data(contest: Contest, name: str) -> tuple[Tensor, Tensor]:
    if name == contest.dataset:
        pairs = [
            drawn_images(contest.dataset, contest.per_class, seed=contest.seed + k)
            for k in range(contest.draws)
        ]
    else:
        sigma = contest.spreads[contest.names.index(name)]
        pairs = [
            blobs(sigma, contest.per_class, draw=k, seed=contest.seed) for k in range(contest.draws)
        ]
    train, test = (torch.stack([pair[k] for pair in pairs]).float() for k in (0, 1))
    return train, test


def _one(contest: Contest) -> list[tuple[float, float]]:
    """Every weight decay with every rate."""
    return [(lam, eta) for lam in contest.decays for eta in contest.rates]


def _target(contest: Contest) -> Tensor:
    return torch.nn.functional.one_hot(torch.from_numpy(contest.labels), CLASSES).T.float()


def _start(contest: Contest, name: str) -> Weights:
    first = contest.net(name).init(trials=contest.draws, seed=contest.seed, kind="xavier")
    times = len(_one(contest))
    return _each(first, lambda t: t.repeat(times, 1, 1))


def _each(weights: Weights, change: Callable[[Tensor], Tensor]) -> Weights:
    return [(change(W), None if b is None else change(b)) for W, b in weights]


def _picker(contest: Contest, kind: str, trials: int) -> Callable[[int], Tensor]:
    """Columns (T, K) of step t: the same draws for every decay and rate."""

    def columns(step: int) -> Tensor:
        rng, size = generator(contest.seed, step, kind), (contest.draws, CLASSES)
        if kind == "random":
            chosen = rng.integers(0, contest.samples, size)
        else:
            chosen = rng.integers(0, contest.per_class, size)
            chosen = chosen + contest.per_class * np.arange(CLASSES)
        return torch.from_numpy(chosen).repeat(trials // contest.draws, 1)

    return columns


def _descend(
    contest: Contest,
    name: str,
    weights: Weights,
    cells: Sequence[tuple[float, float]],
    steps: int,
    *,
    kind: str = "",
    centroids: bool = False,
) -> training.Run:
    """Descent with momentum for cells (λ, rate) × draws: full batches, samples of a kind, or
    centroids."""
    X, goal = contest.data(name)[0], _target(contest)
    if centroids:
        X, goal = ranks.centroids(X, contest.labels), torch.eye(CLASSES)
    lam, eta = (torch.tensor(v).repeat_interleave(contest.draws) for v in zip(*cells, strict=True))
    X = X.repeat(len(cells), 1, 1)
    return training.train(
        training.Objective(contest.net(name), X, goal, normalization="sample", penalty=lam),
        weights,
        training.Momentum(eta),
        steps,
        batches=training.Drawn(_picker(contest, kind, len(X))) if kind else None,
        schedule=[0],
    )


@cache
def _run(contest: Contest, name: str, method: str, share: float) -> training.Run:
    one = _one(contest)
    if method not in WARM:  # no warm-up, so its share does not matter
        if share != contest.share:
            return _run(contest, name, method, contest.share)
        steps = contest.budget
        if method in KINDS:
            steps = contest.budget * contest.samples // CLASSES
        return _descend(
            contest, name, _start(contest, name), one, steps, kind=KINDS.get(method, "")
        )

    def again(t: Tensor) -> Tensor:
        """The weights of every (λ, first rate) once for each second rate."""
        fold = t.unflatten(0, (len(one), contest.draws))
        every = fold.repeat_interleave(len(contest.rates), 0).flatten(0, 1)
        return torch.nan_to_num(every, 0, 0, 0).clamp(-CLIPPED, CLIPPED)

    begun = _begun(contest, name, method, share).weights
    cells = [(lam, eta) for lam, _ in one for eta in contest.rates]
    return _descend(contest, name, _each(begun, again), cells, contest.phases(share)[1])


@cache
def _begun(contest: Contest, name: str, method: str, share: float) -> training.Run:
    """The warm-up alone."""
    steps, start = contest.phases(share)[0], _start(contest, name)
    kind, centres = KINDS.get(method, ""), method == "centroids"
    return _descend(contest, name, start, _one(contest), steps, kind=kind, centroids=centres)


def _after(contest: Contest, name: str, method: str) -> Tensor:
    """Losses on all samples (trials,) right after the warm-up."""
    begun = _begun(contest, name, method, contest.share)
    X = contest.data(name)[0].repeat(len(_one(contest)), 1, 1)
    task = training.Objective(contest.net(name), X, _target(contest), normalization="sample")
    return task.losses(begun.weights)
