"""The process that renders a page: it waits, it ends with its parent, it tells what went wrong."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from lowdim.publish.renderer import PageFailed, Renderer

PARENT = """
import sys, time
from lowdim.publish.renderer import Renderer
with Renderer() as renderer:
    print(renderer.process.pid, flush=True)
    if len(sys.argv) > 1:
        renderer.process.stdin.write(sys.argv[1] + chr(10))
        renderer.process.stdin.flush()
    time.sleep(600)
"""


def gone(process: int, *, within: float = 60.0) -> bool:
    end = time.monotonic() + within
    while time.monotonic() < end:
        try:
            state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return True
        if state == "Z":
            return True
        time.sleep(0.1)
    return False


def test_nothing_asked_nothing_left() -> None:
    with Renderer() as renderer:
        process = renderer.process
    assert process.poll() is not None


def test_what_cannot_be_rendered_is_told(tmp_path: Path) -> None:
    (tmp_path / "_toc.yml").write_text("format: jb-book\nroot: missing\n")
    with Renderer() as renderer, pytest.raises(PageFailed, match="the renderer said"):
        renderer.build(tmp_path)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")
@pytest.mark.parametrize("asked", [False, True])
def test_it_ends_when_its_parent_is_killed(tmp_path: Path, asked: bool) -> None:
    book = tmp_path / "book"
    book.mkdir()
    words = [sys.executable, "-c", PARENT, *([str(book)] if asked else [])]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        os.kill(parent.pid, signal.SIGKILL)
    assert gone(child)
