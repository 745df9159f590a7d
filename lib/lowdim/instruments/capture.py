"""What passes through a network, seen by forward hooks: every layer once, nothing in silence.

A *tap* is a place whose values are measured: the output of a module, or the input of one that no
module produced (a functional operation did). Taps are found by two passes of a few points: the
axis of an output whose length follows the number of points is the axis of points; two points more
or less show it. A module that is called twice has two taps, ``relu#1`` and ``relu#2``. Whatever is
no tap is listed with the reason.
"""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize
from torch.overrides import TorchFunctionMode
from torch.utils.hooks import RemovableHandle

from lowdim.instruments import sources
from lowdim.instruments.refusal import Unmeasurable

__all__ = [
    "Call",
    "Plan",
    "Tap",
    "Unseen",
    "call",
    "eager",
    "is_atom",
    "matrix",
    "plain_model",
    "plan",
    "watch",
]

Call = Callable[[nn.Module, Any], Any]
"""How a model is called with a batch."""
Sink = Callable[[int, Tensor], None]
Key = tuple[int, int, int, int]
HOLDERS = (nn.ModuleList, nn.ModuleDict, nn.ParameterList, nn.ParameterDict)
PASSING = (nn.Identity, nn.Flatten, nn.Unflatten, nn.modules.dropout._DropoutNd)
VIEWS = frozenset(
    """__get__ __set__ size dim shape reshape view flatten permute transpose contiguous unsqueeze
    squeeze expand numel __getitem__ unflatten chunk split t mT unbind detach to is_floating_point
    stride type float double half __len__ is_nested has_torch_function swapaxes movedim narrow
    expand_as view_as is_complex type_as broadcast_tensors""".split()
)


@dataclass(frozen=True)
class Tap:
    """One place. name; kind: the module's class; axis: of points in the tensor found at ``path``;
    fold: how many of its rows belong to one point; shape: of one point's values; width: how many
    these are; call: which call of the module, from 0; side: "output" or "input"."""

    name: str
    kind: str
    module: str
    side: str
    call: int
    path: tuple[Any, ...]
    axis: int
    fold: int
    shape: tuple[int, ...]
    nested: bool = False
    note: str = ""

    @property
    def width(self) -> int:
        """Values for each point."""
        count = 1
        for length in self.shape:
            count *= length
        return count


@dataclass(frozen=True)
class Unseen:
    """A module or a value that is not measured, and why."""

    name: str
    reason: str


@dataclass(frozen=True)
class Plan:
    """taps in the order of the forward pass; unseen; notes: what else was met."""

    taps: tuple[Tap, ...]
    unseen: tuple[Unseen, ...]
    notes: tuple[str, ...]
    functional: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def is_atom(module: nn.Module) -> bool:
    """Whether a module is measured as a whole: it has no parts, or parts that it never calls, or
    parts that only make its weights.

    Examples
    --------
    >>> turned = nn.utils.parametrizations.weight_norm(nn.Linear(2, 2))
    >>> is_atom(nn.ReLU()), is_atom(turned), is_atom(nn.Sequential(nn.ReLU()))
    (True, True, False)
    """
    parts = {name for name, _ in module.named_children()}
    if parametrize.is_parametrized(module):
        parts.discard("parametrizations")
    return not parts or isinstance(module, nn.MultiheadAttention)


def plain_model(model: nn.Module) -> nn.Module:
    """The module itself behind ``torch.compile``, whose hooks never fire; else ``model``.

    Raises
    ------
    Unmeasurable
        If it is no module, is on the meta device, or has parameters that are not there yet.

    Examples
    --------
    >>> plain_model(nn.Linear(2, 2, device="meta"))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    lowdim.instruments.refusal.Unmeasurable: The model is on the meta device, ...
    """
    if not isinstance(model, nn.Module):
        raise Unmeasurable(f"The model must be a torch.nn.Module; you gave {type(model).__name__}.")
    inner = getattr(model, "_orig_mod", model)
    model = inner if isinstance(inner, nn.Module) else model
    held = [*model.named_parameters(), *model.named_buffers()]
    lazy = [n for n, p in held if nn.parameter.is_lazy(p)]
    if lazy:
        raise Unmeasurable(
            f"The model has lazy parameters that have no shape yet ({lazy[0]}); "
            "call it once on a batch first."
        )
    if meta := [n for n, p in held if p.is_meta]:
        raise Unmeasurable(
            f"The model is on the meta device, where parameters have shapes and no numbers "
            f"({meta[0]}); load it on a real device."
        )
    return model


