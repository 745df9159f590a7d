"""The notebook to take along: complete in plain Jupyter, with the numbers of the book's run."""

from __future__ import annotations

import base64
import re
from functools import cache
from pathlib import Path

import nbformat
import pytest
from lowdim.evidence.vocabulary import claim_name
from lowdim.publish import chapters, content, store, words
from lowdim.publish.site import notebooks
from lowdim.publish.site.plain import Plain, entry, segments
from nbformat import NotebookNode

ROOT = chapters.find_root()
NAMES = chapters.discover(ROOT)
LEFT = re.compile(r"\{[a-z]+(:[a-z]+)?\}`|^[> ]*(`{3,}|:{3,}|~{3,})\{|^\([\w.-]+\)=|^:\w+:", re.M)
RECORD = {
    "claims": [
        {"id": "preserve.lemma-1", "verdict": "repaired", "tags": ["typo"], "lines": [],
         "trials": 1200, "violations": 3, "tightness": 0.5},
    ],
    "values": {"slope": 0.25, "broken": 2},
}  # fmt: skip


@cache
def library() -> content.Library:
    return content.Library.of(ROOT)


@cache
def run_of(name: str) -> NotebookNode | None:
    found = store.find(ROOT, name, content.key(ROOT, name, library=library()))
    return found.notebook() if found else None


@cache
def made(name: str) -> NotebookNode:
    return notebooks.make(ROOT / "notebooks" / f"{name}.md", run=run_of(name))


def prose(notebook: NotebookNode) -> str:
    cells = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    return re.sub(r"^(`{3,})\w*\n.*?^\1$", "", "\n\n".join(cells), flags=re.S | re.M)


def converted(text: str) -> str:
    return Plain(ROOT, "preserve/none", RECORD).markdown(text)


@pytest.mark.parametrize("name", NAMES)
def test_no_directive_and_no_role_is_left(name: str) -> None:
    found = LEFT.search(prose(made(name)))
    assert found is None, prose(made(name))[found.start() - 80 : found.end() + 80]


@pytest.mark.parametrize("name", NAMES)
def test_no_formula_is_lost(name: str) -> None:
    source = (ROOT / "notebooks" / f"{name}.md").read_text(encoding="utf-8")
    source = words._CODE.sub("", source)
    marks = re.compile(r"\\tag\{\d+\}|[>\s]")  # of equations, of quotes
    shown = marks.sub("", prose(made(name)))
    for formula in re.findall(r"\$\$(.+?)\$\$", source, re.S):
        assert marks.sub("", formula) in shown, formula


@pytest.mark.parametrize("name", NAMES)
def test_every_claim_exercise_and_solution_is_there(name: str) -> None:
    source = (ROOT / "notebooks" / f"{name}.md").read_text(encoding="utf-8")
    text, blocks = prose(made(name)), list(words.blocks(source))
    for kind, shown in (("exercise", r"^### Exercise"), ("solution", r"^<summary>Solution")):
        assert sum(b.name == kind for b in blocks) == len(re.findall(shown, text, re.M))
    said = words.of_chapter(ROOT, name)
    assert all(f"> **{claim_name(claim)}** (" in text for claim in said.evidence)
    assert text.count("**Slip: ") == sum(map(len, said.errata.values()))
    assert text.count("<details>") == text.count("</details>")


@pytest.mark.parametrize("name", NAMES)
def test_jupyter_and_papermill_take_it(name: str) -> None:
    notebook = made(name)
    nbformat.validate(notebook)
    assert notebook.metadata.kernelspec.language == "python"
    assert notebook.metadata.language_info.name == "python"
    first = notebook.cells[0]
    assert first.cell_type == "code" and 'pip install ".[book]"' in first.source
    assert all(line.startswith("#") for line in first.source.splitlines())
    folded = {"hide-input", "remove-input", "hide-cell", "remove-cell"}
    for cell in notebook.cells:
        hidden = cell.metadata.get("jupyter", {}).get("source_hidden", False)
        assert hidden == bool(folded & set(cell.metadata.get("tags", []))), cell.source
        assert "mystnb" not in cell.metadata


@pytest.mark.book
@pytest.mark.parametrize("name", NAMES)
def test_outputs_are_those_of_the_book(name: str) -> None:
    run = run_of(name)
    if run is None:
        pytest.skip("the chapter has no current run: make book")
    outputs = [o for cell in made(name).cells for o in cell.get("outputs", ())]
    before = [o for cell in run.cells for o in cell.get("outputs", ())]
    assert len(outputs) == len(before)
    for shown, was in zip(outputs, before, strict=True):
        svg = was.get("data", {}).get("image/svg+xml")
        if svg:  # as an image in HTML too: JupyterLab draws no SVG of a notebook it does not trust
            image = re.fullmatch(
                r'<img alt="([^"]+)" src="data:[^,]+,(.+)">', shown.data["text/html"]
            )
            assert image and base64.b64decode(image[2]).decode() == svg
        elif "verdict-" in was.get("data", {}).get("text/html", ""):
            assert "background:#" in shown.data["text/html"]
        else:
            assert shown.get("data") == was.get("data")
    assert "{value}" not in str(outputs)


