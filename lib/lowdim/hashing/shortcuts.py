r"""A network that may read the name γ or a shortcut θ: which of them it reads, and from when on.

Four places on the circle, :math:`\gamma'=\pm g` and :math:`\theta'=\pm\sqrt{1-g^2}`, where θ' has
the sign of γ' with probability p (:func:`lowdim.hashing.minima.two_manifolds`). Reading γ' costs a
norm of order 1/g, reading θ' one of order 1. With q = p(1-p) the limits for g → 0 are closed forms.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

from lowdim.evidence import plots
from lowdim.hashing import factored, kernels, minima

__all__ = ["Shortcut", "drawn", "learnt", "limit"]


class Shortcut(NamedTuple):
    """What is read: outputs c along γ' and d along θ', the sine of the angle to θ', and V(r)."""

    core: float
    spurious: float
    sine: float
    variance: float

    @property
    def misread(self) -> bool:
        """Whether samples where θ' has the other sign are given the wrong name."""
        return self.core < self.spurious


def learnt(g: float, level: float, *, many: int = 18, copies: int = 20) -> Shortcut:
    """The minimum with p = many/copies and ε = ``level`` · p(1-p).

    Examples
    --------
    >>> found = learnt(0.01, 2.0)
    >>> round(found.sine, 2), found.misread
    (0.51, True)
    """
    fit = minima.two_manifolds(g, many=many, copies=copies, level=level)
    R = fit.C @ kernels.gram(fit.X)
    gap = (fit.A @ R)[0] - (fit.A @ R)[1]
    core, spurious = float(gap[0] + gap[many]) / 2, float(gap[0] - gap[many]) / 2
    along = np.array([core / g, spurious / (1 - g * g) ** 0.5])
    variance = float(factored.within_variance(R, fit.labels))
    return Shortcut(core, spurious, float(along[0] / np.linalg.norm(along)), variance)


def limit(p: float, epsilon: float) -> Shortcut:
    """The limits for g → 0; for ε > p(1-p) the last entry is that of g·V(r).

    Raises
    ------
    ValueError
        If ε is p(1-p), where V grows more slowly than 1/g.

    Examples
    --------
    >>> found = limit(0.75, 0.375)  # ε = 2p(1-p)
    >>> found.core, found.spurious, found.sine, round(found.variance, 4)
    (0.0, 0.5, 0.5, 0.0812)
    """
    q = p * (1 - p)
    if epsilon == q:
        raise ValueError(f"epsilon must not be p(1-p); you gave p = {p}, epsilon = {epsilon}.")
    core = max(0.0, 1 - epsilon / q)
    spurious = (2 * p - 1) * (1 - core)
    if epsilon < q:
        return Shortcut(core, spurious, 1.0, q * spurious**2 / core)
    sine = q / epsilon
    return Shortcut(core, spurious, sine, q * spurious * (1 - sine**2) ** 0.5)


def drawn(gaps: Sequence[float], *, many: int = 18, copies: int = 20) -> Figure:
    """The sine of the angle to θ', and the outputs on the minority, against ε/p(1-p).

    Examples
    --------
    >>> fig = drawn([0.1])
    >>> len(fig.axes)
    2
    """
    p = many / copies
    q = p * (1 - p)
    fig, (left, right) = plots.figure(7.8, 3.1, ncols=2)
    grid = np.setdiff1d(np.geomspace(0.2, 6, 200), [1.0])
    exact = [limit(p, x * q) for x in grid]
    left.semilogx(grid, [found.sine for found in exact], color=plots.INK, label=r"$g\to0$")
    right.semilogx(grid, [f.core - f.spurious for f in exact], color=plots.INK)
    for g, colour in zip(gaps, plots.CYCLE, strict=False):
        at = np.geomspace(0.25, 5, 9)
        found = [learnt(g, x, many=many, copies=copies) for x in at]
        left.semilogx(at, [f.sine for f in found], "o", ms=4, color=colour, label=f"$g={g:g}$")
        right.semilogx(at, [f.core - f.spurious for f in found], "o", ms=4, color=colour)
    right.axhline(0, color=plots.FAINT, lw=0.8)
    right.axvline(1 / (2 * p), color=plots.FAINT, lw=0.8, ls=":")
    left.set(xlabel=r"$\varepsilon/p(1-p)$", ylabel=r"$\sin\varphi$", ylim=(0, 1.05))
    right.set(xlabel=r"$\varepsilon/p(1-p)$", ylabel="margin of the minority")
    plots.legend(left)
    return fig
