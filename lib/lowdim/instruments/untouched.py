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

__all__ = ["bits", "untouched"]

Undo = Callable[[], object]
Show = Callable[[], bytes]
PLAIN = (bool, int, float, complex, str, bytes, type(None))


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


def bits(model: nn.Module, *others: object) -> dict[str, bytes]:
    """What :func:`untouched` puts back, as it is now: bytes by name. Equal before and after means
    that nothing moved, an object that was exchanged for an equal one included.

    Examples
    --------
    >>> model = nn.Linear(2, 1)
    >>> before = bits(model)
    >>> _ = nn.init.zeros_(model.bias), torch.rand(1)
    >>> [name for name, value in bits(model).items() if value != before[name]]
    ['bias', 'random numbers: torch']
    """
    kept = _Kept()
    kept.module(model)
    rng = _Random(*others)
    return {name: show() for name, show in kept.shown} | rng.shown()


class _Kept:
    """Everything that can be reached from a module, each object once, and its name."""

    def __init__(self) -> None:
        self.seen: dict[int, object] = {}  # holds them, so that no id is given to another
        self.undo: list[Undo] = []
        self.shown: list[tuple[str, Show]] = []

    def restore(self) -> None:
        # a module's own dictionaries come before the tensors in them, and modes come last
        for step in self.undo:
            step()

    def _keep(self, name: str, undo: Undo, show: Show) -> None:
        self.undo.append(undo)
        self.shown.append((name, show))

    def module(self, model: nn.Module, above: str = "") -> None:
        # modules() first: those of TorchScript are not in the dictionary of the one above
        for path, module in model.named_modules(prefix=above):
            if self._is_new(module):
                held = vars(module)
                self._keep(f"{path or 'the model'}: attributes", _dictionary(held), _items(held))
                for key, value in list(held.items()):
                    # parameters and buffers by the names that torch gives them
                    self.value(value, path if key in OWN else _join(path, key))
                mode = module.training
                show = lambda module=module: bytes([module.training])  # noqa: E731
                self._keep(f"{path or 'the model'}: mode", _mode(module, mode), show)
        for path, tensor in (*model.named_parameters(prefix=above), *model.named_buffers(above)):
            self.value(tensor, path)

    def value(self, value: Any, name: str) -> None:
        """Keep what a forward pass could change in place in an attribute's value."""
        if isinstance(value, nn.Module):
            if id(value) not in self.seen:
                self.module(value, name)
        elif isinstance(value, Tensor):
            if self._is_new(value):
                self._keep(name, _tensor(value), lambda: _tensor_bytes(value))
                if value.is_leaf and value.grad is not None:
                    self.value(value.grad, f"{name}: gradient")
        elif isinstance(value, tuple | frozenset):
            for i, part in enumerate(value):
                self.value(part, _join(name, i))
        elif isinstance(value, dict | list | deque | set | np.ndarray):
            if self._is_new(value):
                self._container(value, name)
        elif (found := _generator(value)) is not None and self._is_new(value):
            self._keep(name, *found)

    def _container(self, value: Any, name: str) -> None:
        if isinstance(value, np.ndarray):
            self._keep(name, _array(value), value.tobytes)
            return
        if isinstance(value, dict):
            self._keep(f"{name}: items", _dictionary(value), _items(value))
            parts = list(value.items())
        elif isinstance(value, set):
            show = lambda: repr(sorted(map(_mark, value))).encode()  # noqa: E731
            self._keep(f"{name}: items", _set(value), show)
            parts = list(enumerate(value))
        else:
            show = lambda: repr(list(map(_mark, value))).encode()  # noqa: E731
            self._keep(f"{name}: items", _list(value), show)
            parts = list(enumerate(value))
        for key, part in parts:
            self.value(part, _join(name, key))

    def _is_new(self, value: object) -> bool:
        if id(value) in self.seen:
            return False
        self.seen[id(value)] = value
        return True


OWN = ("_parameters", "_buffers", "_modules")  # where a module keeps what has a name of torch's


def _join(path: str, key: object) -> str:
    return f"{path}.{key}" if path else str(key)


