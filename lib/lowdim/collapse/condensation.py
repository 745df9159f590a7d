"""Neurons that merge: how many of a layer are distinct up to sign, and data without clusters.

The rank of a layer is at most the number of its distinct neurons; at a stationary point of an odd
activation with weight decay, also that of the layer before. `Twins` replaces blobs by Gaussian
points with the same mean and the same second moment, so that what clusters do can be told from what
the spectrum of the data does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch
from matplotlib.figure import Figure
from torch import Tensor

from lowdim.collapse.linear import jump
from lowdim.collapse.transition import Grid, Setting
from lowdim.evidence import plots
from lowdim.seeds import generator

__all__ = [
    "Twins",
    "distinct",
    "draw_threshold",
    "exact_ranks",
    "groups",
    "next_moment",
    "picture",
    "predicted",
    "twin",
    "with_seed",
]

SAME = 1e-8  # neurons this near, relative to the largest, are one
ZERO = 1e-6  # singular values below, relative to the largest, are zero: room for merged neurons


def distinct(rows: Tensor, *, same: float = SAME) -> int:
    """How many rows (n, k) differ from zero and, up to sign, from each other.

    Examples
    --------
    >>> distinct(torch.tensor([[1.0, 2.0], [-1.0, -2.0], [0.0, 0.0], [2.0, 4.0]]))
    2
    """
    near = same * float(rows.norm(dim=1).max())
    found: list[Tensor] = []
    for row in rows:
        apart = (min(float((row - r).norm()), float((row + r).norm())) > near for r in found)
        if float(row.norm()) > near and all(apart):
            found.append(row)
    return len(found)


def groups(seen: Grid) -> Tensor:
    """(L, cells) distinct neurons of every layer, weights and bias together.

    Examples
    --------
    >>> from lowdim.collapse.transition import grid
    >>> small = grid(Setting(ambient=6, width=4, bottleneck=4, samples=12, clusters=2,
    ...                      decays=(0.3,), spreads=(0.1, 0.2)))
    >>> groups(small).shape
    torch.Size([4, 2])
    """
    rows = [W if b is None else torch.cat([W, b], -1) for W, b in seen.weights]
    return torch.tensor([[distinct(cell) for cell in layer] for layer in rows])


def exact_ranks(seen: Grid) -> Tensor:
    """(L, cells) numerical ranks: singular values above 1e-6 of the largest.

    Examples
    --------
    >>> from lowdim.collapse.transition import grid
    >>> small = grid(Setting(ambient=6, width=4, bottleneck=4, samples=12, clusters=2,
    ...                      decays=(0.3,), spreads=(0.1, 0.2)))
    >>> bool((exact_ranks(small) <= groups(small)).all())
    True
    """
    found = [torch.linalg.svdvals(W) for W, _ in seen.weights]
    return torch.stack([(s > ZERO * s[:, :1].clamp_min(1e-300)).sum(-1) for s in found])


def twin(X: Tensor, normal: Tensor) -> Tensor:
    """Points (d, N) with the mean and the second moment of ``X`` (d, N), made of normal ones.

    Raises
    ------
    ValueError
        If the shapes differ, or there are not more points than dimensions.

    Examples
    --------
    >>> X = torch.tensor([[1.0, 2.0, 3.0, 6.0]], dtype=torch.float64)
    >>> Z = twin(X, torch.tensor([[0.0, 1.0, 1.0, 3.0]], dtype=torch.float64))
    >>> bool((Z @ Z.mT - X @ X.mT).abs() < 1e-9), bool((Z.mean() - X.mean()).abs() < 1e-12)
    (True, True)
    """
    if X.shape != normal.shape or X.shape[1] <= X.shape[0]:
        raise ValueError(
            f"X and normal must be (d, N) alike with N > d; their shapes are {tuple(X.shape)} and "
            f"{tuple(normal.shape)}."
        )
    middle = X.mean(1, keepdim=True)
    values, vectors = torch.linalg.eigh((X - middle) @ (X - middle).mT)
    root = (vectors * values.clamp_min(0).sqrt()) @ vectors.mT
    normal = normal - normal.mean(1, keepdim=True)
    white = torch.linalg.solve_triangular(
        torch.linalg.cholesky(normal @ normal.mT), normal, upper=False
    )
    return middle + root @ white


@dataclass(frozen=True)
class Twins(Setting):
    """The same experiment on Gaussian points that have the blobs' first and second moments.

    Examples
    --------
    >>> setting = Setting(decays=(0.3,), spreads=(0.2,))
    >>> X, Z = setting.blobs(0.2), Twins.of(setting).blobs(0.2)
    >>> bool((X @ X.mT - Z @ Z.mT).abs().max() < 1e-9)
    True
    """

    @classmethod
    def of(cls, setting: Setting) -> Twins:
        """The twin of a setting."""
        return cls(**{name: getattr(setting, name) for name in setting.__dataclass_fields__})

    def blobs(self, spread: float) -> Tensor:
        """Points (ambient, N) without clusters."""
        X = super().blobs(spread)
        rng = generator(self.seed, 0, "twins")
        return twin(X, torch.from_numpy(rng.standard_normal(tuple(X.shape))))


def predicted(setting: Setting) -> Tensor:
    """(cells,) how many centred second moments of the data exceed the threshold of four layers.

    Examples
    --------
    >>> predicted(Setting(decays=(0.01, 100.0), spreads=(0.5,))).tolist()
    [12, 0]
    """
    ratio = jump(setting.net.depth)[0]
    counts = []
    for lam, sigma in setting.cells:
        moments = torch.linalg.eigvalsh(torch.cov(setting.blobs(sigma), correction=0))
        counts.append(int((moments > ratio * lam).sum()))
    return torch.tensor(counts)


def next_moment(setting: Setting) -> Tensor:
    """(cells,) the largest centred second moment but K over the threshold: above one it is kept.

    Zero where there are no more than K moments.

    Examples
    --------
    >>> setting = Setting(decays=(0.01, 0.1), spreads=(0.1, 0.5))
    >>> (next_moment(setting) > 1).tolist() == (predicted(setting) > setting.clusters).tolist()
    True
    """
    ratio, K = jump(setting.net.depth)[0], setting.clusters
    found = []
    for lam, sigma in setting.cells:
        moments = torch.linalg.eigvalsh(torch.cov(setting.blobs(sigma), correction=0)).flip(-1)
        found.append(float(moments[K]) / (ratio * lam) if len(moments) > K else 0.0)
    return torch.tensor(found, dtype=torch.float64)


def with_seed(setting: Setting, seed: int) -> Setting:
    """The same setting with other data and another start.

    Examples
    --------
    >>> with_seed(Setting(), 5).seed
    5
    """
    return replace(setting, seed=seed)


def picture(blobs: Grid, control: Grid) -> Figure:
    """The largest tail beyond K of any layer, cell by cell: blobs, and Gaussian points like them.

    Examples
    --------
    >>> from lowdim.collapse.transition import grid
    >>> small = Setting(ambient=6, width=4, bottleneck=4, samples=12, clusters=2,
    ...                 decays=(0.3,), spreads=(0.1, 0.2))
    >>> len(picture(grid(small), grid(Twins.of(small))).axes)
    1
    """
    cells = blobs.setting.cells
    order = sorted(range(len(cells)), key=lambda k: cells[k][1] ** 2 / cells[k][0])
    fig, ax = plots.figure(7.4, 3.4)
    style: dict[str, Any] = {"ms": 6, "ls": "none"}
    for seen, mark, name in ((blobs, "o", "clusters"), (control, "s", "same moments, no clusters")):
        worst = seen.tails.amax(1)[order].clamp_min(1e-33)
        ax.semilogy(range(len(order)), worst, mark, label=name, **style)
    names = [f"λ = {cells[k][0]:g}\nσ = {cells[k][1]:g}" for k in order]
    ax.set_xticks(range(len(order)), names, fontsize=7.5)
    ax.set(ylabel="largest tail beyond $K$ of a layer", xlabel=r"cells, $\sigma^2/\lambda$ rising")
    plots.legend(ax, loc="center left")
    return fig


def draw_threshold(blobs: Grid, control: Grid) -> Figure:
    """The largest tail beyond K against the next moment over the threshold: blobs, and their twins.

    Examples
    --------
    >>> from lowdim.collapse.transition import grid
    >>> small = Setting(ambient=6, width=4, bottleneck=4, samples=12, clusters=2,
    ...                 decays=(0.3,), spreads=(0.1, 0.2))
    >>> len(draw_threshold(grid(small), grid(Twins.of(small))).axes)
    1
    """
    at = next_moment(blobs.setting)
    fig, ax = plots.figure(7.4, 3.6)
    for seen, mark, name in ((blobs, "o", "clusters"), (control, "s", "same moments, no clusters")):
        worst = seen.tails.amax(1).clamp_min(1e-33)
        ax.loglog(at, worst, mark, ms=6, alpha=0.8, label=name)
    ax.axvline(1, color=plots.FAINT, ls="--")
    ratio = jump(blobs.setting.net.depth)[0]
    ax.set(xlabel=rf"next moment after the first $K$, over the threshold ${ratio:.2f}\,\lambda$")
    ax.set(ylabel="largest tail beyond $K$ of a layer")
    plots.legend(ax, loc="lower right")
    return fig