def test_equal_sources_make_equal_notebooks() -> None:
    path = ROOT / "notebooks" / f"{NAMES[0]}.md"
    once, again = (nbformat.writes(notebooks.make(path, run=run_of(NAMES[0]))) for _ in range(2))
    assert once == again


def test_a_theorem_is_a_quote_with_verdict_source_and_reading() -> None:
    text = converted(
        "```{prf:lemma} A bound\n:label: preserve.lemma-1\n:nonumber:\n:source: {cite}`wedin1972`, "
        "p. 1.\n:reading: as [there](lemma-4-1)\nLet\n\n$$\na\n\\le b\n$$\n```"
    )
    assert text.splitlines() == [
        "> **Lemma: A bound.**", ">", "> Let", ">", r"> $$a \le b$$", ">",
        "> *Repaired, typo.* Source: Wedin 1972, p. 1. Our reading: as there",
    ]  # fmt: skip
    assert converted("```{prf:lemma} Lemma 1, as printed\nx\n```").startswith("> **Lemma 1, as")


def test_values_and_sentences_are_those_of_the_run() -> None:
    text = "{when}`broken > 1 | Rungs break: {value}`broken`. | None breaks.` {value}`slope:.1f`"
    text = text.replace("{when}`", "{when}``").replace("breaks.`", "breaks.``")
    assert converted(text) == "Rungs break: 2. 0.2"
    assert Plain(ROOT, "preserve/none", None).markdown("{value}`slope:.1f`") == "`slope:.1f`"


def test_equations_are_counted_and_referred_to() -> None:
    plain = Plain(Path("nowhere"), "preserve/none", RECORD)
    assert plain.markdown("$$x=1$$ (first)\n\nBy {eq}`first` and {math}`y`.") == (
        "$$x=1 \\tag{1}$$\n\nBy (1) and $y$."
    )
    assert plain.markdown("$$y$$ (second)") == "$$y \\tag{2}$$"


def test_formulas_and_code_are_left_alone() -> None:
    text = r"$\bigl[a\bigr](x)$ and `{a}` and `[a](b)`"
    assert converted(text) == text


def test_roles_and_links_with_formulas_in_them_are_words() -> None:
    text = "`{a}`: {ref}`the bound $a$ <b>`, [of $b$ and `c`](lemma-4-1), {math}`d`"
    assert converted(text) == "`{a}`: the bound $a$, of $b$ and `c`, $d$"


def test_the_masthead_is_a_quote_that_any_viewer_shows() -> None:
    text = converted(
        "```{masthead}\nWe find\n: It is [so](lemma-1),\n  {value}`slope`.\n\n"
        "You will learn\n: the bound; its price\n```"
    )
    assert text.splitlines() == [
        "> **We find.** It is so, 0.25.", ">", "> **You will learn:**", ">",
        "> - the bound", "> - its price",
    ]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_the_notebook_opens_with_what_was_found(name: str) -> None:
    head = prose(made(name))[:2500]
    assert re.search(r"> \*\*The paper(s say| says)\.\*\* ", head) and "> **We find.** " in head
    assert not re.search(r"^: ", head, flags=re.M), "a definition list is left"


def test_a_solution_keeps_its_code_and_is_folded() -> None:
    text = converted("````{solution} x-1\n:class: dropdown\nSo:\n\n```python\nf = 1\n```\n````")
    assert text == (
        "<details>\n<summary>Solution</summary>\n\nSo:\n\n```python\nf = 1\n```\n\n</details>"
    )


def test_slips_and_kept_runs() -> None:
    fields = "".join(f":{key}: {key} $x$\n" for key in words.FIELDS)
    lines = converted(f"```{{erratum}} lemma-1\n{fields}```").splitlines()
    assert lines[0] == "> **Slip: where $x$**" and lines[2] == "> - *Printed:* printed $x$"
    assert len(lines) == 6
    assert converted("```{kept}\n```") == "No larger run of this chapter was kept."


def test_blocks_are_split_where_they_end() -> None:
    pieces = list(segments("a\n\n```python\n{x}\n```\n:::{when} y\n```{claim} z\n```\n:::\n"))
    kinds = [piece if isinstance(piece, str) else piece.name for piece in pieces]
    assert kinds == ["a\n", "```python\n{x}\n```", "when"]


def test_references_link_out_where_they_can() -> None:
    bibliography = (ROOT / "book" / "references.bib").read_text(encoding="utf-8")
    assert "(https://doi.org/10.1007/BF01932678)" in entry(bibliography, "wedin1972")
    assert "(https://arxiv.org/abs/2203.00614)" in entry(bibliography, "he2023")
    assert entry(bibliography, "bjorckgolub1973").startswith("Björck, Åke; Golub, Gene H.: *Num")
    assert "http" not in entry(bibliography, "chosaul2009")
