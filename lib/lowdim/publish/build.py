"""Build the whole book: run the chapters, write records, generate pages, call Jupyter Book.

The pages are made in a fresh folder and take the place of ``_build/html`` when they are all there
and no warning was given; until then, and after a failure, the last good book stays where it is.
Where nothing that pages are made of has changed since they were made, none is made again.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from lowdim.publish import reference, rooms
from lowdim.publish.execute import CACHE, RECORDS, collect, current, execute_all, failures
from lowdim.publish.pages import write_all

HTML = Path("_build", "html")
MADE = Path("_build", "html.made")  # of what the pages were made, and which they are
SOURCES = ("book", "notebooks", "lib", RECORDS)
FRESH, OLD = "fresh-", "old-"  # how the names of passing folders beside it begin
PARENT = "LOWDIM_PARENT"
JUPYTER_BOOK = f"""
import os, threading, time
def end_with_parent():
    while os.getppid() == int(os.environ["{PARENT}"]):
        time.sleep(0.5)
    os._exit(1)
threading.Thread(target=end_with_parent, daemon=True).start()
from jupyter_book.cli.main import main
main()
"""
STRICT = ("--all", "-W", "-n", "--keep-going")
"""Always ``--all``: without it a second strict build passes over what the first complained of."""
BUILDER = ("--builder", "custom", "--custom-builder", "html")
"""As ``--builder html``, which would end by saying that the book is in the fresh folder."""


def build_book(root: Path, *, execute: bool = True) -> int:
    """Build ``_build/html`` under ``root``; return 0, or another number if anything failed.

    With ``execute=False`` no chapter is run: each must have a current run, and the first sentence
    on the error stream names those that have not. Every failing chapter is listed with the tail of
    its traceback, and then no page is built. Warnings of Sphinx are failures. Whatever fails, or
    kills the build, the book that was there before is still there.
    """
    root = Path(root).resolve()
    with _alone(root):
        try:
            executed = execute_all(root) if execute else current(root)
            problems = failures(executed)
            if problems:
                _say(problems)
                return 1
            records = collect(root, executed)
            sources = _sources(root)
            if _is_made(root, sources):
                _say(f"The book is current: {HTML / 'index.html'}")
                return 0
            write_all(root, records)
            reference.write(root)
            rooms.write(root)
        except (OSError, ValueError) as problem:
            _say(str(problem))
            return 1
        with _fresh_folder(root) as folder:
            code = _call_jupyter_book(root, folder)
            made = folder / HTML
            if not code and not (made / "index.html").is_file():
                code = 1
            if code:
                _say(
                    "The book was not built: Jupyter Book stopped with errors or warnings, "
                    "listed above."
                )
            else:
                (root / MADE).unlink(missing_ok=True)
                put_in_place(made, root / HTML)
                (root / MADE).write_text(sources + _pages(root), encoding="utf-8")
                _say(f"The book is {HTML / 'index.html'}")
    return code


def put_in_place(made: Path, target: Path) -> None:
    """Let the folder ``made`` take the place of ``target`` by renaming, on one file system.

    What was there is deleted last; if the second renaming fails, it is put back.
    """
    aside = Path(tempfile.mkdtemp(prefix=OLD, dir=target.parent))
    had = target.exists()
    if had:
        target.rename(aside / target.name)
    try:
        made.rename(target)
    except BaseException:
        if had:
            (aside / target.name).rename(target)
        raise
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _is_made(root: Path, sources: str) -> bool:
    """Whether the pages are of these sources, and as the build left them."""
    made = root / MADE
    return made.is_file() and made.read_text(encoding="utf-8") == sources + _pages(root)


def _sources(root: Path) -> str:
    """A digest of all that pages are made of: words, code, settings, pins, records of runs."""
    folders = (path for name in SOURCES for path in sorted((root / name).rglob("*")))
    files = [path for path in (*sorted(root.glob("*.*")), *folders) if path.is_file()]
    told = (
        part
        for path in files
        if not {"__pycache__", "_generated"} & set(path.parts)  # made of the others
        for part in (path.relative_to(root).as_posix(), path.read_bytes())
    )
    return _digest((sys.version, *told))


def _pages(root: Path) -> str:
    """A digest of which pages there are, how long they are and when they were written."""
    listed = ((p.as_posix(), p.stat()) for p in sorted((root / HTML).rglob("*")) if p.is_file())
    return _digest(f"{name} {found.st_size} {found.st_mtime_ns}" for name, found in listed)


def _digest(parts: Iterable[str | bytes]) -> str:
    made = hashlib.sha256()
    for part in parts:
        raw = part.encode() if isinstance(part, str) else part
        made.update(b"%d " % len(raw) + raw)
    return made.hexdigest() + "\n"


def _call_jupyter_book(root: Path, folder: Path) -> int:
    (root / CACHE).mkdir(parents=True, exist_ok=True)  # Sphinx fills it where it is
    command = [sys.executable, "-c", JUPYTER_BOOK, "build", str(root)]
    command += ["--path-output", str(folder), *BUILDER, *STRICT]
    return subprocess.run(command, cwd=root, env=_environment(root), check=False).returncode


@contextmanager
def _fresh_folder(root: Path) -> Iterator[Path]:
    build = root / HTML.parent
    _tidy(build)
    folder = Path(tempfile.mkdtemp(prefix=FRESH, dir=build))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _tidy(build: Path) -> None:
    """Remove what killed builds left; if one was killed between its renamings, undo the first."""
    for old in build.glob(f"{OLD}*/{HTML.name}"):
        if not (build / HTML.name).exists():
            old.rename(build / HTML.name)
    for left in (*build.glob(f"{FRESH}*"), *build.glob(f"{OLD}*")):
        shutil.rmtree(left, ignore_errors=True)


@contextmanager
def _alone(root: Path) -> Iterator[None]:
    """Two builds at once would write the same generated pages: the second waits."""
    from filelock import FileLock, Timeout

    (root / HTML.parent).mkdir(parents=True, exist_ok=True)
    lock = FileLock(root / HTML.parent / "book.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        _say("Another build of this book is going on; waiting for its end.")
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def _environment(root: Path) -> dict[str, str]:
    # jupyter-book finds its helpers by name, so the environment's own programs come first.
    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    paths = os.pathsep.join(filter(None, [str(root / "lib"), os.environ.get("PYTHONPATH", "")]))
    settings = {"PATH": programs, "PYTHONPATH": paths, "PYTHONHASHSEED": "0"}
    return os.environ | settings | {PARENT: str(os.getpid())}


def _say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)
