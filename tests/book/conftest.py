"""The built book, its pages, a server for them on this machine, and a real browser."""

from __future__ import annotations

import os
import re
import shutil
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from lowdim.publish.site.pdf import BROWSERS

HTML = Path(__file__).resolve().parents[2] / "_build" / "html"
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--no-first-run",
    "--disable-sync",
    "--disable-component-update",
)

# Kept when the page has answered to a new size: its scripts wait 150 ms of its own clock for more.
SETTLED = """() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(
  () => setTimeout(done, 250))))"""


def _pages(folder: str = "") -> list[str]:
    """Pages of the book by address; those that only send a reader on to another are left out."""
    found = (p for p in HTML.glob(f"{folder}**/*.html") if "_static" not in p.parts)
    onward = re.compile(rb"http-equiv=.?refresh", re.IGNORECASE)
    return sorted(
        p.relative_to(HTML).as_posix() for p in found if not onward.search(p.read_bytes())
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One case for every page, so that a new chapter is covered without a new test.

    Without a built book there is one case, which fails in the fixture `html`.
    """
    for name, folder in (("page", ""), ("chapter", "notebooks/")):
        if name in metafunc.fixturenames:
            metafunc.parametrize(name, _pages(folder) or ["nothing-built"])


@pytest.fixture(scope="session")
def settled() -> Callable[[Any], None]:
    """Wait until the page in a tab has answered to a new size, however busy the machine is."""
    return lambda tab: tab.evaluate(SETTLED)


@pytest.fixture(scope="session")
def html() -> Path:
    """The folder of the built book; a failure, not a skip, where there is none."""
    if not (HTML / "index.html").is_file():
        pytest.fail("There is no book under _build/html: run make book first.", pytrace=False)
    return HTML


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def address(html: Path) -> Iterator[str]:
    """The book served on 127.0.0.1."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(html)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


# For one module only: while Playwright is open its event loop counts as running in this thread,
# and a later test that runs a notebook here would fail.
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
