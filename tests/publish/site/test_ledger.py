"""What narrows a list, as HTML: a legend that reads without scripts, names for every control."""

from __future__ import annotations

from html.parser import HTMLParser

from lowdim.publish.site.ledger import Choice, Facet, cite, data, form

FACETS = [
    Facet("verdict", "Verdict", [Choice("holds", "<b>holds</b>", 2, "as stated")]),
    Facet("part", "Part", [Choice("preserve", "Part I", 1), Choice("collapse", "Part II", 1)]),
]


class Controls(HTMLParser):
    """The controls of a form, with the label around each, and whether every tag is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.named: list[tuple[str, bool]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("input", "select"):
            self.named.append((dict(attrs)["name"] or "", "label" in self.open))
        if tag != "input":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_every_control_has_a_label_and_every_tag_its_end() -> None:
    sorts = {"book": "of the book", "name": "by name"}
    lines = form(FACETS, rows=".row", words=("claim", "claims"), summary="Two.", sorts=sorts)
    found = Controls("\n".join(lines))
    assert found.open == []
    assert found.named == [(name, True) for name in ("verdict", "part", "part", "text", "sort")]
    assert not any(line.strip() == "" for line in lines)  # an empty line would end the HTML


def test_the_form_is_a_legend_first() -> None:
    page = "\n".join(form(FACETS, rows=".row", words=("slip", "slips"), summary="Two slips."))
    assert '<p class="filter-shown" role="status">Two slips.</p>' in page
    assert ">2</span>" in page and ">as stated</span>" in page
    assert page.count("filter-legend") == page.count("filter-chips") == 1
    assert "No slip fits" in page and 'name="sort"' not in page


def test_nothing_breaks_out_of_an_attribute() -> None:
    given = data(['a "quote" & {cite}`weyl1912`', "$x<y$\nnext"], name='"')
    assert given == (
        'data-name="&quot;" data-text="a &quot;quote&quot; &amp; weyl1912 x&lt;y next"'
    )
    assert "<pre>&lt;/pre&gt;&amp;</pre>" in cite("</pre>&", "x")
