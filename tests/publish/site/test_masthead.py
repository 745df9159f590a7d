"""Mastheads and boxes of a small book: what they show, and what is told where one is wrong."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from lowdim.publish import chapters, source
from lowdim.publish.execute import toc_chapters
from lowdim.publish.site import book, masthead

ROOT = chapters.find_root()

CONF = """\
extensions = ["myst_parser", "sphinx_proof", "sphinxcontrib.bibtex"]
myst_enable_extensions = ["deflist", "dollarmath"]
bibtex_bibfiles = ["book/references.bib"]
exclude_patterns = ["_build"]


def setup(app):
    from lowdim.publish import directives
    from lowdim.publish.site import boxes, climax, elements, masthead

    directives.setup(app)
    elements.setup(app)
    boxes.setup(app)
    climax.setup(app)
    masthead.setup(app)
"""

HEAD = """\
```{masthead}
The paper says
: Noise moves $\\sigma_1$ by {value}`most:.0f` at most.

We find
: So it is.

What survives
: All.

You will learn
: Weyl; why
```
"""

CHAPTER = """\
---
jupytext: {text_representation: {format_name: myst}}
---

(weyl)=
(preserve-theorem-9)=
# Theorem 9 — noise moves little

HEAD
How far?

```{prf:lemma} Lemma 1, as printed
:label: preserve.lemma-1
:nonumber:
:source: {cite}`weyl1912`, Lemma 1
:says: A line on $A$.
Words on $A$.
```
```{prf:lemma} Lemma 2, as printed
:label: preserve.lemma-2
:nonumber:
:source: {cite}`weyl1912`, Lemma 2
:says: One line, see {ref}`weyl`.
More words than a line.
```
```{claim} figure-3
:source: {cite}`weyl1912`, Figure 3
The curve falls.
```
```{prf:theorem} Theorem 9, as printed
:label: preserve.theorem-9
:nonumber:
:source: {cite}`weyl1912`, Theorem 9
:says: The main line.
The main words.
```
```{prf:theorem} Sharper
:label: preserve.new-sharper
:nonumber:
:source: this book
:says: Less.
:uses: preserve.lemma-1
Our words.
```
```{prf:proof}
Clear.
```
```{prf:definition} A thing
:label: a-thing
:nonumber:
It is.
```

## Verdict

