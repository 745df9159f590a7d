r"""An autoencoder on four noisy subspaces, followed while it learns: Section 5 at any size.

The hidden layer takes the data X to WX and Y. While the network trains, the distances of their
principal row spaces from those of the clean data X* and of X itself are measured; 1 means
orthogonal, as in :mod:`lowdim.preserve.drift`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lowdim.data import unions
from lowdim.evidence.tables import Table
from lowdim.linalg import subspaces
from lowdim.nets import networks, training
from lowdim.nets.batches import Batches
from lowdim.nets.optimizers import Optimizer
from lowdim.preserve import drift

__all__ = ["CLUSTERS", "MEASURED", "RANK", "SPENT", "Fitted", "Setting", "spent", "table", "top"]

RANK, CLUSTERS = 16, 4
MEASURED = ("truth Y", "truth WX", "data Y", "data WX")
"""The traces of a fit: Y or WX, from the clean row space (truth) or from that of X (data)."""
SPENT = ("loss", "first", "lowest", "step", "last", "away", "accuracy")
"""What :func:`spent` tells of a fit, in this order."""


def top(A: Tensor) -> Tensor:
    """Basis (..., n, 16) of the principal row space of A (..., m, n), in double precision.

    Examples
    --------
    >>> top(torch.arange(340.0).sin().reshape(17, 20)).shape
    torch.Size([20, 16])
    """
    return subspaces.principal_rows(A.double(), RANK)


@dataclass(frozen=True)
class Fitted:
    """A network that was trained on T draws of data X (T, m, n).

    star, x: bases (T, n, 16) of the clean row space and of that of X; run: its traces are those of
    :data:`MEASURED` and the loss.
    """

    net: networks.Dense
    start: networks.Weights
    run: training.Run
    X: Tensor
    star: Tensor
    x: Tensor

    def layer(self, *, learned: bool = True) -> Tensor:
        """The weights W (T, h, m) of the hidden layer, after training or before it."""
        return (self.run.weights if learned else self.start)[0][0].double()

    def bias(self) -> Tensor | float:
        """What training added to WX (T, h, 1); 0 without biases."""
        b = self.run.weights[0][1]
        return 0.0 if b is None else b.double()

    def outputs(self, *, learned: bool = True) -> tuple[Tensor, Tensor]:
        """WX, biases included, and Y, each (T, h, n), after training or before it."""
        pre, post = self.net.forward(self.run.weights if learned else self.start, self.X)
        return pre[0], post[0]

    def ends(self, key: str = "truth Y") -> list[float]:
        """A trace at the first and at the last step, means over draws; ``key`` as in MEASURED.

        Examples
        --------
        >>> setting = Setting(80, 20)
        >>> D = setting.draw(draws=1)
        >>> first, last = setting.fit(D.clean, D.noise, steps=2).ends()
        >>> 0 < first < 1
        True
        """
        trace = self.run.trace[key]
        return [trace[0].mean().item(), trace[-1].mean().item()]

    def entries(self, key: str = "truth Y") -> list[float]:
        """The largest entry of the difference of projectors, before and after training; means.

        Examples
        --------
        >>> setting = Setting(80, 20)
        >>> D = setting.draw(draws=1)
        >>> fitted = setting.fit(D.clean, D.noise, steps=2)
        >>> all(entry < end * 32**0.5 for entry, end in zip(fitted.entries(), fitted.ends()))
        True
        """
        reference, part = key.split()
        V = self.star if reference == "truth" else self.x
        spaces = (top(self.outputs(learned=after)[part == "Y"]) for after in (False, True))
        return [subspaces.distance(V, U, norm="max").mean().item() for U in spaces]

    def falls(self, key: str = "truth Y") -> bool:
        """Whether a trace ends more than five per cent below its start in every draw."""
        trace = self.run.trace[key]
        return bool((trace[-1] < 0.95 * trace[0]).all())


@dataclass(frozen=True)
class Setting:
    """Four subspaces of dimension 4 in R^size with size/4 points each, and ``hidden`` units."""

    size: int = 200
    hidden: int = 40
    seed: int = 0

    @property
    def share(self) -> int:
        """The number of points of a cluster."""
        return self.size // CLUSTERS

    @property
    def points(self) -> int:
        """The number n of points.

        Examples
        --------
        >>> Setting(size=90).points
        88
        """
        return CLUSTERS * self.share

    @property
    def usual(self) -> float:
        """The standard deviation of coefficients of variance 1/m, and the usual range of weights.

        Examples
        --------
        >>> Setting(size=100).usual
        0.1
        """
        return self.size**-0.5

    @property
    def chance(self) -> float:
        """The root of the mean squared distance of two unrelated row spaces."""
        return subspaces.chance(self.points, RANK)[0] ** 0.5

    def draw(self, noise: float = 0.1, *, draws: int, **how: Any) -> unions.UnionOfSubspaces:
        """Data with noise of variance ``noise``; ``how`` goes to the generator of the data.

        Examples
        --------
        >>> Setting(80).draw(draws=2).noisy.shape
        torch.Size([2, 80, 80])
        """
        return unions.union_of_subspaces(
            trials=draws,
            ambient=self.size,
            dims=(RANK // CLUSTERS,) * CLUSTERS,
            sizes=(self.share,) * CLUSTERS,
            noise=noise,
            seed=self.seed,
            **how,
        )

    def net(
        self, hidden: int | None = None, *, activation: str = "relu", bias: bool = False
    ) -> networks.Dense:
        """The autoencoder, with the setting's number of units unless given."""
        h = self.hidden if hidden is None else hidden
        return networks.Dense((self.size, h, self.size), activation=activation, bias=bias)

    def fit(
        self,
        clean: Tensor,
        noise: Tensor,
        *,
        steps: int,
        hidden: int | None = None,
        activation: str = "relu",
        bias: bool = False,
        loss: str = "sample",
        scale: float | Sequence[float] | None = None,
        optimizer: Optimizer | None = None,
        batches: Batches | None = None,
    ) -> Fitted:
        """Train on ``clean + noise`` (T, m, n) and measure at eleven steps, denser at the start.

        ``loss`` as in :class:`~lowdim.nets.training.Objective`; weights begin uniformly within
        ``scale``, one over the root of the fan-in unless given; the optimizer is gradient descent
        at the paper's rate, 0.005, unless given.

        Examples
        --------
        >>> setting = Setting(80, 20)
        >>> D = setting.draw(draws=2)
        >>> fitted = setting.fit(D.clean, D.noise, steps=100)
        >>> fitted.run.trace_steps
        [0, 1, 4, 9, 16, 25, 36, 49, 64, 81, 100]
        """
        optimizer = training.GD(0.005) if optimizer is None else optimizer
        dtype = torch.float64 if isinstance(optimizer, training.LBFGS) else torch.float32
        net: Any = self.net(hidden, activation=activation, bias=bias)
        start = net.init(trials=len(clean), seed=self.seed, scale=scale, dtype=dtype)
        X, star, x = (clean + noise).to(dtype), top(clean), top(clean + noise)
        run = training.train(
            training.Objective(net, X, normalization=loss),
            start,
            optimizer,
            steps,
            batches=batches,
            schedule=sorted({round(steps * (i / 10) ** 2) for i in range(11)}),
            measure=_distances(star, x),
        )
        return Fitted(net, start, run, X, star, x)

    def read(self, V: Tensor) -> float:
        """Accuracy of the clusters cut from projectors with bases V (T, n, 16), mean over draws.

        Examples
        --------
        >>> setting = Setting(80)
        >>> setting.read(top(setting.draw(draws=1).clean))
        1.0
        """
        labels = np.repeat(np.arange(CLUSTERS), self.share)
        return drift.accuracy(V, labels, groups=CLUSTERS).mean().item()


