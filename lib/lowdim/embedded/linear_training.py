r"""Factors of a deep linear network under descent, with the rates of a cosine.

Layers of constants (:func:`constant_factors`) for full gradient descent
(:func:`lowdim.embedded.flows.descend_factors`), and :func:`kaiming_sgd` from random weights on
mini-batches. :class:`Approach` measures when the weights along and normal to the data arrive.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce

import numpy as np
import torch
from torch import Tensor

from lowdim import checks
from lowdim.seeds import generator

__all__ = ["Approach", "constant_factors", "cosine", "kaiming_sgd", "tilted_sines"]


def tilted_sines(N: int, *, sigma: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Points (N, 5), three directions uniform on a cube and two of noise, and values (N,).

    The values are the sum of 2x + 0.1 sin πx over the first three.

    Examples
    --------
    >>> X, g = tilted_sines(50, sigma=0.05, seed=0)
    >>> X.shape, g.shape, bool(np.abs(X[:, 3:]).max() < 0.5)
    ((50, 5), (50,), True)
    """
    rng = generator(seed, 0, "figure 2.5")
    x = rng.uniform(-1, 1, (N, 3))
    X = np.hstack([x, sigma * rng.standard_normal((N, 2))])
    return X, (2 * x + 0.1 * np.sin(np.pi * x)).sum(1)


def cosine(total: int, *, first: float = 2.5e-3, last: float = 2.5e-5) -> Callable[[int], float]:
    """Rates that fall from ``first`` to ``last`` by half a cosine over ``total`` steps.

    Examples
    --------
    >>> rate = cosine(100)
    >>> [round(float(rate(k)), 9) for k in (0, 50, 100)]
    [0.0025, 0.0012625, 2.5e-05]
    """
    return lambda step: last + (first - last) * (1 + np.cos(np.pi * step / total)) / 2


def constant_factors(
    depth: int, width: int, inputs: int, size: float, *, balanced: bool
) -> list[Tensor]:
    """Layers of one value each whose product has the norm ``size``.

    The values are in the proportion of balanced layers, √(width/inputs) : 1 : … : 1 : √width, or
    equal.

    Examples
    --------
    >>> W = constant_factors(3, 4, 2, 0.5, balanced=True)
    >>> bool(torch.allclose(W[1].T @ W[1], W[0] @ W[0].T))
    True
    """
    depth = checks.whole(depth, "depth", 2)
    first, last = ((width / inputs) ** 0.5, width**0.5) if balanced else (1.0, 1.0)
    shapes = [(width, inputs), *[(width, width)] * (depth - 2), (1, width)]
    values = [first, *[1.0] * (depth - 2), last]
    W = [torch.full(s, v, dtype=torch.float64) for s, v in zip(shapes, values, strict=True)]
    product = torch.linalg.multi_dot(W[::-1])
    return [M * (size / product.norm()) ** (1 / depth) for M in W]


def kaiming_sgd(
    X: np.ndarray,
    g: np.ndarray,
    *,
    depth: int,
    width: int,
    epochs: int,
    batch: int,
    runs: int,
    seed: int,
    every: int = 20,
) -> tuple[np.ndarray, np.ndarray]:
    """SGD on the factors from weights of variance 2/fan-in, at the rates of :func:`cosine`.

    ``X`` (N, d), ``g`` (N,), N a multiple of ``batch``. Returns the steps (k,) at which the
    end-to-end weights (runs, k, d) were kept.

    Raises
    ------
    ValueError
        If N is no multiple of ``batch``.

    Examples
    --------
    >>> X, g = tilted_sines(40, sigma=0.05, seed=0)
    >>> how = {"depth": 2, "width": 4, "epochs": 5, "batch": 10, "runs": 2, "seed": 0}
    >>> steps, w = kaiming_sgd(X, g, every=10, **how)
    >>> steps.tolist(), w.shape
    ([0, 10], (2, 2, 5))
    """
    N, d = X.shape
    if N % checks.whole(batch, "batch", 1):
        raise ValueError(f"batch must divide the {N} points; you gave {batch}.")
    rngs = [generator(seed, trial, "sgd") for trial in range(runs)]
    shapes = [(width, d), *[(width, width)] * (depth - 2), (1, width)]
    W = [np.stack([rng.standard_normal(s) for rng in rngs]) * (2 / s[1]) ** 0.5 for s in shapes]
    round_ = N // batch
    total, kept, rows = epochs * round_, [], []
    rate = cosine(total)
    for k in range(total):
        if k % round_ == 0:
            order = np.stack([rng.permutation(N) for rng in rngs])
        if k % every == 0:
            kept.append(k)
            rows.append(reduce(lambda below, M: M @ below, W)[:, 0])
        pick = order[:, (k % round_) * batch : (k % round_ + 1) * batch]
        hidden = [X[pick].swapaxes(1, 2)]
        for M in W:
            hidden.append(M @ hidden[-1])
        back = (hidden[-1] - g[pick][:, None]) / batch
        for layer in reversed(range(depth)):
            slope = back @ hidden[layer].swapaxes(1, 2)
            back = W[layer].swapaxes(1, 2) @ back
            W[layer] = W[layer] - rate(k) * slope
    return np.array(kept), np.array(rows).swapaxes(0, 1)


@dataclass(frozen=True)
class Approach:
    """Distances (k,) to the minimum at ``steps`` (k,): ``along`` and ``across`` the data."""

    steps: np.ndarray
    along: np.ndarray
    across: np.ndarray

    @classmethod
    def of(cls, steps: np.ndarray, w: np.ndarray, goal: np.ndarray, tangent: int) -> Approach:
        """From end-to-end weights (k, d) and the minimum (d,); ``tangent`` directions have data.

        Examples
        --------
        >>> made = Approach.of(np.arange(2), np.array([[3.0, 0.0], [1.0, 2.0]]), np.ones(2), 1)
        >>> made.along.tolist(), made.across.tolist()
        ([2.0, 0.0], [1.0, 1.0])
        """
        off = w - goal
        return cls(
            steps,
            np.linalg.norm(off[:, :tangent], axis=1),
            np.linalg.norm(off[:, tangent:], axis=1),
        )

    def fallen(self, share: float) -> int:
        """The first step at which ``along`` has fallen by ``share``; the last one if never.

        Examples
        --------
        >>> far = np.array([4.0, 3.0, 1.0])
        >>> Approach(np.array([0, 10, 20]), far, far).fallen(0.5)
        20
        """
        low = self.along < (1 - share) * self.along[0]
        return int(self.steps[np.argmax(low)] if low.any() else self.steps[-1])

    @property
    def waits(self) -> bool:
        """Whether the first 10 % take at least three times as long as the rest up to 99 %."""
        begun = self.fallen(0.1)
        return begun >= 3 * max(self.fallen(0.99) - begun, 1)

    @property
    def creeps(self) -> bool:
        """Whether ``across`` is in the end, against its start, ten times as far as ``along``."""
        along, across = (v[-1] / v[0] for v in (self.along, self.across))
        return bool(across > 10 * along)

    @property
    def across_late(self) -> bool:
        """Whether ``across`` is above half of its maximum when ``along`` has fallen by 99 %."""
        then = self.across[self.steps >= self.fallen(0.99)][0]
        return bool(then > 0.5 * self.across.max())
