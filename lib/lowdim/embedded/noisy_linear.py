"""Deep linear networks trained by SGD on points with noise in the normal directions.

The values are the sum of 2x + 0.1 sin πx over three directions; two more carry noise of the sizes
:data:`LEVELS`, one of them zero. :func:`fitted` trains networks for every level at once, on the
same points and from the same Kaiming weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np
import torch
from torch import Tensor

from lowdim import checks
from lowdim.embedded import noise, tradeoff
from lowdim.nets import training
from lowdim.nets.networks import Dense
from lowdim.seeds import generator

__all__ = ["LEVELS", "Fitted", "diverges", "fitted", "time_of", "unlearned"]

LEVELS = np.append(2.0 ** -np.arange(6), 0.0)  # the paper's six, and no noise at all


@dataclass(frozen=True)
class Fitted:
    """Factors before (``start``) and after (``end``) training: levels by nets, in one axis.

    minimum: the normal weights of least squares (levels - 1, nets, 2), where there is noise.
    """

    start: list[Tensor]
    end: list[Tensor]
    minimum: Tensor
    nets: int

    def _normal(self, product: Tensor) -> Tensor:
        return product.reshape(len(LEVELS), self.nets, -1)[..., -2:]

    @property
    def before(self) -> Tensor:
        """Normal weights (levels, nets, 2) of the networks as they start."""
        return self._normal(reduce(lambda below, W: W @ below, self.start))

    @property
    def after(self) -> Tensor:
        """Normal weights (levels, nets, 2) of the trained networks."""
        return self._normal(reduce(lambda below, W: W @ below, self.end))

    @property
    def sizes(self) -> np.ndarray:
        """Their norms (levels, nets)."""
        return self.after.norm(dim=-1).numpy()

    @property
    def off(self) -> np.ndarray:
        """How far they are from those of the minimum, relatively, (levels - 1, nets)."""
        return np.abs(self.sizes[:-1] / self.minimum.norm(dim=-1).numpy() - 1)

    @property
    def carried(self) -> Tensor:
        """The first layer's normal columns as they start, through the trained layers above."""
        above = reduce(lambda product, W: product @ W, reversed(self.end[1:]))
        return self._normal(above @ self.start[0][..., 3:])

    @property
    def held(self) -> bool:
        """Whether without noise the first layer's normal columns are the same bit for bit."""
        start, end = (W[0][-self.nets :, :, 3:] for W in (self.start, self.end))
        return torch.equal(start, end)

    @property
    def turned(self) -> Tensor:
        """Degrees (levels, nets) by which training has turned the normal weights."""
        a, b = self.after, self.before
        cosine = (a * b).sum(-1) / a.norm(dim=-1) / b.norm(dim=-1)
        return torch.rad2deg(torch.arccos(cosine.clamp(-1, 1)))


def fitted(depth: int, N: int, *, nets: int, epochs: int, rate: float, seed: int) -> Fitted:
    """Train ``nets`` networks of width 10 for each level, on N points in mini-batches of 50.

    The rate falls to a hundredth by a cosine; weights start with the variance 1/fan-in.

    Raises
    ------
    ValueError
        If there are fewer points than a mini-batch has, or a network diverges.

    Examples
    --------
    >>> made = fitted(3, 60, nets=2, epochs=2, rate=0.01, seed=0)
    >>> made.after.shape, made.minimum.shape, made.held
    (torch.Size([7, 2, 2]), torch.Size([6, 2, 2]), True)
    """
    checks.whole(depth, "depth", 2)
    count = len(LEVELS)
    rng = generator(seed, N, "figure 2.6")
    x = rng.uniform(-1, 1, (1, nets, 3, N)).repeat(count, 0)
    y = LEVELS[:, None, None, None] * rng.standard_normal((1, nets, 2, N))
    X = torch.from_numpy(np.concatenate([x, y], 2).reshape(-1, 5, N))
    g = torch.from_numpy((2 * x + 0.1 * np.sin(np.pi * x)).sum(2).reshape(-1, N))
    net = Dense((5, *(10,) * (depth - 1), 1), activation="identity", bias=False)
    drawn = net.init(trials=nets, seed=seed, kind="kaiming", scale=0.5**0.5)
    start = [W.repeat(count, 1, 1).double() for W, _ in drawn]
    rates = training.cosine_rates(rate, rate / 100, epochs)
    end = noise.linear_sgd(start, X, g, rates=rates, batch=50, seed=seed)
    Z, values = X[:-nets], g[:-nets, :, None]
    least = torch.linalg.solve(Z @ Z.mT, Z @ values)[:, 3:, 0]
    return Fitted(start, end, least.reshape(count - 1, nets, 2), nets)


def time_of(N: int, *, epochs: int, rate: float) -> float:
    """The sum of all rates that :func:`fitted` goes through.

    Examples
    --------
    >>> round(time_of(4000, epochs=500, rate=0.0025), 1)
    50.6
    """
    return sum(training.cosine_rates(rate, rate / 100, epochs)) * -(-N // 50)


def unlearned(depth: int, sigma: float | np.ndarray, time: float) -> np.ndarray:
    """The share of the initial normal weights left after ``time``, for balanced layers.

    The slow eigenvalue is ‖w‖^(2 - 2/L) σ² with w the weights that fit all points.

    Examples
    --------
    >>> float(unlearned(2, 0.0, 10.0)), bool(unlearned(4, 0.1, 9.0) < unlearned(2, 0.1, 9.0))
    (1.0, True)
    """
    size = float(np.linalg.norm(tradeoff.sloping().weights(0.0)))
    return np.exp(-(size ** (2 - 2 / depth)) * np.asarray(sigma) ** 2 * time)


def diverges(trial: int, *, seed: int) -> bool:
    """Whether six layers from weights of variance 2/fan-in diverge within two epochs.

    1000 points, σ = 1, mini-batches of 50, the paper's first rate.

    Examples
    --------
    >>> [diverges(trial, seed=0) for trial in (0, 1)]
    [True, False]
    """
    rng = generator(seed, trial, "blow up")
    X = np.concatenate([rng.uniform(-1, 1, (3, 1000)), rng.standard_normal((2, 1000))])
    g = torch.from_numpy((2 * X[:3] + 0.1 * np.sin(np.pi * X[:3])).sum(0))[None]
    net = Dense((5, *(10,) * 5, 1), activation="identity", bias=False)
    drawn = net.init(seed=seed, kind="kaiming", first_trial=trial)
    start = [W.double() for W, _ in drawn]
    try:
        noise.linear_sgd(start, torch.from_numpy(X)[None], g, rates=[0.0025] * 2, batch=50)
    except ValueError:
        return True
    return False
