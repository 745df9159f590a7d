"""A network is measured and afterwards is what it was, bit for bit, also when it raises.

Put back: parameters, buffers and gradients, by their bytes and in their own memory; flags, modes,
hooks; modules, parameters and attributes that a forward pass added, took away or changed, also
inside lists, tuples, dictionaries, sets and arrays; and the random numbers of Python, numpy and
torch on every device, with the generators that the model or its data hold. Objects of other kinds
are put back in their places, but not looked into.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

__all__ = ["untouched"]

Undo = Callable[[], object]


@contextmanager
def untouched(model: nn.Module, *others: object) -> Iterator[None]:
    """Whatever happens inside, ``model`` and all random numbers are afterwards as before.

    ``others`` are what data come from: the generators of loaders, of their samplers and of their
    data sets are put back too.

    Examples
    --------
    >>> model = nn.Sequential(nn.BatchNorm1d(2), nn.Dropout())
    >>> with untouched(model):
    ...     _ = model(torch.ones(4, 2))
    >>> int(model[0].num_batches_tracked)
    0
    """
    kept = _Kept()
    kept.module(model)
    rng = _Random(*others)
    try:
        yield
    finally:
        rng.restore()
        kept.restore()


class _Kept:
    """Everything that can be reached from a module, each object once."""

    def __init__(self) -> None:
        self.seen: dict[int, object] = {}  # holds them, so that no id is given to another
        self.undo: list[Undo] = []

    def restore(self) -> None:
        # a module's own dictionaries come before the tensors in them, and modes come last
        for step in self.undo:
            step()

    def module(self, model: nn.Module) -> None:
        # modules() first: those of TorchScript are not in the dictionary of the one above
        for module in model.modules():
            if self._is_new(module):
                held = vars(module)
                self.undo.append(_dictionary(held))
                for value in list(held.values()):
                    self.value(value)
                self.undo.append(_mode(module, module.training))
        for tensor in (*model.parameters(), *model.buffers()):
            self.value(tensor)

    def value(self, value: Any) -> None:
        """Keep what a forward pass could change in place in an attribute's value."""
        if isinstance(value, nn.Module):
            if id(value) not in self.seen:
                self.module(value)
        elif isinstance(value, Tensor):
            if self._is_new(value):
                self.undo.append(_tensor(value))
                if value.is_leaf and value.grad is not None:
                    self.value(value.grad)
        elif isinstance(value, tuple | frozenset):
            for part in value:
                self.value(part)
        elif isinstance(value, dict | list | deque | set | np.ndarray):
            if self._is_new(value):
                self._container(value)
        elif (undo := _generator(value)) is not None and self._is_new(value):
            self.undo.append(undo)

    def _container(self, value: Any) -> None:
        if isinstance(value, np.ndarray):
            self.undo.append(_array(value))
            return
        if isinstance(value, dict):
            self.undo.append(_dictionary(value))
        elif isinstance(value, set):
            self.undo.append(_set(value))
        else:
            self.undo.append(_list(value))
        for part in list(value.values() if isinstance(value, dict) else value):
            self.value(part)

    def _is_new(self, value: object) -> bool:
        if id(value) in self.seen:
            return False
        self.seen[id(value)] = value
        return True


def _mode(module: nn.Module, training: bool) -> Undo:
    def undo() -> None:
        if module.training != training:
            module.training = training

    return undo


def _dictionary(held: MutableMapping[Any, Any]) -> Undo:
    items = list(held.items())

    def undo() -> None:
        now = list(held.items())
        if [(k, id(v)) for k, v in now] != [(k, id(v)) for k, v in items]:
            held.clear()
            held.update(items)

    return undo


def _list(held: list[Any] | deque[Any]) -> Undo:
    items = list(held)

    def undo() -> None:
        if list(map(id, held)) != list(map(id, items)):
            held.clear()
            held.extend(items)

    return undo


def _set(held: set[Any]) -> Undo:
    items = held.copy()

    def undo() -> None:
        held.clear()
        held.update(items)

    return undo


def _array(held: np.ndarray) -> Undo:
    copied = held.copy()

    def undo() -> None:
        if held.tobytes() != copied.tobytes() and held.flags.writeable:
            held[...] = copied

    return undo


def _tensor(held: Tensor) -> Undo:
    """Bytes, memory, flag and gradient of one tensor; the gradient's own bytes are kept apart."""
    # .data: to put bytes back is no new version, of which autograd would complain
    place, copied = held.data, held.detach().clone()
    flag = held.requires_grad
    grad = held.grad if held.is_leaf else None

    def undo() -> None:
        with torch.inference_mode(held.is_inference()), torch.no_grad():
            if not _in_place(held, place):
                held.data = place
            if not _same(place, copied):
                place.copy_(copied)
        if held.is_leaf:
            if held.grad is not grad:
                held.grad = grad
            if held.requires_grad != flag:
                held.requires_grad = flag

    return undo


def _in_place(held: Tensor, place: Tensor) -> bool:
    """Whether a tensor is where it was; of a layout without a place nothing is known."""
    if held.layout != torch.strided or held.is_meta or held.is_nested:
        return True
    here, there = (
        (t.dtype, t.device, t.data_ptr(), tuple(t.shape), t.stride()) for t in (held, place)
    )
    return here == there


def _same(a: Tensor, b: Tensor) -> bool:
    """Whether two tensors of one shape have the same bytes: −0 is not 0, and a NaN is itself."""
    if a.is_meta:
        return True
    if a.layout != torch.strided or a.is_nested or a.is_quantized:
        return False
    one, two = (t.contiguous().reshape(-1).view(torch.uint8) for t in (a, b))
    return torch.equal(one, two)


def _generator(value: object) -> Undo | None:
    """Puts back a generator of torch, numpy or Python; None for anything else."""
    if isinstance(value, torch.Generator):
        state = value.get_state()
        return lambda: value.set_state(state)
    if isinstance(value, np.random.Generator):
        numpy_state = value.bit_generator.state
        return lambda: setattr(value.bit_generator, "state", numpy_state)
    if isinstance(value, np.random.RandomState):
        legacy = value.get_state()
        return lambda: value.set_state(legacy)
    if isinstance(value, random.Random):
        python = value.getstate()
        return lambda: value.setstate(python)
    return None


class _Random:
    """The states of all generators."""

    def __init__(self, *others: object) -> None:
        self.python, self.numpy = random.getstate(), np.random.get_state()  # noqa: NPY002
        self.torch = torch.get_rng_state()
        self.devices = torch.cuda.get_rng_state_all() if torch.cuda.is_available() else []
        self.mps = torch.mps.get_rng_state() if torch.backends.mps.is_available() else None
        self.own = [undo for other in others for undo in _generators(other)]

    def restore(self) -> None:
        random.setstate(self.python)
        np.random.set_state(self.numpy)  # noqa: NPY002
        torch.set_rng_state(self.torch)
        if self.devices:
            torch.cuda.set_rng_state_all(self.devices)
        if self.mps is not None:
            torch.mps.set_rng_state(self.mps)
        for undo in self.own:
            undo()


def _generators(other: object) -> list[Undo]:
    """The generators of a loader, of its samplers and of its data set, or of a data set itself."""
    found: list[Undo] = []
    paths = ((), ("sampler",), ("batch_sampler",), ("batch_sampler", "sampler"), ("dataset",))
    for path in paths:
        owner: object = other
        for name in path:
            owner = getattr(owner, name, None)
        for value in list(getattr(owner, "__dict__", {}).values()):
            undo = _generator(value)
            if undo is not None:
                found.append(undo)
    return found
