"""Runs of a sweep on a Dask cluster that exists already; its workers have this package and book.

Here a :class:`Cluster` is one more pool: it hands runs to the scheduler, a few for each thread, and
gives back what came of them. There, in each Dask worker, :func:`work` makes one run by a warm
process (:mod:`~lowdim.publish.sweeps.warm`), as on this machine. Nothing of a sweep is written by a
Dask worker: a run that Dask makes twice, since somebody died, is kept once by the coordinator.

A worker whose Python, packages, library or chapter are others would make other runs. So each is
asked before the first run, and looks again at every run: it may have come later, or been edited.
"""

from __future__ import annotations

import logging
import platform
import queue
import re
import tempfile
import threading
import time
import uuid
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import lowdim
from lowdim.publish import content
from lowdim.publish.chapters import Chapter, UsageError, find_root
from lowdim.publish.running import book_root
from lowdim.publish.sweeps import pools, workers

ANSWER = 5.0  # seconds that a scheduler may take to answer
LOOK = 2.0  # seconds between two looks at a cluster from which nothing comes
PATIENCE = 60.0  # seconds that a cluster may be without workers
AHEAD = 2  # runs for each thread that are with the scheduler at once
PACKAGES = ("numpy", "scipy", "torch")
GO_ON = "what ended is kept, and the same command goes on from there"


class ClusterLost(RuntimeError):
    """The cluster is gone, or is no longer what it was; runs that ended before are kept."""


# Here: the side of the coordinator.


@contextmanager
def connected(address: str, chapter: Chapter) -> Iterator[Cluster]:
    """The cluster whose scheduler listens at ``address``, once all its workers are found fit.

    Raises
    ------
    UsageError
        If there is no such scheduler, or no worker, or one that would make other runs.

    Examples
    --------
    >>> with connected("10.0.0.1", None):
    ...     pass
    Traceback (most recent call last):
        ...
    lowdim.publish.parameters.UsageError: --scheduler wants tcp://host:port; you gave 10.0.0.1.
    """
    if not re.fullmatch(r"(tcp|tls)://[^\s/]+:\d+", address):
        raise UsageError(f"--scheduler wants tcp://host:port; you gave {address}.")
    client = _client(address)
    try:
        yield Cluster(address, client, _fit(address, client, chapter))
    finally:
        with suppress(Exception):  # a scheduler that is gone cannot be told
            client.close(timeout=ANSWER)


def _client(address: str) -> Any:
    """A client of the scheduler. Dask itself waits for ever for one that listens in silence."""
    try:
        from distributed import Client
    except ImportError:
        raise UsageError("--scheduler needs Dask: pip install 'lowdim[dask]'.") from None
    for name in ("distributed", "distributed.client"):  # what it has to say, we say in a sentence
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    answer: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def connect() -> None:
        try:
            answer.put(Client(address, timeout=ANSWER, set_as_default=False, name="lowdim-sweep"))
        except BaseException as error:
            answer.put(error)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of versions that differ: they are compared later
        threading.Thread(target=connect, daemon=True).start()
        with suppress(queue.Empty):
            if not isinstance(found := answer.get(timeout=ANSWER + 1), BaseException):
                return found
    raise UsageError(f"No Dask scheduler answers at {address} within {ANSWER:g} seconds.")


def _fit(address: str, client: Any, chapter: Chapter) -> str:
    """The state of the chapter and its library, which all workers have."""
    try:
        found = client.run(identity, chapter.name, on_error="return")
    except Exception as error:
        raise UsageError(f"The workers of {address} cannot be asked: {_flat(error)}") from None
    if not found:
        raise UsageError(f"The Dask scheduler at {address} has no workers.")
    here = identity(chapter.name, book_root(chapter))
    for who, there in sorted(found.items()):
        if isinstance(there, Exception):
            raise UsageError(f"The worker {who} has no such chapter to run: {_flat(there)}")
        for what, ours in here.items():
            if (theirs := there.get(what)) != ours:
                raise UsageError(
                    f"The worker {who} has another state of {chapter.name} or of the library "
                    "than there is here: bring its checkout to this one."
                    if what == "state"
                    else f"The worker {who} has {what} {theirs}, and {ours} is here."
                )
    return here["state"]


