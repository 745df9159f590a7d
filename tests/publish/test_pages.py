"""Pages made from records: everything is on them, and nothing in a record breaks them."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from docutils import nodes
from docutils.core import publish_string
from lowdim.evidence import vocabulary
from lowdim.publish import pages, records, sphinxext
from lowdim.publish.site import bibtex
from myst_nb.core.render import MimeData
from myst_parser.parsers.docutils_ import Parser

NASTY = r"a|b, x<y & *not* emphasis, _nor_ this, <b>tag</b>, $\|X\|_F < 1$, 5$ and `code|<x>`"


def make_claim(claim_id: str = "preserve.lemma-4-1", **changes: Any) -> dict[str, Any]:
    part, _, rest = claim_id.partition(".")
    return {
        "id": claim_id,
        "part": part,
        "kind": rest.partition("-")[0],
        "source": "Lemma 4.1, page 5",
        "statement": r"$\|A\| \le \|B\|$",
        "verdict": "holds",
        "tags": [],
        "trials": 20000,
        "violations": 0,
        "tightness": 0.98765,
        "evidence": "no violation in 20,000 instances",
        "supported": True,
        "ladder": [],
        "lines": [],
        "errata": [],
        "reported": [],
        **changes,
    }


def make_record(*claims: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A record joined with its words, as pages get it."""
    record = {
        "schema": records.VERSION,
        "chapter": "preserve/lemma_4_1",
        "title": "Lemma 4.1 — noise | and the projector",
        "seed": 7,
        "parameters": {"seed": 7},
        "preset": None,
        "seconds": 12.34,
        "versions": dict.fromkeys(("lowdim", "python", "torch", "numpy", "scipy"), "1.0"),
        "machine": {"system": "Linux", "processor": "x86_64", "cores": 2, "threads": 1},
        "claims": list(claims) or [make_claim()],
        "values": {},
        **changes,
    }
    measured = {key: value for key, value in record.items() if key != "title"}
    words = ("part", "kind", "source", "statement", "evidence", "errata", "reported")
    measured["claims"] = [
        {key: value for key, value in claim.items() if key not in words}
        for claim in record["claims"]
    ]
    records.validate(measured)
    return record


def render(markdown: str) -> str:
    """The Markdown as HTML, without what only Sphinx knows: links to chapters, citations."""
    options = {
        "myst_enable_extensions": ["colon_fence", "deflist", "dollarmath"],
        "report_level": 2,
        "halt_level": 2,
        "output_encoding": "unicode",
        "math_output": "LaTeX",
    }
    markdown = "# A page\n\n" + re.sub(r"\{cite\}(?=`)", "", markdown)
    markdown = markdown.replace("](/notebooks/", "](https://book.test/")
    return publish_string(
        markdown, parser=Parser(), writer_name="html5", settings_overrides=options
    )


def cells(html: str) -> list[list[str]]:
    rows = re.findall(r"<tr>(.*?)</tr>", html, flags=re.DOTALL)
    strip = re.compile(r"<[^>]+>")
    return [
        [
            " ".join(unescape(strip.sub("", cell)).split())
            for cell in re.findall(r"<t[dh]\b[^>]*>(.*?)</t[dh]>", row, flags=re.DOTALL)
        ]
        for row in rows
    ]


@pytest.mark.parametrize("verdict", vocabulary.VERDICTS)
def test_a_badge_has_a_style_in_the_book(verdict: str) -> None:
    html = vocabulary.badge(verdict, ["sharpened", "typo"])
    assert re.findall(r">([a-z-]+)</span>", html) == [verdict, "sharpened", "typo"]
    styles = (Path(__file__).parents[2] / "book" / "_static" / "lowdim.css").read_text()
    for name in re.findall(r"verdict-[a-z-]+", html):
        assert re.search(rf"\.{name}[ ,]", styles + vocabulary.style()), name
    for variable in re.findall(r"var\((--[a-z-]+)\)", vocabulary.style()):
        assert f"{variable}:" in styles, f"the style sheet gives {variable} no colour"


def test_the_words_are_those_of_the_schema() -> None:
    claim = records.schema()["properties"]["claims"]["items"]["properties"]
    assert set(claim["verdict"]["enum"]) == set(vocabulary.VERDICTS) == set(vocabulary.TONES)
    assert set(claim["tags"]["items"]["enum"]) == set(vocabulary.TAGS)
    with pytest.raises(ValueError, match="There is no 'true'; the choices are holds, "):
        vocabulary.badge("true")


