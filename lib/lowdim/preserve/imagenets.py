r"""Five ReLU layers trained on images, and the row spaces of their layers on the way.

The networks rebuild the images or name their classes, with a squared error on one-hot labels.
Distances are :math:`\|P-P'\|_F/\sqrt{2r}`: the *step* of a layer from its own input and the *drift*
from the data, for every r of a sweep.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from lowdim.linalg import clusters, subspaces
from lowdim.nets import networks, training
from lowdim.preserve import blocks, drift
from lowdim.preserve.imagesets import Drawn
from lowdim.seeds import generator

__all__ = ["LAYERS", "Course", "Fitted", "Seen", "seen"]

LAYERS = 5
MARKS = (0, 1, 2, 5, 10, 20, 50, 100)  # epochs that are looked at, and the last
ZERO = 1e-6  # a singular value below this share of the largest counts as none


@dataclass(frozen=True)
class Fitted:
    """Networks after training, one for each of T draws.

    distances: (looks, T, ranks, 2, 5), of the five layers from their own input and from the data;
    outputs: of every layer on the images trained on, (T, width, n) each; least: the smallest rank
    of a layer's output at any look, as far as the largest r lets one see.
    """

    net: networks.Dense
    run: training.Run
    distances: np.ndarray
    outputs: list[Tensor]
    least: float

    @property
    def last(self) -> Tensor:
        """Output (T, width, n) of the last of the five layers."""
        return self.outputs[LAYERS - 1]

    @property
    def lost(self) -> bool:
        """Whether a draw diverged."""
        return bool(self.run.diverged.any())

    def on(self, X: Tensor) -> list[Tensor]:
        """Outputs of all layers on other images (T, m, n)."""
        return self.net.forward(self.run.weights, X.float())[1]

    def dealt(self, X: Tensor, *, seed: int) -> Tensor:
        """Output of the fifth layer with the entries of each weight matrix in random order."""
        weights = []
        for layer, (W, b) in enumerate(self.run.weights):
            new = W.clone()
            for t in range(len(W)):
                mix = generator(seed, t, "deal", layer).permutation(W[t].numel())
                new[t] = W[t].flatten()[torch.from_numpy(mix)].reshape(W[t].shape)
            weights.append((new, b))
        return self.net.forward(weights, X.float())[1][LAYERS - 1]


@dataclass(frozen=True)
class Course:
    """How networks of width ``hidden`` are trained on ``data`` and looked at.

    Examples
    --------
    >>> from lowdim.preserve import imagesets
    >>> data = imagesets.draw(per_class=4, classes=2, draws=2)
    >>> course = Course(data, hidden=12, ranks=(1, 3, 50), rank=2, epochs=4, batch=8)
    >>> course.swept, course.looks, course.fit().distances.shape
    ([1, 3], [0, 1, 2, 4], (4, 2, 2, 2, 5))
    """

    data: Drawn
    hidden: int = 80
    ranks: Sequence[int] = (1, 5, 10, 15, 20, 30, 40)
    rank: int = 20
    epochs: int = 200
    batch: int = 60
    rate: float = 0.002
    seed: int = 0

    @cached_property
    def swept(self) -> list[int]:
        """The dimensions r that both the data and a layer can have, rising."""
        m, n = self.data.X.shape[1:]
        return sorted({r for r in self.ranks if r <= min(self.hidden, m, n - 1)})

    @property
    def drawn(self) -> int:
        """Place in the sweep of the r nearest to ``rank``."""
        return min(range(len(self.swept)), key=lambda i: abs(self.swept[i] - self.rank))

    @property
    def looks(self) -> list[int]:
        """The epochs after which a network is looked at."""
        return sorted({e for e in MARKS if e < self.epochs} | {self.epochs})

    @cached_property
    def space(self) -> Tensor:
        """Principal row spaces (T, n, r) of the images, r the largest of the sweep."""
        return subspaces.principal_rows(self.data.X, self.swept[-1])

    def untrained(self) -> Tensor:
        """Output (T, width, n) of the fifth layer of the autoencoder before training."""
        net, X = self._net(self.data.X.shape[1], bias=False), self.data.X
        return net.forward(net.init(trials=len(X), seed=self.seed), X.float())[1][LAYERS - 1]

    def fit(
        self,
        labels: np.ndarray | None = None,
        *,
        count: int | None = None,
        bias: bool = False,
        optimizer: training.GD | None = None,
    ) -> Fitted:
        """Train the first ``count`` draws to rebuild the images, or to name ``labels`` (T, n)."""
        X = self.data.X[:count].float()
        goal = None
        if labels is not None:
            goal = torch.nn.functional.one_hot(torch.from_numpy(labels)).mT.float()[:count]
        net = self._net(X.shape[1] if goal is None else goal.shape[1], bias=bias)
        batch = min(self.batch, X.shape[-1])
        per_epoch = -(-X.shape[-1] // batch)
        run = training.train(
            training.Objective(net, X, goal, normalization="sample"),
            net.init(trials=len(X), seed=self.seed),
            training.Adam(self.rate) if optimizer is None else optimizer,
            self.epochs * per_epoch,
            batches=training.Shuffled(batch, seed=self.seed),
            measure={"d": self._look},
            schedule=[e * per_epoch for e in self.looks],
        )
        trace = run.trace["d"]
        shape = (len(self.looks), len(X), len(self.swept), 2, LAYERS)
        far = trace[..., :-1].numpy().reshape(shape)
        outputs = net.forward(run.weights, X)[1]
        return Fitted(net, run, far, outputs, float(trace[..., -1].min()))

    def _net(self, outputs: int, *, bias: bool) -> networks.Dense:
        widths = (self.data.X.shape[1], *[self.hidden] * LAYERS, outputs)
        return networks.Dense(widths, activation="relu", bias=bias)

    def _look(self, state: training.State) -> Tensor:
        """Steps and drifts of all layers at every r, and the least rank: (T, ranks * 10 + 1)."""
        top = [subspaces.principal(Y.double(), self.swept[-1]) for Y in state.post[:LAYERS]]
        rows, X_rows = torch.stack([p.basis for p in top]), self.space[: len(top[0].basis)]
        every = []
        for r in self.swept:
            at = drift.Spaces(X_rows[..., :r], rows[..., :r], rows[..., :r])
            every.append(torch.stack([at.step(), at.drift(at.entering)], 1))
        full = [(p.values > ZERO * p.values[:, :1]).sum(1) for p in top]
        least = torch.stack(full).amin(0)
        return torch.cat([torch.stack(every, 1).flatten(1), least[:, None]], 1)


@dataclass(frozen=True)
class Seen:
    """What a matrix (T, width, n) shows of given labels, means over draws.

    distance: of its row space from that of the data; price: of the labels; projector, kmeans: ACC,
    NMI and ARI of the clusters cut from its projector, and of those that k-means finds, (3,) each.
    """

    distance: float
    price: float
    projector: np.ndarray
    kmeans: np.ndarray


def seen(Y: Tensor, labels: np.ndarray, space: Tensor) -> Seen:
    """Read the labels (T, n) off the columns of Y, at the dimension of ``space`` (T, n, r).

    Examples
    --------
    >>> Y = torch.block_diag(torch.ones(1, 3), torch.ones(1, 2)).double()[None]
    >>> found = seen(Y, np.array([[0, 0, 0, 1, 1]]), subspaces.principal_rows(Y, 2))
    >>> round(found.distance, 6), round(found.price, 6), found.projector.tolist()
    (0.0, 0.0, [1.0, 1.0, 1.0])
    """
    K = len(np.unique(labels))
    V = subspaces.principal_rows(Y.double(), space.shape[-1])
    return Seen(
        float(drift.apart(space, V).mean()),
        float(blocks.price(V, labels).mean()),
        clusters.scores(clusters.spectral(V, K, seed=0), labels).mean(0),
        clusters.scores(clusters.kmeans(Y, K, seed=0), labels).mean(0),
    )
