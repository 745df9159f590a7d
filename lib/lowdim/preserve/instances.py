r"""Instances for the attacks of Part I: small layers whose cut and noise are as small as asked.

A case has ``clean`` (B, m, n), ``W`` (B, h, m), ``Z`` (B, m, n) and perhaps ``rank`` (B,), as
:func:`lowdim.preserve.preservation.layer` takes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from lowdim.data import unions
from lowdim.evidence.attacks import Case
from lowdim.linalg import subspaces
from lowdim.preserve import preservation

__all__ = [
    "SmallLayers",
    "at_the_edge",
    "measured",
    "single",
    "smallest",
    "smallest_start",
    "turned_line",
]


def measured(case: Case, *, rank: int | None = None) -> preservation.Layer:
    """The quantities of Theorem 3.1 for a batch of layers, at the case's own rank or ``rank``.

    Examples
    --------
    >>> measured(single([[1.0, 0, 1], [0, 1, 1]], [[1.0, 0], [0, 1]])).epsilon.tolist()
    [0.3333...]
    """
    if "rank" in case:
        rank = int(case["rank"][0])
    if rank is None:
        rank = case["clean"].shape[-2]
    return preservation.layer(case["clean"], case["Z"], case["W"], rank)


def at_the_edge(case: Case, slack: Tensor | float) -> dict[str, Tensor]:
    """The case with its noise scaled until δ is about ``slack`` (B,) times η of equation (2).

    Small noise is cut only where WX* is zero, so that all sizes grow in proportion to it.

    Examples
    --------
    >>> layers = SmallLayers((2, 2), (6, 6), hidden=10)
    >>> q = measured(at_the_edge(layers.draw(20, np.random.default_rng(0), 1.0), 1.5))
    >>> bool((q.delta > q.eta).all() and (q.delta < 3 * q.eta).all())
    True
    """
    probe = measured({**case, "Z": 1e-9 * case["Z"]})
    rank = probe.star.shape[-1]
    signal = subspaces.singular_values(case["clean"])[..., rank - 1]
    room = torch.minimum(signal, probe.signal)
    factor = (128 * rank) ** 0.5 / probe.epsilon
    level = room / ((factor * slack + 3) * probe.error / 1e-9)
    return {**case, "Z": level[:, None, None] * case["Z"]}


@dataclass(frozen=True)
class SmallLayers:
    """Non-negative clean data on a union of subspaces, under non-negative layers with zeros.

    dims, sizes: of each cluster; hidden: width of the layer; ambient: dimension m of the space,
    whose coordinates beyond the r-th hold nothing but noise (r of them unless given); density: the
    share of weights that are not zero. Where a unit sees none of a point's coordinates, the noise
    alone decides what is cut.
    """

    dims: Sequence[int]
    sizes: Sequence[int]
    hidden: int
    ambient: int | None = None
    density: float = 0.6

    @property
    def rank(self) -> int:
        """The rank r of the clean data."""
        return sum(self.dims)

    @property
    def within(self) -> Tensor:
        """(n, n), true for two different points of one cluster.

        Examples
        --------
        >>> SmallLayers((1, 1), (2, 1), hidden=3).within.int().tolist()
        [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
        """
        labels = torch.from_numpy(np.repeat(np.arange(len(self.sizes)), self.sizes))
        same = labels[:, None] == labels[None, :]
        return same & ~torch.eye(len(labels), dtype=torch.bool)

    def draw(
        self, count: int, rng: np.random.Generator, level: float | Tensor
    ) -> dict[str, Tensor]:
        """``count`` layers with noise of standard deviation ``level``, a number or (count,).

        Examples
        --------
        >>> case = SmallLayers((2, 2), (6, 6), hidden=10).draw(5, np.random.default_rng(0), 0.1)
        >>> {name: tuple(value.shape) for name, value in case.items()}
        {'clean': (5, 4, 12), 'W': (5, 10, 4), 'Z': (5, 4, 12)}
        >>> wide = SmallLayers((2, 2), (6, 6), hidden=10, ambient=30)
        >>> wide.draw(5, np.random.default_rng(0), 0.1)["W"].shape
        torch.Size([5, 10, 30])
        """
        r, n, h = self.rank, sum(self.sizes), self.hidden
        m = r if self.ambient is None else self.ambient
        D = unions.union_of_subspaces(
            trials=count,
            ambient=r,
            dims=self.dims,
            sizes=self.sizes,
            coefficients="nonnegative",
            seed=int(rng.integers(2**31)),
        )
        W = np.abs(rng.standard_normal((count, h, m))) * (rng.random((count, h, m)) < self.density)
        Z = torch.from_numpy(rng.standard_normal((count, m, n)))
        size = torch.as_tensor(level, dtype=torch.float64).reshape(-1, 1, 1)
        clean = torch.nn.functional.pad(D.coefficients, (0, 0, 0, m - r))
        return {"clean": clean, "W": torch.from_numpy(W), "Z": size * Z}

    def just_allowed(self, count: int, rng: np.random.Generator) -> dict[str, Tensor]:
        """Layers whose noise makes δ between 1.02 and 2 times η: equation (2) just holds.

        Examples
        --------
        >>> case = SmallLayers((2, 2), (6, 6), hidden=10).just_allowed(9, np.random.default_rng(0))
        >>> bool((measured(case).delta > measured(case).eta).all())
        True
        """
        slack = torch.from_numpy(rng.uniform(1.02, 2.0, count))
        return at_the_edge(self.draw(count, rng, 1.0), slack)

    def beyond(self, count: int, rng: np.random.Generator) -> dict[str, Tensor]:
        """Layers with one to twelve times the noise that equation (2) allows.

        Examples
        --------
        >>> case = SmallLayers((2, 2), (6, 6), hidden=10).beyond(9, np.random.default_rng(0))
        >>> bool((measured(case).delta < measured(case).eta).any())
        True
        """
        case = at_the_edge(self.draw(count, rng, 1.0), torch.ones(count, dtype=torch.float64))
        more = torch.from_numpy(rng.uniform(1.0, 12.0, (count, 1, 1)))
        return {**case, "Z": more * case["Z"]}


def single(clean: Sequence[Sequence[float]], W: Sequence[Sequence[float]]) -> dict[str, Tensor]:
    """One layer of rank 2 without noise, from rows of numbers.

    Examples
    --------
    >>> single([[1.0, 0, 1], [0, 1, 1]], [[1.0, 0], [0, 1]])["Z"].shape
    torch.Size([1, 2, 3])
    """
    X, layer = (torch.tensor([rows], dtype=torch.float64) for rows in (clean, W))
    return {"clean": X, "W": layer, "Z": torch.zeros_like(X), "rank": torch.full((1,), 2.0)}


def turned_line(t: float) -> dict[str, Tensor]:
    """X* = (1, −2t), Z = (0, t), W = 1: Y = (1, 0), the worst case of closeness as t goes to 0.

    Examples
    --------
    >>> q = measured(turned_line(0.1))
    >>> [round(value.item(), 6) for value in (q.delta, q.error)]
    [1.0, 0.1]
    """
    X, Z = (torch.tensor([[row]], dtype=torch.float64) for row in ([1.0, -2 * t], [0.0, t]))
    one = torch.ones(1, dtype=torch.float64)
    return {"clean": X, "W": one[:, None, None], "Z": Z, "rank": one}


def smallest(free: Case) -> dict[str, Tensor]:
    """The smallest layers in which something is cut, from free numbers c, w and z.

    Two lines with two points each, and three units, of which two see one line only. The other
    line's noise is cut there.

    Examples
    --------
    >>> smallest(smallest_start(3, np.random.default_rng(0)))["W"].shape
    torch.Size([3, 3, 2])
    """
    pattern = torch.tensor([[1.0, 1, 0, 0], [0, 0, 1, 1]], dtype=torch.float64)
    mask = torch.tensor([[1.0, 0], [0, 1], [1, 1]], dtype=torch.float64)
    count = len(free["c"])
    case = {
        "clean": (free["c"].abs() + 0.05) * pattern,
        "W": (free["w"].abs() + 0.05) * mask,
        "Z": free["z"],
        "rank": torch.full((count,), 2.0),
    }
    return at_the_edge(case, torch.full((count,), 1.05, dtype=torch.float64))


def smallest_start(count: int, rng: np.random.Generator) -> dict[str, Tensor]:
    """Where a search for the worst of the smallest layers begins.

    Examples
    --------
    >>> smallest_start(3, np.random.default_rng(0))["c"].shape
    torch.Size([3, 2, 4])
    """
    shapes = {"c": (2, 4), "w": (3, 2), "z": (2, 4)}
    return {k: torch.from_numpy(rng.standard_normal((count, *s))) for k, s in shapes.items()}
