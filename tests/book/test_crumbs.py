"""Where a page stands, in a browser: the way back, the contents beside it, signs to link to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lowdim.publish import chapters

pytestmark = [pytest.mark.book, pytest.mark.browser]

CHAPTER = "notebooks/embedded/theorem_3_1.html"


@pytest.fixture(scope="module", params=[1440, 390])
def tab(browser: Any, request: pytest.FixtureRequest) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": request.param, "height": 900})
    yield context.new_page()
    context.close()


def test_the_way_leads_back_to_the_part_and_to_the_book(tab: Any, address: str) -> None:
    tab.goto(f"{address}/{CHAPTER}")
    way = tab.locator("nav[aria-label=Breadcrumbs]")
    assert way.locator("li").all_inner_texts() == ["Book", "Part III: Embedded", "Theorem 3.1"]
    assert way.locator("[aria-current=page]").inner_text() == "Theorem 3.1"
    assert way.bounding_box()["y"] < tab.locator("h1:visible").first.bounding_box()["y"]
    way.get_by_text("Part III: Embedded").click()
    tab.wait_for_url(re.compile(r"/book/embedded\.html$"))
    assert way.locator("li").all_inner_texts() == ["Book", "Part III: Embedded"]
    way.get_by_text("Book").click()
    tab.wait_for_url(re.compile(r"/book/index\.html$"))
    assert way.count() == 0


def test_a_window_names_the_paper(html: Path, chapter: str) -> None:
    name = chapter.removeprefix("notebooks/").removesuffix(".html")
    claims = chapters.load(name).claims
    if all(claim.partition(".")[2].startswith("new-") for claim in claims):
        return  # all of it is this book's
    title = re.search(r"<title>(.*?)</title>", (html / chapter).read_text(encoding="utf-8"), re.S)
    assert title and re.search(r" \([^()]+ \d{4}\)", title[1])


def test_the_contents_say_nothing_twice(html: Path) -> None:
    page = (html / CHAPTER).read_text(encoding="utf-8")
    beside = re.search(r'<nav class="bd-links.*?</nav>', page, re.DOTALL)
    assert beside
    said = re.findall(r">([^<>]*\w[^<>]*)<", beside[0])
    assert len(said) > 50
    assert sorted(said) == sorted(set(said))


@pytest.mark.parametrize("place", [".lowdim-box", "div.exercise", "figure:has(figcaption)"])
def test_a_box_has_a_sign_to_link_to(tab: Any, address: str, place: str) -> None:
    tab.goto(f"{address}/{CHAPTER}")
    box = tab.locator(f".bd-article {place}:visible").first
    sign = box.locator("a.box-link, a.headerlink").first
    sign.focus()
    shown = (
        "e => getComputedStyle(e).visibility === 'visible' && getComputedStyle(e).opacity === '1'"
    )
    tab.wait_for_function(shown, arg=sign.element_handle())
    target = sign.get_attribute("href").removeprefix("#")
    assert tab.locator(f"[id='{target}']").count() == 1
    sign.evaluate("e => e.blur()")
    box.hover(position={"x": 20, "y": 8})
    visible = "e => getComputedStyle(e).visibility === 'visible'"
    tab.wait_for_function(visible, arg=sign.element_handle())
