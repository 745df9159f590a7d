"""What is bound from prints: numbers, one outline, links to pages, no path of a machine."""

from __future__ import annotations

from pathlib import Path

import pytest
from lowdim.publish import chapters, execute
from lowdim.publish.site import pdf
from pypdf import PdfReader, PdfWriter
from pypdf.annotations import Link
from pypdf.generic import ArrayObject, DictionaryObject, NameObject, TextStringObject

ROOT = chapters.find_root()


def printed(folder: Path, docname: str, links: list[str], sheets: int = 2) -> pdf.Printed:
    """A file as Chromium prints it: blank pages, headings, links to addresses."""
    writer = PdfWriter()
    for _ in range(sheets):
        writer.add_blank_page(595, 842)
    top = writer.add_outline_item(title=docname.title(), page_number=0)
    writer.add_outline_item(title="A section", page_number=sheets - 1, parent=top)
    for link in links:
        writer.add_annotation(page_number=0, annotation=Link(rect=(0, 0, 9, 9), url=link))
    path = folder / f"{docname}.pdf"
    writer.write(path)
    return pdf.Printed(pdf.Page(docname, "Part"), docname.title(), path, sheets=sheets)


def links(reader: PdfReader) -> list[DictionaryObject]:
    return [note.get_object() for page in reader.pages for note in page.get("/Annots") or ()]


def test_the_book_is_bound_in_order(tmp_path: Path) -> None:
    address = (tmp_path / pdf.HTML / "b.html").as_uri()
    prints = [
        printed(tmp_path, "a", [f"{address}#x", "https://doi.org/10.1/x"]),
        printed(tmp_path, "b", [(tmp_path / pdf.HTML / "elsewhere.html").as_uri()], sheets=3),
    ]
    path = pdf.bind(prints, tmp_path / "out" / "whole.pdf", title="Whole", root=tmp_path)
    reader = PdfReader(path)
    assert len(reader.pages) == 5
    assert [page.extract_text().strip() for page in reader.pages] == list("12345")
    part, inside = reader.outline
    assert part.title == "Part"
    assert [i if isinstance(i, list) else i.title for i in inside][0::2] == ["A", "B"]
    assert reader.get_destination_page_number(inside[3][0]) == 4
    there, out = links(reader)
    assert there["/Dest"][0].get_object() == reader.pages[2].get_object()
    assert out["/A"]["/URI"] == "https://doi.org/10.1/x"
    assert str(tmp_path).encode() not in path.read_bytes()
    assert reader.metadata and reader.metadata.title == "Whole"
    assert path.read_bytes() == pdf.bind(prints, path, title="Whole", root=tmp_path).read_bytes()


def test_a_link_within_a_page_goes_with_it(tmp_path: Path) -> None:
    first = printed(tmp_path, "a", [])
    writer = PdfWriter(clone_from=printed(tmp_path, "b", ["https://x.org"]).path)
    writer.add_named_destination("place", 1)
    note = writer.pages[0]["/Annots"][0].get_object()
    del note["/A"]
    note[NameObject("/Dest")] = TextStringObject("place")
    writer.write(tmp_path / "b.pdf")
    second = pdf.Printed(pdf.Page("b", "Part"), "B", tmp_path / "b.pdf", sheets=2)
    reader = PdfReader(pdf.bind([first, second], tmp_path / "c.pdf", title="C", root=tmp_path))
    (link,) = links(reader)
    assert isinstance(link["/Dest"], ArrayObject)
    assert link["/Dest"][0].get_object() == reader.pages[3].get_object()


def test_words_that_a_line_parted_are_apart_in_the_outline(tmp_path: Path) -> None:
    one = printed(tmp_path, "a", [])
    writer = PdfWriter(clone_from=one.path)
    writer.add_outline_item(title="Broken intolines", page_number=1)
    writer.add_outline_item(title="Taken overTaken over", page_number=1)
    writer.write(one.path)
    one.headings = ["A", "A section", "Broken into lines", "Taken over"]
    reader = PdfReader(pdf.bind([one], tmp_path / "b.pdf", title="A", root=tmp_path))
    titles = [each.title for each in reader.outline[1]]
    assert titles == ["A section", "Broken into lines", "Taken over"]


def test_all_chapters_are_printed_and_the_reference_is_not() -> None:
    names = [page.docname for page in pdf.pages(ROOT)]
    assert names[0] == "book/index"
    chapters_ = [name.removeprefix("notebooks/") for name in names if name.startswith("notebooks/")]
    assert chapters_ == execute.toc_chapters(ROOT)
    assert "book/errata" in names and "book/references" in names
    assert not [name for name in names if name.startswith("book/api")]


def test_contents_count_from_after_the_front(tmp_path: Path) -> None:
    prints = [printed(tmp_path, "a", [], sheets=4), printed(tmp_path, "b", [])]
    text = pdf.contents(prints, 3)
    assert '>A</span><span class="n">4<' in text and '>B</span><span class="n">8<' in text
    assert text.count("<h2>") == 1


def test_the_cover_is_on_the_title_page_if_there_is_one(tmp_path: Path) -> None:
    assert "<img" not in pdf.cover(tmp_path)
    static = tmp_path / pdf.HTML / "_static"
    static.mkdir(parents=True)
    (static / "cover.png").write_bytes(b"")
    assert "cover.png" in pdf.cover(tmp_path)


def test_without_a_book_there_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(pdf.PdfProblem, match="run `make book` first"):
        pdf.print_book(tmp_path)
