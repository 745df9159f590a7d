"""Running the chapters: in parallel, once, and again whenever what they show may differ."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from lowdim.publish import build, content, execute, executor, kernels, store
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


def outputs(notebook: Any) -> str:
    """What the cells printed."""
    found = [out for cell in notebook.cells for out in cell.get("outputs", [])]
    return "".join(out.get("text", "") for out in found)


def printed(run: execute.Executed) -> str:
    return outputs(run.notebook)


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


def ran(book: Any) -> dict[str, bool]:
    """Which chapters were executed when all were asked for."""
    runs = execute.execute_all(book.root, progress=False)
    assert not execute.failures(runs)
    return {run.chapter.partition("/")[2]: not run.cached for run in runs}


def test_an_edit_runs_the_chapters_that_import_it_and_going_back_runs_none(
    book: Any, lib: Path
) -> None:
    book.chapter("preserve/one", body="from lowdim import one; print(one.SAID)")
    book.chapter(
        "preserve/two", body="from lowdim import two; print(two.SAID)", claim="preserve.lemma-1-2"
    )
    one, two = (lib / f"{name}.py" for name in ("one", "two"))
    one.write_text("SAID = 1\n")
    two.write_text(
        "def said():\n    from lowdim import deep\n    return deep.SAID\nSAID = said()\n"
    )
    (lib / "deep.py").write_text("SAID = 1\n")
    assert ran(book) == {"one": True, "two": True}

    one.write_text("SAID = 2\n")
    assert ran(book) == {"one": True, "two": False}
    (lib / "deep.py").write_text("SAID = 2\n")
    assert ran(book) == {"one": False, "two": True}
    one.write_text('"""Says two."""\n\nSAID = (2)  # as it should\n')
    (lib / "three.py").write_text("nobody = 'imports this'\n")
    (lib / "publish" / "pages.py").write_text("import lowdim.one\n")
    assert ran(book) == {"one": False, "two": False}

    one.write_text("SAID = 1\n")
    (lib / "deep.py").write_text("SAID = 1\n")
    assert ran(book) == {"one": False, "two": False}
    shown = [printed(run) for run in execute.current(book.root)]
    assert shown == ["1\n", "1\n"], "the runs of that state, not the last ones"


def test_a_run_not_used_for_long_is_made_again(book: Any, lib: Path) -> None:
    book.chapter(body=ASKING)
    for answer in (1, 2):
        (lib / "__init__.py").write_text(LIBRARY.format(answer))
        assert ran(book) == {"weyl": True}
    then = time.time() - (store.DAYS + 1) * 86400
    for path in (book.root / store.FOLDER).rglob("*.json"):
        os.utime(path, (then, then))
    assert ran(book) == {"weyl": False}, "age alone does not make the present run stale"
    (lib / "__init__.py").write_text(LIBRARY.format(1))
    assert ran(book) == {"weyl": True}, "the other one was dropped"


def test_a_state_without_runs_is_refused(book: Any, lib: Path) -> None:
    book.chapter(body=ASKING)
    ran(book)
    (lib / "__init__.py").write_text(LIBRARY.format(2))
    with pytest.raises(ValueError, match="no current run: preserve/weyl"):
        execute.current(book.root)


def test_what_changes_while_it_runs_is_nobodys_run(book: Any, lib: Path) -> None:
    path = lib / "__init__.py"
    book.chapter(body=f"{ASKING}\nopen({str(path)!r}, 'w').write('ANSWER = 2')")
    (run,) = execute.execute_all(book.root, progress=False)
    assert run.error == "preserve/weyl or what it imports was changed while it ran: run it again."
    assert run.notebook is None
    for answer in (1, 2):
        path.write_text(LIBRARY.format(answer))
        with pytest.raises(ValueError, match="no current run"):
            execute.current(book.root)


def for_sphinx(book: Any, name: str = "preserve/weyl") -> Any:
    """What Sphinx would show: the chapter as it reads it, with what its cache has for it."""
    notebook = execute.read_chapter(book.root, name)
    return execute._cache(book.root).merge_match_into_notebook(notebook)[1]


def test_sphinx_finds_the_current_run_and_no_other(book: Any, lib: Path) -> None:
    path = book.chapter(body=ASKING)
    for answer in (1, 2):
        (lib / "__init__.py").write_text(LIBRARY.format(answer))
        ran(book)
    for answer in (1, 2, 1):
        (lib / "__init__.py").write_text(LIBRARY.format(answer))
        assert set(execute.drop_stale(book.root)) == {"preserve/weyl"}
        assert outputs(for_sphinx(book)) == f"answer {answer}\n"
        assert len(execute._cache(book.root).list_cache_records()) == 1
        assert for_sphinx(book).metadata.language_info.pygments_lexer == "ipython3"

    (lib / "__init__.py").write_text(LIBRARY.format(3))
    assert set(execute.drop_stale(book.root)) == {"preserve/weyl"}
    with pytest.raises(KeyError):
        for_sphinx(book)

    (lib / "__init__.py").write_text(LIBRARY.format(2))
    execute.drop_stale(book.root)
    path.unlink()
    assert set(execute.drop_stale(book.root)) == {"preserve/weyl"}
    assert execute._cache(book.root).list_cache_records() == []


def test_sphinx_gets_todays_metadata_and_the_newest_of_equal_runs(book: Any, lib: Path) -> None:
    path = book.chapter(body=ASKING)
    ran(book)
    execute.drop_stale(book.root)
    text = path.read_text()
    path.write_text(text.replace(":tags: [nbval-check-output]", ":tags: [nbval-check-output, new]"))
    assert ran(book) == {"weyl": False}
    execute.drop_stale(book.root)
    tags = [cell.metadata.get("tags", []) for cell in for_sphinx(book).cells]
    assert ["nbval-check-output", "new"] in tags

    path.write_text(text.replace("doubled = 2 * trials", "doubled = (2 * trials)  # twice"))
    assert ran(book) == {"weyl": False}
    execute.drop_stale(book.root)
    assert any("# twice" in cell.source for cell in for_sphinx(book).cells)

    (run,) = execute.current(book.root)
    for cell in run.notebook.cells:
        for out in cell.get("outputs", []):
            out.update({"text": "another\n"} if "text" in out else {})
    key = content.key(book.root.resolve(), "preserve/weyl")
    store.keep(book.root, "preserve/weyl", key, run.notebook, seconds=1.0)
    execute.drop_stale(book.root)
    assert outputs(for_sphinx(book)) == "another\n"


def test_a_damaged_copy_for_sphinx_is_made_again(book: Any, lib: Path) -> None:
    book.chapter("preserve/weyl", body=ASKING)
    ran(book)
    execute.drop_stale(book.root)
    shutil.rmtree(book.root / execute.CACHE / "executed")
    execute.drop_stale(book.root)
    assert outputs(for_sphinx(book)) == "answer 1\n"
    shutil.rmtree(book.root / execute.CACHE / "executed")
    (lib / "__init__.py").write_text(LIBRARY.format(2))
    execute.drop_stale(book.root)
    assert execute._cache(book.root).list_cache_records() == []


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
    monkeypatch.setattr(execute, "cores", lambda: 2)
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
    book.chapter("preserve/bad", body="def deep(n): return deep(n - 1) if n else 1 / 0\ndeep(40)")
    book.chapter("preserve/worse", body="raise KeyError('lost its key')")
    monkeypatch.setattr(subprocess, "run", lambda *a, **k: pytest.fail("Jupyter Book was called"))
    assert build.build_book(book.root) == 1
    said = capsys.readouterr().err
    for sentence in (
        "preserve/bad failed in code cell 2 ('import os, platform, sys'): "
        "ZeroDivisionError: division by zero.\n",
        "preserve/worse failed in code cell 2 ('import os, platform, sys'): KeyError: ",
        "lost its key",
    ):
        assert sentence in said
    assert "preserve/good failed" not in said
    runs = execute.execute_all(book.root, chapters=["preserve/good", "preserve/bad"])
    assert [(run.cached, run.error is None) for run in runs] == [(True, True), (False, False)]
    told = execute.failures(runs).splitlines()
    assert len(told) == executor.TAIL + 2 and told[1] == "..." and "\x1b" not in "".join(told)
    assert told[-1] == "ZeroDivisionError: division by zero"


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (
            "os.kill(os.getpid(), 9)",
            "its kernel died, most often for want of memory.",
        ),
        ("sys.exit(0)", "it exited there, and the cells after it did not run."),
        ("import time; time.sleep(60)", "it took longer than 2 seconds."),
    ],
)
def test_other_ends_than_the_last_cell_are_failures_with_a_place(
    book: Any, body: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(execute, "CELL_TIMEOUT", 2)
    book.chapter(body=body)
    (run,) = execute.execute_all(book.root, progress=False)
    assert run.error == (f"preserve/weyl failed in code cell 2 ('import os, platform, sys'): {why}")
    assert execute.failures([run]) == run.error


def test_a_kernel_that_does_not_start_is_a_failure(
    book: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    book.chapter()
    monkeypatch.setattr(kernels.sys, "executable", "/bin/false")
    (run,) = execute.execute_all(book.root, progress=False)
    assert (run.error or "").startswith("preserve/weyl failed: its kernel did not answer: ")


@pytest.mark.skipif(sys.platform == "win32", reason="sends a signal")
def test_interrupting_ends_all_kernels(book: Any, tmp_path: Path) -> None:
    marks = [tmp_path / "one", tmp_path / "two"]
    for mark in marks:
        body = f"import time\nopen({str(mark)!r}, 'w').write(str(os.getpid()))\ntime.sleep(60)"
        book.chapter(f"preserve/{mark.name}", body=body)
    code = (
        "import sys; from pathlib import Path; from lowdim.publish import execute; "
        "execute.cores = lambda: 2; execute.execute_all(Path(sys.argv[1]))"
    )
    job = subprocess.Popen(
        [sys.executable, "-c", code, str(book.root)],
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    until = time.monotonic() + 60
    while not all(mark.exists() and mark.read_text() for mark in marks):
        assert time.monotonic() < until, "the chapters never began"
        time.sleep(0.1)
    job.send_signal(signal.SIGINT)
    start = time.monotonic()
    _, err = job.communicate(timeout=40)
    assert b"KeyboardInterrupt" in err and job.returncode != 0
    assert time.monotonic() - start < 30
    for mark in marks:
        with pytest.raises(ProcessLookupError):
            os.kill(int(mark.read_text()), 0)


def test_a_kernel_that_starts_after_the_end_is_ended(book: Any) -> None:
    book.chapter()
    watch = kernels.Watch()
    watch.end()
    with pytest.raises(executor.ChapterFailed, match="preserve/weyl failed: its kernel did not"):
        executor.execute(book.root, "preserve/weyl", watch=watch)


def test_records_and_pages_are_written_before_jupyter_book_is_called(
    book: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    book.chapter()

    def run(command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        assert (book.root / "_build/records/preserve/weyl.json").is_file()
        assert "preserve.theorem-9-1" in (book.root / "book/_generated/ledger.md").read_text()
        assert (book.root / execute.CACHE).is_dir(), "else no run is given to Sphinx"
        return subprocess.CompletedProcess(command, 3)

    monkeypatch.setattr(build.subprocess, "run", run)
    assert build.build_book(book.root) == 3
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
    install, *code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert "pip install" in install.source
    assert [cell.metadata.get("tags") for cell in code] == [
        ["parameters"],
        None,
        ["nbval-check-output"],
    ]
    assert all(cell.outputs == [] for cell in code)
    assert notebook.metadata.kernelspec.name == "python3"
    assert "jupytext" not in notebook.metadata


def test_a_run_with_other_parameters_is_another_run(book: Any, lib: Path) -> None:
    book.chapter(body="print(doubled)")
    for trials, cached in ((3, False), (4, False), (3, True)):
        run = execute.obtain(book.root, "preserve/weyl", {"trials": trials})
        assert (run.cached, outputs(run.notebook)) == (cached, f"{2 * trials}\n")
    assert ran(book) == {"weyl": True}
    assert execute.obtain(book.root, "preserve/weyl").cached, "whoever asks"


def test_outputs_go_to_equally_many_cells(book: Any) -> None:
    book.chapter()
    run = execute.obtain(book.root, "preserve/weyl")
    notebook = execute.read_chapter(book.root, "preserve/weyl")
    notebook.cells = [cell for cell in notebook.cells if "tags" not in cell.metadata]
    with pytest.raises(ValueError, match="There are 1 code cells, but 3 were executed"):
        execute.with_outputs(notebook, run.notebook)
