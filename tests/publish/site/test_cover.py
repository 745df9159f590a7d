"""The mark, the cover, and what a page says of itself to those who link to it."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from docutils import nodes
from lowdim.publish import chapters
from lowdim.publish.site import book, cover

ROOT = chapters.find_root()


@pytest.mark.parametrize("name", ["logo.svg", "favicon.svg"])
def test_the_mark_is_what_the_code_draws(name: str) -> None:
    kept = (ROOT / cover.STATIC / name).read_text(encoding="utf-8")
    assert kept == cover.logo(), "python -m lowdim.publish.site.cover writes it anew"


def test_the_cover_has_the_words_of_the_landing_page() -> None:
    title, tagline = cover.words(ROOT)
    drawn = "".join(ElementTree.fromstring(cover.cover(title, tagline)).itertext())
    assert title and tagline
    assert tagline in drawn and title.split(",")[0] in drawn


def test_the_cover_counts_what_the_book_has() -> None:
    verdicts = ["holds", "refuted", "repaired", "proof-repaired"]
    given = {name: _claim(f"preserve.lemma-{k}", name) for k, name in enumerate(verdicts)}
    given["ours"] = _claim("preserve.new-bound", "holds")
    said = cover.counted(book.Book({}, given))
    assert said == "5 claims · 1 refuted · 2 repaired · 1 new theorems"
    assert said in "".join(ElementTree.fromstring(cover.cover("T", "Runs.", said)).itertext())


def _claim(name: str, verdict: str) -> book.Claim:
    empty = dict.fromkeys(("chapter", "title", "says", "body", "source", "reading", "evidence"), "")
    return book.Claim(
        id=name, verdict=verdict, tags=(), supported=True, trials=1, violations=0, tightness=None,
        errata=(), reported=(), **empty,
    )  # fmt: skip


def test_the_cover_as_png(tmp_path: Path) -> None:
    from PIL import Image

    for name in ("a.png", "b.png"):
        cover.cover_png(tmp_path / name, "Low Dimensions, Deep Networks", "Theorems.")
    assert Image.open(tmp_path / "a.png").size == cover.SIZE
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


def test_a_page_is_described_by_its_first_sentence() -> None:
    text = [nodes.Text("The norm "), nodes.math("", r"\|x\|\le\alpha"), nodes.Text(" is small.")]
    box = nodes.note("", nodes.paragraph("", "Not this."))
    section = nodes.section("", nodes.title("", "T"), box, nodes.paragraph("", "", *text))
    tree = nodes.document("", "")  # type: ignore[arg-type]  # settings are not asked for
    tree += section
    assert cover.description(tree).startswith("The norm ‖x‖")
    assert cover.description(None) == ""


def test_a_long_sentence_is_cut_between_words() -> None:
    said = cover.first_sentence("word " * 100)
    assert len(said) <= cover.LONGEST + 2 and said.endswith("word …")


def test_metadata_are_escaped() -> None:
    made = cover.metadata('a "b"', "<c>", image="", site="S", kind="website")
    assert "a &quot;b&quot;" in made and "&lt;c&gt;" in made and "og:image" not in made
