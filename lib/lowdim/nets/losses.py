r"""What a network's outputs are charged, and what the charge is divided by.

With outputs F and targets Y, both (T, c, n), a loss is one number for each trial:

* ``"square"``: :math:`\|F-Y\|^2`;
* ``"entropy"``: the cross-entropy :math:`-\sum Y\log\mathrm{softmax}(F)`, the columns of Y being
  probabilities;
* :class:`Quadratic`: :math:`\frac12\langle FA,F\rangle-\langle Y,F\rangle`, which is what the
  squared error of a linear network becomes when data are known by their second moments alone.

A normalization multiplies it: ``"sum"`` by 1, ``"sample"`` by 1/n, ``"mean"`` by 1/(n·c),
``"half"`` by 1/(2n).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from lowdim.checks import choice

__all__ = ["LOSSES", "NORMALIZATIONS", "Entropy", "Loss", "Quadratic", "Square", "coefficient"]
__all__ += ["named"]

NORMALIZATIONS = ("sum", "sample", "mean", "half")


class Loss(Protocol):
    """A loss before its normalization."""

    name: str
    factor: float  # the gradient with respect to the outputs is factor times the residual

    def value(self, outputs: Tensor, target: Tensor) -> Tensor:
        """The loss (T,), by functions that autograd can follow."""

    def residual(self, outputs: Tensor, target: Tensor, out: Tensor) -> Tensor | None:
        """Write the residual into ``out``, which may be ``outputs``; return the loss (T,) or None.

        None says that the loss is the residual's squared norm.
        """

    def size(self, target: Tensor) -> Tensor:
        """(T,) float64: the loss of an answer that knows nothing; far above it a run has failed."""


@dataclass(frozen=True)
class Square:
    """The squared distance of outputs and targets.

    Examples
    --------
    >>> F, Y, out = torch.ones(1, 1, 2), torch.zeros(1, 1, 2), torch.empty(1, 1, 2)
    >>> Square().residual(F, Y, out), out.tolist(), Square().value(F, Y).tolist()
    (None, [[[1.0, 1.0]]], [2.0])
    """

    name = "square"
    factor = 2.0

    def value(self, outputs: Tensor, target: Tensor) -> Tensor:
        """The loss (T,), differentiable."""
        return (outputs - target).square().sum((1, 2))

    def residual(self, outputs: Tensor, target: Tensor, out: Tensor) -> None:
        """F - Y, into ``out``."""
        torch.sub(outputs, target, out=out)

    def size(self, target: Tensor) -> Tensor:
        """The squared norm of the target, which is the loss of the answer zero."""
        return torch.linalg.vector_norm(target.flatten(1), dim=1).double().square()


@dataclass(frozen=True)
class Entropy:
    """The cross-entropy of outputs that are logits, relative to targets that are probabilities.

    Examples
    --------
    >>> F, Y, out = torch.zeros(1, 2, 1), torch.tensor([[[1.0], [0.0]]]), torch.empty(1, 2, 1)
    >>> round(Entropy().residual(F, Y, out).item(), 4), out.flatten().tolist()
    (0.6931, [-0.5, 0.5])
    """

    name = "entropy"
    factor = 1.0

    def value(self, outputs: Tensor, target: Tensor) -> Tensor:
        """The loss (T,), differentiable."""
        return -(target * outputs.log_softmax(1)).sum((1, 2))

    def residual(self, outputs: Tensor, target: Tensor, out: Tensor) -> Tensor:
        """The softmax times each column's sum of Y, minus Y, into ``out``."""
        logs = outputs.log_softmax(1)
        value = -(target * logs).sum((1, 2))
        torch.sub(logs.exp_().mul_(target.sum(1, keepdim=True)), target, out=out)
        return value

    def size(self, target: Tensor) -> Tensor:
        """The loss of equal logits."""
        return math.log(max(2, target.shape[1])) * target.sum((1, 2)).double()


@dataclass(frozen=True, eq=False)
class Quadratic:
    """Half of ⟨F A, F⟩ minus ⟨Y, F⟩, for a symmetric A (n, n), which couples the n columns.

    Examples
    --------
    >>> F, Y, out = torch.ones(1, 1, 2), torch.ones(1, 1, 2), torch.empty(1, 1, 2)
    >>> Quadratic(torch.diag(torch.tensor([2.0, 4.0]))).residual(F, Y, out).item(), out.tolist()
    (1.0, [[[1.0, 3.0]]])
    """

    moments: Tensor
    name = "quadratic"
    factor = 1.0

    def value(self, outputs: Tensor, target: Tensor) -> Tensor:
        """The loss (T,), differentiable."""
        return ((outputs @ self.moments / 2 - target) * outputs).sum((1, 2))

    def residual(self, outputs: Tensor, target: Tensor, out: Tensor) -> Tensor:
        """F A - Y, into ``out``."""
        product = outputs @ self.moments
        value = ((product / 2 - target) * outputs).sum((1, 2))
        torch.sub(product, target, out=out)
        return value

    def size(self, target: Tensor) -> Tensor:
        """The sum of the squares of the entries of Y and of A."""
        return target.double().square().sum((1, 2)) + self.moments.double().square().sum()


LOSSES: dict[str, Loss] = {"square": Square(), "entropy": Entropy()}


def named(loss: str | Loss) -> Loss:
    """The loss of that name, or ``loss`` itself if it is one.

    Raises
    ------
    ValueError
        If the name is unknown.

    Examples
    --------
    >>> named("entropy").name, named(Quadratic(torch.eye(2))).name
    ('entropy', 'quadratic')
    """
    if isinstance(loss, Square | Entropy | Quadratic):
        return loss
    choice(loss, LOSSES, "loss")
    return LOSSES[str(loss)]


def coefficient(normalization: str, samples: int, width: int) -> float:
    """The factor of that normalization, for as many samples and outputs.

    Raises
    ------
    ValueError
        If the normalization is unknown.

    Examples
    --------
    >>> [coefficient(name, 5, 4) for name in NORMALIZATIONS]
    [1.0, 0.2, 0.05, 0.1]
    """
    per = {"sum": 1, "sample": samples, "mean": samples * width, "half": 2 * samples}
    return 1 / per[choice(normalization, NORMALIZATIONS, "normalization")]
