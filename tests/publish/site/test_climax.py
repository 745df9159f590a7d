"""The verdict of a chapter: a row for each claim, the runs beside it, what a run does not carry."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from docutils import nodes
from docutils.utils import new_document
from lowdim.evidence.verdicts import Ruling, holds, refuted, unsupported, verdict_table
from lowdim.publish.site import climax
from lowdim.publish.site.elements import element

CHAPTER = "preserve/theorem_3_1"
RULINGS = {
    "theorem-3-1": holds(trials=40),
    "lemma-1": refuted(trials=3),  # no violation: not carried
    "new-gap": holds(trials=7),
}


def record(rulings: dict[str, Ruling], **more: Any) -> dict[str, Any]:
    claims = [ruling.record(f"preserve.{name}") for name, ruling in rulings.items()]
    kept = {"chapter": CHAPTER, "preset": None, "seconds": 12.3, "parameters": {}, "values": {}}
    return {**kept, "claims": claims, **more}


def write(path: Path, content: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")


def evidence(name: str, *kept: str) -> nodes.container:
    box = nodes.container(classes=["lowdim-evidence"], about=f"preserve.{name}")
    box += nodes.paragraph("", f"Carried by {name}.")
    for preset in kept:
        box += nodes.paragraph("", f"In {preset}.", classes=["lowdim-kept"], preset=preset)
    return box


def verdict_cell(rulings: dict[str, Ruling]) -> nodes.container:
    """The verdict cell as myst-nb makes it, with the output that it really has."""
    printed = f"{verdict_table(rulings)}\n{unsupported(rulings)}"
    plain = nodes.container("", nodes.literal_block("", printed), mime_type="text/plain")
    bundle = nodes.container("", plain, nb_element="mime_bundle")
    code = nodes.container("", nodes.literal_block("", "verdict(r)"), nb_element="cell_code_source")
    output = nodes.container("", bundle, nb_element="cell_code_output")
    return nodes.container("", code, output, nb_element="cell_code")


@pytest.fixture
def page(tmp_path: Path) -> Callable[..., nodes.document]:
    """A chapter's page after the transform, for rulings of today and of kept runs."""

    def make(
        today: dict[str, Ruling], *, ask: bool = True, **kept: dict[str, Ruling]
    ) -> nodes.document:
        write(tmp_path / "_build" / "records" / f"{CHAPTER}.json", record(today))
        for preset, rulings in kept.items():
            path = tmp_path / "book" / "records" / f"{CHAPTER}.{preset}.json"
            write(path, record(rulings, preset=preset, seconds=75.0))
        document = new_document("x")
        document.settings.env = SimpleNamespace(
            docname=f"notebooks/{CHAPTER}", srcdir=str(tmp_path), temp_data={}
        )
        stated = nodes.paragraph("", "As printed.", ids=["preserve-theorem-3-1"])
        section = nodes.section("", nodes.title("", "Verdict"), nodes.paragraph("", "The rule."))
        section += verdict_cell(today)
        section += [evidence(name, *kept) for name in today]
        section += nodes.container(
            "", nodes.paragraph("", "A slip."), classes=["lowdim-slip"], about="preserve.lemma-1"
        )
        for preset in kept if ask else ():
            section += nodes.container(classes=["lowdim-sizes"], preset=preset)
        document += [stated, section]
        climax.Climax(document).apply()
        return document

    return make


def found(document: nodes.Node, kind: str) -> list[element]:
    return [node for node in document.findall(element) if kind in node["classes"]]


def test_every_claim_has_a_row_with_its_evidence_and_its_runs(page: Callable) -> None:
    document = page(RULINGS, paper={"theorem-3-1": holds(trials=4000), "lemma-1": holds(trials=1)})
    rows = found(document, "lowdim-ruling")
    assert [row["ids"] for row in rows] == [[f"ruling-preserve-{name}"] for name in RULINGS]
    first = rows[0]
    assert "Carried by theorem-3-1." in first.astext() and "In paper." in first.astext()
    cells = [[n.astext() for n in found(row, "lowdim-run")] for row in rows]
    assert (
        "40 trials" in cells[0][0]
        and "no violation" in cells[0][0]
        and "4,000 trials" in cells[0][1]
    )
    assert "verdict-holds" in cells[1][1], "a run that says otherwise has a badge"
    assert cells[2][1] == "–", "the kept run does not rule on it"
    links = [link["refid"] for row in rows for link in row.findall(nodes.reference)]
    assert links == ["preserve-theorem-3-1"], "only what the page states can be linked to"


