"""Pictures of linear networks on data with noise; each function returns a figure to show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from lowdim.embedded import flows
from lowdim.embedded.flows import Flow
from lowdim.embedded.linear_training import Approach
from lowdim.embedded.noise import normal_square
from lowdim.embedded.slow import knee
from lowdim.evidence import plots

__all__ = [
    "approaches", "cylinder", "depth_effect", "normal_size", "normal_weights", "passing",
    "portraits", "settling_times", "slow_eigenvalues",
]  # fmt: skip

_PATHS = (plots.CYCLE[0], plots.CYCLE[2], plots.CYCLE[3])  # for trajectories; orange is E


def normal_size(N: np.ndarray, root: np.ndarray, middle: np.ndarray) -> Figure:
    """Size of the normal weights against N (k,): measured, exact law, and its limit.

    ``root`` and ``middle`` (k,) are root mean square and median of σ‖w_y*‖/τ_N, for two signal and
    two noise directions.

    Examples
    --------
    >>> len(normal_size(np.array([4, 8]), np.ones(2), np.ones(2)).axes[0].lines)
    5
    """
    fig, ax = plots.figure(7, 3.3)
    first, second, *_ = plots.CYCLE
    fine = range(6, 301)
    law = [normal_square(n, 2, 2) ** 0.5 for n in fine]
    ax.loglog(fine, law, color=first, label="root mean square, exact law")
    ax.loglog(N[N > 6], root[N > 6], "o", color=first, label="measured")
    ax.loglog(N, middle, "s", color=second, ms=5, label="median, measured")
    ax.loglog(N, np.sqrt(2 / N), "--", color=plots.FAINT, label=r"$\sqrt{d_y/N}$")
    ax.axvline(4, color=plots.INK, lw=1, ls=":")
    ax.annotate("$N=d$", (4.1, middle.min() * 1.2))
    ax.set(xlabel="$N$", ylabel=r"$\sigma\|w_y^*\|/\tau_N$")
    plots.legend(ax)
    return fig


def normal_weights(
    noise: Sequence[float] | np.ndarray,
    sizes: Sequence[int],
    left: np.ndarray,
    right_size: int,
    right: np.ndarray,
    *,
    tau: float,
    factor: float,
) -> Figure:
    """Means of |w_y*| against σ: for several N (left), and for three targets (right).

    ``left`` (len(noise), len(sizes), draws) and ``right`` (draws, 3) at σ = 1, with N =
    ``right_size``. Lines have the predicted level for the residual ``tau``; the first two targets
    on the right have it divided by ``factor``, and coincide: one is drawn as rings.

    Examples
    --------
    >>> fig = normal_weights([1.0, 0.5], [10], np.ones((2, 1, 3)), 10, np.ones((3, 3)),
    ...     tau=1.0, factor=2.0)
    >>> [len(ax.lines) for ax in fig.axes]
    [2, 5]
    """
    noise = np.asarray(noise, float)
    fig, axes = plots.figure(7.8, 3.4, ncols=2)
    for k, N in enumerate(sizes):
        color, label = plots.CYCLE[k], f"$N=10^{{{np.log10(N):.0f}}}$"
        axes[0].loglog(noise, np.abs(left[:, k]).mean(1), "o", color=color, label=label, ms=5)
        axes[0].loglog(noise, tau * np.sqrt(2 / np.pi / N) / noise, color=color, lw=1)
    means = np.abs(right).mean(0)
    for k, (mark, ms) in enumerate((("o", 4), ("o", 9), ("s", 5))):
        color, label = plots.CYCLE[k], f"$g_{k + 1}$"
        face = "none" if k == 1 else color
        axes[1].loglog(noise, means[k] / noise, mark, color=color, ms=ms, mfc=face, label=label)
    for level in (tau, tau / factor):
        predicted = level * np.sqrt(2 / np.pi / right_size) / noise
        axes[1].loglog(noise, predicted, color=plots.FAINT, lw=1)
    axes[0].set(xlabel=r"$\sigma$", ylabel=r"mean of $|w_y^*|$", title="$g_0$")
    axes[1].set(xlabel=r"$\sigma$", title=f"$N={right_size}$")
    for ax in axes:
        plots.legend(ax, fontsize=8.5)
    return fig


def slow_eigenvalues(sigma: np.ndarray, values: Mapping[int, np.ndarray]) -> Figure:
    """Eigenvalues at the minimum against σ for several N: the slow one and, faint, the fast ones.

    ``values`` has (draws, len(sigma), 3) for every N, on the data of
    :func:`lowdim.embedded.slow.sine_moments` at depth 5.

    Examples
    --------
    >>> sigma = np.array([0.5, 0.25])
    >>> len(slow_eigenvalues(sigma, {100: np.ones((4, 2, 3))}).axes[0].lines)
    5
    """
    fig, ax = plots.figure(7, 3.5)
    for color, (N, found) in zip(plots.CYCLE, values.items(), strict=False):
        middle, label = np.median(found, 0), f"$N=10^{{{np.log10(N):.0f}}}$"
        ax.loglog(sigma, middle[:, 0], "o-", color=color, ms=4, label=label)
        ax.loglog(sigma, middle[:, 1:], color=color, lw=0.8, alpha=0.5)
        ax.axvline(knee(N), color=color, lw=1, ls=":")
    limit = r"$\|w_x^*\|^{2-2/L}\sigma^2$"
    ax.loglog(sigma, 18**0.8 * sigma**2, "--", color=plots.INK, lw=1, label=limit)
    ax.set(xlabel=r"$\sigma$", ylabel="size of eigenvalue", xlim=(sigma[-1] / 1.2, 0.6))
    plots.legend(ax, fontsize=8.5)
    return fig


def settling_times(sigma: Sequence[float], times: np.ndarray, predicted: np.ndarray) -> Figure:
    """Times (len(sigma), d) until each component stays close, and the ``predicted`` (len(sigma),).

    Examples
    --------
    >>> len(settling_times([0.4, 0.2], np.ones((2, 3)), np.ones(2)).axes[0].lines)
    4
    """
    fig, ax = plots.figure(7, 3.2)
    for i, mark in zip(range(times.shape[1]), "osD", strict=False):
        label = rf"$[T_\sigma]_{i + 1}$"
        ax.loglog(sigma, times[:, i], mark + "-", color=plots.CYCLE[i], ms=5, label=label)
    label = r"$\log(10^6)/\lambda_1$"
    ax.loglog(sigma, predicted, "--", color=plots.INK, lw=1, label=label)
    ax.set(xlabel=r"$\sigma$", ylabel="time")
    ax.minorticks_off()
    ax.set_xticks(sigma, [f"{s:g}" for s in sigma])
    plots.legend(ax)
    return fig


def passing(t: np.ndarray, w: np.ndarray, *, until: float) -> Figure:
    """A trajectory (k, 2) at times (k,): its two components, and its norm.

    Examples
    --------
    >>> [len(ax.lines) for ax in passing(np.arange(3), np.ones((3, 2)), until=2.0).axes]
    [2, 1]
    """
    fig, axes = plots.figure(7.8, 3.2, ncols=2)
    axes[0].plot(t, w[:, 0], label="$w_x$")
    axes[0].plot(t, w[:, 1], label="$w_y$")
    axes[1].semilogy(t, np.linalg.norm(w, axis=1), color=plots.CYCLE[2], label=r"$\|w\|$")
    for ax in axes:
        ax.set(xlabel="time", xlim=(-10, until))
        plots.legend(ax)
    return fig


def approaches(
    full: Approach, random: Sequence[Approach], *, excess: Sequence[np.ndarray] = ()
) -> Figure:
    """Distances to the minimum against the step: full descent (left), runs of SGD (right).

    ``excess``: what the loss is above its minimum at the same steps, first of full descent.

    Examples
    --------
    >>> one = Approach(np.arange(3), np.ones(3), np.ones(3))
    >>> [len(ax.lines) for ax in approaches(one, [one, one]).axes]
    [2, 4]
    """
    fig, axes = plots.figure(7.8, 3.2, ncols=2, sharey=True)
    axes[0].loglog(np.maximum(full.steps, 10), full.along, label=r"$\|w_x-w_x^*\|$")
    axes[0].loglog(np.maximum(full.steps, 10), full.across, label=r"$\|w_y-w_y^*\|$")
    for run in random:
        axes[1].loglog(np.maximum(run.steps, 10), run.along, color=plots.CYCLE[0], lw=1)
        axes[1].loglog(np.maximum(run.steps, 10), run.across, color=plots.CYCLE[1], lw=1)
    for k, (run, loss) in enumerate(zip([full, *random], excess, strict=False)):
        how = {"color": plots.FAINT, "lw": 1, "label": None if k else "excess loss"}
        axes[min(k, 1)].loglog(np.maximum(run.steps, 10), loss, **how)
    axes[0].set(xlabel="step", title="FGD")
    axes[1].set(xlabel="step", title="SGD")
    plots.legend(axes[0])
    return fig


def portraits(starts: Sequence[Sequence[float]], depths: Sequence[int]) -> Figure:
    """Phase portraits on data along one axis, A = b = 1, with orbits from three ``starts``.

    Shaded: where the normal weight grows. Between the dotted lines: where it has grown in the end.

    Examples
    --------
    >>> fig = portraits(((2.0, 1.0),), (2, 3))
    >>> [ax.get_title() for ax in fig.axes]
    ['$L=2$', '$L=3$']
    """
    fig, axes = plots.figure(7.8, 3.3, ncols=len(depths), sharey=True)
    for ax, L in zip(axes, depths, strict=True):
        _portrait(ax, starts, L)
    axes[0].set_ylabel("$w_y$")
    axes[-1].annotate(r"$\Gamma_0$", (1.06, 1.28), color=plots.BROKEN)
    return fig


def _portrait(ax: Any, starts: Sequence[Sequence[float]], L: int) -> None:
    flow = Flow(np.diag([1.0, 0.0]), np.array([1.0, 0.0]), L)
    x, y = np.linspace(-1.6, 2.4, 41), np.linspace(-1.5, 1.5, 31)
    F = flow.field(np.stack(np.meshgrid(x, y), -1))
    F = F / (np.linalg.norm(F, axis=-1, keepdims=True) + 1e-12)
    ax.axvspan(0, 1, color=plots.CYCLE[5], alpha=0.22, lw=0)
    style = {"color": "#9aa0aa", "density": 0.75, "linewidth": 0.7, "arrowsize": 0.8}
    ax.streamplot(x, y, F[..., 0], F[..., 1], **style)
    marks = np.append(0, np.geomspace(1e-2, 14 * L, 500))
    for start, color in zip(starts, _PATHS, strict=False):
        w = flows.orbits(flow.moments[None], flow.target[None], L, [start], marks)[:, 0]
        ax.plot(*w.T, color=color, lw=2.2)
        ax.plot(*start, "o", color=color, ms=5)
    ax.axvline(1, color=plots.BROKEN, lw=1.6)
    for edge in (-1, 1):
        ax.axvline(edge, color=plots.INK, lw=1.1, ls=":")
    ax.plot(0, 0, "o", mfc="white", mec=plots.INK, ms=5)
    ax.set(title=f"$L={L}$", xlabel="$w_x$", xlim=(-1.6, 2.4), ylim=(-1.5, 1.5))


def depth_effect(starts: Sequence[tuple[float, float]]) -> Figure:
    """‖w_y‖ in the end over its start against depth, from p(0) and q(0), for p* = 1.

    Solid: exact. Dashed: the bound (2.23). Dotted: the limit of infinite depth.

    Examples
    --------
    >>> len(depth_effect([(4.0, 1.0)]).axes[0].lines)
    3
    """
    fig, ax = plots.figure(7, 3.3)
    L = np.geomspace(1, 300, 200)
    for (p, q), color in zip(starts, plots.CYCLE, strict=False):
        exact = flows.normal_limit(p, q, 1.0, L) / q
        upper = 1 + (L - 1) / (L * p + q) * (1 - p)
        ax.loglog(L, np.sqrt(exact), color=color, label=f"$p(0)={p:g}$, $q(0)={q:g}$")
        ax.loglog(L, np.sqrt(upper), "--", color=color, lw=1.3)
        ax.axhline(p**-0.5, color=color, ls=":", lw=1)
    ax.set(xlabel="depth $L$", ylabel=r"$\|w_y^\infty\|\,/\,\|w_y(0)\|$")
    handles = ax.get_legend_handles_labels()
    fig.legend(*handles, loc="outside lower center", ncols=2, frameon=False)
    return fig


def cylinder(ring: np.ndarray, paths: Sequence[np.ndarray]) -> Figure:
    """The regions for A = diag(4, 1), w* = (1, 2): in space (left) and from above (right).

    ``ring`` (k, 2) is the ellipse E_x; ``paths`` are trajectories (marks, 3).

    Examples
    --------
    >>> fig = cylinder(np.ones((4, 2)), [np.ones((3, 3))])
    >>> [ax.name for ax in fig.axes]
    ['3d', 'rectilinear']
    """
    fig, _ = plots.figure(7.8, 3.7)
    fig.clear()
    with mpl.rc_context(plots.STYLE):
        _space(fig.add_subplot(1, 2, 1, projection="3d"), ring, paths)
        _plane(fig.add_subplot(1, 2, 2), ring, paths)
    return fig


def _tangent(first: float, last: float) -> np.ndarray:
    """Two points (2, 2) of the line H, which touches the ellipse at (1, 2)."""
    return np.array([1.0, 2.0]) + np.outer([first, last], [1.0, -2.0])


def _space(ax: Any, ring: np.ndarray, paths: Sequence[np.ndarray]) -> None:
    tops = (0.6, 1.4)
    for sheet, color in ((ring, plots.CYCLE[5]), (_tangent(-0.75, 0.75), plots.CYCLE[4])):
        x, y = (np.outer(np.ones(2), sheet[:, k]) for k in range(2))
        z = np.outer(tops, np.ones(len(sheet)))
        ax.plot_surface(x, y, z, color=color, alpha=0.3, lw=0)
    ax.plot([1, 1], [2, 2], tops, color=plots.BROKEN, lw=2)
    for path, color in zip(paths, _PATHS, strict=False):
        ax.plot(*path.T, color=color, lw=2)
        ax.scatter(*path[0], color=color, s=18)
    ax.set(xlabel="$w_{x,1}$", ylabel="$w_{x,2}$", zlabel="$w_y$", zlim=tops)
    ax.set(xticks=(0, 1, 2), yticks=(0, 2, 4), zticks=(0.8, 1.0, 1.2))
    ax.view_init(24, -62)
    ax.tick_params(labelsize=8)


def _plane(ax: Any, ring: np.ndarray, paths: Sequence[np.ndarray]) -> None:
    ax.fill(*ring.T, color=plots.CYCLE[5], alpha=0.25, lw=0)
    ax.plot(*ring.T, color=plots.CYCLE[5], lw=1.3)
    ax.plot(*_tangent(-0.4, 0.95).T, color=plots.CYCLE[4], lw=1.6)
    angle = np.linspace(0, 2 * np.pi, 400)
    ax.plot(5**0.5 * np.cos(angle), 5**0.5 * np.sin(angle), ":", color=plots.INK, lw=1.1)
    for path, color in zip(paths, _PATHS, strict=False):
        ax.plot(*path[:, :2].T, color=color, lw=2)
        ax.plot(*path[0, :2], "o", color=color, ms=5)
    ax.plot(1, 2, "o", color=plots.BROKEN, ms=6)
    for text, spot in (("$w_x^*$", (1.07, 2.05)), ("$E_x$", (-0.4, 1.5)), ("$H$", (1.72, 0.75))):
        ax.annotate(text, spot)
    ax.set(xlim=(-0.7, 2.5), ylim=(-0.6, 2.7), aspect="equal")
    ax.set(xlabel="$w_{x,1}$", ylabel="$w_{x,2}$")