```{evidence} theorem-9
It was tried.
```
```{erratum} theorem-9
:where: there
:printed: $a$
:correct: $b$
:why: So.
:consequence: None.
```
"""

VERDICTS = {
    "preserve.lemma-1": "proof-repaired",
    "preserve.lemma-2": "refuted",
    "preserve.figure-3": "partly",
    "preserve.theorem-9": "repaired",
    "preserve.new-sharper": "holds",
}


def small_book(root: Path, *, head: str = HEAD) -> tuple[str, str]:
    """Build the book; return the page of its chapter, and what Sphinx complained of."""
    from sphinx.application import Sphinx

    for name, text in {
        "conf.py": CONF,
        "_toc.yml": "root: index\nchapters: [{file: notebooks/preserve/weyl}]\n",
        "index.md": "# Book\n\n```{toctree}\nbook/preserve\nbook/references\n```\n",
        "book/preserve.md": "# Part\n\nSee {ref}`preserve-theorem-9`.\n\n"
        "```{toctree}\n/notebooks/preserve/weyl\n```\n",
        "book/references.md": "# References\n\n```{bibliography}\n```\n",
        "book/references.bib": "@article{weyl1912, author={Hermann Weyl},\n"
        "  title={Das {Verteilungsgesetz}},\n  journal={Annalen}, year={1912}}\n",
        "notebooks/preserve/weyl.md": CHAPTER.replace("HEAD", head),
        "_build/records/preserve/weyl.json": json.dumps(
            {
                "chapter": "preserve/weyl",
                "values": {"most": 2.0},
                "parameters": {},
                "seconds": 1.0,
                "claims": [
                    {
                        "id": name, "verdict": verdict, "tags": [], "supported": True,
                        "trials": 1, "violations": 0, "tightness": None, "lines": [],
                    }
                    for name, verdict in VERDICTS.items()
                ],
            }
        ),
    }.items():  # fmt: skip
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    warnings = io.StringIO()
    out = root / "out"
    app = Sphinx(root, root, out, root / "trees", "html", status=None, warning=warnings)
    app.build()
    page = (out / "notebooks" / "preserve" / "weyl.html").read_text(encoding="utf-8")
    part = (out / "book" / "preserve.html").read_text(encoding="utf-8")
    assert 'weyl.html#chapter-preserve-theorem-9">' in part  # its label is the claim's place
    return page, warnings.getvalue()


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    return small_book(tmp_path_factory.mktemp("small"))


def box(page: str, anchor: str) -> str:
    """The opening tag of a box and what follows, up to the next."""
    until = r'.*?(?=<div class="lowdim-box|\Z)'
    found = re.search(rf'<div class="lowdim-box[^>]*id="{anchor}"{until}', page, re.DOTALL)
    assert found, anchor
    return found[0]


def test_the_masthead_has_its_lines_and_what_the_book_knows(built: tuple[str, str]) -> None:
    page, _ = built
    head = re.search(r'<section[^>]*class="[^"]*lowdim-masthead.*?</section>', page, re.S)
    assert head
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", head[0]))
    assert "by 2 at most" in text and "Das Verteilungsgesetz" in text and "[Wey12]" in text
    assert "1\N{NO-BREAK SPACE}minute to read" in head[0]
    assert "Theorem 9 repaired" in text and "and 2 more" in text
    assert text.index("Theorem 9 repaired") < text.index("Lemma 1 proof-repaired")
    assert 'href="../../book/preserve.html"' in head[0] and 'href="#verdict"' in head[0]
    assert 'href="#preserve.theorem-9"' in head[0]


def test_the_claims_around_a_chapter_are_drawn_in_its_masthead_and_folded(
    built: tuple[str, str],
) -> None:
    folded = re.search(r'<details class="masthead-graph">.*?</details>', built[0], re.S)
    assert folded and masthead.GRAPH in folded[0]
    drawn = set(re.findall(r'data-claim="([^"]+)"', folded[0]))
    assert drawn == {"preserve.lemma-1", "preserve.new-sharper"}  # the others stand alone
    assert 'href="weyl.html#preserve.lemma-1"' in folded[0]


@pytest.mark.parametrize(
    ("anchor", "tone"),
    [
        ("preserve.lemma-1", "stands"),
        ("preserve.lemma-2", "false"),
        ("preserve.figure-3", "mended"),
        ("preserve.theorem-9", "mended"),
        ("preserve.new-sharper", "ours"),
        ("a-thing", "plain"),
    ],
)
def test_a_box_has_the_colour_of_its_verdict(
    built: tuple[str, str], anchor: str, tone: str
) -> None:
    shown = box(built[0], anchor)
    assert f"box-{tone}" in shown[: shown.index(">")]
    assert f'href="#{anchor}"' in shown


def test_the_claim_of_the_title_and_the_first_are_open_and_others_folded(
    built: tuple[str, str],
) -> None:
    page, _ = built
    folded = [claim for claim in VERDICTS if "<details>" in box(page, claim)]
    assert folded == ["preserve.lemma-2", "preserve.figure-3"]
    bar = re.search(r"<summary.*?</summary>", box(page, "preserve.lemma-2"), re.S)
    assert bar and "One line" in bar[0] and "refuted" in bar[0] and "<a" not in bar[0]
    assert box(page, "preserve.figure-3").count("The curve falls") == 1


def test_only_what_states_a_claim_becomes_its_box(built: tuple[str, str]) -> None:
    page, _ = built
    for claim in VERDICTS:  # evidence and slips speak of a claim too
        assert page.count(f'id="{claim}"') == 1
    assert not re.search(r'class="[^"]*lowdim-box[^"]*(?:lowdim-evidence|lowdim-slip)', page)
    assert "It was tried." in page


def test_no_id_is_there_twice_and_every_claim_has_its_own(built: tuple[str, str]) -> None:
    ids = re.findall(r'\bid="([^"]+)"', built[0])
    assert sorted(ids) == sorted(set(ids))
    assert "chapter-preserve-theorem-9" in ids
    for claim in VERDICTS:
        assert claim in ids


def test_a_good_book_is_built_without_a_complaint_of_ours(built: tuple[str, str]) -> None:
    assert "masthead" not in built[1]


def test_a_chapter_without_a_masthead_is_told(tmp_path: Path) -> None:
    _, complaints = small_book(tmp_path, head="")
    assert "notebooks/preserve/weyl.md has no masthead: write" in complaints


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        (("We find\n", "We found\n"), "the masthead says We found; its terms are The paper says"),
        (("We find\n: So it is.\n", ""), "the masthead lacks We find"),
        (
            ("# Theorem 9 — noise moves little\n", "# Theorem 9\n\nFirst.\n"),
            "right after the title",
        ),
        (("How far?\n", HEAD), "has 2 mastheads"),
        ((": Weyl; why\n", ": Weyl\n"), "two or three things to learn"),
        (("", ""), ""),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(changed: tuple[str, str], told: str) -> None:
    text = CHAPTER.replace("HEAD", HEAD).replace(*changed)
    found = masthead.problems(text, where="preserve/weyl")
    assert told in "; ".join(found) if told else found == []


@pytest.mark.parametrize("name", toc_chapters(ROOT))
def test_every_chapter_has_a_masthead_in_order(name: str) -> None:
    text = (ROOT / "notebooks" / f"{name}.md").read_text(encoding="utf-8")
    assert masthead.problems(text, where=name) == []


@pytest.mark.parametrize("name", toc_chapters(ROOT))
def test_every_chapter_asks_and_then_shows_a_picture(name: str) -> None:
    text = (ROOT / "notebooks" / f"{name}.md").read_text(encoding="utf-8")
    _, _, after = text.partition("```{masthead}")
    _, _, after = after.partition("\n```\n")
    question, _, cell = after.partition("```{code-cell}")
    assert question.strip() and "\n\n" not in question.strip() and "#" not in question
    head = cell.partition("\nimport")[0].partition("\nfrom")[0]
    assert "figure:" in head, "the first cell is no picture: imports and set-up come after it"
    assert "remove-input" in source.code_cells(text)[0].tags


def test_a_chapter_uses_what_its_claims_use_and_refers_to_others_beside(tmp_path: Path) -> None:
    texts = {
        "a/one": "(one)=\n# One\nSee {ref}`two`.\n",
        "a/two": "(two)=\n# Two\nBy [three](/notebooks/a/three.md).\n",
        "a/three": "# Three\nBy [one](one), and [itself](/notebooks/a/three.md).\n",
    }
    for name, text in texts.items():
        path = tmp_path / "notebooks" / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    claims = {
        f"preserve.lemma-{number}": SimpleNamespace(chapter=name, uses=uses)
        for number, (name, uses) in enumerate(
            {"a/one": (), "a/two": ("preserve.lemma-0", "preserve.lemma-1"), "a/three": ()}.items()
        )
    }
    made = book.Book({name: book.Chapter(name, name, (), {}) for name in texts}, claims)  # type: ignore[arg-type]
    assert masthead.around(made, tmp_path) == {
        "a/one": masthead.Around(used_in=("a/two",)),
        "a/two": masthead.Around(uses=("a/one",), see_also=("a/three",)),
        "a/three": masthead.Around(see_also=("a/one",)),
    }
