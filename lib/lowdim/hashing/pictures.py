"""Figures of Part IV that only draw what a chapter measured; each returns what is to be shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from matplotlib.figure import Figure

from lowdim.evidence import plots
from lowdim.hashing import oneshot, prices

__all__ = [
    "distance_histograms", "distance_matrices", "gram_errors", "one_shot_rates", "power_norms",
    "recovery_by_ratio", "recovery_by_width", "vanishing_variance", "widths_and_rotations",
]  # fmt: skip


def distance_histograms(panels: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> Figure:
    """Distances within and between classes as densities, a panel for each representation.

    Examples
    --------
    >>> fig = distance_histograms({"a": (np.ones(4), 2 * np.ones(4)), "b": (np.ones(4),) * 2})
    >>> [ax.get_title() for ax in fig.axes]
    ['a', 'b']
    """
    fig, axes = plots.figure(7.8, 2.9, ncols=len(panels), squeeze=False)
    for ax, (name, (within, between)) in zip(axes[0], panels.items(), strict=True):
        bins = np.linspace(0, between.max(), 60)
        both = {"within": (within, plots.CYCLE[1]), "between": (between, plots.CYCLE[0])}
        for label, (values, colour) in both.items():
            ax.hist(values, bins, density=True, color=colour, alpha=0.65, label=label)
        ax.set(title=name, xlabel="distance", yticks=[])
    axes[0, 0].set_ylabel("density")
    plots.legend(axes[0, 0], loc="upper left", fontsize=8.5)
    return fig


def distance_matrices(panels: Mapping[str, torch.Tensor], *, most: float = 1.5) -> Figure:
    """Matrices (m, m) of distances between manifolds side by side, colours from 0 to ``most``.

    Examples
    --------
    >>> fig = distance_matrices({"inputs": torch.ones(3, 3), "trained": torch.eye(3)})
    >>> [ax.get_title() for ax in fig.axes[:2]]
    ['inputs', 'trained']
    """
    fig, axes = plots.figure(7.6, 3.0, ncols=len(panels), squeeze=False)
    for ax, (name, table) in zip(axes[0], panels.items(), strict=True):
        image = ax.imshow(table, cmap="viridis", vmin=0, vmax=most, interpolation="nearest")
        ends = [0, len(table) - 1]
        ax.set(title=name, xlabel="manifold", xticks=ends, yticks=ends)
    axes[0, 0].set_ylabel("manifold")
    fig.colorbar(image, ax=axes[0], shrink=0.8, pad=0.015, aspect=25)
    return fig


def gram_errors(
    widths: Sequence[int],
    found: Mapping[int, torch.Tensor],
    exact: Mapping[int, float],
    printed: Mapping[int, float],
) -> Figure:
    """Root mean square Gram errors against the width, by number of samples N.

    ``found`` (len(widths), trials) are dots; ``exact``, the total variance, gives the lines;
    ``printed`` is the width that is said to give an error of 1 (crosses).

    Examples
    --------
    >>> fig = gram_errors([10, 100], {4: torch.ones(2, 3)}, {4: 9.0}, {4: 20.0})
    >>> fig.axes[0].get_yscale()
    'log'
    """
    fig, ax = plots.figure(7, 3.6)
    grid = np.geomspace(min(widths), max(widths), 50)
    for index, (N, errors) in enumerate(found.items()):
        colour = plots.CYCLE[index % len(plots.CYCLE)]
        ax.loglog(grid, np.sqrt(exact[N] / grid), color=colour, lw=1.2)
        mean = errors.square().mean(1).sqrt()
        ax.loglog(widths, mean, "o", ms=5, color=colour, label=f"$N={N}$")
        ax.loglog(printed[N], 1.0, "x", ms=9, mew=2, color=colour)
    ax.axhline(1, color=plots.FAINT, ls="--", lw=1)
    ax.set(xlabel="width $D$", ylabel=r"$\|Z^\top Z-K\|_F$")
    plots.legend(ax, ncols=2)
    return fig


def one_shot_rates(rho: float, *, corners: int) -> Figure:
    """Error rates of the one-shot rule: at one ρ against the threshold, and at the best against ρ.

    Bounds are lines, the worst pairs that were built are marks; ``corners`` are the simplex's.

    Examples
    --------
    >>> fig = one_shot_rates(40.0, corners=10)
    >>> [ax.get_xscale() for ax in fig.axes]
    ['log', 'log']
    """
    fig, (left, right) = plots.figure(7.6, 3.6, ncols=2)
    one, other, both, any_rule = plots.CYCLE[:4]
    t = np.geomspace(1.2, rho - 2, 60)
    left.plot(t, np.minimum(1, 2 / t), color=one, label="misses, bound")
    left.plot(t, oneshot.false_hits(rho, t), color=other, label="false hits, bound")
    built = np.geomspace(1.2, 0.9 * (rho - 2), 14)
    misses, hits = oneshot.worst_built(rho, built, corners=corners)
    left.plot(built, misses, "o", ms=4, color=one, label="misses, built")
    left.plot(built, hits, "s", ms=4, color=other, label="false hits, built")
    handles = left.get_lines()
    for x, name in ((2, "paper"), (oneshot.threshold(rho), "t*")):
        left.axvline(x, color=plots.FAINT, ls="--", lw=1)
        left.annotate(name, (x, 1.03), ha="center", fontsize=9, annotation_clip=False)
    left.set(xscale="log", xlabel="threshold t", ylabel="probability", ylim=(0, 1.02))
    left.set_xticks([2, 5, 10, 20], ["2", "5", "10", "20"])
    left.minorticks_off()
    rhos = np.geomspace(4.01, 1000, 80)
    floor = (1 - (1 - 4 / (rhos + 2)) ** 2) / 2
    right.loglog(rhos, oneshot.bound(rhos), color=both, label="each rate, at most")
    right.loglog(rhos, floor, color=any_rule, label="any rule: one rate, at least")
    right.axhline(1 - 1 / corners, color=one, ls="--", label="paper's rule, simplex")
    right.set(xlabel="ρ", ylim=(3e-3, 2))
    plots.legend(right, loc="lower left", fontsize=8.5)
    place: dict[str, Any] = {"loc": "outside lower center", "ncols": 4, "frameon": False}
    fig.legend(handles=handles[:4], fontsize=8.5, **place)
    return fig


def power_norms(found: prices.Powers) -> Figure:
    """Norms of (β·x)^k over k against k: least ones by dimension, their limit, and two bounds.

    Examples
    --------
    >>> fig = power_norms(prices.powers(8, [3]))
    >>> fig.axes[0].get_xlabel()
    'degree $k$'
    """
    fig, ax = plots.figure(7, 3.8)
    k = found.degrees
    for (d, norms), colour in zip(found.least.items(), plots.CYCLE, strict=False):
        ax.loglog(k, norms / k, color=colour, label=f"least norm, $d={d}$")
    ax.loglog(k, found.limit / k, color=plots.CYCLE[4], label="all dimensions")
    ax.loglog(k, prices.PRICE * k**0.25, ":", color=plots.INK, label="our bound")
    ax.axhline(1, ls="--", color=plots.BROKEN, label="Theorem 7")
    ax.set(xlabel="degree $k$", ylabel="norm / $k$", ylim=(0.5, 60))
    plots.legend(ax, ncols=2, loc="upper left")
    return fig


def recovery_by_ratio(
    ratios: Sequence[float], curves: Mapping[str, Mapping[str, Sequence[float]]]
) -> Figure:
    """Recovery distances (len(ratios),) against ‖θ‖/‖γ‖: a panel a family, a curve a decoder.

    ``curves`` are by family, then by the names of :data:`lowdim.hashing.decoding.DECODERS`.

    Examples
    --------
    >>> fig = recovery_by_ratio([0.1, 1.0], {"sine": {"inputs": [0.1, 0.6]}})
    >>> fig.axes[0].get_title()
    'sine'
    """
    marks, colours = ("s--", "^--", "o-", "v:", "D-."), (3, 6, 0, 1, 2)
    fig, axes = plots.figure(7.6, 3.7, ncols=len(curves), sharey=True, squeeze=False)
    for ax, (family, by_name) in zip(axes[0], curves.items(), strict=True):
        for (name, y), mark, colour in zip(by_name.items(), marks, colours, strict=False):
            ax.plot(ratios, y, mark, ms=4.5, color=plots.CYCLE[colour], label=name)
        handles = ax.get_lines()
        ax.axhline(0.5**0.5, color=plots.FAINT, ls="--", lw=1)
        ax.annotate("a constant", (ratios[0], 0.5**0.5), va="bottom", fontsize=9)
        ax.set(xscale="log", title=family, xlabel=r"$\|\theta\|/\|\gamma\|$", ylim=(0, 0.8))
    axes[0, 0].set_ylabel("normalized recovery distance")
    place: dict[str, Any] = {"loc": "outside upper center", "ncols": 3, "frameon": False}
    fig.legend(handles=handles[: len(by_name)], fontsize=9, **place)
    return fig


def recovery_by_width(
    widths: Sequence[int],
    left: Mapping[str, Sequence[float]],
    unseen: Sequence[float],
    *,
    mark: int,
) -> Figure:
    """Shares not recovered against the width T: of targets in training, of γ on new manifolds.

    A line marks the width ``mark``.

    Examples
    --------
    >>> fig = recovery_by_width([1, 2], {"γ": [0.5, 0.0]}, [0.5, 0.1], mark=2)
    >>> fig.axes[1].get_yscale()
    'log'
    """
    fig, (ax, right) = plots.figure(7.6, 3.3, ncols=2)
    for (name, values), style in zip(left.items(), ("o-", "s-", "^-"), strict=False):
        ax.plot(widths, values, style, ms=3, label=name)
    right.semilogy(widths, unseen, "o-", ms=3)
    for each in (ax, right):
        each.axvline(mark, color=plots.FAINT, ls="--", lw=1)
    label = "width T of the representation"
    ax.set(xlabel=label, ylabel="share not recovered, training", ylim=(-0.03, 1.05))
    right.set(xlabel="width T", ylabel="share of γ not explained, unseen")
    plots.legend(ax)
    return fig


def vanishing_variance(epsilons: Sequence[float], curves: Mapping[str, torch.Tensor]) -> Figure:
    """Variances (draws, len(ε)) against falling ε: medians, and bands from smallest to largest.

    ``curves`` are those of :func:`lowdim.hashing.vanishing.curves`.

    Examples
    --------
    >>> names = ("training", "training, labels by lot", "new points", "new manifolds")
    >>> more = ("training, with penalty", "new manifolds, with penalty")
    >>> fig = vanishing_variance([0.1, 0.01], {name: torch.ones(3, 2) for name in names + more})
    >>> fig.axes[0].get_xscale()
    'log'
    """
    style = {
        "training": ("o-", 0),
        "training, labels by lot": ("s--", 1),
        "new points": ("^-", 2),
        "new manifolds": ("v-", 3),
    }
    fig, ax = plots.figure(7.2, 3.8)
    for name, (mark, at) in style.items():
        y, colour = curves[name], plots.CYCLE[at]
        ax.plot(epsilons, y.quantile(0.5, 0), mark, ms=5, color=colour, label=name)
        ax.fill_between(epsilons, y.amin(0), y.amax(0), color=colour, alpha=0.15, lw=0)
    crosses = {
        "training, with penalty": None,
        "new manifolds, with penalty": "with variance penalty",
    }
    for name, label in crosses.items():
        middle = curves[name].quantile(0.5, 0)
        ax.plot(epsilons, middle, "x", ms=8, color=plots.INK, mew=0.9, label=label)
    path = r"$\varepsilon$, with $\lambda_1=\varepsilon/m$, $\lambda_2=\varepsilon/\beta$"
    ax.set(xscale="log", yscale="log", xlabel=path, ylabel="variance $V$ within a class")
    fig.legend(*ax.get_legend_handles_labels(), loc="outside right center", frameon=False)
    return fig


def widths_and_rotations(
    sizes: Sequence[int],
    needed: np.ndarray,
    curves: Mapping[str, np.ndarray],
    rotation: Mapping[str, torch.Tensor],
) -> Figure:
    """Needed widths and rotation errors against the number of samples N.

    ``needed`` (groups, len(sizes)) are measured widths, ``curves`` (len(sizes),) others to compare
    them with, by name; ``rotation`` (layers, len(sizes)) are errors, shown by median and middle
    80 %.

    Examples
    --------
    >>> fig = widths_and_rotations(
    ...     [4, 8], np.ones((2, 2)), {"printed": np.ones(2)}, {"d = 3": torch.ones(5, 2)}
    ... )
    >>> len(fig.axes)
    2
    """
    fig, (left, right) = plots.figure(8, 3.6, ncols=2)
    left.loglog(sizes, needed.T, "o", ms=4, color=plots.CYCLE[0])
    left.loglog(sizes, needed.mean(0), color=plots.CYCLE[0], label="measured")
    for (name, widths), style, colour in zip(curves.items(), ("--", "-"), (1, 2), strict=False):
        left.loglog(sizes, widths, style, color=plots.CYCLE[colour], label=name)
    left.set(xlabel="samples $N$", ylabel="width $D$", ylim=(None, 3e7))
    for (name, errors), shade in zip(rotation.items(), plots.CYCLE, strict=False):
        low, middle, high = np.percentile(errors.numpy(), (10, 50, 90), axis=0)
        right.loglog(sizes, middle, "o-", color=shade, label=name)
        right.fill_between(sizes, low, high, color=shade, alpha=0.2, lw=0)
    right.set(xlabel="samples $N$", ylabel=r"$\min_U\|Z-U\Phi\|_F$")
    for ax in (left, right):
        ax.set_xticks(sizes, [str(N) for N in sizes])
        ax.xaxis.set_minor_formatter(lambda x, _: "")
    right.yaxis.set_minor_formatter(lambda x, _: "")
    plots.legend(left, loc="upper left")
    plots.legend(right)
    return fig
