"""Perceptrons that tell manifolds apart, trained as in Part IV's experiments.

Points of m manifolds go in, the one-hot number of the manifold is the target, the loss is squared,
and the representation is the last hidden layer.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from lowdim import checks
from lowdim.nets import training
from lowdim.nets.networks import Dense, Weights


@dataclass(frozen=True)
class Perceptron:
    """A trained network: ``net``, its ``weights``, and those it ``start``ed from (one trial)."""

    net: Dense
    weights: Weights
    start: Weights

    def represent(self, X: Tensor, *, trained: bool = True) -> Tensor:
        """Last hidden layer (m, n, width) in double precision, for points X (m, n, d)."""
        layer = self._layers(X, self.weights if trained else self.start)[-2]
        return layer.T.unflatten(0, X.shape[:2]).double()

    def predict(self, X: Tensor) -> Tensor:
        """Number of the manifold (m, n) that each point of X (m, n, d) is assigned to."""
        return self._layers(X, self.weights)[-1].argmax(0).unflatten(0, X.shape[:2])

    def accuracy(self, X: Tensor) -> float:
        """Share of points of X (m, n, d) assigned to their own manifold, the first being 0."""
        own = torch.arange(len(X))[:, None]
        return float((self.predict(X) == own).double().mean())

    def _layers(self, X: Tensor, weights: Weights) -> list[Tensor]:
        flat = X.flatten(0, 1).T.contiguous().to(weights[0][0].dtype)
        return [layer[0] for layer in self.net.forward(weights, flat)[1]]


def classify(
    X: Tensor,
    *,
    width: int,
    depth: int = 3,
    epochs: int = 200,
    rate: float = 0.1,
    batch: int = 32,
    decay: float = 0.01,
    seed: int = 0,
) -> Perceptron:
    """Train a perceptron of ``depth`` layers on points X (m, n, d) of m manifolds.

    Defaults are the paper's: three ReLU layers, mini-batches of 32 at rate 0.1, weight decay 0.01
    (half of it times the squared weights and biases, as the paper writes it) and a squared loss,
    summed over the outputs and averaged over points.

    Raises
    ------
    ValueError
        If a number is out of range, or training diverges.

    Examples
    --------
    >>> from lowdim.data.manifolds import LinearFamily
    >>> D = LinearFamily(ambient=5, spread=0.2, tau=0.5).draw(m=3, n=10, dtype=torch.float32)
    >>> fit = classify(D.X, width=16, epochs=100, decay=0.001)
    >>> fit.accuracy(D.X), tuple(fit.represent(D.X).shape)
    (1.0, (3, 10, 16))
    """
    for name, value, least in (("width", width, 1), ("depth", depth, 2), ("epochs", epochs, 1)):
        checks.whole(value, name, least)
    m, n, d = X.shape
    net = Dense((d, *(width,) * (depth - 1), m))
    start = net.init(seed=seed, dtype=X.dtype)
    batch = min(batch, m * n)
    labels = torch.eye(m, dtype=X.dtype).repeat_interleave(n, 1)
    objective = training.Objective(
        net, X.flatten(0, 1).T.contiguous(), labels, normalization="sample",
        penalty=training.from_weight_decay(decay),
    )  # fmt: skip
    steps = max(1, epochs * m * n // batch)
    batches = training.Shuffled(batch, seed=seed)
    run = training.train(
        objective, start, training.GD(rate), steps, batches=batches, schedule=[steps]
    )
    if bool(run.diverged.any()):
        raise ValueError(f"training diverged at rate = {rate}; a smaller one may do.")
    return Perceptron(net, run.weights, start)
