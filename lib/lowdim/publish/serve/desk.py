"""Makes the runs that wait, one after the other, each in a process that can be ended."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from lowdim.publish.serve import one, runs
from lowdim.publish.serve.runs import Entry, Runs

WAITING_MOST = 20  # runs that may wait
KEPT_MOST = 200  # runs that are kept until some are deleted
LINE = 1 << 20  # bytes of an answer


class Refused(RuntimeError):
    """One sentence: why a run cannot be taken, cancelled or deleted now."""


class Desk:
    """Takes runs and makes them; all of it in one event loop, so that nothing needs a lock.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     desk = Desk(Path("."), Runs(Path(folder)))
    ...     entry = desk.take("a/b", {}, None)
    ...     desk.before(entry), desk.cancel(entry), entry.state
    (0, None, 'cancelled')
    """

    def __init__(self, root: Path, kept: Runs) -> None:
        self.root, self.runs = root, kept
        self._asked = asyncio.Event()
        self._process: asyncio.subprocess.Process | None = None
        self._current: Entry | None = None

    def take(self, chapter: str, values: Mapping[str, Any], preset: str | None) -> Entry:
        """Queue a run, whose values have been checked.

        Raises
        ------
        Refused
            If too many wait, or too many are kept.
        """
        if sum(entry.state == runs.WAITING for entry in self.runs) >= WAITING_MOST:
            raise Refused(f"{WAITING_MOST} runs wait already; cancel one, or ask again later.")
        if len(self.runs) >= KEPT_MOST:
            raise Refused(f"{KEPT_MOST} runs are kept; delete some in the list of runs.")
        entry = self.runs.add(chapter, values, preset)
        self._asked.set()
        return entry

    def before(self, entry: Entry) -> int:
        """How many runs come before one that waits."""
        if entry.state != runs.WAITING:
            return 0
        active = [each.id for each in self.runs if each.state in runs.ACTIVE]
        return active.index(entry.id)

    def cancel(self, entry: Entry) -> None:
        """End a run, or take it out of the queue; what has ended stays as it is."""
        if entry.state == runs.WAITING:
            self._close(entry, runs.CANCELLED, "It was cancelled before it began.")
        elif entry.state == runs.RUNNING:
            entry.state, entry.said = runs.CANCELLED, "It was cancelled."
            self._end_process()

    def delete(self, entry: Entry) -> None:
        """Remove a run with all that it made.

        Raises
        ------
        Refused
            If it is under way.
        """
        if entry is self._current or entry.state in runs.ACTIVE:
            raise Refused("This run has not ended; cancel it first.")
        self.runs.delete(entry)

    async def work(self) -> None:
        """Make runs until cancelled; a run under way is then interrupted."""
        while True:
            entry = next((each for each in self.runs if each.state == runs.WAITING), None)
            if entry is None:
                self._asked.clear()
                await self._asked.wait()
                continue
            self._current = entry
            try:
                await self._make(entry)
            except OSError as error:  # a full disk, say: the next run may find room again
                entry.state, entry.ended = runs.FAILED, time.time()
                entry.said = f"What came of it could not be written down ({error.strerror})."
            finally:
                self._current = None

    async def _make(self, entry: Entry) -> None:
        entry.state, entry.began = runs.RUNNING, time.time()
        self.runs.keep(entry)
        try:
            process = await self._start(entry)
            assert process.stdout is not None
            if entry.state == runs.CANCELLED:  # while it started
                self._end_process()
            while line := await process.stdout.readline():
                told = json.loads(line)
                if entry.state == runs.RUNNING:
                    for name in ("cell", "cells", "state", "said", "tail", "page", "moved"):
                        if name in told:
                            setattr(entry, name, told[name])
            await process.wait()
        except asyncio.CancelledError:
            self._end_process()
            if self._process is not None:
                await _ended(self._process)
            self._close(entry, runs.INTERRUPTED, "The server ended during this run.")
            raise
        except (OSError, ValueError) as error:
            self._end_process()
            self._close(entry, runs.FAILED, f"The run could not be made ({error}).")
        finally:
            self._process = None
        if entry.state == runs.RUNNING:
            why = "Its process died, most often for want of memory."
            self._close(entry, runs.FAILED, why)
        elif entry.state == runs.CANCELLED:
            self._close(entry, runs.CANCELLED, "It was cancelled.")
        elif entry.ended is None:
            self._close(entry, entry.state, entry.said)

    async def _start(self, entry: Entry) -> asyncio.subprocess.Process:
        library = str(Path(__file__).resolve().parents[3])
        paths = os.pathsep.join(filter(None, [library, os.environ.get("PYTHONPATH", "")]))
        self._process = process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            one.__name__,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=os.environ | {"PYTHONPATH": paths},
            start_new_session=True,  # Ctrl-C is ours: we end it in order
            limit=LINE,
        )
        request = {
            "root": str(self.root),
            "folder": str(self.runs.place(entry)),
            "chapter": entry.chapter,
            "values": entry.values,
            "preset": entry.preset,
        }
        assert process.stdin is not None
        process.stdin.write(json.dumps(request).encode() + b"\n")
        await process.stdin.drain()
        return process

    def _end_process(self) -> None:
        """Close the input of the run under way: it ends itself, with its kernel, in seconds."""
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()

    def _close(self, entry: Entry, state: str, said: str) -> None:
        entry.state, entry.said, entry.ended = state, said, time.time()
        self.runs.keep(entry)


async def _ended(process: asyncio.subprocess.Process) -> None:
    try:
        await asyncio.wait_for(process.wait(), one.GRACE + 2)
    except TimeoutError:
        with suppress(ProcessLookupError):
            process.kill()
