r"""Recognizing a new manifold from one example: thresholds, hard pairs, and measured rates.

The rule stores r(x_new) and accepts x when the squared distance of r(x) to it is below tε. Hard
pairs are cases of :class:`lowdim.hashing.atoms.Atoms` with two manifolds: places ``at``
(B, 2, a, p) and weights ``weight`` (B, 2, a).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lowdim.evidence.attacks import Case
from lowdim.hashing import separation
from lowdim.hashing.atoms import Atoms, simplex
from lowdim.seeds import generator

__all__ = [
    "Shot", "bound", "case", "clouds", "false_hits", "free_pairs", "jumps", "random_pairs",
    "rare_far", "shot", "start_jumps", "threshold", "with_mean_key", "worst_built",
]  # fmt: skip


def threshold(rho: Any) -> Any:
    """t* = ρ²/(4(ρ-2)), at which the bounds on misses and on false hits agree; ρ above 2.

    Examples
    --------
    >>> round(threshold(18.0), 9) == round(2 / bound(18.0), 9)
    True
    """
    return rho**2 / (4 * (rho - 2))


def bound(rho: Any) -> Any:
    """1 - (1 - 4/ρ)², which bounds both error rates at the threshold t*; ρ above 4.

    Examples
    --------
    >>> bound(8.0)
    0.75
    """
    return 1 - (1 - 4 / rho) ** 2


def false_hits(rho: float, t: np.ndarray) -> np.ndarray:
    """2/(2 + (√(ρ-2) - √t)²), which bounds the false hits at thresholds t up to ρ - 2.

    Examples
    --------
    >>> false_hits(38.0, np.array([36.0])).tolist()
    [1.0]
    """
    return 2 / (2 + np.maximum((rho - 2) ** 0.5 - t**0.5, 0) ** 2)


def clouds(rho: float, *, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Squared distances over ε of a key to points of its own manifold and of another.

    The representation is Gaussian about each manifold's mean in a hundred dimensions, 200 points on
    each, with that ρ.

    Examples
    --------
    >>> own, other = clouds(40.0)
    >>> round(float(own.mean()), 1), round(float(other.mean()), 0)
    (2.0, 40.0)
    """
    rng = generator(seed, 0, "words")
    cloud = torch.from_numpy(rng.standard_normal((2, 200, 100))) / 10
    cloud[1, :, 0] += (rho - 2) ** 0.5
    apart = torch.cdist(cloud[0], cloud.flatten(0, 1)).square().unflatten(1, (2, 200))
    return apart[:, 0][~torch.eye(200, dtype=torch.bool)], apart[:, 1].flatten()


def random_pairs(
    count: int,
    rng: np.random.Generator,
    *,
    low: float = 4.0,
    high: float = 400.0,
    values: int = 4,
    dim: int = 3,
) -> dict[str, Tensor]:
    """Pairs of manifolds with some rare far values, and ρ log-uniform from ``low`` to ``high``.

    Examples
    --------
    >>> rho = Atoms(**random_pairs(50, np.random.default_rng(0))).rho
    >>> bool((rho > 3.9).all() and (rho < 401).all())
    True
    """
    at = torch.from_numpy(rng.standard_normal((count, 2, values, dim)))
    at = at * torch.from_numpy(10 ** rng.uniform(-1, 1, (count, 2, values, 1)))
    weight = torch.from_numpy(rng.dirichlet(np.ones(values), (count, 2)))
    centred = at - (weight[..., None] * at).sum(-2, keepdim=True)
    V = (weight * centred.square().sum(-1)).sum(-1)
    rho = torch.from_numpy(np.exp(rng.uniform(np.log(low), np.log(high), count)))
    gap = (rho * V.amax(-1) - V.sum(-1)).clamp_min(0).sqrt()
    centred[:, 1, :, 0] += gap[:, None]
    return {"at": centred, "weight": weight}


