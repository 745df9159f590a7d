"""Run the book's chapters in parallel and keep their outputs in a cache.

The cache is the one that the Sphinx build reads (``_build/.jupyter_cache``), so a chapter that
was run here, or by the tests (`keep`), is not run again there. The cache's own key is the code of
a chapter and nothing else; a run is *current* here only when the library that the chapter imports,
the pinned packages and the committed records that the chapter shows have not changed either. Runs
that are not current are thrown away before anything else happens.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from lowdim.publish import kernels

if TYPE_CHECKING:
    from jupyter_cache.base import JupyterCacheAbstract
    from nbclient import NotebookClient
    from nbformat import NotebookNode

CACHE = Path("_build", ".jupyter_cache")
RECORDS = Path("_build", "records")
CELL_TIMEOUT, TAIL = 900, 15  # seconds for one cell; lines of a traceback that are worth showing


@dataclass(frozen=True)
class Executed:
    """One chapter after its run.

    ``notebook`` has the outputs, ``seconds`` is the time of the run itself also when it came from
    the cache, ``error`` the tail of the traceback or None.
    """

    chapter: str
    notebook: NotebookNode
    seconds: float
    error: str | None
    cached: bool


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


def fingerprint(root: Path, chapter: str) -> str:
    """Hash of everything but its own code that decides what ``chapter`` shows.

    That is the mathematics under ``lib/lowdim`` (not ``publish/``), the pins,
    the version of Python, and the committed records of this chapter.
    """
    digest = hashlib.sha256(platform.python_version().encode())
    package = root / "lib" / "lowdim"
    library = (
        p
        for pattern in ("*.py", "*.json")
        for p in package.rglob(pattern)
        if p.relative_to(package).parts[0] != "publish"
    )
    part, _, name = chapter.partition("/")
    records = (root / "book" / "records" / part).glob(f"{name}.*.json")
    for path in [*sorted(library), root / "requirements.lock", *sorted(records)]:
        digest.update(f"\0{path.relative_to(root).as_posix()}\0".encode())
        digest.update(path.read_bytes() if path.exists() else b"absent")
    return digest.hexdigest()


def read_chapter(root: Path, chapter: str) -> NotebookNode:
    """The chapter as Sphinx will read it: the cache's key depends on the reader."""
    from myst_nb.core.read import myst_nb_reader_plugin

    path = chapter_path(root, chapter)
    if not path.is_file():
        raise FileNotFoundError(
            f"_toc.yml lists the chapter '{chapter}', but there is no file "
            f"{path.relative_to(root).as_posix()}."
        )
    return myst_nb_reader_plugin(str(path))


def chapter_path(root: Path, chapter: str) -> Path:
    """Where the chapter's source is."""
    return root / "notebooks" / f"{chapter}.md"


def drop_stale(root: Path) -> dict[str, float]:
    """Remove cached runs that are not current; return the seconds of all runs by chapter."""
    cache = _cache(root)
    seconds: dict[str, float] = {}
    now: dict[str, str] = {}
    for record in cache.list_cache_records():
        data = record.data or {}
        chapter = data.get("chapter", "")
        if chapter:
            seconds[chapter] = data.get("execution_seconds", 0.0)
            now.setdefault(chapter, fingerprint(root, chapter))
        if data.get("fingerprint") != now.get(chapter, ""):
            cache.remove_cache(record.pk)
    return seconds


