"""What a gradient does to the weights: small objects with the conventions of torch.optim.

A rate is a number, (T,) numbers for T trials, or a function of the step (counted from 0) that
returns a number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor
from torch.optim.adam import adam

from lowdim.checks import whole
from lowdim.nets._numbers import number
from lowdim.nets.networks import by_trial

__all__ = ["GD", "LBFGS", "Adam", "Momentum", "Optimizer", "Rate", "cosine_rates", "held"]

Rate = float | Sequence[float] | Tensor | Callable[[int], float]
Pace = float | Tensor


def _rate(rate: Rate) -> Rate:
    """``rate``, several of them as a float64 tensor (T,)."""
    if callable(rate) and not isinstance(rate, Tensor):
        return rate
    if isinstance(rate, int | float):
        return number(rate, "rate", above=0)
    several = torch.as_tensor(rate, dtype=torch.float64)
    if several.ndim != 1 or not bool(((several > 0) & several.isfinite()).all()):
        raise ValueError(
            "rate must be a finite number above 0, one such number for each trial, or a function "
            f"of the step; you gave {rate!r}."
        )
    return several


def _move(W: Tensor, way: Tensor, pace: Pace) -> None:
    """W minus pace times way, in place."""
    if isinstance(pace, Tensor):
        W.sub_(by_trial(pace, W) * way)
    else:
        W.sub_(way, alpha=pace)


@dataclass(frozen=True, eq=False)
class GD:
    """Gradient descent; on mini-batches, stochastic gradient descent.

    Raises
    ------
    ValueError
        If a rate is not a finite number above 0.

    Examples
    --------
    >>> W, gradient = torch.ones(1, 1, 1), torch.ones(1, 1, 1)
    >>> GD(0.5).update(W, gradient, [], 0.5, 0)
    >>> W.item()
    0.5
    """

    rate: Rate
    name: ClassVar[str] = "gd"
    slots: ClassVar[int] = 0  # tensors of each weight's shape that it remembers

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", _rate(self.rate))

    def update(self, W: Tensor, G: Tensor, memory: list[Tensor], pace: Pace, step: int) -> None:
        """Take step number ``step`` in place; the gradient G is used up."""
        _move(W, G, pace)


@dataclass(frozen=True, eq=False)
class Momentum(GD):
    """Heavy-ball momentum: v becomes beta v + gradient, and the weights move by -rate v.

    Raises
    ------
    ValueError
        If ``beta`` is not from 0 up to 1, or as ``GD``.

    Examples
    --------
    >>> Momentum(0.1).beta
    0.9
    """

    beta: float = 0.9
    name: ClassVar[str] = "momentum"
    slots: ClassVar[int] = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        number(self.beta, "beta", least=0, below=1)

    def update(self, W: Tensor, G: Tensor, memory: list[Tensor], pace: Pace, step: int) -> None:
        """Take step number ``step`` in place; the gradient G is used up."""
        _move(W, memory[0].mul_(self.beta).add_(G), pace)


@dataclass(frozen=True, eq=False)
class Adam(GD):
    """Adam (Kingma and Ba, 2015).

    fused: whether torch's own kernel takes the step, in one pass over memory, as it does in
    torch.optim.Adam(fused=True); the last digit may come out otherwise. None leaves it to the
    network: not for ``Dense``, whose passes stay in the caches. Never with a rate for each trial.

    Raises
    ------
    ValueError
        If ``betas`` are not two numbers from 0 up to 1, or as ``GD``.

    Examples
    --------
    >>> Adam(0.003, betas=(0.8, 0.99)).betas
    (0.8, 0.99)
    """

    betas: tuple[float, float] = (0.9, 0.999)
    epsilon: float = 1e-8
    fused: bool | None = None
    name: ClassVar[str] = "adam"
    slots: ClassVar[int] = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.betas) != 2:
            raise ValueError(f"betas must be two numbers from 0 up to 1; you gave {self.betas!r}.")
        for beta in self.betas:
            number(beta, "betas", least=0, below=1)
        if self.fused and isinstance(self.rate, Tensor):
            raise ValueError("a fused Adam has one rate for all trials; you gave several.")

    def update(self, W: Tensor, G: Tensor, memory: list[Tensor], pace: Pace, step: int) -> None:
        """Take step number ``step`` in place; the gradient G is used up."""
        one, two = self.betas
        if self.fused:
            taken = torch.tensor(float(step))
            adam(
                [W], [G], [memory[0]], [memory[1]], [], [taken], fused=True, lr=pace, beta1=one,
                beta2=two, eps=self.epsilon, weight_decay=0.0, amsgrad=False, maximize=False,
            )  # fmt: skip
            return
        first, second = 1 - one ** (step + 1), math.sqrt(1 - two ** (step + 1))
        m = memory[0].lerp_(G, 1 - one)
        v = memory[1].mul_(two).addcmul_(G, G, value=1 - two)
        below = torch.sqrt(v, out=G).div_(second).add_(self.epsilon)
        if isinstance(pace, Tensor):
            W.sub_(by_trial(pace, W) / first * (m / below))
        else:
            W.addcdiv_(m, below, value=-pace / first)


@dataclass(frozen=True)
class LBFGS:
    """scipy's L-BFGS-B without its own stopping tests, trial by trial, with all samples, float64.

    memory: how many steps it remembers.

    Examples
    --------
    >>> LBFGS().memory
    20
    """

    memory: int = 20
    name: ClassVar[str] = "lbfgs"

    def __post_init__(self) -> None:
        whole(self.memory, "memory", 1)


Optimizer = GD | LBFGS


def cosine_rates(first: float, last: float, epochs: int) -> list[float]:
    """Learning rates of ``epochs`` epochs under cosine annealing, as torch sets them by epoch.

    Raises
    ------
    ValueError
        If ``epochs`` is not a whole number of 1 or more.

    Examples
    --------
    >>> [round(rate, 3) for rate in cosine_rates(1.0, 0.0, 4)]
    [1.0, 0.854, 0.5, 0.146]
    """
    whole(epochs, "epochs", 1)
    turn = (math.cos(math.pi * t / epochs) for t in range(epochs))
    return [last + (first - last) * (1 + c) / 2 for c in turn]


def held(rates: Sequence[float], steps: int) -> Callable[[int], float]:
    """The function of the step that keeps each of ``rates`` for ``steps`` steps.

    Examples
    --------
    >>> rate = held([0.1, 0.01], 3)
    >>> [rate(step) for step in range(6)]
    [0.1, 0.1, 0.1, 0.01, 0.01, 0.01]
    """
    whole(steps, "steps", 1)
    return lambda step: rates[step // steps]
