r"""What becomes of a start of Figure 2 (right) when it is trained: it diverges, dies or learns.

Networks, data and weights are those of a :class:`~lowdim.preserve.starts.Setting`; training is in
single precision. A network is *dead* where no unit is active on any point: its gradient is exactly
zero from then on, and its loss is that of the zero network, in which the others' is measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from matplotlib.figure import Figure
from torch import Tensor

from lowdim import checks
from lowdim.data import unions
from lowdim.evidence import plots
from lowdim.evidence.tables import short
from lowdim.evidence.values import Share
from lowdim.evidence.verdicts import compared
from lowdim.nets import networks, training
from lowdim.preserve import drift
from lowdim.preserve.starts import Setting, rows

__all__ = [
    "LOSSES", "PAIRS", "Best", "Fate", "Followed", "best", "both", "draw", "follow", "lines",
    "standing", "train",
]  # fmt: skip

LOSSES = {"sum": "summed, as printed", "sample": "per point", "mean": "per entry"}
METHODS = {"gd": training.GD, "adam": training.Adam}
PAIRS = ("X*,Y", "X,Y", "WX,Y")  # between whose row spaces distances are followed


def _single(weights: networks.Weights) -> networks.Weights:
    return [(W.float(), None) for W, _ in weights]


def _objective(setting: Setting, X: Tensor, loss: str) -> training.Objective:
    net: Any = setting.net  # frozen, where the protocol of networks has attributes that can be set
    return training.Objective(net, X, normalization=loss)


@dataclass(frozen=True)
class Fate:
    """A run and where it ended.

    output: of the hidden layer (T, h, n); dead: share of dead units, 1 if all are in every draw;
    share: the loss over that of the zero network, mean over draws.
    """

    run: training.Run
    output: Tensor
    dead: float
    share: float

    @property
    def diverged(self) -> bool:
        """Whether a draw diverged."""
        return bool(self.run.diverged.any())

    @property
    def word(self) -> str:
        """``diverges``, ``all units dead`` or ``trains``."""
        return "diverges" if self.diverged else "all units dead" if self.dead == 1 else "trains"

    @property
    def cells(self) -> tuple[str, str, str]:
        """Cells of a table: what became of it, the norm of the gradient and the share."""
        if self.diverged:
            return self.word, "–", "–"
        return self.word, short(float(self.run.gradient_norm[0]), 2), f"{self.share:.2f}"


def train(
    setting: Setting,
    X: Tensor,
    weights: networks.Weights,
    *,
    loss: str,
    steps: int,
    method: str = "gd",
    rate: float = 0.005,
) -> Fate:
    """Train on X (T, m, n) as an autoencoder; ``loss`` is one of ``LOSSES``.

    Examples
    --------
    >>> setting = Setting(size=80, hidden=20, draws=1)
    >>> X = setting.data("non-negative", 0.5).noisy
    >>> train(setting, X, setting.weights("nonnegative", 1.0), loss="sum", steps=3).word
    'all units dead'
    """
    X = X.float()
    objective = _objective(setting, X, loss)
    first = _single(weights)
    run = training.train(objective, first, METHODS[method](rate), steps, schedule=steps)
    output = setting.net.forward(run.weights, X)[1][0]
    dead = float((output == 0).all(-1).double().mean())
    zero = objective.value([(0 * W, None) for W, _ in first])
    return Fate(run, output, dead, float((run.loss / zero).mean()))


@dataclass(frozen=True)
class Followed:
    """Distances along training.

    steps: S of them; distance: (S, T, 3), one for each of ``PAIRS``; gradient: the least scale-free
    one at the end, ‖∇f‖‖θ‖/f; accuracy: from P(Y) at the end, mean over draws.
    """

    steps: Sequence[int]
    distance: Tensor
    gradient: float
    accuracy: float

    def end(self, pair: str) -> float:
        """The distance between a pair at the end, mean over draws.

        Examples
        --------
        >>> run = Followed([0, 9], torch.tensor([[[0.5, 0.4, 0.3]], [[0.2, 0.6, 0.1]]]), 1.0, 0.5)
        >>> round(run.end("X,Y"), 6), round(run.most("WX,Y"), 6)
        (0.6, 0.3)
        """
        return float(self.distance[-1, :, PAIRS.index(pair)].mean())

    def most(self, pair: str) -> float:
        """The largest distance between a pair, over all looks and draws."""
        return float(self.distance[..., PAIRS.index(pair)].max())


def follow(
    setting: Setting,
    data: unions.UnionOfSubspaces,
    weights: networks.Weights,
    *,
    loss: str,
    steps: int,
    rate: float = 0.005,
) -> Followed:
    """Follow distances while ``weights`` are trained by gradient descent, at some nine looks.

    Examples
    --------
    >>> setting = Setting(size=80, hidden=20, draws=1)
    >>> D, start = setting.data("paper's", 0.5), setting.weights("uniform", setting.usual)
    >>> follow(setting, D, start, loss="sample", steps=16).distance.shape
    torch.Size([9, 1, 3])
    """
    star, given, X = rows(data.clean), rows(data.noisy), data.noisy.float()

    def look(state: training.State) -> Tensor:
        linear, output = rows(state.pre[0]), rows(state.post[0])
        return torch.stack([drift.apart(V, output) for V in (star, given, linear)], -1)

    run = training.train(
        _objective(setting, X, loss),
        _single(weights),
        training.GD(rate),
        steps,
        measure={"d": look},
        schedule=max(1, steps // 8),
    )
    squares = torch.stack([W.double().square().sum((1, 2)) for W, _ in run.weights])
    last = rows(setting.net.forward(run.weights, X)[1][0])
    return Followed(
        steps=run.trace_steps,
        distance=run.trace["d"],
        gradient=float((run.gradient_norm * squares.sum(0).sqrt() / run.loss).min()),
        accuracy=float(drift.accuracy(last, data.labels).mean()),
    )


def both(
    setting: Setting, kind: str, scale: float, loss: str, *, steps: int, noise: float = 0.5
) -> dict[str, Followed]:
    """A positive start of the given scale, and a signed one of the usual scale, both followed.

    Examples
    --------
    >>> list(both(Setting(size=80, hidden=20, draws=1), "paper's", 1.0, "mean", steps=2))
    ['W > 0', 'signed W']
    """
    data = setting.data(kind, noise)
    first = {
        "W > 0": setting.weights("nonnegative", scale),
        "signed W": setting.weights("uniform", setting.usual),
    }
    return {
        name: follow(setting, data, weights, loss=loss, steps=steps)
        for name, weights in first.items()
    }


def lines(
    curves: Mapping[str, Mapping[str, Followed]],
    marks: Mapping[str, Sequence[bool]],
    *,
    start: float,
    dead: Share,
) -> list[dict[str, object]]:
    """What Figure 2 (right) reports beside what was measured in three readings.

    ``curves`` are those of :func:`both` on the paper's data with W in (0, 1), on the paper's data
    with W scaled, and on non-negative data with W scaled; ``marks`` say of each whether a distance
    stays at zero, the gradient is zero, and accuracy is better. ``start`` is the scale-free
    gradient of the first before training, ``dead`` counts the runs that died on non-negative data
    from W in (0, 1).

    Examples
    --------
    >>> run = Followed([0, 9], torch.zeros(2, 1, 3), 21.04, 0.5)
    >>> curves = dict.fromkeys("ABC", {"W > 0": run, "signed W": run})
    >>> marks = dict.fromkeys("ABC", (True, False, False))
    >>> found = lines(curves, marks, start=3.61, dead=Share(6, 6))
    >>> [line["agrees"] for line in found], found[3]["measured"]
    ([True, True, True, False, True, False, False], [3.6, 21.0])
    """
    first, second, _ = curves
    one, scaled = "paper's data, W in (0, 1)", "paper's data, W in (0, m^(−1/2))"
    told = (
        f"{one}, loss per entry",
        f"{scaled}, loss per point",
        "non-negative data, W in (0, m^(−1/2))",
    )
    what = "$d(X^*,Y)$ and $d(WX,Y)$ at the end, $W>0$"
    found = []
    for (title, runs), reading in zip(curves.items(), told, strict=True):
        ends = [round(runs["W > 0"].end(pair), 2) for pair in ("X*,Y", "WX,Y")]
        found.append(compared(what, "zero throughout", ends, reading, marks[title][0]))
    what = "gradient, scale-free, at the start and at the end"
    slopes = [float(short(value, 2)) for value in (start, curves[first]["W > 0"].gradient)]
    still = marks[first][1] or marks[second][1]
    found.append(compared(what, "numerically zero", slopes, one, still))
    what, where = (
        "gradient exactly 0 after training, all units dead",
        "non-negative data, W in (0, 1)",
    )
    found.append(compared(what, "numerically zero", dead, where, dead.count > 0))
    what = "accuracy from $P(Y)$, $W>0$ and signed $W$"
    for title, reading in ((first, one), (second, scaled)):
        right = [round(run.accuracy, 2) for run in curves[title].values()]
        found.append(compared(what, "improves over others", right, reading, marks[title][2]))
    return found


@dataclass(frozen=True)
class Best:
    """The best run of a grid of rates: its loss over that of the zero network, accuracy, rate.

    Where all runs died or diverged the share is 1, and there is no accuracy and no rate.
    """

    share: float = 1.0
    accuracy: float | None = None
    rate: float | None = None

    @property
    def cells(self) -> tuple[str, str, str]:
        """Cells of a table: rate, share and accuracy.

        Examples
        --------
        >>> Best(0.123, 0.94, 0.002).cells, Best().cells
        (('0.002', '0.123', '0.94'), ('all die', '1.00', '–'))
        """
        if self.accuracy is None:
            return "all die", "1.00", "–"
        return f"{self.rate:g}", f"{self.share:.3f}", f"{self.accuracy:.2f}"


def best(
    setting: Setting,
    data: unions.UnionOfSubspaces,
    weights: networks.Weights,
    *,
    method: str,
    rates: Sequence[float],
    steps: int,
) -> Best:
    """Go up the rates until the loss rises or the network dies; the loss is per point.

    Examples
    --------
    >>> setting = Setting(size=80, hidden=20, draws=1)
    >>> D, dying = setting.data("non-negative", 0.5), setting.weights("nonnegative", 1.0)
    >>> best(setting, D, dying, method="gd", rates=[0.01], steps=3)
    Best(share=1.0, accuracy=None, rate=None)
    """
    top: Fate | None = None
    at: float | None = None
    for rate in rates:
        fate = train(
            setting, data.noisy, weights, loss="sample", steps=steps, method=method, rate=rate
        )
        if fate.word != "trains" or (top is not None and fate.share >= top.share):
            break
        top, at = fate, rate
    if top is None:
        return Best()
    return Best(top.share, float(drift.accuracy(rows(top.output), data.labels).mean()), at)


def standing(pairs: Sequence[tuple[Best, Best]], what: str) -> list[int]:
    """In how many pairs the first is ahead, behind and level, in ``"loss"`` or in ``"accuracy"``.

    Ahead and behind mean by more than 1 % of the loss, or by more than 0.02 in accuracy.

    Raises
    ------
    ValueError
        If ``what`` is neither.

    Examples
    --------
    >>> pairs = [(Best(0.5, 0.9), Best(0.6, 0.89)), (Best(0.5, 0.9), Best(0.2, 0.8))]
    >>> standing(pairs, "loss"), standing(pairs, "accuracy")
    ([1, 1, 0], [1, 0, 1])
    """
    checks.choice(what, ("loss", "accuracy"), "what")

    def ahead(a: Best, b: Best) -> bool:
        if what == "loss":
            return a.share < 0.99 * b.share
        return (a.accuracy or 0.0) - (b.accuracy or 0.0) > 0.02

    counts = [sum(ahead(a, b) for a, b in pairs), sum(ahead(b, a) for a, b in pairs)]
    return [*counts, len(pairs) - sum(counts)]


def draw(curves: Mapping[str, Mapping[str, Followed]], *, level: float) -> Figure:
    """A panel for each reading, a colour for each start; the grey line is ``level``.

    Solid, distances between the first of ``PAIRS``; dashed, between the last. Median and middle
    80 % of draws.

    Examples
    --------
    >>> run = Followed([0, 9], torch.rand(2, 1, 3), 1.0, 0.5)
    >>> len(draw({"one": {"W > 0": run}, "other": {"W > 0": run}}, level=0.9).axes)
    2
    """
    fig, axes = plots.figure(7.6, 3.9, ncols=len(curves), sharey=True)
    for ax, (title, traces) in zip(axes, curves.items(), strict=True):
        for (name, run), colour in zip(traces.items(), plots.CYCLE, strict=False):
            for k, style in ((0, "-"), (2, "--")):
                y = run.distance[..., k].numpy()
                low, mid, high = np.nanpercentile(y, (10, 50, 90), axis=1)
                ax.plot(run.steps, mid, style, color=colour, label=f"{name}, d({PAIRS[k]})")
                ax.fill_between(run.steps, low, high, color=colour, alpha=0.2, lw=0)
        ax.axhline(level, color=plots.FAINT, lw=1)
        ax.set(xlabel="step", ylim=(-0.03, 1.05))
        ax.set_title(title, fontsize=10)
    axes[0].set_ylabel("normalized distance")
    handles, names = axes[0].get_legend_handles_labels()
    fig.legend(handles, names, loc="outside lower center", ncols=2, frameon=False, fontsize=9.5)
    return fig