def call(model: nn.Module, inputs: Any) -> Any:
    """Call a model with a batch: a tuple is positional arguments, a dictionary named ones.

    Examples
    --------
    >>> call(nn.Identity(), torch.ones(1)).item()
    1.0
    """
    if isinstance(inputs, Mapping):
        return model(**inputs)
    return model(*inputs) if isinstance(inputs, tuple) else model(inputs)


@contextmanager
def eager() -> Iterator[None]:
    """Nothing compiled runs inside: compiled code has no hooks that are added later.

    Examples
    --------
    >>> with eager():
    ...     nn.Linear(2, 1)(torch.ones(3, 2)).shape
    torch.Size([3, 1])
    """
    with contextlib.ExitStack() as stack:
        # without dynamo nothing is compiled, and the stance alone would take seconds to import it
        if "torch._dynamo" in sys.modules and hasattr(torch.compiler, "set_stance"):
            stack.enter_context(torch.compiler.set_stance("force_eager"))
        stack.enter_context(warnings.catch_warnings())
        # a padded encoder makes nested tensors, and torch warns that these are a prototype
        warnings.filterwarnings("ignore", message=".*nested tensor.*")
        yield


@contextmanager
def watch(model: nn.Module, taps: tuple[Tap, ...], sink: Sink) -> Iterator[Callable[[int], None]]:
    """While inside, hand each tap's values to ``sink`` as (index, matrix (n, width)).

    Yields a function to be called with the number of points before each forward pass. Values are
    handed over when the module is done, so that a later operation in place does not change them.

    Examples
    --------
    >>> model, x, seen = nn.Sequential(nn.Linear(3, 2), nn.ReLU(inplace=True)), torch.ones(4, 3), []
    >>> taps = plan(model, x).taps
    >>> with torch.no_grad(), watch(model, taps, lambda i, H: seen.append(tuple(H.shape))) as begin:
    ...     begin(4)
    ...     _ = model(x)
    >>> seen
    [(4, 2), (4, 2)]
    """
    wanted: dict[tuple[str, str, int], list[int]] = {}
    for i, tap in enumerate(taps):
        if tap.side != "data":
            wanted.setdefault((tap.module, tap.side, tap.call), []).append(i)
    names = {name: module for name, module in model.named_modules()}
    counts: dict[tuple[str, str], int] = {}
    size = [0]

    def begin(n: int) -> None:
        counts.clear()
        size[0] = n

    def see(name: str, side: str, value: Any) -> None:
        turn = counts.get((name, side), 0)
        counts[name, side] = turn + 1
        for i in wanted.get((name, side, turn), ()):
            sink(i, matrix(taps[i], _at(value, taps[i].path), size[0]))

    handles: list[RemovableHandle] = []
    try:
        for name, side in dict.fromkeys((t.module, t.side) for t in taps if t.side != "data"):
            handles.append(_hook(names[name], name, side, see))
        yield begin
    finally:
        for handle in handles:
            handle.remove()


def _hook(
    module: nn.Module, name: str, side: str, see: Callable[[str, str, Any], None]
) -> RemovableHandle:
    if side == "input":
        return module.register_forward_pre_hook(
            lambda m, a, k: see(name, "input", (a, k)), with_kwargs=True
        )
    return module.register_forward_hook(lambda m, a, out: see(name, "output", out))


