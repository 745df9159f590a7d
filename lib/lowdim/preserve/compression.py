r"""What a linear map that does not know the noise does to four planes seen through it.

Gaussian entries, random orthonormal rows, or orthonormal rows that start with the signal's span.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from matplotlib.figure import Figure
from torch import Tensor

from lowdim.data import unions
from lowdim.evidence import plots
from lowdim.linalg import clusters, subspaces
from lowdim.preserve import maps

__all__ = ["KINDS", "POINTS", "RANK", "Seen", "compressed", "drawing", "rows_of"]

KINDS = ("aligned rows", "orthonormal rows", "Gaussian W")
PLANES, SIZE = 4, 20
RANK, POINTS = 2 * PLANES, PLANES * SIZE


@dataclass(frozen=True)
class Seen:
    """Means over draws of clustering accuracy and of the normalized distance from P(X*).

    relative: ‖WZ‖/σ_r(WX*) over ‖Z‖/σ_r(X*), median over draws.
    """

    accuracy: float
    distance: float
    relative: float = 1.0


def rows_of(kind: str, D: unions.UnionOfSubspaces, h: int, rng: np.random.Generator) -> Tensor:
    """Maps (T, h, m) of one of the three kinds for the draws of ``D``.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> D = maps.union(2, rng, ambient=9, dims=(1, 1), sizes=(3, 3))
    >>> W = rows_of("aligned rows", D, 4, rng)
    >>> torch.allclose(W.mT @ (W @ D.clean), D.clean)
    True
    """
    G = torch.from_numpy(rng.standard_normal((len(D.clean), D.clean.shape[-2], h)))
    if kind == "Gaussian W":
        return G.mT / h**0.5
    if kind == "aligned rows":
        G = torch.cat([D.bases, G], 2)[..., :h]
    return torch.linalg.qr(G).Q.mT


def compressed(
    noise: float, widths: Sequence[int], *, ambient: int, draws: int, seed: int
) -> dict[tuple[str, int], Seen]:
    """What is seen after each kind of map at each width; under ``("no map", ambient)`` before it.

    Four planes with 20 points each in R^ambient, noise of the given variance.

    Examples
    --------
    >>> seen = compressed(0.003, [8], ambient=30, draws=1, seed=0)
    >>> seen["aligned rows", 8].distance < seen["no map", 30].distance
    True
    """
    rng = np.random.default_rng(abs(seed) + 4)
    shape = {"dims": (2,) * PLANES, "sizes": (SIZE,) * PLANES, "ambient": ambient}
    D = maps.union(draws, rng, noise=noise, **shape)
    truth = subspaces.principal_rows(D.clean, RANK)
    before = _ratio(D.clean, D.noise)

    def look(A: Tensor, relative: float = 1.0) -> Seen:
        V = subspaces.principal_rows(A, RANK)
        found = clusters.accuracy(clusters.spectral(V, PLANES, seed=0), D.labels)
        distance = (subspaces.distance(truth, V) / (2 * RANK) ** 0.5).mean()
        return Seen(float(found.mean()), distance.item(), relative)

    seen = {("no map", ambient): look(D.noisy)}
    for kind in KINDS:
        for h in widths:
            W = rows_of(kind, D, h, rng)
            relative = (_ratio(W @ D.clean, W @ D.noise) / before).median().item()
            seen[kind, h] = look(W @ D.noisy, relative)
    return seen


def _ratio(clean: Tensor, noise: Tensor) -> Tensor:
    return subspaces.spectral_norm(noise) / subspaces.singular_values(clean)[:, RANK - 1]


def drawing(seen: Mapping[float, Mapping[tuple[str, int], Seen]], widths: Sequence[int]) -> Figure:
    """Accuracy and distance against h, a column for each level of noise.

    Examples
    --------
    >>> at = {0.01: compressed(0.01, [8, 12], ambient=30, draws=1, seed=0)}
    >>> len(drawing(at, [8, 12]).axes)
    2
    """
    fig, axes = plots.figure(
        7.6, 4.9, nrows=2, ncols=len(seen), sharex=True, sharey="row", squeeze=False
    )
    for column, (level, at) in enumerate(seen.items()):
        for ax, name in zip(axes[:, column], ("accuracy", "distance"), strict=True):
            for kind, style in zip(KINDS, ("o-", "s-.", "^:"), strict=True):
                curve = [getattr(at[kind, h], name) for h in widths]
                ax.plot(widths, curve, style, ms=4, label=kind)
            before = next(found for (kind, _), found in at.items() if kind == "no map")
            ax.axhline(getattr(before, name), color=plots.INK, ls="--", lw=1.1, label="no map")
            ax.set_xscale("log")
            ax.set_xticks([8, 20, 56], ["8", "20", "56"])
            ax.minorticks_off()
        axes[0, column].set_title(f"$s^2={level:g}$", fontsize=10)
        axes[1, column].set_xlabel("$h$")
    axes[0, 0].set_ylabel("accuracy")
    axes[1, 0].set_ylabel("distance")
    plots.legend(axes[1, 0], loc="upper right", fontsize=8.5)
    return fig
