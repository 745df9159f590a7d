"""The one way in which a chapter is executed: for the book, for a reader's run, for the tests.

papermill sets the parameters and goes through the cells, in the chapter's own folder and in a
fresh kernel of this interpreter (:mod:`lowdim.publish.kernels`).
"""

from __future__ import annotations

import logging
import re
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lowdim.publish import kernels
from lowdim.publish.content import chapter_path

if TYPE_CHECKING:
    from nbformat import NotebookNode

TAIL = 12  # lines of a traceback that are worth showing
EVERY = 5.0  # seconds between two lines of progress where there is no terminal


class ChapterFailed(RuntimeError):
    """A chapter did not run to its end: one sentence, and the tail of the traceback."""

    def __init__(self, sentence: str, tail: str = "") -> None:
        super().__init__(sentence)
        self.tail = tail


def execute(
    root: Path,
    chapter: str,
    values: Mapping[str, Any] | None = None,
    *,
    one_thread: bool = False,
    environment: Mapping[str, str] | None = None,
    timeout: float | None = None,
    progress: bool = False,
    watch: kernels.Watch | None = None,
    tell: Callable[[int, int], None] | None = None,
) -> NotebookNode:
    """The notebook of ``part/chapter`` after all its cells ran with ``values`` injected.

    What the chapter derives from its parameters is recomputed, because the parameters cell holds
    literals only. ``environment`` is added to the kernel's. ``timeout`` is in seconds for each
    cell, ``watch`` can end the kernel from another thread. Raises `ChapterFailed` if a cell raises
    or takes too long, if the kernel dies or does not start, and if the chapter exits before its
    last cell. ``progress`` goes to the error stream: a bar in a terminal, lines elsewhere. ``tell``
    is told, before each code cell, its number and how many there are.
    """
    if progress:  # before what takes a second to load
        print(f"running {chapter}", file=sys.stderr, flush=True)
    import jupytext
    import papermill
    from jupyter_client.manager import AsyncKernelManager
    from nbclient.exceptions import CellTimeoutError, DeadKernelError

    for told in ("papermill", "asyncio"):  # they say nothing that we do not say
        logging.getLogger(told).disabled = True
    path = chapter_path(root, chapter)
    added = kernels.environment(root, chapter=chapter, one_thread=one_thread)
    added |= environment or {}
    source = jupytext.read(path)
    bar = progress and sys.stderr.isatty()
    count = sum(map(_is_run, source.cells)) + bool(values)  # one more cell holds the values
    at = _Place(chapter, count, lines=progress and not bar, tell=tell)
    try:
        done = papermill.execute_notebook(
            source,
            None,
            parameters=dict(values or {}),
            kernel_name="python3",
            language="python",
            progress_bar={"desc": chapter, "unit": " cells"} if bar else False,
            execution_timeout=timeout,
            kernel_manager_class=kernels.manager_class(AsyncKernelManager, added, watch=watch),
            resources={"metadata": {"path": str(path.parent)}},
            on_cell_start=at.begin,
        )
    except papermill.PapermillExecutionError as error:
        at.number, at.first = error.exec_count, _first(error.source)
        raise at.failed(f"{error.ename}: {_flat(error.evalue)}", _tail(error.traceback)) from None
    except CellTimeoutError:
        raise at.failed(f"it took longer than {timeout:g} seconds") from None
    except DeadKernelError:
        raise at.failed("its kernel died, most often for want of memory") from None
    except RuntimeError as error:
        raise at.failed(f"its kernel did not answer: {_flat(error)}") from None
    done.metadata.pop("papermill", None)  # it would hold the whole input once more
    for cell in done.cells:
        cell.metadata.pop("papermill", None)
    if at.number < sum(map(_is_run, done.cells)):  # papermill takes exit code 0 for a good end
        raise at.failed("it exited there, and the cells after it did not run")
    return done


class _Place:
    """The code cell that is being executed, and how to say that it failed."""

    def __init__(
        self,
        chapter: str,
        count: int,
        *,
        lines: bool = False,
        tell: Callable[[int, int], None] | None = None,
    ) -> None:
        self.chapter, self.number, self.first = chapter, 0, ""
        self.count, self.lines, self.tell = count, lines, tell
        self.told = time.monotonic()

    def begin(self, cell: NotebookNode, cell_index: int) -> None:
        if _is_run(cell):
            self.number += 1
            self.first = _first(cell.source)
            if self.tell:
                self.tell(self.number, self.count)
            if self.lines and time.monotonic() - self.told >= EVERY:  # no terminal, so no bar
                self.told = time.monotonic()
                line = f"{self.chapter}: code cell {self.number} of {self.count}"
                print(line, file=sys.stderr, flush=True)

    def failed(self, why: str, tail: str = "") -> ChapterFailed:
        where = f" in code cell {self.number} ('{self.first}')" if self.number else ""
        return ChapterFailed(f"{self.chapter} failed{where}: {why}.", tail)


def _is_run(cell: NotebookNode) -> bool:
    return cell.cell_type == "code" and bool(cell.source.strip())


def _first(source: str) -> str:
    return source.strip().partition("\n")[0].strip()


def _flat(message: Any) -> str:
    """On one line, and without the full stop that the sentence brings."""
    return " ".join(str(message).split()).rstrip(".")


def _tail(traceback: list[str]) -> str:
    lines = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(traceback)).strip().splitlines()
    return "\n".join(["..."] * (len(lines) > TAIL) + lines[-TAIL:])
