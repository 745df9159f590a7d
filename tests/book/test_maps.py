"""Kept maps on their pages, in a browser: there, inside the page, legible wide and narrow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lowdim.publish import maps

pytestmark = [pytest.mark.book, pytest.mark.browser]

ROOT = Path(__file__).resolve().parents[2]
NAMES = sorted(f"{p.parent.name}/{p.stem}" for p in (ROOT / maps.FOLDER).glob("*/*.json"))
SMALLEST = 9.0  # pixels of text that can be read

TEXTS = """svg => [...svg.querySelectorAll('text')].map(text => {
  const box = text.getBoundingClientRect(), scale = svg.getBoundingClientRect().width / 360;
  return {size: parseFloat(getComputedStyle(text).fontSize) * scale,
          left: box.left, right: box.right, ink: getComputedStyle(text).fill};
})"""
CELLS = """svg => [...svg.querySelectorAll('.lowdim-map-cell')].map(cell => {
  const [text, rect] = ['text', 'rect'].map(n => cell.querySelector(n).getBoundingClientRect());
  return text.width <= rect.width && rect.width > 0;
})"""


@pytest.fixture(scope="module", params=[1440, 390])
def tab(browser: Any, request: pytest.FixtureRequest) -> Iterator[Any]:
    size = {"width": request.param, "height": 900}
    context = browser.new_context(viewport=size, reduced_motion="reduce", color_scheme="light")
    yield context.new_page()
    context.close()


@pytest.mark.parametrize("name", NAMES)
def test_a_map_is_on_its_page_and_can_be_read(tab: Any, address: str, name: str) -> None:
    kept = maps.read(ROOT, name)
    assert kept is not None
    tab.goto(f"{address}/notebooks/{name}.html", wait_until="load")
    figure = tab.locator("figure.lowdim-map").first
    svg = figure.locator("svg.lowdim-map-drawing")
    assert svg.is_visible()
    assert len(svg.get_attribute("aria-label")) > 40
    across, up = (len(axis["values"]) for axis in kept["axes"])
    fits = svg.evaluate(CELLS)
    assert len(fits) == across * up
    assert all(fits), "a number is wider than its cell"
    width = tab.evaluate("document.documentElement.clientWidth")
    texts = svg.evaluate(TEXTS)
    assert min(text["size"] for text in texts) >= SMALLEST
    assert min(text["left"] for text in texts) >= 0
    assert max(text["right"] for text in texts) <= width
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    figure.locator("summary").click()
    assert figure.locator("table").is_visible()
    assert figure.locator("tbody tr").count() == up
    assert "lowdim sweep " + name in figure.locator("details pre").inner_text()


def test_a_map_changes_its_ink_in_the_dark(tab: Any, address: str) -> None:
    tab.goto(f"{address}/notebooks/{NAMES[0]}.html", wait_until="load")
    svg = tab.locator("svg.lowdim-map-drawing").first
    inks = []
    for theme in ("light", "dark"):
        tab.evaluate("name => { document.documentElement.dataset.theme = name; }", theme)
        inks.append({text["ink"] for text in svg.evaluate(TEXTS)})
    assert len(inks[0]) == len(inks[1]) == 1
    assert inks[0] != inks[1]
