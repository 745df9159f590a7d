"""What a sweep has found so far: one SQLite file, written by one process, safe at every moment.

Every run has one row, under the key of what decides it (:mod:`lowdim.publish.content`), so a row is
current as long as chapter, library, pins and parameters are. Rows of an earlier state stay and are
told apart; nothing is overwritten but a failure that is tried again.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from filelock import FileLock, Timeout

from lowdim.publish.chapters import UsageError

NAME = "sweep.sqlite"
VERSION = "lowdim-sweep/1"
DONE, FAILED = "done", "failed"
SCHEMA = """
CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS runs (
  key TEXT PRIMARY KEY, parameters TEXT NOT NULL, state TEXT NOT NULL, seconds REAL NOT NULL,
  record TEXT, error TEXT, tail TEXT, host TEXT NOT NULL, made REAL NOT NULL
);
"""


@dataclass(frozen=True)
class Row:
    """One run: ``record`` is None and ``error`` a sentence if it failed."""

    key: str
    parameters: dict[str, Any]
    state: str
    seconds: float
    record: dict[str, Any] | None
    error: str
    tail: str
    host: str
    made: float


class Shelf:
    """The rows of one sweep; use as a context. ``write`` takes the lock that one process has.

    Raises
    ------
    UsageError
        If another process has the lock, if the file is no sweep, or one of another chapter.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Shelf(Path(folder), "a/b", write=True) as shelf:
    ...         shelf.put("k", {"seed": 1}, state=FAILED, seconds=0.5, error="no", host="here")
    ...         [(row.key, row.parameters, row.error) for row in shelf.rows()]
    [('k', {'seed': 1}, 'no')]
    """

    def __init__(self, folder: Path, chapter: str = "", *, write: bool = False) -> None:
        self.folder, self.chapter, self.write = folder, chapter, write

    def __enter__(self) -> Shelf:
        path = self.folder / NAME
        if self.write:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = FileLock(self.folder / f".{NAME}.lock")
            try:
                self._lock.acquire(timeout=0)
            except Timeout:
                raise UsageError(
                    f"The sweep in {self.folder} is under way in another process; wait for it, or "
                    "give another folder with -o."
                ) from None
        elif not path.is_file():
            raise UsageError(f"There is no sweep in {self.folder}.")
        try:
            self._open(path)
        except BaseException:
            self._close()
            raise
        return self

    def _open(self, path: Path) -> None:
        try:
            self._db = sqlite3.connect(path, isolation_level=None)
            if self.write:
                self._db.execute("PRAGMA journal_mode=WAL")
                self._db.execute("PRAGMA synchronous=FULL")
                self._db.executescript(SCHEMA)
                known = dict(self._db.execute("SELECT name, value FROM about"))
                if not known:
                    told = [("version", VERSION), ("chapter", self.chapter)]
                    self._db.executemany("INSERT OR IGNORE INTO about VALUES (?, ?)", told)
            about = dict(self._db.execute("SELECT name, value FROM about"))
        except sqlite3.DatabaseError as error:
            raise UsageError(f"{path} is no sweep, or a damaged one ({error}).") from None
        if about.get("version") != VERSION:
            raise UsageError(f"{path} is no sweep of this version ({about.get('version')}).")
        if self.chapter and about["chapter"] != self.chapter:
            raise UsageError(
                f"{self.folder} holds a sweep of {about['chapter']}, not of {self.chapter}; give "
                "another folder with -o."
            )
        self.chapter = about["chapter"]

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._close()

    def _close(self) -> None:
        if hasattr(self, "_db"):
            self._db.close()
        if self.write and hasattr(self, "_lock"):
            self._lock.release()

    def put(
        self,
        key: str,
        parameters: Mapping[str, Any],
        *,
        state: str,
        seconds: float,
        host: str,
        record: Mapping[str, Any] | None = None,
        error: str = "",
        tail: str = "",
    ) -> None:
        """Keep one run: on disk when this returns. A run that is done already stays as it is."""
        row = (
            key,
            json.dumps(dict(parameters), sort_keys=True),
            state,
            seconds,
            None if record is None else json.dumps(record, sort_keys=True),
            error,
            tail,
            host,
            time.time(),
        )
        self._db.execute(
            "INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET "
            "state = excluded.state, seconds = excluded.seconds, record = excluded.record, "
            "error = excluded.error, tail = excluded.tail, host = excluded.host, "
            f"made = excluded.made WHERE runs.state = '{FAILED}'",
            row,
        )

    def states(self) -> dict[str, str]:
        """The state of every run that there is, by key."""
        return dict(self._db.execute("SELECT key, state FROM runs"))

    def rows(self, keys: Iterable[str] | None = None) -> Iterator[Row]:
        """All rows in the order in which they came, or those of some keys in their order."""
        wanted = "key, parameters, state, seconds, record, error, tail, host, made"
        if keys is None:
            for found in self._db.execute(f"SELECT {wanted} FROM runs ORDER BY rowid"):
                yield _row(found)
            return
        for key in keys:
            found = self._db.execute(f"SELECT {wanted} FROM runs WHERE key = ?", (key,)).fetchone()
            if found:
                yield _row(found)


def _row(found: tuple[Any, ...]) -> Row:
    key, parameters, state, seconds, record, error, tail, host, made = found
    return Row(
        key=key,
        parameters=json.loads(parameters),
        state=state,
        seconds=seconds,
        record=None if record is None else json.loads(record),
        error=error or "",
        tail=tail or "",
        host=host,
        made=made,
    )
