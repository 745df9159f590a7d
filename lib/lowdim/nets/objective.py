r"""What T trials of a network minimize: :math:`\mathcal L(\theta)+\lambda\|\theta\|^2`.

**One convention for the penalty**, in all of lowdim: it is λ times the squared norm of weights and
biases, without a half, so that its gradient is 2λθ. Papers and libraries that write
:math:`\frac d2\|\theta\|^2`, torch.optim's ``weight_decay`` among them, are converted by
:func:`from_weight_decay`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import cast

import torch
from torch import Tensor

from lowdim.checks import choice
from lowdim.nets._numbers import number
from lowdim.nets._passes import Passes
from lowdim.nets.losses import NORMALIZATIONS, Loss, Quadratic, coefficient, named
from lowdim.nets.networks import Network, Weights, flat

__all__ = ["Objective", "from_weight_decay"]


def from_weight_decay(decay: float) -> float:
    """The λ whose penalty λ‖θ‖² is decay/2·‖θ‖², so that its gradient is decay·θ.

    Examples
    --------
    >>> from_weight_decay(0.01)
    0.005
    """
    return decay / 2


@dataclass(frozen=True, eq=False)
class Objective:
    """A network, its data, a loss with its normalization, and a penalty.

    Parameters
    ----------
    net
        A ``networks.Dense``, or one of ``architectures``.
    X, target
        (T, m, n) and (T, c, n), or without T if all trials share them. The target is X unless
        given.
    loss
        ``"square"``, ``"entropy"`` or a ``losses.Quadratic``; see ``losses``.
    normalization
        ``"sum"``, ``"sample"``, ``"mean"`` or ``"half"``; see ``losses``.
    penalty
        λ: a number, (T,) for each trial, or (T, L) for each trial and layer; 0 or above. What is
        added is λ‖θ‖² over weights and biases.

    Raises
    ------
    ValueError
        If an argument is not as above. Shapes and dtypes are compared with the weights', when there
        are some, and then also refused if anything is not finite.

    Examples
    --------
    >>> from lowdim.nets.networks import Dense
    >>> net = Dense((1, 1), bias=False)
    >>> ridge = Objective(net, torch.ones(1, 4), normalization="sample", penalty=0.5)
    >>> weights = [(torch.zeros(1, 1, 1), None)]
    >>> ridge.value(weights).item(), ridge.gradients(weights)[0][0].item()
    (1.0, -2.0)
    """

    net: Network
    X: Tensor
    target: Tensor | None = None
    loss: str | Loss = field(default="square", kw_only=True)
    normalization: str = field(default="sum", kw_only=True)
    penalty: float | Sequence[float] | Tensor = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        loss = named(self.loss)
        choice(self.normalization, NORMALIZATIONS, "normalization")
        if not isinstance(self.X, Tensor) or not isinstance(self.target, Tensor | None):
            raise ValueError("X and target must be torch tensors.")
        if isinstance(loss, Quadratic):
            self._check_moments(loss.moments)
        if isinstance(self.penalty, int | float):
            object.__setattr__(self, "penalty", number(self.penalty, "penalty", least=0))
        else:
            table = torch.as_tensor(self.penalty, dtype=torch.float64)
            if not bool(((table >= 0) & table.isfinite()).all()):
                raise ValueError("penalty must be finite and not negative; some entries are not.")
            object.__setattr__(self, "penalty", table)

    def _check_moments(self, moments: Tensor) -> None:
        if self.normalization != "sum":
            raise ValueError(
                "a quadratic loss couples the samples, so its normalization must be 'sum'; "
                f"you gave {self.normalization!r}."
            )
        n = self.X.shape[-1]
        if moments.shape != (n, n) or moments.dtype != self.X.dtype:
            raise ValueError(
                f"the moments of a quadratic loss must be ({n}, {n}) and {self.X.dtype}, as X has "
                f"{n} columns; they are {tuple(moments.shape)} and {moments.dtype}."
            )

    def _penalty(self) -> float | Tensor:
        """λ as it is kept: one number, or a float64 tensor."""
        return cast("float | Tensor", self.penalty)

    def strength(self, trials: int) -> float | Tensor:
        """λ as one number, or for each trial and layer (T, L).

        Raises
        ------
        ValueError
            If there are not as many as trials and layers.
        """
        given = self._penalty()
        if isinstance(given, float):
            return given
        table = given[:, None] if given.ndim == 1 else given
        try:
            return table.expand(trials, self.net.depth)
        except RuntimeError:
            raise ValueError(
                f"penalty must be a number, ({trials},) or ({trials}, {self.net.depth}); its shape "
                f"is {tuple(given.shape)}."
            ) from None

    def trial(self, i: int) -> Objective:
        """The objective of trial ``i`` alone.

        Examples
        --------
        >>> from lowdim.nets.networks import Dense
        >>> task = Objective(Dense((1, 1)), torch.ones(3, 1, 4), penalty=[0.1, 0.2, 0.3])
        >>> alone = task.trial(1)
        >>> tuple(alone.X.shape), alone.penalty.tolist()
        ((1, 1, 4), [0.2])
        """

        def cut(t: Tensor) -> Tensor:
            return t if t.ndim == 2 or len(t) == 1 else t[i : i + 1]

        given = self._penalty()
        penalty = given if isinstance(given, float) else given[i : i + 1]
        target = None if self.target is None else cut(self.target)
        return replace(self, X=cut(self.X), target=target, penalty=penalty)

    def losses(self, weights: Weights) -> Tensor:
        """The loss of each trial without the penalty, (T,) float64."""
        return Passes(self, weights).evaluate()[0]

    def value(self, weights: Weights) -> Tensor:
        """The loss of each trial with the penalty, (T,) float64."""
        passes = Passes(self, weights)
        return passes.evaluate()[0] + passes.penalty()

    def differentiable(self, weights: Weights) -> Tensor:
        """``value`` in the weights' precision, by functions that autograd and torch.func follow.

        Slower than ``value`` and ``gradients``; for second derivatives. Nothing is checked.
        """
        X = self.X if self.X.ndim == 3 else self.X[None]
        Y = X if self.target is None else self.target
        c = coefficient(self.normalization, X.shape[2], self.net.outputs)
        value = c * named(self.loss).value(self.net.apply(weights, X), Y)
        strength = self.strength(len(value))
        if isinstance(strength, float):
            return value + strength * sum(_square(t) for t in flat(weights))
        layers = zip(strength.to(value.dtype).mT, weights, strict=True)
        return value + sum(lam * _square(t) for lam, layer in layers for t in flat([layer]))

    def gradients(self, weights: Weights) -> Weights:
        """The gradients of ``value``, in the shapes of ``weights``."""
        return Passes(self, weights).evaluate("all")[2]


def _square(t: Tensor) -> Tensor:
    """The squared norm of each trial's part, (T,)."""
    return t.square().sum(tuple(range(1, t.ndim)))
