r"""Tanh autoencoders on Gaussian blobs at stationary points, over weight decays and spreads.

The experiment of Part II's Figure 1 in small: the same blobs at every spread σ, the same start at
every weight decay λ, one stationary point for each cell of the grid. What is measured there are the
layers' distances from rank K, and what several bounds on it allow. Cells are pairs (λ, σ), λ first
in order; results by layer and cell are (L, cells).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from lowdim.collapse import gradients, stationary
from lowdim.evidence import plots
from lowdim.linalg import ranks
from lowdim.nets import networks, training
from lowdim.seeds import generator

__all__ = ["Grid", "Setting", "beyond", "draw_bounds", "draw_tails", "grid"]

CONVERGED = 1e-6  # a norm of the gradient that counts as zero
FLOOR = 1e-12  # distances below are drawn there


@dataclass(frozen=True)
class Setting:
    """An autoencoder ambient-width-bottleneck-width-ambient, ``samples`` points in ``clusters``.

    decays, spreads: the grid; steps, newton, goal: how a stationary point is sought, as in
    :func:`lowdim.collapse.stationary.find`.
    """

    ambient: int = 12
    width: int = 8
    bottleneck: int = 6
    samples: int = 60
    clusters: int = 3
    decays: tuple[float, ...] = (0.01, 0.03, 0.1, 0.3)
    spreads: tuple[float, ...] = (0.1, 0.2, 0.4, 0.8)
    steps: int = 300
    newton: int = 60
    goal: float = 1e-11
    seed: int = 0

    @property
    def net(self) -> networks.Dense:
        """The autoencoder, linear in its last layer."""
        return networks.autoencoder(self.ambient, self.width, self.bottleneck, activation="tanh")

    @property
    def start(self) -> networks.Weights:
        """The weights from which every cell begins."""
        return self.net.init(trials=1, seed=self.seed, kind="xavier", dtype=torch.float64)

    @property
    def labels(self) -> np.ndarray:
        """(N,) the blob of each point."""
        return np.arange(self.samples) % self.clusters

    @property
    def cells(self) -> list[tuple[float, float]]:
        """All pairs (λ, σ)."""
        return [(lam, sigma) for lam in self.decays for sigma in self.spreads]

    @property
    def shape(self) -> tuple[int, int]:
        """Rows (λ) and columns (σ) of the grid."""
        return len(self.decays), len(self.spreads)

    def blobs(self, spread: float) -> Tensor:
        """Points (ambient, N): normal centres, and ``spread`` times the same normal noise.

        Examples
        --------
        >>> X = Setting().blobs(0.0)
        >>> X.shape, len(torch.unique(X, dim=1).mT)
        (torch.Size([12, 60]), 3)
        """
        rng = generator(self.seed, 0, "blobs")
        centres = torch.from_numpy(rng.standard_normal((self.ambient, self.clusters)))
        noise = torch.from_numpy(rng.standard_normal((self.ambient, self.samples)))
        return centres[:, self.labels] + spread * noise


@dataclass(frozen=True)
class Grid:
    """Stationary points of all cells, and what is measured at them when it is asked for.

    X: (cells, d, N); lam: (cells,); weights, gradients: as in ``networks``, the cells as trials,
    the gradients with the penalty's share; gradient_norm: (cells,).
    """

    setting: Setting
    X: Tensor
    lam: Tensor
    weights: networks.Weights
    gradients: networks.Weights
    gradient_norm: Tensor

    @property
    def depth(self) -> int:
        """L, the number of layers."""
        return self.setting.net.depth

    @property
    def converged(self) -> Tensor:
        """(cells,) whether the gradient is below 1e-6."""
        return self.gradient_norm < CONVERGED

    @cached_property
    def hidden(self) -> list[Tensor]:
        """The points that leave layer 0 (the data), 1, ..., L, each (cells, width, N)."""
        return [self.X, *self.setting.net.forward(self.weights, self.X)[1]]

    @cached_property
    def factors(self) -> list[tuple[Tensor, Tensor]]:
        """For every layer the pair delta, inputs of its gradient."""
        return gradients.factors(self.setting.net, self.weights, self.X)

    @cached_property
    def data_gradients(self) -> list[Tensor]:
        """For every layer the gradient (cells, out, in) of the loss without the penalty."""
        return [D @ Z.mT / self.setting.samples for D, Z in self.factors]

    @cached_property
    def size(self) -> Tensor:
        """(L, cells) norms of the layers."""
        return torch.stack([W.norm(dim=(1, 2)) for W, _ in self.weights])

    @cached_property
    def distance(self) -> Tensor:
        """(L, cells) distances of the layers from rank K."""
        return torch.stack([self._beyond(W) for W, _ in self.weights])

    @cached_property
    def gradient_distance(self) -> Tensor:
        """(L, cells) distances of the data's gradients from rank K."""
        return torch.stack([self._beyond(G) for G in self.data_gradients])

    @cached_property
    def tails(self) -> Tensor:
        """(cells, L) relative squared tails beyond K; zero for a layer that is zero or narrower."""
        return torch.stack([beyond(W, self.setting.clusters) for W, _ in self.weights], -1)

    @cached_property
    def share(self) -> Tensor:
        """(L, cells) what the gradient that is left may add to a distance, ‖g‖/2λ."""
        return torch.stack([g.norm(dim=(1, 2)) / (2 * self.lam) for g, _ in self.gradients])

    @cached_property
    def within(self) -> Tensor:
        """(L, cells) norms of the covariances S within the blobs, of delta and inputs."""
        found = [ranks.within_covariance(D, Z, self.setting.labels) for D, Z in self.factors]
        return torch.stack([S.norm(dim=(1, 2)) for S in found])

    @cached_property
    def covariance(self) -> Tensor:
        """(L, cells) the covariance bound on the distance, √(WCSS(δ) WCSS(z))/2λ."""
        labels = self.setting.labels
        found = [(ranks.wcss(D, labels) * ranks.wcss(Z, labels)).sqrt() for D, Z in self.factors]
        return torch.stack(found) / (2 * self.lam)

    @cached_property
    def wcss(self) -> Tensor:
        """(L, cells) WCSS of the pairs (z, x), for z entering each layer."""
        labels = self.setting.labels
        joint = [ranks.joint(self.hidden[j], self.X) for j in range(self.depth)]
        return torch.stack([ranks.wcss(points, labels) for points in joint])

    @cached_property
    def variation(self) -> tuple[Tensor, Tensor]:
        """TCV of the same pairs from above (k-means, begun at the labels too) and from below."""
        how: dict[str, Any] = {"method": "kmeans", "labels": self.setting.labels, "restarts": 3}
        found = [
            [
                ranks.variation(points, self.setting.clusters, **how)
                for points in ranks.joint(self.hidden[j], self.X)
            ]
            for j in range(self.depth)
        ]
        high, low = (
            torch.tensor([[getattr(v, name) for v in row] for row in found], dtype=torch.float64)
            for name in ("value", "floor")
        )
        return high, low

    @cached_property
    def searched(self) -> dict[tuple[int, int], Tensor]:
        """(cells,) for each l and j < l: M on the hull of all pairs, from below."""
        return self._bends(gradients.largest_bend, starts=4, steps=6)

    @cached_property
    def certified(self) -> dict[tuple[int, int], Tensor]:
        """(cells,) for each l and j < l: M on the hull of all pairs, from above."""
        return self._bends(gradients.certified_bend)

    @cached_property
    def certified_on_blobs(self) -> dict[tuple[int, int], Tensor]:
        """(cells,) for each l and j < l: M on the hulls of the blobs, from above."""
        return self._bends(gradients.certified_bend, labels=self.setting.labels)

    @cached_property
    def printed_low(self) -> Tensor:
        """(L - 1, cells) the printed bound for layers 2 to L from below: least M TCV/λ, j ≥ 1."""
        return self._least(self.searched, self.variation[1]) / self.lam

    @cached_property
    def printed_high(self) -> Tensor:
        """(L - 1, cells) the printed bound for layers 2 to L from above."""
        return self._least(self.certified, self.variation[0]) / self.lam

    @cached_property
    def smooth(self) -> Tensor:
        """(L, cells) the repaired bound: least M WCSS/4λ, j ≥ 0, M certified on the blobs."""
        return self._least(self.certified_on_blobs, self.wcss, first=0) / (4 * self.lam)

    @cached_property
    def change(self) -> Tensor:
        """(L - 1, cells) change of the gradient of layers 2 to L at centroids of their inputs."""
        found = []
        for layer in range(2, self.depth + 1):
            pair = (self.hidden[layer - 1], self.X)
            centres = [ranks.spread_centroids(A, self.setting.labels) for A in pair]
            at: dict[str, Any] = {"layer": layer, "start": layer - 1}
            each = gradients.sample_gradients(self.setting.net, self.weights, *centres, **at)
            found.append((self.data_gradients[layer - 1] - each.mean(1)).norm(dim=(1, 2)))
        return torch.stack(found)

    def relative(self) -> tuple[Tensor, dict[str, Tensor]]:
        """Distances of layers 2 to L, and three bounds on them, relative to the layer; flat.

        Distances below 1e-12 are set to that.
        """
        size = self.size[1:].clamp_min(1e-300)  # a layer may be zero
        bounds = {
            "printed theorem": self.printed_low,
            "repaired, certified": self.smooth[1:],
            "covariance bound": self.covariance[1:],
        }
        far = (self.distance[1:] / size).clamp_min(FLOOR).flatten()
        return far, {name: (bound / size).flatten() for name, bound in bounds.items()}

    def _beyond(self, matrices: Tensor) -> Tensor:
        return ranks.rank_distance(matrices, self.setting.clusters)

    def _bends(self, bend: Callable[..., Tensor], **how: Any) -> dict[tuple[int, int], Tensor]:
        return {
            (layer, j): bend(
                self.setting.net, self.weights, self.hidden[j], self.X, layer=layer, start=j, **how
            )
            for layer in range(1, self.depth + 1)
            for j in range(layer)
        }

    def _least(self, bends: dict, spreads: Tensor, *, first: int = 1) -> Tensor:
        """The least product over first ≤ j < l, for every layer that has such j."""
        return torch.stack(
            [
                torch.stack([bends[layer, j] * spreads[j] for j in range(first, layer)]).amin(0)
                for layer in range(first + 1, self.depth + 1)
            ]
        )