def rare_far(
    rho: float, t: float | None = None, *, share: float = 1.0, directions: int = 40
) -> dict[str, Tensor]:
    """A pair that misses nearly as often as it may: near 2/t (share 1) or 4/t² (share ½).

    The first manifold is mostly at 0 and rarely √(t·share) away in one of many directions; the
    other is a point that makes ρ right. ``t`` is the best threshold for ρ unless given.

    Examples
    --------
    >>> R = Atoms(**rare_far(400.0))
    >>> round(float(R.rho), 3), bool(R.errors(threshold(400.0) * R.epsilon)[0] > 0.9 * bound(400.0))
    (400.0, True)
    """
    size = (threshold(rho) if t is None else t) * share
    N = directions
    q = (1 - max(0.0, 1 - 4 / (size * N)) ** 0.5) * N / 2 * (1 - 1e-6)
    eps = q * size * (1 - q / N)  # a little below 1
    at = torch.zeros(1, 2, N + 1, N + 1, dtype=torch.float64)
    at[0, 0, :-1, :-1] = size**0.5 * torch.eye(N)
    at[0, 1, :, -1] = ((rho - 1) * eps - q * q * size / N) ** 0.5
    weight = torch.zeros(1, 2, N + 1, dtype=torch.float64)
    weight[0, 0] = torch.tensor([q / N] * N + [1 - q], dtype=torch.float64)
    weight[0, 1, -1] = 1
    return {"at": at, "weight": weight}


def jumps(rho: float, t: float | None = None) -> dict[str, Tensor]:
    """A pair with false hits near their bound: each jumps, rarely, to within √t of the other.

    ``t`` is the best threshold for ρ unless given.

    Examples
    --------
    >>> R = Atoms(**jumps(400.0))
    >>> round(float(R.rho), 3), bool(R.errors(threshold(400.0) * R.epsilon)[1] > 0.9 * bound(400.0))
    (400.0, True)
    """
    t = threshold(rho) if t is None else t
    a = ((rho - 2) ** 0.5 - t**0.5) * (1 + 1e-6)
    q = (1 - a / (4 + a * a) ** 0.5) / 2
    jump = (q * (1 - q)) ** -0.5  # so that V = 1
    far = (rho - 2) ** 0.5 + 2 * q * jump
    at = [[[0.0], [jump]], [[far], [far - jump]]]
    return {
        "at": torch.tensor([at], dtype=torch.float64),
        "weight": torch.tensor([[[1 - q, q]] * 2], dtype=torch.float64),
    }


def case(atoms: Atoms) -> dict[str, Tensor]:
    """One representation as a case of one instance.

    Examples
    --------
    >>> tuple(case(simplex(3))["at"].shape)
    (1, 2, 3, 4)
    """
    return {"at": atoms.at[None], "weight": atoms.weight[None]}


def start_jumps(count: int, rng: np.random.Generator) -> dict[str, Tensor]:
    """Starts near jumps: two values on each of two manifolds on a line, ``at`` and ``logit``.

    Examples
    --------
    >>> tuple(start_jumps(3, np.random.default_rng(0))["logit"].shape)
    (3, 2, 2)
    """
    noise = torch.from_numpy(rng.standard_normal((count, 2, 2, 1)))
    pairs = [jumps(rho) for rho in np.exp(rng.uniform(np.log(6), np.log(60), count))]
    base = torch.cat([pair["at"] for pair in pairs])
    odds = torch.cat([pair["weight"] for pair in pairs]).logit()
    return {"at": base * (1 + 0.02 * noise), "logit": odds}


def free_pairs(free: Case) -> dict[str, Tensor]:
    """The case of free numbers ``at`` (B, 2, 2, 1) and ``logit`` (B, 2, 2), for a climb.

    Examples
    --------
    >>> case = free_pairs(start_jumps(3, np.random.default_rng(0)))
    >>> bool((case["weight"].sum(-1) == 1).all())
    True
    """
    share = free["logit"].sigmoid()[..., 1:]
    return {"at": free["at"], "weight": torch.cat([1 - share, share], -1)}


