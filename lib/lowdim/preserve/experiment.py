r"""The experiment of Part I's paper, its Section 5: an autoencoder on four noisy subspaces.

The text leaves open how the loss is normalized, how large the weights begin and how the data are
scaled; a :class:`Reading` is one choice of these, and :func:`trained` runs it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from lowdim.data import unions
from lowdim.linalg import clusters, subspaces
from lowdim.nets import networks, training

__all__ = ["RANK", "Reading", "Seen", "Trained", "entries_within", "seen", "trained"]

RANK, CLUSTERS, HIDDEN = 16, 4, 80


@dataclass(frozen=True)
class Reading:
    """One reading of Section 5: ``size`` points in as many dimensions, noise of variance s².

    loss: ``sample`` (per point), ``sum`` or ``mean``; scale: of the coefficients; width: weights
    begin uniformly within it, 1/√size if None.
    """

    size: int = 400
    noise: float = 0.1
    loss: str = "sample"
    scale: float = 1.0
    width: float | None = None

    @property
    def net(self) -> networks.Dense:
        """The paper's autoencoder with 80 hidden units and no biases."""
        return networks.Dense((self.size, HIDDEN, self.size), activation="relu", bias=False)


@dataclass(frozen=True)
class Trained:
    """Data, weights before training and the run itself."""

    reading: Reading
    data: unions.UnionOfSubspaces
    start: networks.Weights
    run: training.Run

    def first_layer(self, *, learned: bool) -> Tensor:
        """The first layer's weights (draws, 80, size), after training or before it."""
        return (self.run.weights if learned else self.start)[0][0].double()


def trained(reading: Reading, *, draws: int, steps: int, seed: int, rate: float = 0.005) -> Trained:
    """Draw data and weights and train by gradient descent at the paper's rate.

    Examples
    --------
    >>> made = trained(Reading(size=80), draws=1, steps=2, seed=0)
    >>> made.first_layer(learned=True).shape
    torch.Size([1, 80, 80])
    """
    data = unions.union_of_subspaces(
        trials=draws,
        ambient=reading.size,
        dims=(RANK // CLUSTERS,) * CLUSTERS,
        sizes=(reading.size // CLUSTERS,) * CLUSTERS,
        noise=reading.noise,
        coefficient_scale=reading.scale,
        seed=seed,
    )
    width = reading.size**-0.5 if reading.width is None else reading.width
    start = reading.net.init(trials=draws, seed=seed, kind="uniform", scale=width)
    objective = training.Objective(reading.net, data.noisy.float(), normalization=reading.loss)
    run = training.train(objective, start, training.GD(rate), steps, schedule=steps)
    return Trained(reading, data, start, run)


@dataclass(frozen=True)
class Seen:
    """A principal row space after a step of the layer.

    basis: (draws, n, 16); distance: normalized, from the clean one, mean over draws; accuracy: of
    spectral clustering of its projector, mean over draws.
    """

    basis: Tensor
    distance: float
    accuracy: float


def seen(made: Trained, *, learned: bool) -> dict[str, Seen]:
    """What P(X*), P(X), P(WX) and P(Y) show, with the weights before or after training.

    Examples
    --------
    >>> found = seen(trained(Reading(size=80), draws=1, steps=2, seed=0), learned=False)
    >>> list(found), round(found["X*"].distance, 9)
    (['X*', 'X', 'WX', 'Y'], 0.0)
    """
    data = made.data
    weights = made.run.weights if learned else made.start
    pre, post = made.reading.net.forward(weights, data.noisy.float())
    star = subspaces.principal_rows(data.clean, RANK)
    out = {}
    for name, M in {"X*": data.clean, "X": data.noisy, "WX": pre[0], "Y": post[0]}.items():
        V = star if name == "X*" else subspaces.principal_rows(M.double(), RANK)
        distance = subspaces.distance(star, V) / (2 * RANK) ** 0.5
        found = clusters.accuracy(clusters.spectral(V, CLUSTERS, seed=0), data.labels)
        out[name] = Seen(V, distance.mean().item(), float(found.mean()))
    return out


def entries_within(*, size: int = 400, seed: int = 0) -> tuple[Tensor, float]:
    """Entries of the clean projector between two points of one cluster, and ε.

    Examples
    --------
    >>> inside, epsilon = entries_within(size=80)
    >>> inside.shape, bool((inside.abs() >= epsilon).all())
    (torch.Size([1520]), True)
    """
    shape: dict[str, Any] = {
        "dims": (RANK // CLUSTERS,) * CLUSTERS,
        "sizes": (size // CLUSTERS,) * CLUSTERS,
    }
    four = unions.union_of_subspaces(ambient=size, seed=seed, **shape)
    P = subspaces.projector(subspaces.principal_rows(four.clean[0], RANK))
    same = torch.from_numpy(four.labels[:, None] == four.labels[None, :])
    apart = ~torch.eye(size, dtype=torch.bool)
    return P[same & apart], float(clusters.smallest_on_support(P))
