"""Entries that BibTeX reads: made from what the book says of itself, and from nothing else."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from lowdim.publish import chapters
from lowdim.publish.site import bibtex
from pybtex.database import parse_string

ROOT = chapters.find_root()


@pytest.fixture(scope="module")
def citing() -> bibtex.Citing:
    """The entries of this book."""
    found = bibtex.read(ROOT)
    assert found is not None
    return found


def entry(citing: bibtex.Citing, name: str, key: str = "he2023") -> str:
    """The entry of a claim of a paper."""
    source = f"{{cite}}`{key}`, somewhere" if key else "this book"
    return citing.claim(name, verdict="repaired", chapter="embedded/theorem_2_4", source=source)


def test_a_claim_has_its_paper_its_verdict_and_its_chapter(citing: bibtex.Citing) -> None:
    text = entry(citing, "embedded.theorem-2-4")
    (found,) = parse_string(text, "bibtex").entries.values()
    assert found.key == "lowdim:embedded.theorem-2-4"
    title = found.fields["title"].replace("{", "").replace("}", "")
    assert title.startswith("Theorem 2.4 of Side-effects of Learning from")
    assert title.endswith(": repaired")
    assert found.fields["note"] == r"notebooks/embedded/theorem\_2\_4.md; on he2023"
    assert found.fields["version"] == citing.version
    assert found.fields["related"] == "he2023"
    assert citing.title in found.fields["howpublished"]


def test_what_the_book_states_itself_is_of_no_paper(citing: bibtex.Citing) -> None:
    text = entry(citing, "preserve.new-tangent-gap", key="")
    (found,) = parse_string(text, "bibtex").entries.values()
    assert found.fields["title"] == "{Tangent gap, new in this book: repaired}"
    assert "related" not in found.fields and "; on" not in found.fields["note"]


def test_the_file_is_bibtex_with_each_paper_once(citing: bibtex.Citing) -> None:
    names = ["embedded.theorem-2-4", "embedded.lemma-2-1", "embedded.equation-2-22"]
    found = parse_string(citing.everything(entry(citing, name) for name in names), "bibtex")
    assert list(found.entries) == ["lowdim", "he2023", *(f"lowdim:{name}" for name in names)]
    assert found.entries["lowdim"].fields["title"] == f"{{{citing.title}}}"


def test_a_script_has_the_entry_of_each_claim(citing: bibtex.Citing) -> None:
    names = ["embedded.theorem-2-4", "preserve.lemma-4-1"]
    made = bibtex.script(citing.everything(entry(citing, name) for name in names))
    given = json.loads(made.removeprefix("window.lowdimCitations = ").strip().removesuffix(";"))
    assert given == {name: entry(citing, name) for name in names}


def test_no_address_is_invented(citing: bibtex.Citing, tmp_path: Path) -> None:
    own = citing.book() + entry(citing, "embedded.theorem-2-4")
    assert not re.search(r"https?:|www\.|doi|year", own)  # CITATION.cff has none
    (tmp_path / "CITATION.cff").write_text(
        "title: A Book\nauthors:\n  - {family-names: Weyl, given-names: Hermann}\n"
        "version: 1.0.0\ndate-released: 1912-05-01\ndoi: 10.1/abc\n"
    )
    said = bibtex.read(tmp_path)
    assert said is not None
    (found,) = parse_string(said.book(), "bibtex").entries.values()
    assert (found.fields["year"], found.fields["doi"]) == ("1912", "10.1/abc")
    assert found.fields["note"] == "Version 1.0.0"
    (tmp_path / "CITATION.cff").unlink()
    assert bibtex.read(tmp_path) is None


def test_every_entry_of_the_bibliography_is_read(citing: bibtex.Citing) -> None:
    text = (ROOT / "book" / "references.bib").read_text(encoding="utf-8")
    expected = parse_string(text, "bibtex").entries
    assert set(citing.papers) == set(expected)
    for key, paper in citing.papers.items():
        assert (paper.title, paper.year) == (
            expected[key].fields["title"],
            expected[key].fields["year"],
        )
