"""Hands runs to workers and keeps what comes back: the only process that writes a sweep."""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lowdim.publish import content, store
from lowdim.publish.chapters import Chapter
from lowdim.publish.records import write_atomically
from lowdim.publish.running import book_root
from lowdim.publish.sweeps import pools, results, shelf, workers

KEEP = ("none", "failed", "all")
NOTEBOOKS = "notebooks"
EVERY = 5.0  # seconds between two lines of progress where there is no terminal


class Changed(RuntimeError):
    """What decides the runs was edited while they were made."""


@dataclass(frozen=True)
class Plan:
    """A sweep before it runs: ``todo`` are the keys that have no row yet, or a failed one."""

    chapter: Chapter
    runs: Mapping[str, Mapping[str, Any]]
    todo: tuple[str, ...]
    failed: int
    each: float | None = field(default=None)

    def describe(self, cores: int) -> str:
        """What would be done and what it would cost, for ``--dry-run``."""
        done = len(self.runs) - len(self.todo) - self.failed
        lines = [
            f"{self.chapter.name}: {len(self.runs):,} runs; {done:,} are done, "
            f"{self.failed:,} have failed, {len(self.todo):,} are to be made."
        ]
        if self.each is None:
            lines.append("How long one takes is not known: the book has no run of this chapter.")
        elif self.todo:
            total = self.each * len(self.todo) / cores
            lines.append(
                f"At the book's {self.each:.1f} s each, on {cores} cores: about {_time(total)}."
            )
        return "\n".join(lines)


def plan(
    chapter: Chapter, runs: Sequence[Mapping[str, Any]], folder: Path, *, retry: bool = False
) -> Plan:
    """Which of ``runs`` are to be made, given what lies in ``folder``; nothing is written."""
    root = book_root(chapter)
    named = content.keys(root, chapter.name)
    keys = {named(values): values for values in runs}
    states: dict[str, str] = {}
    if (folder / shelf.NAME).is_file():
        with shelf.Shelf(folder, chapter.name) as kept:
            states = kept.states()
    failed = [key for key in keys if states.get(key) == shelf.FAILED]
    todo = [key for key in keys if key not in states or (retry and key in failed)]
    seconds = store.seconds(root).get(chapter.name)
    return Plan(chapter, keys, tuple(todo), 0 if retry else len(failed), seconds)


def sweep(
    planned: Plan,
    folder: Path,
    *,
    pool: pools.Pool,
    keep: str = "failed",
    limit: float = workers.LIMIT,
    progress: bool = False,
) -> results.Summary:
    """Let ``pool`` make what is to be made; write the table and the page; sum up.

    Every run is kept when it ends. Interrupted, it leaves what there is, table and page included,
    and the same call goes on from there.

    Raises
    ------
    UsageError
        If another process is at work in ``folder``, or it holds a sweep of another chapter.
    Changed
        If the chapter or the library is edited meanwhile; runs that ended before are kept.
    """
    chapter = planned.chapter
    root = book_root(chapter)
    with shelf.Shelf(folder, chapter.name, write=True) as kept:
        for left in folder.glob(".scratch-*"):  # of a coordinator that was killed
            shutil.rmtree(left, ignore_errors=True)
        scratch = Path(tempfile.mkdtemp(prefix=".scratch-", dir=folder))
        try:
            if planned.todo:
                todo = {key: planned.runs[key] for key in planned.todo}
                order = pools.Order(root, chapter.name, todo, keep, limit)
                _make(planned, pool, order, folder, scratch, kept, progress)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
            summary = results.write(folder, kept, root=root, chapter=chapter, keys=planned.runs)
    return summary


def _make(
    planned: Plan,
    pool: pools.Pool,
    order: pools.Order,
    folder: Path,
    scratch: Path,
    kept: shelf.Shelf,
    progress: bool,
) -> None:
    name = order.chapter
    before = pools.touched(order.root, name)
    with (
        _Bar(name, len(order.runs), shown=progress) as bar,
        closing(pool.make(order, scratch)) as made,
    ):
        for key, told, notebook in made:
            if pools.touched(order.root, name) != before:
                raise Changed(
                    f"{name} or the library was edited during the sweep; what ended before is "
                    "kept, and the same command makes the rest anew."
                )
            if notebook is not None:
                write_atomically(folder / NOTEBOOKS / f"{key}.ipynb", notebook)
            kept.put(key, planned.runs[key], **told)
            bar.step(told["state"])


class _Bar:
    """A bar in a terminal, a line now and then elsewhere, nothing if not ``shown``."""

    def __init__(self, name: str, total: int, *, shown: bool) -> None:
        self.name, self.total, self.done, self.failed = name, total, 0, 0
        self.start = self.told = time.monotonic()
        self.shown = shown
        self.bar: Any = None

    def __enter__(self) -> _Bar:
        if self.shown and sys.stderr.isatty():
            from tqdm import tqdm

            self.bar = tqdm(total=self.total, desc=self.name, unit=" runs")
        elif self.shown:
            print(f"{self.name}: {self.total:,} runs to make", file=sys.stderr, flush=True)
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.close()

    def step(self, state: str) -> None:
        self.done += 1
        self.failed += state == shelf.FAILED
        if self.bar is not None:
            self.bar.set_postfix(failed=self.failed)
            self.bar.update()
        elif self.shown and (time.monotonic() - self.told >= EVERY or self.done == self.total):
            self.told = time.monotonic()
            left = (self.told - self.start) / self.done * (self.total - self.done)
            line = f"{self.name}: {self.done:,} of {self.total:,}, {self.failed:,} failed"
            print(f"{line}, about {_time(left)} left", file=sys.stderr, flush=True)


def _time(seconds: float) -> str:
    """Seconds as one says them: 40 s, 12 min, 3.5 h."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
