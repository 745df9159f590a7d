r"""Finite representations to attack claims with: random ones, free ones, and a picture of three.

A case has places ``at`` (count, m, a, p) and weights ``weight`` (count, m, a), as
:class:`lowdim.hashing.atoms.Atoms` takes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from lowdim.data import manifolds
from lowdim.evidence.attacks import Case
from lowdim.hashing import separation
from lowdim.seeds import generator

__all__ = [
    "SampleMeans", "free_atoms", "hash_and_noise", "over_samples", "random_atoms", "single",
]  # fmt: skip


def random_atoms(
    count: int,
    rng: np.random.Generator,
    *,
    manifolds: int = 3,
    values: int = 4,
    dim: int = 2,
    decades: tuple[float, float] = (-1.5, 1.0),
) -> dict[str, Tensor]:
    """Representations with so many values on each manifold, their means from one to far apart.

    How far is a power of ten, with an exponent drawn between the two ``decades``.

    Examples
    --------
    >>> case = random_atoms(5, np.random.default_rng(0))
    >>> {name: tuple(value.shape) for name, value in case.items()}
    {'at': (5, 3, 4, 2), 'weight': (5, 3, 4)}
    """
    spread = torch.from_numpy(10 ** rng.uniform(*decades, (count, 1, 1, 1)))
    weight = torch.from_numpy(rng.dirichlet(np.ones(values), (count, manifolds)))
    centre = torch.from_numpy(rng.standard_normal((count, manifolds, 1, dim)))
    around = torch.from_numpy(rng.standard_normal((count, manifolds, values, dim)))
    return {"at": spread * centre + around, "weight": weight}


def free_atoms(free: Case) -> dict[str, Tensor]:
    """A case from free numbers ``at`` (B, m, a, p) and ``logit`` (B, m, a), for a climb.

    Examples
    --------
    >>> free_atoms({"at": torch.ones(1, 2, 2, 1), "logit": torch.zeros(1, 2, 2)})["weight"][0, 0]
    tensor([0.5000, 0.5000])
    """
    return {"at": free["at"], "weight": free["logit"].softmax(-1)}


def single(
    at: Sequence[Sequence[Sequence[float]]], weight: Sequence[Sequence[float]]
) -> dict[str, Tensor]:
    """One representation as a case, from places (m, a, p) and weights (m, a).

    Examples
    --------
    >>> single([[[-1.0], [1.0]]] * 2, [[0.5, 0.5]] * 2)["at"].shape
    torch.Size([1, 2, 2, 1])
    """
    both = {"at": at, "weight": weight}
    return {name: torch.as_tensor(v, dtype=torch.float64)[None] for name, v in both.items()}


@dataclass(frozen=True)
class SampleMeans:
    """Expectations (B,) over samples z₁ … z_n of a finite law, z̄ their mean.

    variance: of the unbiased empirical variance; square: ‖z₁‖²; mean_square: ‖z̄‖²; mixed:
    2⟨z₁, z̄⟩.
    """

    variance: Tensor
    square: Tensor
    mean_square: Tensor
    mixed: Tensor


def over_samples(at: Tensor, weight: Tensor, n: int) -> SampleMeans:
    """The expectations of :class:`SampleMeans` for a law ``at`` (B, a, p), ``weight`` (B, a).

    All a^n samples of n values are gone through, so that nothing is left to chance.

    Examples
    --------
    >>> coin = torch.tensor([[[-1.0], [1.0]]], dtype=torch.float64)
    >>> found = over_samples(coin, torch.full((1, 2), 0.5, dtype=torch.float64), 3)
    >>> round(found.variance.item(), 9), round(found.mean_square.item(), 9)
    (1.0, 0.333333333)
    """
    index = torch.cartesian_prod(*[torch.arange(at.shape[-2])] * n)
    Z = at[:, index]  # (B, samples, n, p)
    chance = weight[:, index].prod(-1)
    mean = Z.mean(-2)
    values = (
        separation.intra(Z, unbiased=True),
        Z[..., 0, :].square().sum(-1),
        mean.square().sum(-1),
        2 * (Z[..., 0, :] * mean).sum(-1),
    )
    return SampleMeans(*((chance * value).sum(1) for value in values))


def hash_and_noise(*, seed: int = 0) -> dict[str, Tensor]:
    """Four curves in the plane, a hash of them, and noise that knows nothing of them.

    Point sets (4, 120, 2) by name: ``data``, ``a hash`` and ``noise``.

    Examples
    --------
    >>> made = hash_and_noise()
    >>> list(made), round(float(separation.rho(made["noise"], over="mean")), 1)
    (['data', 'a hash', 'noise'], 2.0)
    """
    family = manifolds.AnalyticFamily(
        "sine", ambient=2, s=2, k=1, weight_scale=1.0, theta_scale=0.8, seed=seed + 2
    )
    curves = family.draw(m=4, n=120)
    eye = torch.eye(4, dtype=torch.float64)
    spots = 4 * eye[:, :2] - 4 * eye[:, 2:]
    rng = generator(seed, 0, "picture")
    clouds = torch.from_numpy(rng.standard_normal((2, 4, 120, 2)))
    return {
        "data": curves.X,
        "a hash": spots[:, None] + 0.25 * clouds[0],
        "noise": clouds[1] * 1.5,
    }
