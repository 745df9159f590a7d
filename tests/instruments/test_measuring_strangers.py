"""Networks that nobody here had in mind: nothing moves, and nothing is left out in silence."""

from __future__ import annotations

import dataclasses
import types
from collections import namedtuple
from typing import Any

import pytest
import torch
from lowdim.instruments import capture
from lowdim.instruments.measuring import measure
from lowdim.instruments.untouched import bits
from torch import Tensor, nn

POINTS = 40
Pair = namedtuple("Pair", "logits hidden")


@dataclasses.dataclass
class Answer:
    logits: Tensor
    hidden: Tensor


class Vision(nn.Module):
    """A vision transformer: patches, a token of its own, places, two blocks."""

    def __init__(self) -> None:
        super().__init__()
        self.patch = nn.Conv2d(1, 8, 4, stride=4)
        self.token, self.place = nn.Parameter(torch.randn(1, 1, 8)), nn.Parameter(torch.randn(5, 8))
        self.norms = nn.ModuleList(nn.LayerNorm(8) for _ in range(2))
        self.looks = nn.ModuleList(nn.MultiheadAttention(8, 2, batch_first=True) for _ in range(2))
        self.maps = nn.ModuleList(
            nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 8)) for _ in range(2)
        )
        self.head = nn.Linear(8, 3)

    def forward(self, x: Tensor) -> Tensor:
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(len(x), -1, -1), x], 1) + self.place
        for norm, look, map_ in zip(self.norms, self.looks, self.maps, strict=True):
            y = norm(x)
            x = x + look(y, y, y, need_weights=False)[0]
            x = x + map_(x)
        return self.head(x[:, 0])


class Bowl(nn.Module):
    """A U-Net of one step down and up, with a skip that is concatenated."""

    def __init__(self) -> None:
        super().__init__()
        self.down, self.norm = nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4)
        self.deep = nn.Conv2d(4, 6, 3, padding=1)
        self.up = nn.ConvTranspose2d(6, 4, 2, stride=2)
        self.out = nn.Conv2d(8, 2, 1)

    def forward(self, x: Tensor) -> Tensor:
        top = torch.relu(self.norm(self.down(x)))
        deep = torch.relu(self.deep(nn.functional.max_pool2d(top, 2)))
        return self.out(torch.cat([top, self.up(deep)], 1))


class Speaker(nn.Module):
    """A recurrent encoder and a decoder whose cell is called once for each step."""

    def __init__(self) -> None:
        super().__init__()
        self.read, self.say = nn.GRU(5, 6, batch_first=True), nn.GRUCell(6, 6)
        self.word = nn.Linear(6, 4)

    def forward(self, x: Tensor) -> Tensor:
        _, state = self.read(x)
        state, words = state[0], []
        for _ in range(3):
            state = self.say(state, state)
            words.append(self.word(state))
        return torch.stack(words, 1)


class Normed(nn.Module):
    """Convolutions whose weights are made from others, in both of torch's ways."""

    def __init__(self) -> None:
        super().__init__()
        self.new = nn.utils.parametrizations.weight_norm(nn.Conv2d(1, 4, 3))
        with pytest.warns(FutureWarning):
            self.old = nn.utils.weight_norm(nn.Conv2d(4, 5, 3))
        self.head = nn.utils.parametrizations.spectral_norm(nn.Linear(80, 3))

    def forward(self, x: Tensor) -> Tensor:
        return self.head(torch.tanh(self.old(torch.relu(self.new(x)))).flatten(1))


