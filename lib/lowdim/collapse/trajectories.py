r"""Tails of layers and clusters of hidden points while tanh networks learn images.

Networks of four layers start from the same weights, once for each weight decay λ and for two
controls at the middle λ: labels *shuffled*, and *no decay inside*, on the two middle layers. Along
the way singular values of all layers are measured, and how the points that leave each layer vary
within classes and in all. The experiment of Part II's Figure 3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from lowdim.collapse import classes, decay
from lowdim.data.images import Provenance
from lowdim.linalg import ranks
from lowdim.nets import networks, training
from lowdim.nets.networks import Weights
from lowdim.seeds import generator

__all__ = ["CLASSES", "Course", "Setting", "half_way"]

CLASSES = 10  # K
MOMENTUM = 0.9
LOOKS = 22  # measurements after the start, at geometric distances
Measure = Callable[[training.State], Tensor]


@dataclass(frozen=True)
class Setting:
    """Which images and networks: ``per_class`` images of ten classes, three hidden layers.

    Examples
    --------
    >>> small = Setting(per_class=3, width=12, decays=(0.01, 0.05), draws=2, steps=20)
    >>> small.names
    ('λ = 0', 'λ = 0.01', 'λ = 0.05', 'shuffled, λ = 0.05', 'no decay inside, λ = 0.05')
    >>> small.looks[:3], small.looks[-1], small.plain, small.middle
    ((0, 3, 4), 20, 3, 2)
    """

    dataset: str = "digits"
    per_class: int = 15
    width: int = 32
    decays: tuple[float, ...] = (0.001, 0.003, 0.01)
    draws: int = 3
    steps: int = 2500
    rate: float = 0.05
    seed: int = 0

    @property
    def plain(self) -> int:
        """How many runs are no controls: λ = 0 and those of ``decays``; these come first."""
        return 1 + len(self.decays)

    @property
    def middle(self) -> int:
        """Which of the plain runs has the λ of the controls."""
        return 1 + len(self.decays) // 2

    @property
    def lams(self) -> tuple[float, ...]:
        """λ of every run."""
        control = self.decays[len(self.decays) // 2]
        return 0.0, *self.decays, control, control

    @property
    def names(self) -> tuple[str, ...]:
        """A name for every run."""
        prefixes = [""] * self.plain + ["shuffled, ", "no decay inside, "]
        return tuple(f"{p}λ = {lam:g}" for p, lam in zip(prefixes, self.lams, strict=True))

    @property
    def looks(self) -> tuple[int, ...]:
        """The steps at which something is measured."""
        later = np.geomspace(3, self.steps, LOOKS).round().astype(int)
        return tuple(np.unique(np.r_[0, later]).tolist())

    @property
    def faded(self) -> Tensor:
        """(times, runs) the factor by which descent has shrunk what no gradient touches."""
        how = {"rate": self.rate, "momentum": MOMENTUM}
        rows = [[decay.forgetting(t, decay=lam, **how) for lam in self.lams] for t in self.looks]
        return torch.tensor(rows, dtype=torch.float64)

    def course(self) -> Course:
        """Train all runs and draws, and measure; kept, because pictures and tables ask for it.

        Raises
        ------
        ValueError
            If a run diverges.
        """
        return _course(self)


@dataclass(frozen=True, eq=False)
class Course:
    """What was measured along the way: axes are times, runs, draws, then values or layers.

    X: (runs · draws, d, N) the images, in the order of ``labels`` (N,); Y: (10, N) targets; start,
    weights: at both ends, the draws of a run side by side; spectra: for each layer its singular
    values (times, runs, draws, k); within, total: (times, runs, draws, layers) mean squares about
    class means and about the mean, of the data (layer 0) and of what leaves layers 1, 2, ...; loss,
    accuracy, gradient: (runs,) at the end, mean over draws.
    """

    setting: Setting
    net: networks.Dense
    X: Tensor
    Y: Tensor
    labels: np.ndarray
    provenance: Provenance
    start: Weights
    weights: Weights
    spectra: tuple[Tensor, ...]
    within: Tensor
    total: Tensor
    loss: Tensor
    accuracy: Tensor
    gradient: Tensor

    @property
    def layers(self) -> tuple[int, ...]:
        """The layers with more than ten singular values, counted from 0."""
        return tuple(at for at, v in enumerate(self.spectra) if v.shape[-1] > CLASSES)

    @property
    def relative(self) -> Tensor:
        """``within`` as a share of ``total``."""
        return self.within / self.total

    def tail(self, layer: int) -> Tensor:
        """(times, runs, draws) the share of the singular values beyond the tenth in their sum."""
        v = self.spectra[layer]
        return v[..., CLASSES:].sum(-1) / v.sum(-1)

    def soft_rank(self, layer: int, *, epsilon: float = 0.1) -> Tensor:
        """(times, runs, draws) how many singular values carry all but ``epsilon`` of their sum."""
        v = self.spectra[layer]
        beyond = v.flip(-1).cumsum(-1).flip(-1) / v.sum(-1, keepdim=True)
        return (beyond > epsilon).sum(-1).double()

    def hidden(self, weights: Weights) -> list[Tensor]:
        """The images and what leaves each layer, (runs · draws, width, N) each."""
        return _hidden(self.net, weights, self.X)


def _hidden(net: networks.Dense, weights: Weights, X: Tensor) -> list[Tensor]:
    return [X, *net.forward(weights, X)[1]]


@lru_cache(maxsize=4)
def _course(setting: Setting) -> Course:
    runs, draws, names = len(setting.names), setting.draws, setting.names
    seeds = range(setting.seed, setting.seed + draws)
    size = setting.per_class
    drawn = [classes.draw(setting.dataset, per_class=size, seed=seed) for seed in seeds]
    labels, Y = drawn[0].labels, drawn[0].onehot
    pixels = [c.pixels for c in drawn]
    mixed = [p[:, _order(setting.seed, at, len(labels))] for at, p in enumerate(pixels)]
    X = torch.stack([p for name in names for p in (mixed if "shuffled" in name else pixels)])

    hidden = (setting.width,) * 3
    net = networks.Dense((X.shape[1], *hidden, CLASSES), activation="tanh")
    first = net.init(trials=draws, seed=setting.seed, kind="xavier")
    start = [(W.repeat(runs, 1, 1), b if b is None else b.repeat(runs, 1, 1)) for W, b in first]
    masks = [(1, 0, 0, 1) if "inside" in name else (1, 1, 1, 1) for name in names]
    strength = [[lam * m for m in mask] for lam, mask in zip(setting.lams, masks, strict=True)]

    def singular(layer: int) -> Measure:
        return lambda state: torch.linalg.svdvals(state.weights[layer][0])

    def variation(parts: np.ndarray) -> Measure:
        return lambda state: torch.stack(
            [ranks.wcss(H, parts) for H in _hidden(net, state.weights, X)], -1
        )

    def fold(values: Tensor, axis: int = 0) -> Tensor:
        return values.unflatten(axis, (runs, draws))

    penalty = torch.tensor(strength).repeat_interleave(draws, 0)
    # Dense is a Network whose attributes cannot be set, which the protocol does not say
    task = training.Objective(
        net,
        X,
        Y,
        normalization="sample",
        penalty=penalty,
    )
    path = training.train(
        task,
        start,
        training.Momentum(setting.rate, MOMENTUM),
        setting.steps,
        schedule=setting.looks,
        measure={f"s{at}": singular(at) for at in range(net.depth)}
        | {"within": variation(labels), "total": variation(0 * labels)},
    )
    if lost := int(path.diverged.sum()):
        raise ValueError(
            f"With rate = {setting.rate} {lost} of {len(X)} runs on {setting.dataset} diverged: "
            "choose a smaller rate."
        )
    guess = net.forward(path.weights, X)[1][-1].argmax(1)
    right = (guess == torch.from_numpy(labels)).float().mean(1)
    return Course(
        setting=setting,
        net=net,
        X=X,
        Y=Y,
        labels=labels,
        provenance=drawn[0].provenance,
        start=start,
        weights=path.weights,
        spectra=tuple(fold(path.trace[f"s{at}"].double(), 1) for at in range(net.depth)),
        within=fold(path.trace["within"].double(), 1),
        total=fold(path.trace["total"].double(), 1),
        loss=fold(path.loss).mean(1),
        accuracy=fold(right).mean(1),
        gradient=fold(path.gradient_norm).mean(1),
    )


def _order(seed: int, draw: int, samples: int) -> np.ndarray:
    """The permutation of the images against their labels."""
    return generator(seed, draw, "shuffle").permutation(samples)


def half_way(steps: Sequence[int], curve: Tensor) -> float:
    """The step at which a curve (times,) is half-way from start to end, log-interpolated.

    Examples
    --------
    >>> round(half_way([0, 1, 4, 16], torch.tensor([8.0, 8.0, 2.0, 2.0])), 9)
    2.0
    """
    values = curve.numpy()
    goal = (values[0] + values[-1]) / 2
    at = int(np.argmax(np.sign(values - goal) != np.sign(values[0] - goal)))
    a, b = np.log(max(steps[at - 1], 1)), np.log(steps[at])
    part = (values[at - 1] - goal) / (values[at - 1] - values[at])
    return float(np.exp(a + part * (b - a)))
