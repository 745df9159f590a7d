"""The chapters' runs: made in parallel, kept by content, given to the book.

A run is *current* when everything that decides it is as it was (:mod:`lowdim.publish.content`). A
chapter that has a current run in the store is not executed again, by whomever it was made: the
book shows the very run that the tests compared. The Sphinx build reads another cache
(``_build/.jupyter_cache``), whose key is the code of a chapter and nothing else; it is a copy, and
:func:`drop_stale` makes it hold the current run of each chapter and no other.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from lowdim.publish import content, executor, kernels, store
from lowdim.publish.content import chapter_path

if TYPE_CHECKING:
    from jupyter_cache.base import JupyterCacheAbstract
    from nbformat import NotebookNode

CACHE = Path("_build", ".jupyter_cache")
RECORDS = Path("_build", "records")
CELL_TIMEOUT = 900  # seconds for one cell


@dataclass(frozen=True)
class Executed:
    """One chapter after its run.

    ``notebook`` has the outputs and is None after a failure, ``seconds`` is the time of the run
    itself also when it came from the store, ``error`` what went wrong or None.
    """

    chapter: str
    notebook: NotebookNode | None
    seconds: float
    error: str | None
    cached: bool

    @property
    def made(self) -> NotebookNode:
        """The notebook of a run without an error."""
        if self.notebook is None:
            raise ValueError(f"{self.chapter} has no run: {self.error}")
        return self.notebook


def toc_chapters(root: Path) -> list[str]:
    """Names (``part/chapter``) of the chapters in ``_toc.yml``, in the order of the book.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     toc = Path(folder, "_toc.yml")
    ...     _ = toc.write_text("root: book/index\\nchapters: [{file: notebooks/preserve/weyl}]\\n")
    ...     toc_chapters(Path(folder))
    ['preserve/weyl']
    """

    def files(entry: Any) -> Iterator[str]:
        if isinstance(entry, dict):
            if "file" in entry:
                yield str(entry["file"])
            for value in entry.values():
                yield from files(value)
        elif isinstance(entry, list):
            for item in entry:
                yield from files(item)

    toc = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    prefix = "notebooks/"
    return [f.removeprefix(prefix).removesuffix(".md") for f in files(toc) if f.startswith(prefix)]


def read_chapter(root: Path, chapter: str) -> NotebookNode:
    """The chapter as Sphinx will read it: the key of Sphinx's cache depends on the reader."""
    from myst_nb.core.read import myst_nb_reader_plugin

    path = chapter_path(root, chapter)
    if not path.is_file():
        raise FileNotFoundError(
            f"_toc.yml lists the chapter '{chapter}', but there is no file "
            f"{path.relative_to(root).as_posix()}."
        )
    return myst_nb_reader_plugin(str(path))


def obtain(
    root: Path,
    chapter: str,
    values: Mapping[str, Any] | None = None,
    *,
    watch: kernels.Watch | None = None,
) -> Executed:
    """The current run of a chapter with ``values`` in place of its defaults: kept, or made now.

    It is made with one thread and kept if it succeeds. Its notebook is the one that was executed;
    :func:`with_outputs` puts its outputs into the chapter as it reads now. If what decides the run
    changes while it goes on, it is nobody's run, and that is an error.
    """
    root = Path(root).resolve()
    key = content.key(root, chapter, values)
    if found := store.find(root, chapter, key):
        return Executed(chapter, found.notebook(), found.seconds, None, True)
    start = time.perf_counter()
    error, notebook = None, None
    try:
        notebook = executor.execute(
            root, chapter, values, one_thread=True, timeout=CELL_TIMEOUT, watch=watch
        )
    except executor.ChapterFailed as failure:
        error = "\n".join(filter(None, [str(failure), failure.tail]))
    seconds = time.perf_counter() - start
    if error is None and content.key(root, chapter, values) != key:
        error = f"{chapter} or what it imports was changed while it ran: run it again."
    if notebook is None or error is not None:
        return Executed(chapter, None, seconds, error, False)
    store.keep(root, chapter, key, notebook, seconds=seconds, parameters=values)
    return Executed(chapter, notebook, seconds, None, False)


def with_outputs(notebook: NotebookNode, executed: NotebookNode) -> NotebookNode:
    """``notebook`` itself, its code cells now showing what those of ``executed`` showed.

    The page colours code by what the kernel said of its language, so that is taken over too.
    ValueError if the two have not equally many code cells.
    """
    cells, done = _code(notebook), _code(executed)
    if len(cells) != len(done):
        raise ValueError(f"There are {len(cells)} code cells, but {len(done)} were executed.")
    for cell, made in zip(cells, done, strict=True):
        cell.outputs, cell.execution_count = made.outputs, made.execution_count
    notebook.metadata["language_info"] = executed.metadata["language_info"]
    return notebook


def drop_stale(root: Path) -> dict[str, float]:
    """Let Sphinx find the current run of each chapter, and no other run of any.

    Chapters without a current run have none there afterwards. Returns how many seconds the
    chapters' last runs took, current or not.
    """
    root = Path(root).resolve()
    library = content.Library.of(root)
    current: dict[str, tuple[NotebookNode, store.Kept]] = {}
    for chapter in toc_chapters(root):
        if chapter_path(root, chapter).is_file():
            found = store.find(root, chapter, content.key(root, chapter, library=library))
            if found:
                current[chapter] = read_chapter(root, chapter), found
    _give_to_sphinx(root, current)
    content.remember(root)
    return store.seconds(root)


