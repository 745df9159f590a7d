r"""Many samples, few distinct inputs: how near to low rank a layer is along gradient descent.

With K distinct inputs and weight decay λ every layer is within :math:`\|g\|/2\lambda` of rank K,
where g is the layer's gradient, whatever the labels are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
from torch import Tensor

from lowdim import checks
from lowdim.linalg import ranks
from lowdim.nets import networks, training
from lowdim.seeds import generator

__all__ = ["Descent", "FewInputs", "few_inputs"]

INPUTS, OUTPUTS = 6, 5


@dataclass(frozen=True)
class Descent:
    """The second layer of a network along gradient descent.

    decay: λ; steps: (k,) where it was looked at; distance: (k,) from rank K, in the Frobenius
    norm; gradient: (k,) norm of the layer's gradient, penalty included.
    """

    decay: float
    steps: np.ndarray
    distance: Tensor
    gradient: Tensor

    @property
    def bound(self) -> Tensor:
        """(k,) the distance that the gradient allows, ‖g‖/2λ."""
        return self.gradient / (2 * self.decay)

    @property
    def crossed(self) -> int:
        """How often the distance exceeds the bound by more than rounding."""
        return int((self.distance > (1 + 1e-9) * self.bound + 1e-13).sum())


@dataclass(frozen=True, eq=False)
class FewInputs:
    """A tanh network 6-width-width-5 and N samples: X (6, N) with K distinct columns, Y (5, N)."""

    net: networks.Dense
    X: Tensor
    Y: Tensor
    distinct: int

    def start(self, *, trials: int, seed: int) -> networks.Weights:
        """Normal weights from which descent begins."""
        return self.net.init(
            trials=trials, seed=seed, kind="normal", scale=0.5, dtype=torch.float64
        )

    def descend(self, decay: float, *, steps: int, seed: int, rate: float = 0.05) -> Descent:
        """Gradient descent on the loss per sample plus ``decay`` · ‖Θ‖², seen some sixty times.

        Examples
        --------
        >>> seen = few_inputs(seed=0).descend(0.1, steps=60, seed=0)
        >>> bool(seen.distance[-1] < seen.distance[0]), seen.crossed
        (True, 0)
        """
        return _descend(self, decay, steps, seed, rate)

    def descents(self, decays: Sequence[float], *, steps: int, seed: int) -> list[Descent]:
        """One descent for each weight decay, all from the same weights.

        Examples
        --------
        >>> [seen.decay for seen in few_inputs(seed=0).descents((0.1, 0.01), steps=2, seed=0)]
        [0.1, 0.01]
        """
        return [self.descend(decay, steps=steps, seed=seed) for decay in decays]


def few_inputs(*, distinct: int = 3, points: int = 24, width: int = 8, seed: int = 0) -> FewInputs:
    """``points`` samples with ``distinct`` different inputs, every label different.

    The same numbers give the same object, and its descents are made once: a page's picture and its
    text may both ask for them.

    Raises
    ------
    ValueError
        If ``distinct`` is not a whole number from 1, or ``points`` are fewer.

    Examples
    --------
    >>> problem = few_inputs(distinct=3)
    >>> [len(torch.unique(A, dim=1).mT) for A in (problem.X, problem.Y)]
    [3, 24]
    """
    checks.whole(distinct, "distinct", 1)
    checks.whole(points, "points", distinct)
    return _few_inputs(distinct, points, width, seed)


@cache
def _few_inputs(distinct: int, points: int, width: int, seed: int) -> FewInputs:
    rng = generator(seed, 0, "data")
    X = rng.standard_normal((INPUTS, distinct))[:, np.arange(points) % distinct]
    Y = rng.standard_normal((OUTPUTS, points))
    net = networks.Dense((INPUTS, width, width, OUTPUTS), activation="tanh")
    return FewInputs(net, torch.from_numpy(X), torch.from_numpy(Y), distinct)


@cache
def _descend(problem: FewInputs, decay: float, steps: int, seed: int, rate: float) -> Descent:
    objective = training.Objective(
        problem.net, problem.X, problem.Y, normalization="sample", penalty=decay
    )

    def gradient(at: training.State) -> Tensor:
        return objective.gradients(at.weights)[1][0].norm(dim=(1, 2))

    def distance(at: training.State) -> Tensor:
        return ranks.rank_distance(at.weights[1][0], problem.distinct)

    run = training.train(
        objective,
        problem.start(trials=1, seed=seed),
        training.GD(rate),
        steps,
        measure={"distance": distance, "gradient": gradient},
        schedule=max(1, steps // 60),
    )
    trace = run.trace
    places = np.array(run.trace_steps)
    return Descent(decay, places, trace["distance"][:, 0], trace["gradient"][:, 0])
