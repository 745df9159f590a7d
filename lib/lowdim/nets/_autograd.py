"""Forward and backward through a few trials of any network that is written in torch.

The counterpart of the hand-derived passes in ``_engine``, for networks whose weights are a flat
list of tensors: slower, because every operation keeps what its derivative needs.
"""

from __future__ import annotations

import torch
from torch import Tensor

from lowdim.linalg import parallel
from lowdim.nets._engine import Pull, add_pull
from lowdim.nets.losses import Loss
from lowdim.nets.networks import Network


def chunk_size(X: Tensor) -> int:
    """How many trials of data X (T, m, n) to take together.

    Examples
    --------
    >>> chunk_size(torch.zeros(9, 200, 200))
    4
    """
    return max(1, parallel.PIECE // (4 * X[0].numel()))  # layers are a few times the data


class Autograd:
    """Passes by autograd; the methods are those of ``_engine.Engine``."""

    def __init__(self, net: Network, loss: Loss) -> None:
        self.net, self.loss = net, loss
        self.leaves: list[Tensor] = []
        self.value = torch.empty(0)

    def residual(self, weights: list[Tensor], X: Tensor, target: Tensor) -> None:
        """Remember the loss and how it came about."""
        with torch.enable_grad():
            # chunks share tensors: detach() would notice another thread's step on its own trials
            self.leaves = [w.data.requires_grad_() for w in weights]
            self.value = self.loss.value(self.net.apply(self.leaves, X), target)

    def losses(self, X: Tensor) -> Tensor:
        """The loss of each trial, (trials,) float64, after ``residual``."""
        return self.value.detach().double()

    def forward(self, weights: list[Tensor], X: Tensor, target: Tensor) -> Tensor:
        """The loss of each trial, (trials,) float64."""
        self.residual(weights, X, target)
        return self.losses(X)

    def backward(
        self, weights: list[Tensor], X: Tensor, factor: float, pulls: list[Pull]
    ) -> list[Tensor]:
        """Gradients of the penalized loss, after ``residual``."""
        with torch.enable_grad():
            total = (factor / self.loss.factor * self.value).sum()
        grads = torch.autograd.grad(total, self.leaves, allow_unused=True, materialize_grads=True)
        for G, W, pull in zip(grads, weights, pulls, strict=True):
            add_pull(G, W, pull)
        return list(grads)