def execute_all(
    root: Path, *, chapters: Sequence[str] | None = None, progress: bool = True
) -> list[Executed]:
    """Run the chapters of ``_toc.yml`` (or those named) that have no current run.

    As many run at once as there are cores, each in a fresh kernel with one thread, in the chapter's
    own folder; the longest known ones start first. Returns one :class:`Executed` per chapter in the
    order of the book; a failing chapter does not stop the others and is not kept. Progress lines
    go to the standard error stream. Raises FileNotFoundError if ``_toc.yml`` lists a missing file,
    ValueError if ``chapters`` names one that it does not list.
    """
    root = Path(root).resolve()
    listed = toc_chapters(root)
    unknown = sorted(set(chapters or ()) - set(listed))
    if unknown:
        raise ValueError(
            f"No chapter is called {', '.join(map(repr, unknown))}; "
            f"_toc.yml has {', '.join(listed) or 'none'}."
        )
    wanted = [name for name in listed if chapters is None or name in chapters]
    notebooks = {name: read_chapter(root, name) for name in wanted}
    known = store.seconds(root)
    done = _kept(root, wanted)
    waiting = [name for name in wanted if name not in done]
    waiting.sort(key=lambda name: -known.get(name, float("inf")))
    if progress:
        print(f"{len(done)} of {len(wanted)} chapters are current", file=sys.stderr, flush=True)

    watch = kernels.Watch()
    with ThreadPoolExecutor(max_workers=cores()) as pool:
        jobs = [pool.submit(obtain, root, name, watch=watch) for name in waiting]
        try:
            for count, job in enumerate(as_completed(jobs), start=1):
                run = done[job.result().chapter] = job.result()
                if progress:
                    line = f"[{count}/{len(jobs)}] {run.chapter} {run.seconds:.1f} s"
                    print(line + " FAILED" * bool(run.error), file=sys.stderr, flush=True)
        except BaseException:
            for job in jobs:
                job.cancel()
            watch.end()
            raise
    store.drop_old(root)
    return [_shown(notebooks[name], done[name]) for name in wanted]


def current(root: Path) -> list[Executed]:
    """The current runs of all chapters, executing none; ValueError if one has none."""
    root = Path(root).resolve()
    names = toc_chapters(root)
    notebooks = {name: read_chapter(root, name) for name in names}
    done = _kept(root, names)
    missing = [name for name in names if name not in done]
    if missing:
        raise ValueError(f"These chapters have no current run: {', '.join(missing)}.")
    return [_shown(notebooks[name], done[name]) for name in names]


def collect(root: Path, executed: Sequence[Executed]) -> list[dict[str, Any]]:
    """Write ``_build/records/<part>/<chapter>.json`` for every run that succeeded; return them."""
    from lowdim.publish import records

    found = []
    for run in executed:
        if run.error is None:
            found.append(records.extract(run.made, chapter=run.chapter))
            records.write(found[-1], root / RECORDS / f"{run.chapter}.json")
    return found


def failures(executed: Sequence[Executed]) -> str:
    """What went wrong in every failing chapter; an empty string if none failed."""
    return "\n\n".join(run.error for run in executed if run.error)


def _kept(root: Path, chapters: Sequence[str]) -> dict[str, Executed]:
    library = content.Library.of(root)
    found = {}
    for name in chapters:
        kept = store.find(root, name, content.key(root, name, library=library))
        if kept:
            found[name] = Executed(name, kept.notebook(), kept.seconds, None, True)
    content.remember(root)
    return found


def _shown(notebook: NotebookNode, run: Executed) -> Executed:
    return run if run.error else replace(run, notebook=with_outputs(notebook, run.made))


def _give_to_sphinx(root: Path, current: Mapping[str, tuple[NotebookNode, store.Kept]]) -> None:
    from filelock import FileLock
    from jupyter_cache.base import CacheBundleIn
    from jupyter_cache.cache.db import NbCacheRecord

    with FileLock(_made(root / CACHE).with_suffix(".lock")):
        cache = _cache(root)
        held = {record.hashkey: record for record in cache.list_cache_records()}
        stamps = {
            hashkey: (record.data or {}).get("stamp")
            for hashkey, record in held.items()
            if (cache.path / "executed" / hashkey / "base.ipynb").is_file()
        }
        wanted = set()
        for chapter, (notebook, kept) in current.items():
            _, hashkey = cache.create_hashed_notebook(notebook)
            wanted.add(hashkey)
            # A cell comes out of that cache with the metadata, such as captions, that went in.
            shown = json.dumps([dict(cell.metadata) for cell in _code(notebook)], sort_keys=True)
            stamp = f"{kept.path.stem} {kept.made} {hashlib.sha256(shown.encode()).hexdigest()}"
            if stamps.get(hashkey) != stamp:
                data = {"chapter": chapter, "execution_seconds": kept.seconds, "stamp": stamp}
                bundle = CacheBundleIn(
                    with_outputs(notebook, kept.notebook()),
                    str(chapter_path(root, chapter)),
                    data=data,
                )
                shutil.rmtree(cache.path / "executed" / hashkey, ignore_errors=True)
                cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)
        for hashkey, record in held.items():
            if hashkey not in wanted:
                NbCacheRecord.remove_records([record.pk], cache.db)
                shutil.rmtree(cache.path / "executed" / hashkey, ignore_errors=True)


def _cache(root: Path) -> JupyterCacheAbstract:
    from jupyter_cache import get_cache

    return get_cache(str(_made(root / CACHE)))


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _code(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def cores() -> int:
    """How many cores this process may use.

    >>> cores() >= 1
    True
    """
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on this system
        return os.cpu_count() or 1
