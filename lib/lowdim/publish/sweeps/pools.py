"""Who makes the runs of a sweep: the warm workers of this machine, or a cluster's.

A pool takes runs by their keys and gives back what came of each, in any order. It writes nothing
that is kept: that is the coordinator's.
"""

from __future__ import annotations

import queue
import socket
import threading
from collections.abc import Generator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from lowdim.publish import content
from lowdim.publish.sweeps import workers

FAILED = "failed"
Made = Generator[tuple[str, dict[str, Any], str | None], None, None]
"""Runs as they end: key, what came of it, notebook; closed, a pool ends what is under way."""


@dataclass(frozen=True)
class Order:
    """What is to be made: runs of one chapter by key, what to keep, how long one may take."""

    root: Path
    chapter: str
    runs: Mapping[str, Mapping[str, Any]]
    keep: str = "none"
    limit: float = workers.LIMIT


class Pool(Protocol):
    """Makes runs; ``scratch`` is a folder for files that do not last."""

    def make(self, order: Order, scratch: Path) -> Made:
        """Yield, for each run when it ends: its key, what came of it, its notebook if kept.

        What came of it has the names that :meth:`lowdim.publish.sweeps.shelf.Shelf.put` takes.
        """
        ...


@dataclass(frozen=True)
class Local:
    """Warm workers on this machine.

    Examples
    --------
    >>> list(Local(2).make(Order(Path("."), "a/b", {}), Path(".")))
    []
    """

    cores: int

    def make(self, order: Order, scratch: Path) -> Made:
        """Hand runs to as many workers as there are cores."""
        waiting: queue.SimpleQueue[str] = queue.SimpleQueue()
        for key in order.runs:
            waiting.put(key)
        ended: queue.SimpleQueue[Any] = queue.SimpleQueue()
        over = threading.Event()

        def work(worker: workers.Worker) -> None:
            try:
                while not over.is_set():
                    try:
                        key = waiting.get_nowait()
                    except queue.Empty:
                        return
                    ended.put((key, *insisting(worker, key, order)))
            except BaseException as error:
                ended.put(error)

        with ExitStack() as during:
            staff = []
            for number in range(min(self.cores, len(order.runs))):
                place = scratch / str(number)
                place.mkdir()
                staff.append(during.enter_context(workers.Worker(order.root, place)))
            during.callback(over.set)
            for each in staff:
                threading.Thread(target=work, args=(each,), daemon=True).start()
            for _ in order.runs:
                got = ended.get()
                if isinstance(got, BaseException):
                    raise got
                yield got


def insisting(
    worker: workers.Worker, key: str, order: Order
) -> tuple[dict[str, Any], str | None]:  # fmt: skip
    """A run, tried once more if its worker died: a run that kills two has failed.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> def dies(*asked, **options):
    ...     raise workers.WorkerDied
    >>> order = SimpleNamespace(chapter="a/b", runs={"k": {}}, keep=False, limit=None)
    >>> insisting(SimpleNamespace(run=dies), "k", order)[0]["error"]
    'a/b failed: two workers died with it, most often for want of memory.'
    """
    for _ in range(2):
        try:
            told, path = worker.run(
                key, order.chapter, order.runs[key], keep=order.keep, limit=order.limit
            )
        except workers.WorkerDied:
            continue
        notebook = None if path is None else path.read_text(encoding="utf-8")
        return {**told, "host": socket.gethostname()}, notebook
    why = "two workers died with it, most often for want of memory"
    return lost(order.chapter, why), None


def lost(chapter: str, why: str, *, host: str = "") -> dict[str, Any]:
    """What is kept of a run that came to nothing.

    Examples
    --------
    >>> lost("a/b", "nobody made it", host="here")["error"]
    'a/b failed: nobody made it.'
    """
    told = {"state": FAILED, "record": None, "error": f"{chapter} failed: {why}.", "tail": ""}
    return {**told, "seconds": 0.0, "host": host or socket.gethostname()}


def touched(root: Path, chapter: str) -> tuple[tuple[str, int, int], ...]:
    """A cheap sign of whether anything that decides runs was touched.

    Examples
    --------
    >>> touched(Path("no-such-book"), "a/b")
    ()
    """
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
