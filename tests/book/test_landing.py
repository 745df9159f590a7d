"""The landing page and the moving figures, in a real browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lowdim.publish import chapters
from lowdim.publish.site import book
from lowdim.publish.site.moving_figures import FIGURES

pytestmark = [pytest.mark.book, pytest.mark.browser, pytest.mark.xdist_group("browser")]

WIDE, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
PAGES = {
    "conserved": "book/index.html",
    "tangent": "book/preserve.html",
    "shrinkage": "book/collapse.html",
    "wait": "book/embedded.html",
    "threshold": "book/hashing.html",
}
SOME = {  # settings away from the first frame, one of them at an edge
    "conserved": [{"x": -0.8, "y": 0.6, "L": 5, "u": 0.3}, {"x": 2.0, "y": 1.0, "L": 1, "u": 1}],
    "tangent": [{"q": 0.9, "c": 0.2}, {"q": 1.1, "c": 0.3}],
    "shrinkage": [{"L": 1, "lam": 0.1}, {"L": 2, "lam": -1}, {"L": 6, "lam": 0.5}],
    "wait": [{"k": 1.25, "L": 2.0}, {"k": 4, "L": 0.3}],
    "threshold": [{"rho": 9, "t": 0.9}, {"rho": 120, "t": 2.05}],
}


@pytest.fixture(scope="module")
def tab(browser: Any) -> Iterator[Any]:
    context = browser.new_context(viewport=WIDE, reduced_motion="reduce", color_scheme="light")
    yield context.new_page()
    context.close()


def _numbers(text: str) -> list[float]:
    return [float(n) for n in re.findall(r"-?\d+(?:\.\d+)?", text)]


@pytest.mark.parametrize("name", FIGURES)
def test_the_script_draws_what_python_draws(tab: Any, address: str, name: str) -> None:
    tab.goto(f"{address}/{PAGES[name]}")
    root = tab.locator(f"#moving-{name}")
    for settings in [{}, *SOME[name]]:
        seen = root.evaluate("(e, settings) => e.lowdimFrame(settings)", settings)
        wanted = FIGURES[name].frame({**FIGURES[name].start, **settings})
        assert seen["command"] == wanted.command
        assert seen["values"] == wanted.values, settings
        assert set(seen["parts"]) == set(wanted.parts)
        for part, attributes in wanted.parts.items():
            for key, value in attributes.items():
                there = _numbers(str(seen["parts"][part][key]))
                here = _numbers(str(value))
                assert there == pytest.approx(here, abs=0.21), (settings, part, key)


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_sliders_and_the_point_move_the_figure(tab: Any, address: str, size: dict) -> None:
    tab.set_viewport_size(size)
    tab.goto(f"{address}/book/index.html")
    root = tab.locator("#moving-conserved")

    def value(key: str) -> str:
        return root.locator(f"dd[data-value={key}]").inner_text()

    depth = root.locator("input[name=L]")
    depth.focus()
    depth.press("ArrowRight")
    assert root.locator("output[data-value=L]").inner_text() == "4"
    assert "depths=[4]" in root.locator(".moving-run").inner_text()

    kept, now = value("kept"), value("now")
    root.locator("input[name=u]").fill("1")
    assert value("kept") == kept and value("now") != now  # conserved, and not conserved
    assert value("now") == value("limit")

    point = root.locator("[role=slider]")
    point.focus()
    point.press("ArrowUp")
    assert value("begin") == "(0.25, 0.40)"
    assert point.get_attribute("aria-valuetext") == "(0.25, 0.40)"
    box = point.bounding_box()
    tab.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    tab.mouse.down()
    tab.mouse.move(box["x"] + 60, box["y"] - 20, steps=3)
    tab.mouse.up()
    assert value("begin") != "(0.25, 0.40)"
    root.locator(".moving-play").click()  # with reduced motion it jumps to the end
    assert root.locator("output[data-value=u]").inner_text() == "100 %"
    tab.set_viewport_size(WIDE)


def test_without_scripts_the_first_frame_stands(browser: Any, address: str) -> None:
    context = browser.new_context(viewport=WIDE, java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{address}/book/index.html")
    assert page.locator("#moving-conserved svg").is_visible()
    assert page.locator("#moving-conserved .moving-values").is_visible()
    assert page.locator("#moving-conserved input").first.is_hidden()
    context.close()


def test_on_paper_there_is_a_cover_and_no_slider(tab: Any, address: str) -> None:
    tab.goto(f"{address}/book/index.html")
    assert tab.locator(".landing-cover").is_hidden()
    tab.emulate_media(media="print")
    assert tab.locator(".landing-cover").is_visible()
    assert tab.locator("#moving-conserved svg").is_visible()
    assert tab.locator("#moving-conserved input").first.is_hidden()
    tab.emulate_media(media="screen")


def test_the_numbers_are_the_books(tab: Any, address: str) -> None:
    whole = book.load(chapters.find_root())
    found = book.numbers(list(whole.claims.values())) | {"chapters": len(whole.chapters)}
    tab.goto(f"{address}/book/index.html")
    tiles = tab.locator("a.landing-number")
    assert tiles.count() == 8
    shown = {tiles.nth(k).get_attribute("href"): int(tiles.nth(k).locator("strong").inner_text())
             for k in range(tiles.count())}  # fmt: skip
    assert shown["ledger.html"] == found["claims"]
    assert shown["ledger.html?verdict=refuted"] == found.get("refuted", 0)
    assert shown["ledger.html?kind=new"] == found["new"]
    assert shown["errata.html"] == found["slips"]


def test_cards_lead_to_statements(tab: Any, address: str, html: Path) -> None:
    tab.goto(f"{address}/book/index.html")
    links = tab.locator(".landing-card h3 a")
    assert links.count() == 5
    for k in range(5):
        file, _, anchor = links.nth(k).get_attribute("href").partition("#")
        page = (html / "book" / file).resolve().read_text(encoding="utf-8")
        assert f'id="{anchor}"' in page, (file, anchor)


def test_every_page_describes_itself(html: Path, page: str) -> None:
    text = (html / page).read_text(encoding="utf-8")
    assert '<meta property="og:title" content="' in text
    image = re.search(r'<meta property="og:image" content="([^"]+)"', text)
    assert image is not None and ((html / page).parent / image[1]).resolve().is_file()
    if page not in ("search.html",):
        said = re.search(r'<meta name="description" content="([^"]+)"', text)
        assert said is not None, page
        assert "$" not in said[1] and "\\" not in said[1]