@cache
def grid(setting: Setting) -> Grid:
    """The stationary points of all cells; one grid is made once, however often it is asked for.

    Examples
    --------
    >>> small = grid(Setting(ambient=6, width=4, bottleneck=4, samples=12, clusters=2,
    ...                      decays=(0.3,), spreads=(0.1, 0.2)))
    >>> small.distance.shape, bool(small.converged.all())
    (torch.Size([4, 2]), True)
    """
    net, start = setting.net, setting.start

    def objective(lam: float, sigma: float) -> training.Objective:
        return training.Objective(net, setting.blobs(sigma), normalization="sample", penalty=lam)

    how: dict[str, Any] = {"goal": setting.goal, "steps": setting.steps, "newton": setting.newton}
    reached = [stationary.find(objective(lam, sigma), start, **how) for lam, sigma in setting.cells]

    def all_of(of: str, k: int, m: int) -> Tensor:
        return torch.cat([getattr(point, of)[k][m] for point in reached])

    def joined(of: str) -> networks.Weights:
        return [(all_of(of, k, 0), all_of(of, k, 1)) for k in range(net.depth)]

    return Grid(
        setting,
        X=torch.stack([setting.blobs(sigma) for _, sigma in setting.cells]),
        lam=torch.tensor([lam for lam, _ in setting.cells], dtype=torch.float64),
        weights=joined("weights"),
        gradients=joined("gradients"),
        gradient_norm=torch.cat([point.gradient_norm for point in reached]),
    )


