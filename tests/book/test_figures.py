"""Ladders and figures in a browser: on a laptop and on a phone, in the light and in the dark."""

from __future__ import annotations

import re
from collections.abc import Iterator
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.book, pytest.mark.browser]

BROKEN = "notebooks/preserve/lemma_4_1.html"  # a ladder with a broken rung
PANELS = "notebooks/embedded/theorem_2_4.html"  # figures of several panels, a shared axis
LAPTOP, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}

SCHEME = """name => {
  document.documentElement.dataset.mode = name;
  document.documentElement.dataset.theme = name;
}"""

# The addresses of the images of a figure that are seen.
SHOWN = """figure => [...figure.querySelectorAll('img')]
  .filter(image => image.checkVisibility()).map(image => image.getAttribute('src'))"""


@pytest.fixture(scope="module")
def tab(browser: Any) -> Iterator[Any]:
    context = browser.new_context(viewport=LAPTOP, reduced_motion="reduce", color_scheme="light")
    yield context.new_page()
    context.close()


@pytest.fixture
def at(tab: Any, address: str) -> Any:
    """Go to a page at a size."""

    def go(page: str, size: dict[str, int]) -> Any:
        tab.set_viewport_size(size)
        tab.goto(f"{address}/{page}", wait_until="load")
        return tab

    return go


def box(found: Any) -> dict[str, float]:
    return found.evaluate("e => e.getBoundingClientRect().toJSON()")


def test_a_ladder_has_its_caption_and_number(at: Any) -> None:
    figure = at(BROKEN, LAPTOP).locator("figure:has(.lowdim-ladder)").first
    assert figure.locator("figcaption .caption-number").inner_text().startswith("Fig.")
    assert figure.get_attribute("id")
    assert figure.locator("img").count() == 0


def test_a_broken_rung_says_so_and_looks_so(at: Any) -> None:
    rungs = at(BROKEN, LAPTOP).locator(".lowdim-ladder").first.locator(".rung")
    last = rungs.last
    assert "broken on" in last.inner_text()
    colour = "e => getComputedStyle(e.querySelector('.rung-median')).fill"
    assert last.evaluate(colour) != rungs.first.evaluate(colour)


@pytest.mark.parametrize("size", [LAPTOP, PHONE], ids=["laptop", "phone"])
def test_bars_stand_beside_their_formulas_or_below_them(at: Any, size: dict[str, int]) -> None:
    ladder = at(BROKEN, size).locator(".lowdim-ladder").first
    name, bar = (box(ladder.locator(f".rung-{what}").nth(1)) for what in ("name", "bar"))
    if size is LAPTOP:
        assert bar["left"] >= name["right"] and bar["top"] < name["bottom"]
    else:
        assert bar["top"] >= name["bottom"] - 1 and bar["left"] < name["right"]
    assert bar["right"] <= size["width"] and bar["width"] > 200
    lines = ladder.locator(".rung-grid").evaluate_all(
        "lines => [...new Set(lines.map(e => Math.round(e.getBoundingClientRect().x)))].length"
    )
    assert lines == ladder.locator(".rung-axis text").count()  # one axis for all


@pytest.mark.parametrize("size", [LAPTOP, PHONE], ids=["laptop", "phone"])
def test_a_rung_tells_its_numbers_to_the_keyboard(at: Any, size: dict[str, int]) -> None:
    ladder = at(BROKEN, size).locator(".lowdim-ladder").first
    numbers = ladder.locator(".rung-numbers")
    shade = "e => getComputedStyle(e).opacity"
    assert {n.evaluate(shade) for n in numbers.all()} == {"0"}
    ladder.locator(".rung").first.focus()
    second = ladder.locator(".rung").nth(1)
    for _ in range(2):  # MathJax may have made the formula of the first a stop of its own
        ladder.page.keyboard.press("Tab")
        if second.evaluate("e => e.contains(document.activeElement)"):
            break
    assert [n.evaluate(shade) for n in numbers.all()][:3] == ["0", "1", "0"]
    assert all(word in numbers.nth(1).inner_text() for word in ("median", "worst ratio", "index"))
    assert not ladder.locator(".rung-hint").is_visible()
    second.locator(".rung-name span").first.evaluate("e => { e.tabIndex = 0; e.focus(); }")
    assert numbers.nth(1).evaluate(shade) == "1", "within a rung its numbers stay"
    inner, outer = box(numbers.nth(1)), box(ladder.locator("details"))
    lowest = numbers.nth(1).evaluate(
        "e => Math.max(...[...e.children].map(c => c.getBoundingClientRect().bottom))"
    )
    assert lowest <= outer["top"] + 1 and inner["right"] <= size["width"]
    rung = box(ladder.locator(".rung").nth(1))
    within = rung["top"] < inner["top"] and lowest <= rung["bottom"]
    assert within == (size is PHONE), "on a phone the foot may be off the screen"


