"""Four instruments on one network: ``measure(model, data)``.

Two passes over the data and a few over a sample; see :mod:`lowdim.instruments.moments`. The model
is afterwards what it was (:mod:`lowdim.instruments.untouched`), and what could not be measured is
listed with the reason.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from lowdim import checks
from lowdim.instruments import capture, classes, offdata, rowspaces, sources, spectra
from lowdim.instruments.capture import Call, Plan, Unseen
from lowdim.instruments.moments import First, Frame, Second, Sketch
from lowdim.instruments.numbers import Number
from lowdim.instruments.refusal import Unmeasurable
from lowdim.instruments.sources import Batch, Source
from lowdim.instruments.untouched import untouched
from lowdim.seeds import generator

__all__ = ["INSTRUMENTS", "Layer", "Measurement", "measure"]

INSTRUMENTS = ("preserve", "collapse", "embedded", "hashing")
"""The four instruments, by the part of the book that they come from."""


@dataclass(frozen=True)
class Layer:
    """One tap's numbers.

    name, kind, shape (of one point), note; numbers: by split, instrument and name; weights: by
    parameter and name.
    """

    name: str
    kind: str
    shape: tuple[int, ...]
    note: str
    numbers: dict[str, dict[str, dict[str, Number]]]
    weights: dict[str, dict[str, Number]]

    def number(self, instrument: str, name: str, split: str = "train") -> Number:
        """One number by instrument and name.

        Raises
        ------
        KeyError
            If there is no such split, instrument or name.
        """
        return self.numbers[split][instrument][name]

    def as_json(self) -> dict[str, Any]:
        """A dictionary for JSON."""
        return {
            "name": self.name, "kind": self.kind, "shape": list(self.shape), "note": self.note,
            "numbers": {
                split: {
                    part: {name: number.as_json() for name, number in found.items()}
                    for part, found in parts.items()
                }
                for split, parts in self.numbers.items()
            },
            "weights": {
                p: {name: number.as_json() for name, number in found.items()}
                for p, found in self.weights.items()
            },
        }  # fmt: skip


@dataclass(frozen=True)
class Measurement:
    """What was measured, layer by layer, what was not, and how.

    rank: r of Part I; clusters: K of Part II; tangent: the dimension of the data's principal
    subspace of Part III; splits: points and classes of each; accuracy: by split, where the last
    values have a column for each class; seconds: of wall time.
    """

    layers: tuple[Layer, ...]
    unseen: tuple[Unseen, ...]
    notes: tuple[str, ...]
    model: str
    parameters: int
    rank: int
    clusters: int | None
    tangent: int | None
    ambient: int | None
    splits: dict[str, dict[str, int]]
    accuracy: dict[str, float]
    seconds: float
    settings: dict[str, Any] = field(default_factory=dict)

    def layer(self, name: str) -> Layer:
        """A layer by its name.

        Raises
        ------
        KeyError
            If there is none, with the names that there are.
        """
        for found in self.layers:
            if found.name == name:
                return found
        raise KeyError(f"no layer {name!r}; there are {', '.join(x.name for x in self.layers)}")

    def series(self, instrument: str, name: str, split: str = "train") -> list[Number]:
        """One number along the layers."""
        return [layer.number(instrument, name, split) for layer in self.layers]

    def as_json(self) -> dict[str, Any]:
        """A dictionary for JSON: numbers with their errors, and what was not seen."""
        held = {k: v for k, v in vars(self).items() if k not in ("layers", "unseen", "notes")}
        return {
            "schema": "lowdim-instruments/1", **held, "notes": list(self.notes),
            "layers": [layer.as_json() for layer in self.layers],
            "unseen": [vars(u) for u in self.unseen],
        }  # fmt: skip


@dataclass
class _Job:
    """What all passes share."""

    model: nn.Module
    plan: Plan
    how: Call
    device: torch.device
    dtype: torch.dtype | None
    width: int
    sample: int
    groups: int
    seed: int


def _wanted(layers: Sequence[str] | None) -> Callable[[str], bool] | None:
    if layers is None:
        return None
    names = list(layers)
    return lambda name: any(name == w or name.startswith((f"{w}#", f"{w}[")) for w in names)


def measure(
    model: nn.Module,
    data: Any,
    *,
    labels: Any = None,
    held_out: Any = None,
    unseen: Any = None,
    rank: int | None = None,
    clusters: int | None = None,
    explained: float = 0.95,
    epsilon: float = 0.1,
    layers: Sequence[str] | None = None,
    instruments: Sequence[str] = INSTRUMENTS,
    width: int = 1024,
    sample: int = 256,
    probes: int = 64,
    batch: int = 256,
    seed: int = 0,
    how: Call = capture.call,
    training: bool = False,
) -> Measurement:
    """Measure a network with all four instruments.

    Parameters
    ----------
    model
        Any module, on any device. It is run in evaluation mode unless ``training``.
    data, labels
        Training points; see :func:`lowdim.instruments.sources.source`.
    held_out, unseen
        Further data with labels. Points of ``held_out`` whose label does not occur in ``data`` are
        taken for unseen classes, if ``unseen`` is not given.
    rank
        r of Part I; by default the number of classes, or without labels the number of directions
        that hold nine tenths of the input, at most 32.
    clusters
        K of Part II; by default the number of classes.
    explained
        The share of the variance that the data's principal subspace of Part III must hold.
    epsilon
        Of the soft rank.
    layers
        Names of the layers to measure; all by default.
    width
        Values of more coordinates are sketched to so many.
    sample
        Points that are held: for k-means and plain distances; ``probes`` of them for derivatives.
    how
        How the model is called: ``how(model, inputs)``.

    Raises
    ------
    Unmeasurable
        If the model cannot be run, gives values that are not finite, or the data are empty, have
        one class only or fewer points than ``rank``.

    Examples
    --------
    >>> model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    >>> found = measure(model, torch.randn(60, 4), labels=torch.arange(60) % 2, rank=2)
    >>> [layer.name for layer in found.layers]
    ['input', '0', '1', '2']
    >>> found.layer("2").number("preserve", "to_input").value <= 1
    True
    """
    begun = time.perf_counter()
    for name in instruments:
        checks.choice(name, INSTRUMENTS, "instruments")
    for value, name in ((width, "width"), (sample, "sample"), (probes, "probes"), (batch, "batch")):
        checks.whole(value, name, 1)
    if not 0 < explained <= 1:
        raise Unmeasurable(f"explained must be above 0 and at most 1; you gave {explained!r}.")
    plain = capture.plain_model(model)
    train = sources.source(data, labels=labels, batch=batch, name="training data")
    with untouched(plain, data, held_out, unseen), torch.no_grad():
        counts = train.classes()  # a loader draws from torch's generator whenever it is read
        if len(counts) == 1:
            raise Unmeasurable(
                f"All labels are {next(iter(counts))}: one class only, and classes are compared; "
                "give two or more, or no labels."
            )
        splits = {"train": train, **_others(counts, held_out, unseen, batch)}
        plain.train(training)
        first = next(iter(train))
        place = next((p for p in plain.parameters() if p.is_floating_point()), None)
        device = place.device if place is not None else torch.device("cpu")
        dtype = place.dtype if place is not None else None
        inputs = sources.moved(first.inputs, device, dtype)
        plan = capture.plan(plain, inputs, how=how, layers=_wanted(layers))
        if layers is not None:
            _all_there(layers, plan)
        job = _Job(plain, plan, how, device, dtype, width, sample, 10, seed)
        K = clusters if clusters is not None else (len(counts) or None)
        if clusters is not None:
            checks.whole(clusters, "clusters", 1)
        found: dict[str, list[dict[str, dict[str, Number]]]] = {}
        sizes: dict[str, dict[str, int]] = {}
        accuracy: dict[str, float] = {}
        tangent = ambient = None
        for name, data_of in splits.items():
            seen = _Split(job, data_of)
            if rank is None:
                rank = _rank(seen, len(counts))
            if checks.whole(rank, "rank", 1) > seen.count and name == "train":
                raise Unmeasurable(
                    f"There are {seen.count} points, fewer than the rank r = {rank}; "
                    "give more points or a smaller rank."
                )
            found[name] = seen.numbers(rank, K, epsilon, instruments)
            sizes[name] = {"points": seen.count, "classes": len(seen.rows)}
            if seen.accuracy is not None:
                accuracy[name] = seen.accuracy
            if name == "train" and "embedded" in instruments:
                basis = seen.tangent(explained)
                if basis is not None:
                    ambient, tangent = basis.shape
                at = torch.arange(min(probes, len(seen.sample_labels)))
                few = sources.moved(sources.take(seen.sample_inputs, at), device, dtype)
                got = offdata.sensitivity_numbers(plain, plan.taps, few, basis, how=how, seed=seed)
                for numbers, more in zip(found[name], got, strict=True):
                    numbers["embedded"] = more
        weights = _weights(plain, plan, K, epsilon)  # to look at a weight may be to make it anew
    out = []
    for i, tap in enumerate(plan.taps):
        note = tap.note
        if tap.width > width:
            error = (2 / width) ** 0.5
            note = f"{note}; " if note else ""
            note += f"{tap.width} values sketched to {width}: squares within about {error:.1%}"
        out.append(Layer(tap.name, tap.kind, tap.shape, note, {s: f[i] for s, f in found.items()},
                         weights[i]))  # fmt: skip
    notes = list(plan.notes)
    if plain is not model:
        notes.append("the model is compiled; the module behind it was run without compilation")
    return Measurement(
        tuple(out), plan.unseen, tuple(notes), type(plain).__name__,
        sum(p.numel() for p in plain.parameters()), int(rank or 0), K, tangent, ambient, sizes,
        accuracy, time.perf_counter() - begun,
        {"seed": seed, "width": width, "sample": sample, "probes": probes, "explained": explained,
         "epsilon": epsilon, "training": training, "device": str(device), "dtype": str(dtype),
         "torch": torch.__version__},
    )  # fmt: skip


def _weights(
    model: nn.Module, plan: Plan, K: int | None, epsilon: float
) -> list[dict[str, dict[str, Number]]]:
    """The weights' numbers at each tap, where its module first puts out."""
    modules = dict(model.named_modules())
    found: list[dict[str, dict[str, Number]]] = []
    for tap in plan.taps:
        owner = modules[tap.module]
        first = tap.side == "output" and tap.call == 0 and capture.is_atom(owner)
        found.append(spectra.weight_numbers(owner, K, epsilon=epsilon) if first else {})
    return found


