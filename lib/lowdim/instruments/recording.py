"""Instruments along a training run: a callback that keeps its own share of the time small.

By default a measurement is taken whenever it fits: the time spent so far and one more measurement
must stay within ``share`` of the time since the recorder was made. The state before training is
always recorded.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from lowdim import checks
from lowdim.instruments import sources
from lowdim.instruments.measuring import Measurement, measure
from lowdim.instruments.refusal import Unmeasurable
from lowdim.instruments.untouched import untouched

__all__ = ["Record", "Recorder"]


@dataclass(frozen=True)
class Record:
    """One measurement: after how many steps, and how many seconds it took."""

    step: int
    seconds: float
    found: Measurement


class Recorder:
    """Measures a model on the same points again and again while it is trained.

    Parameters
    ----------
    model, data, labels
        As for :func:`lowdim.instruments.measuring.measure`; only the first ``points`` are used.
    steps
        Steps after which to record; by default whenever it fits into ``share`` of the time.
    share
        At most this share of the time, from 0 to 1.
    options
        Further options of ``measure``.

    Raises
    ------
    Unmeasurable
        If ``share`` is not between 0 and 1.

    Examples
    --------
    >>> model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    >>> recorder = Recorder(model, torch.randn(30, 3), labels=torch.arange(30) % 2, steps=[0, 2])
    >>> for _ in range(3):
    ...     recorder.step()
    >>> [record.step for record in recorder.records]
    [0, 2]
    """

    def __init__(
        self,
        model: nn.Module,
        data: Any,
        *,
        labels: Any = None,
        steps: Iterable[int] | None = None,
        share: float = 0.04,
        points: int = 512,
        clock: Callable[[], float] = time.perf_counter,
        **options: Any,
    ) -> None:
        if not 0 < share <= 1:
            raise Unmeasurable(f"share must be above 0 and at most 1; you gave {share!r}.")
        checks.whole(points, "points", 1)
        self.model, self.share_wanted, self.clock = model, share, clock
        self.steps = None if steps is None else frozenset(steps)
        with untouched(model, data):
            self.data = _first(data, labels, points)
        self.options: dict[str, Any] = {"sample": 64, "probes": 8, "width": 256} | options
        self.records: list[Record] = []
        self.done, self.spent, self.begun = 0, 0.0, clock()
        if self.steps is None or 0 in self.steps:
            self._record()

    def step(self) -> None:
        """To be called after each step of training."""
        self.done += 1
        if self.steps is not None:
            if self.done in self.steps:
                self._record()
        elif self.spent + self.records[-1].seconds <= self.share_wanted * self.elapsed:
            self._record()

    def _record(self) -> None:
        start = self.clock()
        found = measure(self.model, self.data, **self.options)
        seconds = self.clock() - start
        self.spent += seconds
        self.records.append(Record(self.done, seconds, found))

    @property
    def elapsed(self) -> float:
        """Seconds since the recorder was made."""
        return self.clock() - self.begun

    @property
    def share(self) -> float:
        """The recorder's share of the time so far, from 0 to 1."""
        return self.spent / max(self.elapsed, 1e-12)

    def __str__(self) -> str:
        return (
            f"{len(self.records)} records in {self.done} steps: {self.spent:.2f} of "
            f"{self.elapsed:.2f} s, {self.share:.1%} of the time"
        )

    def as_json(self) -> list[dict[str, Any]]:
        """The records for JSON, as a report takes them."""
        return [{"step": r.step, "seconds": r.seconds, **r.found.as_json()} for r in self.records]

    def lightning(self) -> Any:
        """A callback for Lightning's ``Trainer``, which calls :meth:`step` after each batch.

        Raises
        ------
        Unmeasurable
            If Lightning is not installed.
        """
        base = _found(("lightning.pytorch", "pytorch_lightning"), "Callback", "Lightning")
        return type(
            "LowdimCallback", (base,),
            {"on_train_batch_end": lambda own, *args, **kwargs: self.step()},
        )()  # fmt: skip

    def hugging_face(self) -> Any:
        """A callback for Hugging Face's ``Trainer``, which calls :meth:`step` after each step.

        Raises
        ------
        Unmeasurable
            If transformers is not installed.
        """
        base = _found(("transformers",), "TrainerCallback", "transformers")
        return type(
            "LowdimCallback", (base,), {"on_step_end": lambda own, *args, **kwargs: self.step()}
        )()  # fmt: skip


def _found(modules: tuple[str, ...], name: str, title: str) -> Any:
    for module in modules:
        try:
            return getattr(importlib.import_module(module), name)
        except ImportError:
            continue
    raise Unmeasurable(f"{title} is not installed; call step() in the training loop instead.")


def _first(data: Any, labels: Any, points: int) -> list[Any]:
    """The first points of the data as batches that are held."""
    held: list[Any] = []
    left = points
    for batch in sources.source(data, labels=labels, name="recorded data"):
        at = torch.arange(min(left, batch.size))
        inputs = sources.take(batch.inputs, at)
        if batch.labels is None:
            held.append(inputs)
        elif isinstance(inputs, dict):
            held.append({**inputs, sources.LABELS[0]: batch.labels[at]})
        else:
            held.append((inputs, batch.labels[at]))
        left -= len(at)
        if left <= 0:
            break
    return held
