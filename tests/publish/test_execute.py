"""Running the chapters: in parallel, once, and again whenever what they show may differ."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from lowdim.publish import build, execute
from lowdim.publish.sphinxext import downloadable

LIBRARY = "ANSWER = {}\n"
ASKING = "import lowdim; print('answer', lowdim.ANSWER)"


@pytest.fixture
def lib(book: Any) -> Path:
    """A library of one number, which the kernels of this book import as lowdim."""
    folder = book.root / "lib" / "lowdim"
    (folder / "publish").mkdir(parents=True)
    (folder / "__init__.py").write_text(LIBRARY.format(1))
    (book.root / "requirements.lock").write_text("numpy==2.4.6\n")
    return folder


def printed(run: execute.Executed) -> str:
    outputs = [out for cell in run.notebook.cells for out in cell.get("outputs", [])]
    return "".join(out.get("text", "") for out in outputs)


def test_a_current_run_is_not_repeated_and_a_changed_library_repeats_it(
    book: Any, lib: Path
) -> None:
    path = book.chapter(body=ASKING)
    (first,) = execute.execute_all(book.root, progress=False)
    assert (first.cached, first.error, printed(first)) == (False, None, "answer 1\n")

    (lib / "publish" / "pages.py").write_text("changed = True\n")
    (book.root / "notebooks" / "presets.yml").write_text("{}\n")
    path.write_text(path.read_text().replace("Nowhere.", "Only in the prose."))
    (second,) = execute.execute_all(book.root, progress=False)
    assert (second.cached, second.seconds, printed(second)) == (True, first.seconds, "answer 1\n")

    (lib / "__init__.py").write_text(LIBRARY.format(2))
    (third,) = execute.execute_all(book.root, progress=False)
    assert (third.cached, printed(third)) == (False, "answer 2\n")


def test_parameters_pins_and_committed_records_count_too(book: Any, lib: Path) -> None:
    path = book.chapter()
    cached = [execute.execute_all(book.root, progress=False)[0].cached]
    path.write_text(path.read_text().replace("noise = 0.5 ", "noise = 0.25 "))
    cached.append(execute.execute_all(book.root, progress=False)[0].cached)
    before = execute.fingerprint(book.root, "preserve/weyl")
    (book.root / "requirements.lock").write_text("numpy==2.4.7\n")
    pins = execute.fingerprint(book.root, "preserve/weyl")
    records = book.root / "book" / "records" / "preserve"
    records.mkdir(parents=True)
    (records / "weyl.paper.json").write_text("{}")
    both = execute.fingerprint(book.root, "preserve/weyl")
    (records / "another.paper.json").write_text("{}")
    assert cached == [False, False]
    assert len({before, pins, both}) == 3
    assert execute.fingerprint(book.root, "preserve/weyl") == both
    with pytest.raises(ValueError, match="no current run: preserve/weyl"):
        execute.current(book.root)


def test_sphinx_finds_the_run_and_none_that_is_stale(book: Any, lib: Path) -> None:
    book.chapter()
    execute.execute_all(book.root, progress=False)
    notebook = execute.read_chapter(book.root, "preserve/weyl")  # as Sphinx reads it
    assert execute._cache(book.root).match_cache_notebook(notebook).data["chapter"]
    (lib / "__init__.py").write_text(LIBRARY.format(3))
    assert set(execute.drop_stale(book.root)) == {"preserve/weyl"}
    with pytest.raises(KeyError):
        execute._cache(book.root).match_cache_notebook(notebook)


def test_chapters_run_at_once_each_on_one_thread_in_its_folder(
    book: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # Each leaves a mark and waits for the other's: one after the other, neither would end.
    body = """import pathlib, time
pathlib.Path("{0}").touch()
deadline = time.monotonic() + 60
while not pathlib.Path("{1}").exists():
    assert time.monotonic() < deadline, "the other chapter did not start"
    time.sleep(0.05)