def worst_built(
    rho: float, thresholds: Sequence[float] | np.ndarray, *, corners: int
) -> tuple[list[float], list[float]]:
    """Largest rates of misses and of false hits among the pairs built here, at each threshold t.

    Misses: the simplex with so many corners, and rare far values; false hits: jumps.

    Examples
    --------
    >>> misses, hits = worst_built(40.0, [2.0, 10.0], corners=50)
    >>> misses[0] > 0.97, misses[1] <= 2 / 10, hits[1] <= float(false_hits(40.0, np.array(10.0)))
    (True, True, True)
    """
    far = simplex(corners, distance=(rho - 2) ** 0.5)
    misses, hits = [], []
    for t in thresholds:
        built = [Atoms(**rare_far(rho, t, share=s)) for s in (1.0, 0.5) if t * s > 1.02]
        misses.append(max(float(R.errors(t * R.epsilon)[0].max()) for R in (far, *built)))
        R = Atoms(**jumps(rho, t))
        hits.append(float(R.errors(t * R.epsilon)[1].max()))
    return misses, hits


@dataclass(frozen=True)
class Shot:
    """One-shot rates of a sample of representations, with ε and ρ as Definition 2 has them.

    t: t* for this ρ, or 2 where ρ is at most 4; miss_2, false_2: rates at 2ε; miss, false: at tε;
    promised: the bound on both, None where ρ is at most 4; nearest: how often the nearest of the
    manifolds' first points is the right one.
    """

    rho: float
    t: float
    miss_2: float
    false_2: float
    miss: float
    false: float
    promised: float | None
    nearest: float


def shot(R: Tensor) -> Shot:
    """The rates of :class:`Shot` for representations R (m, n, p).

    Examples
    --------
    >>> R = torch.tensor([[[0.0], [0.1], [0.2]], [[5.0], [5.1], [5.2]]], dtype=torch.float64)
    >>> found = shot(R)
    >>> found.rho > 1000, found.miss, found.false, found.nearest
    (True, 0.0, 0.0, 1.0)
    """
    eps, rho = float(separation.intra(R).max()), float(separation.rho(R))
    t = threshold(rho) if rho > 4 else 2.0
    different = ~torch.eye(len(R), dtype=torch.bool)
    rates = []
    for level in (2.0, t):
        accepted = separation.accepts(R, threshold=level * eps)
        rates += [float(1 - accepted.diagonal().mean()), float(accepted[different].mean())]
    table = separation.HashTable(R[:, 0], threshold=t * eps)
    right = table.nearest(R[:, 1:]) == torch.arange(len(R))[:, None]
    promised = bound(rho) if rho > 4 else None
    miss_2, false_2, miss, false = rates
    nearest = float(right.double().mean())
    return Shot(rho, t, miss_2, false_2, miss, false, promised, nearest)


def with_mean_key(
    R: Atoms, limit: Tensor, h: int, rng: np.random.Generator, *, draws: int = 200
) -> tuple[Tensor, Tensor]:
    """Shares of misses and of false hits (B,) when the mean of h examples is the key.

    R is a batch of pairs, ``limit`` (B,) the squared distance below which a query is accepted. The
    key is of the first manifold.

    Examples
    --------
    >>> R = Atoms(**jumps(60.0))
    >>> miss, hit = with_mean_key(R, threshold(R.rho) * R.epsilon, 1, np.random.default_rng(0))
    >>> bool(torch.maximum(miss, hit) < 2 * bound(60.0))
    True
    """
    miss, hit, size = torch.zeros_like(limit), torch.zeros_like(limit), R.weight.shape[-1]
    for _ in range(draws):
        at = torch.from_numpy(rng.random((len(limit), 2, h + 1)))
        index = torch.searchsorted(R.weight.cumsum(-1).contiguous(), at)
        index = index.clamp(max=size - 1)[..., None].expand(-1, -1, -1, R.at.shape[-1])
        x = R.at.gather(2, index)
        key, query = x[:, :, :h].mean(2), x[:, :, h]
        miss += ((key[:, 0] - query[:, 0]).square().sum(-1) >= limit).double() / draws
        hit += ((key[:, 0] - query[:, 1]).square().sum(-1) < limit).double() / draws
    return miss, hit
