"""The verdict in a browser: one table, its runs beside it, on a laptop and on a phone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.book, pytest.mark.browser]

MANY = "notebooks/hashing/theorem_3.html"
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module", params=[1440, 390])
def tab(browser: Any, request: pytest.FixtureRequest) -> Iterator[Any]:
    context = browser.new_context(
        viewport={"width": request.param, "height": 900}, reduced_motion="reduce"
    )
    yield context.new_page()
    context.close()


def test_a_verdict_has_a_row_for_every_claim(html: Path, chapter: str) -> None:
    name = chapter.removeprefix("notebooks/").removesuffix(".html")
    record = json.loads((ROOT / "_build" / "records" / f"{name}.json").read_text())
    text = (html / chapter).read_text(encoding="utf-8")
    for claim in record["claims"]:
        place = "ruling-" + claim["id"].replace(".", "-")
        assert text.count(f'id="{place}"') == 1, place
    verdict = text.partition('<section id="verdict">')[2].partition("<h2>")[2].partition("<h2>")[0]
    assert verdict.index("lowdim-climax") < (verdict + "cell_input").index("cell_input")
    assert "<th>tightness" not in verdict and ">tightness<" not in verdict


def test_the_verdict_is_a_table_or_cards(tab: Any, address: str) -> None:
    tab.goto(f"{address}/{MANY}")
    wide = tab.viewport_size["width"] > 600
    row = tab.locator(".lowdim-climax > table .lowdim-ruling").first
    places = "e => [...e.querySelectorAll('td')].slice(0, 3).map(c => c.getBoundingClientRect())"
    said, *runs = row.evaluate(places)  # at one moment: formulas are still being set
    assert len({round(run["y"]) for run in runs}) == 1, "the runs stand side by side"
    if wide:
        assert runs[0]["x"] >= said["x"] + said["width"] - 1 and runs[0]["y"] == said["y"]
    else:
        assert runs[0]["y"] >= said["y"] + said["height"] - 1
        names = row.locator("td.lowdim-run").evaluate_all(
            "cells => cells.map(cell => getComputedStyle(cell, '::before').content)"
        )
        assert ["run" in name for name in names] == [True, True]
    edge = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert tab.evaluate(edge) <= 0


def test_lemmas_are_folded_and_open_by_key_and_by_link(tab: Any, address: str) -> None:
    tab.goto(f"{address}/{MANY}")
    lemma = tab.locator("#ruling-hashing-lemma-38")
    assert not lemma.is_visible()
    summary = tab.locator(".lowdim-lemmas > summary")
    assert summary.locator(".verdict").count() >= 2
    summary.focus()
    tab.keyboard.press("Enter")
    assert lemma.is_visible()
    tab.goto("about:blank")
    tab.goto(f"{address}/{MANY}#ruling-hashing-lemma-38")
    lemma.wait_for(state="visible")


def test_a_claim_leads_to_its_statement(tab: Any, address: str) -> None:
    tab.goto(f"{address}/{MANY}")
    link = tab.locator(".lowdim-climax .lowdim-ruling-head a").first
    place = (link.get_attribute("href") or "").removeprefix("#")
    box = tab.locator(f"[id='{place}']").first.locator("xpath=ancestor-or-self::div[1]")
    assert box.inner_text().startswith("Theorem 3, as printed")
