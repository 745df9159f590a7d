"""What is wrong with a request, a book or a machine: one sentence, code 2, nothing written."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from lowdim.publish import cli, parameters

LOWDIM = [sys.executable, "-c", "import sys; from lowdim.publish.cli import main; sys.exit(main())"]
DATA = """\
dataset = "digits"  # images; one of digits, mnist
seed = 0            # any integer
"""


def refused(capsys, words: list[str]) -> str:
    """The one sentence that a request is refused with."""
    assert cli.main(words) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.count("\n") == 1
    return told.err


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "_toc.yml is no table of contents"),
        (b"a word\n", "_toc.yml is no table of contents"),
        (b"a: [b\n", "_toc.yml is not YAML"),
        (b"format: jb-book\nroot: \xff\n", "_toc.yml, line 2: it is not UTF-8 text."),
    ],
)
def test_a_damaged_table_of_contents(book, capsys, content: bytes, sentence: str) -> None:
    book.chapter()
    (book.root / "_toc.yml").write_bytes(content)
    for words in (["chapters"], ["run", "weyl"], ["ledger"], ["sweep", "weyl", "-p", "seed=0:2"]):
        assert sentence in refused(capsys, words)


def test_a_chapter_or_presets_in_another_encoding(book, capsys) -> None:
    path = book.chapter()
    text = path.read_text().replace("Nowhere.", "Nulle part, déjà.")
    path.write_bytes(text.encode("latin-1", errors="replace"))
    before = book.files()
    for words in (["chapters"], ["run", "weyl"], ["ledger"]):
        assert "notebooks/preserve/weyl.md, line " in refused(capsys, words)
    path.write_text(text)
    (book.root / "notebooks" / "presets.yml").write_bytes(b"\xff")
    assert "notebooks/presets.yml, line 1" in refused(capsys, ["run", "weyl"])
    assert book.files() - {"notebooks/presets.yml"} == before


def test_a_folder_by_the_name_of_a_chapter_is_none(book, capsys) -> None:
    book.chapter()
    (book.root / "notebooks" / "preserve" / "folder.md").mkdir()
    assert cli.main(["chapters"]) == 0
    assert "folder" not in capsys.readouterr().out
    assert "There is no chapter 'folder'" in refused(capsys, ["run", "folder"])


def test_build_is_a_file(book, capsys) -> None:
    book.chapter()
    (book.root / "_build").touch()
    commands = (["run", "weyl"], ["sweep", "weyl", "-p", "seed=0:2"], ["ledger"], ["book"])
    for words in commands:
        assert "_build is a file, not a folder" in refused(capsys, words)


@pytest.mark.parametrize("words", [["--frob"], ["run", "--frob"], ["run", "weyl", "--frob=1"]])
def test_an_unknown_option_is_named(book, capsys, words: list[str]) -> None:
    book.chapter()
    assert "Unknown: --frob;" in refused(capsys, words)


@pytest.mark.parametrize("given", ["1e12", str(10**30), "1_000_000_001"])
def test_a_count_beyond_all_memory(book, capsys, given: str) -> None:
    book.chapter()
    sentence = refused(capsys, ["run", "weyl", "-p", f"trials={given}"])
    assert f"trials must be 1 or more, up to 1,000,000,000; you gave {given}." in sentence


def test_a_seed_may_be_as_large_as_it_likes_and_lists_may_not() -> None:
    seed, sizes = parameters.parse_cell(
        "seed = 0  # any integer\nsizes = [1]  # N; a list, each 1 or more"
    )
    assert parameters.check(seed, str(10**30)) == 10**30
    with pytest.raises(parameters.UsageError, match="up to 1,000,000,000"):
        parameters.check(sizes, f"1,{10**12}")


def test_data_that_is_missing_damaged_or_no_folder(book, capsys, tmp_path, monkeypatch) -> None:
    book.chapter(parameters=DATA, body="trials = noise = 1; doubled = 2")
    before = book.files()
    runs = [["run", "weyl", "-p", "dataset=mnist"], ["sweep", "weyl", "-p", "dataset=digits,mnist"]]
    monkeypatch.setenv("LOWDIM_DATA", str(tmp_path / "none"))
    for words in runs:
        said = refused(capsys, words)
        assert "dataset=mnist cannot be run: MNIST is not in" in said
        assert "lowdim data fetch mnist" in said
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "mnist.npz").write_text("garbage")
    monkeypatch.setenv("LOWDIM_DATA", str(folder))
    for words in runs:
        assert "dataset=mnist cannot be run: " in refused(capsys, words)
    assert cli.main(["data"]) == 0
    line = next(row for row in capsys.readouterr().out.splitlines() if row.startswith("mnist"))
    assert "damaged" in line
    (tmp_path / "file").touch()
    monkeypatch.setenv("LOWDIM_DATA", str(tmp_path / "file"))
    for words in (*runs, ["data"]):
        assert "is a file; let LOWDIM_DATA name a folder." in refused(capsys, words)
    assert book.files() == before


def test_no_room_for_temporary_files(book, capsys, monkeypatch) -> None:
    book.chapter()
    monkeypatch.setattr(tempfile, "tempdir", "/no-such-folder")
    assert "No temporary file can be made" in refused(capsys, ["run", "weyl"])


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc")
def test_a_place_that_takes_no_file(book, capsys) -> None:
    book.chapter()
    for place in ("/proc/x", "/proc/1/x/y", "/dev/null/x"):
        assert f"Cannot write to {place}" in refused(capsys, ["run", "weyl", "-o", place])


def test_a_working_folder_that_is_gone(book, tmp_path: Path) -> None:
    book.chapter()
    gone = tmp_path / "gone"
    gone.mkdir()
    code = f"import os; os.rmdir({str(gone)!r})\n{LOWDIM[2]}"
    done = subprocess.run(
        [sys.executable, "-c", code, "chapters"], cwd=gone, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == "lowdim: The working folder is gone; change to another one.\n"


def test_a_terminal_without_greek(book, monkeypatch) -> None:
    book.chapter(parameters="trials = 3  # instances σ; 1 or more\nseed = 0  # any integer\n")
    shown = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", shown)
    assert cli.main(["chapters", "weyl"]) == 0
    shown.flush()
    assert b"instances ?; 1 or more" in shown.buffer.getvalue()


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_tree_that_may_not_be_written(book, capsys) -> None:
    book.chapter()
    book.root.chmod(0o555)
    try:
        assert "no permission" in refused(capsys, ["run", "weyl"])
    finally:
        book.root.chmod(0o755)
