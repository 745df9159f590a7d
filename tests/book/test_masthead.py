"""Mastheads and boxes as a reader meets them: on the first screen, folded, linked to, in colour."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

pytestmark = [pytest.mark.book, pytest.mark.browser]

WIDE = {"width": 1440, "height": 900}
PHONE = {"width": 390, "height": 844}
# One of each part, the longest mastheads among them.
CHAPTERS = (
    "preserve/lemma_4_3",
    "collapse/proposition_4_1",
    "embedded/noise_as_regularizer",
    "hashing/generalization",
)

TYPESET = """async () => {
  while (!(window.MathJax && MathJax.startup && MathJax.startup.promise))
    await new Promise(done => setTimeout(done, 20));
  await MathJax.startup.promise;
}"""
PLACES = """() => {
  const head = document.querySelector('.lowdim-masthead'), box = head.getBoundingClientRect();
  let next = head.nextElementSibling;
  const question = next.getBoundingClientRect();
  const shown = [...document.querySelectorAll('.bd-article .cell_output :is(img, figure, table)')];
  const picture = shown.find(e => e.checkVisibility()).getBoundingClientRect();
  return {head: box.bottom, question: question.bottom, asks: next.tagName, picture: picture.top,
          wide: document.documentElement.scrollWidth};
}"""
SHOWN = "e => e.checkVisibility({contentVisibilityAuto: true}) && e.getBoundingClientRect().height"


@pytest.fixture(scope="module")
def visit(browser: Any, address: str) -> Iterator[Callable[..., Any]]:
    """Open a page in a window of a size, in a scheme."""
    opened: list[Any] = []

    def open_page(page: str, size: dict[str, int], scheme: str = "light") -> Any:
        context = browser.new_context(viewport=size, reduced_motion="reduce", color_scheme=scheme)
        opened.append(context)
        tab = context.new_page()
        tab.goto(f"{address}/notebooks/{page}")
        tab.evaluate(TYPESET)
        return tab

    yield open_page
    for context in opened:
        context.close()


@pytest.mark.parametrize("name", CHAPTERS)
def test_masthead_question_and_picture_begin_on_the_first_screen(
    name: str, visit: Callable[..., Any]
) -> None:
    places = visit(f"{name}.html", WIDE).evaluate(PLACES)
    assert places["asks"] == "P"
    assert places["head"] < places["question"] < places["picture"] < WIDE["height"] - 40, places


def test_on_a_phone_long_parts_are_folded_and_open_by_key(visit: Callable[..., Any]) -> None:
    tab = visit("hashing/table_1.html", PHONE)
    more = tab.locator(".masthead-more")
    assert tab.evaluate(PLACES)["wide"] <= PHONE["width"]
    assert not more.evaluate("e => e.open")
    columns = "e => getComputedStyle(e).gridTemplateColumns.split(' ').length"
    assert tab.locator("dl.masthead-list").first.evaluate(columns) == 1
    more.locator("summary").focus()
    tab.keyboard.press("Enter")
    assert more.evaluate("e => e.open")
    tab.set_viewport_size(WIDE)
    assert more.evaluate("e => e.open") and not more.locator("summary").is_visible()


@pytest.mark.parametrize(("size", "shown"), [(WIDE, "claim-wide"), (PHONE, "claim-narrow")])
def test_the_claims_around_a_chapter_unfold_and_lead_to_their_statements(
    size: dict[str, int], shown: str, visit: Callable[..., Any]
) -> None:
    tab = visit("embedded/theorem_2_4.html", size)
    folded = tab.locator(".masthead-graph")
    drawing = folded.locator(f".{shown} svg")
    assert not drawing.evaluate(SHOWN)
    folded.locator("summary").focus()
    tab.keyboard.press("Enter")
    assert drawing.evaluate(SHOWN) and folded.locator("svg:visible").count() == 1
    assert drawing.evaluate("e => e.getBoundingClientRect().right") <= size["width"]
    assert tab.evaluate(PLACES)["wide"] <= size["width"]
    assert drawing.locator("a.node.own").count() > 5
    other = drawing.locator("a.node:not(.own)").first
    other.focus()
    assert "looking" in drawing.get_attribute("class").split()
    name = other.get_attribute("data-claim")
    tab.keyboard.press("Enter")
    tab.wait_for_url(re.compile(rf"/gradient_flow\.html#{re.escape(name)}$"))


def test_a_link_into_a_folded_box_opens_it(visit: Callable[..., Any]) -> None:
    tab = visit("hashing/loss_and_distances.html", WIDE)
    folded = tab.locator(".lowdim-box.box-folded").first
    anchor = folded.get_attribute("id")
    inside, details = folded.locator(".box-body"), folded.locator("details")
    assert not inside.evaluate(SHOWN)
    folded.locator(".box-link").click()
    assert inside.evaluate(SHOWN) and tab.url.endswith(f"#{anchor}")
    details.evaluate("e => { e.open = false; }")
    folded.locator(".box-link").click()  # the address does not change
    tab.wait_for_function("e => e.open", arg=details.element_handle())
    fresh = visit(f"hashing/loss_and_distances.html#{anchor}", PHONE)
    again = fresh.locator(f'[id="{anchor}"]')
    assert again.locator(".box-body").evaluate(SHOWN)
    top = again.evaluate("e => e.getBoundingClientRect().top")
    assert -1 <= top < PHONE["height"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_edge_has_the_colour_of_the_verdict(scheme: str, visit: Callable[..., Any]) -> None:
    tab = visit("hashing/loss_and_distances.html", PHONE, scheme)
    edge = "e => getComputedStyle(e).borderLeftColor"
    colours = {
        tone: tab.locator(f".lowdim-box.box-{tone}").first.evaluate(edge)
        for tone in ("stands", "mended", "false", "ours")
    }
    assert len(set(colours.values())) == 4, colours
    assert tab.locator(".lowdim-box .box-badge, .lowdim-box .verdict").count() > 4


def test_on_paper_everything_is_open(visit: Callable[..., Any]) -> None:
    tab = visit("hashing/loss_and_distances.html", PHONE)
    assert not tab.locator(".box-folded .box-body").first.evaluate(SHOWN)
    tab.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    bodies = tab.locator(".box-folded .box-body, .masthead-more dl")
    assert all(bodies.nth(i).evaluate(SHOWN) for i in range(bodies.count()))
    tab.evaluate("() => dispatchEvent(new Event('afterprint'))")
    assert not tab.locator(".box-folded .box-body").first.evaluate(SHOWN)
