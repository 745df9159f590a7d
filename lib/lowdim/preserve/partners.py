"""Networks of several kinds beside dense ones of the same size, trained to either of two targets.

An *autoencoder* answers with its input, a *classifier* with the label as a unit vector. A network
*clusters* if it has learned and its median accuracy is near-perfect: that of its last hidden
layer's projector, or for a classifier that of its answers. It is *far* if its distance from layer
to layer exceeds its partner's clearly in nearly all draws.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from matplotlib.figure import Figure
from sklearn.cluster import KMeans
from torch import Tensor

from lowdim import checks
from lowdim.evidence import plots
from lowdim.linalg import clusters, subspaces
from lowdim.nets import networks, training
from lowdim.preserve import drift, looks

__all__ = ["HEADER", "TARGETS", "Outcome", "draw", "outcome"]

TARGETS = ("autoencoder", "classifier")
NEAR = looks.NEAR  # the accuracy from which a network clusters
CLEARLY = 0.05  # by how much a larger distance is clearly larger
HEADER = ("loss", "distance", "to X*", "acc P", "k-means", "answers", "in means")


@dataclass(frozen=True)
class Outcome:
    """A network trained on T draws.

    watched: the run; projector, kmeans: accuracy (T,) from the last hidden layer's projector, and
    by k-means on it; answers: of a classifier (T,), else None; share: of the last hidden layer's
    variance in the cluster means (T,).
    """

    watched: looks.Watched
    projector: Tensor
    kmeans: np.ndarray
    answers: np.ndarray | None
    share: Tensor

    @property
    def draws(self) -> int:
        """The number T of draws."""
        return self.watched.draws

    @property
    def distance(self) -> Tensor:
        """Distance of a layer's output from its input, mean over layers, (looks, T)."""
        return self.watched.distance.mean(-1)

    @property
    def learned(self) -> bool:
        """Whether the loss at the end is small against what a constant leaves."""
        return bool(training.learned(self.watched.remaining[-1]))

    @property
    def clusters(self) -> bool:
        """Whether it has learned and is near-perfect."""
        accuracy = self.projector if self.answers is None else self.answers
        return self.learned and float(np.median(accuracy)) >= NEAR

    @property
    def end(self) -> float:
        """The distance from layer to layer at the end, mean over draws."""
        return float(self.distance[-1].mean())

    @property
    def moved(self) -> float:
        """The last layer's distance from the clean row space at the end, mean over draws."""
        return float(self.watched.drift[-1].mean())

    def farther(self, partner: Outcome) -> float:
        """The share of draws in which the distance clearly exceeds the partner's.

        Examples
        --------
        >>> one = Outcome(_flat(0.5), torch.ones(2), np.ones(2), None, torch.ones(2))
        >>> other = Outcome(_flat(0.6), torch.ones(2), np.ones(2), None, torch.ones(2))
        >>> one.farther(other), other.farther(one)
        (0.0, 1.0)
        """
        excess = self.distance[-1] - partner.distance[-1, : self.draws]
        return float((excess > CLEARLY).double().mean())

    def cells(self) -> tuple[str, ...]:
        """Means over the draws as a table shows them, under ``HEADER``.

        Examples
        --------
        >>> made = Outcome(_flat(0.5), torch.ones(2), np.ones(2), None, torch.zeros(2))
        >>> [made.cells()[k] for k in (2, 3, 5, 6)]
        ['0.50', '1.00', '–', '0.00']
        """
        ends = f"{float(self.distance[0].mean()):.2f}\u00a0→\u00a0{self.end:.2f}"
        loss, *rest = (
            "–" if value is None else f"{float(np.mean(np.asarray(value))):.2f}"
            for value in (
                self.watched.remaining[-1],
                self.moved,
                self.projector,
                self.kmeans,
                self.answers,
                self.share,
            )
        )
        return (loss, ends, *rest)


def _flat(distance: float) -> looks.Watched:
    """A run of two draws and one layer in which nothing changes, for examples."""
    flat = torch.full((2, 2), distance, dtype=torch.float64)
    return looks.Watched(None, None, [0, 1], flat[..., None], flat, flat, flat)


