"""Circles as manifolds: k = 2 directions of θ, names γ on a circle of their own, points in R⁴."""

from __future__ import annotations

import numpy as np
import torch
from matplotlib.figure import Figure
from torch import Tensor

from lowdim.evidence import plots
from lowdim.hashing import invariance
from lowdim.seeds import generator

__all__ = ["follow", "followed", "polygons", "samples", "swing", "trained_variance"]


def _on_circle(angles: np.ndarray) -> np.ndarray:
    """Points (..., 2) of the unit circle."""
    return np.stack([np.cos(angles), np.sin(angles)], -1)


def polygons(n: int, m: int, g: float, *, turn: float) -> Tensor:
    """The n corners of a regular polygon on each of m circles, (m, n, 4): orbits of a group.

    Names have length ``g``, points length one; ``turn`` is the angle of the first corner.

    Examples
    --------
    >>> X = polygons(5, 3, 0.6, turn=0.1)
    >>> tuple(X.shape), bool((X.norm(dim=-1) - 1).abs().max() < 1e-12)
    ((3, 5, 4), True)
    """
    ring = np.sqrt(1 - g * g) * _on_circle(2 * np.pi * np.arange(n) / n + turn)
    names = g * _on_circle(2 * np.pi * np.arange(m) / m)
    pair = np.repeat(names[:, None], n, 1), np.broadcast_to(ring, (m, n, 2))
    return torch.from_numpy(np.concatenate(pair, 2))


def trained_variance(n: int, *, m: int = 3, g: float = 0.6, turn: float = 0.1) -> float:
    """V on the corners of :func:`polygons` after training on them.

    Examples
    --------
    >>> trained_variance(4) < 1e-14
    True
    """
    X = polygons(n, m, g, turn=turn)
    labels = torch.arange(m).repeat_interleave(n)
    return invariance.fit_wide(X.flatten(0, 1).mT, labels, 0.01, 0.004).distances(X)[0]


def samples(*, seed: int) -> dict[str, np.ndarray]:
    """Angles (3, 5) of five samples on each of three circles, drawn in three ways.

    Examples
    --------
    >>> [angles.shape for angles in samples(seed=0).values()]
    [(3, 5), (3, 5), (3, 5)]
    """
    rng = generator(seed, 0, "picture")
    corners = 2 * np.pi * np.arange(5) / 5
    return {
        "regular polygons": np.stack([corners + turn for turn in (0.2, 0.9, 1.4)]),
        "five at random": rng.uniform(0, 2 * np.pi, (3, 5)),
        r"$\theta$ tied to $\gamma$": np.stack(
            [rng.normal(2 * np.pi * circle / 3 + 0.5, 0.45, 5) for circle in range(3)]
        ),
    }


def follow(angles: np.ndarray, *, steps: int = 121) -> tuple[np.ndarray, np.ndarray]:
    """Train on circles sampled at ``angles`` (m, n) and follow the representation around each.

    Its coordinate in the direction that tells circles apart, (m, steps) at equal angles from 0 to
    2π, and (m, n) at the samples.

    Examples
    --------
    >>> lines, marks = follow(samples(seed=0)["regular polygons"], steps=16)
    >>> lines.shape, marks.shape
    ((3, 16), (3, 5))
    """
    m, n = angles.shape
    names = 0.6 * _on_circle(2 * np.pi * np.arange(m) / m)

    def lifted(at: np.ndarray) -> Tensor:
        ring = 0.8 * _on_circle(at)
        return torch.from_numpy(
            np.concatenate([np.repeat(names[:, None], at.shape[1], 1), ring], 2)
        )

    X = lifted(angles)
    columns, labels = X.reshape(m * n, -1).mT, torch.arange(m).repeat_interleave(n)
    fit = invariance.fit_wide(columns, labels, 0.02, 0.004)
    R = fit(lifted(np.tile(np.linspace(0, 2 * np.pi, steps), (m, 1))))
    centre = R.mean((0, 1))
    axis = torch.linalg.svd(R.mean(1) - centre)[2][0]
    return ((R - centre) @ axis).numpy(), ((fit(X) - centre) @ axis).numpy()


def swing(lines: np.ndarray) -> float:
    """The mean range of lines (m, steps), over that of their means.

    Examples
    --------
    >>> swing(np.array([[0.0, 1.0], [4.0, 5.0]]))
    0.25
    """
    return float(np.ptp(lines, axis=1).mean() / np.ptp(lines.mean(1)))


def followed(panels: dict[str, np.ndarray]) -> tuple[Figure, list[float]]:
    """A picture of :func:`follow` for each set of angles (m, n), and the :func:`swing` in each.

    Examples
    --------
    >>> fig, swings = followed({"a square": np.tile(np.arange(4) * np.pi / 2, (3, 1))})
    >>> fig.axes[0].get_title(), swings[0] < 0.5
    ('a square', True)
    """
    fig, axes = plots.figure(8.0, 2.9, ncols=len(panels), sharey=True, squeeze=False)
    swings = []
    for ax, (name, angles) in zip(axes[0], panels.items(), strict=True):
        lines, marks = follow(angles)
        swings.append(swing(lines))
        around = np.linspace(0, 2 * np.pi, lines.shape[1])
        for circle, colour in enumerate(plots.CYCLE[: len(lines)]):
            ax.plot(around, lines[circle], color=colour)
            at = np.mod(angles[circle], 2 * np.pi)
            ax.plot(at, marks[circle], "o", ms=5, color=colour)
        ax.set(title=name, xlabel=r"angle of $\theta$", xticks=(0, np.pi, 2 * np.pi))
        ax.set_xticklabels(["0", r"$\pi$", r"$2\pi$"])
    axes[0, 0].set_ylabel("$r$, main direction")
    return fig, swings
