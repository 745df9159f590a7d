"""The page of exercises in a browser: all there without a script, and menus that choose."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.book, pytest.mark.browser]

PAGE = "book/exercises.html"
WIDTHS = (1440, 390)
FORM = ".lowdim-exercises-filter"
ROWS = "table.lowdim-exercises tbody tr"


def _open(browser: Any, address: str, width: int, **options: Any) -> Any:
    context = browser.new_context(viewport={"width": width, "height": 900}, **options)
    tab = context.new_page()
    tab.goto(f"{address}/{PAGE}")
    return tab


@pytest.mark.parametrize("width", WIDTHS)
def test_menus_leave_what_was_asked_for(browser: Any, address: str, width: int) -> None:
    tab = _open(browser, address, width)
    every = tab.locator(ROWS).count()
    status = tab.get_by_role("status")
    assert every > 100 and status.inner_text() == f"All {every} exercises"
    tab.locator(f"{FORM} [name=kind]").select_option("prove")
    tab.locator(f"{FORM} [name=level]").select_option("hard")
    tab.locator(f"{FORM} [name=part]").select_option(index=2)
    shown = tab.locator(f"{ROWS}:visible")
    few = shown.count()
    assert 0 < few < every and status.inner_text() == f"{few} of {every} exercises"
    assert {row.inner_text() for row in shown.locator("td:nth-child(2)").all()} == {"prove"}
    assert {row.inner_text() for row in shown.locator("td:nth-child(3)").all()} == {"hard"}
    assert tab.locator("section section:has(table.lowdim-exercises):visible").count() == 1
    wide = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    assert tab.evaluate(wide)
    tab.get_by_role("button", name="Show all").press("Enter")
    tab.wait_for_function(f"document.querySelectorAll('{ROWS}:not([hidden])').length === {every}")
    assert "?" not in tab.url
    tab.context.close()


@pytest.mark.parametrize("width", WIDTHS)
def test_the_address_keeps_the_choice_on_a_disk_too(browser: Any, html: Path, width: int) -> None:
    tab = _open(browser, html.as_uri(), width)
    tab.locator(f"{FORM} [name=minutes]").select_option("30")
    tab.locator(f"{FORM} [name=words]").fill("bound")
    shown = f"document.querySelectorAll('{ROWS}:not([hidden])').length"
    few = tab.evaluate(shown)
    assert 0 < few < tab.locator(ROWS).count() and "minutes=30" in tab.url
    other = tab.context.new_page()
    other.goto(tab.url)
    assert other.evaluate(shown) == few
    assert other.locator(f"{FORM} [name=words]").input_value() == "bound"
    minutes = other.locator(f"{ROWS}:visible td:nth-child(4)").all_inner_texts()
    assert {int(each.split()[0]) for each in minutes} <= {10, 30}
    tab.context.close()


def test_a_goal_leaves_the_exercises_that_serve_it(browser: Any, address: str) -> None:
    tab = _open(browser, address, 1440)
    goal = (
        tab.locator(f"{FORM} [name=goal]").locator("optgroup option").nth(1).get_attribute("value")
    )
    tab.locator(f"{FORM} [name=goal]").select_option(goal)
    said = tab.locator(f"{ROWS}:visible .exercise-goal").all_inner_texts()
    assert said and all(goal in each for each in said)
    tab.context.close()


def test_each_row_leads_to_its_exercise(browser: Any, address: str) -> None:
    tab = _open(browser, address, 1440)
    link = tab.locator(f"{ROWS} td:first-child a").first
    where = link.get_attribute("href")
    link.click()
    tab.wait_for_url("**/notebooks/**")
    assert tab.locator(f"[id='{where.partition('#')[2]}']").count() == 1
    tab.context.close()


def test_without_scripts_everything_is_there(browser: Any, address: str) -> None:
    tab = _open(browser, address, 390, java_script_enabled=False)
    assert tab.locator(f"{ROWS}:visible").count() == tab.locator(ROWS).count() > 100
    assert tab.locator(".lowdim-exercises-filter").count() == 0
    tab.context.close()


def test_menus_come_in_order(browser: Any, address: str) -> None:
    tab = _open(browser, address, 1440)
    minutes = tab.locator(f"{FORM} [name=minutes]").locator("option").all_inner_texts()
    assert minutes == ["all", "10", "30", "60"]
    levels = tab.locator(f"{FORM} [name=level]").locator("option").all_inner_texts()
    assert levels == ["all", "warm-up", "practice", "hard", "open"]
    tab.context.close()
