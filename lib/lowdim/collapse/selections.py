r"""Stationary points of the deep linear autoencoder with weight decay: which are local minima.

In coordinates of the data's second moment a stationary point keeps some directions, each with a
strength t with λ/m = (1 - t) t^(1 - 2/L), and drops the others. The equation has two roots or
none; `strengths` gives both. A point is a local minimum if and only if it keeps the directions of
the largest moments, each with the larger root.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, product

import torch
from torch import Tensor

from lowdim import checks
from lowdim.seeds import generator

__all__ = ["Selection", "around", "descended", "edge", "hessian", "selections", "strengths"]


def edge(depth: int) -> tuple[float, float]:
    """The least m/λ at which a direction can be kept, and the strength it is kept with there.

    Raises
    ------
    ValueError
        If ``depth`` is below 3: with fewer layers there is no second root.

    Examples
    --------
    >>> ratio, strength = edge(4)
    >>> round(ratio, 3), round(strength, 3)
    (2.598, 0.333)
    """
    checks.whole(depth, "depth", 3)
    t = (depth - 2) / (2 * depth - 2)
    return 1 / ((1 - t) * t ** (1 - 2 / depth)), t


def strengths(moment: float, lam: float, depth: int) -> tuple[float, float] | None:
    """Both roots t of λ/m = (1 - t) t^(1 - 2/L), smaller first; None if there is none, or one.

    Raises
    ------
    ValueError
        If ``depth`` is below 3, or ``moment`` or ``lam`` is not above 0.

    Examples
    --------
    >>> low, high = strengths(1.0, 0.1, 4)
    >>> round(low, 4), round(high, 4), strengths(1.0, 0.5, 4)
    (0.0102, 0.8943, None)
    """
    ratio, top = edge(depth)
    if not (moment > 0 and lam > 0):
        raise ValueError(f"moment and lam must be above 0; you gave {moment} and {lam}.")
    if moment <= ratio * lam:
        return None

    def over(t: float) -> bool:
        return (1 - t) * t ** (1 - 2 / depth) > lam / moment

    def between(inside: float, outside: float) -> float:
        for _ in range(200):
            middle = (inside + outside) / 2
            inside, outside = (middle, outside) if over(middle) else (inside, middle)
        return (inside + outside) / 2

    return between(top, 0.0), between(top, 1.0)


@dataclass(frozen=True)
class Selection:
    """A stationary point: what is kept of every direction, the moments falling.

    kept: t of each direction, zero if it is dropped; minimum: whether it is a local minimum.
    """

    kept: tuple[float, ...]
    minimum: bool


def selections(moments: Sequence[float], lam: float, depth: int) -> list[Selection]:
    """All stationary points in one basis of eigenvectors, for different moments in falling order.

    Raises
    ------
    ValueError
        If the moments do not fall, or as :func:`strengths`.

    Examples
    --------
    >>> [[round(t, 2) for t in s.kept] for s in selections((2.0, 1.0), 0.1, 4) if s.minimum]
    [[0.0, 0.0], [0.95, 0.0], [0.95, 0.89]]
    """
    if any(a <= b for a, b in pairwise(moments)):
        raise ValueError(f"the moments must fall; you gave {tuple(moments)}.")
    roots = [strengths(m, lam, depth) for m in moments]
    choices = [(0,) if pair is None else (0, 1, 2) for pair in roots]
    found = []
    for pick in product(*choices):
        kept = tuple(
            pair[k - 1] if k and pair else 0.0 for k, pair in zip(pick, roots, strict=True)
        )
        upper = 1 not in pick
        leading = all(a >= b for a, b in pairwise(pick))
        found.append(Selection(kept, upper and leading))
    return found


def hessian(moments: Sequence[float], kept: Sequence[float], lam: float, depth: int) -> Tensor:
    """Eigenvalues, rising, of the Hessian of tr((I - Θ) S (I - Θ)ᵀ) + λ Σ‖W_l‖² at a selection.

    S is diagonal, all layers are square and balanced: diag(t^(1/L)).

    Examples
    --------
    >>> high = strengths(1.0, 0.1, 4)[1]
    >>> hessian((2.0, 1.0), (0.0, high), 0.1, 4)[0] < -0.5, hessian((2.0,), (0.0,), 0.1, 4)[0]
    (tensor(True), tensor(0.2000, dtype=torch.float64))
    """
    S = torch.tensor(moments, dtype=torch.float64)
    d = len(S)
    W = torch.diag(torch.tensor(kept, dtype=torch.float64) ** (1 / depth)).repeat(depth, 1, 1)

    def value(flat: Tensor) -> Tensor:
        layers = flat.reshape(depth, d, d)
        theta = torch.eye(d, dtype=torch.float64)
        for layer in layers:
            theta = layer @ theta
        left = torch.eye(d, dtype=torch.float64) - theta
        return (left.square() * S).sum() + lam * flat.square().sum()

    H = torch.autograd.functional.hessian(value, W.flatten())
    return torch.linalg.eigvalsh((H + H.mT) / 2)


def around(
    moments: Sequence[float],
    kept: Sequence[float],
    lam: float,
    depth: int,
    *,
    count: int,
    size: float,
    seed: int,
) -> Tensor:
    """Four values (4, count) that rise at points close enough to a local minimum.

    The objective at the selection; Σ g(s) at random points ``size`` away in every entry, with
    g(s) = m (1 - s)² + λ L s^(2/L) and s the singular values of the product, cut at one; the same
    with the true penalty; the objective there. S is diagonal, with falling moments.

    Examples
    --------
    >>> high = strengths(1.0, 0.1, 4)[1]
    >>> chain = around((1.0, 0.2), (high, 0.0), 0.1, 4, count=5, size=1e-3, seed=0)
    >>> bool((chain.diff(dim=0) > 0).all())
    True
    """
    m, t = (torch.tensor(values, dtype=torch.float64) for values in (moments, kept))
    d = len(m)
    noise = generator(seed, depth, "around").standard_normal((depth, count, d, d))
    W = torch.diag(t ** (1 / depth)) + size * torch.from_numpy(noise)
    theta = torch.eye(d, dtype=torch.float64).expand(count, d, d)
    for layer in W:
        theta = layer @ theta
    s = torch.linalg.svdvals(theta).clamp_max(1)

    def sums(strength: Tensor) -> tuple[Tensor, Tensor]:
        price = lam * depth * strength ** (2 / depth)
        return (m * (1 - strength) ** 2).sum(-1), price.sum(-1)

    loss, price = sums(s)
    penalty = lam * W.square().sum((0, 2, 3))
    left = torch.eye(d, dtype=torch.float64) - theta
    objective = (left.square() * m).sum((1, 2)) + penalty
    return torch.stack([sum(sums(t)) + 0 * loss, loss + price, loss + penalty, objective])


def descended(
    moments: Sequence[float], lam: float, depth: int, *, starts: int, steps: int, seed: int
) -> Tensor:
    """Singular values (starts, d), falling, of the products in which descents end.

    Random starts, S diagonal, square layers; a step is never longer than the rate.

    Examples
    --------
    >>> ends = descended((2.0, 1.0), 0.1, 4, starts=2, steps=3, seed=0)
    >>> ends.shape
    torch.Size([2, 2])
    """
    S, d = torch.tensor(moments, dtype=torch.float64), len(moments)
    rng = generator(seed, 0, "selections")
    size = rng.uniform(0.3, 1.5, (starts, 1, 1, 1))
    W = torch.from_numpy(size * rng.standard_normal((starts, depth, d, d)) / d**0.5)
    eye = torch.eye(d, dtype=torch.float64)
    rate = 0.2 / (max(moments) * depth + lam)
    for _ in range(steps):
        before, after = [eye.expand(starts, d, d)], [eye.expand(starts, d, d)]
        for k in range(depth):
            before.append(W[:, k] @ before[-1])
            after.append(after[-1] @ W[:, depth - 1 - k])
        outer = -2 * (eye - before[-1]) * S
        grads = [after[depth - 1 - k].mT @ outer @ before[k].mT for k in range(depth)]
        step = torch.stack(grads, 1) + 2 * lam * W
        long = step.flatten(1).norm(dim=1).clamp_min(1.0)[:, None, None, None]
        W = W - rate * step / long
    theta = eye.expand(starts, d, d)
    for k in range(depth):
        theta = W[:, k] @ theta
    return torch.linalg.svdvals(theta)
