"""Finite worlds: a few manifolds of a few points each, so that the population is known exactly.

A world is a tensor Z (count, N, q, p): in each of ``count`` worlds N manifolds, equally likely, of
q points each, equally likely, in p dimensions. Points are non-negative with length at most one, as
the features of a ReLU layer are after division by the longest.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
import torch
from torch import Tensor

from lowdim import checks
from lowdim.hashing.complexity import sign_vectors


def random_worlds(
    count: int, rng: np.random.Generator, *, manifolds: int = 4, points: int = 3, dim: int = 3
) -> Tensor:
    """Worlds (count, manifolds, points, dim) of random directions; half of them at length one.

    Examples
    --------
    >>> Z = random_worlds(5, np.random.default_rng(0))
    >>> tuple(Z.shape), bool((Z >= 0).all()), bool(Z.norm(dim=-1).max() <= 1 + 1e-12)
    ((5, 4, 3, 3), True, True)
    """
    checks.whole(count, "count", 1)
    shape = (count, manifolds, points, dim)
    Z = torch.from_numpy(np.abs(rng.standard_normal(shape)) * (rng.random(shape) < 0.8))
    power = rng.choice([0.0, 0.3], (count, 1, 1, 1))
    sizes = torch.from_numpy(rng.random((*shape[:3], 1)) ** power)
    return Z / Z.norm(dim=-1, keepdim=True).clamp_min(1e-9) * sizes


def axis_worlds(
    count: int, rng: np.random.Generator, *, manifolds: int = 4, points: int = 2, dim: int = 2
) -> Tensor:
    """Worlds in which every point is zero or a unit vector of an axis: the largest variances.

    Examples
    --------
    >>> Z = axis_worlds(3, np.random.default_rng(0), dim=1)
    >>> sorted(set(Z.flatten().tolist()))
    [0.0, 1.0]
    """
    kind = torch.from_numpy(rng.integers(0, dim + 1, (count, manifolds, points)))
    return torch.nn.functional.one_hot(kind, dim + 1)[..., 1:].double()


def draw(
    Z: Tensor, m: int, n: int, draws: int, rng: np.random.Generator, *, fixed: bool = False
) -> Tensor:
    """Samples (count, draws, m, n, p): m manifolds with n points on each, with replacement.

    With ``fixed`` the m manifolds are the world's first, and only points are drawn.

    Raises
    ------
    ValueError
        If more fixed manifolds are asked for than a world has.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> tuple(draw(random_worlds(2, rng), 8, 5, 7, rng).shape)
    (2, 7, 8, 5, 3)
    """
    count, have, q, _ = Z.shape
    if fixed and m > have:
        raise ValueError(f"a world has {have} manifolds; you asked for m = {m} fixed ones.")
    which = np.tile(np.arange(m), (count, draws, 1)) if fixed else None
    which = rng.integers(0, have, (count, draws, m)) if which is None else which
    where = torch.from_numpy(rng.integers(0, q, (count, draws, m, n)))
    rows = torch.arange(count)[:, None, None, None]
    return Z[rows, torch.from_numpy(which)[..., None], where]


def spread(Z: Tensor) -> Tensor:
    """Covariance of each manifold of a world, (count, N, p, p).

    Examples
    --------
    >>> spread(torch.tensor([[[[0.0], [2.0]]]])).item()
    1.0
    """
    centred = Z - Z.mean(-2, keepdim=True)
    return centred.mT @ centred / Z.shape[-2]


def apart(Z: Tensor) -> Tensor:
    """Mean of (z - z')(z - z')ᵀ, (count, p, p), for points of two independently drawn manifolds.

    Examples
    --------
    >>> apart(torch.tensor([[[[0.0]], [[2.0]]]])).item()
    2.0
    """
    return 2 * spread(Z.flatten(1, 2)[:, None])[:, 0]


@dataclass(frozen=True)
class Deviation:
    """Of the largest eigenvalue of mean minus sample mean, floored at 0: (count,) each.

    quantile and mean over samples; complexity: the mean of λ⁺(Σ ξ_i H_i)/n over samples and signs.
    """

    quantile: Tensor
    mean: Tensor
    complexity: Tensor


def deviation(H: Tensor, truth: Tensor, delta: float, *, signed: int = 24) -> Deviation:
    """How far sample means of symmetric matrices H (count, draws, n, p, p) stray from their mean.

    ``truth`` is (count, p, p), ``delta`` the probability above the quantile; ``signed`` samples
    are used for the complexity, with all signs if there are at most 1024.

    Examples
    --------
    >>> H = torch.tensor([0.0, 1.0]).reshape(1, 2, 1, 1, 1).double()
    >>> found = deviation(H, torch.full((1, 1, 1), 0.5).double(), 0.25)
    >>> found.mean.item(), found.complexity.item()
    (0.25, 0.25)
    """
    top = torch.linalg.eigvalsh(truth[:, None] - H.mean(2))[..., -1].clamp_min(0.0)
    signs = sign_vectors(H.shape[2])[0]
    mixed = torch.einsum("wdnij,sn->wdsij", H[:, :signed], signs) / H.shape[2]
    rough = torch.linalg.eigvalsh(mixed)[..., -1].clamp_min(0.0)
    return Deviation(torch.quantile(top, 1 - delta, dim=1), top.mean(1), rough.mean((1, 2)))


@dataclass(frozen=True)
class FiniteClasses:
    """Function classes on a finite domain, with everything about samples of size n exact.

    gap: (count, samples) sup over the class of mean minus sample mean; chance: (count, samples);
    complexity: (count,) expected Rademacher complexity; n: the size of a sample.
    """

    gap: Tensor
    chance: Tensor
    complexity: Tensor
    n: int

    @property
    def mean(self) -> Tensor:
        """Expected gap (count,)."""
        return (self.chance * self.gap).sum(1)

    def above(self, level: Tensor) -> Tensor:
        """Probability (count,) that the gap exceeds a level (count,)."""
        return (self.chance * (self.gap > level[:, None] + 1e-12)).sum(1)

    def quantile(self, delta: Tensor) -> Tensor:
        """Least value (count,) that the gap exceeds with probability at most delta (count,)."""
        order = self.gap.argsort(1)
        rest = 1 - self.chance.gather(1, order).cumsum(1)
        first = (rest <= delta[:, None] + 1e-12).double().argmax(1, keepdim=True)
        return self.gap.gather(1, order).gather(1, first)[:, 0]


def finite_classes(values: Tensor, weights: Tensor, n: int) -> FiniteClasses:
    """Classes (count, members, domain) of values, weights (count, domain), samples of size n.

    Examples
    --------
    >>> coin = finite_classes(torch.tensor([[[0.0, 1.0]]]), torch.tensor([[0.5, 0.5]]), 1)
    >>> coin.mean.item(), coin.complexity.item(), coin.above(torch.zeros(1)).item()
    (0.0, 0.0, 0.5)
    """
    values, weights = values.double(), weights.double()
    index = torch.tensor(list(product(range(values.shape[-1]), repeat=n)))
    seen = values[:, :, index]  # (count, members, samples, n)
    expected = (values * weights[:, None]).sum(-1)
    gap = (expected[..., None] - seen.mean(-1)).amax(1)
    signed = torch.einsum("cmsn,xn->cmsx", seen, sign_vectors(n)[0]).amax(1).mean(-1) / n
    chance = weights[:, index].prod(-1)
    return FiniteClasses(gap, chance, (chance * signed).sum(1), n)
