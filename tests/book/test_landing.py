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

pytestmark = [pytest.mark.book, pytest.mark.browser]

WIDE, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
PAGES = {
    "conserved": "book/index.html",
    "tangent": "book/preserve.html",
    "shrinkage": "book/collapse.html",
    "wait": "book/embedded.html",
    "threshold": "book/hashing.html",
    "noise": "book/bridge.html",
}
SOME = {  # settings away from the first frame, one of them at an edge
    "conserved": [{"x": -0.8, "y": 0.6, "L": 5, "u": 0.3}, {"x": 2.0, "y": 1.0, "L": 1, "u": 1}],
    "tangent": [{"q": 0.9, "c": 0.2}, {"q": 1.1, "c": 0.3}],
    "shrinkage": [{"L": 1, "lam": 0.1}, {"L": 2, "lam": -1}, {"L": 6, "lam": 0.5}],
    "wait": [{"k": 1.25, "L": 17}, {"k": 4, "L": 0}],
    "threshold": [{"rho": 9, "t": 0.9}, {"rho": 120, "t": 2.05}],
    "noise": [{"rho": 9, "tau": 6}, {"rho": 120, "tau": 2.05}, {"tau": 0}],
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
        assert (seen["command"], seen["call"]) == (wanted.command, wanted.call)
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
    assert value("begin") == "(-0.75, 0.65)"
    assert point.get_attribute("aria-valuetext") == "(-0.75, 0.65)"
    box = point.bounding_box()
    tab.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    tab.mouse.down()
    tab.mouse.move(box["x"] + 60, box["y"] - 20, steps=3)
    tab.mouse.up()
    assert value("begin") != "(-0.75, 0.65)"
    assert value("begin").strip("()").split(", ")[0] in root.locator(".moving-call").inner_text()
    root.locator(".moving-play").click()  # with reduced motion it jumps to the end
    assert root.locator("output[data-value=u]").inner_text() == "100 %"
    tab.set_viewport_size(WIDE)


def test_a_finger_drags_the_point_and_not_the_page(browser: Any, address: str) -> None:
    context = browser.new_context(viewport=PHONE, has_touch=True, reduced_motion="reduce")
    page = context.new_page()
    page.goto(f"{address}/book/index.html")
    grip = page.locator("#moving-conserved .mv-grip").bounding_box()
    assert min(grip["width"], grip["height"]) >= 44  # as wide as a finger
    x, y = grip["x"] + grip["width"] / 2 + 15, grip["y"] + grip["height"] / 2
    fingers = context.new_cdp_session(page)
    for kind, dy in [("touchStart", 0), ("touchMove", -20), ("touchMove", -60), ("touchEnd", 0)]:
        points = [] if kind == "touchEnd" else [{"x": x, "y": y + dy}]
        fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    page.wait_for_function(
        "document.querySelector('#moving-conserved dd[data-value=begin]').innerText > '(-0.75, 0.9'"
    )  # upwards, and not to where the finger is beside it
    assert page.evaluate("scrollY") == 0
    context.close()


def test_it_plays_once_when_it_is_seen(browser: Any, address: str) -> None:
    words = "#moving-conserved output[data-value=u]"
    still = browser.new_context(viewport=WIDE, java_script_enabled=False)
    page = still.new_page()
    page.goto(f"{address}/book/index.html")
    assert page.locator(words).inner_text() == "60 %"  # the first frame
    still.close()
    context = browser.new_context(viewport=WIDE, reduced_motion="no-preference")
    page = context.new_page()
    page.goto(f"{address}/book/index.html")
    shown = page.locator(words)
    page.wait_for_selector("#moving-conserved .moving-play[aria-pressed=true]")
    page.wait_for_selector("#moving-conserved .moving-play[aria-pressed=false]")
    assert shown.inner_text() == "100 %"
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_the_first_screen_has_the_picture(tab: Any, address: str, size: dict, scheme: str) -> None:
    tab.set_viewport_size(size)
    tab.emulate_media(color_scheme=scheme)
    tab.goto(f"{address}/book/index.html")
    picture = tab.locator("#moving-conserved .moving-svg").bounding_box()
    assert picture["y"] + picture["height"] <= size["height"]
    assert picture["width"] >= 0.45 * size["width"]
    assert tab.evaluate("document.documentElement.scrollWidth") <= size["width"]
    back = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)"
    assert (sum(tab.evaluate(back)) < 300) == (scheme == "dark")
    tab.emulate_media(color_scheme="light")
    tab.set_viewport_size(WIDE)


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_fits_and_answers(tab: Any, address: str, name: str, size: dict) -> None:
    tab.set_viewport_size(size)
    tab.goto(f"{address}/{PAGES[name]}")
    root = tab.locator(f"#moving-{name}")
    box = root.bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= size["width"]
    clipped = """e => [...e.querySelectorAll('svg text')].filter(t => {
      const a = t.getBoundingClientRect(), b = t.ownerSVGElement.getBoundingClientRect();
      return a.width && (a.left < b.left - 1 || a.right > b.right + 1 || a.top < b.top - 1
        || a.bottom > b.bottom + 1);
    }).map(t => t.textContent)"""
    assert root.evaluate(clipped) == []
    drawn = "e => [...e.querySelectorAll('[data-part]')].map(p => p.outerHTML).join()"
    for slider in root.locator("input[type=range]").all():
        before = root.evaluate(drawn)
        slider.focus()
        slider.press("ArrowRight")
        assert root.evaluate(drawn) != before, slider.get_attribute("name")
    assert "seed" in root.locator(".moving-caption").inner_text()
    to = root.locator("a.moving-claim").evaluate("e => e.href")
    tab.goto(to)
    assert tab.evaluate("document.getElementById(location.hash.slice(1)) !== null"), to
    tab.set_viewport_size(WIDE)


def test_without_scripts_the_first_frame_stands(browser: Any, address: str) -> None:
    context = browser.new_context(viewport=WIDE, java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{address}/book/index.html")
    assert page.locator("#moving-conserved .moving-svg").is_visible()
    assert page.locator("#moving-conserved .moving-values").is_visible()
    assert page.locator("#moving-conserved input").first.is_hidden()
    context.close()


def test_on_paper_there_is_a_cover_and_no_slider(tab: Any, address: str) -> None:
    tab.goto(f"{address}/book/index.html")
    assert tab.locator(".landing-cover").is_hidden()
    tab.emulate_media(media="print")
    assert tab.locator(".landing-cover").is_visible()
    assert tab.locator("#moving-conserved .moving-svg").is_visible()
    for unwanted in ("#moving-conserved input", ".mv-hint", "#jb-print-docs-body"):
        assert tab.locator(unwanted).first.is_hidden(), unwanted
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


@pytest.mark.parametrize(
    ("size", "filters"),
    [(WIDE, ["verdict=refuted", "kind=new"]), (PHONE, ["verdict=proof-repaired"])],
    ids=["wide", "phone"],
)
def test_a_number_leads_to_as_many_rows(
    tab: Any, address: str, size: dict, filters: list[str]
) -> None:
    tab.set_viewport_size(size)
    for given in filters:
        tab.goto(f"{address}/book/index.html")
        link = tab.locator(f"a.landing-number[href='ledger.html?{given}']")
        count = int(link.locator("strong").inner_text())
        link.click()
        tab.wait_for_url(f"**/ledger.html?{given}")
        assert tab.locator(".ledger-row:not([hidden])").count() == count, given
    tab.set_viewport_size(WIDE)


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
