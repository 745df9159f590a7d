r"""Synthetic data: unions of subspaces, with every freedom that Part I's text leaves open.

Column i of the clean matrix is :math:`U_k v_i` for the cluster k of i; the noisy matrix adds
independent Gaussian entries. Columns are ordered by cluster. Each trial draws from a generator of
its own, made from the seed and the trial's number, so a trial is the same alone and in a batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from lowdim import checks
from lowdim.seeds import generator

__all__ = ["UnionOfSubspaces", "union_of_subspaces"]

BASES = ("orthonormal", "gaussian", "nonnegative")
COEFFICIENTS = ("gaussian", "uniform", "nonnegative", "constant")


@dataclass(frozen=True)
class UnionOfSubspaces:
    """A batch of unions of subspaces; T trials, m ambient dimensions, n points, r in all.

    clean, noisy, noise: (T, m, n); labels: (n,); bases: (T, m, r), side by side; coefficients:
    (T, r, n), block diagonal; dims: r_k.
    """

    clean: Tensor
    noisy: Tensor
    noise: Tensor
    labels: np.ndarray
    bases: Tensor
    coefficients: Tensor
    dims: tuple[int, ...]

    @property
    def r(self) -> int:
        """Sum of the dimensions of the subspaces."""
        return sum(self.dims)


def union_of_subspaces(
    *,
    trials: int = 1,
    ambient: int,
    dims: Sequence[int],
    sizes: Sequence[int],
    noise: float = 0.0,
    basis: str = "orthonormal",
    coefficients: str = "gaussian",
    coefficient_scale: float = 1.0,
    shared: int = 0,
    seed: int = 0,
    first_trial: int = 0,
    dtype: torch.dtype = torch.float64,
) -> UnionOfSubspaces:
    """Draw a batch of unions of subspaces.

    Parameters
    ----------
    ambient
        Dimension m of the space.
    dims, sizes
        Dimension r_k of each subspace and number n_k of points on it.
    noise
        Variance s² of each entry of the noise.
    basis
        ``"orthonormal"`` (orthogonalized Gaussian), ``"gaussian"`` (as drawn) or
        ``"nonnegative"`` (absolute values of it, unit columns).
    coefficients
        ``"gaussian"``, ``"uniform"`` (same variance), ``"nonnegative"`` (half-normal) or
        ``"constant"`` (every coefficient equal to the scale: Euclidean clusters when r_k = 1).
    coefficient_scale
        Standard deviation of a coefficient; the paper's 1/m is a variance, hence ``m**-0.5``.
    shared
        How many basis vectors all subspaces have in common; above 0 they are dependent.

    Raises
    ------
    ValueError
        If the lists disagree, a number is out of range, or the dimensions do not fit.

    Examples
    --------
    >>> X = union_of_subspaces(ambient=5, dims=(1, 2), sizes=(3, 4), noise=0.01)
    >>> tuple(X.noisy.shape), X.r, X.labels.tolist()
    ((1, 5, 7), 3, [0, 0, 0, 1, 1, 1, 1])
    """
    checks.whole(trials, "trials", 1)
    checks.choice(basis, BASES, "basis")
    checks.choice(coefficients, COEFFICIENTS, "coefficients")
    dims, sizes = tuple(dims), tuple(sizes)
    if len(dims) != len(sizes) or not dims or min(dims) < 1 or min(sizes) < 1:
        raise ValueError(
            f"dims and sizes need one positive number per cluster; you gave {dims} and {sizes}."
        )
    if max(dims) > ambient:
        raise ValueError(f"no subspace of dimension {max(dims)} fits into ambient = {ambient}.")
    if not 0 <= shared <= min(dims):
        raise ValueError(f"shared must be from 0 to min(dims) = {min(dims)}; you gave {shared}.")
    if not (noise >= 0 and np.isfinite(noise) and coefficient_scale > 0):
        raise ValueError(
            "noise must be 0 or more and coefficient_scale above 0; "
            f"you gave {noise} and {coefficient_scale}."
        )
    draws = [
        _one(
            generator(seed, trial, "data"), ambient, dims, sizes, basis, coefficients,
            coefficient_scale, shared,
        )
        for trial in range(first_trial, first_trial + trials)
    ]  # fmt: skip
    U, V, E = (torch.from_numpy(np.stack(parts)) for parts in zip(*draws, strict=True))
    clean = U @ V
    Z = noise**0.5 * E
    labels = np.repeat(np.arange(len(dims)), sizes)
    parts = (clean, clean + Z, Z)
    clean, noisy, Z = (part.to(dtype) for part in parts)
    return UnionOfSubspaces(clean, noisy, Z, labels, U.to(dtype), V.to(dtype), dims)


def _one(
    rng: np.random.Generator,
    m: int,
    dims: Sequence[int],
    sizes: Sequence[int],
    basis: str,
    coefficients: str,
    scale: float,
    shared: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    common = rng.standard_normal((m, shared))
    blocks = []
    for d in dims:
        block = np.hstack([common, rng.standard_normal((m, d - shared))])
        if basis == "orthonormal":
            block = np.linalg.qr(block)[0]
        elif basis == "nonnegative":
            block = np.abs(block) / np.linalg.norm(block, axis=0)
        blocks.append(block)
    V = np.zeros((sum(dims), sum(sizes)))
    row = column = 0
    for d, size in zip(dims, sizes, strict=True):
        if coefficients == "gaussian":
            v = rng.standard_normal((d, size))
        elif coefficients == "uniform":
            v = rng.uniform(-(3**0.5), 3**0.5, (d, size))
        elif coefficients == "nonnegative":
            v = np.abs(rng.standard_normal((d, size)))
        else:
            v = np.ones((d, size))
        V[row : row + d, column : column + size] = scale * v
        row, column = row + d, column + size
    return np.hstack(blocks), V, rng.standard_normal((m, sum(sizes)))
