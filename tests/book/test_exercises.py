"""The page of exercises in a browser: all there without a script, and menus that choose."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = [pytest.mark.book, pytest.mark.browser, pytest.mark.xdist_group("browser")]

PAGE = "book/exercises.html"
WIDTHS = (1440, 390)
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
    tab.get_by_label("Kind").select_option("open")
    tab.get_by_label("Part").select_option(index=2)
    shown = tab.locator(f"{ROWS}:visible")
    few = shown.count()
    assert 0 < few < every and status.inner_text() == f"{few} of {every} exercises"
    assert {row.inner_text() for row in shown.locator("td:nth-child(2)").all()} == {"open"}
    assert tab.locator("section:has(> * table.lowdim-exercises):visible").count() == 1
    wide = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    assert tab.evaluate(wide)
    tab.get_by_role("button", name="Show all").press("Enter")
    tab.wait_for_function(f"document.querySelectorAll('{ROWS}:not([hidden])').length === {every}")
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


def test_times_come_in_order(browser: Any, address: str) -> None:
    tab = _open(browser, address, 1440)
    names = tab.get_by_label("Time").locator("option").all_inner_texts()
    assert names[0] == "all" and names[1] == "Warm-up" and names[-1] == "Open"
    minutes = [int(name.split()[0]) for name in names[2:-1]]
    assert minutes == sorted(minutes) and minutes
    tab.context.close()