print(pathlib.Path.cwd().name, os.environ["OMP_NUM_THREADS"], os.environ["PYTHONHASHSEED"])"""
    book.chapter("preserve/one", body=body.format("a", "b"))
    book.chapter("preserve/two", body=body.format("b", "a"), claim="preserve.lemma-1-2")
    monkeypatch.setattr(execute, "_cores", lambda: 2)
    runs = execute.execute_all(book.root)
    assert [(run.chapter, run.error, printed(run)) for run in runs] == [
        ("preserve/one", None, "preserve 1 0\n"),
        ("preserve/two", None, "preserve 1 0\n"),
    ]
    said = capsys.readouterr()
    assert said.out == "" and "[2/2] preserve/" in said.err


def test_every_failing_chapter_is_reported_and_nothing_is_built(
    book: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    book.chapter("preserve/good")
    book.chapter("preserve/bad", body="1 / 0", claim="preserve.lemma-1-2")
    book.chapter(
        "preserve/worse", body="raise KeyError('lost its key')", claim="preserve.lemma-1-3"
    )
    monkeypatch.setattr(subprocess, "run", lambda *a, **k: pytest.fail("Jupyter Book was called"))
    assert build.build_book(book.root) == 1
    said = capsys.readouterr().err
    for part in (
        "preserve/bad failed",
        "ZeroDivisionError",
        "preserve/worse failed",
        "lost its key",
    ):
        assert part in said
    assert "preserve/good failed" not in said
    runs = execute.execute_all(book.root, chapters=["preserve/good", "preserve/bad"])
    assert [(run.cached, run.error is None) for run in runs] == [(True, True), (False, False)]
    assert all(len(run.error.splitlines()) <= execute.TAIL + 1 for run in runs if run.error)


def test_a_kernel_that_dies_is_a_failure_with_a_name(book: Any) -> None:
    book.chapter(body="import signal; os.kill(os.getpid(), signal.SIGKILL)")
    (run,) = execute.execute_all(book.root, progress=False)
    assert "died" in (run.error or "").lower()
    assert execute.failures([run]).startswith("preserve/weyl failed after")


def test_records_are_written_and_jupyter_book_is_called_strictly(
    book: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    book.chapter()
    calls: list[list[str]] = []

    def run(command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        calls.append(command)
        return subprocess.CompletedProcess(command, 3)

    monkeypatch.setattr(build.subprocess, "run", run)
    assert build.build_book(book.root) == 3
    assert {"--all", "-W", "-n"} <= set(calls[0])
    assert (book.root / "_build/records/preserve/weyl.json").is_file()
    assert "preserve.theorem-9-1" in (book.root / "book/_generated/ledger.md").read_text()
    assert build.build_book(book.root, execute=False) == 3


def test_a_chapter_without_a_record_stops_the_build(
    book: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    path = book.chapter()
    path.write_text(path.read_text().replace('metadata={"lowdim_record": record}', "metadata={}"))
    assert build.build_book(book.root) == 1
    assert "preserve/weyl" in capsys.readouterr().err


def test_what_is_not_there_is_one_sentence(book: Any) -> None:
    book.chapter().unlink()
    with pytest.raises(FileNotFoundError, match=r"no file notebooks/preserve/weyl\.md\.$"):
        execute.execute_all(book.root)
    with pytest.raises(
        ValueError, match=r"No chapter is called 'a/b'; _toc\.yml has preserve/weyl"
    ):
        execute.execute_all(book.root, chapters=["a/b"])


def test_the_notebook_to_download_has_all_cells_and_no_outputs(book: Any) -> None:
    notebook = downloadable(book.chapter())
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.metadata.get("tags") for cell in code] == [
        ["parameters"],
        None,
        ["nbval-check-output"],
    ]
    assert all(cell.outputs == [] for cell in code)
    assert notebook.metadata.kernelspec.name == "python3"
    assert "jupytext" not in notebook.metadata


def test_a_run_made_elsewhere_is_the_books_while_it_is_current(book: Any, lib: Path) -> None:
    book.chapter(body=ASKING)
    name = "preserve/weyl"
    made_with = execute.fingerprint(book.root, name)
    cells = [c for c in execute.read_chapter(book.root, name).cells if c.cell_type == "code"]
    said = {"output_type": "stream", "name": "stdout", "text": "kept"}
    outputs = [[] for _ in cells[1:]] + [[said]]
    made = {"made_with": made_with, "language": {"name": "python", "pygments_lexer": "ipython3"}}
    execute.keep(book.root, name, outputs, seconds=2.5, **made)
    (run,) = execute.execute_all(book.root, progress=False)
    assert (run.cached, run.seconds, printed(run)) == (True, 2.5, "kept")
    found = [len(cell.outputs) for cell in run.notebook.cells if cell.cell_type == "code"]
    assert found == [len(output) for output in outputs]
    assert run.notebook.metadata.language_info.pygments_lexer == "ipython3"
    (lib / "__init__.py").write_text(LIBRARY.format(2))
    (run,) = execute.execute_all(book.root, progress=False)
    assert (run.cached, "answer 2" in printed(run)) == (False, True)
    with pytest.raises(ValueError, match=f"{len(cells)} code cells, but outputs of 1"):
        execute.keep(book.root, name, [[]], seconds=0.0, **made)
