"""Measuring leaves no trace: state, mode, gradients, random numbers, hooks, attributes."""

from __future__ import annotations

import copy
import random
from typing import Any

import numpy as np
import pytest
import torch
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
