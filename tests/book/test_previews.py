"""What a link leads to, shown beside it: in a real browser, from disk, wide and narrow."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.book, pytest.mark.browser]

MOST = 60_000  # bytes of the cards of a page: they are loaded while a reader waits
KINDS = {
    "statement": ".box-title, p",
    "equation": ".math mjx-container",
    "figure": "img",
    "exercise": "p",
    "reference": "p",
    "symbol": "mjx-container",
}
SHOWN = "#lowdim-preview:not([hidden])"
# Whether the card lies in the window and not over the link.
WELL_PLACED = """link => {
  const card = document.getElementById('lowdim-preview').getBoundingClientRect();
  const inside = card.left >= 0 && card.top >= 0 && card.height > 20
    && card.right <= document.documentElement.clientWidth && card.bottom <= window.innerHeight;
  const over = [...link.getClientRects()].some(box => box.left < card.right && card.left < box.right
    && box.top < card.bottom && card.top < box.bottom);
  return [inside, over];
}"""
LINK = re.compile(r'<a data-preview="([^"#]*)#([^"]*)" data-kind="(\w+)"( data-tap)?')
LOADED = """() => document.querySelectorAll("script[src*='/previews/']").length"""
SET = "!document.querySelector('.math') || document.documentElement.dataset.formulas === 'all'"


def cards(html: Path, page: str) -> dict[str, dict[str, str]]:
    """What can be shown of a page, by its place."""
    text = (html / "_static" / "previews" / f"{page}.js").read_text(encoding="utf-8")
    return json.loads(text.partition(" = ")[2].rstrip().removesuffix(";"))["cards"]


@pytest.fixture(scope="module")
def places(html: Path) -> dict[str, tuple[str, str]]:
    """For each kind a chapter with a link to such a thing, and the link's mark."""
    found: dict[str, tuple[str, str]] = {}
    for path in sorted(html.glob("notebooks/**/*.html")):
        for page, place, kind, _ in LINK.findall(path.read_text(encoding="utf-8")):
            found.setdefault(kind, (path.relative_to(html).as_posix(), f"{page}#{place}"))
    return found


@pytest.fixture(scope="module")
def tab(browser: Any) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
    yield context.new_page()
    context.close()


@pytest.fixture(scope="module")
def phone(browser: Any) -> Iterator[Any]:
    context = browser.new_context(
        viewport={"width": 390, "height": 800}, has_touch=True, reduced_motion="reduce"
    )
    yield context.new_page()
    context.close()


def link_of(tab: Any, html: Path, place: tuple[str, str]) -> Any:
    """The page of a place opened from disk, and the first visible link with its mark."""
    tab.goto(f"{html.as_uri()}/{place[0]}")
    tab.wait_for_function(SET)  # nothing moves from here on
    link = tab.locator(f"a[data-preview='{place[1]}']:visible").first
    link.scroll_into_view_if_needed()
    return link


def test_every_link_finds_its_card_and_cards_are_small(html: Path) -> None:
    known: dict[str, dict[str, dict[str, str]]] = {}
    for path in sorted(html.rglob("*.html")):
        for page, place, kind, tap in LINK.findall(path.read_text(encoding="utf-8")):
            if page not in known:
                known[page] = cards(html, page)
            assert known[page][place]["kind"] == kind, path
            chapter = path.relative_to(html).parts[0] == "notebooks"
            assert bool(tap) == (chapter and kind != "page"), path
    assert sum(map(len, known.values())) > 500
    for page, found in known.items():
        size = (html / "_static" / "previews" / f"{page}.js").stat().st_size
        assert size < MOST, page
        for card in found.values():
            assert not re.search(r'\sid="|<a\b|<script|<details', card["html"]), page
            for image in re.findall(r'src="([^"#]+)', card["html"]):
                assert (html / image).is_file(), page


def test_every_claim_is_shown_with_its_verdict(html: Path) -> None:
    ledger = (html / "book" / "ledger.html").read_text(encoding="utf-8")
    named = re.findall(r'class="ledger-name"><a data-preview="([^"#]*)#([^"]*)"', ledger)
    assert len(named) == ledger.count('<li class="ledger-row"') > 200
    for page, place in named:
        card = cards(html, page)[place]
        assert card["kind"] == "statement" and 'class="verdict' in card["html"], place


@pytest.mark.parametrize("kind", list(KINDS))
def test_hovering_shows_what_is_meant(
    tab: Any, html: Path, places: dict[str, tuple[str, str]], kind: str
) -> None:
    link = link_of(tab, html, places[kind])
    assert tab.evaluate(LOADED) == 0  # a page does not pay for what nobody asks
    link.hover()
    card = tab.locator(SHOWN)
    card.locator(KINDS[kind]).first.wait_for()
    tab.wait_for_function("e => e.getAttribute('aria-describedby')", arg=link.element_handle())
    assert tab.evaluate(LOADED) == 1
    assert link.get_attribute("aria-describedby") == card.get_attribute("id")
    assert link.evaluate(WELL_PLACED) == [True, False]
    assert card.evaluate("e => [...e.querySelectorAll('img')].every(i => i.naturalWidth)")
    tab.emulate_media(media="print")
    assert not card.is_visible()
    tab.emulate_media(media="screen")
    card.hover()  # it may be read and scrolled
    tab.wait_for_timeout(400)
    assert card.is_visible()
    tab.mouse.move(2, 2)
    card.wait_for(state="hidden")


def test_focus_shows_it_and_escape_dismisses_it(
    tab: Any, html: Path, places: dict[str, tuple[str, str]]
) -> None:
    link = link_of(tab, html, places["reference"])
    tab.keyboard.press("Tab")  # from here on the browser shows where the focus is
    link.focus()
    tab.locator(SHOWN).wait_for()
    tab.keyboard.press("Escape")
    tab.locator(SHOWN).wait_for(state="hidden")
    assert link.evaluate("e => e === document.activeElement")
    assert link.get_attribute("aria-describedby") is None


@pytest.mark.parametrize("kind", ["statement", "figure", "symbol"])
def test_a_tap_opens_a_sheet_and_a_second_one_follows(
    phone: Any, html: Path, places: dict[str, tuple[str, str]], kind: str
) -> None:
    link = link_of(phone, html, places[kind])
    before = phone.url
    link.tap()
    sheet = phone.locator(f"{SHOWN}.lp-sheet")
    sheet.locator(".lp-close").wait_for()
    phone.wait_for_function("e => e.getAttribute('aria-describedby')", arg=link.element_handle())
    assert phone.url == before
    assert link.evaluate(WELL_PLACED) == [True, False]
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390
    phone.keyboard.press("Escape")
    sheet.wait_for(state="hidden")
    assert link.evaluate("e => e === document.activeElement")
    link.tap()
    sheet.locator(".lp-close").tap()
    sheet.wait_for(state="hidden")
    link.tap()
    sheet.wait_for()
    link.tap()
    phone.wait_for_function("before => location.href !== before", arg=before)


def test_a_link_to_a_page_is_followed_at_once(
    phone: Any, html: Path, places: dict[str, tuple[str, str]]
) -> None:
    link = link_of(phone, html, places["page"])
    before = phone.url
    link.tap()
    phone.wait_for_function("before => location.href !== before", arg=before)


def test_a_link_works_where_its_card_is_lost(
    phone: Any, html: Path, places: dict[str, tuple[str, str]]
) -> None:
    link = link_of(phone, html, places["symbol"]).element_handle()
    before = phone.url
    link.evaluate("e => e.dataset.preview = 'book/nowhere#x'")
    link.tap()
    phone.wait_for_function("before => location.href !== before", arg=before)
