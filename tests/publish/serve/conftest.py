"""A small book that is served by a process of its own, and a real browser."""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from lowdim.publish.site.pdf import BROWSERS

LOWDIM = [sys.executable, "-c", "import sys; from lowdim.publish.cli import main; sys.exit(main())"]
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run")
PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title></head>
<body><main><article><h1>{title}</h1><p>As it was built.</p></article></main></body></html>
"""
# A seed of 9 never ends by itself; it leaves the number of its process.
BODY = """
import pathlib, time
if seed == 9:
    pathlib.Path({mark!r}).write_text(str(os.getpid()))
    time.sleep(600)
assert seed != 8, 'eight is refused'
"""


class Server:
    """`lowdim serve` on a free port."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.start()

    def start(self) -> None:
        """Start it, and wait for the address that it prints."""
        self.process = subprocess.Popen(
            [*LOWDIM, "serve", "--port", "0"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=os.environ | {"LOWDIM_ROOT": str(self.root)},
        )
        assert self.process.stdout is not None
        self.printed = self.process.stdout.readline().split()[0]
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\?token=([\w-]{30,})", self.printed)
        assert found, self.printed
        self.port, self.token = int(found[1]), found[2]
        self.address = f"http://127.0.0.1:{self.port}"

    def end(self, how: int = signal.SIGTERM) -> int:
        """End it; its exit code."""
        with suppress(ProcessLookupError):
            self.process.send_signal(how)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return self.process.wait(timeout=60)

    def ask(
        self, path: str, method: str = "GET", told: Any = None, **heads: str | None
    ) -> tuple[int, bytes]:
        """Status and body of one request, as a page of ours would send it."""
        sent = {"Cookie": f"lowdim-{self.port}={self.token}", "Host": f"127.0.0.1:{self.port}"}
        if method != "GET":
            sent |= {"Origin": self.address, "Content-Type": "application/json"}
        sent |= {name.replace("_", "-"): value for name, value in heads.items()}
        body = told if told is None or isinstance(told, bytes) else json.dumps(told).encode()
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        line.putrequest(method, path, skip_host=True)
        for name, value in {**sent, "Content-Length": str(len(body or b""))}.items():
            if value is not None:
                line.putheader(name, value)
        line.endheaders(body)
        answer = line.getresponse()
        found = answer.status, answer.read()
        line.close()
        return found

    def run(self, **values: str) -> dict[str, Any]:
        """Ask for a run."""
        asked = {"chapter": "preserve/weyl", "preset": None, "values": values}
        status, told = self.ask("/_lowdim/runs", "POST", asked)
        assert status == 201, told
        return json.loads(told)

    def entry(self, name: str) -> dict[str, Any]:
        """What is known of a run."""
        return json.loads(self.ask(f"/_lowdim/runs/{name}")[1])


def until(true: Callable[[], Any], seconds: float = 240.0) -> Any:
    """Wait until something is so, and return it."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := true():
            return found
        time.sleep(0.1)
    raise AssertionError("it did not happen in time")


def alive(process: int) -> bool:
    """Whether a process is at work; a zombie is not."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"


@pytest.fixture
def mark(tmp_path: Path) -> Path:
    """Where a run that never ends leaves the number of its process."""
    return tmp_path / "mark"


@pytest.fixture
def served(book, mark: Path) -> Iterator[Server]:
    """A book of one chapter, built by hand, and its server."""
    book.chapter(body=BODY.format(mark=str(mark)))
    book.presets("preserve/weyl:\n  paper: {trials: 40}\n")
    html = book.root / "_build" / "html"
    (html / "notebooks" / "preserve").mkdir(parents=True)
    (html / "index.html").write_text(PAGE.format(title="The book"))
    (html / "notebooks" / "preserve" / "weyl.html").write_text(PAGE.format(title="Weyl"))
    server = Server(book.root)
    yield server
    server.end()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """The system's Chromium. Without one: skipped with the reason, or a failure in CI."""
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        reason = f"no browser: none of {', '.join(BROWSERS)} is on the PATH"
        if os.environ.get("CI", "").lower() in ("1", "true", "yes"):
            pytest.fail(reason, pytrace=False)
        pytest.skip(reason)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield opened
        opened.close()


@pytest.fixture
def helpers() -> Any:
    """What the tests here share."""

    class Helpers:
        until = staticmethod(until)
        alive = staticmethod(alive)
        lowdim = LOWDIM

    return Helpers
