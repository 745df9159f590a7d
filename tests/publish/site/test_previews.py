"""What is cut out of a page for a preview, and how links say which of them they lead to."""

from __future__ import annotations

import json
import re

import pytest
from lowdim.publish.site import book, previews, symbols
from lowdim.publish.site.previews import Page, Previews, card_of

THERE = """<body><article class="bd-article"><section id="top"><span id="label"></span>
<h1>Title<a class="headerlink" href="#top">#</a></h1><p>First &amp; last.</p><p>Second.</p>
<div class="lowdim-box proof box-mended box-folded" id="preserve.theorem-3-1"><details>
<summary class="box-title">Theorem</summary><div class="box-body"><p>Let <span class="math">\\(x\\)
</span>, see <a href="#top">above</a>.</p></div></details><a aria-label="x" class="box-link"
href="#preserve.theorem-3-1">¶</a></div>
<div class="math notranslate" id="equation-e"><span class="eqno">(1)</span>\\[x&lt;y\\]</div>
<figure id="fig"><div class="lowdim-figure"><span class="lowdim-window lowdim-whole">
<img alt="A" src="../_images/a.svg" /></span><div class="lowdim-panels"><img alt="B" src="b.svg"/>
</div></div><figcaption><p>Caption</p></figcaption></figure>
<div class="citation" id="id1"><span class="label">[X]</span><p>A. Title. 2024.</p></div>
<div class="exercise admonition" id="ex"><p class="admonition-title">Exercise 1</p>
<p>Show.</p></div>
<table><tr id="symbol-r"><td><p>r</p></td><td><p>rank</p></td></tr></table>
<dl><dt id="term-w">width</dt><dd><p>How wide.</p></dd></dl>
<p id="plain">A paragraph.</p></section></article></body>"""
HERE = """<body><nav><a href="there.html#fig">no</a></nav><article>{}</article></body>"""
CLAIM = book.Claim(
    id="preserve.theorem-3-1",
    chapter="there",
    **dict.fromkeys(("title", "says", "body", "source", "reading", "evidence"), ""),
    verdict="repaired",
    tags=("typo",),
    supported=True,
    trials=0,
    violations=0,
    tightness=None,
    errata=(),
    reported=(),
)


def shown(*links: str, page: str = "book/here.html") -> tuple[str, dict[str, dict[str, str]]]:
    """A page of its own folder with these links, and the cards of the page that they lead to."""
    pages = {"notebooks/there.html": Page(THERE), page: Page(HERE.format("".join(links)))}
    made = Previews(pages, [CLAIM])
    text = made.linked(page)
    script = made.scripts().get("notebooks/there", "")
    if not script:
        return text, {}
    given = json.loads(script.partition(" = ")[2].rstrip().removesuffix(";"))
    assert given["title"] == "Title"
    return text, given["cards"]


@pytest.mark.parametrize(
    ("place", "kind", "words"),
    [
        ("preserve.theorem-3-1", "statement", "Let"),
        ("equation-e", "equation", "(1)"),
        ("fig", "figure", "Caption"),
        ("id1", "reference", "A. Title."),
        ("ex", "exercise", "Show."),
        ("symbol-r", "symbol", "rank"),
        ("term-w", "word", "How wide."),
        ("label", "page", "First &amp; last."),
        ("top", "page", "Title"),
    ],
)
def test_each_kind_of_thing_is_shown(place: str, kind: str, words: str) -> None:
    card = card_of(Page(THERE), place)
    assert card is not None and card.kind == kind and words in card.content
    assert not re.search(r"\sid=|<a\b|<section|<details|¶|Panel|b\.svg", card.content)
    assert card.tone == ("box-mended" if kind == "statement" else "")


def test_a_plain_paragraph_and_a_missing_place_have_no_card() -> None:
    assert card_of(Page(THERE), "plain") is None
    assert card_of(Page(THERE), "absent") is None