def matrix(tap: Tap, value: Any, n: int) -> Tensor:
    """The values at a tap as a matrix (n, width), in their own precision.

    Raises
    ------
    Unmeasurable
        If their shape is another one than the plan says.

    Examples
    --------
    >>> model, x = nn.Linear(2, 3), torch.ones(4, 2)
    >>> matrix(plan(model, x).taps[-1], torch.zeros(4, 3), 4).shape
    torch.Size([4, 3])
    """
    if not isinstance(value, Tensor):
        raise Unmeasurable(f"{tap.name} gave {type(value).__name__} where it gave a tensor before.")
    if value.is_nested:
        return torch.stack([part.mean(0).flatten() for part in value.unbind()])
    value = value.movedim(tap.axis, 0)
    if tap.fold > 1:
        value = value.unflatten(0, (-1, tap.fold))
    flat = value.reshape(len(value), -1)
    if flat.shape != (n, tap.width):
        raise Unmeasurable(
            f"{tap.name} gave values of shape {tuple(value.shape)} for {n} points, where the plan "
            f"has {tap.shape} for each; give batches whose points all have one shape."
        )
    return flat


@dataclass
class _Seen:
    """What one call of one module showed in a trial pass; keys: see :func:`_key`."""

    name: str
    side: str
    call: int
    leaves: list[tuple[tuple[Any, ...], Tensor]]
    alone: bool  # a mapping: every entry counts, not only the first
    copies: list[Tensor]
    keys: list[Key]
    returned: str  # the type


def plan(
    model: nn.Module, inputs: Any, *, how: Call = call, layers: Callable[[str], bool] | None = None
) -> Plan:
    """Find the taps of ``model`` from a batch of inputs; three forward passes of few points.

    ``layers`` chooses taps by name. Call it under ``untouched``: it runs the model.

    Raises
    ------
    Unmeasurable
        If no value at all can be measured, or the forward pass raises.

    Examples
    --------
    >>> found = plan(nn.Sequential(nn.Linear(3, 5), nn.Tanh()), torch.randn(4, 3))
    >>> [(tap.name, tap.kind, tap.shape) for tap in found.taps]
    [('input', 'data', (3,)), ('0', 'Linear', (5,)), ('1', 'Tanh', (5,))]
    """
    first = [t for t in sources.tensors(inputs) if t.ndim > 0]
    many = min(len(first[0]), 4)
    with eager(), torch.no_grad():
        large = _trial(model, sources.take(inputs, torch.arange(many)), how)
        small = _trial(model, sources.take(inputs, torch.arange(max(many - 1, 1))), how)
        functional = _functional(model, sources.take(inputs, torch.arange(many)), how)
    return _planned(model, inputs, large, small, many, functional, layers)


def _trial(model: nn.Module, inputs: Any, how: Call) -> list[_Seen]:
    seen: list[_Seen] = []
    counts: dict[tuple[str, str], int] = {}

    def see(name: str, side: str, value: Any) -> None:
        turn = counts.get((name, side), 0)
        counts[name, side] = turn + 1
        leaves = list(_leaves(value))
        alone = isinstance(value, Mapping)
        # copies and keys, for a later operation may write into them; the tensors themselves, so
        # that their memory is not given to others
        copies = [t.detach().clone() if not t.is_nested else t for _, t in leaves]
        keys = [_key(t) for _, t in leaves]
        kind = type(value).__name__
        seen.append(_Seen(name, side, turn, leaves, alone, copies, keys, kind))

    handles: list[RemovableHandle] = []
    try:
        makers = _makers(model)
        for name, module in model.named_modules():
            if isinstance(module, HOLDERS) or name in makers:
                continue
            handles.append(_hook(module, name, "input", see))
            handles.append(_hook(module, name, "output", see))
        how(model, inputs)
    except Unmeasurable:
        raise
    except Exception as error:
        raise Unmeasurable(
            f"The model's forward pass raised {type(error).__name__} on inputs of shape "
            f"{[tuple(t.shape) for t in sources.tensors(inputs)]}: {_short(error)}"
        ) from error
    finally:
        for handle in handles:
            handle.remove()
    return seen


