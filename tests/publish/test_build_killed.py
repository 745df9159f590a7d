"""A build killed at any moment, or out of space: the next one makes the same book, with no rest."""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from lowdim.publish import build

ROOT = Path(__file__).resolve().parents[2]
KILLS = int(os.environ.get("LOWDIM_BUILDS", "1"))  # make soak asks for twenty
ROOMS = (0, 2_000_000) if KILLS > 1 else (0,)  # bytes: none at all; enough to begin with pages
COMMAND = [
    sys.executable,
    "-c",
    "from lowdim.publish.cli import main; raise SystemExit(main(['book']))",
]
MASTHEAD = """
```{masthead}
The paper says
: Noise moves a singular value by at most its norm.

We find
: So it is.

What survives
: All of it.

You will learn
: how to bound a singular value; where the bound is met
```
"""
pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="reads /proc")


@pytest.fixture
def whole(book: Any) -> Path:
    """A small book with the settings of the large one, and two chapters that take a second."""
    for name in ("one", "two"):
        claim = f"preserve.lemma-{len(book.listed)}"
        path = book.chapter(f"preserve/{name}", claim=claim, body="[0] * 9")
        text = re.sub("^See .*nowhere.*$", "", path.read_text(), flags=re.M)
        path.write_text(re.sub("^(# .*)$", rf"\1\n{MASTHEAD}", text, count=1, flags=re.M))
    for name in ("_config.yml", "book/_static"):
        (shutil.copytree if "." not in name else shutil.copyfile)(ROOT / name, book.root / name)
    write(book.root, "It has two chapters.")
    return book.root


def write(root: Path, words: str) -> None:
    text = f"# A small book\n\n{words}\n\n```{{bibliography}}\n```\n"
    (root / "book" / "index.md").write_text(text)


def begin(root: Path) -> subprocess.Popen[bytes]:
    settings = {"LOWDIM_ROOT": str(root), "PYTHONPATH": str(ROOT / "lib")}
    with (root.parent / "said.txt").open("w") as said:
        return subprocess.Popen(
            COMMAND, cwd=root, env=os.environ | settings, stdout=said, stderr=said
        )


def pages(root: Path) -> dict[str, str]:
    """Every page without what times and dates make of it, and without the marks of versions."""
    found = {}
    for path in sorted((root / build.HTML).rglob("*.html")):
        text = path.read_text(encoding="utf-8")
        text = re.sub(r"\d+(\.\d+)? s\b|\?v=[0-9a-f]+", "", text)
        found[path.relative_to(root).as_posix()] = text
    return found


def running(root: Path) -> list[int]:
    """Processes that were started for this book."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                if f"LOWDIM_ROOT={root}".encode() in (folder / "environ").read_bytes():
                    found.append(int(folder.name))
            except OSError:
                continue  # gone, or somebody else's
    return found


def test_a_build_killed_at_any_moment_is_made_up_for(whole: Path) -> None:
    begun = time.monotonic()
    assert begin(whole).wait() == 0, (whole.parent / "said.txt").read_text()[-2000:]
    seconds = time.monotonic() - begun
    good = pages(whole)
    assert any(name.endswith("two.html") for name in good)
    drawn = random.Random(0)
    for number in range(KILLS):
        write(whole, f"Word {number}.")
        job = begin(whole)
        time.sleep(drawn.uniform(0, seconds))
        job.send_signal(signal.SIGKILL)
        job.wait()
        shown = pages(whole)  # the last good book, or the new one, and never half of one
        assert shown.keys() == good.keys()
        until = time.monotonic() + 30
        while running(whole) and time.monotonic() < until:
            time.sleep(0.2)
        assert running(whole) == []
        assert begin(whole).wait() == 0
        again = pages(whole)
        changed = {name for name in good if again[name] != good[name]}
        assert {name.rpartition("/")[2] for name in changed} <= {"index.html"}
        assert f"Word {number}." in again["_build/html/book/index.html"]
        left = [p.name for p in (whole / "_build").iterdir() if p.name[:4] in ("fres", "old-")]
        assert left == []


def fill(folder: Path, room: int) -> Path:
    """A file that leaves so many bytes of a file system."""
    ballast = folder / "ballast"
    with ballast.open("wb") as file:
        left = os.statvfs(folder)
        file.truncate(0)
        os.posix_fallocate(file.fileno(), 0, left.f_bavail * left.f_frsize - room)
    return ballast


def build_without_space(root: Path) -> None:
    """What the test below does where ``_build`` is a small file system of its own."""
    said = root.parent / "said.txt"
    assert begin(root).wait() == 0, said.read_text()[-2000:]
    good = pages(root)
    for room in ROOMS:
        write(root, f"There are {room} bytes.")
        ballast = fill(root / "_build", room)
        assert begin(root).wait() == 1, said.read_text()[-2000:]
        assert pages(root) == good  # the last good book
        assert re.search("no space left|not built", said.read_text(), re.I), said.read_text()
        if not room:
            assert "Traceback" not in said.read_text()
        ballast.unlink()
    assert begin(root).wait() == 0, said.read_text()[-2000:]
    again = pages(root)
    changed = {name.rpartition("/")[2] for name in good if again[name] != good[name]}
    assert again.keys() == good.keys() and changed <= {"index.html"}
    assert f"There are {ROOMS[-1]} bytes." in again["_build/html/book/index.html"]
    left = [p.name for p in (root / "_build").iterdir() if p.name[:4] in ("fres", "old-")]
    assert left == []


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="mounts with bubblewrap")
def test_a_build_without_space_keeps_the_book_and_says_so(whole: Path) -> None:
    (whole / "_build").mkdir(exist_ok=True)
    mount = ["bwrap", "--dev-bind", "/", "/", "--size", "200000000", "--tmpfs", whole / "_build"]
    inside = [sys.executable, "-P", __file__, whole]
    settings = {"PYTHONPATH": str(ROOT / "lib")}
    ended = subprocess.run(
        [*mount, *inside], env=os.environ | settings, capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stderr[-3000:]


if __name__ == "__main__":
    build_without_space(Path(sys.argv[1]))
