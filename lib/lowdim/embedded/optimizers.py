"""Optimizers on data that lie in a plane: which of them move the weights across it.

:class:`Plane` holds the data, as they are or turned, and trains a small ReLU network on them by a
:class:`Recipe`; :data:`TWELVE` are the usual ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import torch
from torch import Tensor, optim

from lowdim import checks
from lowdim.nets.networks import Dense, flat
from lowdim.seeds import generator

__all__ = ["ALONG", "MODES", "TWELVE", "Plane", "Recipe", "Signs", "across", "along", "loss"]

ALONG = 3  # directions of the data
ACROSS, COUNT = 2, 120  # the other directions, and number of points
MODES = ("all", "batch", "norm", "value", "closure")
Parameters = Sequence[Tensor]


class Signs(optim.SGD):
    """Sign descent: every entry moves by the learning rate.

    Examples
    --------
    >>> p = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
    >>> (p * torch.tensor([0.3, -7.0])).sum().backward()
    >>> Signs([p], lr=0.5).step()
    >>> p.tolist()
    [0.5, 2.5]
    """

    def step(self, closure: Any = None) -> Any:
        """One step, after the gradients are replaced by their signs."""
        for group in self.param_groups:
            for q in group["params"]:
                if q.grad is not None:
                    q.grad.sign_()
        return super().step(closure)


@dataclass(frozen=True)
class Recipe:
    """How to train: ``build`` makes the optimizer of the parameters.

    ``mode``: ``all`` points in every step, a ``batch`` of 10, a batch with gradients clipped by
    ``norm`` or by ``value``, or the optimizer's own calls of a ``closure``. ``entrywise``: whether
    steps depend on the axes, so that they may leave the row space of the gradients.
    """

    build: Callable[[list[Tensor]], optim.Optimizer]
    mode: str = "batch"
    entrywise: bool = False

    def __post_init__(self) -> None:
        checks.choice(self.mode, MODES, "mode")


_SGD = partial(optim.SGD, lr=0.1)
_HEAVY = partial(optim.SGD, lr=0.02, momentum=0.9)
TWELVE = {
    "gradient descent": Recipe(_SGD, "all"),
    "SGD, batches of 10": Recipe(_SGD),
    "momentum 0.9": Recipe(_HEAVY),
    "Nesterov": Recipe(partial(_HEAVY, nesterov=True)),
    "clipped by norm": Recipe(_SGD, "norm"),
    "L-BFGS": Recipe(partial(optim.LBFGS, line_search_fn="strong_wolfe"), "closure"),
    "clipped by value": Recipe(_SGD, "value", entrywise=True),
    "sign descent": Recipe(partial(Signs, lr=0.003), entrywise=True),
    "Adagrad": Recipe(partial(optim.Adagrad, lr=0.05), entrywise=True),
    "RMSprop": Recipe(partial(optim.RMSprop, lr=0.003), entrywise=True),
    "Adam": Recipe(partial(optim.Adam, lr=0.01), entrywise=True),
    "AdamW, no decay": Recipe(partial(optim.AdamW, lr=0.01, weight_decay=0.0), entrywise=True),
}


def loss(p: Parameters, X: Tensor, g: Tensor) -> Tensor:
    """Half the mean square error of the network with parameters ``p``, X (N, 5) and g (N,).

    Examples
    --------
    >>> p = [torch.ones(1, 5), torch.zeros(1, 1), torch.ones(1, 1), torch.zeros(1, 1)]
    >>> float(loss(p, torch.ones(1, 5), torch.tensor([3.0])))
    2.0
    """
    hidden = (X @ p[0].T + p[1].T).clamp_min(0)
    return ((hidden @ p[2].T + p[3].T)[:, 0] - g).square().mean() / 2


def across(p: Parameters, Q: Tensor) -> Tensor:
    """The first layer's weights across the data (width, 2), for data turned by Q.

    Examples
    --------
    >>> across([torch.arange(5.0)[None]], torch.eye(5).double()).tolist()
    [[3.0, 4.0]]
    """
    return (p[0].detach().double() @ Q)[:, ALONG:]


def along(p: Parameters, Q: Tensor) -> Tensor:
    """The first layer's weights along the data (width, 3), for data turned by Q.

    Examples
    --------
    >>> along([torch.arange(5.0)[None]], torch.eye(5).double()).tolist()
    [[0.0, 1.0, 2.0]]
    """
    return (p[0].detach().double() @ Q)[:, :ALONG]


@dataclass(frozen=True)
class Plane:
    """Points (120, 5) whose last two components are zero, labels (120,), and a rotation (5, 5)."""

    points: Tensor
    labels: Tensor
    turn: Tensor
    width: int
    seed: int

    @classmethod
    def draw(cls, *, width: int, seed: int) -> Plane:
        """Uniform points of a cube with the labels Σ sin πx, for networks of ``width`` neurons.

        Examples
        --------
        >>> plane = Plane.draw(width=4, seed=0)
        >>> plane.points.shape, bool((plane.points[:, 3:] == 0).all())
        (torch.Size([120, 5]), True)
        """
        rng = generator(seed, 0, "plane")
        tangent = torch.from_numpy(2 * rng.random((COUNT, ALONG)) - 1)
        points = torch.cat([tangent, torch.zeros(COUNT, ACROSS)], dim=1)
        turn = torch.linalg.qr(torch.from_numpy(rng.standard_normal((5, 5)))).Q
        labels = torch.sin(torch.pi * tangent).sum(1)
        return cls(points, labels, turn, checks.whole(width, "width", 1), seed)

    @property
    def bases(self) -> dict[str, Tensor]:
        """The two Q (5, 5) by which the data are turned: none, and a random one."""
        return {"Q = I": torch.eye(5, dtype=torch.float64), "Q random": self.turn}

    def network(self, trial: int = 0, dtype: torch.dtype = torch.float64) -> list[Tensor]:
        """W¹, b¹, W², b² of a network with one hidden layer, as leaves for autograd.

        Examples
        --------
        >>> [tuple(q.shape) for q in Plane.draw(width=4, seed=0).network()]
        [(4, 5), (4, 1), (1, 4), (1, 1)]
        """
        weights = Dense((5, self.width, 1)).init(
            seed=self.seed, first_trial=trial, kind="uniform", dtype=torch.float64
        )
        return [t[0].to(dtype).clone().requires_grad_(True) for t in flat(weights)]

    def train(
        self,
        recipe: Recipe,
        Q: Tensor,
        *,
        steps: int,
        penalty: float = 0.0,
        dtype: torch.dtype = torch.float64,
        each: Callable[[list[Tensor]], None] | None = None,
    ) -> tuple[list[Tensor], list[Tensor]]:
        """Parameters before and after training on the data turned by Q, with penalty λ‖θ‖².

        ``each`` is called with the parameters after every step. With a closure four steps are made,
        each of many evaluations.

        Examples
        --------
        >>> plane = Plane.draw(width=4, seed=0)
        >>> start, end = plane.train(TWELVE["Adam"], plane.bases["Q = I"], steps=3)
        >>> torch.equal(start[0][:, 3:], end[0][:, 3:]), torch.equal(start[0], end[0])
        (True, False)
        """
        p, X, g = self.network(0, dtype), (self.points @ Q.T).to(dtype), self.labels.to(dtype)
        start = [q.detach().clone() for q in p]
        optimizer, order = recipe.build(p), generator(self.seed, 0, "batches")

        def evaluate(rows: Tensor | slice) -> Tensor:
            optimizer.zero_grad()
            value = loss(p, X[rows], g[rows]) + penalty * sum(q.square().sum() for q in p)
            value.backward()
            return value

        if recipe.mode == "closure":
            for _ in range(4):
                optimizer.step(cast(Any, partial(evaluate, slice(None))))
            return start, p
        for _ in range(steps):
            whole = recipe.mode == "all"
            evaluate(slice(None) if whole else torch.from_numpy(order.integers(0, COUNT, 10)))
            if recipe.mode == "norm":
                torch.nn.utils.clip_grad_norm_(p, 0.1)
            if recipe.mode == "value":
                torch.nn.utils.clip_grad_value_(p, 0.02)
            optimizer.step()
            if each is not None:
                each(p)
        return start, p

    def path(self, recipe: Recipe, Q: Tensor, *, steps: int, penalty: float = 0.0) -> Tensor:
        """The weights across the data (steps + 1, width, 2) while the network trains.

        Examples
        --------
        >>> plane = Plane.draw(width=4, seed=0)
        >>> path = plane.path(TWELVE["gradient descent"], plane.turn, steps=3, penalty=0.5)
        >>> torch.allclose(path[1:], 0.9 * path[:-1])  # 1 - 2λη
        True
        """
        seen: list[Tensor] = []
        how: dict[str, Any] = {"steps": steps, "penalty": penalty}
        start, _ = self.train(recipe, Q, each=lambda p: seen.append(across(p, Q).clone()), **how)
        return torch.stack([across(start, Q), *seen])
