"""Measuring leaves no trace: state, mode, gradients, random numbers, hooks, attributes."""

from __future__ import annotations

import collections
import copy
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from lowdim.instruments.measuring import measure
from lowdim.instruments.recording import Recorder
from lowdim.instruments.untouched import untouched
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset


class Restless(nn.Module):
    """Everything that a forward pass can move, it moves."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.drop, self.map = nn.BatchNorm1d(3), nn.Dropout(), nn.Linear(3, 3)
        self.turned = nn.utils.parametrizations.spectral_norm(nn.Linear(3, 3))
        self.calls, self.cache, self.loose = 0, [], torch.zeros(2)

    def forward(self, x: Tensor) -> Tensor:
        self.calls += 1
        self.cache.append(x)
        self.loose += 1
        self.added = x
        with torch.no_grad():
            self.map.weight.mul_(1.01)
        random.random()
        np.random.rand()  # noqa: NPY002
        return self.turned(self.map(self.drop(self.norm(x))))


def everything(model: nn.Module) -> dict[str, Any]:
    """All that may not change, copied."""
    hooks = {
        n: [list(m._forward_hooks), list(m._forward_pre_hooks)] for n, m in model.named_modules()
    }
    return {
        "state": copy.deepcopy(model.state_dict()),
        "grad": [None if p.grad is None else p.grad.clone() for p in model.parameters()],
        "flags": [(p.requires_grad, p.dtype, p.device, id(p)) for p in model.parameters()],
        "mode": [m.training for m in model.modules()],
        "hooks": hooks,
        "names": [sorted(vars(m)) for m in model.modules()],
        "torch": torch.get_rng_state(),
        "numpy": [np.copy(part) for part in np.random.get_state()[1:]],  # noqa: NPY002
        "python": random.getstate(),
    }


def same(a: Any, b: Any) -> bool:
    if isinstance(a, Tensor):
        return torch.equal(a, b)
    if isinstance(a, np.ndarray):
        return np.array_equal(a, b)
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b


@pytest.mark.parametrize("fails", [False, True])
def test_nothing_moves(fails: bool) -> None:
    model = Restless()
    model.drop.eval()  # a mode of its own
    model.map.bias.requires_grad_(False)
    model(torch.randn(4, 3)).sum().backward()
    model.cache.clear()
    before, calls, loose = everything(model), model.calls, model.loose.clone()
    try:
        with untouched(model):
            model.train()
            model(torch.randn(4, 3))
            model.zero_grad()
            if fails:
                raise RuntimeError
    except RuntimeError:
        assert fails
    after = everything(model)
    assert not [key for key in before if not same(before[key], after[key])]
    assert (model.calls, model.cache) == (calls, [])
    assert torch.equal(model.loose, loose) and model.added is not None


def test_it_would_be_seen_if_something_moved() -> None:
    model = Restless()
    before = everything(model)
    model(torch.randn(4, 3))
    moved = {key for key in before if not same(before[key], everything(model)[key])}
    assert {"state", "names", "torch", "numpy", "python"} <= moved


def test_a_loader_s_own_generator_is_put_back() -> None:
    generator = torch.Generator().manual_seed(3)
    loader = DataLoader(TensorDataset(torch.arange(9.0)), shuffle=True, generator=generator)
    state = generator.get_state()
    with untouched(nn.Identity(), loader):
        list(loader)
        assert not torch.equal(generator.get_state(), state)
    assert torch.equal(generator.get_state(), state)


DATA = (torch.randn(40, 6, generator=torch.Generator().manual_seed(1)), torch.arange(40) % 4)


def bytes_of(model: nn.Module) -> dict[str, Any]:
    """What a state is made of, by bytes, identity and place in memory; NaN and −0 count."""
    out: dict[str, Any] = {}
    named = [*model.named_parameters(remove_duplicate=False)]
    for name, t in [*named, *model.named_buffers(remove_duplicate=False)]:
        flat = t.detach().contiguous().reshape(-1).view(torch.uint8)
        out[name] = (id(t), t.data_ptr(), t.stride(), t.requires_grad, flat.numpy().tobytes())
    for name, m in model.named_modules():
        hooks = [(k, list(v)) for k, v in vars(m).items() if "hook" in k and isinstance(v, dict)]
        out[f"module {name}"] = (id(m), m.training, sorted(vars(m)), list(m._modules), hooks)
    out["torch"] = torch.get_rng_state().numpy().tobytes()
    return out


def changed(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    return sorted(k for k in before.keys() | after.keys() if before.get(k) != after.get(k))


def normalized(**options: Any) -> nn.Sequential:
    torch.manual_seed(0)
    norm = nn.BatchNorm1d(8, **options)
    return nn.Sequential(nn.Linear(6, 8), norm, nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 4))


def without_count() -> nn.Sequential:
    model = normalized()
    model[1].num_batches_tracked = None
    return model


def with_nan_and_negative_zero() -> nn.Sequential:
    model = normalized()
    model[1].running_mean[:] = -0.0
    model[1].running_var[0] = float("nan")
    return model


def with_views() -> nn.Sequential:
    model = normalized()
    model[1].running_mean, model[1].running_var = torch.zeros(3, 8)[1], torch.ones(8, 5)[:, 2]
    model[1].register_buffer("wide", torch.ones(1).expand(8))
    return model


def used_twice() -> nn.Sequential:
    norm = nn.BatchNorm1d(6)
    return nn.Sequential(norm, nn.Linear(6, 6), norm, nn.Linear(6, 4))


def tied() -> nn.Sequential:
    one, two = nn.Linear(6, 6), nn.Linear(6, 6)
    two.weight = one.weight
    return nn.Sequential(one, nn.BatchNorm1d(6), two, nn.Linear(6, 4))


class Rewriting(nn.Module):
    """Writes past autograd, swaps memory, adds modules, parameters, buffers and hooks."""

    def __init__(self) -> None:
        super().__init__()
        self.one, self.two = nn.Linear(6, 4), nn.Linear(4, 4)
        self.register_buffer("count", torch.zeros(3))

    def forward(self, x: Tensor) -> Tensor:
        self.one.weight.data.mul_(1.01)
        self.two.weight.data = self.two.weight.data * 1.01
        self.count.data = self.count + 1
        h = self.one(x)
        if "more" not in self._modules:
            self.more, self.gain = nn.Linear(4, 4), nn.Parameter(torch.ones(1))
            self.register_buffer("cache", h.detach())
        self.one.register_forward_hook(lambda *args: None)
        self.one.requires_grad_(False)
        return self.two(h)


CASES: dict[str, Callable[[], nn.Module]] = {
    "batch norm": normalized,
    "cumulative average": lambda: normalized(momentum=None),
    "no statistics": lambda: normalized(track_running_stats=False),
    "no count": without_count,
    "nan, −0": with_nan_and_negative_zero,
    "views": with_views,
    "used twice": used_twice,
    "tied": tied,
    "rewriting": Rewriting,
}


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_a_measured_network_has_the_same_bytes(case: str, training: bool) -> None:
    model = CASES[case]().train()
    next(model.children()).eval()  # a mode of its own
    before = bytes_of(model)
    try:
        measure(model, DATA, sample=16, probes=3, batch=16, training=training)
    except ValueError:
        assert case == "nan, −0"  # it is refused, and put back as well
    assert not changed(before, bytes_of(model))


@pytest.mark.parametrize("at", [1, 2, 4, 6, 8])
def test_a_network_that_raises_late_has_the_same_bytes(at: int) -> None:
    model, calls = normalized().train(), []

    def how(m: nn.Module, x: Tensor) -> Tensor:
        calls.append(0)
        out: Tensor = m(x)
        if len(calls) == at:
            raise RuntimeError("enough")
        return out

    before = bytes_of(model)
    with pytest.raises(ValueError, match="enough"):
        measure(model, DATA, sample=16, probes=3, batch=16, training=True, how=how)
    assert not changed(before, bytes_of(model))


class Holding(nn.Module):
    """Containers in containers, arrays, generators and a module that torch does not know of."""

    def __init__(self) -> None:
        super().__init__()
        self.map = nn.Linear(6, 4)
        self.nested = {"k": [1], "t": (torch.zeros(1), [0])}
        self.queue, self.array = collections.deque([1], 3), np.zeros(2)
        self.lists = collections.defaultdict(list)
        self.loose = [nn.BatchNorm1d(6)]
        self.torch_rng = torch.Generator().manual_seed(1)
        self.numpy_rng, self.python_rng = np.random.default_rng(1), random.Random(1)

    def forward(self, x: Tensor) -> Tensor:
        self.nested["k"].append(2)
        self.nested["t"][0].add_(1)
        self.nested["t"][1].append(1)
        self.queue.append(2)
        self.array += 1
        self.lists["z"].append(1)
        torch.rand(1, generator=self.torch_rng)
        self.numpy_rng.random()
        self.python_rng.random()
        return self.map(self.loose[0](x))

    def told(self) -> str:
        state = self.torch_rng.get_state().numpy().tobytes()
        draws = (self.numpy_rng.bit_generator.state, self.python_rng.getstate(), state)
        norm = self.loose[0]
        kept = (self.nested, self.queue, self.array, self.lists, norm.running_mean, norm.training)
        return repr((kept, draws))


def test_what_a_network_holds_in_attributes_is_put_back() -> None:
    model = Holding()
    before, parts = model.told(), [id(model.nested), id(model.queue), id(model.lists)]
    measure(model, DATA, sample=16, probes=3)
    assert model.told() == before
    assert [id(model.nested), id(model.queue), id(model.lists)] == parts


def test_a_network_can_be_measured_between_forward_and_backward() -> None:
    model = normalized().train()
    out = model(torch.ones(8, 6)).sum()
    measure(model, DATA, sample=16, probes=3)
    out.backward()
    assert all(p.grad is not None for p in model.parameters())


def test_tensors_that_autograd_does_not_follow_can_be_measured() -> None:
    with torch.inference_mode():
        model = normalized().eval()
    measure(model, DATA, sample=16, probes=3)


@pytest.mark.parametrize("shuffle", [False, True])
def test_reading_a_loader_draws_nothing(shuffle: bool) -> None:
    """A loader takes a seed from torch's generator whenever it is read, shuffled or not."""
    model = normalized()
    whole = TensorDataset(torch.randn(40, 6), torch.arange(40) % 4)
    loader = DataLoader(whole, batch_size=16, shuffle=shuffle)
    state = torch.get_rng_state()
    measure(model, loader, held_out=loader, sample=16, probes=3)
    assert torch.equal(torch.get_rng_state(), state)
    measure(model, whole, sample=16, probes=3)
    assert torch.equal(torch.get_rng_state(), state)
    Recorder(model, loader, steps=[1])
    assert torch.equal(torch.get_rng_state(), state)


def test_points_are_not_written_into_by_a_first_layer_that_works_in_place() -> None:
    x, y = torch.randn(40, 6), torch.arange(40) % 4
    kept, found = x.clone(), []
    for in_place in (True, False):
        torch.manual_seed(0)
        model = nn.Sequential(nn.ReLU(inplace=in_place), nn.Linear(6, 4))
        found.append(measure(model, [(x[:20], y[:20]), (x[20:], y[20:])], sample=16, probes=3))
        assert torch.equal(x, kept)
    a, b = (each.as_json()["layers"] for each in found)
    assert a == b  # nor is a number another one
