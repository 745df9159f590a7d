"""The book works under its own Content-Security-Policy, and that policy stops other scripts."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from lowdim.publish.site.policy import FILE

pytestmark = [pytest.mark.book, pytest.mark.browser]
PAGES = (
    "book/index.html",
    "book/ledger.html",
    "book/exercises.html",
    "book/preserve.html",
    "notebooks/embedded/linear_regression.html",
    "search.html",
)


@pytest.fixture(scope="module")
def guarded(html: Path) -> Iterator[str]:
    """The book served with the header that it recommends."""
    header = (html / FILE).read_text(encoding="utf-8").strip()

    class Guarded(SimpleHTTPRequestHandler):
        def log_message(self, *args: object) -> None:
            """Say nothing."""

        def end_headers(self) -> None:
            self.send_header("Content-Security-Policy", header)
            super().end_headers()

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Guarded, directory=str(html)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_works_under_the_policy(browser: Any, guarded: str, name: str) -> None:
    tab = browser.new_page()
    wrong: list[str] = []
    tab.on("console", lambda m: wrong.append(m.text) if m.type == "error" else None)
    tab.on("pageerror", lambda error: wrong.append(str(error)))
    tab.goto(f"{guarded}/{name}")
    if tab.locator(".math").count():
        tab.wait_for_selector("mjx-container", state="attached", timeout=30_000)
    tab.wait_for_load_state("networkidle")
    tab.close()
    assert wrong == []


def test_another_script_does_not_run(browser: Any, guarded: str) -> None:
    tab = browser.new_page()
    tab.goto(f"{guarded}/book/glossary.html")
    tab.evaluate(
        """() => {
          const script = document.createElement('script');
          script.textContent = 'window.foreign = 1';
          document.head.append(script);
          const image = document.createElement('img');
          image.setAttribute('onerror', 'window.foreign = 2');
          image.src = 'data:image/png;base64,AA';
          document.body.append(image);
        }"""
    )
    tab.wait_for_timeout(300)
    assert tab.evaluate("window.foreign") is None
    tab.close()


def test_nothing_is_allowed_wholesale(html: Path) -> None:
    rules = dict(
        rule.split(" ", 1) for rule in (html / FILE).read_text(encoding="utf-8").strip().split("; ")
    )
    assert rules["default-src"] == "'none'"
    assert not {"'unsafe-inline'", "'unsafe-eval'", "*"} & set(rules["script-src"].split())
    assert not [rule for rule in rules.values() if "http" in rule]
