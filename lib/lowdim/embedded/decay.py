"""How a weight that no data reach decays under the penalty λw²: one law for each optimizer.

Laws take weights (...) and a number of steps T, and return the path (T + 1, ...).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from lowdim.evidence.attacks import Case

__all__ = [
    "adam", "adam_constant", "adam_floor", "adam_long", "adam_sums", "geometric", "momentum",
    "schedules", "shrink",
]  # fmt: skip


def shrink(penalty: float, rates: Sequence[float], per_epoch: int = 1) -> float:
    """∏(1 - 2λη) for a schedule that is constant within each epoch of ``per_epoch`` steps.

    Examples
    --------
    >>> shrink(0.25, [1.0, 0.5], 2)  # (1/2)² (3/4)²
    0.140625
    """
    return math.prod((1 - 2 * penalty * rate) ** per_epoch for rate in rates)


def geometric(w: Tensor, steps: int, *, factor: float) -> Tensor:
    """Gradient descent and SGD (factor 1 - 2λη), and AdamW (factor 1 - ηκ).

    Examples
    --------
    >>> geometric(torch.tensor([8.0]), 2, factor=0.5).flatten().tolist()
    [8.0, 4.0, 2.0]
    """
    powers = factor ** torch.arange(steps + 1).double()
    return w * powers.reshape(-1, *[1] * w.ndim)


def momentum(w: Tensor, steps: int, *, rate: float, penalty: float, mu: float) -> Tensor:
    """A heavy ball at rest: a recursion of second order.

    Examples
    --------
    >>> plain = momentum(torch.tensor([8.0]), 2, rate=0.5, penalty=0.5, mu=0.0)
    >>> plain.flatten().tolist()
    [8.0, 4.0, 2.0]
    """
    a = 2 * penalty * rate
    seen = [w, w * (1 - 2 * penalty * rate)]
    for _ in range(steps - 1):
        seen.append((1 + mu - a) * seen[-1] - mu * seen[-2])
    return torch.stack(seen[: steps + 1])


def adam(
    w: Tensor, steps: int, *, penalty: float, rate: float = 0.01, epsilon: float = 1e-8
) -> Tensor:
    """Adam on λw² alone, written out, with the usual constants 0.9 and 0.999.

    Examples
    --------
    >>> [round(float(v), 4) for v in adam(torch.ones(1).double(), 2, penalty=0.3, epsilon=0.0)]
    [1.0, 0.99, 0.98]
    """
    m = v = torch.zeros_like(w)
    seen = [w]
    for t in range(1, steps + 1):
        g = 2 * penalty * seen[-1]
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        size = (v / (1 - 0.999**t)).sqrt() + epsilon
        seen.append(seen[-1] - rate * m / (1 - 0.9**t) / size)
    return torch.stack(seen)


def adam_long(
    w: float,
    steps: int,
    *,
    rate: float = 0.01,
    beta: tuple[float, float] = (0.9, 0.999),
    floor: float = 0.0,
) -> np.ndarray:
    """Adam on a penalty alone for many steps (steps + 1,), in double precision, without tensors.

    ``beta`` are its two constants, ``floor`` is its ε over 2λ: only this ratio matters. A path that
    has become exactly zero, with its averages, stays so.

    Examples
    --------
    >>> path = adam_long(1.0, 30000)
    >>> bool(abs(path[10000:13000]).max() < 1e-200), bool(abs(path[15000:]).max() > 1e-3)
    (True, True)
    """
    path, m, v = np.empty(steps + 1), 0.0, 0.0
    path[0] = w
    first, second = beta
    for t in range(1, steps + 1):
        m = first * m + (1 - first) * w
        v = second * v + (1 - second) * w * w
        size = math.sqrt(v / (1 - second**t)) + floor
        w -= rate * m / (1 - first**t) / size if size > 0 else 0.0
        path[t] = w
    return path


def adam_floor(first: float = 0.9) -> float:
    """(1 - β₁)/(3 + β₁): Adam on a penalty alone comes back above this share of η for ever.

    Examples
    --------
    >>> round(1 / adam_floor(), 9)
    39.0
    """
    return (1 - first) / (3 + first)


def adam_constant() -> float:
    """The c with which no step of Adam is longer than cη, for its usual constants.

    Examples
    --------
    >>> round(adam_constant(), 2)
    7.27
    """
    return 0.1 / math.sqrt(0.001 * (1 - 0.81 / 0.999))


def adam_sums(count: int = 5000, *, every: int = 7) -> Tensor:
    """Σ a_k²/b_k for the weights a and b of Adam's two averages, at steps 1, 1 + ``every``, ...

    By Cauchy and Schwarz no step t is longer than η times its root.

    Examples
    --------
    >>> sums = adam_sums(50)
    >>> round(float(sums[0]), 9), bool((sums.diff() > 0).all())
    (1.0, True)
    """
    k = torch.arange(count).double()
    parts = (0.9**k).square().div(0.999**k)
    total = torch.stack([parts[: t + 1].sum() for t in range(0, count, every)])
    t = k[::every] + 1
    return total * (0.1 / (1 - 0.9**t)).square() * (1 - 0.999**t) / 0.001


def schedules(count: int, rng: np.random.Generator) -> Case:
    """Step sizes eta (B, 50), penalties lam (B,), and room (B,), positive if all 2λη are below 1.

    Examples
    --------
    >>> case = schedules(3, np.random.default_rng(0))
    >>> case["eta"].shape, bool((case["room"] > 0).all())
    (torch.Size([3, 50]), True)
    """
    eta = torch.from_numpy(10 ** rng.uniform(-3, 0, (count, 50)))
    lam = torch.from_numpy(rng.uniform(0, 0.5, count))
    return {"eta": eta, "lam": lam, "room": 1 - 2 * lam * eta.amax(1)}
