"""A notebook executed in this very process, with the outputs that a kernel would have sent.

A kernel is a process with an IPython shell in it and a protocol around it. In a process that was
forked for one run the protocol is not needed: the same shell runs the cells, and what it shows is
caught where it would be sent.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nbformat import NotebookNode

OBEYED = "skip-execution"


class CellFailed(RuntimeError):
    """A cell raised: its number among the code cells, its first line, what was raised."""

    def __init__(self, number: int, first: str, name: str, value: str, trace: list[str]) -> None:
        super().__init__(f"{name}: {value}")
        self.number, self.first, self.trace = number, first, trace


class _Stream(io.TextIOBase):
    """Printed text becomes an output; what follows text of its own kind is joined to it."""

    def __init__(self, name: str, outputs: Callable[[], list[Any]]) -> None:
        self.kind, self.outputs = name, outputs

    def write(self, text: str) -> int:
        from nbformat.v4 import new_output

        last = self.outputs()[-1:] or [{}]
        if last[0].get("output_type") == "stream" and last[0]["name"] == self.kind:
            last[0]["text"] += text
        elif text:
            self.outputs().append(new_output("stream", name=self.kind, text=text))
        return len(text)

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return False


def run(
    notebook: NotebookNode, *, folder: Path, begin: Callable[[int], None] | None = None
) -> None:
    """Run every code cell of ``notebook`` in ``folder``, in a fresh shell; outputs go into it.

    Meant for a process that does nothing else afterwards: the shell is this process's own.
    ``begin`` is told the number of each code cell before it runs.

    Raises
    ------
    CellFailed
        If a cell raises; cells after it are not run.

    Examples
    --------
    >>> import nbformat, subprocess
    >>> code = '''
    ... import nbformat
    ... from pathlib import Path
    ... from lowdim.publish.sweeps.shell import run
    ... cell = nbformat.v4.new_code_cell("print(1); 2")
    ... nb = nbformat.v4.new_notebook(cells=[cell])
    ... run(nb, folder=Path("."))
    ... kinds = [output["output_type"] for output in nb.cells[0].outputs]
    ... '''
    >>> code += "import sys; sys.__stdout__.write(repr(kinds))"
    >>> subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout
    "['stream', 'execute_result']"
    """
    os.chdir(folder)
    outputs: list[Any] = []
    shell = _shell(lambda: outputs)
    sys.stdout = _Stream("stdout", lambda: outputs)
    sys.stderr = _Stream("stderr", lambda: outputs)
    number = 0
    for cell in notebook.cells:
        if cell.cell_type != "code" or not cell.source.strip():
            continue
        if OBEYED in cell.metadata.get("tags", []):
            continue
        number += 1
        if begin:
            begin(number)
        outputs = []
        result = shell.run_cell(cell.source, store_history=True)
        cell.execution_count = number
        cell.outputs = outputs
        error = result.error_before_exec or result.error_in_exec
        if error is not None and "raises-exception" not in cell.metadata.get("tags", []):
            first = cell.source.strip().partition("\n")[0].strip()
            trace: list[str] = next(
                (o["traceback"] for o in outputs if o["output_type"] == "error"), []
            )
            raise CellFailed(number, first, type(error).__name__, str(error), trace)


def _shell(outputs: Callable[[], list[Any]]) -> Any:
    """An IPython shell like a kernel's, whose three ways of showing end in ``outputs()``."""
    from ipykernel.jsonutil import encode_images, json_clean
    from IPython.core.displayhook import DisplayHook
    from IPython.core.displaypub import DisplayPublisher
    from IPython.core.interactiveshell import InteractiveShell
    from nbformat.v4 import new_output

    def clean(data: Any) -> Any:
        return json_clean(encode_images(data))

    class Publisher(DisplayPublisher):
        def publish(self, data: Any, metadata: Any = None, *rest: Any, **more: Any) -> None:
            shown = new_output(
                "display_data", data=clean(data), metadata=json_clean(metadata or {})
            )
            outputs().append(shown)

        def clear_output(self, wait: bool = False) -> None:
            outputs().clear()

    class Hook(DisplayHook):
        def write_output_prompt(self) -> None:
            pass

        def write_format_data(self, format_dict: Any, md_dict: Any = None) -> None:
            self.shown = new_output(
                "execute_result",
                data=clean(format_dict),
                metadata=json_clean(md_dict or {}),
                execution_count=self.prompt_count,
            )

        def finish_displayhook(self) -> None:
            if shown := getattr(self, "shown", None):
                outputs().append(shown)
                self.shown = None

    class Shell(InteractiveShell):
        def _showtraceback(self, etype: Any, evalue: Any, stb: list[str]) -> None:
            shown = new_output("error", ename=etype.__name__, evalue=str(evalue), traceback=stb)
            outputs().append(shown)

        def enable_gui(self, gui: Any = None) -> None:
            pass

        def init_history(self) -> None:
            super().init_history()
            if self.history_manager is not None:
                self.history_manager.enabled = False

    InteractiveShell.clear_instance()
    return Shell.instance(display_pub_class=Publisher, displayhook_class=Hook)
