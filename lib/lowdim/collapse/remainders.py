r"""What a layer's gradient loses when samples are replaced by the centroids of their clusters.

Write :math:`g(z,y)` for the gradient in :math:`W_l` at one sample, as a function of its hidden
point z in an earlier layer j and its target y, and :math:`v_i` for the deviation of
:math:`(z_i,y_i)` from the centroid of its cluster. First-order changes cancel; the remainder is of
second order in the spread. A :class:`Cut` is one layer l, one j < l and one partition.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.polynomial.legendre import leggauss
from torch import Tensor

from lowdim.collapse import gradients
from lowdim.linalg import ranks
from lowdim.nets.networks import Dense, Weights
from lowdim.seeds import generator

__all__ = ["Clustered", "Cut", "Spreads", "against_spread", "unit"]

NET = Dense((4, 5, 4, 3), activation="tanh")
NODES = [((x + 1) / 2, w / 2) for x, w in zip(*leggauss(12), strict=True)]
Case = Mapping[str, Tensor]


@dataclass(frozen=True)
class Cut:
    """Layer ``layer`` as a function of the points that leave layer ``start``, T networks.

    X (T, m, N) and Y (T, c, N) are data and targets, ``labels`` (N,) the clusters. What follows is
    computed when it is asked for.
    """

    net: Dense
    weights: Weights
    X: Tensor
    Y: Tensor
    labels: np.ndarray
    layer: int
    start: int

    @property
    def _at(self) -> dict[str, Any]:
        return {"layer": self.layer, "start": self.start}

    @property
    def parts(self) -> int:
        """Number of clusters."""
        return len(np.unique(self.labels))

    @cached_property
    def Z(self) -> Tensor:
        """(T, width, N) the points that leave layer ``start``."""
        if self.start == 0:
            return self.X
        return self.net.forward(self.weights, self.X)[1][self.start - 1]

    @cached_property
    def centres(self) -> tuple[Tensor, Tensor]:
        """The centroid of its cluster in place of each point and of each target."""
        z, y = (ranks.spread_centroids(A, self.labels) for A in (self.Z, self.Y))
        return z, y

    @cached_property
    def deviations(self) -> tuple[Tensor, Tensor]:
        """The pairs v_i: points and targets less their centroids."""
        z, y = self.centres
        return self.Z - z, self.Y - y

    @cached_property
    def squares(self) -> Tensor:
        """(T, N) the squared lengths of the deviations."""
        z, y = self.deviations
        return z.square().sum(1) + y.square().sum(1)

    @cached_property
    def wcss(self) -> Tensor:
        """(T,) within-cluster sum of squares of the pairs."""
        return ranks.wcss(ranks.joint(self.Z, self.Y), self.labels)

    @cached_property
    def changes(self) -> Tensor:
        """(T, N, out, in) gradients at the samples less those at their centroids."""

        def at(Z: Tensor, Y: Tensor) -> Tensor:
            return gradients.sample_gradients(self.net, self.weights, Z, Y, **self._at)

        return at(self.Z, self.Y) - at(*self.centres)

    @cached_property
    def remainder(self) -> Tensor:
        """(T, out, in) the remainder R: the gradient less the one at centroids."""
        return self.changes.mean(1)

    @cached_property
    def pieces(self) -> Tensor:
        """(T, N, out, in) the samples' remainders R_i, beyond the first order."""
        return self.changes - self.along(self.level(0.0))[0]

    @cached_property
    def factors(self) -> tuple[Tensor, Tensor]:
        """The layer's gradient as a product: delta (T, out, N) and inputs (T, in, N)."""
        return gradients.factors(self.net, self.weights, self.X, self.Y)[self.layer - 1]

    def level(self, t: float) -> Tensor:
        """(T, N) the same place on every segment."""
        return torch.full_like(self.squares, t)

    def along(self, t: Tensor) -> tuple[Tensor, Tensor]:
        """First and second derivative of g along v_i, at the centroid plus t v_i; t is (T, N)."""
        z, y = (c + t[:, None] * d for c, d in zip(self.centres, self.deviations, strict=True))
        return gradients.bend(self.net, self.weights, z, y, self.deviations, **self._at)

    def seen(self, grid: int = 9) -> Tensor:
        """(T,) the largest second derivative along unit deviations on the segments: at most M."""
        sizes = [
            self.along(self.level(t))[1].norm(dim=(2, 3)) for t in np.linspace(0, 1, grid).tolist()
        ]
        return (torch.stack(sizes) / self.squares.clamp_min(1e-300)).amax((0, 2))

    def searched(self, **search: Any) -> Tensor:
        """(T,) the largest that a search over hulls and directions finds, from below."""
        how = {"labels": self.labels, **self._at, **search}
        return gradients.largest_bend(self.net, self.weights, self.Z, self.Y, **how)

    def certified(self) -> Tensor:
        """(T,) an upper bound on the second derivative over the clusters' hulls."""
        data = (self.net, self.weights, self.Z, self.Y)
        return gradients.certified_bend(*data, labels=self.labels, **self._at)

    def integral(self) -> Tensor:
        r"""(T, N) the integrals :math:`\int_0^1(1-t)\|\nabla^2g[v_i,v_i]\|\,dt`, twelve nodes."""
        return sum(w * (1 - t) * self.along(self.level(t))[1].norm(dim=(2, 3)) for t, w in NODES)

    def best_point(self, rounds: int = 24) -> tuple[Tensor, Tensor]:
        """The place t (T, N) on each segment where half the second derivative is nearest to R_i.

        And by how much it misses, relative to R_i. A grid, then ternary search: the best there is
        where the miss has one minimum beside the nearest point of the grid, as for small spreads.
        """

        def miss(t: Tensor) -> Tensor:
            return (self.pieces - self.along(t)[1] / 2).norm(dim=(2, 3))

        grid = torch.linspace(0, 1, 13, dtype=torch.float64)
        nearest = torch.stack([miss(self.level(float(t))) for t in grid]).argmin(0)
        low, high = grid[(nearest - 1).clamp_min(0)], grid[(nearest + 1).clamp_max(12)]
        for _ in range(rounds):
            left, right = low + (high - low) / 3, high - (high - low) / 3
            down = miss(left) < miss(right)
            low, high = torch.where(down, low, left), torch.where(down, right, high)
        t = (low + high) / 2
        return t, miss(t) / self.pieces.norm(dim=(2, 3)).clamp_min(1e-300)