def _flat(error: BaseException) -> str:
    told = " ".join(f"{type(error).__name__}: {error}".split())
    return told if len(told) <= 200 else told[:200] + "…"


@dataclass(frozen=True)
class Cluster:
    """Workers of a Dask cluster, as a pool; made by :func:`connected`."""

    address: str
    client: Any
    state: str

    def threads(self) -> int:
        """How many runs its workers make at once, now.

        Raises
        ------
        ClusterLost
            If the scheduler does not answer.
        """
        try:
            if self.client.status == "running":
                asked = self.client.scheduler.ncores
                return sum(self.client.sync(asked, callback_timeout=ANSWER).values())
        except Exception:  # a socket, a timeout, a loop that is closed: it is not there
            pass
        raise ClusterLost(f"The Dask scheduler at {self.address} is gone: {GO_ON}.")

    def make(self, order: pools.Order, scratch: Path) -> pools.Made:
        """Hand runs to the scheduler, and more as they end; closed, end those under way."""
        from distributed import KilledWorker

        sweep = uuid.uuid4().hex
        waiting = iter(order.runs)
        ended: queue.SimpleQueue[str] = queue.SimpleQueue()
        out: dict[str, tuple[Any, int]] = {}

        def submit(key: str, tries: int = 1) -> None:
            asked = {
                "sweep": sweep, "state": self.state, "chapter": order.chapter, "key": key,
                "values": dict(order.runs[key]), "keep": order.keep, "limit": order.limit,
            }  # fmt: skip
            future = self.client.submit(work, asked, key=f"lowdim-{sweep}-{key}-{tries}")
            out[key] = future, tries
            future.add_done_callback(lambda _: ended.put(key))

        room, looked, seen = AHEAD * self.threads(), time.monotonic(), time.monotonic()
        try:
            while True:
                while len(out) < max(room, 1) and (key := next(waiting, "")):
                    submit(key)
                if not out:
                    return
                try:
                    key = ended.get(timeout=LOOK)
                except queue.Empty:
                    key = ""
                if (now := time.monotonic()) >= looked + LOOK:
                    looked, room = now, AHEAD * self.threads()
                    seen = now if room else seen
                    if now > seen + PATIENCE:
                        raise ClusterLost(
                            f"The Dask cluster at {self.address} has had no workers for "
                            f"{PATIENCE:g} seconds: {GO_ON}."
                        )
                if not key:
                    continue
                future, tries = out.pop(key)
                try:
                    told, notebook = future.result(timeout=PATIENCE)
                except KilledWorker:
                    # Dask says so of what waited beside the culprit too: each gets another chance.
                    if tries == 1:
                        submit(key, tries + 1)
                        continue
                    why = "the Dask workers that had it died, most often for want of memory"
                    told, notebook = pools.lost(order.chapter, why), None
                except Exception as error:
                    self.threads()  # says so if it is the scheduler that is gone
                    raise ClusterLost(f"A run came to nothing ({_flat(error)}): {GO_ON}.") from None
                if refused := told.get("refused"):
                    raise ClusterLost(f"{refused}: {GO_ON}.")
                yield key, told, notebook
        finally:
            self._end(sweep, [future for future, _ in out.values()])

    def _end(self, sweep: str, futures: list[Any]) -> None:
        if self.client.status != "running":
            return
        with suppress(Exception):
            self.client.cancel(futures, force=True)
            self.client.run(halt, sweep, on_error="return")


# There: the side of a Dask worker.


def identity(chapter: str, root: Path | None = None) -> dict[str, str]:
    """What decides the runs of a chapter in this process: versions, and the state of the sources.

    Examples
    --------
    >>> list(identity("preserve/lemma_4_1"))
    ['lowdim', 'python', 'numpy', 'scipy', 'torch', 'state']
    """
    told = {"lowdim": lowdim.__version__, "python": platform.python_version()}
    for name in PACKAGES:
        try:
            told[name] = version(name).partition("+")[0]
        except PackageNotFoundError:
            told[name] = "missing"
    return {**told, "state": content.key(root or find_root(), chapter)}


