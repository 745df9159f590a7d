"""Building the book: all or nothing, and never less than there was."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from lowdim.publish import build


class JupyterBook:
    """Stands in for the program: writes pages where it is told to, returns what it is told to."""

    def __init__(self, pages: tuple[str, ...] = ("index", "new"), code: int = 0) -> None:
        self.pages, self.code = pages, code
        self.commands: list[list[str]] = []

    def __call__(self, command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        self.commands.append(command)
        folder = Path(command[command.index("--path-output") + 1], "_build", "html")
        folder.mkdir(parents=True)
        for page in self.pages:
            (folder / f"{page}.html").write_text(page)
        return subprocess.CompletedProcess(command, self.code)


@pytest.fixture
def good(book: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A small book with a chapter that needs no kernel and a last good build."""
    (book.root / "_build" / "html").mkdir(parents=True)
    for page in ("index", "gone"):
        (book.root / "_build" / "html" / f"{page}.html").write_text("last good")
    monkeypatch.setattr(build, "execute_all", lambda root: [])
    for pages_of_the_library in (build.reference, build.rooms):  # the same for every book
        monkeypatch.setattr(pages_of_the_library, "write", lambda root: None)
    return book


def pages(book: Any) -> dict[str, str]:
    return {path.stem: path.read_text() for path in (book.root / "_build" / "html").iterdir()}


def beside(book: Any) -> set[str]:
    return {path.name for path in (book.root / "_build").iterdir() if path.is_dir()}


def test_a_good_build_takes_the_place_of_the_last(
    good: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = JupyterBook()
    monkeypatch.setattr(build.subprocess, "run", program)
    assert build.build_book(good.root) == 0
    assert pages(good) == {"index": "index", "new": "new"}  # the page that is gone is gone
    assert {"--all", "-W", "-n", "--keep-going"} <= set(program.commands[0])
    assert beside(good) == {"html", ".jupyter_cache"}


def test_what_is_made_is_not_made_again(good: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    program = JupyterBook()
    monkeypatch.setattr(build.subprocess, "run", program)
    word = good.root / "book" / "word.md"
    page = good.root / "_build" / "html" / "new.html"
    spoil = {
        "nothing": lambda: None,
        "a source": lambda: word.write_text("a word"),
        "the same source": lambda: word.write_text("a word"),
        "its name": lambda: word.rename(word.with_name("other.md")),
        "a page": lambda: page.write_text("not what was built"),
        "no page": page.unlink,
        "a pin": lambda: (good.root / "requirements.lock").write_text("torch==0"),
    }
    made = []
    for name, change in spoil.items():
        build.build_book(good.root)
        before = len(program.commands)
        change()
        assert build.build_book(good.root) == 0
        if len(program.commands) > before:
            made.append(name)
        assert pages(good) == {"index": "index", "new": "new"}
    assert made == ["a source", "its name", "a page", "no page", "a pin"]


def test_a_failing_build_is_tried_again(good: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build.subprocess, "run", JupyterBook())
    assert build.build_book(good.root) == 0
    (good.root / "book" / "word.md").write_text("a word")
    failing = JupyterBook(code=1)
    monkeypatch.setattr(build.subprocess, "run", failing)
    assert (build.build_book(good.root), build.build_book(good.root)) == (1, 1)
    assert len(failing.commands) == 2


@pytest.mark.parametrize("program", [JupyterBook(code=3), JupyterBook(pages=("half",))])
def test_a_failing_build_leaves_the_last_one(
    good: Any, program: JupyterBook, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setattr(build.subprocess, "run", program)
    assert build.build_book(good.root) == (program.code or 1)
    assert pages(good) == {"index": "last good", "gone": "last good"}
    assert "The book was not built" in capsys.readouterr().err
    assert beside(good) == {"html", ".jupyter_cache"}


def test_a_renaming_that_fails_is_undone(tmp_path: Path) -> None:
    target = tmp_path / "html"
    target.mkdir()
    (target / "index.html").write_text("last good")
    with pytest.raises(FileNotFoundError):
        build.put_in_place(tmp_path / "absent", target)
    assert (target / "index.html").read_text() == "last good"
    assert [path.name for path in tmp_path.iterdir()] == ["html"]


def test_a_build_killed_between_its_renamings_is_mended_by_the_next(
    good: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    aside = good.root / "_build" / f"{build.OLD}1"
    aside.mkdir()
    (good.root / "_build" / "html").rename(aside / "html")
    monkeypatch.setattr(build.subprocess, "run", JupyterBook(code=1))
    assert build.build_book(good.root) == 1
    assert pages(good) == {"index": "last good", "gone": "last good"}
    assert beside(good) == {"html", ".jupyter_cache"}


KILLED = """
import sys, time
from pathlib import Path
from lowdim.publish import build

def run(command, **options):
    folder = Path(command[command.index("--path-output") + 1], "_build", "html")
    folder.mkdir(parents=True)
    (folder / "index.html").write_text("half")
    Path(sys.argv[2]).touch()
    time.sleep(60)

build.execute_all = lambda root: []
build.subprocess.run = run
build.build_book(Path(sys.argv[1]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="sends a signal")
@pytest.mark.parametrize("sent", ["SIGKILL", "SIGTERM", "SIGINT"])
def test_a_killed_build_leaves_the_last_one_and_the_next_one_tidies(
    good: Any, sent: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = tmp_path / "mark"
    job = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(good.root), str(mark)],
        stderr=subprocess.DEVNULL,
        env=os.environ | {"PYTHONPATH": str(Path(build.__file__).parents[2])},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    until = time.monotonic() + 60
    while not mark.exists():
        assert job.poll() is None and time.monotonic() < until, "the build never began"
        time.sleep(0.05)
    job.send_signal(getattr(signal, sent))
    assert job.wait(timeout=30) != 0
    assert pages(good) == {"index": "last good", "gone": "last good"}
    monkeypatch.setattr(build.subprocess, "run", JupyterBook())
    assert build.build_book(good.root) == 0
    assert beside(good) == {"html", ".jupyter_cache"}
