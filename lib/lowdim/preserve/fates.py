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

from lowdim.data import unions
from lowdim.evidence import plots
from lowdim.evidence.tables import short
from lowdim.nets import networks, training
from lowdim.preserve import drift
from lowdim.preserve.starts import Setting, rows

__all__ = ["LOSSES", "PAIRS", "Best", "Fate", "Followed", "best", "draw", "follow", "train"]

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
