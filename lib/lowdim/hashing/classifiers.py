"""Classifiers of images, and the ratio ρ of their representations beside that of simpler things.

Images of ten classes are (10, n, channels, side, side); a representation of them is (10, n, p),
what enters a classifier's last linear map. ρ is the mean distance between two images of different
classes over that between two of one class, ρ₂ the same of squared distances.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, cast

import numpy as np
import torch
from torch import Tensor, nn

from lowdim.data.images import Provenance, load
from lowdim.hashing import baselines, separation
from lowdim.hashing.myrtle import Fitted, Myrtle, fit
from lowdim.seeds import generator

__all__ = [
    "Data", "Learnt", "Probe", "Reading", "Score", "Task", "channel_ratios", "look", "measure",
    "pair_distances", "rescaled", "score",
]  # fmt: skip

CLASSES = 10
FEW = 40  # images of each class for distances between pairs


class Score(NamedTuple):
    """ρ of distances and of squares, and the share of right answers (None without a classifier)."""

    rho: float
    squares: float
    accuracy: float | None = None

    def cells(self) -> tuple[str, str, str]:
        """As a table shows it.

        Examples
        --------
        >>> Score(1.5, 2.0).cells(), Score(float("nan"), 2.0, 0.5).cells()
        (('1.50', '2.00', '–'), ('0/0', '2.00', '0.500'))
        """
        rho, squares = ("0/0" if v != v else f"{v:.2f}" for v in (self.rho, self.squares))
        return rho, squares, "–" if self.accuracy is None else f"{self.accuracy:.3f}"


def score(R: Tensor, accuracy: float | None = None) -> Score:
    """Both ratios of a representation (m, n, p), over pairs of the first forty points of a class.

    NaN if R is not finite, or if all points agree.

    Examples
    --------
    >>> score(torch.tensor([[[0.0], [1.0]], [[4.0], [5.0]]]))
    Score(rho=4.0, squares=16.5, accuracy=None)
    """
    if not bool(R.isfinite().all()):
        return Score(float("nan"), float("nan"), accuracy)
    R = R[:, :FEW].double()
    how: dict[str, Any] = {"over": "mean", "within": "pairs"}
    plain, squares = (float(separation.rho(R, squared=s, **how)) for s in (False, True))
    return Score(plain, squares, accuracy)


@torch.no_grad()
def look(net: Any, images: Tensor) -> tuple[Tensor, float]:
    """Representations (10, n, p) of images, and the share of them that is classified rightly.

    Examples
    --------
    >>> R, right = look(Probe(4), torch.zeros(10, 3, 1, 2, 2))
    >>> R.shape, round(right, 6)  # equal scores: every image is called the first class
    (torch.Size([10, 3, 10]), 0.1)
    """
    parts = [net.represent(part) for part in images.flatten(0, 1).split(200)]
    answers = torch.cat([net.head(part) for part in parts]).argmax(1)
    right = answers == torch.arange(len(images)).repeat_interleave(images.shape[1])
    return torch.cat(parts).unflatten(0, (len(images), -1)).double(), float(right.float().mean())


def measure(net: nn.Module, images: Tensor) -> Score:
    """:func:`score` of what ``net`` makes of images (10, n, channels, side, side).

    Examples
    --------
    >>> measure(Task(per_class=4, test_per_class=4).network(), torch.rand(10, 4, 1, 8, 8)).rho > 0
    True
    """
    return score(*look(net, images))


def pair_distances(R: Tensor) -> tuple[np.ndarray, np.ndarray]:
    """Distances within and between classes, over all ordered pairs of at most forty points each.

    Examples
    --------
    >>> within, between = pair_distances(torch.tensor([[[0.0], [1.0]], [[4.0], [5.0]]]))
    >>> within.tolist(), sorted(between.tolist())
    ([1.0, 1.0, 1.0, 1.0], [3.0, 3.0, 4.0, 4.0, 4.0, 4.0, 5.0, 5.0])
    """
    R = R[:, :FEW].double()
    D = torch.cdist(R.flatten(0, 1), R.flatten(0, 1))
    own = torch.arange(len(R)).repeat_interleave(R.shape[1])
    same = own[:, None] == own
    return D[same & ~torch.eye(len(own), dtype=torch.bool)].numpy(), D[~same].numpy()


class Probe(nn.Module):
    """A linear map of the pixels, zero at the start; what it hands on are its ten scores.

    Examples
    --------
    >>> Probe(4)(torch.ones(2, 1, 2, 2)).shape
    torch.Size([2, 10])
    """

    def __init__(self, inputs: int) -> None:
        super().__init__()
        self.map = nn.Linear(inputs, CLASSES)
        self.head = nn.Identity()
        nn.init.zeros_(self.map.weight)
        nn.init.zeros_(self.map.bias)

    def represent(self, images: Tensor) -> Tensor:
        """The ten scores (N, 10) of images (N, channels, side, side)."""
        return self.map(images.flatten(1))

    def forward(self, images: Tensor) -> Tensor:
        return self.represent(images)


@dataclass(frozen=True)
class Data:
    """train, test: (10, n, channels, side, side), each channel of train with mean 0, variance 1."""

    train: Tensor
    test: Tensor
    provenance: Provenance

    @property
    def flat(self) -> Tensor:
        """Training images one after another, (10 n, channels, side, side)."""
        return self.train.flatten(0, 1)

    @property
    def labels(self) -> Tensor:
        """Their classes, (10 n,)."""
        return torch.arange(CLASSES).repeat_interleave(self.train.shape[1])


class Learnt(NamedTuple):
    """A trained network; path (marks, 3): ρ on training and on test images, test accuracy."""

    net: Myrtle
    path: Tensor


@dataclass(frozen=True)
class Reading:
    """A short run under another reading; growth is the size of its convolutions, end over start,
    NaN if training stopped."""

    train: Score
    test: Score
    growth: float
    diverged: bool

    def cells(self) -> tuple[str, ...]:
        """ρ and ρ₂ on test images, both accuracies, growth, as a table shows them.

        Examples
        --------
        >>> Reading(Score(1.0, 1.0, 0.5), Score(1.0, 1.0, 0.25), 2.0, True).cells()
        ('diverged', '–', '0.500', '0.250', '2.00')
        """
        rho, squares, right = self.test.cells()
        if self.diverged:
            rho, squares = "diverged", "–"
        growth = "–" if self.growth != self.growth else f"{self.growth:.2f}"
        return rho, squares, self.train.cells()[2], right, growth


@dataclass(frozen=True)
class Task:
    """Ten classes of images, a Myrtle network of ``width`` c, and how long it is trained.

    Equal tasks share their data and their trained networks, so that a figure and the text below it
    train once.

    Examples
    --------
    >>> task = Task("digits", per_class=5, test_per_class=3)
    >>> task.data.train.shape, task.marks
    (torch.Size([10, 5, 1, 8, 8]), [5, 15, 50, 100, 150])
    """

    dataset: str = "digits"
    per_class: int = 60
    test_per_class: int = 60
    width: int = 4
    epochs: int = 150
    seed: int = 0

    @property
    def data(self) -> Data:
        """Its images, split into training and test images."""
        return _data(self.dataset, self.per_class, self.test_per_class, self.seed)

    @property
    def marks(self) -> list[int]:
        """Epochs after which training is looked at; the rate falls after a third."""
        n = self.epochs
        return sorted({max(1, n // 30), max(1, n // 10), n // 3, 2 * n // 3, n})

    @property
    def shuffled(self) -> Tensor:
        """The training labels in random order, (10 n,)."""
        order = generator(self.seed, 0, "shuffle").permutation(CLASSES * self.per_class)
        return self.data.labels[torch.from_numpy(order)]

    def network(self, *, normalize: bool = True, start: int = 0) -> Myrtle:
        """An untrained network; the paper keeps all poolings for CIFAR-10 and two for MNIST."""
        channels, side = self.data.train.shape[2:4]
        pools = 4 if self.dataset == "cifar10" else 2
        return Myrtle(
            side=side,
            channels=channels,
            width=self.width,
            pools=pools,
            normalize=normalize,
            seed=self.seed + start,
        ).eval()

    def learn(self, *, decay: float = 0.1, shuffle: bool = False) -> Learnt:
        """Train to the end: a third of the epochs at the rate 0.1, the rest at 0.01.

        ``decay`` is λ. With ``shuffle`` the labels are :attr:`shuffled` and the start is another.
        """
        return _learnt(self, float(decay), shuffle)

    def represented(self) -> dict[str, Tensor]:
        """Test images as pixels and as the untrained and the trained network have them."""
        test = self.data.test
        nets = {"untrained": self.network(), "trained": self.learn().net}
        return {"pixels": test.flatten(2).double()} | {k: look(v, test)[0] for k, v in nets.items()}

    def read(self, *, epochs: int, normalize: bool = True, **how: Any) -> Reading:
        """Train a new network for ``epochs`` under another reading; ``how`` as for ``fit``."""
        net = self.network(normalize=normalize)
        before = _size(net)
        run: Fitted = fit(
            net, self.data.flat, self.data.labels, epochs=epochs, seed=self.seed, **how
        )
        R, right = look(net, self.data.test)
        lost = run.diverged or not bool(R.isfinite().all())
        growth = float("nan") if run.diverged else _size(net) / before
        return Reading(measure(net, self.data.train), score(R, right), growth, lost)


@cache
def _data(dataset: str, per_class: int, test_per_class: int, seed: int) -> Data:
    taken = load(dataset, per_class=per_class + test_per_class, classes=CLASSES, seed=seed)
    pixels = torch.from_numpy(taken.images).float() / 255
    pixels = (pixels[..., None] if pixels.ndim == 3 else pixels).permute(0, 3, 1, 2)
    order = [torch.from_numpy(np.flatnonzero(taken.labels == c)) for c in range(CLASSES)]
    X = pixels[torch.stack(order)]
    mean = X[:, :per_class].mean((0, 1, 3, 4), keepdim=True)
    deviation = X[:, :per_class].std((0, 1, 3, 4), keepdim=True)
    train, test = ((X - mean) / deviation).split([per_class, test_per_class], 1)
    return Data(train, test, taken.provenance)


@cache
def _learnt(task: Task, decay: float, shuffle: bool) -> Learnt:
    data = task.data
    net = task.network(start=int(shuffle))
    goal = task.shuffled if shuffle else data.labels
    path, before = [], 0
    for k, mark in enumerate(task.marks):
        rate = 0.1 * (1.0 if mark <= task.epochs // 3 else 0.1)
        how: dict[str, Any] = {"rate": rate, "drop": 1.0, "decay": decay, "seed": task.seed + k}
        fit(net, data.flat, goal, epochs=mark - before, **how)
        old, new = (measure(net, images) for images in (data.train, data.test))
        path.append([old.rho, new.rho, new.accuracy])
        before = mark
    return Learnt(net, torch.tensor(path))


def _size(net: Myrtle) -> float:
    squares = (cast(Tensor, c.weight).detach().square().sum() for c in net.convolutions)
    return float(cast(Tensor, sum(squares))) ** 0.5


def channel_ratios(R: Tensor, channels: int) -> Tensor:
    """ρ₂ of each channel alone, (channels,), from a representation (m, n, channels · positions).

    NaN for a channel that never varies.

    Examples
    --------
    >>> R = torch.tensor([[[0.0, 0, 1], [2, 0, 1]], [[5, 0, 1], [7, 0, 1]]])
    >>> channel_ratios(R, 3).tolist()
    [6.75, nan, nan]
    """
    squares = baselines.feature_squares(R)
    between, within = (v.unflatten(0, (channels, -1)).sum(1) for v in squares)
    return torch.where(between > 0, between / within.clamp_min(1e-300), torch.nan)


@torch.no_grad()
def rescaled(net: Myrtle, factors: Tensor) -> Myrtle:
    """A copy that computes the same scores from features multiplied by ``factors`` (channels,).

    The last normalization's scale and offset are multiplied, the linear map divided.

    Raises
    ------
    ValueError
        If the network has no normalization, a factor is not above 0, or their number is not that
        of the last convolution's channels.

    Examples
    --------
    >>> net, x = Myrtle(side=4, channels=1, width=1, pools=1).eval(), torch.ones(1, 1, 4, 4)
    >>> twin = rescaled(net, torch.full((8,), 2.0))
    >>> torch.allclose(twin.represent(x), 2 * net.represent(x)), torch.allclose(twin(x), net(x))
    (True, True)
    """
    last = net.norms[3]
    if not isinstance(last, nn.BatchNorm2d):
        raise ValueError("only a network with normalization can be rescaled here; this has none.")
    if factors.shape != last.weight.shape or not bool((factors > 0).all()):
        raise ValueError(
            f"factors must be {len(last.weight)} numbers above 0; you gave {factors.tolist()}."
        )
    twin = deepcopy(net)
    norm: Any = twin.norms[3]
    norm.weight.mul_(factors)
    norm.bias.mul_(factors)
    positions = twin.head.weight.shape[1] // len(factors)
    twin.head.weight.div_(factors.repeat_interleave(positions))
    return twin.eval()