def test_the_table_is_folded_under_its_ladder(at: Any) -> None:
    ladder = at(BROKEN, LAPTOP).locator(".lowdim-ladder").first
    table = ladder.locator("table")
    assert not table.is_visible()
    ladder.locator("summary").click()
    assert table.is_visible()
    assert table.locator("tbody tr").count() == ladder.locator(".rung").count() - 1


def test_the_table_stands_nowhere_else(at: Any) -> None:
    tab = at(BROKEN, LAPTOP)
    folded = tab.locator(".lowdim-ladder table").evaluate_all("all => all.map(e => e.textContent)")
    others = tab.locator(".cell_output table").evaluate_all(
        "all => all.filter(e => !e.closest('.lowdim-ladder')).map(e => e.textContent)"
    )
    assert folded and others and not set(folded) & set(others)


def test_numbers_are_printed(at: Any) -> None:
    tab = at(BROKEN, LAPTOP)
    tab.emulate_media(media="print")
    numbers = tab.locator(".lowdim-ladder .rung-numbers").nth(1)
    assert numbers.evaluate("e => getComputedStyle(e).opacity") == "1"
    assert not tab.locator(".lowdim-ladder .rung-hint").first.is_visible()
    tab.emulate_media(media="screen")


def test_a_figure_is_whole_on_a_laptop_and_in_panels_on_a_phone(at: Any) -> None:
    figure = at(PANELS, LAPTOP).locator(".lowdim-cut").first
    (whole,) = figure.evaluate(SHOWN)
    assert "#" not in whole
    figure.page.set_viewport_size(PHONE)
    windows = figure.evaluate(SHOWN)
    assert len(windows) >= 2 and all(w.startswith(f"{whole}#svgView") for w in windows)
    panels = [box(panel) for panel in figure.locator(".lowdim-panel").all()]
    assert all(p["right"] <= PHONE["width"] and p["left"] >= 0 for p in panels)
    assert all(a["bottom"] <= b["top"] or a["right"] <= b["left"] for a, b in pairwise(panels))
    # Each window has the shape of what it shows, or there would be bars beside it.
    shapes = figure.locator(".lowdim-panel img.lowdim-ink").evaluate_all(
        """images => images.map(e => {
          const [, , w, h] = e.src.match(/viewBox\\((.*)\\)\\)/)[1].split(',').map(Number);
          return e.clientWidth / e.clientHeight / (w / h);
        })"""
    )
    assert shapes == pytest.approx([1.0] * len(shapes), abs=0.03)


WINDOW = re.compile(
    r'class="lowdim-ink" src="([^"#]+)#svgView\(viewBox\(([\d.]+),([\d.]+),([\d.]+),([\d.]+)\)\)"'
)


def test_no_window_cuts_a_label(tab: Any, html: Path) -> None:
    """At the left edge of a window nothing is drawn, but for a mark or two of a curve."""
    from PIL import Image

    edges: dict[Path, set[tuple[float, float, float]]] = {}
    for page in sorted(html.glob("notebooks/**/*.html")):
        for uri, x, y, _, height in WINDOW.findall(page.read_text(encoding="utf-8")):
            place = (page.parent / uri).resolve()
            edges.setdefault(place, set()).add((float(x), float(y), float(height)))
    assert len(edges) > 30
    for path, windows in edges.items():
        svg = path.read_text(encoding="utf-8").partition("<svg")[2]
        tab.set_content(f"<body style='margin:0;background:#fff'><svg{svg}")
        drawn = tab.locator("svg")
        picture = Image.open(BytesIO(drawn.screenshot())).convert("L")
        scale = picture.width / float(re.search(r'viewBox="0 0 ([\d.]+)', svg)[1])  # type: ignore[index]
        for x, y, height in windows:
            at = round(x * scale)
            line = picture.crop((at, round(y * scale), at + 1, round((y + height) * scale)))
            ink = sum(line.histogram()[:200])
            assert ink <= 6, (path.name, x, ink)


def test_figures_have_no_slab_in_the_dark(at: Any) -> None:
    from PIL import Image, ImageStat

    tab = at(PANELS, LAPTOP)
    light = {}
    for scheme in ("light", "dark"):
        tab.evaluate(SCHEME, scheme)
        picture = Image.open(BytesIO(tab.locator(".lowdim-whole").nth(1).screenshot())).convert("L")
        light[scheme] = ImageStat.Stat(picture).mean[0]
    tab.evaluate(SCHEME, "light")
    assert light["light"] > 200 and light["dark"] < 70


def test_a_tap_shows_a_figure_full_screen_and_escape_goes_back(at: Any) -> None:
    tab = at(PANELS, PHONE)
    figure = tab.locator(".lowdim-figure").first
    button = figure.locator("button.lowdim-enlarge")
    button.focus()
    tab.keyboard.press("Enter")
    viewer = tab.locator("dialog.lowdim-viewer")
    viewer.wait_for(state="visible")
    assert box(viewer.locator("img").first)["width"] > PHONE["width"]
    tab.keyboard.press("Escape")
    viewer.wait_for(state="hidden")
    assert button.evaluate("e => e === document.activeElement")
