"""The book on paper: nothing is cut, no furniture of the screen is left, formulas are set."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lowdim.publish.site import pdf

pytestmark = [pytest.mark.book, pytest.mark.browser]

ROOT = Path(__file__).resolve().parents[2]
CHAPTER = "notebooks/preserve/lemma_4_1"
PAGES = (CHAPTER, "book/exercises", "book/index")

# What would be cut at the right edge of the paper, what scrolls, and what belongs to a screen only.
WRONG = """column => {
  const article = document.querySelector('article.bd-article');
  const edge = article.getBoundingClientRect().left + column + 2, wrong = [];
  for (const e of article.querySelectorAll('pre, table, img, p, mjx-container')) {
    if (!e.checkVisibility()) continue;
    const box = e.getBoundingClientRect();
    if (box.right > edge) wrong.push(`${e.tagName} ends at ${Math.round(box.right - edge)}`);
    const style = getComputedStyle(e);
    if (e.matches('pre') && e.scrollWidth > e.clientWidth + 1) wrong.push('code is cut');
    if (e.matches('pre') && style.whiteSpace !== 'pre-wrap') wrong.push(style.whiteSpace);
    const long = e.matches('pre') || e.rows?.length > 12; // else half a page stays empty before it
    if (long && style.breakInside !== 'auto') wrong.push(`${e.tagName} may not go over a page`);
  }
  const left = '.bd-sidebar-primary, .bd-sidebar-secondary, .bd-header-article, .copybtn,'
    + ' .toggle-button, .headerlink, .lowdim-exercises-filter, .prev-next-footer';
  for (const e of document.querySelectorAll(left))
    if (e.checkVisibility()) wrong.push(`on paper: ${e.className}`);
  const dark = getComputedStyle(document.documentElement).backgroundColor;
  if (!['rgb(255, 255, 255)', 'rgba(0, 0, 0, 0)'].includes(dark)) wrong.push(`paper is ${dark}`);
  return wrong;
}"""


@pytest.fixture(scope="module")
def paper(browser: Any) -> Any:
    """A tab as wide as the text on paper, in the dark: printing must not mind."""
    width = round(pdf.COLUMN / pdf.SCALE)
    tab = browser.new_page(viewport={"width": width, "height": 1000}, color_scheme="dark")
    tab.emulate_media(media="print")
    return tab


@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_on_paper(paper: Any, html: Path, name: str) -> None:
    paper.goto((html / f"{name}.html").as_uri())
    title, *_ = paper.evaluate(pdf.PREPARE, pdf.COLUMN / pdf.SCALE)
    assert title and "#" not in title
    assert paper.evaluate(WRONG, pdf.COLUMN / pdf.SCALE) == []


def test_folded_parts_are_open_and_hidden_code_is_not_a_grey_bar(paper: Any, html: Path) -> None:
    paper.goto((html / f"{CHAPTER}.html").as_uri())
    paper.evaluate(pdf.PREPARE, pdf.COLUMN / pdf.SCALE)
    solution = paper.locator("div.solution .section, div.solution section").first
    assert solution.is_visible()
    folded = paper.locator(".cell details.above-input:not(.lowdim-fold-output)")
    assert folded.count() > 0
    assert not [fold for fold in folded.all() if fold.is_visible()]
    assert paper.locator(".cell details summary:visible").count() == 0
    assert paper.locator("h1:visible").count() == 1, "the theme's title for print comes on top"
    assert paper.locator(".math").count() == paper.locator(".math:has(mjx-container)").count() > 20


def test_a_chapter_prints(browser: Any, html: Path, tmp_path: Path) -> None:
    from pypdf import PdfReader

    tab = browser.new_page()
    tab.emulate_media(media="print")
    press = pdf._Press(ROOT, tab, tmp_path)
    made = press.page(pdf.Page(CHAPTER, "Part"))
    path = pdf.bind([made], tmp_path / "chapter.pdf", title=made.title, root=ROOT)
    reader = PdfReader(path)
    assert 5 < len(reader.pages) < 25
    text = [page.extract_text() for page in reader.pages]
    assert all(page.rstrip().endswith(str(n)) or str(n) in page for n, page in enumerate(text, 1))
    assert "Lemma 4.1" in text[0] and "Show code cell" not in " ".join(text)
    assert len(reader.outline) == 2 and len(reader.outline[1]) > 4
    assert {entry.title for entry in reader.outline[1]} <= set(made.headings)
    assert b"file:" not in path.read_bytes()
    assert all(page.mediabox.width == pytest.approx(595, abs=1) for page in reader.pages)
    tab.close()
