"""Five small networks that see 8×8 digits, each in its own way: a gallery to put reports beside."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from lowdim import checks
from lowdim.data import images
from lowdim.instruments.recording import Recorder
from lowdim.seeds import generator

__all__ = ["ARCHITECTURES", "ENDS", "Pictures", "fit", "make", "pictures"]

SEEN = 7
"""Digits below it are trained on; the others are unseen classes."""


@dataclass(frozen=True)
class Pictures:
    """train, held_out, unseen: images (n, 1, 8, 8) in single precision, and labels (n,)."""

    train: tuple[Tensor, Tensor]
    held_out: tuple[Tensor, Tensor]
    unseen: tuple[Tensor, Tensor]


def pictures(*, points: int = 600, seed: int = 0) -> Pictures:
    """scikit-learn's digits; ``points`` of 0 to 6 to train on, the rest of them held out.

    Raises
    ------
    ValueError
        If ``points`` is below 50.

    Examples
    --------
    >>> found = pictures(points=100)
    >>> found.train[0].shape, sorted(set(found.unseen[1].tolist()))
    (torch.Size([100, 1, 8, 8]), [7, 8, 9])
    """
    checks.whole(points, "points", 50)
    found = images.load("digits")
    order = generator(seed, 0, "pictures").permutation(len(found.labels))
    x = torch.from_numpy(found.images[order]).float()[:, None]
    x = x / x.max()
    y = torch.from_numpy(found.labels[order]).long()
    seen = y < SEEN
    x_seen, y_seen = x[seen], y[seen]
    return Pictures(
        (x_seen[:points], y_seen[:points]),
        (x_seen[points:], y_seen[points:]),
        (x[~seen], y[~seen]),
    )


class _Residual(nn.Module):
    """x + two convolutions of x, with batch normalization."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(width, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, width, 3, padding=1),
        )  # fmt: skip

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(x + self.body(x))


class _Patches(nn.Module):
    """Sixteen patches of 2×2 pixels, with a place each, through one layer of attention."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.embed = nn.Conv2d(1, width, 2, stride=2)
        self.place = nn.Parameter(torch.zeros(16, width))
        self.attend = nn.TransformerEncoderLayer(width, 2, 2 * width, dropout=0.1, batch_first=True)
        self.head = nn.Linear(width, SEEN)

    def forward(self, x: Tensor) -> Tensor:
        tokens = self.embed(x).flatten(2).mT + self.place
        return self.head(self.attend(tokens).mean(1))


class _Rows(nn.Module):
    """The eight rows of an image, one after another, through a recurrent layer."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.read = nn.GRU(8, width, batch_first=True)
        self.head = nn.Linear(width, SEEN)

    def forward(self, x: Tensor) -> Tensor:
        values, _ = self.read(x.flatten(1, 2))
        return self.head(values[:, -1])


def _dense(width: int) -> nn.Module:
    return nn.Sequential(
        nn.Flatten(), nn.Linear(64, 4 * width), nn.ReLU(), nn.Linear(4 * width, 4 * width),
        nn.ReLU(), nn.Linear(4 * width, SEEN),
    )  # fmt: skip


def _conv(width: int) -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, width, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(width, 2 * width, 3, padding=1), nn.ReLU(), nn.Flatten(),
        nn.Linear(32 * width, 4 * width), nn.ReLU(), nn.Linear(4 * width, SEEN),
    )  # fmt: skip


def _residual(width: int) -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, width, 3, padding=1), nn.ReLU(), _Residual(width), nn.MaxPool2d(2),
        _Residual(width), nn.Flatten(), nn.Linear(16 * width, SEEN),
    )  # fmt: skip


ARCHITECTURES: dict[str, Callable[[int], nn.Module]] = {
    "perceptron": _dense,
    "convolutions": _conv,
    "residual": _residual,
    "attention": lambda width: _Patches(2 * width),
    "recurrent": lambda width: _Rows(4 * width),
}
"""Each makes a network from a width; the second is the chapter's own."""

ENDS = {
    "perceptron": ("4", "5"),
    "convolutions": ("7", "8"),
    "residual": ("4", "6"),
    "attention": ("before head", "head"),
    "recurrent": ("before head", "head"),
}
"""The last two places of each: what the last layer is given, and what it makes of it."""


def make(name: str, *, width: int = 8, seed: int = 0) -> nn.Module:
    """A network of the gallery; torch's own generator is left as it was.

    Raises
    ------
    ValueError
        If there is none of that name.

    Examples
    --------
    >>> make("recurrent", width=2)(torch.zeros(3, 1, 8, 8)).shape
    torch.Size([3, 7])
    """
    checks.choice(name, tuple(ARCHITECTURES), "name")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return ARCHITECTURES[name](width)


def fit(
    model: nn.Module,
    data: tuple[Tensor, Tensor],
    *,
    epochs: int = 4,
    decay: float = 0.01,
    rate: float = 0.01,
    batch: int = 50,
    seed: int = 0,
    recorder: Recorder | None = None,
) -> nn.Module:
    """Train a classifier by AdamW; a ``recorder`` is told of each step. Returns it, evaluating.

    Examples
    --------
    >>> data = pictures(points=100).train
    >>> model = fit(make("perceptron", width=2), data, epochs=1)
    >>> model.training
    False
    """
    x, y = data
    rng = generator(seed, 0, "fit")
    optimizer = torch.optim.AdamW(model.parameters(), rate, weight_decay=decay)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        for _ in range(epochs):
            model.train()
            for at in torch.from_numpy(rng.permutation(len(y))).split(batch):
                optimizer.zero_grad()
                nn.functional.cross_entropy(model(x[at]), y[at]).backward()
                optimizer.step()
                if recorder is not None:
                    recorder.step()
    return model.eval()
