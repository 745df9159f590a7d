"""nbval on the chapters as they are, `notebooks/<part>/<chapter>.md`, with no flag needed.

nbval reads `.ipynb` files with their outputs inside, passes a check cell without reference
outputs in silence, and makes a test of every cell, which xdist may then scatter over workers.
Here a chapter is converted in memory, the outputs come from `tests/references/`, their absence is
an error, and a whole chapter is one test that stops at its first bad cell. What nbval does with a
cell, its kernel and the comparison, is used as it is. A run that passes is kept for the book, which
then shows the very run that was compared.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.manager import KernelManager
from lowdim.publish import chapters, execute, kernels, references
from nbval.kernel import RunningKernel
from nbval.plugin import IPyNbCell, IPyNbFile, NbCellError

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


class ChapterKernel(RunningKernel):
    """nbval's kernel, but of this interpreter, with one thread, and over ipc."""

    def __init__(self, root: Path, chapter: str, folder: Path, timeout: float) -> None:
        added = kernels.environment(root, chapter=chapter, one_thread=True)
        self.km = kernels.manager_class(KernelManager, added)(kernel_name="python3")
        self.km.start_kernel(cwd=str(folder))
        self.kc = self.km.client()
        self.kc.start_channels()
        try:
            self.kc.wait_for_ready(timeout=timeout)
            self._ensure_iopub_up()
            told = self.kc.kernel_info(reply=True, timeout=timeout)
            self.language_info = told["content"]["language_info"]
        except BaseException:
            self.stop()
            raise


class ChapterFile(IPyNbFile):
    """One chapter, its references attached."""

    def __init__(self, *, book: Path, **options: Any) -> None:
        super().__init__(**options)
        self.book = book

    def setup(self) -> None:
        timeout = self.config.option.nbval_kernel_startup_timeout
        self.kernel = ChapterKernel(self.book, self.name, self.path.parent, timeout)

    def collect(self) -> Iterator[pytest.Item]:
        try:
            chapter = chapters.load(self.name, root=self.book)
            self.nb = references.prepared(chapter)
            self.parameters = references.ci_values(chapter)
            expected = references.load(chapter, self.nb)
        except (chapters.UsageError, references.ReferenceProblem) as problem:
            raise self.CollectError(str(problem)) from None
        from nbformat import from_dict

        for key, cell in references.check_cells(self.nb).items():
            cell.outputs = [from_dict(output) for output in references.kept(expected[key])]
            cell.execution_count = 1  # else nbval takes the reference for one that never ran
        yield ChapterItem.from_parent(self, name="cells")


class ChapterCell(IPyNbCell):
    """A cell of a chapter; only text is compared."""

    def compare_outputs(self, test: Any, ref: Any, skip_compare: Any = None) -> bool:
        from nbformat import from_dict

        kept = [from_dict(output) for output in references.kept(test)]
        return super().compare_outputs(kept, ref, skip_compare)


class ChapterItem(pytest.Item):
    """All code cells in order, up to the first that raises or shows something else."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.add_marker("chapter")
        self.at: ChapterCell | None = None

    def runtest(self) -> None:
        book, name = self.parent.book, self.parent.name
        cells = [cell for cell in self.parent.nb.cells if cell.cell_type == "code"]
        made_with, start, outputs = execute.fingerprint(book, name), time.perf_counter(), []
        for number, cell in enumerate(cells):
            tagged = references.TAG in cell.metadata.get("tags", [])
            # Neither skipping nor expecting an exception can be asked for.
            options = defaultdict(bool, check=tagged)
            self.at = ChapterCell.from_parent(
                self.parent, name=f"Cell {number}", cell_num=number, cell=cell, options=options
            )
            self.at.runtest()
            outputs.append(self.at.test_outputs)
        if not self.parent.parameters:  # with others than its defaults it is not the book's run
            execute.keep(
                book,
                name,
                outputs,
                seconds=time.perf_counter() - start,
                made_with=made_with,
                language=self.parent.kernel.language_info,
            )

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], **_: Any) -> Any:
        if self.at is not None and isinstance(excinfo.value, NbCellError):
            hint = f"\nIf the new output is right: `lowdim references {self.parent.name}`."
            return self.at.repr_failure(excinfo) + hint
        return super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, f"chapter {self.parent.name}"
