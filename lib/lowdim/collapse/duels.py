"""One way of training against another, draw by draw: who ends lower, and is it sure?

Final objectives (draws,) of two methods from the same data and starts are compared by the mean of
the decimal logarithm of their ratio, with the 95 % interval of Student's t.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure
from scipy.stats import t as student
from torch import Tensor

from lowdim.evidence import plots

__all__ = ["OUTCOMES", "Duel", "duel", "picture", "tally"]

OUTCOMES = ("win", "tie", "lose")
LEAST = 1e-30  # an objective below it counts as this


class Duel(NamedTuple):
    """Mean and half-width of the interval of log10 of the ratio; win: it lies below zero."""

    mean: float
    half: float
    outcome: str

    def cell(self) -> str:
        """As a table shows it.

        Examples
        --------
        >>> Duel(-0.5, 0.125, "win").cell().split()
        ['-0.500', '±', '0.125', 'win']
        """
        return (
            f"{self.mean:+.3f}\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}{self.half:.3f} {self.outcome}"
        )


def duel(a: Tensor, b: Tensor) -> Duel:
    """The objectives ``a`` (draws,) against ``b``, at least two draws: *win* if a is lower.

    Raises
    ------
    ValueError
        If the two differ in shape or there are fewer than two draws.

    Examples
    --------
    >>> import torch
    >>> duel(torch.tensor([1.0, 1.1, 0.9]), torch.tensor([10.0, 10.0, 10.0])).outcome
    'win'
    """
    if a.shape != b.shape or a.ndim != 1 or len(a) < 2:
        raise ValueError(
            "a and b must be (draws,) with two draws or more; "
            f"their shapes are {tuple(a.shape)} and {tuple(b.shape)}."
        )
    ratio = (a.clamp_min(LEAST) / b.clamp_min(LEAST)).log10().numpy()
    half = student.ppf(0.975, len(ratio) - 1) * ratio.std(ddof=1) / len(ratio) ** 0.5
    mean = ratio.mean()
    outcome = "win" if mean + half < 0 else "lose" if mean - half > 0 else "tie"
    return Duel(float(mean), float(half), outcome)


def tally(found: Iterable[Duel]) -> list[int]:
    """Wins, ties and losses.

    Examples
    --------
    >>> tally([Duel(-1.0, 0.1, "win"), Duel(0.0, 1.0, "tie"), Duel(-2.0, 0.1, "win")])
    [2, 1, 0]
    """
    seen = [each.outcome for each in found]
    return [seen.count(outcome) for outcome in OUTCOMES]


def picture(found: Mapping[str, Sequence[Duel]], cells: Sequence[str]) -> Figure:
    """Duels against each rival, one below the other, a line for each of the ``cells``.

    Examples
    --------
    >>> fig = picture({"plain": [Duel(-1.0, 0.1, "win")]}, ["blobs"])
    >>> [label.get_text() for label in fig.axes[0].get_yticklabels()]
    ['blobs']
    """
    fig, ax = plots.figure(7.4, 0.42 * len(cells) + 1.2)
    for k, ((rival, each), mark) in enumerate(zip(found.items(), "os^", strict=False)):
        y = np.arange(len(cells)) + 0.2 * (k - 1)
        bars = {"xerr": [d.half for d in each], "fmt": mark, "ms": 4.5, "lw": 1.2}
        ax.errorbar([d.mean for d in each], y, label=f"against {rival}", **bars)
    ax.axvline(0, color=plots.FAINT, lw=1)
    ax.set_yticks(range(len(cells)), cells)
    ax.invert_yaxis()
    ax.set_xlabel("log10 of the ratio of objectives")
    above = (0.5, 1.12 + 0.3 / len(cells))
    plots.legend(ax, loc="upper center", bbox_to_anchor=above, ncols=3)
    return fig