@dataclass(frozen=True)
class Clustered:
    """Random tanh networks 4-5-4-3 with ``samples`` points and targets in ``clusters`` clusters."""

    clusters: int = 3
    samples: int = 9

    @property
    def labels(self) -> np.ndarray:
        """(N,) the cluster of each sample."""
        return np.arange(self.samples) % self.clusters

    def draw(self, count: int, rng: np.random.Generator, size: object) -> dict[str, Tensor]:
        """Weights, and points and targets off their cluster's centre by about ``size``.

        ``size`` is a number or (count,).

        Examples
        --------
        >>> case = Clustered(clusters=2, samples=6).draw(5, np.random.default_rng(0), 0.0)
        >>> case["X"].shape, bool((case["X"][..., 0] == case["X"][..., 2]).all())
        (torch.Size([5, 4, 6]), True)
        """

        def normal(*shape: int) -> Tensor:
            return torch.from_numpy(rng.standard_normal((count, *shape)))

        widths = NET.widths
        case = {f"W{k}": normal(widths[k + 1], widths[k]) for k in range(NET.depth)}
        case |= {f"b{k}": 0.5 * normal(widths[k + 1], 1) for k in range(NET.depth)}
        off = torch.as_tensor(size, dtype=torch.float64).reshape(-1, 1, 1)
        for name, rows in (("X", widths[0]), ("Y", widths[-1])):
            centres = normal(rows, self.clusters)[..., self.labels]
            case[name] = centres + off * normal(rows, self.samples)
        return case

    def mixed(self, count: int, rng: np.random.Generator) -> dict[str, Tensor]:
        """Cases with spreads from a hundredth to five.

        Examples
        --------
        >>> Clustered().mixed(3, np.random.default_rng(0))["Y"].shape
        torch.Size([3, 3, 9])
        """
        return self.draw(count, rng, 10 ** rng.uniform(-2, 0.7, count))

    def cut(self, case: Case, *, layer: int = 2, start: int = 1) -> Cut:
        """A case at one layer and one cut; one linear layer (key ``w``) is cut at its data.

        Examples
        --------
        >>> few = Clustered()
        >>> few.cut(few.mixed(2, np.random.default_rng(0)), layer=3, start=0).remainder.shape
        torch.Size([2, 3, 4])
        >>> few.cut(unit([[0.0]], [[1.0, -1.0]], [[-1.0, 1.0]])).remainder.item()
        2.0
        """
        X, Y = case["X"], case["Y"]
        if "w" in case:
            net = Dense(tuple(case["w"].shape[:0:-1]), activation="identity", bias=False)
            return Cut(net, [(case["w"], None)], X, Y, np.zeros(X.shape[-1], int), 1, 0)
        weights = [(case[f"W{k}"], case[f"b{k}"]) for k in range(NET.depth)]
        return Cut(NET, weights, X, Y, self.labels, layer, start)


