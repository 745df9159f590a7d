r"""Who is joined to whom by the projector onto a row space: small matrices, splits and ranks.

The rank identity of equation (3)'s chapter is checked on matrices with entries -1, 0 and 1, where
coincidences are common and a rank can be read off in floating point.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
import torch
from sympy import Matrix
from torch import Tensor

from lowdim.data import unions
from lowdim.linalg import subspaces

__all__ = [
    "exact_projector", "four_data_sets", "integer_matrices", "random_shapes", "rank", "splits",
]  # fmt: skip

ZERO = 1e-8  # below the entries and singular values of small integer matrices that are not zero


def rank(A: Tensor) -> Tensor:
    """Ranks (...) of matrices (..., m, n): singular values above 1e-8.

    Examples
    --------
    >>> rank(torch.tensor([[1.0, 2.0], [2.0, 4.0]], dtype=torch.float64)).item()
    1
    """
    return (torch.linalg.svdvals(A) > ZERO).sum(-1)


def splits(n: int) -> list[list[int]]:
    """All sets of columns, neither empty nor whole, by size.

    Examples
    --------
    >>> splits(3)
    [[0], [1], [2], [0, 1], [0, 2], [1, 2]]
    """
    return [list(s) for k in range(1, n) for s in itertools.combinations(range(n), k)]


def integer_matrices(count: int, n: int, rng: np.random.Generator) -> Iterator[Tensor]:
    """Matrices with n columns and entries -1, 0, 1; of ``count`` drawn those that are not zero.

    The number of rows is drawn too, from 1 to n.

    Examples
    --------
    >>> sorted({X.shape[1] for X in integer_matrices(5, 4, np.random.default_rng(0))})
    [4]
    """
    for _ in range(count):
        rows = rng.integers(1, n + 1)
        X = rng.choice([-1.0, 0.0, 1.0], size=(rows, n), p=[0.25, 0.5, 0.25])
        if X.any():
            yield torch.from_numpy(X)


def random_shapes(
    count: int, rng: np.random.Generator
) -> Iterator[tuple[int, tuple[int, ...], tuple[int, ...], int]]:
    """Ambient dimension, dimensions and sizes of two or three clusters, and a seed.

    The space holds each subspace, not always their sum; a cluster may have fewer points than
    dimensions.

    Examples
    --------
    >>> ambient, dims, sizes, seed = next(random_shapes(1, np.random.default_rng(0)))
    >>> ambient >= max(dims), len(dims) == len(sizes)
    (True, True)
    """
    for _ in range(count):
        dims = tuple(int(d) for d in rng.integers(1, 4, size=rng.integers(2, 4)))
        sizes = tuple(int(s) for s in rng.integers(1, 9, size=len(dims)))
        ambient = int(rng.integers(max(dims), sum(dims) + 4))
        yield ambient, dims, sizes, int(rng.integers(2**31))


def exact_projector(rows: Sequence[Sequence[int]]) -> Matrix:
    """The projector onto the row space of a matrix of whole numbers, in rational arithmetic.

    Examples
    --------
    >>> exact_projector([[1, 1], [2, 2]])
    Matrix([
    [1/2, 1/2],
    [1/2, 1/2]])
    """
    A = Matrix(rows)
    A = Matrix([A.row(i) for i in A.T.rref()[1]])
    return A.T * (A * A.T).inv() * A


def four_data_sets(*, size: int = 30, dim: int = 3, seed: int = 0) -> dict[str, Tensor]:
    """Projectors onto the row spaces of four data sets, by what is special about each.

    ``size`` points in a cluster, more than its dimension ``dim``; the third set's second cluster
    has ``dim`` points only, the fourth is one cluster of dimension 2 ``dim`` in two halves.

    Examples
    --------
    >>> list(four_data_sets(size=4, dim=2))
    ['independent', 'dependent', '$n_2=r_2$', 'one cluster, two halves']
    """

    def clean(ambient: int, sizes: tuple[int, ...]) -> Tensor:
        return unions.union_of_subspaces(
            ambient=ambient, dims=(dim,) * 3, sizes=sizes, seed=seed
        ).clean[0]

    def half(seed: int) -> Tensor:
        source = torch.Generator().manual_seed(seed)
        return torch.randn(dim, size, generator=source, dtype=torch.float64)

    data = {
        "independent": (clean(5 * dim, (size,) * 3), 3 * dim),
        "dependent": (clean(2 * dim, (size,) * 3), 2 * dim),
        "$n_2=r_2$": (clean(5 * dim, (size, dim, size)), 3 * dim),
        "one cluster, two halves": (
            torch.block_diag(half(abs(seed)), half(abs(seed) + 1)),
            2 * dim,
        ),
    }
    return {
        name: subspaces.projector(subspaces.principal_rows(X, r)) for name, (X, r) in data.items()
    }