def rows(html: str, style: str) -> list[tuple[dict[str, str], str]]:
    """Attributes and text of every row of a list."""
    found = re.findall(rf'<(li|tr) class="{style}" (.*?)>\n(.*?)</\1>', html, flags=re.DOTALL)
    strip = re.compile(r"<[^>]+>")
    return [
        (
            {name: unescape(value) for name, value in re.findall(r'([\w-]+)="([^"]*)"', given)},
            " ".join(unescape(strip.sub(" ", shown)).split()),
        )
        for _, given, shown in found
    ]


def counts(html: str) -> dict[str, int]:
    """How often each choice of a form occurs, as it says itself."""
    pattern = r'name="(\w+)" value="([\w-]+)">.*?class="filter-count">(\d+)<'
    return {f"{name} {value}": int(count) for name, value, count in re.findall(pattern, html)}


def test_the_ledger_has_every_claim_with_its_words_and_numbers() -> None:
    first = make_record(
        make_claim(tags=["sharpened"]),
        make_claim("preserve.new-tangent-gap", tightness=None, trials=0, supported=False),
    )
    second = make_record(
        make_claim("collapse.figure-2", verdict="not-reproduced", violations=3),
        chapter="collapse/figure_2",
        title="Figure 2",
    )
    page = pages.ledger([first, second])
    assert page.index("## Part I: Preserve") < page.index("## Part II: Collapse")
    html = render(page)
    assert ">3 claims in 2 chapters.<" in html
    found = rows(html, "ledger-row")
    names = ["id", "data-verdict", "data-part", "data-kind", "data-tag", "data-name"]
    assert [[given[name] for name in names] for given, _ in found] == [
        ["preserve.lemma-4-1-verdict", "holds", "preserve", "lemma", "sharpened", "Lemma 4.1"],
        ["preserve.new-tangent-gap-verdict", "holds", "preserve", "new", "", "New: tangent gap"],
        ["collapse.figure-2-verdict", "not-reproduced", "collapse", "figure", "", "Figure 2"],
    ]
    shown = [re.sub(r"\\[()] ?", "", row) for _, row in found]
    assert shown[0] == (
        r"holds sharpened Lemma 4.1 \|A\| \le \|B\| Evidence no violation in 20,000 instances "
        "Lemma 4.1, page 5. Lemma 4.1 — noise | and the projector "
        "20,000 trials · 0 violations · tightness 0.988"
    )
    assert shown[1].endswith("no trials") and "This run does not support it." in shown[1]
    assert "Figure 2 20,000 trials · 3 violations" in shown[2]
    assert html.count('class="math') == 3
    assert found[0][0]["data-text"] == "preserve.lemma-4-1 preserve/lemma_4_1"
    seen = counts(html)
    assert seen["verdict holds"] == seen["part preserve"] == 2 and seen["verdict refuted"] == 0
    assert seen["tag sharpened"] == seen["kind new"] == 1
    for meaning in [*vocabulary.VERDICTS.values(), *vocabulary.TAGS.values()]:
        assert f">{meaning}<" in html  # the legend says what each word means


def test_a_name_leads_to_its_statement() -> None:
    html = render(pages.ledger([make_record()]))
    assert 'href="../notebooks/preserve/lemma_4_1.html#preserve.lemma-4-1"' in html


def test_a_claim_can_be_cited() -> None:
    citing = bibtex.Citing("A Book", ("Somebody",), "1.0")
    html = render(pages.ledger([make_record()], citing=citing))
    entries = re.findall(r"<summary>([^<]*)</summary>\n<pre>([^<]*)</pre>", html)
    assert entries == [("Cite the book", citing.book())]
    assert 'data-cite="preserve.lemma-4-1"' in html
    assert f'href="../{bibtex.FILE}" download' in html
    assert "lowdim-cite" not in render(pages.ledger([make_record()]))


SLIP = {
    "where": "Equation (2)",
    "printed": r"$\sqrt{27 r}$",
    "correct": r"$\sqrt{2^7 r}$",
    "why": pages.text(NASTY),
    "consequence": "none",
}


def test_errata_say_what_is_printed_and_what_is_right() -> None:
    claim = make_claim(errata=[SLIP, SLIP], source="{cite}`weyl1912`")
    known = {"weyl1912": bibtex.Paper("weyl1912", "On {Values} & More", "1912", "")}
    page = pages.errata([make_record(claim, make_claim("a.claim-1"))], papers=known)
    html = render(page)
    assert ">2 slips in 1 claim.<" in html
    found = rows(html, "errata-row")
    assert [given["id"] for given, _ in found] == [
        "preserve.lemma-4-1-slip-1",
        "preserve.lemma-4-1-slip-2",
    ]
    order = ["Equation (2)", "Lemma 4.1", "holds", "Printed", r"\sqrt{27 r}", "Correct"]
    order += [r"\sqrt{2^7 r}", "Why", "a|b, x<y & *not* emphasis", "Consequence none"]
    places = [found[0][1].index(word) for word in order]
    assert places == sorted(places)
    assert counts(html) == {"part preserve": 2} and "On Values &amp; More, 1912" in html
    assert 'href="ledger.html#preserve.lemma-4-1-verdict"' in html
    assert "<em>" not in html and "<b>" not in html
    assert pages.errata([make_record()]).startswith("No slip")


