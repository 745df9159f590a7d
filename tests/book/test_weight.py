"""What it costs to open a page: bytes and requests, as files are, without compression.

Counted is what a browser loads when a page is opened and nobody scrolls: figures further down are
loaded when they come near, which is fair to readers who do not come there. A page with all of its
figures is counted by reading it, with a limit of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

pytestmark = pytest.mark.book

MOST, REQUESTS = 1_500_000, 20
WHOLE = 4_000_000  # of a page with everything that it may load by itself
PAGES = (
    "book/index.html",
    "book/ledger.html",
    "book/graph.html",
    "book/notation.html",
    "book/preserve.html",
    "book/exercises.html",
    "notebooks/preserve/real_data.html",
    "notebooks/preserve/learned_weights.html",
    "notebooks/embedded/theorem_2_4.html",
    "notebooks/hashing/table_1.html",
    "notebooks/collapse/theorem_3_4.html",
    "book/api/hashing.html",
    "book/api/publish.html",
)
READY = "async () => { await window.MathJax?.startup?.promise; await document.fonts.ready }"
SHOWN = "() => [...document.querySelectorAll('.math')].map(e => !!e.querySelector('mjx-container'))"

NEAR = """() => [...document.querySelectorAll('.math')].filter(e => e.checkVisibility()).map(
  e => [e.getBoundingClientRect().top < innerHeight, !!e.querySelector('mjx-container')])"""


@pytest.fixture
def tab(browser: Any) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": 1440, "height": 900}, color_scheme="light")
    yield context.new_page()
    context.close()


@pytest.mark.browser
@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("width", [1440, 390])
def test_a_page_opens_light(tab: Any, html: Path, address: str, name: str, width: int) -> None:
    asked: list[str] = []
    tab.on("request", lambda request: asked.append(request.url))
    tab.set_viewport_size({"width": width, "height": 900})
    tab.goto(f"{address}/{name}")
    tab.evaluate(READY)
    local = list(dict.fromkeys(unquote(urlsplit(url).path) for url in asked if "data:" not in url))
    sizes = {path: (html / path.lstrip("/")).stat().st_size for path in local}
    assert len(local) <= REQUESTS, local
    assert sum(sizes.values()) <= MOST, sorted((size, path) for path, size in sizes.items())


def _loads(html: Path, page: str) -> tuple[set[Path], set[Path]]:
    """The files that a page loads at once, and those that wait; by reading it."""
    text = (html / page).read_text(encoding="utf-8")
    text = re.sub(r'<script type="application/json".*?</script>', "", text, flags=re.DOTALL)
    tags = re.findall(r"<(?:link|script|img)\b[^>]*>", text)
    at_once, later = {html / page}, set()
    for tag in tags:
        found = re.search(r'\s(?:src|href)="([^"]+)"', tag)
        if not found or (tag.startswith("<link") and not re.search("stylesheet|icon", tag)):
            continue
        address = urlsplit(found[1]).path
        if address and not found[1].startswith("data:"):
            path = (html / page).parent.joinpath(unquote(address)).resolve()
            (later if 'loading="lazy"' in tag else at_once).add(path)
    return at_once, later - at_once


def test_every_page_is_light_as_it_is_written(html: Path, page: str) -> None:
    at_once, later = _loads(html, page)
    fonts = 12  # at most, of formulas; they are asked for when one needs them
    assert len(at_once) <= REQUESTS - fonts, at_once
    assert sum(path.stat().st_size for path in at_once) <= MOST - 100_000
    assert sum(path.stat().st_size for path in (*at_once, *later)) <= WHOLE


@pytest.mark.browser
def test_formulas_on_the_screen_are_set_first(tab: Any, address: str) -> None:
    # The browser is never idle, as far as the page can tell: what is set was not left for later.
    tab.add_init_script("window.requestIdleCallback = done => { (window.held ??= []).push(done); }")
    tab.goto(f"{address}/notebooks/embedded/theorem_2_4.html")
    tab.wait_for_function("document.documentElement.dataset.formulas === 'seen'")
    near = tab.evaluate(NEAR)
    assert all(done for seen, done in near if seen) and any(seen for seen, _ in near)
    assert not any(done for seen, done in near[len(near) // 2 :] if not seen)
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert all(tab.evaluate(SHOWN))


@pytest.mark.browser
def test_all_formulas_are_set_without_scrolling(tab: Any, address: str) -> None:
    tab.goto(f"{address}/notebooks/embedded/theorem_2_4.html")
    tab.wait_for_function("document.documentElement.dataset.formulas === 'all'")
    assert all(tab.evaluate(SHOWN))


@pytest.mark.browser
def test_icons_are_seen(tab: Any, address: str) -> None:
    tab.goto(f"{address}/book/notation.html")
    for place in (".primary-toggle", ".theme-switch-button", ".dropdown-download-buttons button"):
        box = tab.locator(f"{place} svg:visible").first.bounding_box()
        assert 8 < box["width"] < 40 and 8 < box["height"] < 40, place
    assert tab.locator("i[class*='fa-'], span[class*='fa-']").count() == 0
