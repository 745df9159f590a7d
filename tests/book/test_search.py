"""Searching the built book, opened from disk: claims first, by name, symbol and words."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

pytestmark = [pytest.mark.book, pytest.mark.browser]

LAPTOP, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 800}
FIND = """async text => {
  const {groups, instead} = await lowdimSearch.find(text);
  const short = list => list.map(e => ({name: e.name, title: e.title, part: e.part, href: e.href}));
  return {instead, ...Object.fromEntries(Object.entries(groups).map(([k, v]) => [k, short(v)]))};
}"""
INSIDE = """place => [...document.querySelectorAll(place + ', ' + place + ' a')].filter(e => {
  const box = e.getBoundingClientRect();
  return box.width && (box.left < 0 || box.right > document.documentElement.clientWidth + 1);
}).length"""


def index(html: Path) -> dict[str, list]:
    text = (html / "_static" / "search-index.js").read_text(encoding="utf-8")
    return json.loads(text.removeprefix("window.lowdimIndex = ").strip().removesuffix(";"))


@pytest.fixture(scope="module")
def open_page(browser: Any, html: Path) -> Iterator[Callable[..., Any]]:
    contexts = []

    def go(page: str, size: dict[str, int] = LAPTOP, **options: Any) -> Any:
        contexts.append(browser.new_context(viewport=size, reduced_motion="reduce", **options))
        tab = contexts[-1].new_page()
        tab.goto(f"{html.as_uri()}/{page}")
        return tab

    yield go
    for context in contexts:
        context.close()


@pytest.fixture(scope="module")
def find(open_page: Callable[..., Any]) -> Callable[[str], dict[str, Any]]:
    tab = open_page("book/index.html")
    return lambda text: tab.evaluate(FIND, text)


def test_the_index_is_small_and_every_place_in_it_exists(html: Path) -> None:
    assert (html / "_static" / "search-index.js").stat().st_size < 400_000
    assert not (html / "searchindex.js").exists()
    made = index(html)
    places: dict[str, set[str]] = {}
    for address, _, _ in made["pages"]:
        text = (html / address).read_text(encoding="utf-8")
        assert not re.search(r"<script[^>]*searchtools\.js", text)
        places[address] = set(re.findall(r'\bid="([^"]+)"', text))
    rows = [(row[5], row[6]) for row in made["claims"]]
    rows += [row[:2] for kind in ("notation", "exercises", "sections") for row in made[kind]]
    assert len(rows) > 500
    assert [(on, at) for on, at in rows if at not in places[made["pages"][on][0]]] == []


def test_a_name_finds_its_claims_of_all_parts_first(html: Path, find: Callable) -> None:
    named: dict[str, int] = {}
    for row in index(html)["claims"]:
        named[row[1]] = named.get(row[1], 0) + 1
    several = [name for name, count in named.items() if count > 1]
    for name in [*several, *list(named)[::9]]:
        first = [hit["name"] for hit in find(name)["claims"][: named[name]]]
        assert first == [name] * named[name], name


@pytest.mark.parametrize(
    ("short", "name"),
    [
        ("thm 3.1", "Theorem 3.1"),
        ("LEMMA 4.2", "Lemma 4.2"),
        ("prop 3.1", "Proposition 3.1"),
        ("eq (2.22)", "Equation 2.22"),
        ("fig. 2", "Figure 2"),
    ],
)
def test_names_may_be_shortened(find: Callable, short: str, name: str) -> None:
    found = find(short)
    assert found["claims"][0]["name"] == name
    assert found == find(name)


def test_a_repair_comes_next(find: Callable) -> None:
    found = [hit["title"] for hit in find("Proposition 4.1")["claims"]]
    assert found[1].startswith("Proposition 4.1, repaired")


def test_symbols_are_found_however_they_are_written(find: Callable) -> None:
    assert find("σ_r") == find(r"\sigma_r") == find("sigma_r")
    assert find("λ")["notation"] and find("λ")["claims"]
    assert find("Λ") == find("λ") == find(r"\lambda")


def test_all_words_must_occur_and_one_wrong_letter_is_forgiven(find: Callable) -> None:
    found = find("conserved vector")
    assert found["claims"][0]["title"] == "A conserved vector"
    assert find("conservd vectro")["instead"] == "conserved vector"
    assert find("CONSÉRVED vector")["claims"] == found["claims"]
    nothing = find("conserved zebra")
    assert not any(nothing[kind] for kind in ("claims", "notation", "exercises", "pages"))


@pytest.mark.parametrize("size", [LAPTOP, PHONE], ids=["wide", "narrow"])
def test_the_dialog_answers_while_one_types(open_page: Callable, size: dict[str, int]) -> None:
    tab = open_page("notebooks/embedded/theorem_2_4.html", size)
    tab.keyboard.press("Control+k")
    tab.locator("#pst-search-dialog input").press_sequentially("thm 3.1")
    hit = tab.locator("#pst-search-dialog a.ls-hit").first
    hit.locator("mjx-container").first.wait_for()
    assert hit.locator(".ls-name").inner_text() == "Theorem 3.1"
    assert hit.locator(".verdict").count() > 0 and hit.locator("mark").count() > 0
    assert tab.evaluate(INSIDE, "#pst-search-dialog") == 0
    tab.keyboard.press("ArrowDown")
    tab.keyboard.press("ArrowDown")
    tab.keyboard.press("ArrowUp")
    assert hit.evaluate("e => e === document.activeElement")
    tab.keyboard.press("Escape")
    assert not tab.locator("#pst-search-dialog").evaluate("e => e.open")
    tab.keyboard.press("Control+k")
    tab.keyboard.press("ArrowDown")
    address = hit.get_attribute("href") or ""
    tab.keyboard.press("Enter")
    tab.wait_for_url(re.compile(re.escape(unquote(address).replace("../", ""))))


@pytest.mark.parametrize("size", [LAPTOP, PHONE], ids=["wide", "narrow"])
def test_the_page_of_the_search_shows_groups(open_page: Callable, size: dict[str, int]) -> None:
    tab = open_page("search.html?q=singular+value", size)
    tab.locator("#search-results li a").first.wait_for()
    heads = tab.locator("#search-results h2").all_inner_texts()
    assert heads == [h for h in ("Claims", "Notation", "Exercises", "Pages") if h in heads]
    assert {"Claims", "Notation", "Pages"} <= set(heads)
    tab.locator("#search-results mjx-container").first.wait_for()
    assert tab.locator("#search-results mjx-merror").count() == 0
    assert tab.evaluate(INSIDE, "#search-results") == 0


def test_without_scripts_the_page_says_where_things_are(open_page: Callable) -> None:
    tab = open_page("search.html", java_script_enabled=False)
    assert tab.locator("article a[href$='ledger.html']").is_visible()
    assert tab.locator("article a[href$='index.html']").is_visible()
