"""The panel in a real browser: fill in, bad values, run, cancel, two tabs, a killed server."""

from __future__ import annotations

import signal

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


def test_bad_values_are_shown_where_they_stand_and_nothing_is_kept(served, tab) -> None:
    panel = open_panel(tab, served)
    alert, run = panel.get_by_role("alert"), panel.get_by_role("button", name="Run")
    cases = {
        ("trials", "ten"): "trials must be a whole number, 1 or more; you gave 'ten'.",
        ("noise", "nan"): "noise must be",
        ("seed", "<b>1</b>"): "seed must be",
        ("seed", "9" * 10_001): "seed has 10,001 characters; 10,000 are the most.",
    }
    for (name, value), sentence in cases.items():
        field = panel.get_by_label(name, exact=True)
        before = field.input_value()
        field.fill(value)
        run.click()
        alert.filter(has_text=sentence).wait_for()
        assert alert.locator("b").count() == 0, "what was typed is text"
        assert field.get_attribute("aria-invalid") == "true"
        assert tab.evaluate("document.activeElement.name") == name
        field.fill(before)
        assert field.get_attribute("aria-invalid") is None
    tab.get_by_role("link", name="All runs").click()
    tab.get_by_text("No run yet").wait_for()


def test_two_tabs_see_the_same_run_and_either_ends_it(served, tab, mark, helpers) -> None:
    panel = open_panel(tab, served)
    panel.get_by_label("seed").fill("9")
    panel.get_by_role("button", name="Run").click()
    tab.get_by_text("running: code cell 3 of 4").wait_for()
    process = int(helpers.until(lambda: mark.is_file() and mark.read_text()))

    second = tab.context.new_page()
    second.goto(served.address + CHAPTER)
    other = second.locator(".lowdim-panel")  # opens by itself, since a run is under way
    second.get_by_text("running: code cell 3 of 4").wait_for()
    other.get_by_label("seed").fill("8")
    other.get_by_role("button", name="Run").click()
    second.get_by_text("waiting; 1 before it").wait_for()
    assert "running: code cell 3 of 4" in panel.inner_text(), "each tab follows its own"

    third = tab.context.new_page()
    third.goto(served.address + "/_lowdim/list")
    row = third.locator("tr[data-run]", has_text="seed=9")
    row.get_by_role("button", name="Cancel").click()
    row.get_by_text("It was cancelled.").wait_for()
    panel.get_by_role("alert").filter(has_text="It was cancelled.").wait_for()
    assert panel.get_by_role("button", name="Cancel").is_hidden()
    helpers.until(lambda: not helpers.alive(process), 30)
    other.get_by_role("alert").filter(has_text="eight is refused").wait_for()

    mark.unlink()
    panel.get_by_role("button", name="Run").click()  # and from the panel itself
    process = int(helpers.until(lambda: mark.is_file() and mark.read_text()))
    panel.get_by_role("button", name="Cancel").click()
    panel.get_by_role("alert").filter(has_text="It was cancelled.").wait_for()
    helpers.until(lambda: not helpers.alive(process), 30)


def test_a_server_that_is_killed_and_started_again_has_its_list(served, tab, mark, helpers) -> None:
    panel = open_panel(tab, served)
    for seed in ("9", "8"):
        panel.get_by_label("seed").fill(seed)
        panel.get_by_role("button", name="Run").click()
        tab.get_by_text("running: code cell 3 of 4" if seed == "9" else "1 before it").wait_for()
    process = int(helpers.until(lambda: mark.is_file() and mark.read_text()))
    served.end(signal.SIGKILL)
    silent = "The server does not answer; is lowdim serve running?"
    panel.get_by_role("alert").filter(has_text=silent).wait_for()
    panel.get_by_role("button", name="Run").click()
    panel.get_by_role("alert").filter(has_text=silent).wait_for()
    helpers.until(lambda: not helpers.alive(process), 30)

    served.start()
    tab.goto(served.printed)
    tab.wait_for_url(served.address + "/")
    tab.goto(served.address + "/_lowdim/list")
    nine, eight = (tab.locator("tr[data-run]", has_text=f"seed={seed}") for seed in (9, 8))
    nine.get_by_text("interrupted").wait_for()
    eight.get_by_text("eight is refused").wait_for()  # what waited was made
    assert tab.locator("tr[data-run]").count() == 2
    nine.get_by_role("button", name="Delete").click()
    nine.wait_for(state="detached")
    assert eight.count() == 1
