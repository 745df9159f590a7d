"""nbval on the chapters as they are, `notebooks/<part>/<chapter>.md`, with no flag needed.

nbval reads `.ipynb` files with their outputs inside, executes every cell as a test of its own, and
passes a check cell without reference outputs in silence. Here a whole chapter is one test: its
current run is taken, or made and kept, as for the book, which then shows the very run that was
compared; the outputs that it should have come from `tests/references/`, their absence is an error,
and nbval compares. The numbers that the chapter says are compared beside them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lowdim.publish import chapters, execute, records, references
from nbval.plugin import IPyNbCell, IPyNbFile

ANCHOR = "test_notebooks.py"  # collecting this file collects the chapters


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Beside the ordinary tests in the anchor file, every chapter of the book."""
    if file_path.name == ANCHOR:
        return Chapters.from_parent(parent, path=file_path, name="chapters")
    return None


class Chapters(pytest.File):
    """All chapters of the book that `find_root` finds."""

    def collect(self) -> Iterator[pytest.Collector]:
        root = chapters.find_root()
        for name in chapters.discover(root):
            path = root / "notebooks" / f"{name}.md"
            yield ChapterFile.from_parent(self, path=path, name=name, book=root)


class ChapterFile(IPyNbFile):
    """One chapter, its references attached."""

    def __init__(self, *, book: Path, **options: Any) -> None:
        super().__init__(**options)
        self.book = book

    def setup(self) -> None:
        """nbval would start a kernel of its own here."""
        self.setup_sanitize_files()

    def collect(self) -> Iterator[pytest.Item]:
        from nbformat import from_dict

        try:
            chapter = chapters.load(self.name, root=self.book)
            self.nb = prepared(chapter)
            self.parameters = references.ci_values(chapter)
            self.reference = references.load(chapter)
            self.trains = references._trains(chapter)
        except (chapters.UsageError, references.ReferenceProblem) as problem:
            raise self.CollectError(str(problem)) from None
        cells, expected = references.check_cells(self.nb), self.reference["cells"]
        if len(cells) != len(expected):
            raise self.CollectError(
                f"{self.name} has {len(cells)} cells to compare and its reference {len(expected)}: "
                f"run `lowdim references {self.name}`, look at the difference and commit it."
            )
        for cell, outputs in zip(cells, expected, strict=True):
            cell.outputs = [from_dict(output) for output in references.kept(outputs)]
        yield ChapterItem.from_parent(self, name="cells")


def prepared(chapter: chapters.Chapter) -> Any:
    """The chapter as a notebook, unexecuted, with its CI parameters injected by papermill."""
    import jupytext
    from papermill.iorw import load_notebook_node
    from papermill.parameterize import parameterize_notebook

    nb = load_notebook_node(jupytext.read(chapter.path))  # gives every cell the tags it looks for
    values = references.ci_values(chapter)
    if not values:
        return nb
    return parameterize_notebook(nb, values, kernel_name="python3", language="python")


class ChapterItem(pytest.Item):
    """The chapter's run, and then every cell to compare."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.add_marker("chapter")

    def runtest(self) -> None:
        run = execute.obtain(self.parent.book, self.parent.name, self.parent.parameters)
        if run.error:
            pytest.fail(run.error, pytrace=False)
        cells, done = (
            [cell for cell in nb.cells if cell.cell_type == "code"]
            for nb in (self.parent.nb, run.notebook)
        )
        differences = [
            difference
            for number, (cell, made) in enumerate(zip(cells, done, strict=True), start=1)
            if references.TAG in cell.metadata.get("tags", [])
            and (difference := self.difference(number, cell, made.outputs))
        ]
        said = records.extract(run.notebook, chapter=self.parent.name).get("values", {})
        differences += references.differences(
            said, self.parent.reference["values"], trained=self.parent.trains
        )
        if differences:
            hint = f"If the new output is right: `lowdim references {self.parent.name}`."
            pytest.fail("\n\n".join([*differences, hint]), pytrace=False)

    def difference(self, number: int, cell: Any, outputs: list[Any]) -> str:
        """What nbval says of a cell's outputs beside the reference; nothing if they agree."""
        from nbformat import from_dict

        comparing = IPyNbCell.from_parent(
            self.parent,
            name=f"Cell {number}",
            cell_num=number,
            cell=cell,
            options=defaultdict(bool, check=True),
        )
        shown = [from_dict(output) for output in references.kept(outputs)]
        if comparing.compare_outputs(shown, cell.outputs):
            return ""
        told = "\n".join(comparing.comparison_traceback)
        return f"Code cell {number} of {self.parent.name} shows something else:\n{told}"

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, f"chapter {self.parent.name}"