def work(asked: Mapping[str, Any]) -> tuple[dict[str, Any], str | None]:
    """One run, made by a warm process of this Dask worker; what came of it, its notebook if kept.

    Examples
    --------
    >>> asked = {"sweep": "s", "state": "another", "chapter": "preserve/lemma_4_1", "key": "k"}
    >>> work(asked | {"values": {}, "keep": "none", "limit": 1.0})[0]["refused"]
    'A Dask worker has another state of preserve/lemma_4_1 or of the library'
    """
    root, chapter = find_root(), asked["chapter"]
    order = pools.Order(
        root, chapter, {asked["key"]: asked["values"]}, asked["keep"], asked["limit"]
    )
    refused = {"refused": f"A Dask worker has another state of {chapter} or of the library"}
    if _stable.state(root, chapter) != asked["state"]:
        return refused, None
    with (
        tempfile.TemporaryDirectory(prefix="lowdim-") as place,
        _stable.one(root, asked["sweep"], asked["state"]) as warm,
    ):
        warm.scratch = Path(place)
        made = pools.insisting(warm, asked["key"], order)
    if _stable.state(root, chapter) != asked["state"]:
        return refused, None
    return made


def halt(sweep: str) -> None:
    """End what this Dask worker has under way for a sweep, and the warm processes without work.

    Examples
    --------
    >>> halt("of which nothing is known")
    """
    _stable.halt(sweep)


class _Halted(RuntimeError):
    """The sweep that a run belongs to was ended."""


class _Warm(workers.Worker):
    """A warm process that starts no more once its sweep has been ended."""

    def __init__(self, root: Path, stable: _Stable) -> None:
        super().__init__(root, Path(tempfile.gettempdir()))
        self.stable, self.sweep = stable, ""

    def run(self, *asked: Any, **options: Any) -> tuple[dict[str, Any], Path | None]:
        if self.sweep in self.stable.halted:
            raise _Halted
        return super().run(*asked, **options)

    def kill(self) -> None:
        """End the process from another thread than the one that waits for it."""
        if (process := self.process) is not None:
            process.kill()


class _Stable:
    """The warm processes of one Dask worker: as many as it has had threads at work at once."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.idle: dict[str, list[_Warm]] = {}
        self.busy: set[_Warm] = set()
        self.halted: set[str] = set()
        self.known: dict[tuple[Path, str], tuple[Any, str]] = {}

    def state(self, root: Path, chapter: str) -> str:
        """The state of a chapter and its library; read anew only if a file was touched."""
        touched = pools.touched(root, chapter)
        with self.lock:
            if self.known.get((root, chapter), ("", ""))[0] != touched:
                self.known[root, chapter] = touched, content.key(root, chapter)
            return self.known[root, chapter][1]

    @contextmanager
    def one(self, root: Path, sweep: str, state: str) -> Iterator[_Warm]:
        """A warm process that has imported this state; those of another state are ended."""
        with self.lock:
            others = [each for key in self.idle if key != state for each in self.idle[key]]
            mine = self.idle.get(state, [])
            warm = mine.pop() if mine else _Warm(root, self)
            self.idle = {state: mine}
            warm.sweep = sweep
            self.busy.add(warm)
        for each in others:
            each.end()
        try:
            yield warm
        finally:
            with self.lock:
                self.busy.discard(warm)
                over = sweep in self.halted
                if not over:
                    self.idle.setdefault(state, []).append(warm)
            if over:
                warm.end()

    def halt(self, sweep: str) -> None:
        with self.lock:
            self.halted.add(sweep)
            idle = [each for group in self.idle.values() for each in group]
            self.idle = {}
            for each in self.busy:
                if each.sweep == sweep:
                    each.kill()
        for each in idle:
            each.kill()
            each.end()


_stable = _Stable()
