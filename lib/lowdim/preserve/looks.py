r"""A network watched while it trains: what its layers do to the row spaces at several looks.

A *look* is a step of training at which one asks how far each layer's output is from that layer's
own input, how far the last layer's is from the clean data, and what accuracy its projector gives.
A network has *learned* at a look if its median loss is small against what the best constant answer
leaves (:func:`lowdim.nets.training.learned`); a layer's distance has *fallen* if it is below that
of the start in at least nine of ten draws. Distances are those of :mod:`lowdim.preserve.drift`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from matplotlib.figure import Figure
from torch import Tensor

from lowdim.evidence import plots
from lowdim.evidence.tables import Table
from lowdim.evidence.values import Share
from lowdim.evidence.verdicts import compared
from lowdim.linalg import subspaces
from lowdim.nets import training
from lowdim.preserve import drift

__all__ = [
    "Look", "Watched", "draw", "follow", "lines", "named", "schedule", "summary", "table", "train",
]  # fmt: skip

OFTEN = 0.9  # the share of draws in which what has fallen is lower
NEAR = 0.9  # the accuracy from which a network clusters


def schedule(steps: int, *, count: int = 5) -> list[int]:
    """Step 0 and up to ``count`` later ones, evenly spaced on a logarithmic scale, to ``steps``.

    Examples
    --------
    >>> schedule(200)
    [0, 10, 21, 45, 95, 200]
    """
    spaced = np.geomspace(max(1, steps / 20), steps, count).round()
    return sorted({int(step) for step in spaced} | {0})


def follow(
    X: Tensor, star: Tensor, *, labels: object | None = None
) -> Callable[[Sequence[Tensor]], Tensor]:
    """What to ask of the outputs of L layers, a list of (T, width, n), at a look: (T, L + 2).

    ``X`` is (T, m, n) and ``star`` (T, n, r). The numbers are the distance of each layer from its
    input, of the last from ``star``, and the accuracy from the last, NaN without ``labels``.

    Examples
    --------
    >>> X = torch.eye(3, dtype=torch.float64)[None]
    >>> follow(X, X[..., :2])([2 * X, X]).shape
    torch.Size([1, 4])
    """
    r = star.shape[-1]
    entering = subspaces.principal_rows(X.double(), r)

    def look(outputs: Sequence[Tensor]) -> Tensor:
        V = [entering, *(subspaces.principal_rows(Y.double(), r) for Y in outputs)]
        steps = [drift.apart(before, after) for before, after in pairwise(V)]
        moved = drift.apart(star, V[-1])
        nothing = torch.full_like(moved, torch.nan)
        found = nothing if labels is None else drift.accuracy(V[-1], labels)
        return torch.stack([*steps, moved, found], -1)

    return look


@dataclass(frozen=True)
class Look:
    """What was seen at one step of training.

    learned: false at the start; distance: mean over draws and layers; last: of the last layer;
    drift: from the clean row space, mean; accuracy: median over draws; fallen: how many of the
    ``layers`` have fallen; lower: whether their mean has.
    """

    step: int
    learned: bool
    distance: float
    last: float
    drift: float
    accuracy: float
    fallen: int
    layers: int
    lower: bool

    @property
    def clusters(self) -> bool:
        """Whether the median accuracy is near-perfect."""
        return self.accuracy >= NEAR

    @property
    def every(self) -> bool:
        """Whether the distance of every layer has fallen."""
        return self.fallen == self.layers


@dataclass(frozen=True)
class Watched:
    """A network of L hidden layers on T draws, seen at S looks.

    distance: (S, T, L); drift, accuracy, remaining: (S, T), the last one the loss over what the
    best constant leaves.
    """

    net: Any
    weights: Any
    steps: Sequence[int]
    distance: Tensor
    drift: Tensor
    accuracy: Tensor
    remaining: Tensor

    @property
    def draws(self) -> int:
        """The number T of draws."""
        return self.distance.shape[1]

    @property
    def diverged(self) -> bool:
        """Whether a distance is not a number at some look."""
        return bool(self.distance.isnan().any())

    @property
    def loss(self) -> float:
        """What is left of the loss at the end, median over draws."""
        return float(self.remaining[-1].median())

    @cached_property
    def looks(self) -> tuple[Look, ...]:
        """All looks, in order."""
        has = training.learned(self.remaining)
        middle = self.accuracy.median(1).values
        first = self.distance[0]
        found = []
        for k, now in enumerate(self.distance):
            lower = (now.mean(-1) < first.mean(-1)).double().mean() >= OFTEN
            found.append(
                Look(
                    step=self.steps[k],
                    learned=k > 0 and bool(has[k]),
                    distance=float(now.mean()),
                    last=float(now[:, -1].mean()),
                    drift=float(self.drift[k].mean()),
                    accuracy=float(middle[k]),
                    fallen=int(((now < first).double().mean(0) >= OFTEN).sum()),
                    layers=now.shape[-1],
                    lower=bool(lower),
                )
            )
        return tuple(found)

    @property
    def learned(self) -> list[Look]:
        """The looks at which the network has learned."""
        return [look for look in self.looks if look.learned]

    @property
    def trained(self) -> bool:
        """Whether the network has learned at the end; if not, the run is void."""
        return self.looks[-1].learned

    @property
    def best(self) -> Look:
        """The look of highest median accuracy among those that have learned; the last if none."""
        return max(self.learned, key=lambda look: look.accuracy, default=self.looks[-1])

    @property
    def most(self) -> int:
        """The largest number of layers that have fallen at a look at which it has learned."""
        return max((look.fallen for look in self.learned), default=0)

    @property
    def fall(self) -> float:
        """By how much the distance is lower at the end than at the start, to two places."""
        return round(self.looks[0].distance - self.looks[-1].distance, 2) + 0.0  # no negative zero

    def three(self, what: str) -> list[Any]:
        """A property of looks at the start, at the best look and at the end.

        Examples
        --------
        >>> one = torch.tensor([[[0.5]], [[0.4]]])
        >>> run = Watched(None, None, [0, 9], one, one[..., 0], one[..., 0], one[..., 0])
        >>> run.three("step"), run.three("fallen")
        ([0, 9, 9], [0, 1, 1])
        """
        return [getattr(look, what) for look in (self.looks[0], self.best, self.looks[-1])]


def train(
    net: Any,
    X: Tensor,
    star: Tensor,
    *,
    labels: object | None = None,
    target: Tensor | None = None,
    method: str = "adam",
    rate: float = 0.003,
    steps: int,
    looks: Sequence[int] | None = None,
    seed: int = 0,
    **start: Any,
) -> Watched:
    """Train a network on ``X`` (T, m, n), to ``target`` or as an autoencoder, and watch it.

    ``net`` is a :class:`~lowdim.nets.networks.Dense`, whose last layer is the answer, or one of
    :mod:`lowdim.nets.architectures`; ``start`` goes to its ``init``. ``star`` and ``labels`` as in
    :func:`follow`; ``looks`` are steps, :func:`schedule` unless given.

    Examples
    --------
    >>> from lowdim.nets import networks
    >>> net = networks.Dense((4, 3, 3, 4), bias=False)
    >>> X = torch.arange(40.0).sin().reshape(2, 4, 5)
    >>> run = train(net, X, subspaces.principal_rows(X.double(), 2), steps=20)
    >>> run.distance.shape, run.steps
    (torch.Size([6, 2, 2]), [0, 1, 2, 4, 9, 20])
    """
    look = follow(X, star, labels=labels)
    weights = net.init(trials=len(X), seed=seed, **start)
    run = training.train(
        training.Objective(net, X, target, normalization="sample"),
        weights,
        training.Adam(rate) if method == "adam" else training.GD(rate),
        steps,
        schedule=looks or schedule(steps),
        measure={"d": lambda state: look(state.post[:-1])},
    )
    layers = run.trace["d"].shape[-1] - 2
    distance, moved, found = run.trace["d"].split((layers, 1, 1), -1)
    left = training.remaining(run.trace["loss"], X if target is None else target)
    return Watched(net, run.weights, run.trace_steps, distance, moved[..., 0], found[..., 0], left)


def table(runs: Iterable[tuple[str, float, Watched]]) -> Table:
    """One line for each reading: its name, the noise, and what was seen of it.

    The loss is that at the end; distance and accuracy are those at the start, at the best look and
    at the end; layers that fall are counted at the best look, at the end, and where they are most.

    Examples
    --------
    >>> one = torch.tensor([[[0.5]], [[0.4]]])
    >>> run = Watched(None, None, [0, 9], one, one[..., 0], one[..., 0], one[..., 0])
    >>> table([("narrow", 0.1, run)]).rows[0][:4]
    ('narrow', '0.1', '0.40', '0.50, 0.40, 0.40')
    """
    header = ("reading", "s²", "loss", "distance", "layers that fall", "best look", "accuracy")
    return Table(header, [_row(*run) for run in runs])


def _row(name: str, noise: float, run: Watched) -> tuple[object, ...]:
    if run.diverged:
        return (name, f"{noise:g}", "diverged: void", *["–"] * 4)
    distance, accuracy = (
        [f"{value:.2f}" for value in run.three(what)] for what in ("distance", "accuracy")
    )
    loss = f"{run.loss:.2f}"
    fallen = run.three("fallen")
    falling = f"{fallen[1]}, {fallen[2]}, {run.most} of {run.looks[0].layers}"
    if not run.trained:
        loss += ", void"
        falling = distance[1] = accuracy[1] = "–"
    step = run.best.step if run.trained else "–"
    return (name, f"{noise:g}", loss, ", ".join(distance), falling, step, ", ".join(accuracy))


def summary(runs: Sequence[Watched]) -> dict[str, object]:
    """What several readings gave: of those that have learned, the best accuracy and its step, ...

    ``learned``: a share; ``best``, ``step``: the highest accuracy at any look; ``end``: the highest
    at an end; ``ever``: in how many every layer has fallen at some look; ``finally``: at the end.

    Examples
    --------
    >>> one = torch.tensor([[[0.5]], [[0.4]]])
    >>> run = Watched(None, None, [0, 9], one, one[..., 0], one[..., 0], one[..., 0])
    >>> found = summary([run, run])
    >>> str(found["learned"]), found["step"], str(found["ever"])
    ('2 of 2', 9, '2 of 2')
    """
    told = [run for run in runs if run.trained]
    top = max(told, key=lambda run: run.best.accuracy, default=None)
    return {
        "learned": Share(len(told), len(runs)),
        "best": top and top.best.accuracy,
        "step": top and top.best.step,
        "end": max((run.looks[-1].accuracy for run in told), default=None),
        "ever": Share(sum(run.most == run.looks[0].layers for run in told), len(told)),
        "finally": sum(run.looks[-1].every for run in told),
    }


def named(name: str, runs: Sequence[Watched]) -> dict[str, list[Any]]:
    """Values of several runs under names that begin with ``name``, to be said in a chapter.

    ``_d``, ``_acc``, ``_last`` and ``_drift`` have :meth:`Watched.three` for each run, ``_fallen``
    has the layers that have fallen at each run's best look and at its end, one after the other.

    Examples
    --------
    >>> one = torch.tensor([[[0.5]], [[0.4]]])
    >>> run = Watched(None, None, [0, 9], one, one[..., 0], one[..., 0], one[..., 0])
    >>> named("gelu", [run])["gelu_fallen"]
    [1, 1]
    """
    asked = {"d": "distance", "acc": "accuracy", "last": "last", "drift": "drift"}
    found = {f"{name}_{key}": [run.three(what) for run in runs] for key, what in asked.items()}
    return found | {f"{name}_fallen": [count for run in runs for count in run.three("fallen")[1:]]}


def lines(runs: Mapping[tuple[str, float], Watched]) -> list[dict[str, object]]:
    """What a figure reports, distances that fall and clusters, beside each reading at its noise.

    A distance counts as falling if every layer's has at some look; what has not learned is void.

    Examples
    --------
    >>> one = torch.tensor([[[0.5]], [[0.4]]])
    >>> run = Watched(None, None, [0, 9], one, one[..., 0], one[..., 0], one[..., 0])
    >>> [line["agrees"] for line in lines({("narrow", 0.1): run})]
    [True, False]
    """
    found = []
    for (name, noise), run in runs.items():
        reading, falls = f"{name}, s² = {noise:g}", run.most == run.looks[0].layers
        distance = "distance at the start, at the best look, at the end"
        if not run.trained:
            found.append(compared(distance, "falls", "not trained: void", reading))
            continue
        found.append(compared(distance, "falls", run.three("distance"), reading, falls))
        accuracy = "accuracy at the best look, at the end"
        seen = run.three("accuracy")[1:]
        found.append(compared(accuracy, "(near-)perfect", seen, reading, run.best.clusters))
    return found


def draw(panels: Mapping[str, Watched], *, level: float, columns: int = 2) -> Figure:
    """Distance of every layer against the step, a panel for each run under its title.

    Median and middle 80 % of draws; dashed, ``level``; dotted, the best look of a run that learned.

    Examples
    --------
    >>> one = torch.tensor([[[0.5]], [[0.4]]])
    >>> run = Watched(None, None, [0, 9], one, one[..., 0], one[..., 0], one[..., 0])
    >>> len(draw({"one": run, "again": run}, level=0.9).axes)
    2
    """
    rows = -(-len(panels) // columns)
    height = 2.9 if rows == 1 else 2.5 * rows
    shape = {"nrows": rows, "ncols": columns, "squeeze": False}
    fig, axes = plots.figure(7.4, height, sharex=True, sharey=True, **shape)
    for ax, (title, run) in zip(axes.flat, panels.items(), strict=True):
        x = np.maximum(np.asarray(run.steps, dtype=float), 0.5)
        for layer, values in enumerate(run.distance.numpy().transpose(2, 0, 1)):
            low, mid, high = np.nanpercentile(values, (10, 50, 90), axis=1)
            color = plots.CYCLE[layer]
            ax.plot(x, mid, color=color, label=f"layer {layer + 1}")
            ax.fill_between(x, low, high, color=color, alpha=0.2, lw=0)
        ax.axhline(level, color=plots.FAINT, ls="--", lw=1)
        if run.trained:
            ax.axvline(run.best.step, color=plots.FAINT, ls=":", lw=1.5)
        ax.set(xscale="log", ylim=(0, 1), title=title)
    for ax in axes[-1]:
        ax.set_xlabel("step")
    for ax in axes[:, 0]:
        ax.set_ylabel("distance")
    layers = max(run.distance.shape[2] for run in panels.values())
    plots.legend(axes[-1, -1], ncols=2 if layers > 3 else 1, loc="upper left", fontsize=8)
    return fig
