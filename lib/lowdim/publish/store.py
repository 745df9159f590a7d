"""Runs kept by content: ``_build/runs-by-content/<part>/<chapter>/<key>.ipynb`` and ``.json``.

A run lies under the key of what it was made with (:mod:`lowdim.publish.content`), so one that was
made before an edit is found again when the edit is taken back. Runs go by age alone: when nothing
asked for them for a month, or when a chapter has many newer ones. The small file is written last
and makes the run one; its time of change is when the run was last asked for. Several processes
may keep and find runs at once.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lowdim.publish.records import write_atomically

if TYPE_CHECKING:
    from nbformat import NotebookNode

FOLDER = Path("_build", "runs-by-content")
DAYS, NEWEST = 30, 8
HALF_WRITTEN = 86400  # seconds after which a notebook without its small file will not get one


@dataclass(frozen=True)
class Kept:
    """A run in the store: ``seconds`` is how long it took, ``made`` when it ended."""

    path: Path
    seconds: float
    made: float

    def notebook(self) -> NotebookNode:
        """The executed notebook, as it was when it ran; its prose may be older than the book's."""
        import nbformat

        return nbformat.read(self.path, as_version=4)


def keep(
    root: Path,
    chapter: str,
    key: str,
    notebook: NotebookNode,
    *,
    seconds: float,
    parameters: Mapping[str, Any] | None = None,
) -> Kept:
    """Put an executed notebook under its key, in place of one that is there."""
    import nbformat

    path = _folder(root, chapter) / f"{key}.ipynb"
    write_atomically(path, nbformat.writes(notebook))
    kept = Kept(path, seconds, time.time())
    told = {
        "chapter": chapter,
        "seconds": seconds,
        "made": kept.made,
        "parameters": dict(parameters or {}),
    }
    write_atomically(path.with_suffix(".json"), json.dumps(told, sort_keys=True) + "\n")
    return kept


def find(root: Path, chapter: str, key: str) -> Kept | None:
    """The run under this key, or None; it counts as used now."""
    found = _read(_folder(root, chapter) / f"{key}.json")
    if found is not None:
        with suppress(FileNotFoundError):  # dropped by another process just now
            os.utime(found.path.with_suffix(".json"))
    return found


def seconds(root: Path) -> dict[str, float]:
    """How long each chapter's run took that was last used."""
    found = {}
    for folder in _folders(root):
        newest = next((kept for kept in map(_read, _by_use(folder)) if kept), None)
        if newest:
            found[f"{folder.parent.name}/{folder.name}"] = newest.seconds
    return found


def drop_old(root: Path, *, days: float = DAYS, newest: int = NEWEST) -> int:
    """Drop runs not used for ``days``, and all but the ``newest`` of a chapter; return how many."""
    now, dropped = time.time(), 0
    for folder in _folders(root):
        for place, small in enumerate(_by_use(folder)):
            if place >= newest or now - _used(small) > days * 86400:
                small.unlink(missing_ok=True)  # first: without it there is no run
                small.with_suffix(".ipynb").unlink(missing_ok=True)
                dropped += 1
        for path in folder.iterdir():  # what a killed process left
            is_run = path.suffix == ".json" or path.with_suffix(".json").exists()
            if (path.name.startswith(".") or not is_run) and now - _used(path) > HALF_WRITTEN:
                path.unlink(missing_ok=True)
    return dropped


def _folder(root: Path, chapter: str) -> Path:
    return root / FOLDER / chapter


def _folders(root: Path) -> Iterator[Path]:
    return (path for path in (root / FOLDER).glob("*/*") if path.is_dir())


def _by_use(folder: Path) -> list[Path]:
    """The small files of a chapter's runs, the last used first."""
    found = (path for path in folder.glob("*.json") if not path.name.startswith("."))
    return sorted(found, key=_used, reverse=True)


def _used(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:  # another process dropped it
        return float("inf")


def _read(small: Path) -> Kept | None:
    path = small.with_suffix(".ipynb")
    try:
        told = json.loads(small.read_text(encoding="utf-8"))
        return Kept(path, told["seconds"], told["made"]) if path.is_file() else None
    except (OSError, ValueError, KeyError, TypeError):
        return None
