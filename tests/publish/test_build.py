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
