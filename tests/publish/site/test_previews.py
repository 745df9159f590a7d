"""What is cut out of a page for a preview, and how it is put into another page."""

from __future__ import annotations

import json
import re

import pytest
from lowdim.publish.site import book, previews
from lowdim.publish.site.previews import Page, card_of

THERE = """<body><article class="bd-article"><section id="top"><span id="label"></span>
<h1>Title<a class="headerlink" href="#top">#</a></h1><p>First &amp; last.</p><p>Second.</p>
<div class="proof theorem admonition" id="preserve.theorem-3-1"><p class="admonition-title" id="t">
Theorem</p><section class="theorem-content" id="c"><p>Let <span class="math">\\(x\\)</span>, see
<a href="#top">above</a>.</p></section></div>
<div class="math notranslate" id="equation-e"><span class="eqno">(1)</span>\\[x&lt;y\\]</div>
<figure id="fig"><img alt="A" src="../_images/a.svg" /><figcaption><p>Caption</p></figcaption>
</figure><div class="citation" id="id1"><span class="label">[X]</span><p>A. Title. 2024.</p></div>
<div class="exercise admonition" id="ex"><p class="admonition-title">Exercise 1</p>
<p>Show.</p></div>
<table><tr id="symbol-r"><td><p>r</p></td><td><p>rank</p></td></tr></table>
<p id="plain">A paragraph.</p></section></article></body>"""
HERE = """<body><nav><a href="there.html#fig">no</a></nav><article>{}</article></body>"""
CLAIM = book.Claim(
    id="preserve.theorem-3-1",
    chapter="preserve/theorem_3_1",
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
CLAIMS = {("n/there.html", "Theorem 3.1"): CLAIM}


def shown(*links: str) -> tuple[str, list[dict[str, str]]]:
    """A page of its own folder with these links, and the cards that it got."""
    pages = {"n/there.html": Page(THERE), "m/here.html": Page(HERE.format("".join(links)))}
    text = previews.with_previews("m/here.html", pages, CLAIMS)
    found = re.search(r'id="lowdim-previews">(.*?)</script>', text)
    return text, json.loads(found[1]) if found else []


@pytest.mark.parametrize(
    ("place", "kind", "words"),
    [
        ("preserve.theorem-3-1", "statement", "Let"),
        ("equation-e", "equation", "(1)"),
        ("fig", "figure", "Caption"),
        ("id1", "reference", "A. Title."),
        ("ex", "exercise", "Show."),
        ("symbol-r", "symbol", "rank"),
        ("label", "page", "First &amp; last."),
        ("top", "page", "Title"),
    ],
)
def test_each_kind_of_thing_is_shown(place: str, kind: str, words: str) -> None:
    card = card_of(Page(THERE), place)
    assert card is not None and card.kind == kind and words in card.content
    assert not re.search(r"\sid=|<a\b|<section", card.content)


def test_a_plain_paragraph_and_a_missing_place_have_no_card() -> None:
    assert card_of(Page(THERE), "plain") is None
    assert card_of(Page(THERE), "absent") is None


def test_a_target_is_written_once_and_its_links_know_it() -> None:
    link = '<a class="reference internal" href="../n/there.html#equation-e">(1)</a>'
    text, cards = shown(link, link, '<a href="https://x.test/">out</a>')
    assert len(cards) == 1 and text.count('data-preview="0"') == 2
    assert text.index("<article>") < text.index("data-preview") < text.index("</article>")
    assert "<" not in text.partition('id="lowdim-previews">')[2].partition("</script>")[0]


def test_a_figure_is_found_from_another_folder() -> None:
    _, cards = shown('<a href="../n/there.html#fig">Figure</a>')
    assert 'src="../_images/a.svg"' in cards[0]["html"]
    assert cards[0]["where"] == "Title"


@pytest.mark.parametrize(
    "link",
    [
        '<a href="../n/there.html#label"><span>Theorem 3.1</span></a>',
        '<a href="../n/there.html">the proof of Theorem 3.1.</a>',
        '<a href="#preserve.theorem-3-1-verdict">preserve.theorem-3-1</a>',
    ],
)
def test_words_that_name_a_claim_show_the_claim_with_its_verdict(link: str) -> None:
    _, cards = shown(link)
    assert cards[0]["kind"] == "statement"
    assert "verdict-repaired" in cards[0]["html"] and "typo" in cards[0]["html"]


def test_a_page_keeps_to_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(previews, "MOST", 300)
    text, cards = shown(
        *(f'<a href="../n/there.html#{place}">x</a>' for place in ("ex", "fig", "id1", "label"))
    )
    assert 1 <= len(cards) < 4 and len(json.dumps(cards)) < 600
    assert text.count("data-preview") == 4


def test_a_long_statement_is_cut_between_blocks() -> None:
    content = '<p class="admonition-title">T</p>' + "<p>word</p>" * 300
    cut = previews.shortened(content, 200)
    assert cut.endswith("…</p>") and len(cut) < 260
    assert cut.count("<p") == cut.count("</p>")