def unit(
    w: Sequence[Sequence[float]], X: Sequence[Sequence[float]], Y: Sequence[Sequence[float]]
) -> dict[str, Tensor]:
    """One linear layer w (c, d), points X (d, N) and targets Y (c, N), as a case of one instance.

    Examples
    --------
    >>> unit([[0.0]], [[1.0, -1.0]], [[-1.0, 1.0]])["X"].shape
    torch.Size([1, 1, 2])
    """
    parts = {"w": w, "X": X, "Y": Y}
    return {key: torch.tensor([rows], dtype=torch.float64) for key, rows in parts.items()}


@dataclass(frozen=True)
class Spreads:
    """Layer 2 cut at layer 1, medians over networks, at each of k spreads; all (k,).

    wcss: of the pairs; certified, searched: half of M times it; remainder: ‖R‖; covariance: the
    root of WCSS(δ) WCSS(z); distance: of the gradient from rank K.
    """

    wcss: np.ndarray
    certified: np.ndarray
    searched: np.ndarray
    remainder: np.ndarray
    covariance: np.ndarray
    distance: np.ndarray


def against_spread(
    sizes: Sequence[float], *, networks: int = 10, few: Clustered | None = None, seed: int = 0
) -> Spreads:
    """The remainder and four bounds around it, at spreads ``sizes`` (k,) of the same networks.

    Examples
    --------
    >>> seen = against_spread([0.1], networks=2)
    >>> bool((seen.remainder < seen.certified).all()), bool((seen.distance < seen.covariance).all())
    (True, True)
    """
    few = few or Clustered()
    rows = []
    for size in sizes:
        cut = few.cut(few.draw(networks, generator(seed, 5, "figure"), size))
        M = torch.maximum(cut.searched(starts=6, steps=10), cut.seen())
        delta, inputs = cut.factors
        spread = (ranks.wcss(delta, few.labels) * ranks.wcss(inputs, few.labels)).sqrt()
        far = ranks.rank_distance(delta @ inputs.mT / few.samples, few.clusters)
        bounds = (cut.certified() * cut.wcss / 2, M * cut.wcss / 2, cut.remainder.norm(dim=(1, 2)))
        rows.append([float(row.median()) for row in (cut.wcss, *bounds, spread, far)])
    return Spreads(*np.array(rows).T)
