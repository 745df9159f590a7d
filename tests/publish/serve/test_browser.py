"""The panel in a real browser: fill in, bad values, run, see it, download, delete."""

from __future__ import annotations

import pytest

pytestmark = [pytest.mark.chapter, pytest.mark.browser]
CHAPTER = "/notebooks/preserve/weyl.html"
PATIENCE = 120_000  # milliseconds


@pytest.fixture
def tab(served, browser):
    """A tab that came by the printed address, and what went wrong in it."""
    context = browser.new_context()
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.wrong = []
    page.on("pageerror", lambda error: page.wrong.append(str(error)))
    page.goto(served.printed)
    page.wait_for_url(served.address + "/")
    assert "As it was built." in page.content()
    yield page
    # The page of a run, which the theme makes, says that one of itself.
    assert not [error for error in page.wrong if "THEBE_JS_URL" not in error]
    context.close()


def open_panel(page, served):
    page.goto(served.address + CHAPTER)
    page.get_by_text("Run this chapter").click()
    return page.locator(".lowdim-panel")


def test_fill_in_run_see_it_beside_the_book_and_delete(served, tab) -> None:
    panel = open_panel(tab, served)
    trials = panel.get_by_label("trials", exact=True)
    assert trials.input_value() == "10"
    assert "instances in each attack; 1 or more; default 10" in panel.inner_text()
    panel.get_by_label("preset").select_option("paper")
    assert trials.input_value() == "40"
    panel.get_by_label("noise").fill("-1")
    panel.get_by_role("button", name="Run").click()
    alert = panel.get_by_role("alert")
    alert.wait_for()
    assert alert.inner_text() == "noise must be above 0; you gave -1."
    assert tab.evaluate("document.activeElement.name") == "noise"
    panel.get_by_label("noise").fill("0.25")
    panel.get_by_label("kind").select_option("normal")
    panel.get_by_role("button", name="Run").click()
    tab.get_by_text("See it beside the book").click()
    tab.wait_for_url("**/_lowdim/beside/*")
    assert tab.locator("#command").inner_text() == (
        "lowdim run preserve/weyl -p trials=40 -p noise=0.25 -p kind=normal"
    )
    run = tab.frame_locator("#run")
    run.get_by_text("A run of your own").wait_for()
    again = "lowdim run preserve/weyl -p trials=40 -p noise=0.25 -p kind=normal"
    assert again in run.locator("body").text_content()
    book = tab.frame_locator("#book")
    book.get_by_text("As it was built.").wait_for()
    assert book.locator(".lowdim-panel").count() == 0
    tab.get_by_role("link", name="All runs").click()
    row = tab.locator("tr[data-run]")
    row.wait_for()
    assert "preset paper: trials=40, noise=0.25, kind=normal" in row.inner_text()
    with tab.expect_download() as loaded:
        row.get_by_role("link", name="download").click()
    assert loaded.value.suggested_filename.startswith("preserve-weyl-")
    row.get_by_role("button", name="Delete").click()
    tab.get_by_text("No run yet").wait_for()