def test_what_a_run_does_not_carry_is_said_first_and_in_its_row(page: Callable) -> None:
    document = page(RULINGS)
    (alarm,) = found(document, "lowdim-alarm")
    assert "does not support 1 of 3 verdicts" in alarm.astext()
    assert "no violation and no verified counterexample" in alarm.astext()
    box = alarm.parent
    assert box.index(alarm) == 0
    row = found(document, "lowdim-ruling")[1]
    assert "not by this run" in row.astext() and "counterexample" in row.astext()
    assert "tone-bad" in row["classes"]
    assert not found(page({"theorem-3-1": holds(trials=1)}), "lowdim-alarm")


def test_the_verdict_comes_first_and_the_raw_table_is_not_shown_again(page: Callable) -> None:
    document = page(RULINGS)
    section = document[1]
    kinds = [node["classes"][0] if node["classes"] else node.tagname for node in section]
    assert kinds == ["title", "lowdim-climax", "lowdim-slips", "rubric", "paragraph", "container"]
    assert "tightness" not in section[-1].astext()
    assert "verdict(r)" in section[-1].astext()
    assert section[-1]["hide_mode"] == "input", "code that rules is folded"


def test_kept_runs_stand_in_the_order_of_the_page_if_it_asks_for_them(page: Callable) -> None:
    def heads(document: nodes.document) -> list[str]:
        found = (n.astext().split("\n")[0] for n in document.findall(element) if n["tag"] == "th")
        return list(found)

    own = ["Claim and evidence", "This page’s run"]
    asked = page(RULINGS, paper=RULINGS, cifar10=RULINGS)
    assert heads(asked) == [*own, "Kept run, paper", "Kept run, cifar10"]
    first = found(asked, "lowdim-ruling")[0].astext()
    assert 0 < first.index("In paper.") < first.index("In cifar10.")
    silent = page(RULINGS, ask=False, paper=RULINGS)
    assert heads(silent) == own and "In paper." not in silent.astext()


def test_without_a_run_the_evidence_is_still_there(tmp_path: Path) -> None:
    document = new_document("x")
    document.settings.env = SimpleNamespace(docname="x", srcdir=str(tmp_path), temp_data={})
    section = nodes.section("", nodes.title("", "Verdict"), evidence("lemma-1"))
    document += section
    climax.Climax(document).apply()
    assert "Carried by lemma-1." in document.astext() and "not run" in document.astext()


def test_lemmas_of_many_are_folded_unless_not_carried(page: Callable) -> None:
    many = {"theorem-3-1": holds(trials=1)} | {f"lemma-{k}": holds(trials=1) for k in range(10)}
    document = page({**many, "lemma-4": refuted(trials=1)})
    (fold,) = found(document, "lowdim-lemmas")
    assert fold[0].astext().startswith("Lemmas of the proof (9)")
    assert "9 " in fold[0].astext()[20:]
    inside = [row["ids"][0] for row in found(fold, "lowdim-ruling")]
    assert len(inside) == 9 and "ruling-preserve-lemma-4" not in inside


def test_the_page_of_a_single_run_has_it_too(tmp_path: Path) -> None:
    """Rendered, with links in every place, and without a book around it."""
    from lowdim.publish import standalone
    from lowdim.publish.chapters import find_root
    from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

    words = """## Verdict
```{evidence} lemma-1
Carried by [a place](#here).
```
```{erratum} lemma-1
:where: Lemma 1
:printed: [this](#here)
:correct: that
:why: It is so.
:consequence: None.
```
"""
    rulings = {"lemma-1": refuted(trials=3)}
    told = record(rulings) | {"schema": "lowdim-record/2", "versions": {"lowdim": "1"}}
    told["machine"] = {"system": "linux", "processor": "x", "cores": 1, "threads": 1}
    for key in ("chapter", "preset", "parameters"):
        told.pop(key)
    printed = {"text/plain": f"{verdict_table(rulings)}\n{unsupported(rulings)}"}
    output = new_output("display_data", data=printed, metadata={"lowdim_record": told})
    cells = [
        new_markdown_cell("(here)=\n# A chapter"),
        new_code_cell("seed = 0", metadata={"tags": ["parameters", "remove-cell"]}),
        new_code_cell("verdict(rulings)", outputs=[output], execution_count=1),
        new_markdown_cell(words),
    ]
    chosen = {"chapter": CHAPTER, "preset": None, "parameters": {"seed": 0}, "seed": 0}
    notebook = new_notebook(cells=cells, metadata={"lowdim": chosen})
    page = standalone.render(notebook, name="one", root=find_root(), folder=tmp_path)
    text = page.read_text(encoding="utf-8")
    assert 'id="ruling-preserve-lemma-1"' in text and "lowdim-slip-printed" in text
    assert "does not support 1 of 1 verdicts" in text and "no verified counterexample" in text
    assert "<b>Code</b>: how each claim is ruled, 1 line" in text
    for static in ("lowdim.css", "lowdim.js"):  # all style sheets and scripts of ours in two files
        assert f"one_files/_static/{static}" in text
        assert "fold" in (tmp_path / "one_files" / "_static" / static).read_text(encoding="utf-8")
