"""Networks of many kinds, most of them unlike any in this repository."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Functional(nn.Module):
    """Functional operations, one activation object twice, in place, and a dictionary as output."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b, self.c = nn.Linear(6, 8), nn.Linear(8, 8), nn.Linear(8, 3)
        self.act = nn.ReLU(inplace=True)

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        h = F.gelu(self.a(x))
        h = h + self.act(self.b(h))
        h = self.act(h - 0.1)
        return {"logits": self.c(h), "hidden": 2 * h, "count": torch.tensor(3)}


class Residual(nn.Module):
    """A residual network with convolutions, batch normalization and one ReLU for all."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(1, 4, 3, padding=1)
        self.one, self.two = (nn.Conv2d(4, 4, 3, padding=1, bias=False) for _ in range(2))
        self.n1, self.n2 = nn.BatchNorm2d(4), nn.BatchNorm2d(4)
        self.relu, self.head = nn.ReLU(), nn.Linear(4, 3)

    def forward(self, x: Tensor) -> Tensor:
        x = self.stem(x)
        y = self.relu(self.n1(self.one(x)))
        x = self.relu(x + self.n2(self.two(y)))
        return self.head(x.mean((2, 3)))


class Recurrent(nn.Module):
    """A recurrent layer with time first, as torch has it by default."""

    def __init__(self, kind: type[nn.Module], **options: Any) -> None:
        super().__init__()
        self.cell, self.head = kind(5, 6, **options), nn.Linear(6, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.cell(x.transpose(0, 1))[0][-1])


class Encoder(nn.Module):
    """A transformer's encoder; with a mask, torch hands nested tensors from layer to layer."""

    def __init__(self, *, padded: bool) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        self.encoder, self.head, self.padded = (
            nn.TransformerEncoder(layer, 2),
            nn.Linear(8, 3),
            padded,
        )

    def forward(self, x: Tensor) -> Tensor:
        mask = x[..., 0] > 0.8 if self.padded else None
        if mask is not None:
            mask = mask.sort(dim=1).values
            mask[:, 0] = False
        return self.head(self.encoder(x, src_key_padding_mask=mask).mean(1))


class Attention(nn.Module):
    """Attention alone: its output projection never fires."""

    def __init__(self) -> None:
        super().__init__()
        self.attend, self.head = nn.MultiheadAttention(8, 2, batch_first=True), nn.Linear(8, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.attend(x, x, x)[0].mean(1))


class Tied(nn.Module):
    """A language model whose embedding is its output layer."""

    def __init__(self) -> None:
        super().__init__()
        self.embed, self.mix = nn.Embedding(11, 6), nn.GRU(6, 6, batch_first=True)
        self.head = nn.Linear(6, 11, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, tokens: Tensor) -> Tensor:
        return self.head(self.mix(self.embed(tokens))[0][:, -1])


class Mixer(nn.Module):
    """A mixer: linear maps across positions and across channels, by transposing."""

    def __init__(self) -> None:
        super().__init__()
        self.across, self.along = nn.Linear(4, 4), nn.Linear(6, 6)
        self.norm, self.head = nn.LayerNorm(6), nn.Linear(6, 3)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.across(x.mT).mT
        return self.head(self.norm(x + F.silu(self.along(x))).mean(1))


class Patches(nn.Module):
    """Positions folded into the axis of points, as windows of attention do."""

    def __init__(self) -> None:
        super().__init__()
        self.patch, self.head = nn.Linear(4, 5), nn.Linear(20, 3)

    def forward(self, x: Tensor) -> Tensor:
        rows = x.reshape(len(x) * 4, 4)
        return self.head(torch.tanh(self.patch(rows)).reshape(len(x), -1))


class Graph(nn.Module):
    """Message passing on a fixed graph of four nodes."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("links", torch.tensor([[0.0, 1, 0, 1], [1, 0, 1, 0]] * 2) / 2)
        self.one, self.two, self.head = nn.Linear(6, 7), nn.Linear(7, 7), nn.Linear(7, 3)

    def forward(self, x: Tensor) -> Tensor:
        x = torch.relu(self.links @ self.one(x))
        return self.head(torch.relu(self.links @ self.two(x)).sum(1))


def images(n: int) -> Tensor:
    return torch.randn(n, 1, 6, 6)


def vectors(n: int) -> Tensor:
    return torch.randn(n, 6)


def sequences(n: int) -> Tensor:
    return torch.randn(n, 4, 5)


Make = tuple[Callable[[], nn.Module], Callable[[int], Tensor]]
MODELS: dict[str, Make] = {
    "perceptron": (lambda: nn.Sequential(nn.Linear(6, 9), nn.ReLU(), nn.Linear(9, 3)), vectors),
    "normalized": (
        lambda: nn.Sequential(
            nn.Linear(6, 8), nn.BatchNorm1d(8), nn.GELU(), nn.Dropout(0.5), nn.Linear(8, 3)
        ),
        vectors,
    ),
    "functional": (Functional, vectors),
    "convolutional": (
        lambda: nn.Sequential(
            nn.Conv2d(1, 4, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(16, 3)
        ),
        images,
    ),
    "depthwise": (
        lambda: nn.Sequential(
            nn.Conv2d(1, 6, 3), nn.GroupNorm(2, 6), nn.SiLU(), nn.Conv2d(6, 6, 3, groups=6),
            nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(6, 3),
        ),
        images,
    ),
    "residual": (Residual, images),
    "one-dimensional": (
        lambda: nn.Sequential(
            nn.Conv1d(4, 5, 2), nn.Tanh(), nn.AvgPool1d(2), nn.Flatten(), nn.Linear(10, 3)
        ),
        sequences,
    ),
    "lstm": (lambda: Recurrent(nn.LSTM, num_layers=2), sequences),
    "gru": (lambda: Recurrent(nn.GRU, bidirectional=False), sequences),
    "elman": (lambda: Recurrent(nn.RNN), sequences),
    "encoder": (lambda: Encoder(padded=False), lambda n: torch.rand(n, 4, 8)),
    "padded encoder": (lambda: Encoder(padded=True), lambda n: torch.rand(n, 4, 8)),
    "attention": (Attention, lambda n: torch.randn(n, 4, 8)),
    "tied": (Tied, lambda n: torch.randint(0, 11, (n, 5))),
    "mixer": (Mixer, lambda n: torch.randn(n, 4, 6)),
    "patches": (Patches, lambda n: torch.randn(n, 16)),
    "graph": (Graph, lambda n: torch.randn(n, 4, 6)),
    "autoencoder": (
        lambda: nn.Sequential(
            nn.Conv2d(1, 3, 3, stride=2), nn.ReLU(), nn.ConvTranspose2d(3, 1, 3, stride=2),
        ),
        images,
    ),
}  # fmt: skip


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that asks for an architecture runs once for each."""
    if "architecture" in metafunc.fixturenames:
        metafunc.parametrize("architecture", MODELS)


@pytest.fixture
def made(architecture: str) -> tuple[nn.Module, Tensor, Tensor]:
    """A network of this architecture, 60 inputs and their labels, in three classes."""
    torch.manual_seed(0)
    make, draw = MODELS[architecture]
    return make(), draw(60), torch.arange(60) % 3


@pytest.fixture
def networks() -> dict[str, Callable[[], nn.Module]]:
    """The classes of networks, by name."""
    found = {name: make for name, (make, _) in MODELS.items()}
    return found
