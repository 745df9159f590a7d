"""Warm processes as a coordinator sees them: give one a run, and get what came of it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from lowdim.publish import content, kernels
from lowdim.publish.sweeps import warm

LIMIT = 3600.0  # seconds that one run may take


class WorkerDied(RuntimeError):
    """The warm process itself is gone; the run may be innocent."""


class Worker:
    """One warm process; use as a context. It is started when it is first needed.

    ``scratch`` is a folder of its own, where runs leave their files.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder, Worker(Path("."), Path(folder)) as worker:
    ...     worker.process is None
    True
    """

    def __init__(self, root: Path, scratch: Path) -> None:
        self.root, self.scratch = root, scratch
        self.process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.end()

    def end(self) -> None:
        """End the process and the run that it may have under way: its input ends."""
        process, self.process = self.process, None
        if process is None:
            return
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except OSError:
                    pass
        try:
            process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def run(
        self,
        key: str,
        chapter: str,
        values: Mapping[str, Any],
        *,
        keep: str = "none",
        limit: float = LIMIT,
    ) -> tuple[dict[str, Any], Path | None]:
        """What came of one run (state, record, error, tail, seconds), and its notebook if kept.

        Raises
        ------
        WorkerDied
            If the warm process is gone; the next call starts another.
        """
        place = Path(tempfile.mkdtemp(prefix="run-", dir=self.scratch))
        request = {
            "key": key,
            "root": str(self.root),
            "chapter": chapter,
            "values": dict(values),
            "keep": keep,
            "limit": limit,
            "folder": str(place),
        }
        try:
            answer = self._ask(request, content.chapter_path(self.root, chapter))
        except (OSError, ValueError):
            self.end()
            shutil.rmtree(place, ignore_errors=True)
            raise WorkerDied(f"The worker of {chapter} died.") from None
        try:
            told = json.loads((place / warm.RESULT).read_text(encoding="utf-8"))
        except FileNotFoundError:
            why = "it died, most often for want of memory"
            if answer["wall"] >= limit:
                why = f"it took longer than {limit:g} seconds"
            told = {"state": "failed", "record": None, "error": f"{chapter} failed: {why}."}
            told |= {"tail": "", "seconds": answer["wall"]}
        notebook = place / warm.NOTEBOOK
        return told, notebook if notebook.is_file() else None

    def _ask(self, request: Mapping[str, Any], chapter: Path) -> dict[str, Any]:
        if self.process is None:
            self._start(chapter)
        process = self.process
        assert process is not None and process.stdin is not None and process.stdout is not None
        process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
        return json.loads(process.stdout.readline())

    def _start(self, chapter: Path) -> None:
        added = kernels.environment(self.root, one_thread=True)
        library = str(Path(__file__).resolve().parents[3])
        paths = [added.get("PYTHONPATH", ""), library, os.environ.get("PYTHONPATH", "")]
        added["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(filter(None, paths)))
        self.process = subprocess.Popen(
            [sys.executable, "-m", warm.__name__, str(chapter)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=os.environ | added,
            start_new_session=True,  # Ctrl-C is the coordinator's: it ends us in order
        )
        assert self.process.stdout is not None
        json.loads(self.process.stdout.readline())  # ready
