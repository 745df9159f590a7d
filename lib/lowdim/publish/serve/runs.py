"""The runs that were asked for in the browser: one folder each, so that a restart loses none.

A run's folder holds ``run.json``, what is known of it, and what it made. A run that was under way
when the server ended is *interrupted*; one that waited goes on waiting.
"""

from __future__ import annotations

import json
import re
import secrets
import shutil
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from lowdim.publish.records import write_atomically

WAITING, RUNNING, DONE = "waiting", "running", "done"
FAILED, CANCELLED, INTERRUPTED = "failed", "cancelled", "interrupted"
ACTIVE = (WAITING, RUNNING)
STATES = (WAITING, RUNNING, DONE, FAILED, CANCELLED, INTERRUPTED)
NAME = "run.json"
_ID = re.compile(r"[0-9a-f]{16}")


@dataclass
class Entry:
    """One run: what was asked for, how far it is, and what came of it.

    ``values`` is what differs from the defaults; ``cell`` of ``cells`` is under way; ``said`` is
    one sentence about how it ended, ``tail`` the end of a traceback; times are in seconds.
    """

    id: str
    chapter: str
    values: dict[str, Any]
    preset: str | None
    state: str = WAITING
    asked: float = 0.0
    began: float | None = None
    ended: float | None = None
    cell: int = 0
    cells: int = 0
    said: str = ""
    tail: str = ""
    page: bool = False
    moved: dict[str, Any] = field(default_factory=dict)


class Runs:
    """All runs in a folder, the oldest first.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = Runs(Path(folder)).add("a/b", {"seed": 1}, None)
    ...     [again] = Runs(Path(folder))
    >>> again.id == made.id, again.values, again.state
    (True, {'seed': 1}, 'waiting')
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._entries: dict[str, Entry] = {}
        folder.mkdir(parents=True, exist_ok=True)
        for place in folder.iterdir():
            if place.name.startswith("."):  # half deleted
                shutil.rmtree(place, ignore_errors=True)
            elif (found := _read(place)) is not None:
                self._entries[found.id] = found
        ordered = sorted(self._entries.values(), key=lambda entry: (entry.asked, entry.id))
        self._entries = {entry.id: entry for entry in ordered}
        for entry in ordered:
            if entry.state == RUNNING:
                entry.state, entry.said = INTERRUPTED, "The server ended during this run."
                self.keep(entry)

    def __iter__(self) -> Iterator[Entry]:
        return iter(list(self._entries.values()))

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, name: str) -> Entry | None:
        """The run of this id; None if there is none."""
        return self._entries.get(name)

    def place(self, entry: Entry) -> Path:
        """The folder of a run."""
        return self.folder / entry.id

    def add(self, chapter: str, values: Mapping[str, Any], preset: str | None) -> Entry:
        """A new run, waiting."""
        entry = Entry(secrets.token_hex(8), chapter, dict(values), preset, asked=time.time())
        self._entries[entry.id] = entry
        self.keep(entry)
        return entry

    def keep(self, entry: Entry) -> None:
        """Write down what is known of a run; it is on disk whole or as it was."""
        if entry.id in self._entries:
            told = json.dumps(asdict(entry), sort_keys=True)
            write_atomically(self.place(entry) / NAME, told + "\n")

    def delete(self, entry: Entry) -> None:
        """Forget a run and remove its folder: renamed first, so that it is never half there."""
        self._entries.pop(entry.id, None)
        gone = self.folder / f".{entry.id}"
        if self.place(entry).exists():
            self.place(entry).rename(gone)
        shutil.rmtree(gone, ignore_errors=True)


def _read(place: Path) -> Entry | None:
    """The run in a folder; None if it is damaged, which hides this one and no other."""
    try:
        entry = Entry(**json.loads((place / NAME).read_text(encoding="utf-8")))
        fits = entry.id == place.name and _ID.fullmatch(entry.id) and entry.state in STATES
        float(entry.asked)
    except (OSError, ValueError, TypeError):
        return None
    return entry if fits else None