def execute_all(
    root: Path, *, chapters: Sequence[str] | None = None, progress: bool = True
) -> list[Executed]:
    """Run the chapters of ``_toc.yml`` (or those named) that have no current run in the cache.

    As many run at once as there are cores, each in a fresh kernel with one thread, in the chapter's
    own folder; the longest known ones start first. Returns one :class:`Executed` per chapter in the
    order of the book; a failing chapter does not stop the others and is not cached. Progress lines
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
    known = drop_stale(root)
    cache = _cache(root)
    done = _from_cache(cache, notebooks)
    waiting = [name for name in wanted if name not in done]
    waiting.sort(key=lambda name: -known.get(name, float("inf")))
    if progress:
        print(f"{len(done)} of {len(wanted)} chapters are current", file=sys.stderr, flush=True)

    # Before the runs: what is changed while they go on is not what they were made with.
    prints = {name: fingerprint(root, name) for name in waiting}
    running: dict[str, NotebookClient] = {}
    with ThreadPoolExecutor(max_workers=_cores()) as pool:
        jobs = [pool.submit(_run, root, name, notebooks[name], running) for name in waiting]
        try:
            for count, job in enumerate(as_completed(jobs), start=1):
                run = done[job.result().chapter] = job.result()
                if run.error is None:
                    _keep(cache, root, run, prints[run.chapter])
                if progress:
                    line = f"[{count}/{len(jobs)}] {run.chapter} {run.seconds:.1f} s"
                    print(line + " FAILED" * bool(run.error), file=sys.stderr, flush=True)
        except BaseException:
            for job in jobs:
                job.cancel()
            _kill(running)
            raise
    return [done[name] for name in wanted]


def keep(
    root: Path,
    chapter: str,
    outputs: Sequence[Sequence[Any]],
    *,
    seconds: float,
    made_with: str,
    language: Mapping[str, Any],
) -> None:
    """Put a run that was made elsewhere into the cache, so that the book need not repeat it.

    ``outputs`` has a list for every code cell in order, ``made_with`` is the chapter's
    :func:`fingerprint` before the run, ``language`` what the kernel says of its language (the page
    colours code by it). ValueError if the number of code cells is another one. Safe to call from
    several processes at once.
    """
    from filelock import FileLock
    from nbformat import from_dict

    root = Path(root).resolve()
    notebook = read_chapter(root, chapter)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    if len(cells) != len(outputs):
        raise ValueError(
            f"{chapter} has {len(cells)} code cells, but outputs of {len(outputs)} were given."
        )
    for number, (cell, found) in enumerate(zip(cells, outputs, strict=True), start=1):
        cell.outputs, cell.execution_count = [from_dict(output) for output in found], number
    notebook.metadata["language_info"] = from_dict(dict(language))
    folder = root / CACHE.parent
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / "cache.lock"):
        _keep(_cache(root), root, Executed(chapter, notebook, seconds, None, False), made_with)


def current(root: Path) -> list[Executed]:
    """The cached runs of all chapters, running none; ValueError if one is not current."""
    root = Path(root).resolve()
    notebooks = {name: read_chapter(root, name) for name in toc_chapters(root)}
    drop_stale(root)
    done = _from_cache(_cache(root), notebooks)
    missing = [name for name in notebooks if name not in done]
    if missing:
        raise ValueError(f"These chapters have no current run: {', '.join(missing)}.")
    return [done[name] for name in notebooks]


def collect(root: Path, executed: Sequence[Executed]) -> list[dict[str, Any]]:
    """Write ``_build/records/<part>/<chapter>.json`` for every run that succeeded; return them."""
    from lowdim.publish import records

    found = []
    for run in executed:
        if run.error is None:
            found.append(records.extract(run.notebook, chapter=run.chapter))
            records.write(found[-1], root / RECORDS / f"{run.chapter}.json")
    return found


def failures(executed: Sequence[Executed]) -> str:
    """Every failing chapter with the tail of its traceback; an empty string if none failed."""
    return "\n\n".join(
        f"{run.chapter} failed after {run.seconds:.1f} s:\n{run.error}"
        for run in executed
        if run.error
    )


def _cache(root: Path) -> JupyterCacheAbstract:
    from jupyter_cache import get_cache

    path = root / CACHE
    path.parent.mkdir(parents=True, exist_ok=True)
    return get_cache(str(path))


def _cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on this system
        return os.cpu_count() or 1


def _from_cache(
    cache: JupyterCacheAbstract, notebooks: Mapping[str, NotebookNode]
) -> dict[str, Executed]:
    found = {}
    for chapter, notebook in notebooks.items():
        with suppress(KeyError):
            record = cache.match_cache_notebook(notebook)
            _, merged = cache.merge_match_into_notebook(notebook)
            seconds = float((record.data or {}).get("execution_seconds", 0.0))
            found[chapter] = Executed(chapter, merged, seconds, None, True)
    return found


def _keep(cache: JupyterCacheAbstract, root: Path, run: Executed, made_with: str) -> None:
    from jupyter_cache.base import CacheBundleIn

    data = {
        "chapter": run.chapter,
        "execution_seconds": run.seconds,
        "fingerprint": made_with,
    }
    bundle = CacheBundleIn(run.notebook, str(chapter_path(root, run.chapter)), data=data)
    cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)


def _run(
    root: Path, chapter: str, notebook: NotebookNode, running: dict[str, NotebookClient]
) -> Executed:
    from jupyter_client.manager import AsyncKernelManager
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError

    added = kernels.environment(root, chapter=chapter, one_thread=True)
    client = running[chapter] = NotebookClient(
        notebook,
        timeout=CELL_TIMEOUT,
        record_timing=False,  # it would go into the cells, and so into the key of the cache
        kernel_manager_class=kernels.manager_class(AsyncKernelManager, added),
        resources={"metadata": {"path": str(chapter_path(root, chapter).parent)}},
    )
    start = time.perf_counter()
    error = None
    try:
        client.execute()
    except (CellExecutionError, CellTimeoutError, RuntimeError) as problem:
        error = _tail(
            str(problem) or repr(problem)
        )  # RuntimeError: the kernel died or did not start
    finally:
        running.pop(chapter, None)
    return Executed(chapter, notebook, time.perf_counter() - start, error, False)


def _tail(text: str) -> str:
    lines = re.sub(r"\x1b\[[0-9;]*m", "", text).strip().splitlines()
    return "\n".join(["..."] * (len(lines) > TAIL) + lines[-TAIL:])


def _kill(running: dict[str, NotebookClient]) -> None:
    """End the kernels that are still at work, so that an interrupted run ends at once."""
    for client in list(running.values()):
        pid = getattr(getattr(client.km, "provisioner", None), "pid", None)
        if pid:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