def _mark(value: object) -> str:
    """A plain value by its text, any other by which object it is."""
    return repr(value) if isinstance(value, PLAIN) else f"{type(value).__name__} {id(value)}"


def _items(held: MutableMapping[Any, Any]) -> Show:
    return lambda: repr([(_mark(k), _mark(v)) for k, v in held.items()]).encode()


def _tensor_bytes(held: Tensor) -> bytes:
    """Where a tensor is, what it is, its numbers, and which gradient it has."""
    grad = _mark(held.grad) if held.is_leaf else ""
    what = f"{held.dtype} {held.device} {tuple(held.shape)} {held.requires_grad} {grad} "
    if held.is_meta:
        return what.encode()
    if held.layout != torch.strided or held.is_nested or held.is_quantized:
        return (what + repr(held)).encode()
    place = f"{held.data_ptr()} {held.stride()} "
    plain = held.detach().cpu().contiguous().reshape(-1).view(torch.uint8)
    return (what + place).encode() + plain.numpy().tobytes()


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


def _generator(value: object) -> tuple[Undo, Show] | None:
    """Puts back a generator of torch, numpy or Python, and shows it; None for anything else."""
    if isinstance(value, torch.Generator):
        state = value.get_state()
        return lambda: value.set_state(state), lambda: value.get_state().numpy().tobytes()
    if isinstance(value, np.random.Generator):
        own = value.bit_generator
        numpy_state = own.state
        return lambda: setattr(own, "state", numpy_state), lambda: repr(own.state).encode()
    if isinstance(value, np.random.RandomState):
        legacy = value.get_state()
        return lambda: value.set_state(legacy), lambda: _text(value.get_state())
    if isinstance(value, random.Random):
        python = value.getstate()
        return lambda: value.setstate(python), lambda: _text(value.getstate())
    return None


def _text(state: Any) -> bytes:
    parts = state if isinstance(state, tuple) else (state,)
    return b" ".join(
        part.tobytes() if isinstance(part, np.ndarray) else repr(part).encode() for part in parts
    )


class _Random:
    """The states of all generators."""

    def __init__(self, *others: object) -> None:
        self.python, self.numpy = random.getstate(), np.random.get_state()  # noqa: NPY002
        self.torch = torch.get_rng_state()
        self.devices = torch.cuda.get_rng_state_all() if torch.cuda.is_available() else []
        self.mps = torch.mps.get_rng_state() if torch.backends.mps.is_available() else None
        self.own = [found for other in others for found in _generators(other)]

    def restore(self) -> None:
        random.setstate(self.python)
        np.random.set_state(self.numpy)  # noqa: NPY002
        torch.set_rng_state(self.torch)
        if self.devices:
            torch.cuda.set_rng_state_all(self.devices)
        if self.mps is not None:
            torch.mps.set_rng_state(self.mps)
        for undo, _ in self.own:
            undo()

    def shown(self) -> dict[str, bytes]:
        """The states as they were kept, as bytes."""
        devices = self.devices + ([] if self.mps is None else [self.mps])
        found = {
            "torch": self.torch.numpy().tobytes(), "python": _text(self.python),
            "numpy": _text(self.numpy),
            **{f"device {i}": state.cpu().numpy().tobytes() for i, state in enumerate(devices)},
            **{f"of the data {i}": show() for i, (_, show) in enumerate(self.own)},
        }  # fmt: skip
        return {f"random numbers: {name}": value for name, value in found.items()}


def _generators(other: object) -> list[tuple[Undo, Show]]:
    """The generators of a loader, of its samplers and of its data set, or of a data set itself."""
    found: list[tuple[Undo, Show]] = []
    paths = ((), ("sampler",), ("batch_sampler",), ("batch_sampler", "sampler"), ("dataset",))
    for path in paths:
        owner: object = other
        for name in path:
            owner = getattr(owner, name, None)
        for value in list(getattr(owner, "__dict__", {}).values()):
            pair = _generator(value)
            if pair is not None:
                found.append(pair)
    return found
