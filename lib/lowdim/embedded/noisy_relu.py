"""The stability metric of ReLU networks against the size of the noise and of the data.

A :class:`Protocol` says how networks are trained; :func:`by_size` and :func:`by_way` measure them
for several numbers of points, :func:`by_noise` for several sizes of the noise. The values are the
sum of sin πx over three directions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from torch import Tensor, pi, sin

from lowdim import checks
from lowdim.embedded import noise
from lowdim.evidence.values import Estimate

__all__ = ["ByNoise", "BySize", "Protocol", "by_noise", "by_size", "by_way", "trend"]

_METRIC, _WIDE = 0.25, 0.5  # γ; and its root, where the text has a variance


def _sines(x: Tensor) -> Tensor:
    return sin(pi * x).sum(-2, keepdim=True)


@dataclass(frozen=True)
class Protocol:
    """How networks are trained (``nets`` for each setting) and at how many points measured."""

    nets: int
    width: int
    epochs: int
    batch: int
    rate: float
    samples: int
    seed: int

    def train(
        self,
        depth: int,
        settings: Sequence[tuple[float, int]],
        points: int,
        *,
        epochs: int | None = None,
        everywhere: bool = False,
    ) -> noise.Trained:
        """Networks of ``depth`` layers under ``settings``, pairs (σ, d_y), on ``points`` points.

        Examples
        --------
        >>> how = Protocol(2, 6, epochs=2, batch=10, rate=0.03, samples=50, seed=0)
        >>> how.train(2, [(0.5, 1), (0.5, 2)], 40).loss.shape
        torch.Size([2, 2])
        """
        data = noise.noisy_inputs(
            settings,
            _sines,
            nets=self.nets,
            points=points,
            everywhere=everywhere,
            seed=self.seed,
        )
        return noise.train_noisy(
            data,
            depth,
            width=self.width,
            epochs=epochs or self.epochs,
            batch=self.batch,
            rate=self.rate,
            seed=self.seed,
        )

    def metric(self, run: noise.Trained, *, gamma: float = _METRIC) -> np.ndarray:
        """The mean of (f(x, y) - f(x, 0))², (settings, nets)."""
        return run.stability(gamma, self.samples, seed=self.seed).numpy()


class BySize(NamedTuple):
    """The metric (sizes, codims, nets) with y of size γ = 1/4, and with variance 1/4."""

    metric: np.ndarray
    wide: np.ndarray


def by_size(
    how: Protocol, depth: int, sizes: Sequence[int], codims: Sequence[int], *, sigma: float
) -> BySize:
    """Networks on ``sizes`` points with ``codims`` noisy directions, the epochs being fixed.

    Examples
    --------
    >>> how = Protocol(2, 6, epochs=2, batch=10, rate=0.03, samples=50, seed=0)
    >>> by_size(how, 2, [20, 40], [1, 2, 3], sigma=0.25).metric.shape
    (2, 3, 2)
    """
    runs = [how.train(depth, [(sigma, d) for d in codims], N) for N in sizes]
    narrow, wide = ([how.metric(run, gamma=g) for run in runs] for g in (_METRIC, _WIDE))
    return BySize(np.stack(narrow), np.stack(wide))


def by_way(
    how: Protocol,
    depth: int,
    sizes: Sequence[int],
    codim: int,
    way: str,
    *,
    sigma: float,
    largest: np.ndarray,
) -> np.ndarray:
    """The metric (sizes, nets) with something else than the epochs fixed.

    ``way``: with ``"steps"`` every size gets as many steps as the largest one; with ``"length
    only"`` every training set is the largest one, for as many steps as the size would get. At the
    largest size nothing changes, and its metric ``largest`` (nets,) is taken over.

    Raises
    ------
    ValueError
        If there is no such way.

    Examples
    --------
    >>> how = Protocol(2, 6, epochs=2, batch=10, rate=0.03, samples=50, seed=0)
    >>> by_way(how, 2, [20, 40], 1, "steps", sigma=0.25, largest=np.ones(2))[1].tolist()
    [1.0, 1.0]
    """
    checks.choice(way, ("steps", "length only"), "way")
    top, found = sizes[-1], []
    for N in sizes[:-1]:
        points, epochs = N, how.epochs * top // N
        if way == "length only":
            points, epochs = top, max(1, how.epochs * N // top)
        found.append(how.metric(how.train(depth, [(sigma, codim)], points, epochs=epochs))[0])
    return np.stack([*found, largest])


class ByNoise(NamedTuple):
    """Means (noises, nets): of Δ², of (f - g)² at y = 0, and of 2 Δ (f - g)."""

    metric: np.ndarray
    clean: np.ndarray
    cross: np.ndarray


def by_noise(
    how: Protocol, depth: int, noises: Sequence[float], *, points: int, everywhere: bool
) -> ByNoise:
    """Networks with two noisy directions, for each size of the noise.

    Examples
    --------
    >>> how = Protocol(2, 6, epochs=2, batch=10, rate=0.03, samples=50, seed=0)
    >>> by_noise(how, 2, [0.5, 0.0], points=40, everywhere=True).clean.shape
    (2, 2)
    """
    run = how.train(depth, [(s, 2) for s in noises], points, everywhere=everywhere)
    miss, change = run.parts(_METRIC, how.samples, seed=how.seed)
    means = (change.square(), miss.square(), 2 * miss * change)
    return ByNoise(*(each.mean(-1).numpy() for each in means))


def trend(sizes: Sequence[int], codims: Sequence[int], metric: np.ndarray) -> Estimate:
    """Slope in log d_y of the exponent β of ``metric`` (sizes, codims, nets) in 1/N.

    Examples
    --------
    >>> import math
    >>> S = 1 / np.arange(1, 4)[:, None, None] ** np.array([[0.5], [1.5]])
    >>> round(trend([1, 2, 3], [1, 10], S.repeat(2, 2)).value * math.log(10), 6)
    1.0
    """
    logs = np.log(metric).reshape(len(sizes), -1)
    betas = -np.polyfit(np.log(sizes), logs, 1)[0].reshape(len(codims), -1)
    tilt = np.polyfit(np.log(codims), betas, 1)[0]
    return Estimate(float(tilt.mean()), float(2 * tilt.std(ddof=1) / len(tilt) ** 0.5))
