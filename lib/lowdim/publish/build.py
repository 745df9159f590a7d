"""Build the whole book: run the chapters, write records, generate pages, call Jupyter Book."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from lowdim.publish import reference, rooms
from lowdim.publish.execute import collect, current, execute_all, failures
from lowdim.publish.pages import write_all

JUPYTER_BOOK = "from jupyter_book.cli.main import main; main()"
STRICT = ("--all", "-W", "-n", "--keep-going")
"""Always ``--all``: without it a second strict build passes over what the first complained of."""


def build_book(root: Path, *, execute: bool = True) -> int:
    """Build ``_build/html`` under ``root``; return 0, or another number if anything failed.

    With ``execute=False`` no chapter is run: each must have a current run in the cache, and the
    first sentence on the error stream names those that have not. Every failing chapter is listed
    with the tail of its traceback, and then no page is built. Warnings of Sphinx are failures.
    """
    root = Path(root).resolve()
    try:
        executed = execute_all(root) if execute else current(root)
        problems = failures(executed)
        if problems:
            _say(problems)
            return 1
        write_all(root, collect(root, executed))
        reference.write(root)
        rooms.write(root)
    except (OSError, ValueError) as problem:
        _say(str(problem))
        return 1
    # Sphinx leaves the page of a chapter that is gone where it was.
    shutil.rmtree(root / "_build" / "html", ignore_errors=True)
    command = [sys.executable, "-c", JUPYTER_BOOK, "build", str(root), *STRICT]
    code = subprocess.run(command, cwd=root, env=_environment(root), check=False).returncode
    if code:
        _say("The book was not built: Jupyter Book stopped with errors or warnings, listed above.")
    return code


def _environment(root: Path) -> dict[str, str]:
    # jupyter-book finds its helpers by name, so the environment's own programs come first.
    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    paths = os.pathsep.join(filter(None, [str(root / "lib"), os.environ.get("PYTHONPATH", "")]))
    return os.environ | {"PATH": programs, "PYTHONPATH": paths, "PYTHONHASHSEED": "0"}


def _say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)