class Returning(nn.Module):
    """What comes out is handed over in a box of some kind."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.inner = Boxing(kind)
        self.head = nn.Linear(7, 3)

    def forward(self, x: Tensor) -> Any:
        box = self.inner(x)
        return self.head(box["hidden"] if isinstance(box, dict) else box.hidden)


class Boxing(nn.Module):
    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind, self.map = kind, nn.Linear(36, 7)

    def forward(self, x: Tensor) -> Any:
        h = self.map(x.flatten(1))
        box = {"dict": dict, "dataclass": Answer, "tuple": Pair, "object": types.SimpleNamespace}
        return box[self.kind](logits=2 * h, hidden=h.sin())


NETWORKS: dict[str, Any] = {
    "vision": (Vision, (1, 8, 8)),
    "bowl": (Bowl, (1, 8, 8)),
    "speaker": (Speaker, (4, 5)),
    "normed": (Normed, (1, 8, 8)),
    **{kind: (lambda kind=kind: Returning(kind), (6, 6))
       for kind in ("dict", "dataclass", "tuple", "object")},
}  # fmt: skip


def drawn(name: str) -> tuple[nn.Module, Tensor, Tensor]:
    make, shape = NETWORKS[name]
    torch.manual_seed(0)
    return make(), torch.randn(POINTS, *shape), torch.arange(POINTS) % 2


@pytest.mark.parametrize("name", NETWORKS)
def test_nothing_moves_and_no_module_is_left_out_in_silence(name: str) -> None:
    model, x, y = drawn(name)
    model.train()
    before = bits(model)
    found = measure(model, x, labels=y, sample=20, probes=3, explained=0.5, batch=16)
    assert bits(model) == before
    named = {u.name for u in found.unseen} | {layer.name for layer in found.layers}
    for path, module in model.named_modules():
        if not path or "parametrizations" in path or isinstance(module, capture.HOLDERS):
            continue
        spoken = [n for n in named if n == path or n.startswith((f"{path}#", f"{path}["))]
        inside = any(n.startswith(f"{path}.") for n in named)
        assert spoken or inside, path


def test_a_weight_that_is_made_from_others_is_the_one_that_is_measured() -> None:
    model, x, y = drawn("normed")
    found = measure(model, x, labels=y, sample=20, probes=3)
    for name in ("new", "old", "head"):
        W = model.get_submodule(name).weight.detach().double().flatten(1)
        share = torch.linalg.svdvals(W).square()
        number = found.layer(name).weights["weight"]["tail"]
        assert number.value == pytest.approx(float(share[2:].sum() / share.sum()), abs=1e-6)
    assert not any("parametrizations" in u.name for u in found.unseen)


def test_a_cell_that_is_called_for_each_step_has_a_place_for_each() -> None:
    model, x, _ = drawn("speaker")
    with torch.no_grad():
        names = [tap.name for tap in capture.plan(model.eval(), x).taps]
    assert [n for n in names if n.startswith("say")] == ["say#1", "say#2", "say#3"]


def test_an_output_that_holds_no_tensor_that_can_be_found_is_named() -> None:
    model, x, _ = drawn("object")
    with torch.no_grad():
        plan = capture.plan(model.eval(), x)
    reasons = {u.name: u.reason for u in plan.unseen}
    assert reasons["inner"] == "it returns SimpleNamespace, in which no tensor was found"
    assert "before head" in [tap.name for tap in plan.taps]  # what came out of it is seen there


def test_wide_layers_are_taken_a_few_points_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """How many points are held at once changes no number."""
    from lowdim.instruments import moments, offdata

    model, x, y = drawn("bowl")
    options: dict[str, Any] = {"labels": y, "sample": 20, "probes": 5, "width": 64}
    whole = measure(model, x, **options)
    monkeypatch.setattr(offdata, "ROOM", 1)
    monkeypatch.setattr(moments, "PIECE", 1)
    monkeypatch.setattr(moments, "HELD", 16)
    parts = measure(model, x, batch=16, **options)
    for one, two in zip(whole.layers, parts.layers, strict=True):
        for part, names in one.numbers["train"].items():
            for name, number in names.items():
                other = two.number(part, name)
                if number.value is None or name == "far":
                    assert (number.value is None) == (other.value is None)
                    continue
                scale = 1e-3 if name == "normal_step" else 1e-5  # differences in single precision
                assert other.value == pytest.approx(number.value, rel=scale, abs=1e-6), name
