"""The ledger, errata and reported in a browser: choices, counts, the address, and citing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from lowdim.publish import chapters
from lowdim.publish.site import book as site

pytestmark = [pytest.mark.book, pytest.mark.browser]

WIDE, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
SHOWN = """name => [...document.querySelectorAll(name)].filter(e => e.checkVisibility())
  .map(e => e.id.replace(/-verdict$/, ''))"""
CUT = """() => [...document.querySelectorAll('article.bd-article *')].filter(e => {
    const box = e.getBoundingClientRect();
    return box.width > 1 && (box.right > innerWidth + 1 || box.left < -1);
  }).map(e => e.tagName + '.' + e.className)"""


@pytest.fixture(scope="module")
def claims() -> list[site.Claim]:
    """Every claim of the book, from the records that its pages were made of."""
    return list(site.load(chapters.find_root()).claims.values())


@pytest.fixture(scope="module")
def contexts(browser: Any) -> Iterator[Callable[..., Any]]:
    """Tabs by size, with scripts and without; formulas stay as they are, which is quicker."""
    made: dict[tuple[int, bool], Any] = {}

    def tab(size: dict[str, int], *, scripts: bool = True) -> Any:
        key = (size["width"], scripts)
        if key not in made:
            context = browser.new_context(viewport=size, java_script_enabled=scripts)
            context.grant_permissions(["clipboard-read", "clipboard-write"])
            context.route(re.compile("mathjax"), lambda route: route.abort())
            made[key] = context.new_page()
        return made[key]

    yield tab
    for page in made.values():
        page.context.close()


@pytest.fixture(params=[WIDE, PHONE], ids=["wide", "phone"])
def tab(request: pytest.FixtureRequest, contexts: Callable[..., Any]) -> Any:
    """A tab at 1440 and at 390 pixels."""
    return contexts(request.param)


def go(tab: Any, address: str) -> None:
    """Open a page; its scripts have run then."""
    tab.goto("about:blank")
    tab.goto(address, wait_until="domcontentloaded")


def counted(tab: Any, name: str) -> dict[str, int]:
    """The counts beside the choices ``name``."""
    pairs = tab.eval_on_selector_all(
        f".filter-choice:has(input[name={name}])",
        """labels => labels.map(label =>
          [label.control.value, +label.querySelector('.filter-count').textContent])""",
    )
    return {value: count for value, count in pairs if count}


def tick(tab: Any, name: str, value: str) -> None:
    """Tick a box as a reader does, unfolding the choices where they are folded."""
    box = tab.locator(f"input[name={name}][value={value}]")
    if not box.is_visible():
        tab.locator(".filter-panel > summary").click()
    box.check()


def test_the_address_chooses(tab: Any, address: str, claims: list[site.Claim]) -> None:
    query = "verdict=refuted,repaired&part=hashing,embedded&kind=lemma"
    go(tab, f"{address}/book/ledger.html?{query}")
    fit = [c for c in claims if c.part in ("hashing", "embedded") and c.kind == "lemma"]
    expected = [c.id for c in fit if c.verdict in ("refuted", "repaired")]
    assert 0 < len(expected) < len(claims)
    order = [c.id for part in ("embedded", "hashing") for c in claims if c.part == part]
    assert tab.evaluate(SHOWN, ".ledger-row") == [name for name in order if name in expected]
    said = f"Showing {len(expected)} of {len(claims)} claims."
    assert tab.locator(".filter-shown").text_content() == said
    verdicts = [c.verdict for c in fit]  # a count leaves its own choice out
    assert counted(tab, "verdict") == {v: verdicts.count(v) for v in set(verdicts)}
    assert tab.locator("h2:visible").count() == len({c.partition(".")[0] for c in expected})
    assert tab.evaluate(CUT) == []


def test_choices_go_to_the_address_and_back(tab: Any, html: Path, claims: list[site.Claim]) -> None:
    go(tab, (html / "book" / "ledger.html").as_uri())  # from a file: no server
    assert len(tab.evaluate(SHOWN, ".ledger-row")) == len(claims)
    tick(tab, "tag", "vacuous")
    tick(tab, "part", "hashing")
    expected = [c.id for c in claims if c.part == "hashing" and "vacuous" in c.tags]
    assert sorted(tab.evaluate(SHOWN, ".ledger-row")) == sorted(expected)
    assert tab.evaluate("location.search") == "?tag=vacuous&part=hashing"
    tab.locator("input[name=text]").fill("no such word")
    assert tab.locator(".filter-empty").is_visible()
    assert tab.evaluate("location.search").endswith("&text=no+such+word")
    tab.locator(".filter-reset").click()
    assert not tab.locator(".filter-empty").is_visible()
    tab.locator("input[name=text]").fill("projector \\operatorname{rank}")  # words, and TeX
    found = tab.evaluate(SHOWN, ".ledger-row")
    assert "preserve.equation-3" in found and len(found) < 20
    tab.locator("input[name=text]").fill(claims[0].id)
    assert claims[0].id in tab.evaluate(SHOWN, ".ledger-row")
    tab.locator("button[type=reset]").click()
    assert len(tab.evaluate(SHOWN, ".ledger-row")) == len(claims)
    assert tab.evaluate("location.search") == ""


def test_claims_sort_by_name_and_verdict_and_back(
    contexts: Callable[..., Any], address: str
) -> None:
    tab = contexts(WIDE)
    go(tab, f"{address}/book/ledger.html")
    before = tab.evaluate(SHOWN, ".ledger-row")
    order = tab.locator("select[name=sort]")
    order.select_option("verdict")
    values = tab.eval_on_selector_all(".ledger-row", "es => es.map(e => e.dataset.verdict)")
    legend = tab.eval_on_selector_all("input[name=verdict]", "es => es.map(e => e.value)")
    assert values == sorted(values, key=legend.index) and len(set(values)) > 1
    order.select_option("name")
    names = tab.eval_on_selector_all(".ledger-row", "es => es.map(e => e.dataset.name)")
    assert names.index("Lemma 4.1") < names.index("Lemma 10") < names.index("Theorem 3.1")
    assert tab.locator("h2:visible").count() == 0 and "sort=name" in tab.url
    order.select_option("book")
    assert tab.evaluate(SHOWN, ".ledger-row") == before


def test_a_link_to_a_claim_shows_it(
    contexts: Callable[..., Any], address: str, claims: list[site.Claim]
) -> None:
    tab = contexts(WIDE)
    refuted = [c.id for c in claims if c.verdict == "refuted"][-1]
    go(tab, f"{address}/book/ledger.html?verdict=holds#{refuted}-verdict")
    row = tab.locator(f"[id='{refuted}-verdict']")
    assert row.is_visible() and row.evaluate("e => Math.abs(e.getBoundingClientRect().top) < 400")


def test_an_entry_is_copied(tab: Any, address: str, claims: list[site.Claim]) -> None:
    wanted = claims[3]
    go(tab, f"{address}/book/ledger.html?text={wanted.id}")
    row = tab.locator(f"[id='{wanted.id}-verdict']")
    button = row.get_by_role("button", name=f"Cite {wanted.name}")
    button.focus()
    tab.keyboard.press("Enter")
    row.get_by_text("Copied as BibTeX").wait_for()
    copied = tab.evaluate("navigator.clipboard.readText()")
    assert copied.startswith(f"@misc{{lowdim:{wanted.id},")
    assert copied == row.locator("pre").inner_text()
    assert button.get_attribute("aria-expanded") == "true"
    assert tab.evaluate(CUT) == []


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_without_scripts_everything_is_there(
    contexts: Callable[..., Any], address: str, claims: list[site.Claim], size: dict[str, int]
) -> None:
    tab = contexts(size, scripts=False)
    go(tab, f"{address}/book/ledger.html?verdict=refuted")
    assert tab.locator(".ledger-row:visible").count() == len(claims)
    assert tab.locator(".filter-meaning:visible").count() > 8
    assert tab.locator(".lowdim-filter :is(input, select, button):visible").count() == 0
    entry = tab.locator("details.lowdim-cite").first
    entry.locator("summary").click()
    assert entry.locator("pre").is_visible()
    cite = tab.locator(".ledger-row a.lowdim-cite").first  # of a claim: the file of all entries
    assert (cite.get_attribute("href") or "").endswith("lowdim.bib") and cite.is_visible()


def test_errata_and_comparisons_are_chosen_likewise(
    tab: Any, address: str, claims: list[site.Claim]
) -> None:
    go(tab, f"{address}/book/errata.html?part=collapse")
    slips = sum(len(c.errata) for c in claims if c.part == "collapse")
    assert len(tab.evaluate(SHOWN, ".errata-row")) == slips
    assert counted(tab, "part")["hashing"] == sum(
        len(c.errata) for c in claims if c.part == "hashing"
    )
    assert tab.evaluate(CUT) == []
    go(tab, f"{address}/book/reported.html?agrees=yes&part=embedded")
    lines = [line for c in claims if c.part == "embedded" for line in c.reported]
    agreeing = sum(line["agrees"] is True for line in lines)
    assert len(tab.evaluate(SHOWN, ".reported-row")) == agreeing
    tab.locator("button[type=reset]").click()
    assert len(tab.evaluate(SHOWN, ".reported-row")) == sum(len(c.reported) for c in claims)
    assert tab.evaluate(CUT) == []
    if tab.viewport_size == PHONE:  # cards: a cell has the width of its card
        cell = tab.locator(".reported-row td").nth(1)
        assert cell.bounding_box()["width"] > 300
