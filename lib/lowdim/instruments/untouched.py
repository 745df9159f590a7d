"""A network is measured and afterwards is what it was, bit for bit, also when it raises.

Kept and put back: each module's mode and plain attributes, buffers, gradients and their flags,
hooks, and the random numbers of Python, numpy and torch on every device, those of a loader's own
generator included. Parameters are compared by their version and put back if a forward pass writes
to them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

__all__ = ["untouched"]

MANAGED = frozenset(
    """_parameters _buffers _modules _non_persistent_buffers_set _forward_hooks
    _forward_hooks_with_kwargs _forward_hooks_always_called _forward_pre_hooks
    _forward_pre_hooks_with_kwargs _backward_hooks _backward_pre_hooks training""".split()
)


@contextmanager
def untouched(model: nn.Module, *others: object) -> Iterator[None]:
    """Whatever happens inside, ``model`` and all random numbers are afterwards as before.

    ``others`` are what data come from: the generators of loaders and of their samplers are put
    back too.

    Examples
    --------
    >>> model = nn.Sequential(nn.BatchNorm1d(2), nn.Dropout())
    >>> with untouched(model):
    ...     _ = model(torch.ones(4, 2))
    >>> int(model[0].num_batches_tracked)
    0
    """
    modules = list(model.modules())
    kept = [_Kept(module) for module in modules]
    parameters = [(p, p._version, p.grad, p.requires_grad) for p in model.parameters()]
    values = [p.detach().clone() for p, *_ in parameters]
    rng = _Random(*others)
    try:
        yield
    finally:
        rng.restore()
        for module in kept:
            module.restore()
        with torch.no_grad():
            for (p, version, grad, flag), value in zip(parameters, values, strict=True):
                if p._version != version:
                    p.copy_(value)
                p.grad, p.requires_grad = grad, flag


class _Kept:
    """One module's mode, buffers and plain attributes."""

    def __init__(self, module: nn.Module) -> None:
        self.module, self.training = module, module.training
        self.parameters = dict(module._parameters)
        self.buffers = {n: (b, None if b is None else _copied(b)) for n, b in _buffers(module)}
        plain = {n: v for n, v in vars(module).items() if n not in MANAGED}
        self.plain = {name: (value, _copied(value)) for name, value in plain.items()}

    def restore(self) -> None:
        module = self.module
        module.training = self.training
        module._parameters.update(self.parameters)
        for name, (buffer, value) in self.buffers.items():
            if buffer is not None and value is not None and not _same(buffer, value):
                with torch.no_grad():
                    buffer.copy_(value)
            module._buffers[name] = buffer
        for name in [n for n in vars(module) if n not in MANAGED and n not in self.plain]:
            del module.__dict__[name]
        for name, (value, copied) in self.plain.items():
            module.__dict__[name] = value
            if isinstance(value, Tensor) and not _same(value, copied):
                with torch.no_grad():
                    value.copy_(copied)
            elif isinstance(value, list):
                value[:] = copied
            elif isinstance(value, dict | set) and value is not copied:
                value.clear()
                value.update(copied)


def _buffers(module: nn.Module) -> list[tuple[str, Tensor | None]]:
    return list(module._buffers.items())


def _copied(value: Any) -> Any:
    """A copy of what a forward pass could change in place; anything else is kept by reference."""
    if isinstance(value, Tensor):
        return value.detach().clone()
    return value.copy() if type(value) in (list, dict, set) else value


def _same(a: Tensor, b: Tensor) -> bool:
    if a.shape != b.shape or a.dtype != b.dtype or a.is_meta:
        return False
    return torch.equal(a, b) or bool(((a == b) | ((a != a) & (b != b))).all())


class _Random:
    """The states of all generators."""

    def __init__(self, *others: object) -> None:
        self.python, self.numpy = random.getstate(), np.random.get_state()  # noqa: NPY002
        self.torch = torch.get_rng_state()
        self.devices = torch.cuda.get_rng_state_all() if torch.cuda.is_available() else []
        self.mps = torch.mps.get_rng_state() if torch.backends.mps.is_available() else None
        self.own = [(g, g.get_state()) for other in others for g in _generators(other)]

    def restore(self) -> None:
        random.setstate(self.python)
        np.random.set_state(self.numpy)  # noqa: NPY002
        torch.set_rng_state(self.torch)
        if self.devices:
            torch.cuda.set_rng_state_all(self.devices)
        if self.mps is not None:
            torch.mps.set_rng_state(self.mps)
        for generator, state in self.own:
            generator.set_state(state)


def _generators(other: object) -> list[torch.Generator]:
    """The generators of a loader, of its sampler and of that of its batches."""
    found: list[torch.Generator] = []
    for path in ((), ("sampler",), ("batch_sampler",), ("batch_sampler", "sampler")):
        owner: object = other
        for name in path:
            owner = getattr(owner, name, None)
        generator = getattr(owner, "generator", None)
        if isinstance(generator, torch.Generator) and all(generator is not g for g in found):
            found.append(generator)
    return found
