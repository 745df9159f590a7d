"""Tensors, arrays, data sets and loaders, as batches of inputs and labels that can be read again.

A batch is what a model is called with: a tensor, a tuple of them (positional arguments) or a
dictionary (named arguments). The first axis counts points. Labels are whole numbers, one for each
point, or absent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader

from lowdim.instruments.refusal import Unmeasurable

__all__ = ["LABELS", "Batch", "Source", "moved", "source", "take", "tensors"]

LABELS = ("labels", "label", "targets", "target", "y")
"""Names under which a batch that is a dictionary may hold its labels."""


@dataclass(frozen=True)
class Batch:
    """inputs: what the model is called with; labels (n,) of dtype int64 or None; size: n."""

    inputs: Any
    labels: Tensor | None
    size: int


@dataclass(frozen=True)
class Source:
    """Data that can be read as often as needed.

    each: makes an iterator of batches; labelled: whether there are labels; origin: the object that
    the data came from, whose generators are put back; only: labels that are kept, None for all.
    """

    each: Callable[[], Iterator[Batch]]
    origin: object
    name: str = "data"
    only: frozenset[int] | None = None

    def __iter__(self) -> Iterator[Batch]:
        for batch in self.each():
            if self.only is None or batch.labels is None:
                yield batch
                continue
            keep = torch.tensor([int(k) in self.only for k in batch.labels.tolist()])
            if bool(keep.all()):
                yield batch
            elif bool(keep.any()):
                at = keep.nonzero()[:, 0]
                yield Batch(take(batch.inputs, at), batch.labels[at], len(at))

    def restricted(self, labels: Iterable[int], name: str) -> Source:
        """The same data, only points with these labels."""
        return Source(self.each, self.origin, name, frozenset(labels))

    def classes(self) -> dict[int, int]:
        """How many points each label has; empty without labels. Reads the data once.

        Raises
        ------
        Unmeasurable
            If there is no batch at all.
        """
        counts: dict[int, int] = {}
        seen = 0
        for batch in self:
            seen += batch.size
            if batch.labels is not None:
                names, found = batch.labels.unique(return_counts=True)
                for k, c in zip(names.tolist(), found.tolist(), strict=True):
                    counts[k] = counts.get(k, 0) + c
        if not seen:
            raise Unmeasurable(
                f"The {self.name} are empty: no batch came, and one point or more is needed."
            )
        return dict(sorted(counts.items()))


def tensors(tree: Any) -> list[Tensor]:
    """All tensors in nested tuples, lists and dictionaries, in their order.

    Examples
    --------
    >>> len(tensors({"a": torch.ones(1), "b": (torch.ones(2), 3)}))
    2
    """
    if isinstance(tree, Tensor):
        return [tree]
    if isinstance(tree, Mapping):
        return [t for value in tree.values() for t in tensors(value)]
    if isinstance(tree, tuple | list):
        return [t for value in tree for t in tensors(value)]
    return []


def take(tree: Any, at: Tensor) -> Any:
    """The points ``at`` (k,) of each tensor of a batch.

    Examples
    --------
    >>> take({"x": torch.arange(4.0)}, torch.tensor([2]))["x"].tolist()
    [2.0]
    """
    return _each(tree, lambda t: t if t.ndim == 0 else t[at.to(t.device)])


def _each(tree: Any, change: Callable[[Tensor], Tensor]) -> Any:
    if isinstance(tree, Tensor):
        return change(tree)
    if isinstance(tree, Mapping):
        return {name: _each(value, change) for name, value in tree.items()}
    if isinstance(tree, tuple | list):
        return tuple(_each(value, change) for value in tree)
    return tree


def moved(tree: Any, device: torch.device, dtype: torch.dtype | None) -> Any:
    """A copy of a batch on the model's device, floating tensors in its precision if it has one.

    A copy also where nothing is to be changed: a model may write into what it is given.

    Examples
    --------
    >>> moved({"x": torch.ones(2).double()}, torch.device("cpu"), torch.float32)["x"].dtype
    torch.float32
    """

    def change(t: Tensor) -> Tensor:
        wanted = dtype if dtype is not None and t.is_floating_point() else t.dtype
        return t.to(device, wanted, copy=True)

    return _each(tree, change)


def source(data: Any, *, labels: Any = None, batch: int = 256, name: str = "data") -> Source:
    """Data of any usual kind as a :class:`Source`.

    Parameters
    ----------
    data
        A tensor or array (n, ...); a pair of these and labels (n,); a dictionary of tensors, of
        which one may be called as in :data:`LABELS`; a data set with a length; or a loader, a list
        or another iterable of batches of these kinds that can be read again.
    labels
        Labels (n,) beside tensors or arrays.
    batch
        Points in a batch, where the data are not in batches already.

    Raises
    ------
    Unmeasurable
        If the data are empty, can be read only once, or are of no such kind; if labels are not
        whole numbers or are not as many as points.

    Examples
    --------
    >>> found = source((np.eye(3), [0, 1, 1]), batch=2)
    >>> [(b.size, b.labels.tolist()) for b in found]
    [(2, [0, 1]), (1, [1])]
    """
    if isinstance(data, Source):
        return data
    if _is_array(data) or _is_pair(data) or isinstance(data, Mapping):
        whole = _batch(data, labels, name)
        if whole.size == 0:
            raise Unmeasurable(
                f"The {name} are empty: no point came, and one point or more is needed."
            )

        def pieces() -> Iterator[Batch]:
            for start in range(0, whole.size, batch):
                at = torch.arange(start, min(start + batch, whole.size))
                own = None if whole.labels is None else whole.labels[at]
                yield Batch(take(whole.inputs, at), own, len(at))

        return Source(pieces, data, name)
    if labels is not None:
        raise Unmeasurable(
            "labels go beside a tensor or an array; a loader brings its own in its batches."
        )
    if isinstance(data, Iterator):
        raise Unmeasurable(
            f"The {name} can be read only once ({type(data).__name__}), and two passes are made; "
            "give a list of batches, a DataLoader or tensors."
        )
    if (
        not isinstance(data, DataLoader)
        and hasattr(data, "__getitem__")
        and isinstance(data, Sized)
    ):
        is_batches = isinstance(data, Sequence) and len(data) > 0 and _is_batch(data[0])
        if not is_batches:
            if len(data) == 0:
                raise Unmeasurable(
                    f"The {name} are empty: no point came, and one point or more is needed."
                )
            points: Any = data
            data = DataLoader(points, batch_size=batch)
    if not isinstance(data, Iterable):
        raise Unmeasurable(
            f"The {name} must be tensors, arrays, a data set or a loader; "
            f"you gave {type(data).__name__}."
        )

    def loaded() -> Iterator[Batch]:
        for item in data:
            yield _batch(item, None, name)

    return Source(loaded, data, name)


def _is_array(data: Any) -> bool:
    return isinstance(data, Tensor | np.ndarray)


def _is_pair(data: Any) -> bool:
    """Inputs and labels, rather than a list of batches."""
    if not isinstance(data, tuple) or len(data) != 2:
        return False
    first, second = data
    if not (_is_array(first) or isinstance(first, Mapping | tuple)):
        return False
    return _is_array(second) or (isinstance(second, list) and not any(map(_is_array, second)))


def _is_batch(item: Any) -> bool:
    """Whether one item of a sequence is a batch, and not a single point of a data set."""
    if isinstance(item, Mapping):
        return bool(tensors(item)) and all(t.ndim > 0 for t in tensors(item))
    if isinstance(item, tuple | list):
        return len(item) == 2 and _is_array(item[0]) and _is_array(item[1]) and item[1].ndim == 1
    return _is_array(item) and item.ndim > 1


def _batch(item: Any, labels: Any, name: str) -> Batch:
    inputs: Any = item
    if isinstance(item, Mapping):
        inputs = {k: _tensor(v, name) for k, v in item.items()}
        for key in LABELS:
            if key in inputs:
                held = inputs.pop(key)
                labels = held if labels is None else labels
                break
    elif isinstance(item, tuple | list):
        if len(item) == 2:
            inputs, labels = item[0], item[1] if labels is None else labels
        elif len(item) == 1:
            inputs = item[0]
        inputs = _each_array(inputs, name)
    else:
        inputs = _tensor(item, name)
    found = [t for t in tensors(inputs) if t.ndim > 0]
    if not found:
        raise Unmeasurable(
            f"A batch of the {name} has no tensor with points along its first axis; "
            f"it is {type(item).__name__}."
        )
    size = len(found[0])
    return Batch(inputs, _labels(labels, size, name), size)


def _each_array(tree: Any, name: str) -> Any:
    if isinstance(tree, Mapping):
        return {k: _each_array(v, name) for k, v in tree.items()}
    if isinstance(tree, tuple | list):
        return tuple(_each_array(v, name) for v in tree)
    return _tensor(tree, name)


def _tensor(value: Any, name: str) -> Any:
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in "fiub":
            raise Unmeasurable(f"The {name} must be numbers; an array has the type {value.dtype}.")
        return torch.from_numpy(np.ascontiguousarray(value))
    return value


def _labels(labels: Any, size: int, name: str) -> Tensor | None:
    if labels is None:
        return None
    given = labels if isinstance(labels, Tensor) else np.asarray(labels)
    kind = str(given.dtype).removeprefix("torch.")
    if "int" not in kind and kind != "bool":
        raise Unmeasurable(
            f"Labels of the {name} must be whole numbers, one for each point; theirs is {kind}."
        )
    if tuple(given.shape) != (size,):
        raise Unmeasurable(
            f"Labels of the {name} must be one for each of {size} points, of shape ({size},); "
            f"their shape is {tuple(given.shape)}."
        )
    return torch.as_tensor(given).detach().to("cpu", torch.int64)
