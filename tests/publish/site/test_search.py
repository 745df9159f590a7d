"""The index of the search: what is in it, in which form, and what is left out."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from docutils import nodes
from docutils.core import publish_doctree
from docutils.parsers.rst import directives
from lowdim.publish.site import book, search

CLAIM = book.Claim(
    id="preserve.theorem-3-1",
    chapter="preserve/theorem_3_1",
    title="Theorem 3.1, as printed",
    says="A layer keeps **clusters** if $\\sigma_r>0$.",
    body="Let $W$ be *given*.\n\n$$x<y$$",
    source="",
    reading="",
    evidence="",
    verdict="holds",
    tags=("typo",),
    supported=True,
    trials=0,
    violations=0,
    tightness=None,
    errata=(),
    reported=(),
)


def read(script: str) -> dict[str, list]:
    """The index as JavaScript would have it."""
    return json.loads(script.removeprefix("window.lowdimIndex = ").strip().removesuffix(";"))


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> search.Page:
    # Sphinx, once loaded, has directives of its own for this, and they want a book around them.
    monkeypatch.delitem(directives._directives, "math", raising=False)
    tree = publish_doctree(
        """
Depth
=====

Prose with :math:`x_i`.

.. math:: y^2

::

    code = 1

Below
-----

More prose.

- one
- two
""",
        settings_overrides={"doctitle_xform": False},
    )
    return search.page_of(tree, claims={})


def test_sections_have_their_own_prose_and_no_code(page: search.Page) -> None:
    assert page.title == "Depth"
    assert page.sections == [
        ("depth", "Depth", "Prose with $x_i$."),
        ("below", "Below", "More prose. one two"),
    ]


def test_a_claim_is_found_where_it_is_stated(page: search.Page) -> None:
    made = book.Book({}, {CLAIM.id: CLAIM})
    page.places[CLAIM.id] = "preserve.theorem-3-1"
    index = read(search.index(made, {"book/index": search.Page(), CLAIM.docname: page}))
    [[name, shown, title, says, body, on, place, verdict, tags]] = index["claims"]
    assert (name, shown, title) == (CLAIM.id, "Theorem 3.1", "Theorem 3.1, as printed")
    assert says == "A layer keeps clusters if $\\sigma_r>0$."
    assert body == "Let $W$ be given. $x<y$"
    assert index["pages"][on] == [f"{CLAIM.docname}.html", "Depth", "preserve"]
    assert (place, verdict, tags) == ("preserve.theorem-3-1", "holds", ["typo"])


def test_a_claim_without_a_page_is_left_out(page: search.Page) -> None:
    other = replace(CLAIM, chapter="preserve/elsewhere")
    index = read(search.index(book.Book({}, {other.id: other}), {"book/index": page}))
    assert index["claims"] == []


def test_prose_is_kept_apart_and_in_the_same_order(page: search.Page) -> None:
    page.sections[1] = ("below", "Below", f"Long ${'x' * 80}$ and $y$.")
    index = read(search.index(book.Book({}, {}), {"a": page}))
    said = json.loads(
        search.texts({"a": page}).removeprefix("window.lowdimTexts = ").strip().removesuffix(";")
    )
    assert [row[2] for row in index["sections"]] == ["Depth", "Below"]
    assert said == ["Prose with $x_i$.", "Long … and $y$."]


def test_exercises_and_boxes_of_claims_are_no_prose() -> None:
    tree = publish_doctree("Title\n=====\n\nProse.\n", settings_overrides={"doctitle_xform": False})
    section = tree.next_node(nodes.section)
    assert section is not None
    box = nodes.container("", nodes.paragraph("", "a claim"), ids=[CLAIM.anchor, CLAIM.id])
    section += [box, nodes.container("", nodes.paragraph("", "and more"))]
    found = search.page_of(tree, claims={CLAIM.id: CLAIM})
    assert found.sections == [("title", "Title", "Prose. and more")]
    assert found.places == {CLAIM.id: CLAIM.anchor}


def test_first_words_end_before_a_formula() -> None:
    text = "Show that " + "$a+b$ " * 40
    cut = search.first_words(text, 50)
    assert cut.endswith("$ …") and cut.count("$") % 2 == 0 and len(cut) <= 52


def test_what_the_theme_loads_is_taken_out() -> None:
    page = (
        '<head>\n    <script src="../_static/searchtools.js?v=1"></script>\n'
        '    <script src="../searchindex.js"></script>\n<script src="a.js"></script></head>'
    )
    assert search._SCRIPT.sub("", page) == '<head>\n<script src="a.js"></script></head>'