def _makers(model: nn.Module) -> set[str]:
    """Modules that make the weights of another: what comes out of them belongs to no point."""
    found = set()
    for name, module in model.named_modules():
        if parametrize.is_parametrized(module):
            above = f"{name}.parametrizations" if name else "parametrizations"
            found |= {n for n, _ in model.named_modules() if f"{n}.".startswith(f"{above}.")}
    return found


def _short(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return f"{text[:160].rstrip('.')}." if text else "it says no more."


class _Calls(TorchFunctionMode):
    """Names of torch's functions that are called while a container runs, outside its children."""

    def __init__(self, stack: list[str], leaves: set[str]) -> None:
        super().__init__()
        self.stack, self.leaves = stack, leaves
        self.found: dict[str, list[str]] = {}

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = getattr(func, "__name__", str(func)).strip("_")
        if self.stack and self.stack[-1] not in self.leaves:
            plain = getattr(func, "__name__", "")
            if plain not in VIEWS and name not in VIEWS:
                self.found.setdefault(self.stack[-1], []).append(name)
        return func(*args, **(kwargs or {}))


def _functional(model: nn.Module, inputs: Any, how: Call) -> dict[str, tuple[str, ...]]:
    """Functions that containers call themselves, by the container's name; hooks do not see them."""
    stack: list[str] = []
    atoms = {n for n, m in model.named_modules() if is_atom(m)}
    mode = _Calls(stack, atoms)
    handles: list[RemovableHandle] = []
    try:
        for name, module in model.named_modules():
            push = lambda m, a, name=name: stack.append(name)  # noqa: E731
            handles.append(module.register_forward_pre_hook(push))
            pop = lambda m, a, o: stack.pop() and None  # noqa: E731
            handles.append(module.register_forward_hook(pop))
        with mode:
            how(model, inputs)
    except Exception:
        return {"": ("functions could not be listed: the model refuses to be watched",)}
    finally:
        for handle in handles:
            handle.remove()
    return {name: tuple(dict.fromkeys(found)) for name, found in mode.found.items()}


def _leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Tensor]]:
    if isinstance(value, Tensor):
        yield path, value
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield from _leaves(part, (*path, key))
    elif isinstance(value, tuple | list):
        for key, part in enumerate(value):
            yield from _leaves(part, (*path, key))
    elif hasattr(value, "__dataclass_fields__"):
        for key in value.__dataclass_fields__:
            yield from _leaves(getattr(value, key), (*path, f".{key}"))


