"""Pages for those who do not see, do not point, or follow by keys: axe-core, and ids.

Every page is asked in one of four modes, wide or narrow and light or dark, chosen by its name, so
that all four meet pages of every kind; its formulas stay as they are written, since MathJax makes
tens of thousands of elements of them, and its contrast is left to tests/book/test_browser.py, which
measures it on every page in both themes. A sample of small pages is asked everything, in all four
modes, with its formulas set. A page is opened once; size and theme change without opening it again.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

pytestmark = pytest.mark.book

MODES = [(1440, "light"), (390, "dark"), (1440, "dark"), (390, "light")]
SAMPLE = (
    "book/index.html",
    "book/glossary.html",
    "book/preserve.html",
    "book/api/ground.html",
    "notebooks/embedded/linear_regression.html",
    "search.html",
)
SCHEME = """name => {
  document.documentElement.dataset.mode = name;
  document.documentElement.dataset.theme = name;
}"""
# Rules that are switched off outside the sample, each with its reason.
OFF = {
    "color-contrast": "measured on every page by test_a_page_is_legible; here it takes minutes",
    "link-in-text-block": "the same: by itself it takes longer than all that is left",
}
# Formulas are MathJax's own: tens of thousands of elements, and minutes for a page.
RUN = """rules => axe.run({exclude: ['mjx-container']}, {
  resultTypes: ['violations'], preload: false, rules}).then(
  found => found.violations.flatMap(rule => rule.nodes.map(
    node => `${rule.id}: ${node.target.join(' ')}: ${node.html.slice(0, 120)}`)))"""


@pytest.fixture(scope="module")
def ask(
    browser: Any, address: str, settled: Callable[[Any], None]
) -> Iterator[Callable[..., list[str]]]:
    """What axe-core has against a page, in the modes given; each is named with its mode."""
    from axe_playwright_python.base import AXE_SCRIPT

    context = browser.new_context(reduced_motion="reduce", color_scheme="light")

    def asked(page: str, *modes: tuple[int, str]) -> list[str]:
        tab = context.new_page()
        if len(modes) == 1:
            tab.route(re.compile("mathjax"), lambda route: route.abort())
        width = modes[0][0]
        tab.set_viewport_size({"width": width, "height": 900})
        if page.startswith("<"):
            tab.set_content(page)
        else:
            tab.goto(f"{address}/{page}")
        if len(modes) > 1:
            tab.evaluate("window.MathJax?.startup?.promise")
        tab.evaluate(AXE_SCRIPT)
        wrong = []
        for wide, scheme in modes:
            tab.set_viewport_size({"width": wide, "height": 900})
            tab.evaluate(SCHEME, scheme)
            settled(tab)
            rules = {name: {"enabled": False} for name in OFF if len(modes) == 1}
            wrong += [f"{wide} {scheme} {found}" for found in tab.evaluate(RUN, rules)]
        tab.close()
        return wrong

    yield asked
    context.close()


@pytest.mark.browser
def test_axe_has_nothing_against_a_page(ask: Callable, page: str) -> None:
    modes = MODES if page in SAMPLE else [MODES[crc32(page.encode()) % len(MODES)]]
    assert ask(page, *modes) == []


@pytest.mark.browser
def test_axe_sees_what_it_looks_for(ask: Callable) -> None:
    page = (
        "<html lang='en'><title>t</title><main><h1>t</h1><button></button>"
        "<p style='color:#aaa;background:#fff'>pale</p></main></html>"
    )
    found = ask(page, *MODES[:2])[:2]
    assert [name.split()[2] for name in found] == ["button-name:", "color-contrast:"]


class _Ids(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: Counter[str] = Counter()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.update(value or "" for name, value in attrs if name == "id")


def twice(text: str) -> list[str]:
    """The ids that a page has more than once."""
    return [name for name, count in _Ids(text).found.items() if count > 1]


def test_no_id_is_on_a_page_twice(html: Path, page: str) -> None:
    assert twice((html / page).read_text(encoding="utf-8")) == []


def test_an_id_that_is_there_twice_is_seen() -> None:
    assert twice("<p id='a'><b id='b'><i id='a'><script>'<p id=\"b\">'</script>") == ["a"]