def test_a_target_is_written_once_and_its_links_know_it() -> None:
    link = '<a class="reference internal" href="../notebooks/there.html#equation-e">(1)</a>'
    text, cards = shown(link, link, '<a href="https://x.test/">out</a>')
    assert list(cards) == ["equation-e"] and cards["equation-e"]["kind"] == "equation"
    assert text.count('data-preview="notebooks/there#equation-e" data-kind="equation"') == 2
    assert text.index("<article>") < text.index("data-preview") < text.index("</article>")
    assert text.count("data-preview") == 2 and "data-tap" not in text


def test_in_a_chapter_a_tap_shows_things_and_follows_links_to_pages() -> None:
    links = [f'<a href="there.html#{place}">x</a>' for place in ("ex", "fig", "label")]
    text, _ = shown(*links, page="notebooks/here.html")
    assert re.findall(r'data-kind="(\w+)"( data-tap)?', text) == [
        ("exercise", " data-tap"),
        ("figure", " data-tap"),
        ("page", ""),
    ]


def test_a_picture_has_its_address_from_the_root() -> None:
    _, cards = shown('<a href="../notebooks/there.html#fig">Figure</a>')
    assert 'data-src="_images/a.svg"' in cards["fig"]["html"]
    assert ' src="' not in cards["fig"]["html"]


@pytest.mark.parametrize(
    "link",
    [
        '<a href="../notebooks/there.html#label"><span>Theorem 3.1</span></a>',
        '<a href="../notebooks/there.html">the proof of Theorem 3.1.</a>',
        '<a href="ledger.html#preserve.theorem-3-1-verdict">preserve.theorem-3-1</a>',
    ],
)
def test_words_that_name_a_claim_show_the_claim_with_its_verdict(link: str) -> None:
    pages = {
        "book/here.html": Page(HERE.format(link)),
        "book/ledger.html": Page(""),
        "notebooks/there.html": Page(THERE),
    }
    made = Previews(pages, [CLAIM])
    assert 'data-preview="notebooks/there#preserve.theorem-3-1"' in made.linked("book/here.html")
    (card,) = made.cards.values()
    assert card is not None and card.kind == "statement"
    assert "verdict-repaired" in card.content and "typo" in card.content


NOTATION = r"""<table><thead><tr><th>symbol</th></tr></thead><tbody>
<tr id="symbol-m"><td><span class="math">\(m\)</span></td><td>ambient</td></tr>
<tr id="symbol-p"><td><span class="math">\(P(A)\)</span></td><td>projector</td></tr></tbody></table>
<table><thead><tr><th>Part IV, <em>Hashing</em></th></tr></thead><tbody>
<tr id="symbol-tau"><td><span class="math">\(\tau\)</span></td><td>the same</td></tr>
<tr id="symbol-v"><td><span class="math">\(\mathcal V\)</span></td><td>
<span class="math">\(V_n\)</span></td></tr></tbody></table>"""


def test_symbols_are_those_that_leave_no_doubt() -> None:
    found = symbols.read(NOTATION)
    assert [(s.tex, s.part) for s in found] == [("P(A)", ""), ("\\tau", "hashing")]


def test_a_symbol_leads_to_the_notation_once_and_in_its_part_only() -> None:
    formula = r'<span class="math">\(\tau\)</span>'
    text = f'<h2>{formula}</h2><p><a href="x">{formula}</a> {formula} {formula}</p>'
    found = symbols.read(NOTATION)
    linked = symbols.linked(text, found, part="hashing", page="n.html")
    assert linked.count("lowdim-symbol") == 1
    assert linked.index("</a> <a class") < linked.index("n.html#symbol-tau")
    assert symbols.linked(text, found, part="preserve", page="n.html") == text


def test_a_long_statement_is_cut_between_blocks() -> None:
    content = '<p class="admonition-title">T</p>' + "<p>word</p>" * 300
    cut = previews.shortened(content, 200)
    assert cut.endswith("…</p>") and len(cut) < 260
    assert cut.count("<p") == cut.count("</p>")
