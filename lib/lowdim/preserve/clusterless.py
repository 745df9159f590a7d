"""The same experiment on data with clusters and without: is what one sees about clusters at all?

As many points lie on one subspace in the place of four, of the same total dimension and with the
same strength in every direction.
"""

from __future__ import annotations

from lowdim.data import unions
from lowdim.linalg import subspaces
from lowdim.nets import networks
from lowdim.preserve import looks

__all__ = ["FOUR", "blocks", "falling"]

FOUR = 4  # the paper's number of clusters


def blocks(
    count: int, *, ambient: int, dim: int, size: int, noise: float, trials: int, seed: int
) -> unions.UnionOfSubspaces:
    """4·``size`` points on ``count`` subspaces whose dimensions add up to 4·``dim``.

    Coefficients are scaled so that the expected Gram matrix of the coefficients does not depend on
    ``count``, which divides both sums.

    Examples
    --------
    >>> one = blocks(1, ambient=16, dim=2, size=5, noise=0.1, trials=3, seed=0)
    >>> one.clean.shape, one.dims
    (torch.Size([3, 16, 20]), (8,))
    """
    return unions.union_of_subspaces(
        trials=trials,
        ambient=ambient,
        dims=(FOUR * dim // count,) * count,
        sizes=(FOUR * size // count,) * count,
        noise=noise,
        coefficient_scale=(count / FOUR) ** 0.5,
        seed=seed,
    )


def falling(*, noise: float = 0.1, trials: int = 5, seed: int = 0) -> dict[str, looks.Watched]:
    """Five GELU layers trained on four clusters, and on none.

    Examples
    --------
    >>> list(falling(trials=2))
    ['four clusters', 'no clusters']
    """
    net = networks.Dense((64, *[32] * 5, 64), activation="gelu", bias=False)
    found = {}
    for name, count in (("four clusters", FOUR), ("no clusters", 1)):
        D = blocks(count, ambient=64, dim=2, size=30, noise=noise, trials=trials, seed=seed)
        star = subspaces.principal_rows(D.clean, D.r)
        found[name] = looks.train(net, D.noisy.float(), star, steps=250, seed=seed)
    return found