def beyond(W: Tensor, K: int) -> Tensor:
    """(...,) the relative squared tail beyond K of matrices (..., m, n), zero if there is none.

    Examples
    --------
    >>> beyond(torch.eye(4), 3).item(), beyond(torch.eye(2), 3).item(), beyond(0 * torch.eye(4), 3)
    (0.25, 0.0, tensor(0.))
    """
    tails = ranks.tails(W).nan_to_num(0.0)
    return tails[..., min(K, tails.shape[-1] - 1)]


def _heat(ax: Axes, setting: Setting, image: np.ndarray, **colours: Any) -> None:
    ax.imshow(image, origin="lower", aspect="auto", **colours)
    ax.set_xticks(range(setting.shape[1]), [f"{sigma:g}" for sigma in setting.spreads])
    ax.set_yticks(range(setting.shape[0]), [f"{lam:g}" for lam in setting.decays])


def _write(ax: Axes, at: tuple[int, int], text: str, colour: str) -> None:
    ax.text(at[1], at[0], text, ha="center", va="center", fontsize=8, color=colour)


def draw_bounds(seen: Grid) -> Figure:
    """Heat maps of bound over norm, layers 2 to L: the printed theorem and the covariance bound.

    Examples
    --------
    >>> small = grid(Setting(ambient=6, width=4, bottleneck=4, samples=12, clusters=2,
    ...                      decays=(0.3,), spreads=(0.1, 0.2)))
    >>> len(draw_bounds(small).axes)
    6
    """
    columns = seen.depth - 1
    fig, axes = plots.figure(7.6, 4.6, nrows=2, ncols=columns, sharex=True, sharey=True)
    for row, bound in enumerate((seen.printed_low, seen.covariance[1:])):
        images = (bound / seen.size[1:]).log10().reshape(columns, *seen.setting.shape).numpy()
        for ax, image in zip(axes[row], images, strict=True):
            _heat(ax, seen.setting, image, cmap="RdBu_r", vmin=-4, vmax=4)
            for at, value in np.ndenumerate(image):
                _write(ax, at, f"{value:.1f}", "white" if abs(value) > 2.6 else plots.INK)
    for column in range(columns):
        axes[0, column].set_title(f"layer {column + 2}", fontsize=10)
        axes[1, column].set_xlabel("σ")
    axes[0, 0].set_ylabel("printed: λ")
    axes[1, 0].set_ylabel("covariance: λ")
    return fig


def draw_tails(seen: Grid) -> Figure:
    """Heat maps of the tail beyond K, one for each layer; a cross where a cell did not converge.

    Examples
    --------
    >>> small = grid(Setting(ambient=6, width=4, bottleneck=4, samples=12, clusters=2,
    ...                      decays=(0.3,), spreads=(0.1, 0.2)))
    >>> len(draw_tails(small).axes)
    4
    """
    good = seen.converged.reshape(seen.setting.shape)
    fig, axes = plots.figure(7.8, 2.9, ncols=seen.depth, sharey=True)
    for layer, ax in enumerate(axes):
        logs = seen.tails[:, layer].clamp_min(1e-30).log10()
        image = logs.reshape(seen.setting.shape).numpy()
        _heat(ax, seen.setting, image, cmap="viridis", vmin=-6, vmax=0)
        for at, value in np.ndenumerate(image):
            text = f"{value:.0f}" if value < -1 else f"{value:.1f}"
            _write(ax, at, text if good[at] else "×", "white" if value < -2 else "black")
        ax.set_title(f"layer {layer + 1}", fontsize=10)
        ax.set_xlabel("σ")
    axes[0].set_ylabel("λ")
    return fig