def _all_there(layers: Sequence[str], plan: Plan) -> None:
    names = [t.name for t in plan.taps]
    for name in layers:
        if not any(n == name or n.startswith((f"{name}#", f"{name}[")) for n in names):
            known = [u.name for u in plan.unseen if u.reason == "it was not asked for"] + names
            raise Unmeasurable(f"No layer is called {name!r}; there are {', '.join(known)}.")


def _others(counts: dict[int, int], held_out: Any, unseen: Any, batch: int) -> dict[str, Source]:
    """Held-out points, and those of classes that do not occur in training."""
    found: dict[str, Source] = {}
    if held_out is not None:
        held = sources.source(held_out, batch=batch, name="held-out data")
        names = held.classes()
        new = set(names) - set(counts) if counts else set()
        if new and unseen is None and len(new) > 1:
            found["unseen"] = held.restricted(new, "unseen classes")
        old = set(names) - new
        if old or not names:
            found["held_out"] = held.restricted(old, "held-out data") if new else held
    if unseen is not None:
        found["unseen"] = sources.source(unseen, batch=batch, name="unseen classes")
        found["unseen"].classes()
    return dict(sorted(found.items()))


class _Split:
    """Both passes over one source."""

    def __init__(self, job: _Job, data: Source) -> None:
        self.job, self.data = job, data
        taps = job.plan.taps
        self.firsts = [First(Sketch(t.width, job.width, seed=job.seed)) for t in taps]
        self.rows: dict[int, int] = {}
        self.count = 0
        self.labelled = False
        self.kept: list[Any] = []
        self.sample_labels: list[int] = []
        self.right = self.judged = 0
        self._rng = generator(job.seed, 0, "sample")
        self._run(self._first)
        self.sample_inputs = _joined(self.kept)
        self.accuracy = self.right / self.judged if self.judged else None

    def _run(self, sink: Callable[[int, Tensor, Batch], None]) -> None:
        """One forward pass over all points, each tap's values handed to ``sink``."""
        job = self.job
        current: list[Batch] = []
        fired = [0] * len(job.plan.taps)

        def see(i: int, H: Tensor) -> None:
            fired[i] += 1
            value = self.firsts[i].sketch(H)
            if not math.isfinite(float(value.sum())) and not bool(torch.isfinite(value).all()):
                tap = job.plan.taps[i]
                bad = int((~torch.isfinite(value)).any(1).sum())
                raise Unmeasurable(
                    f"{tap.name} ({tap.kind}) gives values that are not finite (NaN or infinite) "
                    f"for {bad} points of the {self.data.name}."
                )
            sink(i, value, current[-1])

        seen = 0
        with capture.eager(), capture.watch(job.model, job.plan.taps, see) as begin:
            for batch in self.data:
                current[:] = [batch]
                inputs = sources.moved(batch.inputs, job.device, job.dtype)
                self._before(batch)
                held = sources.tensors(inputs)
                for i, tap in enumerate(job.plan.taps):
                    if tap.side == "data":
                        see(i, capture.matrix(tap, held[tap.call], batch.size))
                begin(batch.size)
                try:
                    job.how(job.model, inputs)
                except Unmeasurable:
                    raise
                except Exception as error:
                    raise Unmeasurable(
                        f"The model's forward pass raised {type(error).__name__} on the "
                        f"{self.data.name}: {' '.join(str(error).split())[:160]}"
                    ) from error
                seen += 1
                if missed := [
                    t.name for t, f in zip(job.plan.taps, fired, strict=True) if f != seen
                ]:
                    raise Unmeasurable(
                        f"{missed[0]} does not come once in every batch, so it cannot be summed; "
                        "leave it out by naming the layers to measure."
                    )
        if not seen:
            raise Unmeasurable(f"The {self.data.name} are empty: no batch came.")

    def _before(self, batch: Batch) -> None:
        """The classes of a batch as indices (n,), once for all taps."""
        if batch.labels is None:
            self.index = torch.zeros(batch.size, dtype=torch.int64)
            return
        self.labelled = True
        names, inverse = batch.labels.unique(return_inverse=True)
        rows = [self.rows.setdefault(k, len(self.rows)) for k in names.tolist()]
        self.index = torch.tensor(rows)[inverse]

    def _first(self, i: int, H: Tensor, batch: Batch) -> None:
        rows = self.index if batch.labels is not None else None
        self.firsts[i].add(H, rows, len(self.rows))
        if i == 0:
            self._hold(batch)
            self.count += batch.size
        last = i == len(self.firsts) - 1
        if last and batch.labels is not None and self.job.plan.taps[i].width <= self.job.width:
            top = int(batch.labels.max())
            if 0 <= int(batch.labels.min()) and top < H.shape[1] <= max(1000, top + 1):
                self.right += int((H.argmax(1) == batch.labels).sum())
                self.judged += batch.size

    def _hold(self, batch: Batch) -> None:
        """Keep a uniform sample of the points so far (Vitter's algorithm R)."""
        most = self.job.sample
        labels = [-1] * batch.size if batch.labels is None else batch.labels.tolist()
        at = self.count + np.arange(batch.size)
        slots = np.where(at < most, at, self._rng.integers(0, at + 1))
        for j in np.flatnonzero(slots < most).tolist():
            slot, point = int(slots[j]), sources.take(batch.inputs, torch.tensor([j]))
            if slot < len(self.kept):
                self.kept[slot], self.sample_labels[slot] = point, labels[j]
            else:
                self.kept.append(point)
                self.sample_labels.append(labels[j])

    def _sampled(self) -> dict[int, Tensor]:
        """Each tap's values (n, p) on the sample."""
        job = self.job
        found: dict[int, Tensor] = {}
        inputs = sources.moved(self.sample_inputs, job.device, job.dtype)
        n = len(self.sample_labels)
        see = lambda i, H: found.__setitem__(i, self.firsts[i].sketch(H).clone())  # noqa: E731
        with capture.eager(), capture.watch(job.model, job.plan.taps, see) as begin:
            for i, tap in enumerate(job.plan.taps):
                if tap.side == "data":
                    see(i, capture.matrix(tap, sources.tensors(inputs)[tap.call], n))
            begin(n)
            job.how(job.model, inputs)
        return found

    def tangent(self, explained: float) -> Tensor | None:
        """A basis (p, d) of the input's principal subspace; from the sample if it was sketched."""
        if self.job.plan.taps[0].side != "data":
            return None
        if self.firsts[0].sketch.is_exact:
            return offdata.tangent_space(self.firsts[0].centred(), explained=explained)
        x = next(t for t in sources.tensors(self.sample_inputs) if t.is_floating_point())
        flat = x.double().flatten(1)
        _, values, right = torch.linalg.svd(flat - flat.mean(0), full_matrices=False)
        share = values.square().cumsum(0) / values.square().sum()
        return right[: int((share < explained).sum()) + 1].mT

    def numbers(
        self, rank: int, K: int | None, epsilon: float, instruments: Sequence[str]
    ) -> list[dict[str, dict[str, Number]]]:
        """The numbers of Parts I, II and IV at each tap."""
        if not set(instruments) - {"embedded"}:
            return [{} for _ in self.firsts]
        sampled = self._sampled()
        groups = min(self.job.groups, self.count)
        most = max(rank + 8, (K or 0) + 8, 24)
        spectrum = [first.spectrum(most) for first in self.firsts]
        q = [vectors.shape[1] for _, vectors in spectrum]
        has_input = self.job.plan.taps[0].side == "data"
        seconds = []
        for i, (first, (_, vectors)) in enumerate(zip(self.firsts, spectrum, strict=True)):
            middle = None
            if K is not None and "collapse" in instruments:
                middle = spectra.centres(sampled[i], K, seed=self.job.seed)
            frame = Frame(vectors.contiguous(), first.means(), middle)
            before = q[i - 1] if i else None
            seconds.append(Second(frame, groups, q_in=q[0] if has_input else None, q_prev=before))
        turn = [0]
        held: dict[int, Tensor] = {}

        def sink(i: int, H: Tensor, batch: Batch) -> None:
            if i == 0:
                turn[0] += batch.size
            start = turn[0] - batch.size
            group = (torch.arange(batch.size) + start) % groups
            origin = held.get(0) if i else None
            Z = H @ seconds[0].frame.vectors if i == 0 and has_input else origin
            held[i] = seconds[i].add(H, self.index, group, held.get(i - 1), Z)

        self._run(sink)
        labels = torch.tensor(self.sample_labels)
        out = []
        for i, (first, second) in enumerate(zip(self.firsts, seconds, strict=True)):
            found: dict[str, dict[str, Number]] = {}
            values = spectrum[i][0]
            if "preserve" in instruments:
                triple = lambda j: (self.firsts[j], seconds[j], spectrum[j][0])  # noqa: E731
                found["preserve"] = rowspaces.rowspace_numbers(
                    first, second, values, rank, start=triple(0) if has_input else None,
                    before=triple(i - 1) if i else None, labelled=self.labelled,
                )  # fmt: skip
            if "collapse" in instruments:
                found["collapse"] = spectra.spectrum_numbers(
                    first, second, values, K, labelled=self.labelled, epsilon=epsilon
                )
            if "hashing" in instruments:
                sample = (sampled[i], labels) if self.labelled else None
                found["hashing"] = classes.class_numbers(
                    first, second, labelled=self.labelled, sample=sample
                )
            out.append(found)
        return out


def _rank(split: _Split, classes_: int) -> int:
    if classes_:
        return min(classes_, 32, split.count)
    squares = split.firsts[0].spectrum()[0].square()
    share = squares.cumsum(0) / squares.sum().clamp_min(1e-300)
    return max(1, min(int((share < 0.9).sum()) + 1, 32, split.count))


def _joined(parts: Sequence[Any]) -> Any:
    """Single points as one batch."""
    first = parts[0]
    if isinstance(first, Tensor):
        return first if first.ndim == 0 else torch.cat(list(parts))
    if isinstance(first, dict):
        return {k: _joined([p[k] for p in parts]) for k in first}
    if isinstance(first, tuple):
        return tuple(_joined([p[k] for p in parts]) for k in range(len(first)))
    return first
