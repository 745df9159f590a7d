"""Fold bars and the switch for code in a browser: by click and key, remembered, on paper."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.book, pytest.mark.browser, pytest.mark.xdist_group("browser")]

HERE = "notebooks/hashing/theorem_3.html"
NEXT = "notebooks/preserve/real_data.html"
SHOWN = "[...document.querySelectorAll('.cell_input')].filter(e => e.checkVisibility()).length"
OUTPUTS = SHOWN.replace("cell_input", "cell_output")


@pytest.fixture(params=[1440, 390])
def tab(browser: Any, request: pytest.FixtureRequest) -> Iterator[Any]:
    """A reader who has never been here."""
    context = browser.new_context(
        viewport={"width": request.param, "height": 900}, reduced_motion="reduce"
    )
    yield context.new_page()
    context.close()


def test_every_bar_says_what_is_inside(html: Path, chapter: str) -> None:
    text = (html / chapter).read_text(encoding="utf-8")
    assert "Show code cell" not in text and "Toggle hidden content" not in text
    bars = text.split('<details class="lowdim-fold')[1:]
    assert all("<b>" in bar.partition("</summary>")[0] for bar in bars)


def test_the_cell_that_rules_is_folded(tab: Any, address: str) -> None:
    tab.goto(f"{address}/{NEXT}")  # its tags do not ask for it
    bar = tab.locator("summary", has_text="how each claim is ruled")
    assert bar.count() >= 1
    code = tab.locator("details.lowdim-fold", has=bar.last).locator(".cell_input")
    assert not code.is_visible()
    bar.last.focus()
    tab.keyboard.press("Enter")
    assert code.is_visible()


def test_one_switch_for_all_code(tab: Any, address: str) -> None:
    tab.goto(f"{address}/{HERE}")
    switch = tab.locator(".lowdim-code-switch")
    asis, outputs = tab.evaluate(SHOWN), tab.evaluate(OUTPUTS)
    every = tab.locator(".cell_input").count()
    assert 0 < asis < every and outputs, "as the chapter has it"
    assert switch.inner_text() == "Code: shown"
    switch.focus()
    tab.keyboard.press("Space")
    assert switch.inner_text() == "Code: hidden"
    assert switch.get_attribute("aria-checked") == "false"
    assert (tab.evaluate(SHOWN), tab.evaluate(OUTPUTS)) == (0, outputs)
    tab.goto(f"{address}/{NEXT}")
    assert switch.inner_text() == "Code: hidden" and tab.evaluate(SHOWN) == 0
    switch.click()
    tab.goto(f"{address}/{HERE}")
    assert switch.inner_text() == "Code: shown" and tab.evaluate(SHOWN) == every


def test_no_switch_where_there_is_no_code(tab: Any, address: str) -> None:
    tab.goto(f"{address}/book/ledger.html")
    assert tab.locator(".article-header-buttons").count() == 1
    assert tab.locator(".lowdim-code-switch").count() == 0


def test_paper_has_the_lemmas_and_no_folded_code(tab: Any, address: str) -> None:
    tab.goto(f"{address}/{HERE}")
    asis = tab.evaluate(SHOWN)
    tab.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    tab.emulate_media(media="print")
    assert tab.evaluate(SHOWN) == asis
    assert tab.locator("#ruling-hashing-lemma-5").is_visible()
    assert not tab.locator(".lowdim-code-switch").is_visible()
    tab.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert not tab.locator("#ruling-hashing-lemma-5").is_visible()
