"""Run one chapter with chosen parameters: an executed notebook, a page, a record.

Everything is made in a temporary folder and moved into place at the end, so that a failure leaves
nothing.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lowdim.publish import executor, records
from lowdim.publish.chapters import Chapter
from lowdim.publish.parameters import UsageError, check_all

if TYPE_CHECKING:
    from nbformat import NotebookNode


@dataclass(frozen=True)
class Run:
    """Where a run's three results are, and the record itself."""

    notebook: Path
    page: Path
    record_path: Path
    record: dict[str, Any]


def book_root(chapter: Chapter) -> Path:
    """The book's folder that a chapter belongs to: notebooks/<part>/<chapter>.md is three deep."""
    return chapter.path.parents[2]


def default_output(chapter: Chapter) -> Path:
    """Where a run goes unless told: `_build/runs/<part>/<chapter>` of the book."""
    return book_root(chapter) / "_build" / "runs" / chapter.part / chapter.stem


def check_output(folder: Path) -> None:
    """Raise `UsageError` now rather than after a long run if `folder` cannot be written."""
    for place in (folder, *folder.parents):
        if place.exists():
            if not place.is_dir():
                raise UsageError(f"Cannot write to {folder}: {place} is a file, not a folder.")
            if not os.access(place, os.W_OK):
                raise UsageError(f"Cannot write to {folder}: no permission in {place}.")
            return


def run(
    chapter: Chapter,
    values: Mapping[str, Any],
    *,
    output_dir: Path | None = None,
    preset: str | None = None,
    progress: bool = False,
) -> Run:
    """Run `chapter` with `values` in place of its defaults; write notebook, page and record.

    `values` holds what differs from the defaults, the preset's values included; `preset` is the
    name that goes into the record. Into `output_dir` go `<chapter>.ipynb`, `<chapter>.html` (its
    assets beside it in `<chapter>_files/`; both can be moved together) and
    `<chapter>.record.json`. Raises `UsageError` for a bad value, before anything runs;
    `ChapterFailed` if the chapter fails, and then nothing is written.
    """
    from lowdim.publish.standalone import render

    folder = Path(output_dir) if output_dir is not None else default_output(chapter)
    folder = folder.expanduser().resolve()
    check_output(folder)
    nb, record = execute_recorded(chapter, values, preset=preset, progress=progress)
    with tempfile.TemporaryDirectory(prefix="lowdim-run-") as name:
        staged = Path(name, "staged")
        staged.mkdir()
        write_notebook(nb, staged / f"{chapter.stem}.ipynb")
        records.write(record, staged / f"{chapter.stem}.record.json")
        render(nb, name=chapter.stem, root=book_root(chapter), folder=staged)
        _move_into_place(staged, folder)
    return Run(
        folder / f"{chapter.stem}.ipynb",
        folder / f"{chapter.stem}.html",
        folder / f"{chapter.stem}.record.json",
        record,
    )


def execute_recorded(
    chapter: Chapter, values: Mapping[str, Any], *, preset: str | None, progress: bool
) -> tuple[NotebookNode, dict[str, Any]]:
    """The executed notebook, marked with what made it, and its record; nothing is written."""
    values = check_all(chapter.parameters, values, owner=chapter.stem)
    start = time.perf_counter()
    nb = execute(chapter, values, progress=progress)
    record = records.extract(nb, chapter=chapter.name, preset=preset)
    nb.metadata["lowdim"] = {
        **nb.metadata.get("lowdim", {}),
        "chapter": chapter.name,
        "parameters": record["parameters"],
        "preset": preset,
        "seconds": round(time.perf_counter() - start, 3),
    }
    return nb, record


def execute(
    chapter: Chapter,
    values: Mapping[str, Any],
    *,
    progress: bool = False,
    one_thread: bool = False,
) -> NotebookNode:
    """The chapter's notebook after it ran with `values` injected; raises `ChapterFailed`."""
    return executor.execute(
        book_root(chapter), chapter.name, values, progress=progress, one_thread=one_thread
    )


def write_notebook(nb: NotebookNode, path: Path) -> None:
    """Write an executed notebook; editors must not pair it with a text file that is not there."""
    import nbformat

    nb.metadata.pop("jupytext", None)
    nbformat.write(nb, path)


def _move_into_place(staged: Path, folder: Path) -> None:
    """Copy next to the target first: what follows is renames, so no file is ever half there."""
    folder.mkdir(parents=True, exist_ok=True)
    near = Path(tempfile.mkdtemp(dir=folder, prefix=".lowdim-"))
    try:
        for item in sorted(staged.iterdir()):
            (shutil.copytree if item.is_dir() else shutil.copyfile)(item, near / item.name)
        for item in sorted(near.iterdir()):
            target = folder / item.name
            if target.is_dir() and not target.is_symlink():
                shutil.rmtree(target)
            os.replace(item, target)
    finally:
        shutil.rmtree(near, ignore_errors=True)
