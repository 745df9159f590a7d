"""Hands runs to workers and keeps what comes back: the only process that writes a sweep."""

from __future__ import annotations

import os
import queue
import shutil
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lowdim.publish import content, store
from lowdim.publish.chapters import Chapter
from lowdim.publish.running import book_root
from lowdim.publish.sweeps import results, shelf, workers

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
    cores: int,
    keep: str = "failed",
    limit: float = workers.LIMIT,
    progress: bool = False,
) -> results.Summary:
    """Make what is to be made, on ``cores`` workers; write the table and the page; sum up.

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
                _make(planned, root, folder, scratch, kept, cores, keep, limit, progress)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
            summary = results.write(folder, kept, root=root, chapter=chapter, keys=planned.runs)
    return summary


def _make(
    planned: Plan,
    root: Path,
    folder: Path,
    scratch: Path,
    kept: shelf.Shelf,
    cores: int,
    keep: str,
    limit: float,
    progress: bool,
) -> None:
    waiting: queue.SimpleQueue[str] = queue.SimpleQueue()
    for key in planned.todo:
        waiting.put(key)
    ended: queue.SimpleQueue[Any] = queue.SimpleQueue()
    over = threading.Event()
    name = planned.chapter.name
    before = _state(root, name)

    def work(worker: workers.Worker) -> None:
        try:
            while not over.is_set():
                try:
                    key = waiting.get_nowait()
                except queue.Empty:
                    return
                ended.put((key, *_insisting(worker, key, name, planned.runs[key], keep, limit)))
        except BaseException as error:
            ended.put(error)

    with ExitStack() as during:
        staff = []
        for number in range(min(cores, len(planned.todo))):
            place = scratch / str(number)
            place.mkdir()
            staff.append(during.enter_context(workers.Worker(root, place)))
        during.callback(over.set)
        threads = [threading.Thread(target=work, args=(each,), daemon=True) for each in staff]
        for thread in threads:
            thread.start()
        host = socket.gethostname()
        with _Bar(name, len(planned.todo), shown=progress) as bar:
            for _ in planned.todo:
                got = ended.get()
                if isinstance(got, BaseException):
                    raise got
                key, told, notebook = got
                if _state(root, name) != before:
                    raise Changed(
                        f"{name} or the library was edited during the sweep; what ended before is "
                        "kept, and the same command makes the rest anew."
                    )
                if notebook is not None:
                    (folder / NOTEBOOKS).mkdir(exist_ok=True)
                    os.replace(notebook, folder / NOTEBOOKS / f"{key}.ipynb")
                kept.put(key, planned.runs[key], host=host, **told)
                bar.step(told["state"])


def _insisting(
    worker: workers.Worker,
    key: str,
    chapter: str,
    values: Mapping[str, Any],
    keep: str,
    limit: float,
) -> tuple[dict[str, Any], Path | None]:
    """A run, tried once more if its worker died: a run that kills two has failed."""
    for _ in range(2):
        try:
            return worker.run(key, chapter, values, keep=keep, limit=limit)
        except workers.WorkerDied:
            continue
    error = f"{chapter} failed: two workers died with it, most often for want of memory."
    told = {"state": shelf.FAILED, "record": None, "error": error, "tail": "", "seconds": 0.0}
    return told, None


def _state(root: Path, chapter: str) -> tuple[tuple[str, int, int], ...]:
    """A cheap sign of whether anything that decides runs was touched."""
    paths = [
        content.chapter_path(root, chapter),
        root / "requirements.lock",
        *sorted((root / "lib").rglob("*.py")),
    ]
    found = []
    for path in paths:
        try:
            status = path.stat()
        except FileNotFoundError:
            continue
        found.append((str(path), status.st_mtime_ns, status.st_size))
    return tuple(found)


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
