"""Which samples a step sees, when it does not see all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import torch
from torch import Tensor

from lowdim.checks import whole
from lowdim.seeds import generator

__all__ = ["Batches", "Drawn", "Shuffled"]

Picker = Callable[[int], Tensor]


class Batches(Protocol):
    """A rule that names the samples of each step; what one trial sees does not hang on others."""

    def epoch(self, samples: int) -> int:
        """After how many steps a run may look whether it has arrived."""

    def columns(self, lo: int, hi: int, samples: int) -> Picker:
        """A function of the step: the samples of trials lo … hi - 1 there, (hi - lo, k)."""


@dataclass(frozen=True)
class Shuffled:
    """Mini-batches of ``size`` samples, the last of an epoch having what is left.

    Every epoch goes once through all samples, in an order that each trial draws from (seed,
    first_trial + its number, epoch). A step is one mini-batch.

    shared: whether all trials go by one order, drawn from (seed, epoch).

    Raises
    ------
    ValueError
        If a number is not whole or out of range.

    Examples
    --------
    >>> batches = Shuffled(2, seed=1)
    >>> pick = batches.columns(0, 1, 5)
    >>> batches.epoch(5), torch.cat([pick(step) for step in range(3)], 1).sort().values.tolist()
    (3, [[0, 1, 2, 3, 4]])
    """

    size: int
    seed: int = 0
    first_trial: int = 0
    shared: bool = False

    def __post_init__(self) -> None:
        whole(self.size, "the size of a mini-batch", 1)
        whole(self.first_trial, "first_trial", 0)
        generator(self.seed, 0, "batches")  # refuses what is no seed

    def epoch(self, samples: int) -> int:
        """Mini-batches in an epoch.

        Raises
        ------
        ValueError
            If a mini-batch has more samples than there are.
        """
        if self.size > samples:
            raise ValueError(
                f"a mini-batch must have from 1 to the {samples} samples there are; "
                f"you gave {self.size}."
            )
        return -(-samples // self.size)

    def columns(self, lo: int, hi: int, samples: int) -> Picker:
        """A function of the step: the samples of trials lo … hi - 1 there, (hi - lo, size)."""
        steps, trials = self.epoch(samples), range(self.first_trial + lo, self.first_trial + hi)

        @lru_cache(maxsize=1)
        def orders(epoch: int) -> Tensor:
            if self.shared:
                one = generator(self.seed, epoch, "orders").permutation(samples)
                return torch.from_numpy(one).expand(len(trials), -1)
            own = (generator(self.seed, trial, "batches", epoch) for trial in trials)
            return torch.stack([torch.from_numpy(random.permutation(samples)) for random in own])

        def pick(step: int) -> Tensor:
            epoch, place = divmod(step, steps)
            return orders(epoch)[:, place * self.size : (place + 1) * self.size]

        return pick


@dataclass(frozen=True)
class Drawn:
    """The samples that a function of the step names: (k,) for all trials, or (T, k).

    Examples
    --------
    >>> Drawn(lambda step: torch.tensor([step % 3])).columns(0, 2, 3)(4).tolist()
    [[1], [1]]
    """

    pick: Picker

    def epoch(self, samples: int) -> int:
        """1: a run may look at every step whether it has arrived."""
        return 1

    def columns(self, lo: int, hi: int, samples: int) -> Picker:
        """A function of the step: the samples of trials lo … hi - 1 there, (hi - lo, k)."""

        def pick(step: int) -> Tensor:
            chosen = self.pick(step)
            return chosen.expand(hi - lo, -1) if chosen.ndim == 1 else chosen[lo:hi]

        return pick
