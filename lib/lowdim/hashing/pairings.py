"""Random pairings of an even number of points, and how far their mean distance strays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor

from lowdim import checks
from lowdim.checks import ArrayLike

__all__ = ["clouds", "deviations", "pairings"]


def pairings(items: Sequence[int]) -> Iterator[tuple[tuple[int, int], ...]]:
    """All ways to split the items into pairs.

    Examples
    --------
    >>> list(pairings([0, 1, 2, 3]))
    [((0, 1), (2, 3)), ((0, 2), (1, 3)), ((0, 3), (1, 2))]
    """
    if not items:
        yield ()
        return
    first, rest = items[0], items[1:]
    for i, other in enumerate(rest):
        for more in pairings([*rest[:i], *rest[i + 1 :]]):
            yield ((first, other), *more)


def deviations(r: ArrayLike) -> dict[str, Tensor]:
    """The chance (count,) that a random pairing of points r (count, m, p) strays as far as any.

    S is the mean squared distance of a pairing, t the largest |S − ES|, rho the longest r; m is
    returned for each cloud, too.

    Raises
    ------
    ValueError
        If the number of points is odd.

    Examples
    --------
    >>> case = deviations([[[0.0], [7.0], [0.0], [7.0]]])
    >>> [round(case[name].item(), 6) for name in ("chance", "t", "rho")]
    [0.333333, 32.666667, 7.0]
    """
    r = checks.matrices(r, "r")
    m = r.shape[1]
    if m % 2:
        raise ValueError(f"pairs need an even number of points; r has {m}.")
    pairs = torch.tensor(list(pairings(range(m))))
    S = torch.cdist(r, r).square()[:, pairs[..., 0], pairs[..., 1]].mean(-1)
    off = (S - S.mean(1, keepdim=True)).abs()
    t = off.amax(1)
    chance = (off >= t[:, None] - 1e-12).double().mean(1)
    rho = r.norm(dim=-1).amax(1)
    return {"chance": chance, "t": t, "rho": rho, "m": torch.full_like(t, m)}


def clouds(count: int, rng: np.random.Generator) -> dict[str, Tensor]:
    """:func:`deviations` of random clouds of six points in the plane, of sizes from 1/e to e³.

    Examples
    --------
    >>> all(len(part) == 3 for part in clouds(3, np.random.default_rng(0)).values())
    True
    """
    scale = np.exp(rng.uniform(-1, 3, (count, 1, 1)))
    return deviations(torch.from_numpy(rng.standard_normal((count, 6, 2)) * scale))
