"""Run one chapter with chosen parameters: an executed notebook, a page, a record.

Everything is made in a temporary folder and moved into place, so that no file is ever half there. A
chapter that fails leaves nothing. One that ran to its end leaves its notebook and its record, also
where the page cannot be rendered or the disk is full: they are what computing has cost.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lowdim.publish import executor, records
from lowdim.publish.chapters import Chapter
from lowdim.publish.parameters import UsageError, check_all
from lowdim.publish.renderer import PageFailed, Renderer

if TYPE_CHECKING:
    from nbformat import NotebookNode


DATA = "dataset"  # the parameter by which a chapter on real images names them


@dataclass(frozen=True)
class Run:
    """Where a run's results are, and the record itself; ``page`` is None if none was made."""

    notebook: Path
    page: Path | None
    record_path: Path
    record: dict[str, Any]


def book_root(chapter: Chapter) -> Path:
    """The book's folder that a chapter belongs to: notebooks/<part>/<chapter>.md is three deep."""
    return chapter.path.parents[2]


def default_output(chapter: Chapter) -> Path:
    """Where a run goes unless told: `_build/runs/<part>/<chapter>` of the book."""
    return book_root(chapter) / "_build" / "runs" / chapter.part / chapter.stem


def check_output(folder: Path) -> None:
    """Raise `UsageError` now rather than after a long run if `folder` cannot be written.

    Rights alone do not tell (root has them all, and /proc takes no file), so a file without a name
    is made in the nearest folder that exists, and is gone again.
    """
    try:
        tempfile.TemporaryFile().close()
    except OSError as error:
        raise UsageError(
            f"No temporary file can be made ({_reason(error)}); let TMPDIR name another folder."
        ) from None
    if ".git" in folder.parts:
        raise UsageError(f"Cannot write to {folder}: .git belongs to git.")
    for place in (folder, *folder.parents):
        try:
            if place.exists():
                if not place.is_dir():
                    raise UsageError(f"Cannot write to {folder}: {place} is a file, not a folder.")
                tempfile.TemporaryFile(dir=place).close()
                longest = os.pathconf(place, "PC_NAME_MAX") if hasattr(os, "pathconf") else 255
                if any(len(os.fsencode(part)) > longest for part in folder.parts):
                    raise UsageError(
                        f"Cannot write to {str(folder)[:60]}…: a name of the path has more than "
                        f"{longest} bytes."
                    )
                return
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:
                continue
            raise UsageError(f"Cannot write to {folder}: {_reason(error)} in {place}.") from None


def check_data(chapter: Chapter, values: Mapping[str, Any]) -> None:
    """Raise `UsageError` now if the data set that a run asks for is not there, or damaged.

    Examples
    --------
    A chapter that reads no data set asks for none:

    >>> from lowdim.publish.parameters import parse_cell
    >>> cell = parse_cell("seed = 0  # any integer")
    >>> check_data(Chapter("a/b", Path("b.md"), "B", (), tuple(cell), {}), {"seed": 1})
    """
    asked = {**chapter.defaults, **values}
    named = [p.name for p in chapter.parameters if p.type is str and p.name == DATA]
    if not named or asked[DATA] == chapter.defaults[DATA]:
        return  # the default is built in
    from lowdim.data import images

    place = images.folder()
    if place.exists() and not place.is_dir():
        raise UsageError(f"The data folder {place} is a file; let LOWDIM_DATA name a folder.")
    if asked[DATA] in images.names():
        try:
            images.load(asked[DATA], per_class=1)
        except (images.DataError, OSError) as error:
            raise UsageError(f"{DATA}={asked[DATA]} cannot be run: {_flat(error)}") from None


def _flat(error: Exception) -> str:
    told = " ".join(str(error).split())
    return told if told.endswith(".") else f"{told}."


def _reason(error: OSError) -> str:
    if error.errno in (errno.EACCES, errno.EPERM):
        return "no permission"
    return "no space left" if error.errno == errno.ENOSPC else (error.strerror or "refused").lower()


