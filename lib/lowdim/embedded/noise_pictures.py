"""Pictures of noise as a regularizer; each function returns a figure to show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from lowdim.embedded.noisy_linear import LEVELS, Fitted
from lowdim.embedded.tradeoff import Prices
from lowdim.evidence import plots

__all__ = ["against_noise", "noise_and_size", "trade_off"]


def trade_off(along: Prices, sizes: Sequence[int]) -> Figure:
    """Accuracy lost, stability and their sum along σ for numbers of points that are powers of ten.

    Examples
    --------
    >>> from lowdim.embedded.tradeoff import prices
    >>> len(trade_off(prices([0.1, 0.2, 0.4]), [100, 1000]).axes[0].lines)
    7
    """
    fig, ax = plots.figure(7, 3.2)
    ax.loglog(along.sigmas, along.accuracy, color=plots.FAINT, label="accuracy lost")
    for color, N in zip(plots.CYCLE, sizes, strict=False):
        bought = along.stability(N)
        ax.loglog(along.sigmas, bought, lw=0.9, color=color)
        label = f"sum, $N=10^{round(np.log10(N))}$"
        ax.loglog(along.sigmas, along.accuracy + bought, color=color, label=label)
        ax.plot(*along.best(N), "o", color=color)
    ax.set(xlabel=r"$\sigma$", ylabel="excess error", ylim=(1e-7, 100))
    plots.legend(ax, loc="upper left")
    return fig


def against_noise(runs: Mapping[tuple[int, int], Fitted]) -> Figure:
    """Normal weights of linear networks against σ, a panel for each depth of ``runs`` (L, N).

    Dots: trained, mean over networks; lines: the minimum; dotted: trained without noise.

    Examples
    --------
    >>> from lowdim.embedded.noisy_linear import fitted
    >>> how = {"nets": 2, "epochs": 1, "rate": 0.01, "seed": 0}
    >>> len(against_noise({(L, 60): fitted(L, 60, **how) for L in (2, 3)}).axes)
    2
    """
    depths, sizes = (sorted({key[k] for key in runs}) for k in (0, 1))
    fig, axes = plots.figure(7.6, 3.1, ncols=len(depths), sharey=True, squeeze=False)
    x = np.log2(LEVELS[:-1])
    for ax, depth in zip(axes[0], depths, strict=True):
        for k, N in enumerate((sizes[0], sizes[-1])[: len(sizes)]):
            run, color = runs[depth, N], plots.CYCLE[k]
            got, least = run.sizes.mean(1), run.minimum.norm(dim=-1).mean(1).numpy()
            ax.plot(x, np.log2(got[:-1]), "os"[k], ms=5, color=color, label=f"$N={N}$")
            ax.plot(x, np.log2(least), lw=1, color=color)
            ax.axhline(np.log2(got[-1]), ls=":", lw=1, color=color)
        ax.set(title=f"$L={depth}$", xlabel=r"$\log_2\sigma$")
    axes[0, 0].set_ylabel(r"$\log_2\|w_y\|$")
    plots.legend(axes[0, 0])
    return fig


def _logs(metric: np.ndarray) -> np.ma.MaskedArray:
    """Binary logarithms; what is zero or nan is masked."""
    alive = metric > 0
    return np.ma.array(np.log2(np.where(alive, metric, 1.0)), mask=~alive)


def noise_and_size(
    noises: Sequence[float],
    metric: Mapping[int, np.ndarray],
    sizes: Sequence[int],
    ways: Mapping[int, Mapping[str, np.ndarray]],
) -> Figure:
    """The metric of ReLU networks against σ (left) and against N (right), by depth.

    ``metric``: (noises, nets), the last of the noises being zero; ``ways``: (sizes, nets) by what
    was kept fixed, up to three of them. Mean over networks, on the left with their range; one that
    died or diverged (a metric of zero, or nan) is left out there.

    Examples
    --------
    >>> S = np.ones((3, 2))
    >>> fig = noise_and_size([1.0, 0.5, 0.0], {2: S}, [10, 20, 40], {2: {"epochs": S}})
    >>> [len(ax.lines) for ax in fig.axes]
    [3, 1]
    """
    fig, (ax, right) = plots.figure(7.6, 3.5, ncols=2)
    x = np.log2(noises[:-1])
    for color, depth in zip(plots.CYCLE, metric, strict=False):
        every = _logs(metric[depth])
        logs = every[:-1]
        ax.plot(x, logs.mean(1), "o-", ms=4, color=color, label=f"$L={depth}$")
        ax.fill_between(x, logs.min(1), logs.max(1), color=color, alpha=0.15, lw=0)
        if every[-1].count():
            ax.axhline(every[-1].mean(), ls=":", lw=1, color=color)
        for (way, S), style in zip(ways[depth].items(), ("o-", "s--", "^:"), strict=False):
            label = f"$L={depth}$, {way}"
            right.plot(np.log2(sizes), _logs(S).mean(1), style, ms=4, color=color, label=label)
    low = min((_logs(S).min() for S in metric.values() if _logs(S).count()), default=0.0)
    ax.plot(x[:3], low - 0.3 - 2 * x[:3], "--", lw=1, color=plots.FAINT)
    ax.set(xlabel=r"$\log_2\sigma$", ylabel=r"$\log_2 S$")
    right.set(xlabel=r"$\log_2N$", ylabel=r"$\log_2 S$")
    plots.legend(ax)
    plots.legend(right, fontsize=8)
    return fig