def test_special_characters_survive_in_tables() -> None:
    row = {"quantity": NASTY, "reported": "1.", "measured": "- 2", "reading": "", "agrees": None}
    lines = [row, {**row, "agrees": True}, {**row, "agrees": False, "reading": "# x"}]
    html = render(pages.reported([make_record(make_claim(reported=lines))]))
    assert ">3 quantities: 1 agree, 1 do not, 1 cannot be compared.<" in html
    assert counts(html) == {"agrees yes": 1, "agrees no": 1, "agrees open": 1, "part preserve": 3}
    body = html.partition("<tbody>")[2]
    found = [row for row in cells(re.sub(r"<tr [^>]*>", "<tr>", body)) if row]
    shown = (
        "a|b, x<y & *not* emphasis, _nor_ this, <b>tag</b>, "
        r"\|X\|_F < 1, 5$ and code|<x> (Lemma 4.1)"
    )
    plain = [[re.sub(r"\\[()]", "", row[0]), *row[1:]] for row in found]
    assert plain == [
        [shown, "1.", "- 2", "–", "–"],
        [shown, "1.", "- 2", "–", "yes"],
        [shown, "1.", "- 2", "# x", "no"],
    ]
    assert [given["data-agrees"] for given, _ in rows(html, "reported-row")] == [
        "open",
        "yes",
        "no",
    ]
    assert html.count('class="math') == 3
    assert pages.reported([make_record()]).startswith("No chapter")


@pytest.mark.parametrize("value", ["$5 and $6", "a $ b", "100%", "$x$", "$$x^2$$", "two\nlines"])
def test_text_is_one_line_and_dollars_pair_up(value: str) -> None:
    html = render(f"{pages.text(value)}\n")
    assert "\n" not in pages.text(value)
    assert ('class="math' in html) == (value.strip("$") != value and value.endswith("$"))


def test_the_status_page_says_once_what_is_the_same() -> None:
    first = make_record()
    second = make_record(chapter="preserve/theorem_3_1", title="Theorem 3.1", seconds=1.0)
    images = {"title": "MNIST", "taken": 600, "kind": "subset"}
    older = {**first["versions"], "lowdim": "0.9"}
    sizes = [
        make_record(preset="paper", seconds=3600.0, versions=older),
        {**make_record(preset="mnist", seconds=30.0, versions=older), "data": images},
    ]
    page = pages.status([first, second], sizes=sizes)
    html = render(page)
    assert "**2 chapters, 13.3 s of computing in all.**" in page
    assert page.count("torch 1.0") == page.count("lowdim 1.0") == page.count("lowdim 0.9") == 1
    assert page.count("Linux") == page.count("seed 7") == 1
    tables = [row for row in cells(html) if row]
    assert tables[0] == ["Chapter", "Claims", "Seconds", "Notebook"]
    assert tables[1:3] == [
        ["Lemma 4.1 — noise | and the projector", "1", "12.3", ".ipynb"],
        ["Theorem 3.1", "1", "1.0", ".ipynb"],
    ]
    assert tables[3:] == [
        ["Chapter", "Run", "Data", "Seconds"],
        ["Lemma 4.1", "paper", "–", "3,600"],
        ["Lemma 4.1", "mnist", "MNIST, 600 images of a subset", "30"],
    ]
    assert "2 larger runs, 1.0 hours in all." in page
    assert "../_notebooks/preserve/theorem_3_1.ipynb" in page
    assert 'href="ledger.html?text=preserve/theorem_3_1"' in page


def test_what_differs_between_runs_is_a_column() -> None:
    first = make_record()
    other = make_record(versions={**first["versions"], "torch": "2.0"})
    found = [row for row in cells(render(pages.status([first, other]))) if row]
    assert found[0] == ["Chapter", "Claims", "Seconds", "torch", "Notebook"]
    assert [row[3] for row in found[1:]] == ["1.0", "2.0"]


