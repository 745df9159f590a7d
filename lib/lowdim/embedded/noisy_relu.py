"""The stability metric of ReLU networks against the size of the noise and of the data.

A :class:`Protocol` says how networks are trained; :func:`by_size` and :func:`by_way` measure them
for several numbers of points, :func:`by_noise` for several sizes of the noise, :func:`study` all of
it at several depths. The values are the sum of sin πx over three directions. The metric of a
network whose training diverged is nan, and no exponent counts it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from torch import Tensor, pi, sin

from lowdim import checks
from lowdim.embedded import noise
from lowdim.evidence.rates import exponent
from lowdim.evidence.values import Estimate, Share

__all__ = [
    "LEVELS", "TABLE_1", "ByNoise", "BySize", "Protocol", "Study", "by_noise", "by_size", "by_way",
    "fit", "study", "trend",
]  # fmt: skip

LEVELS = (*(2.0**-k for k in range(6)), 0.0)  # of the noise: the paper's range, and none
TABLE_1 = {  # the printed β by depth, for one to ten noisy directions
    2: (0.40, 0.40, 0.35, 0.36, 0.35, 0.39, 0.38, 0.33, 0.38, 0.37),
    4: (0.42, 0.37, 0.40, 0.34, 0.43, 0.39, 0.42, 0.43, 0.43, 0.41),
    6: (0.46, 0.38, 0.40, 0.44, 0.44, 0.41, 0.43, 0.46, 0.46, 0.46),
}

_METRIC, _WIDE = 0.25, 0.5  # γ; and its root, where the text has a variance


def _sines(x: Tensor) -> Tensor:
    return sin(pi * x).sum(-2, keepdim=True)


@dataclass(frozen=True)
class Protocol:
    """How networks are trained (``nets`` for each setting) and at how many points measured."""

    nets: int
    width: int
    epochs: int
    batch: int
    rate: float
    samples: int
    seed: int

    def train(
        self,
        depth: int,
        settings: Sequence[tuple[float, int]],
        points: int,
        *,
        epochs: int | None = None,
        everywhere: bool = False,
    ) -> noise.Trained:
        """Networks of ``depth`` layers under ``settings``, pairs (σ, d_y), on ``points`` points.

        Examples
        --------
        >>> how = Protocol(2, 6, epochs=2, batch=10, rate=0.03, samples=50, seed=0)
        >>> how.train(2, [(0.5, 1), (0.5, 2)], 40).loss.shape
        torch.Size([2, 2])
        """
        data = noise.noisy_inputs(
            settings,
            _sines,
            nets=self.nets,
            points=points,
            everywhere=everywhere,
            seed=self.seed,
        )
        return noise.train_noisy(
            data,
            depth,
            width=self.width,
            epochs=epochs or self.epochs,
            batch=self.batch,
            rate=self.rate,
            seed=self.seed,
        )

    def metric(self, run: noise.Trained, *, gamma: float = _METRIC) -> np.ndarray:
        """The mean of (f(x, y) - f(x, 0))², (settings, nets)."""
        return run.stability(gamma, self.samples, seed=self.seed).numpy()


class BySize(NamedTuple):
    """The metric (sizes, codims, nets) with y of size γ = 1/4, and with variance 1/4."""

    metric: np.ndarray
    wide: np.ndarray


def by_size(
    how: Protocol, depth: int, sizes: Sequence[int], codims: Sequence[int], *, sigma: float
) -> BySize:
    """Networks on ``sizes`` points with ``codims`` noisy directions, the epochs being fixed.

    Examples
    --------
    >>> how = Protocol(2, 6, epochs=2, batch=10, rate=0.03, samples=50, seed=0)
    >>> by_size(how, 2, [20, 40], [1, 2, 3], sigma=0.25).metric.shape
    (2, 3, 2)
    """
    runs = [how.train(depth, [(sigma, d) for d in codims], N) for N in sizes]
    narrow, wide = ([how.metric(run, gamma=g) for run in runs] for g in (_METRIC, _WIDE))
    return BySize(np.stack(narrow), np.stack(wide))


def by_way(
    how: Protocol,
    depth: int,
    sizes: Sequence[int],
    codim: int,
    way: str,
    *,
    sigma: float,
    largest: np.ndarray,
) -> np.ndarray:
    """The metric (sizes, nets) with something else than the epochs fixed.

    ``way``: with ``"steps"`` every size gets as many steps as the largest one; with ``"length
    only"`` every training set is the largest one, for as many steps as the size would get. At the
    largest size nothing changes, and its metric ``largest`` (nets,) is taken over.

    Raises
    ------
    ValueError
        If there is no such way.

    Examples
    --------
    >>> how = Protocol(2, 6, epochs=2, batch=10, rate=0.03, samples=50, seed=0)
    >>> by_way(how, 2, [20, 40], 1, "steps", sigma=0.25, largest=np.ones(2))[1].tolist()
    [1.0, 1.0]
    """
    checks.choice(way, ("steps", "length only"), "way")
    top, found = sizes[-1], []
    for N in sizes[:-1]:
        points, epochs = N, how.epochs * top // N
        if way == "length only":
            points, epochs = top, max(1, how.epochs * N // top)
        found.append(how.metric(how.train(depth, [(sigma, codim)], points, epochs=epochs))[0])
    return np.stack([*found, largest])


class ByNoise(NamedTuple):
    """Means (noises, nets): of Δ², of (f - g)² at y = 0, and of 2 Δ (f - g)."""

    metric: np.ndarray
    clean: np.ndarray
    cross: np.ndarray


def by_noise(
    how: Protocol, depth: int, noises: Sequence[float], *, points: int, everywhere: bool
) -> ByNoise:
    """Networks with two noisy directions, for each size of the noise.

    Examples
    --------
    >>> how = Protocol(2, 6, epochs=2, batch=10, rate=0.03, samples=50, seed=0)
    >>> by_noise(how, 2, [0.5, 0.0], points=40, everywhere=True).clean.shape
    (2, 2)
    """
    run = how.train(depth, [(s, 2) for s in noises], points, everywhere=everywhere)
    miss, change = run.parts(_METRIC, how.samples, seed=how.seed)
    means = (change.square(), miss.square(), 2 * miss * change)
    return ByNoise(*(each.mean(-1).numpy() for each in means))


def fit(x: Sequence[float], metric: np.ndarray) -> Estimate:
    """The exponent of a metric (k, nets) in ``x`` (k,), over the networks that are alive.

    A dead network does not react to its inputs, and its metric is zero; that of one that diverged
    is nan. If too few are left, the exponent is 0 with an infinite error.

    Examples
    --------
    >>> fit([1, 2, 4], np.array([[1.0, 0.0], [2.0, 0.0], [4.0, 0.0]])).value
    1.0
    """
    rows = metric[:, (metric > 0).all(0)].T
    enough = len(set(x)) >= (2 if len(rows) > 1 else 3) and len(rows) > 0
    return exponent(x, rows) if enough else Estimate(0.0, np.inf)


def trend(sizes: Sequence[int], codims: Sequence[int], metric: np.ndarray) -> Estimate:
    """Slope in log d_y of the exponent β of ``metric`` (sizes, codims, nets) in 1/N.

    Examples
    --------
    >>> import math
    >>> S = 1 / np.arange(1, 4)[:, None, None] ** np.array([[0.5], [1.5]])
    >>> round(trend([1, 2, 3], [1, 10], S.repeat(2, 2)).value * math.log(10), 6)
    1.0
    """
    if len(set(codims)) < 2:
        return Estimate(0.0, np.inf)
    metric = metric[..., (metric > 0).all((0, 1))]  # dead or diverged: no exponent
    if metric.shape[-1] < 2:
        return Estimate(0.0, np.inf)
    logs = np.log(metric).reshape(len(sizes), -1)
    betas = -np.polyfit(np.log(sizes), logs, 1)[0].reshape(len(codims), -1)
    tilt = np.polyfit(np.log(codims), betas, 1)[0]
    return Estimate(float(tilt.mean()), float(2 * tilt.std(ddof=1) / len(tilt) ** 0.5))


@dataclass(frozen=True)
class Study:
    """What was measured of networks of several depths.

    tables: by size and codimension, the epochs fixed; series: by what is kept fixed, the metric
    (sizes, nets) at the ``middle`` codimension; normal, everywhere: by the noise :data:`LEVELS`, in
    the normal directions and in all.
    """

    sizes: tuple[int, ...]
    codims: tuple[int, ...]
    tables: Mapping[int, BySize]
    series: Mapping[int, Mapping[str, np.ndarray]]
    normal: Mapping[int, ByNoise]
    everywhere: Mapping[int, ByNoise]

    @property
    def depths(self) -> list[int]:
        """The depths of the networks."""
        return list(self.tables)

    @property
    def middle(self) -> int:
        """The codimension in the middle of the list."""
        return self.codims[len(self.codims) // 2]

    def beta(self, metric: np.ndarray) -> Estimate:
        """The exponent of 1/N in a metric (sizes, nets)."""
        slope, error = fit(self.sizes, metric)
        return Estimate(-slope, error)

    @property
    def cells(self) -> dict[tuple[int, int], Estimate]:
        """β by depth and codimension, the epochs fixed."""
        return {
            (depth, dy): self.beta(table.metric[:, j])
            for depth, table in self.tables.items()
            for j, dy in enumerate(self.codims)
        }

    @property
    def means(self) -> list[Estimate]:
        """The mean of the cells of each depth; their errors are taken as independent.

        With a cell that has no exponent there is none: its error is infinite.
        """
        cells = self.cells
        rows = [np.array([[*cells[depth, dy]] for dy in self.codims]) for depth in self.depths]
        return [
            Estimate(float(row[:, 0].mean()), float(np.linalg.norm(row[:, 1]) / len(row)))
            for row in rows
        ]

    @property
    def diverged(self) -> Share:
        """How many of the trained networks diverged."""
        tables = [table.metric for table in self.tables.values()]
        ways = [
            S[:-1] for each in self.series.values() for way, S in each.items() if way != "epochs"
        ]
        levels = [run.metric for runs in (self.normal, self.everywhere) for run in runs.values()]
        every = [*tables, *ways, *levels]
        return Share(sum(int(np.isnan(S).sum()) for S in every), sum(S.size for S in every))

    @property
    def ways(self) -> dict[int, dict[str, Estimate]]:
        """β at the middle codimension, by depth and by what is kept fixed."""
        return {
            depth: {way: self.beta(metric) for way, metric in each.items()}
            for depth, each in self.series.items()
        }

    @property
    def wide(self) -> list[Estimate]:
        """β at the middle codimension with y of variance 1/4, for each depth."""
        at = self.codims.index(self.middle)
        return [self.beta(table.wide[:, at]) for table in self.tables.values()]

    @property
    def trends(self) -> list[Estimate]:
        """The :func:`trend` of β in the codimension, for each depth."""
        return [trend(self.sizes, self.codims, table.metric) for table in self.tables.values()]

    @property
    def by_codim(self) -> list[Estimate]:
        """The exponent in d_y of the metric at the largest size, for each depth."""
        if len(self.codims) < 2:
            return [Estimate(0.0, np.inf)] * len(self.tables)
        return [fit(self.codims, table.metric[-1]) for table in self.tables.values()]

    def by_sigma(self, count: int = 6) -> list[Estimate]:
        """The exponent in σ of the metric over the ``count`` largest levels, for each depth."""
        runs = self.normal.values()
        return [fit(LEVELS[:count], run.metric[:count]) for run in runs]

    @property
    def plateau(self) -> list[float]:
        """The metric at the least noise over that without, for each depth; nan if all diverged."""
        ratios = []
        for run in self.normal.values():
            least, none = run.metric[5:7, (run.metric[5:7] > 0).all(0)]
            ratios.append(float(np.median(least / none)) if least.size else np.nan)
        return ratios

    @property
    def cross(self) -> np.ndarray:
        """All means of 2 Δ (f - g) that are finite: where one is positive, squares do not add."""
        every = np.stack(
            [run.cross for runs in (self.normal, self.everywhere) for run in runs.values()]
        )
        return every[np.isfinite(every)]

    @property
    def misordered(self) -> int:
        """Neighbouring levels at which more noise everywhere raises the metric, or lowers the loss.

        By more than two standard errors.
        """
        return sum(_rises(run.metric) + _rises(1 / run.clean) for run in self.everywhere.values())


def _rises(values: np.ndarray) -> int:
    """At how many neighbouring levels (levels, nets) more noise means more, by two errors."""
    values = values[:-1, (values > 0).all(0) & np.isfinite(values).all(0)]
    if values.shape[1] < 2:
        return 0
    step = np.diff(np.log(values), axis=0)  # the noise falls along the axis
    error = step.std(1, ddof=1) / step.shape[1] ** 0.5
    return int((step.mean(1) < -2 * error - 1e-12).sum())


def study(
    how: Protocol,
    depths: Sequence[int],
    sizes: Sequence[int],
    codims: Sequence[int],
    *,
    sigma: float,
    points: int,
) -> Study:
    """Train and measure networks of every depth.

    ``sigma`` is the noise where ``sizes`` and ``codims`` vary, ``points`` the number of points
    where the noise does.

    Examples
    --------
    >>> how = Protocol(2, 6, epochs=2, batch=10, rate=0.03, samples=50, seed=0)
    >>> seen = study(how, [2], [20, 40], [1, 2], sigma=0.25, points=30)
    >>> seen.middle, list(seen.ways[2]), len(seen.by_sigma())
    (2, ['epochs', 'steps', 'length only'], 1)
    """
    codims, sizes = tuple(codims), tuple(sizes)
    middle = codims[len(codims) // 2]
    tables: dict[int, BySize] = {}
    series: dict[int, dict[str, np.ndarray]] = {}
    noises: tuple[dict[int, ByNoise], ...] = ({}, {})
    for depth in depths:
        tables[depth] = by_size(how, depth, sizes, codims, sigma=sigma)
        epochs = tables[depth].metric[:, codims.index(middle)]
        series[depth] = {"epochs": epochs}
        for way in ("steps", "length only"):
            series[depth][way] = by_way(
                how, depth, sizes, middle, way, sigma=sigma, largest=epochs[-1]
            )
        for everywhere, runs in enumerate(noises):
            runs[depth] = by_noise(how, depth, LEVELS, points=points, everywhere=bool(everywhere))
    return Study(sizes, codims, tables, series, *noises)
