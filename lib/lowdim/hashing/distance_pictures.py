"""A picture of distances between classes against the loss, beside what must hold."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from lowdim.evidence import plots
from lowdim.hashing import answers, minima, vanishing

__all__ = ["drawn", "papers", "sharp"]


def sharp(loss: np.ndarray, m: int) -> np.ndarray:
    """The least mean squared distance of class means, times ‖A‖²/m, at a loss of at most ¼.

    Examples
    --------
    >>> sharp(np.array([0.0, 0.25]), 2).tolist()
    [1.0, 0.0]
    """
    return 2 * (m - 1) / m * (1 - 2 * np.sqrt(loss)).clip(0) ** 2


def papers(loss: np.ndarray) -> np.ndarray:
    """The same with the constants of the paper's proof.

    Examples
    --------
    >>> papers(np.array([0.0, 1 / 160])).tolist()
    [0.08, 0.0]
    """
    return 0.08 * (1 - 4 * np.sqrt(10 * loss)).clip(0)


def drawn(*, seed: int, m: int = 5) -> tuple[Figure, float]:
    """Trained networks and simplices against the loss; how near to the sharp bound they come.

    Examples
    --------
    >>> fig, nearest = drawn(seed=0, m=3)
    >>> nearest >= 1
    True
    """
    levels = (0.3, 0.1, 0.03, 0.01, 0.003, 0.001)
    data = vanishing.Data(m, 6, 3, 3, 0.5, seed)
    fits = [vanishing.minimum(data, trial, level)[1] for trial in range(2) for level in levels]
    q = minima.measured(fits)
    # the mean squared distance of points is that of means and twice the variance within
    at, scaled = q.loss.numpy(), ((q.apart - 2 * q.V_r) * q.A2 / m).numpy()
    nearest = float((scaled / sharp(at, m).clip(1e-12)).min())
    fig, ax = plots.figure(6.4, 3.2)
    grid = np.geomspace(min(at.min(), 1e-4) / 2, 0.25, 300)
    ax.semilogx(grid, sharp(grid, m), label="sharp")
    ax.semilogx(grid, papers(grid), "--", label="the paper's")
    ax.semilogx(at, scaled, "o", ms=5, label="trained")
    corners = [(a * a, answers.simplex(m, a)) for a in (0.02, 0.05, 0.1, 0.2, 0.3)]
    reached = [
        float(answers.apart(c["R"]).mean() * c["A"].square().sum(-1).mean()) for _, c in corners
    ]
    ax.semilogx([loss for loss, _ in corners], reached, "kx", ms=6, label="simplices")
    ax.set(xlabel=r"loss $\mathcal{L}$", ylabel=r"distance$^2\cdot\|A\|_F^2/m$", ylim=(0, None))
    plots.legend(ax)
    return fig, nearest