def test_verdicts_that_move_with_newer_packages_are_listed() -> None:
    first = make_record()
    found = {
        "chapters": 2,
        "versions": {"numpy": ["2.4.6", "2.5.0"]},
        "moved": [
            {
                "chapter": first["chapter"],
                "claim": "preserve.lemma-4-1",
                "before": "holds",
                "after": "refuted",
            }
        ],
        "failed": [{"chapter": "preserve/other", "error": "other failed: a | b"}],
    }
    page = pages.status([first], newest=found)
    assert "2 chapters with numpy 2.5.0 for 2.4.6: 1 verdict moved." in render(page)
    tables = [row for row in cells(render(page)) if row]
    assert tables[-2:] == [
        ["Lemma 4.1 — noise | and the projector", "preserve.lemma-4-1", "holds", "refuted"],
        ["preserve/other", "–", "–", "other failed: a | b"],
    ]
    calm = pages.status([first], newest=found | {"moved": [], "failed": [], "versions": {}})
    assert "2 chapters with the same packages: 0 verdicts moved." in render(calm)
    assert len(cells(render(calm))) == len(cells(render(pages.status([first]))))


def test_all_pages_are_written_also_with_no_records(book: Any) -> None:
    written = pages.write_all(book.root, [])
    assert [path.name for path in written] == ["ledger.md", "errata.md", "reported.md", "status.md"]
    assert all(render(path.read_text()) for path in written)


def test_the_pages_have_claims_in_the_order_of_the_chapter(book: Any) -> None:
    path = book.chapter()
    second = "```{claim} lemma-1\n:source: here\nFirst.\n```\n"
    evidence = "```{evidence} lemma-1\nSeen.\n```\n"
    text = path.read_text().replace("```{prf:theorem}", f"{second}\n```{{prf:theorem}}", 1)
    path.write_text(text.replace("## Where we", f"{evidence}\n## Where we"))
    words = ("part", "kind", "source", "statement", "evidence", "errata", "reported")
    ruled = [
        {key: value for key, value in make_claim(name).items() if key not in words}
        for name in ("preserve.theorem-9-1", "preserve.lemma-1")
    ]
    record = {**make_record(), "chapter": "preserve/weyl", "claims": ruled, "values": {"twice": 20}}
    (book.root / "CITATION.cff").write_text("title: A Book\nauthors:\n  - name: Somebody\n")
    written = pages.write_all(book.root, [record])
    page = written[0].read_text()
    assert page.index('id="preserve.lemma-1-verdict"') < page.index('id="preserve.theorem-9-1-ver')
    entries = written[-1].read_text()
    assert written[-1].name == bibtex.FILE
    assert re.findall(r"^@\w+\{([^,]*),", entries, flags=re.M) == [
        "lowdim",
        "weyl1912",
        "lowdim:preserve.lemma-1",
        "lowdim:preserve.theorem-9-1",
    ]


def test_the_footer_leads_to_notebook_and_ledger() -> None:
    record = make_record(versions={**make_record()["versions"], "numpy": "<2>"})
    html = sphinxext.footer(record, notebook="../n.ipynb", pathto=lambda name: f"../{name}.html")
    assert "numpy &lt;2&gt;" in html and "12.3 s" in html and "<dd>7</dd>" in html
    assert 'href="../n.ipynb" download' in html
    assert 'href="../book/ledger.html#preserve.lemma-4-1-verdict"' in html


@pytest.mark.parametrize(
    ("static", "dynamic", "alt", "warnings"),
    [
        ("", "seen", "seen", 0),
        ("said", "", "said", 0),
        ("said", "seen", "seen", 0),
        ("", "", "", 1),
    ],
)
def test_alt_text_comes_with_the_output_or_the_cell(
    static: str, dynamic: str, alt: str, warnings: int
) -> None:
    said: list[str] = []
    image = nodes.image(alt=static) if static else nodes.image()
    env = SimpleNamespace(app=SimpleNamespace(extensions={sphinxext.__name__: object()}))
    renderer = SimpleNamespace(
        logger=SimpleNamespace(warning=lambda text, **_: said.append(text)),
        renderer=SimpleNamespace(sphinx_env=env),
        render_image=lambda data: [image],
    )
    metadata = {"lowdim_alt": dynamic} if dynamic else {}
    data = MimeData("image/svg+xml", "<svg/>", output_metadata=metadata, line=1)
    (made,) = sphinxext.AltText.handle_mime(renderer, data, False) or []
    assert made.children == [image]
    assert image.get("alt", "") == alt
    assert len(said) == warnings
    data.mime_type = "text/html"
    assert sphinxext.AltText.handle_mime(renderer, data, False) is None
    data.mime_type = "image/svg+xml"
    env.app.extensions.clear()  # another book
    assert sphinxext.AltText.handle_mime(renderer, data, False) is None


def test_the_entry_point_names_the_renderer() -> None:
    from importlib.metadata import entry_points

    (found,) = entry_points(group="myst_nb.mime_renderers", name="lowdim")
    assert found.load() is sphinxext.AltText
