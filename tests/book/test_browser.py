"""The rendered book, as a reader meets it: in a real browser, on a laptop and on a phone."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import nbformat
import pytest

# One group: shared out over workers, every worker would open every page.
pytestmark = [pytest.mark.book, pytest.mark.browser]

WIDE = {"width": 1440, "height": 900}
LAPTOP = {"width": 1280, "height": 900}
PHONE = {"width": 375, "height": 812}

# Resolves when the equations of the page are set, at once where there are none.
TYPESET = """async () => {
  if (!document.querySelector('.math')) return;
  while (!(window.MathJax && MathJax.startup && MathJax.startup.promise))
    await new Promise(done => setTimeout(done, 20));
  await MathJax.startup.promise;
}"""

# Images further down are loaded when they come near.
LOAD = """async () => {
  for (const image of document.images) image.loading = 'eager';
  await Promise.all([...document.images].map(image => image.decode().catch(() => {})));
}"""

# Formulas that were not set, were set with an error, or whose source can be read as text.
RAW = r"""() => {
  const wrong = [...document.querySelectorAll('.math')]
    .filter(e => !e.querySelector('mjx-container')).map(e => 'not set: ' + e.textContent);
  for (const e of document.querySelectorAll('.math'))
    if (/\$$/.test(e.previousSibling?.data) || /^\$/.test(e.nextSibling?.data))
      wrong.push('a delimiter is left beside ' + e.textContent);
  for (const e of document.querySelectorAll('mjx-merror, [data-mjx-error]'))
    wrong.push('error: ' + (e.getAttribute('data-mjx-error') || e.textContent));
  const texts = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
  for (let t; (t = texts.nextNode());)
    if (!t.parentElement.closest('pre, code, script, style, textarea, mjx-container')
        && /\$\$|\\\(|\\\[|\$[^$]*\\[a-zA-Z]+[^$]*\$/.test(t.data))
      wrong.push('raw: ' + t.data.trim());
  return wrong;
}"""

# What reaches past the right edge of the window and cannot be scrolled to inside its own box.
TOO_WIDE = """() => {
  const edge = document.documentElement.clientWidth, wrong = [];
  if (document.documentElement.scrollWidth > edge)
    wrong.push('the page scrolls to ' + document.documentElement.scrollWidth);
  for (const e of document.querySelectorAll('article.bd-article *:not(mjx-container *)')) {
    const box = e.getBoundingClientRect();
    if (box.width === 0) continue;
    if (box.left < -1) wrong.push(e.tagName + '.' + e.className + ' begins at ' + box.left);
    if (box.right <= edge + 1) continue;
    let scrolls = false;
    for (let p = e; p && p.tagName !== 'ARTICLE'; p = p.parentElement)
      scrolls ||= ['auto', 'scroll'].includes(getComputedStyle(p).overflowX);
    if (!scrolls) wrong.push(e.tagName + '.' + e.className + ' ends at ' + Math.round(box.right));
  }
  return wrong;
}"""

# Tables of a chapter whose last columns must be scrolled to. What is folded is not laid out yet.
SCROLLED = """() => [...document.querySelectorAll('.bd-article div.lowdim-table')]
  .filter(e => e.checkVisibility() && e.scrollWidth > e.clientWidth + 1)
  .map(e => `${e.scrollWidth} > ${e.clientWidth}: ${e.innerText.slice(0, 60)}`)"""

# Where the first picture of a chapter begins, and the first code that is seen.
FIRST = """() => ['.cell_output :is(img, figure, table)', '.cell_input'].map(kind =>
  [...document.querySelectorAll('.bd-article ' + kind)].find(e => e.checkVisibility())
    ?.getBoundingClientRect().top)"""

# Contrast (WCAG 2) of every kind of visible text against what is really behind it.
PALE = """() => {
  const parse = c => {
    const [r, g, b, a = 1] = c.match(/[\\d.]+/g).map(Number);
    return [r, g, b, a];
  };
  const over = (a, b) => [0, 1, 2].map(i => a[i] * a[3] + b[i] * (1 - a[3])).concat(1);
  const known = new Map([[null, {back: [255, 255, 255, 1], alpha: 1}]]);
  const around = e => {  // what is behind an element, and how opaque it is
    if (!known.has(e)) {
      const style = getComputedStyle(e), outer = around(e.parentElement);
      const back = over(parse(style.backgroundColor), outer.back);
      known.set(e, {back, alpha: outer.alpha * style.opacity});
    }
    return known.get(e);
  };
  const light = c => {
    const [r, g, b] = c.map(v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const seen = new Set(), wrong = [];
  const check = (e, text) => {
    const style = getComputedStyle(e), size = parseFloat(style.fontSize);
    if (!e.checkVisibility({opacityProperty: true, visibilityProperty: true})) return;
    const {back, alpha} = around(e), colour = parse(style.color);
    const front = over([...colour.slice(0, 3), colour[3] * alpha], back);
    const need = size >= 24 || (size >= 18.66 && style.fontWeight >= 700) ? 3 : 4.5;
    const [a, b] = [light(back), light(front)].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05), key = [front, back, need].join();
    if (ratio < need && !seen.has(key)) {
      seen.add(key);
      const where = `${e.tagName}.${e.className} "${text.slice(0, 40)}"`;
      wrong.push(`${ratio.toFixed(2)} < ${need}: ${where}`);
    }
  };
  let count = 0;
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let t; (t = texts.nextNode());) {
    const e = t.parentElement;
    if (!t.data.trim() || e.closest('script, style, noscript, mjx-assistive-mml')) continue;
    count += 1;
    check(e, t.data.trim());
  }
  document.querySelectorAll('mjx-container').forEach(e => { count += 1; check(e, 'an equation'); });
  return [count, wrong];
}"""

# Links in running text that only their colour tells from it. Badges have a ground of their own, and
# the signs beside titles are no text.
UNMARKED = """() => [...document.querySelectorAll('.bd-article a[href]')].filter(a => {
  const text = a.parentElement.closest('p, li, dd, td, figcaption'), own = a.textContent.trim();
  if (!text || !own || own === '#' || own === '¶' || own === text.textContent.trim()) return false;
  if (!a.checkVisibility()) return false;
  const marked = e => {
    const style = getComputedStyle(e);
    return style.textDecorationLine.includes('underline') || style.borderBottomStyle !== 'none'
      || !/, 0\\)$|transparent/.test(style.backgroundColor);
  };
  for (let e = a; e !== text; e = e.parentElement) if (marked(e)) return false;
  return ![...a.children].some(marked);
}).map(a => a.outerHTML.slice(0, 120))"""

SCHEME = """name => {
  document.documentElement.dataset.mode = name;
  document.documentElement.dataset.theme = name;
}"""


def _watch(tab: Any, address: str) -> list[str]:
    """A list that fills with whatever goes wrong in the tab."""
    wrong: list[str] = []
    tab.on("console", lambda m: wrong.append(f"console: {m.text}") if m.type == "error" else None)
    tab.on("pageerror", lambda error: wrong.append(f"script: {error}"))
    tab.on("requestfailed", lambda r: wrong.append(f"failed: {r.url}"))
    tab.on("response", lambda r: wrong.append(f"{r.status}: {r.url}") if r.status >= 400 else None)

    def host(request: Any) -> None:
        if not request.url.startswith((address, "data:", "blob:")):
            wrong.append(f"elsewhere: {request.url}")

    tab.on("request", host)
    return wrong


@pytest.fixture(scope="module")
def tab(browser: Any) -> Iterator[Any]:
    context = browser.new_context(
        viewport=LAPTOP, accept_downloads=True, reduced_motion="reduce", color_scheme="light"
    )
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    context.route(re.compile("mathjax"), lambda route: route.abort())  # `visit` sees formulas
    yield context.new_page()
    context.close()


@pytest.fixture(scope="module")
def visit(
    browser: Any, address: str, settled: Callable[[Any], None]
) -> Iterator[Callable[[str], dict[str, Any]]]:
    """One visit to a page, with all that was seen there; later calls give the same visit."""
    seen: dict[str, dict[str, Any]] = {}
    context = browser.new_context(viewport=WIDE, reduced_motion="reduce", color_scheme="light")

    def go(page: str) -> dict[str, Any]:
        if page not in seen:
            tab = context.new_page()
            found: dict[str, Any] = {"wrong": _watch(tab, address)}
            tab.goto(f"{address}/{page}", wait_until="load")
            tab.evaluate(TYPESET)
            found["first"] = tab.evaluate(FIRST)
            tab.set_viewport_size(LAPTOP)
            found["raw"] = tab.evaluate(RAW)
            tab.evaluate(LOAD)
            found["no alt"] = tab.evaluate(
                "[...document.images].filter(i => !i.alt.trim()).map(i => i.src)"
            )
            found["unloaded"] = tab.evaluate(
                "[...document.images].filter(i => !i.naturalWidth).map(i => i.src)"
            )
            found["scrolled"] = tab.evaluate(SCROLLED)
            for scheme in ("light", "dark"):
                tab.evaluate(SCHEME, scheme)
                found["texts"], found[scheme] = tab.evaluate(PALE)
                found[f"unmarked {scheme}"] = tab.evaluate(UNMARKED)
            tab.set_viewport_size(PHONE)
            settled(tab)
            found["too wide"] = tab.evaluate(TOO_WIDE)
            tab.close()
            seen[page] = found
        return seen[page]

    yield go
    context.close()


def at(tab: Any, address: str, chapter: str) -> None:
    """Open a chapter, unless it is open: what the tests do to it is not in one another's way."""
    if tab.url != f"{address}/{chapter}":
        tab.goto(f"{address}/{chapter}")


def test_nothing_goes_wrong_on_a_page(visit: Callable, page: str) -> None:
    assert visit(page)["wrong"] == []


def test_equations_are_typeset(visit: Callable, page: str) -> None:
    assert visit(page)["raw"] == []


def test_a_picture_begins_on_the_first_screen_and_before_all_code(
    visit: Callable, chapter: str
) -> None:
    picture, code = visit(chapter)["first"]
    assert picture < min(code, WIDE["height"] - 20)


def test_images_show_and_have_alt_text(visit: Callable, page: str) -> None:
    assert visit(page)["no alt"] == []
    assert visit(page)["unloaded"] == []


def test_tables_fit_a_laptop(visit: Callable, page: str) -> None:
    assert visit(page)["scrolled"] == []


def test_a_page_fits_a_phone(visit: Callable, page: str) -> None:
    assert visit(page)["too wide"] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_page_is_legible(visit: Callable, page: str, scheme: str) -> None:
    assert visit(page)["texts"] > 20
    assert visit(page)[scheme] == []
    assert visit(page)[f"unmarked {scheme}"] == []


def test_the_checks_see_what_they_look_for(tab: Any) -> None:
    tab.set_content(
        "<main>$$x$$ <p style='color:#999'>pale</p><b style='opacity:0.3'>faint</b>"
        "<article class='bd-article'>$<div class='math'>x</div>"
        "<p style='width:4000px'>wide</p><p style='margin-left:-50px'>cut</p>"
        "<div class='lowdim-table' style='overflow-x:auto;width:50px'>"
        "<table><tr><td style='min-width:99px'>far</td></tr></table></div>"
        "<p>See <a href='#'>there</a> or <a href='#' style='text-decoration:none'>here</a>, "
        "<a class='headerlink' href='#' style='text-decoration:none'>#</a></p></article></main>"
    )
    assert [found[-8:] for found in tab.evaluate(UNMARKED)] == ["here</a>"]
    assert len(tab.evaluate(SCROLLED)) == 1
    assert len(tab.evaluate(RAW)) == 3  # not set, a delimiter, raw
    assert len(tab.evaluate(TOO_WIDE)) == 3  # the page, what makes it so wide, what is cut off
    assert [found[:10] for found in tab.evaluate(PALE)[1]] == ["2.85 < 4.5", "2.11 < 4.5"]


def test_the_front_page_leads_on(tab: Any, address: str) -> None:
    tab.goto(f"{address}/index.html")
    tab.wait_for_url(re.compile(r"/book/index\.html$"))
    assert tab.locator("nav a", has_text="ledger").count() > 0


def test_the_colour_scheme_can_be_changed(tab: Any, address: str) -> None:
    tab.goto(f"{address}/book/index.html")
    ground = "getComputedStyle(document.body).backgroundColor"
    seen = {}
    for _ in range(3):
        seen[tab.evaluate("document.documentElement.dataset.mode")] = tab.evaluate(ground)
        tab.locator("button.theme-switch-button:visible").first.click()
    assert seen["light"] != seen["dark"]


def test_search_finds_a_chapter(tab: Any, address: str, html: Path, chapter: str) -> None:
    found = re.search(r"<h1>(.*?)<", (html / chapter).read_text(encoding="utf-8"))
    assert found is not None
    query = re.split(r"[—:,]", unescape(found[1]))[0].strip()  # "Theorem 3.1" of "Theorem 3.1 — …"
    tab.goto(f"{address}/search.html?q={quote(query)}")
    tab.locator(f"#search-results li a[href*='{chapter}']").first.wait_for()


def test_the_box_of_a_page_leads_to_what_was_found(tab: Any, address: str) -> None:
    tab.goto(f"{address}/notebooks/preserve/theorem_3_1.html")
    tab.locator("button.search-button:visible, button.search-button__button:visible").first.click()
    box = tab.locator("input[type=search]:visible").first
    box.fill("Theorem 3.4")
    box.press("Enter")
    tab.wait_for_url(re.compile(r"search\.html"))
    tab.locator("#search-results li a[href*='collapse/theorem_3_4']").first.wait_for()


def test_a_solution_unfolds(tab: Any, address: str, chapter: str) -> None:
    at(tab, address, chapter)
    solution = tab.locator("div.solution.dropdown").first
    solution.wait_for()
    body = solution.locator(".section, section").first
    assert not body.is_visible()
    solution.locator("button.toggle-button").first.click()
    body.wait_for(state="visible")


def test_the_notebook_downloads_and_runs_as_one(tab: Any, address: str, chapter: str) -> None:
    at(tab, address, chapter)
    with tab.expect_download() as waiting:
        tab.locator(".lowdim-footer a[download]").click()
    assert waiting.value.suggested_filename.endswith(".ipynb")
    notebook = nbformat.read(waiting.value.path(), as_version=4)
    nbformat.validate(notebook)
    assert notebook.metadata.kernelspec.name == "python3"
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert sum("parameters" in cell.metadata.get("tags", []) for cell in code) == 1
    assert all(compile(cell.source, chapter, "exec") for cell in code if "%" not in cell.source)
    links = tab.locator(".dropdown-download-buttons a, .dropdown-menu a").evaluate_all(
        "links => links.map(link => link.href)"
    )
    assert any(link.endswith(".ipynb") for link in links)


def test_code_copies_clean(tab: Any, address: str, chapter: str) -> None:
    at(tab, address, chapter)
    cell = tab.locator("div.cell_input div.highlight:visible").first
    cell.hover()
    cell.locator("button.copybtn").click()
    copied = tab.evaluate("navigator.clipboard.readText()")
    assert copied.strip() == cell.locator("pre").inner_text().strip()
    assert tab.locator("div.cell_output button.copybtn").count() == 0


@pytest.fixture(scope="module")
def rows(browser: Any, address: str) -> dict[str, list[str]]:
    """Where the links of each row of the ledger lead, by its place; opened once."""
    context = browser.new_context(viewport=LAPTOP)
    context.route(re.compile("mathjax"), lambda route: route.abort())
    tab = context.new_page()
    tab.goto(f"{address}/book/ledger.html")
    found = tab.evaluate(
        """() => [...document.querySelectorAll('.ledger-row')].map(
          row => [row.id, [...row.querySelectorAll('a')].map(link => link.href)])"""
    )
    context.close()
    assert len(found) == len(dict(found)) > 200
    return dict(found)


def test_a_chapter_says_how_it_was_made(
    tab: Any, address: str, rows: dict[str, list[str]], chapter: str
) -> None:
    at(tab, address, chapter)
    footer = tab.locator(".lowdim-footer")
    assert all(word in footer.inner_text() for word in ("Seed", "Run time", "torch", "Ledger"))
    links = footer.locator("a[href*='-verdict']").evaluate_all("all => all.map(e => e.href)")
    assert links
    for link in links:
        page, _, place = link.partition("#")
        assert page == f"{address}/book/ledger.html"
        assert any(back.startswith(f"{address}/{chapter}#") for back in rows[unquote(place)]), link


def test_the_foot_of_a_chapter_leads_to_its_rows(tab: Any, address: str) -> None:
    tab.goto(f"{address}/notebooks/preserve/lemma_4_1.html")
    link = tab.locator(".lowdim-footer a[href*='-verdict']").first
    place = unquote((link.get_attribute("href") or "").partition("#")[2])
    link.click()
    tab.wait_for_url(re.compile(r"/book/ledger\.html#"), wait_until="load")
    tab.locator(f"[id='{place}']").wait_for(state="visible")