def _distances(star: Tensor, x: Tensor) -> dict[str, Callable[[training.State], Tensor]]:
    """The four measurements; row spaces are worked out once for each step."""
    last: list[Any] = [None, {}]

    def at(state: training.State, part: str) -> Tensor:
        if last[0] is not state:
            last[:] = state, {}
        if part not in last[1]:
            last[1][part] = top((state.post if part == "Y" else state.pre)[0])
        return last[1][part]

    def ask(V: Tensor, part: str) -> Callable[[training.State], Tensor]:
        return lambda state: drift.apart(V, at(state, part))

    spaces = {"truth": star, "data": x}
    return {key: ask(spaces[key.split()[0]], key.split()[1]) for key in MEASURED}


def spent(fitted: Fitted, setting: Setting) -> list[float]:
    """What a fit came to, means over draws.

    The loss at the end over that at the start; the distance of Y from the clean row space at the
    start, at its lowest, the step of that, and at the end; from that of X at the end; and the
    accuracy of Y.

    Examples
    --------
    >>> setting = Setting(80, 20)
    >>> D = setting.draw(draws=1)
    >>> share, first, lowest, step, *_ = spent(setting.fit(D.clean, D.noise, steps=4), setting)
    >>> share < 1, lowest <= first, step in (0, 1, 2, 3, 4)
    (True, True, True)
    """
    trace = fitted.run.trace
    d, loss = trace["truth Y"].mean(1), trace["loss"].mean(1)
    low = int(d.argmin())
    values = (loss[-1] / loss[0], d[0], d[low], fitted.run.trace_steps[low], d[-1])
    away, accuracy = trace["data Y"][-1].mean(), setting.read(top(fitted.outputs()[1]))
    return [float(value) for value in (*values, away, accuracy)]


def table(fits: Mapping[str, Sequence[float]]) -> Table:
    """One line for each fit, from what :func:`spent` tells of it.

    Examples
    --------
    >>> print(table({"a": [0.5, 0.9, 0.8, 10.0, 0.8, 0.7, 1.0]}))
    run  loss  d first  d lowest  at step  d last  d(X) last  acc Y
    a    0.50     0.90      0.80       10    0.80       0.70   1.00
    """
    header = ("run", "loss", "d first", "d lowest", "at step", "d last", "d(X) last", "acc Y")
    rows = []
    for name, line in fits.items():
        cells = (
            f"{v:.0f}" if what == "step" else f"{v:.2f}"
            for what, v in zip(SPENT, line, strict=True)
        )
        rows.append((name, *cells))
    return Table(header, rows)