def outcome(
    net: Any,
    X: Tensor,
    star: Tensor,
    labels: np.ndarray,
    *,
    target: str = "autoencoder",
    seed: int = 0,
    **how: Any,
) -> Outcome:
    """Train ``net`` on ``X`` (T, m, n), whose clean row spaces are ``star`` (T, n, r).

    ``labels`` are (n,) from 0 to K − 1; ``how`` goes to :func:`lowdim.preserve.looks.train`.

    Raises
    ------
    ValueError
        If ``target`` is neither ``"autoencoder"`` nor ``"classifier"``.

    Examples
    --------
    >>> X = torch.eye(4).expand(2, -1, -1)
    >>> star, labels = X[..., :2].double(), np.array([0, 0, 1, 1])
    >>> net = networks.Dense((4, 3, 2))
    >>> outcome(net, X, star, labels, target="classifier", steps=3).answers.shape
    (2,)
    """
    checks.choice(target, TARGETS, "target")
    hot = torch.nn.functional.one_hot(torch.from_numpy(labels)).T
    sorts = target == "classifier"
    goal = hot.float().expand(len(X), -1, -1).contiguous() if sorts else X
    run = looks.train(net, X, star, target=goal, seed=seed, **how)
    if isinstance(net, networks.Dense):
        *hidden, answer = net.forward(run.weights, X)[1]
    else:
        hidden, answer = net.forward(run.weights, X)
    last = hidden[-1].double()
    V = subspaces.principal_rows(last, star.shape[-1])
    nearest = [KMeans(len(hot), n_init=4, random_state=0).fit_predict(Y.T.numpy()) for Y in last]
    return Outcome(
        watched=run,
        projector=drift.accuracy(V, labels),
        kmeans=clusters.accuracy(np.stack(nearest), labels),
        answers=(answer.argmax(1).numpy() == labels).mean(1) if sorts else None,
        share=_between(last, hot.double()),
    )


def _between(Y: Tensor, hot: Tensor) -> Tensor:
    """Share (T,) of the variance of Y (T, h, n) between the means of clusters ``hot`` (K, n)."""
    unit = hot.T / hot.sum(1).sqrt()
    centred = Y - Y.mean(-1, keepdim=True)
    return (centred @ unit).square().sum((1, 2)) / centred.square().sum((1, 2))


def draw(panels: Mapping[str, Mapping[str, Outcome]], *, columns: int = 2) -> Figure:
    """Distance against the step, a panel for each title, a curve for each name in it.

    Median and middle 80 % of draws; names that begin with ``dense`` are black and dashed.

    Examples
    --------
    >>> made = Outcome(_flat(0.5), torch.ones(2), np.ones(2), None, torch.ones(2))
    >>> len(draw({"a": {"CNN": made, "dense": made}, "b": {"CNN": made}}).axes)
    2
    """
    rows = -(-len(panels) // columns)
    shape = {"nrows": rows, "ncols": columns, "squeeze": False}
    fig, axes = plots.figure(7.4, 2.6 * rows, sharex=True, sharey=True, **shape)
    for ax, (title, curves) in zip(axes.flat, panels.items(), strict=True):
        for k, (name, made) in enumerate(curves.items()):
            _curve(ax, made, name, plots.CYCLE[k])
        ax.set(xscale="log", ylim=(0, 1), title=title)
        plots.legend(ax, fontsize=8, loc="upper left")
    for ax in axes[-1]:
        ax.set_xlabel("step")
    for ax in axes[:, 0]:
        ax.set_ylabel("distance")
    return fig


def _curve(ax: Any, made: Outcome, name: str, color: str) -> None:
    steps: Sequence[int] = made.watched.steps
    x = np.maximum(np.asarray(steps, dtype=float), 0.5)
    low, mid, high = np.percentile(made.distance.numpy(), (10, 50, 90), axis=1)
    style = "-"
    if name.startswith("dense"):
        color, style = plots.INK, "--"
    ax.plot(x, mid, style, color=color, label=name)
    ax.fill_between(x, low, high, color=color, alpha=0.15, lw=0)