def _at(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        is_field = isinstance(key, str) and key.startswith(".") and not isinstance(value, Mapping)
        value = getattr(value, key[1:]) if is_field else value[key]
    return value


def _key(t: Tensor) -> Key:
    """The same numbers in the same memory: also after a view, not after a write in place."""
    if t.is_nested:
        return id(t), 0, 0, 0
    return t.untyped_storage().data_ptr(), int(t.storage_offset()), t.numel(), t._version


def _axis(a: Tensor, b: Tensor, many: int) -> tuple[int, int] | None:
    """The axis whose length follows the number of points, and how many rows a point has."""
    if many == 1:
        return (0, len(a)) if a.ndim and len(a) else None
    if a.ndim != b.ndim:
        return None
    for axis in range(a.ndim):
        p, q = a.shape[axis], b.shape[axis]
        if p != q and p % many == 0 and p // many * (many - 1) == q:
            return axis, p // many
    return None


def _planned(
    model: nn.Module,
    inputs: Any,
    large: list[_Seen],
    small: list[_Seen],
    many: int,
    functional: dict[str, tuple[str, ...]],
    layers: Callable[[str], bool] | None,
) -> Plan:
    modules = dict(model.named_modules())
    twin = {(s.name, s.side, s.call): s for s in small}
    calls = {n: sum(s.name == n and s.side == "output" for s in large) for n in modules}
    known: set[Key] = set()
    taps, unseen, notes = [], [], []
    for n, t in enumerate(sources.tensors(inputs)):
        if t.ndim and t.is_floating_point():
            path, label = ((), "input") if n == 0 else ((n,), f"input[{n}]")
            taps.append(Tap(label, "data", "", "data", n, path, 0, 1, tuple(t.shape[1:])))
    if not taps:
        unseen.append(Unseen("input", "the inputs are whole numbers, which have no distances"))
    for shown in large:
        if shown.name == "" and shown.side == "input":
            known |= set(shown.keys)
    for shown in large:
        module = modules[shown.name]
        atom = is_atom(module)
        if shown.side == "input" and not (atom and shown.name):
            continue
        turn = f"#{shown.call + 1}" if calls.get(shown.name, 0) > 1 else ""
        base = f"{shown.name or 'output'}{turn}"
        if shown.side == "input":
            base = f"before {base}"
        other = twin.get((shown.name, shown.side, shown.call))
        taken = False
        if shown.side == "output" and not shown.leaves:
            reason = f"it returns {shown.returned}, in which no tensor was found"
            unseen.append(Unseen(base, reason))
        for (path, live), copy, key in zip(shown.leaves, shown.copies, shown.keys, strict=True):
            is_known = key in known
            known.add(key)
            label = base + "".join(f"[{k}]" for k in path if shown.side == "output")
            if is_known:
                if atom and shown.side == "output" and not taken:
                    unseen.append(Unseen(label, "it hands on what it was given, unchanged"))
                taken = True
                continue
            if not live.is_floating_point():
                if shown.side == "output":
                    unseen.append(Unseen(label, f"its values are {live.dtype}, not real numbers"))
                continue
            if shown.side == "output" and taken and not shown.alone:
                unseen.append(Unseen(label, f"of several outputs of {base} the first is measured"))
                continue
            where = _placed(path, copy, other, many)
            if isinstance(where, str):
                if shown.side == "output":
                    unseen.append(Unseen(label, where))
                continue
            tap = replace(
                where,
                name=label if shown.alone else base,
                kind=type(module).__name__ if shown.side == "output" else "functional",
                module=shown.name, side=shown.side, call=shown.call,
            )  # fmt: skip
            if not _finite(copy):
                raise Unmeasurable(
                    f"{tap.name} ({tap.kind}) gives values that are not finite (NaN or infinite) "
                    f"on the first points; nothing can be measured behind it."
                )
            passing = isinstance(module, PASSING) and shown.side == "output"
            if passing and _passes_on(shown, large, copy):
                unseen.append(Unseen(label, "it hands on what it was given, unchanged"))
                taken = True
                continue
            taps.append(tap)
            taken = True
    makers = _makers(model)
    unseen += _silent({n: m for n, m in modules.items() if n not in makers}, calls)
    notes += _notes(model, modules, functional)
    if layers is not None:
        kept = [t for t in taps if t.side == "data" or layers(t.name)]
        unseen += [Unseen(t.name, "it was not asked for") for t in taps if t not in kept]
        taps = kept
    if not any(t.side != "data" for t in taps):
        raise Unmeasurable(
            "No layer can be measured: " + "; ".join(f"{u.name}: {u.reason}" for u in unseen[:4])
            + "."
        )  # fmt: skip
    return Plan(tuple(taps), tuple(unseen), tuple(notes), functional)


def _finite(t: Tensor) -> bool:
    parts = t.unbind() if t.is_nested else [t]
    return all(bool(torch.isfinite(part).all()) for part in parts)


def _passes_on(shown: _Seen, large: list[_Seen], value: Tensor) -> bool:
    """Whether a module that may do so hands on the numbers of its input, in the same order."""
    for other in large:
        if (other.name, other.call, other.side) == (shown.name, shown.call, "input"):
            return any(_equal(t, value) for t in other.copies)
    return False


def _equal(a: Tensor, b: Tensor) -> bool:
    if a.is_nested or b.is_nested:
        both = a.is_nested and b.is_nested
        return both and all(map(_equal, a.unbind(), b.unbind()))
    same = a.dtype == b.dtype and a.numel() == b.numel()
    return same and torch.equal(a.flatten(), b.flatten())


def _placed(path: tuple[Any, ...], copy: Tensor, other: _Seen | None, many: int) -> Tap | str:
    """Where the points are in a value, or why it has none."""
    blank = Tap("", "", "", "", 0, path, 0, 1, ())
    if copy.is_nested:
        parts = copy.unbind()
        note = "mean over the positions that are there: its points have lengths of their own"
        return replace(blank, shape=tuple(parts[0].shape[1:]), nested=True, note=note)
    twin = None if other is None else dict(other.leaves).get(path)
    if twin is None or twin.is_nested:
        return "it does not come in every pass"
    found = _axis(copy, twin, many)
    if found is None:
        return (
            f"no axis of its values follows the number of points ({tuple(copy.shape)} for {many}, "
            f"{tuple(twin.shape)} for {many - 1})"
        )
    axis, fold = found
    assert other is not None
    again = next(c for (p, _), c in zip(other.leaves, other.copies, strict=True) if p == path)
    shape = list(copy.shape)
    del shape[axis]
    tap = replace(blank, axis=axis, fold=fold, shape=((fold,) if fold > 1 else ()) + tuple(shape))
    if many > 1:
        a, b = matrix(tap, copy, many)[: many - 1].double(), matrix(tap, again, many - 1).double()
        scale = float(a.abs().amax()) if a.numel() else 0.0
        off = float((a - b).abs().amax()) if a.numel() else 0.0
        if off > 1e-2 * scale:
            if fold > 1:
                return f"its {fold} rows for each point are not beside one another"
            return replace(tap, note=f"depends on the other points of a batch (by {off:.2g})")
    return tap


def _silent(modules: Mapping[str, nn.Module], calls: Mapping[str, int]) -> list[Unseen]:
    """Modules that did not fire, each under the outermost that did not."""
    found = []
    for name, module in modules.items():
        if calls.get(name) or isinstance(module, HOLDERS) or not name:
            continue
        parent = name.rpartition(".")[0]
        above = modules.get(parent)
        if isinstance(above, nn.MultiheadAttention):
            reason = f"{parent} uses its weights and never calls it; the output of {parent} is seen"
        elif any(calls.get(n) for n in modules if n.startswith(f"{name}.")):
            continue  # a container whose children are called one by one
        elif (
            above is not None
            and parent
            and not calls.get(parent)
            and not isinstance(above, HOLDERS)
        ):
            continue
        else:
            reason = "it was not called in the forward pass"
        found.append(Unseen(name, reason))
    return found


def _notes(
    model: nn.Module, modules: Mapping[str, nn.Module], functional: Mapping[str, tuple[str, ...]]
) -> list[str]:
    notes = []
    for name, found in functional.items():
        listed = ", ".join(found[:6]) + (", …" if len(found) > 6 else "")
        notes.append(f"{name or 'the model'} computes without a module: {listed}")
    for names in _shared(model.named_modules(remove_duplicate=False)):
        notes.append(
            f"one module under several names: {', '.join(n or 'the model' for n in names)}"
        )
    for names in _shared(model.named_parameters(remove_duplicate=False)):
        owners = {n.rpartition(".")[0] for n in names}
        if len({id(modules.get(o, o)) for o in owners if o in modules}) > 1:
            notes.append(f"tied weights: {', '.join(names)}")
    return notes


def _shared(pairs: Iterator[tuple[str, Any]]) -> list[list[str]]:
    by: dict[int, list[str]] = {}
    for name, thing in pairs:
        by.setdefault(id(thing), []).append(name)
    return [names for names in by.values() if len(names) > 1]
