"""What a link leads to, shown beside it: in a real browser, from disk, wide and narrow."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.book, pytest.mark.browser, pytest.mark.xdist_group("browser")]

DATA = re.compile(r'<script type="application/json" id="lowdim-previews">(.*?)</script>', re.S)
MOST = 200_000  # bytes of previews in a page
KINDS = {
    "statement": "div.proof, p",
    "equation": ".math mjx-container",
    "figure": "img",
    "exercise": "p",
    "reference": "p",
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
PRESS = """link => {
  const box = link.getBoundingClientRect();
  const touch = new Touch({identifier: 1, target: link, clientX: box.x + 2, clientY: box.y + 2});
  link.dispatchEvent(new TouchEvent('touchstart',
    {touches: [touch], changedTouches: [touch], bubbles: true, cancelable: true}));
}"""


def cards(path: Path) -> tuple[list[dict[str, str]], str]:
    """The previews of a page, and its text."""
    text = path.read_text(encoding="utf-8")
    found = DATA.search(text)
    return (json.loads(found[1]) if found else []), text


@pytest.fixture(scope="module")
def places(html: Path) -> dict[str, tuple[str, int]]:
    """For each kind a page with a link to such a thing, and the number of its card."""
    found: dict[str, tuple[str, int]] = {}
    for path in sorted(html.glob("notebooks/**/*.html")):
        for number, card in enumerate(cards(path)[0]):
            found.setdefault(card["kind"], (path.relative_to(html).as_posix(), number))
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


def test_every_page_keeps_its_previews_small_and_complete(html: Path) -> None:
    total = 0
    for path in sorted(html.glob("[bn]*o*k*/**/*.html")):
        found, text = cards(path)
        total += len(found)
        numbers = {int(n) for n in re.findall(r'<a data-preview="(\d+)"', text)}
        assert set(range(len(found))) <= numbers, path
        assert len(json.dumps(found, ensure_ascii=False).encode()) < MOST, path
        for card in found:
            assert not re.search(r'\sid="|<a\b|<script', card["html"]), path
            for image in re.findall(r'src="([^"]+)"', card["html"]):
                assert (path.parent / image).resolve().is_file(), path
    assert total > 300


def test_a_claim_is_shown_with_its_verdict(html: Path) -> None:
    found, _ = cards(html / "book" / "ledger.html")
    stated = [card for card in found if card["kind"] == "statement"]
    assert len(stated) > 100
    assert all('class="verdict' in card["html"] for card in stated)


@pytest.mark.parametrize("kind", list(KINDS))
def test_hovering_shows_what_is_meant(
    tab: Any, html: Path, places: dict[str, tuple[str, int]], kind: str
) -> None:
    page, number = places[kind]
    tab.goto(f"{html.as_uri()}/{page}")
    tab.evaluate("window.MathJax?.startup?.promise")
    link = tab.locator(f"a[data-preview='{number}']").first
    link.scroll_into_view_if_needed()
    link.hover()
    card = tab.locator(SHOWN)
    card.locator(KINDS[kind]).first.wait_for()
    tab.wait_for_function("e => e.getAttribute('aria-describedby')", arg=link.element_handle())
    assert link.get_attribute("aria-describedby") == card.get_attribute("id")
    assert link.evaluate(WELL_PLACED) == [True, False]
    tab.emulate_media(media="print")
    assert not card.is_visible()
    tab.emulate_media(media="screen")
    tab.mouse.move(2, 2)
    card.wait_for(state="hidden")


def test_focus_shows_it_and_escape_dismisses_it(
    tab: Any, html: Path, places: dict[str, tuple[str, int]]
) -> None:
    page, number = places["reference"]
    tab.goto(f"{html.as_uri()}/{page}")
    link = tab.locator(f"a[data-preview='{number}']").first
    tab.keyboard.press("Tab")  # from here on the browser shows where the focus is
    link.focus()
    tab.locator(SHOWN).wait_for()
    tab.keyboard.press("Escape")
    tab.locator(SHOWN).wait_for(state="hidden")
    assert link.evaluate("e => e === document.activeElement")
    assert link.get_attribute("aria-describedby") is None


@pytest.mark.parametrize("kind", ["statement", "figure"])
def test_a_long_press_opens_a_sheet_on_a_phone(
    phone: Any, html: Path, places: dict[str, tuple[str, int]], kind: str
) -> None:
    page, number = places[kind]
    phone.goto(f"{html.as_uri()}/{page}")
    link = phone.locator(f"a[data-preview='{number}']").first
    link.scroll_into_view_if_needed()
    link.evaluate(PRESS)
    sheet = phone.locator(f"{SHOWN}.lp-sheet")
    sheet.locator(".lp-close").wait_for()
    phone.wait_for_function("e => e.getAttribute('aria-describedby')", arg=link.element_handle())
    assert link.evaluate(WELL_PLACED) == [True, False]
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390
    sheet.locator(".lp-close").click()
    sheet.wait_for(state="hidden")
