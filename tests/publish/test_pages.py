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
    """The Markdown as HTML, without what only Sphinx knows: the card, and links to chapters."""
    options = {
        "myst_enable_extensions": ["colon_fence", "deflist", "dollarmath"],
        "report_level": 2,
        "halt_level": 2,
        "output_encoding": "unicode",
        "math_output": "LaTeX",
    }
    markdown = "# A page\n\n" + re.sub(r"^::::.*$", "", markdown, flags=re.MULTILINE)
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


def test_the_ledger_has_every_claim_with_its_numbers() -> None:
    first = make_record(
        make_claim(tags=["sharpened"]),
        make_claim("preserve.new-tangent-gap", tightness=None, trials=0),
    )
    second = make_record(
        make_claim("collapse.figure-2", verdict="not-reproduced", violations=3),
        chapter="collapse/figure_2",
        title="Figure 2",
    )
    page = pages.ledger([first, second])
    assert "**3 claims in 2 chapters.**" in page
    assert page.index("## Part I: Preserve") < page.index("## Part II: Collapse")
    html = render(page)
    rows = [row for row in cells(html) if row and row[0] != "Claim"]
    assert [row[:2] for row in rows] == [
        ["Lemma 4.1preserve.lemma-4-1lemma; Lemma 4.1, page 5", "holds sharpened"],
        ["New: tangent gappreserve.new-tangent-gapnew; Lemma 4.1, page 5", "holds"],
        ["Figure 2collapse.figure-2figure; Lemma 4.1, page 5", "not-reproduced"],
    ]
    assert [row[2:] for row in rows] == [
        ["20,000", "0", "0.988", "7", "12.3"],
        ["0", "0", "–", "7", "12.3"],
        ["20,000", "3", "0.988", "7", "12.3"],
    ]
    assert 'id="preserve.lemma-4-1-verdict"' in html
    assert page.count("](/notebooks/preserve/lemma_4_1.md)") == 4
    assert "](/notebooks/collapse/figure_2.md)" in page


def test_a_labelled_theorem_is_linked_itself(book: Any) -> None:
    book.chapter(claim="preserve.theorem-9-1")
    labels = pages.proof_labels(book.root, ["preserve/weyl"])
    assert labels == {"preserve.theorem-9-1"}
    record = make_record(make_claim("preserve.theorem-9-1"))
    assert "{prf:ref}`Theorem 9.1 <preserve.theorem-9-1>`" in pages.ledger([record], labels=labels)
    assert "{prf:ref}" not in pages.ledger([record])


def test_errata_say_what_is_printed_and_what_is_right() -> None:
    slip = {
        "where": "Equation (2)",
        "printed": r"$\sqrt{27 r}$",
        "correct": r"$\sqrt{2^7 r}$",
        "why": pages.text(NASTY),
        "consequence": "none",
    }
    page = pages.errata([make_record(make_claim(errata=[slip, slip]), make_claim("a.claim-1"))])
    assert "**2 slips in 1 claim.**" in page
    assert page.count("lowdim-card") == 2
    html = render(page)
    assert html.count("<dt>Printed</dt>") == 2
    assert r"\sqrt{27 r}" in html and r"\sqrt{2^7 r}" in html
    assert "<em>" not in html and "<b>" not in html
    assert pages.errata([make_record()]).startswith("No slip")


def test_special_characters_survive_in_tables() -> None:
    row = {"quantity": NASTY, "reported": "1.", "measured": "- 2", "reading": "", "agrees": None}
    rows = [row, {**row, "agrees": True}, {**row, "agrees": False, "reading": "# x"}]
    page = pages.reported([make_record(make_claim(reported=rows))])
    assert "**3 quantities**: 1 agree, 1 do not, 1 cannot be compared." in page
    html = render(page)
    found = cells(html)[1:]
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
    assert html.count('class="math') == 3
    assert pages.reported([make_record()]).startswith("No chapter")


@pytest.mark.parametrize("value", ["$5 and $6", "a $ b", "100%", "$x$", "$$x^2$$", "two\nlines"])
def test_text_is_one_line_and_dollars_pair_up(value: str) -> None:
    html = render(f"{pages.text(value)}\n")
    assert "\n" not in pages.text(value)
    assert ('class="math' in html) == (value.strip("$") != value and value.endswith("$"))


def test_the_status_page_lists_chapters_and_paper_size_runs() -> None:
    first = make_record()
    second = make_record(chapter="preserve/theorem_3_1", title="Theorem 3.1", seconds=1.0)
    images = {"title": "MNIST", "taken": 600, "kind": "subset"}
    sizes = [
        make_record(preset="paper", seconds=3600.0),
        {**make_record(preset="mnist", seconds=30.0), "data": images},
    ]
    page = pages.status([first, second], sizes=sizes)
    assert "MNIST, 600 images of a subset" in page
    assert "**2 chapters, 13.3 s of computing in all.**" in page
    assert page.count("lowdim 1.0") == 3  # once for all chapters, once for each run that was kept
    assert "paper" in page and "3,600.0" in page
    assert "../_notebooks/preserve/theorem_3_1.ipynb" in page
    other = make_record(versions={**first["versions"], "torch": "2.0"})
    assert pages.status([first, other]).count("torch ") == 2
    assert cells(render(page))[0] == ["Chapter", "Seconds", "Seed", "Claims", "Notebook"]


def test_all_pages_are_written_also_with_no_records(book: Any) -> None:
    written = pages.write_all(book.root, [])
    assert [path.name for path in written] == ["ledger.md", "errata.md", "reported.md", "status.md"]
    assert all(render(path.read_text()) for path in written)


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
