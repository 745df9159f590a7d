"""The committed outputs that the tests compare each chapter's verdict with.

`tests/references/<part>/<chapter>.json` keeps, for every cell tagged `nbval-check-output`, its
text under the hash of the cell's source, and the parameters of the run. A reference whose hashes
or parameters are no longer the chapter's is stale. `lowdim references` writes them by running
the chapters; nobody edits them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lowdim.publish.chapters import Chapter
from lowdim.publish.records import write_atomically
from lowdim.publish.running import book_root, execute

if TYPE_CHECKING:
    from nbformat import NotebookNode

TAG = "nbval-check-output"
PRESET = "ci"


class ReferenceProblem(ValueError):
    """One sentence: what is wrong with a reference, and the command that refreshes it."""


def reference_path(chapter: Chapter) -> Path:
    """Where the chapter's reference is kept."""
    return book_root(chapter) / "tests" / "references" / chapter.part / f"{chapter.stem}.json"


def ci_values(chapter: Chapter) -> dict[str, Any]:
    """What the tests put in place of the defaults: the preset `ci`, if the chapter has one."""
    return dict(chapter.presets.get(PRESET, {}))


def prepared(chapter: Chapter) -> NotebookNode:
    """The chapter as a notebook, unexecuted, with its CI parameters injected by papermill."""
    import jupytext
    from papermill.iorw import load_notebook_node
    from papermill.parameterize import parameterize_notebook

    nb = load_notebook_node(jupytext.read(chapter.path))  # gives every cell the tags it looks for
    values = ci_values(chapter)
    if not values:
        return nb
    return parameterize_notebook(nb, values, kernel_name="python3", language="python")


def check_cells(nb: NotebookNode) -> dict[str, NotebookNode]:
    """The cells to compare by key; a source that comes twice is told apart by its place."""
    found: dict[str, NotebookNode] = {}
    for cell in nb.cells:
        if cell.cell_type == "code" and TAG in cell.metadata.get("tags", []):
            key = hashlib.sha256(cell.source.strip().encode()).hexdigest()
            again = sum(known.partition("-")[0] == key for known in found)
            found[f"{key}-{again + 1}" if again else key] = cell
    return found


def kept(outputs: Iterable[Any]) -> list[dict[str, Any]]:
    """What is compared of a cell's outputs: printed text, joined, and `text/plain`.

    >>> kept([{"output_type": "stream", "name": "stdout", "text": "a"},
    ...       {"output_type": "stream", "name": "stderr", "text": "b"},
    ...       {"output_type": "stream", "name": "stdout", "text": "c"}])
    [{'name': 'stdout', 'output_type': 'stream', 'text': 'ac'}]
    """
    printed, shown = "", []
    for output in outputs:
        kind = output["output_type"]
        if kind == "stream" and output["name"] == "stdout":
            printed += output["text"]
        elif kind in ("display_data", "execute_result") and "text/plain" in output["data"]:
            text = output["data"]["text/plain"]
            shown.append(
                {"data": {"text/plain": text}, "metadata": {}, "output_type": "display_data"}
            )
    stream = {"name": "stdout", "output_type": "stream", "text": printed}
    return ([stream] if printed else []) + shown


def load(chapter: Chapter, nb: NotebookNode) -> dict[str, list[dict[str, Any]]]:
    """The reference outputs by key; `ReferenceProblem` if missing, stale or empty."""
    path = reference_path(chapter)
    refresh = f"run `lowdim references {chapter.name}`, look at the difference and commit it."
    cells = check_cells(nb)
    if not cells:
        raise ReferenceProblem(
            f"notebooks/{chapter.name}.md has no cell tagged '{TAG}', so nothing would be compared."
        )
    if not path.is_file():
        raise ReferenceProblem(f"{chapter.name} has no reference: {refresh}")
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        outputs, parameters = stored["cells"], stored["parameters"]
    except (json.JSONDecodeError, KeyError, TypeError):
        raise ReferenceProblem(f"The reference of {chapter.name} is damaged: {refresh}") from None
    if set(outputs) != set(cells):
        raise ReferenceProblem(
            f"The reference of {chapter.name} is stale, a check cell's source changed: {refresh}"
        )
    if parameters != chapter.defaults | ci_values(chapter):
        raise ReferenceProblem(
            f"The reference of {chapter.name} is stale, its parameters changed: {refresh}"
        )
    if not all(kept(outputs[key]) for key in cells):
        raise ReferenceProblem(
            f"The reference of {chapter.name} has a check cell without output: {refresh}"
        )
    return outputs


def measure(chapter: Chapter, *, progress: bool = False) -> str:
    """Run the chapter with its CI parameters, one thread; return the reference file's new text.

    Raises `ChapterFailed`, and `ReferenceProblem` if a check cell shows nothing to compare.
    """
    values = ci_values(chapter)
    nb = execute(chapter, values, progress=progress, one_thread=True)
    cells = {key: kept(cell.outputs) for key, cell in check_cells(nb).items()}
    if not cells or not all(cells.values()):
        raise ReferenceProblem(
            f"notebooks/{chapter.name}.md needs a cell tagged '{TAG}', and each must show text."
        )
    document = {
        "cells": cells,
        "chapter": chapter.name,
        "parameters": chapter.defaults | values,
    }
    return json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def refresh(chapter: Chapter, *, check: bool = False, progress: bool = False) -> bool:
    """Run the chapter and bring its reference up to date; return whether it was already.

    With `check` nothing is written.
    """
    path = reference_path(chapter)
    new = measure(chapter, progress=progress)
    current = path.is_file() and path.read_text(encoding="utf-8") == new
    if not current and not check:
        write_atomically(path, new)
    return current
