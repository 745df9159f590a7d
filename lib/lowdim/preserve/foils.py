"""Foils for the experiment of Section 5: data that lack clusters, or in which they are not strong.

What falls on these as it falls on data with clusters does not fall because of clusters.
"""

from __future__ import annotations

from functools import cache

import torch
from torch import Tensor

from lowdim.checks import choice
from lowdim.data.unions import UnionOfSubspaces
from lowdim.preserve.learning import RANK, Fitted, Setting
from lowdim.seeds import generator

__all__ = ["KINDS", "cloud", "data", "nuisance", "shuffled", "trained"]

KINDS = (
    "clusters",
    "no clusters: random row space",
    "no clusters: coefficients shuffled",
    "clusters under a stronger cloud",
    "clusters, variance 1/m as printed",
    "nothing but noise",
)


def shuffled(D: UnionOfSubspaces, *, seed: int) -> Tensor:
    """Clean data (T, m, n) with the same coefficients, each row dealt anew among all points.

    Examples
    --------
    >>> D = Setting(80).draw(draws=1)
    >>> E = shuffled(D, seed=0)
    >>> torch.allclose(E.norm(), D.clean.norm(), rtol=0.1), torch.linalg.matrix_rank(E).item()
    (True, 16)
    """
    V = D.coefficients.clone()
    for trial in range(len(V)):
        rng = generator(seed, trial, "shuffle")
        for row in range(V.shape[1]):
            V[trial, row] = V[trial, row][torch.from_numpy(rng.permutation(V.shape[2]))]
    return D.bases @ V


def cloud(D: UnionOfSubspaces, *, seed: int) -> Tensor:
    """Clean data (T, m, n) of the same singular values and column space, any row space.

    Examples
    --------
    >>> D = Setting(80).draw(draws=1)
    >>> same = [torch.linalg.svdvals(A)[:, :16] for A in (D.clean, cloud(D, seed=0))]
    >>> torch.allclose(*same)
    True
    """
    U, s, _ = torch.linalg.svd(D.clean, full_matrices=False)
    Q = _normal(D, (D.clean.shape[2], RANK), seed=seed, label="cloud")
    return (U[..., :RANK] * s[:, None, :RANK]) @ torch.linalg.qr(Q[0]).Q.mT


def nuisance(D: UnionOfSubspaces, *, seed: int, strength: float = 3.0) -> Tensor:
    """A stronger signal (T, m, n) of the same rank that all points share, unrelated to clusters.

    Examples
    --------
    >>> D = Setting(80).draw(draws=2)
    >>> bool((nuisance(D, seed=0).norm(dim=(1, 2)) > 2 * D.clean.norm(dim=(1, 2))).all())
    True
    """
    _, m, n = D.clean.shape
    U, V = _normal(D, (m, RANK), (RANK, n), seed=seed, label="nuisance")
    return strength * torch.linalg.qr(U).Q @ V


def _normal(
    D: UnionOfSubspaces, *shapes: tuple[int, int], seed: int, label: str
) -> tuple[Tensor, ...]:
    """Standard normal matrices (T, *shape), one after the other from each trial's generator."""
    rngs = [generator(seed, trial, label) for trial in range(len(D.clean))]
    return tuple(
        torch.stack([torch.from_numpy(rng.standard_normal(shape)) for rng in rngs])
        for shape in shapes
    )


def data(setting: Setting, kind: str, *, draws: int) -> tuple[Tensor, Tensor]:
    """Clean data and what is added to them, both (draws, m, n), for one of :data:`KINDS`.

    Raises
    ------
    ValueError
        If ``kind`` is none of these.

    Examples
    --------
    >>> clean, noise = data(Setting(80), "nothing but noise", draws=1)
    >>> bool(clean.norm() < 1e-6 * noise.norm())
    True
    """
    choice(kind, KINDS, "kind")
    scale = setting.usual if kind == "clusters, variance 1/m as printed" else 1.0
    D, seed = setting.draw(draws=draws, coefficient_scale=scale), setting.seed
    if kind == "no clusters: random row space":
        return cloud(D, seed=seed), D.noise
    if kind == "no clusters: coefficients shuffled":
        return shuffled(D, seed=seed), D.noise
    if kind == "clusters under a stronger cloud":
        return D.clean, nuisance(D, seed=seed) + D.noise
    if kind == "nothing but noise":
        return 1e-9 * cloud(D, seed=seed), D.noise
    return D.clean, D.noise


@cache
def trained(setting: Setting, kind: str, *, draws: int, steps: int) -> Fitted:
    """The experiment on one of :data:`KINDS`, run once for each choice of arguments.

    Examples
    --------
    >>> one = trained(Setting(80, 20), "clusters", draws=1, steps=3)
    >>> one is trained(Setting(80, 20), "clusters", draws=1, steps=3)
    True
    """
    return setting.fit(*data(setting, kind, draws=draws), steps=steps)
