"""The graph of claims as a reader meets it: links, keys, pointer, phone, paper."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urljoin

import pytest

pytestmark = [pytest.mark.book, pytest.mark.browser]

LAPTOP = {"width": 1440, "height": 900}
PHONE = {"width": 390, "height": 844}
PARTS = ("preserve", "collapse", "embedded", "hashing", "bridge")
PAGES = ["book/graph.html", *(f"book/{part}.html" for part in PARTS)]
# The drawing that can be seen, and where in the window it ends.
SEEN = """() => [...document.querySelectorAll('svg.claim-graph')].filter(e => e.checkVisibility())
  .map(e => [e.parentElement.className, e.getBoundingClientRect().right])"""


@pytest.fixture(scope="module")
def tab(browser: Any) -> Iterator[Any]:
    context = browser.new_context(viewport=LAPTOP, reduced_motion="reduce", color_scheme="light")
    yield context.new_page()
    context.close()


@pytest.mark.parametrize("where", PAGES)
def test_every_link_of_the_graph_leads_to_a_statement(html: Path, where: str) -> None:
    text = (html / where).read_text(encoding="utf-8")
    area = text[text.index('class="claim-figure"') :]
    links = set(re.findall(r'<a [^>]*class="node[^"]*"[^>]*href="([^"]*)"', area))
    if where == "book/graph.html":
        links |= set(re.findall(r'<a [^>]*href="(\.\./notebooks[^"]*#[^"]*)"', area))
    assert len(links) > (2 if where == "book/bridge.html" else 15)
    ids: dict[str, set[str]] = {}
    for link in links:
        target, _, place = urljoin(where, link).partition("#")
        if target not in ids:
            ids[target] = set(re.findall(r'id="([^"]*)"', (html / target).read_text("utf-8")))
        assert unquote(place) in ids[target], link


@pytest.mark.parametrize("where", PAGES)
@pytest.mark.parametrize(("size", "shown"), [(LAPTOP, "claim-wide"), (PHONE, "claim-narrow")])
def test_each_width_has_its_drawing(
    tab: Any, address: str, where: str, size: dict[str, int], shown: str
) -> None:
    tab.set_viewport_size(size)
    tab.goto(f"{address}/{where}")
    ((found, right),) = tab.evaluate(SEEN)
    assert found == shown and right <= size["width"]


def test_looking_at_a_node_leaves_what_it_rests_on_and_what_rests_on_it(
    tab: Any, address: str
) -> None:
    tab.set_viewport_size(LAPTOP)
    tab.goto(f"{address}/book/preserve.html")
    node = tab.locator(".claim-wide a.node[data-claim='preserve.new-noise-constant']")
    lit = tab.locator(".claim-wide a.node.lit")
    assert lit.count() == 0
    node.hover()
    names = lit.evaluate_all("all => all.map(e => e.dataset.claim)")
    assert {"preserve.new-noise-constant", "preserve.lemma-4-1", "preserve.section-b"} <= set(names)
    assert "preserve.new-connectivity" not in names
    faint = tab.locator(".claim-wide a.node[data-claim='preserve.new-connectivity']")
    assert float(faint.evaluate("e => getComputedStyle(e).opacity")) < 0.5
    tab.mouse.move(0, 0)
    assert lit.count() == 0


# Within the drawing: above it formulas are still being set.
PLACE = """() => {
  const place = (e) => e.getBoundingClientRect().top;
  return Math.round(place(document.activeElement) - place(document.activeElement.ownerSVGElement));
}"""


def test_keys_go_through_the_nodes_from_the_top_and_follow_one(tab: Any, address: str) -> None:
    tab.set_viewport_size(LAPTOP)
    tab.goto(f"{address}/book/collapse.html")
    tab.locator(".claim-wide a.node").first.focus()
    seen = []
    for _ in range(6):
        seen.append(tab.evaluate(PLACE))
        assert tab.locator(".claim-wide svg.looking").count() == 1
        tab.keyboard.press("Tab")
    assert seen == sorted(seen)
    name = tab.evaluate("document.activeElement.dataset.claim")
    tab.keyboard.press("Enter")
    tab.wait_for_url(re.compile(r"/notebooks/.*#" + re.escape(name)))


def test_the_table_has_every_claim_once_and_its_numbers_are_the_pages(
    tab: Any, address: str
) -> None:
    tab.set_viewport_size(LAPTOP)
    tab.goto(f"{address}/book/graph.html")
    rows = tab.locator("table.claim-uses tbody tr").count()
    text = tab.locator("article").inner_text()
    said = re.search(r"Of (\d+) claims (\d+) use .*? (\d+) times .*? other (\d+) stand alone", text)
    assert said is not None
    claims, drawn, uses, alone = map(int, said.groups())
    assert rows == claims == drawn + alone
    assert tab.locator(".claim-wide a.node").count() == drawn
    assert tab.locator(".claim-wide .edge").count() == uses
    shaken = int(re.search(r"and (\d+) rest on one of these", text)[1])  # type: ignore[index]
    assert tab.locator(".claim-wide a.node.shaken").count() == shaken
    assert tab.locator("table.claim-uses td:last-child:not(.none)").count() == shaken


def test_a_node_tells_its_verdict_to_those_who_cannot_see_it(tab: Any, address: str) -> None:
    tab.set_viewport_size(LAPTOP)
    tab.goto(f"{address}/book/graph.html")
    node = tab.get_by_role("link", name=re.compile(r"^Section 5: refuted"))
    assert node.count() >= 1
    titles = tab.locator(".claim-wide a.node title").all_text_contents()
    assert not [title for title in titles if "$" in title or "\\" in title]


def test_paper_gets_the_wide_drawing(tab: Any, address: str) -> None:
    tab.set_viewport_size(PHONE)
    tab.goto(f"{address}/book/preserve.html")
    tab.emulate_media(media="print")
    ((found, _),) = tab.evaluate(SEEN)
    tab.emulate_media(media="screen")
    assert found == "claim-wide"