def run(
    chapter: Chapter,
    values: Mapping[str, Any],
    *,
    output_dir: Path | None = None,
    preset: str | None = None,
    page: bool = True,
    progress: bool = False,
    tell: Callable[[int, int], None] | None = None,
) -> Run:
    """Run `chapter` with `values` in place of its defaults; write notebook, page and record.

    `values` holds what differs from the defaults, the preset's values included; `preset` is the
    name that goes into the record. Into `output_dir` go `<chapter>.ipynb`,
    `<chapter>.record.json` and, if `page` is asked for, `<chapter>.html` (its assets beside it in
    `<chapter>_files/`; all can be moved together). Raises `UsageError` for a bad value, before
    anything runs; `ChapterFailed` if the chapter fails, and then nothing is written; `PageFailed`
    or `NotWritten` afterwards, and then notebook and record are kept, and the sentence says where.
    `tell` is told the number of each code cell before it runs, and how many there are.
    """
    folder = Path(output_dir) if output_dir is not None else default_output(chapter)
    folder = folder.expanduser().resolve()
    check_output(folder)
    values = check_all(chapter.parameters, values, owner=chapter.stem)
    check_data(chapter, values)
    with ExitStack() as during:
        renderer = during.enter_context(Renderer()) if page else None
        nb, record = execute_recorded(chapter, values, preset=preset, progress=progress, tell=tell)
        where = _keep(nb, record, chapter, folder)
        shown = None
        if renderer is not None:
            shown = _show(nb, record, chapter, where, renderer)
    return Run(
        where / f"{chapter.stem}.ipynb", shown, where / f"{chapter.stem}.record.json", record
    )


class NotWritten(RuntimeError):
    """A finished run could not be written where it was to go: one sentence, and where it is."""


def _keep(nb: NotebookNode, record: dict[str, Any], chapter: Chapter, folder: Path) -> Path:
    """Write notebook and record: they are what computing has cost."""
    with tempfile.TemporaryDirectory(prefix="lowdim-run-") as name:
        staged = Path(name)
        try:
            write_notebook(nb, staged / f"{chapter.stem}.ipynb")
            records.write(record, staged / f"{chapter.stem}.record.json")
            _move_into_place(staged, folder)
        except OSError as problem:
            raise _rescued(nb, record, chapter, folder, problem) from None
    return folder


def _rescued(
    nb: NotebookNode, record: dict[str, Any], chapter: Chapter, folder: Path, problem: OSError
) -> NotWritten:
    """Try other places before a finished run is given up: the temporary folder, then home."""
    why = f"{folder} could not be written ({_reason(problem)})"
    for place in (Path(tempfile.gettempdir()), Path("~").expanduser(), Path.cwd()):
        try:
            other = Path(tempfile.mkdtemp(prefix=f"lowdim-{chapter.stem}-", dir=place))
        except OSError:
            continue
        try:
            write_notebook(nb, other / f"{chapter.stem}.ipynb")
            records.write(record, other / f"{chapter.stem}.record.json")
        except OSError:
            shutil.rmtree(other, ignore_errors=True)
            continue
        return NotWritten(f"{chapter.name} ran, but {why}; its notebook and record are in {other}.")
    return NotWritten(f"{chapter.name} ran, but {why}, and no other place took its results either.")


def _show(
    nb: NotebookNode, record: dict[str, Any], chapter: Chapter, folder: Path, renderer: Renderer
) -> Path:
    """Render the page and put it beside notebook and record."""
    from lowdim.publish import banner, comparison, words
    from lowdim.publish.standalone import render

    root = book_root(chapter)
    stated = words.of_chapter(root, chapter.name).statements
    top = banner.words(
        record,
        defaults=chapter.defaults,
        book=comparison.of_book(root, chapter.name),
        titles={name: claim.title for name, claim in stated.items()},
    )
    with tempfile.TemporaryDirectory(prefix="lowdim-run-") as name:
        staged = Path(name, "staged")
        try:
            staged.mkdir()
            render(nb, name=chapter.stem, root=root, folder=staged, renderer=renderer, banner=top)
            _move_into_place(staged, folder)
        except (PageFailed, OSError) as problem:
            said = _reason(problem) if isinstance(problem, OSError) else str(problem)
            raise PageFailed(
                f"{chapter.name} ran, and its notebook and record are in {folder}, but not its "
                f"page: {said}"
            ) from None
    return folder / f"{chapter.stem}.html"


def execute_recorded(
    chapter: Chapter,
    values: Mapping[str, Any],
    *,
    preset: str | None,
    progress: bool,
    tell: Callable[[int, int], None] | None = None,
) -> tuple[NotebookNode, dict[str, Any]]:
    """The executed notebook, marked with what made it, and its record; nothing is written."""
    values = check_all(chapter.parameters, values, owner=chapter.stem)
    start = time.perf_counter()
    nb = execute(chapter, values, progress=progress, tell=tell)
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
    tell: Callable[[int, int], None] | None = None,
) -> NotebookNode:
    """The chapter's notebook after it ran with `values` injected; raises `ChapterFailed`."""
    return executor.execute(
        book_root(chapter),
        chapter.name,
        values,
        progress=progress,
        one_thread=one_thread,
        tell=tell,
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
