"""Fold bars and the switch for code in a browser: by click and key, remembered, on paper."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.book, pytest.mark.browser]

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


def test_no_two_certificates_of_a_page_have_the_same_bar(html: Path, chapter: str) -> None:
    text = (html / chapter).read_text(encoding="utf-8")
    folded = text.split('<details class="lowdim-certificate')[1:]
    bars = [each.partition("<summary>")[2].partition("</summary>")[0] for each in folded]
    assert all(bar.startswith("Certificate for ") for bar in bars)
    assert len({bar.partition(":")[0] for bar in bars}) == len(bars)


def test_no_page_shows_the_code_that_rules(html: Path, chapter: str) -> None:
    text = (html / chapter).read_text(encoding="utf-8")
    cells = text.split('<div class="cell_input')
    for before, cell in pairwise(cells):
        if '<span class="n">verdict</span><span class="p">(' in cell.partition("</pre>")[0]:
            assert before.rstrip().endswith("</summary>"), "not in a fold"


def test_the_cell_that_rules_is_folded(tab: Any, address: str) -> None:
    tab.goto(f"{address}/{NEXT}")  # its tags do not ask for it
    bars = tab.locator("details.lowdim-fold > summary", has_text="how each claim is ruled")
    assert bars.count() >= 1
    code = bars.last.locator("xpath=..").locator(".cell_input")
    assert "verdict(" in (code.text_content() or "") and not code.is_visible()
    bars.last.focus()
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


MASKS = """async () => {
  const all = [...document.querySelectorAll('div.cell pre')].filter(e => e.checkVisibility());
  const mask = async e => {
    await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
    return getComputedStyle(e).maskImage !== 'none';
  };
  const long = all.find(e => e.scrollWidth > e.clientWidth + 40);
  const short = all.find(e => e.scrollWidth <= e.clientWidth);
  const seen = [short ? await mask(short) : false, long ? await mask(long) : true];
  if (long) long.scrollLeft = long.scrollWidth;
  return [...seen, long ? await mask(long) : false, Boolean(long)];
}"""


def test_code_that_goes_on_to_the_right_fades_there(tab: Any, address: str) -> None:
    tab.goto(f"{address}/{HERE}")
    short, long, read, found = tab.evaluate(MASKS)
    assert (short, long, read) == (False, True, False)
    assert found or tab.viewport_size["width"] > 600


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
    assert tab.locator("#ruling-hashing-lemma-38").is_visible()
    assert not tab.locator(".lowdim-code-switch").is_visible()
    bars = tab.locator("details.lowdim-fold.above-input:not(.lowdim-fold-output)")
    assert bars.count() > 0 and not bars.first.is_visible(), "what cannot be opened on paper"
    tab.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert not tab.locator("#ruling-hashing-lemma-38").is_visible()
