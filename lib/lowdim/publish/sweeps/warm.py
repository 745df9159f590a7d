"""A process that has imported everything, and forks a fresh one for each run.

Starting a kernel and importing torch take seconds, and most chapters' runs at small sizes take
less. So each worker pays for it once: it imports what chapters import, starts no thread, and forks
for every run. The child is a fresh process in every way that a chapter can see; it leaves one JSON
file and, if asked, the notebook, both renamed into place when whole.

Requests come as lines of JSON on the standard input, answers go as lines to the standard output. At
the end of the input, or when whoever started it is gone, it ends, and so does a run under way.
"""

from __future__ import annotations

import ast
import contextlib
import gc
import importlib
import json
import os
import select
import signal
import sys
import threading
import time
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

POLL = 0.02  # seconds between two looks at a run that is under way
RESULT, NOTEBOOK = "result.json", "run.ipynb"
TAIL = 12  # lines of a traceback that are worth keeping
TOOLS = (
    "IPython.core.interactiveshell", "ipykernel.jsonutil", "jupytext", "lowdim.publish.records",
    "nbformat", "papermill.iorw", "papermill.parameterize",
)  # fmt: skip


def preload(chapter: Path) -> None:
    """Import what runs a chapter and what its cells import, so that forks have it.

    None of it starts a thread, which a fork would lose: torch and the like do so when they first
    compute, and are told to use one. A module that cannot be imported is left to the chapter,
    whose own error says more.

    Examples
    --------
    >>> preload(Path("no-such-chapter.md"))
    """
    for name in (*TOOLS, *imported(chapter)):
        with contextlib.suppress(Exception):
            importlib.import_module(name)


def imported(chapter: Path) -> list[str]:
    """The modules that the cells of a chapter import, in order; none if it cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".md") as file:
    ...     _ = file.write("```{code-cell} python\\nimport os.path\\nfrom json import dump\\n```")
    ...     file.flush()
    ...     imported(Path(file.name))
    ['os.path', 'json', 'json.dump']
    """
    from lowdim.publish.source import code_cells

    found: dict[str, None] = {}
    with contextlib.suppress(OSError, SyntaxError, ValueError):
        for cell in code_cells(chapter.read_text(encoding="utf-8")):
            for node in ast.walk(ast.parse(cell.source)):
                if isinstance(node, ast.Import):
                    found |= dict.fromkeys(alias.name for alias in node.names)
                elif isinstance(node, ast.ImportFrom) and node.module:
                    found[node.module] = None  # a name of it may be a module too
                    found |= {f"{node.module}.{alias.name}": None for alias in node.names}
    return list(found)


def make(request: Mapping[str, Any], folder: Path) -> None:
    """Run one request in this process; leave ``result.json``, and ``run.ipynb`` if it is kept.

    ``request`` has ``root``, ``chapter``, ``values`` and ``keep`` (none, failed or all).
    """
    import jupytext
    from papermill.iorw import load_notebook_node
    from papermill.parameterize import parameterize_notebook

    from lowdim.publish import content, records
    from lowdim.publish.sweeps import shell

    root, chapter = Path(request["root"]), request["chapter"]
    path = content.chapter_path(root, chapter)
    os.environ["LOWDIM_CHAPTER"] = chapter
    start = time.perf_counter()
    told: dict[str, Any] = {"state": "done", "error": "", "tail": "", "record": None}
    nb = load_notebook_node(jupytext.read(path))
    if request["values"]:  # papermill adds no cell for nothing either
        nb = parameterize_notebook(
            nb, dict(request["values"]), kernel_name="python3", language="python"
        )
    try:
        shell.run(nb, folder=path.parent)
        told["record"] = records.extract(nb, chapter=chapter)
    except shell.CellFailed as error:
        told["state"] = "failed"
        where = f"code cell {error.number} ('{error.first}')"
        told["error"] = f"{chapter} failed in {where}: {' '.join(str(error).split())}."
        told["tail"] = "\n".join("\n".join(error.trace).splitlines()[-TAIL:])
    except records.RecordError as error:
        told["state"], told["error"] = "failed", str(error)
    told["seconds"] = time.perf_counter() - start
    if request["keep"] == "all" or (request["keep"] == "failed" and told["state"] == "failed"):
        import nbformat

        nb.metadata.pop("jupytext", None)
        nb.metadata["lowdim"] = {"chapter": chapter, "preset": None}
        _write(folder / NOTEBOOK, nbformat.writes(nb))
    _write(folder / RESULT, json.dumps(told))


def _write(path: Path, text: str) -> None:
    beside = path.with_suffix(".part")
    beside.write_text(text, encoding="utf-8")
    os.replace(beside, path)


def _child(request: Mapping[str, Any], folder: Path, parent: int) -> None:
    """What a forked process does: it never returns to what it was forked from."""
    code = 1
    try:
        os.setpgid(0, 0)
        with open(os.devnull, "r+b") as nothing:  # neither our requests nor our answers are its own
            for stream in (0, 1, 2):
                os.dup2(nothing.fileno(), stream)
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
        make(request, folder)
        code = 0
    except BaseException as error:  # ours and not the chapter's: to be seen all the same
        trace = "".join(traceback.format_exception(error)[-TAIL:])
        told = {"state": "failed", "error": f"{type(error).__name__}: {error}.", "tail": trace}
        _write(folder / RESULT, json.dumps({**told, "record": None, "seconds": 0.0}))
    finally:
        os._exit(code)


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os.killpg(0, signal.SIGKILL)


def serve() -> None:
    """Answer requests until there are no more; the chapter that is to be run is named first."""
    preload(Path(sys.argv[1]))
    gc.freeze()  # what is shared stays shared
    me = os.getpid()
    _say({"ready": me})
    while line := _line():
        request = json.loads(line)
        folder = Path(request["folder"])
        start = time.monotonic()
        child = os.fork()
        if child == 0:
            _child(request, folder, me)
        code = _wait(child, start + request["limit"])
        _say({"key": request["key"], "code": code, "wall": time.monotonic() - start})


def _wait(child: int, until: float) -> int:
    """The exit code of a run, −9 if it took too long; ends all if there is nobody left to tell."""
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > until:
            _kill(child)
        elif _over():
            _kill(child)
            os._exit(0)
        time.sleep(POLL)


def _kill(child: int) -> None:
    for end in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            end(child, signal.SIGKILL)


_waiting = b""


def _line() -> str:
    """The next request; empty at the end of the input."""
    global _waiting
    while b"\n" not in _waiting:
        got = os.read(0, 65536)
        if not got:
            return ""
        _waiting += got
    line, _, _waiting = _waiting.partition(b"\n")
    return line.decode()


def _over() -> bool:
    """Whether the input has ended; what else has come is kept."""
    global _waiting
    if not select.select([0], [], [], 0)[0]:
        return False
    got = os.read(0, 65536)
    _waiting += got
    return not got


def _say(told: Mapping[str, Any]) -> None:
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):
        serve()
