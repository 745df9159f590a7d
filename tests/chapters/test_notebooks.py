"""Every chapter against its committed reference: see conftest.py, which collects them here."""

from __future__ import annotations

from lowdim.publish import chapters, references


def test_every_reference_belongs_to_a_chapter() -> None:
    root = chapters.find_root()
    found = (root / "tests" / "references").glob("*/*.json")
    names = {f"{path.parent.name}/{path.stem}" for path in found}
    assert names <= set(chapters.discover(root)), "remove the references of chapters that went"


def test_every_chapter_has_a_cell_to_compare() -> None:
    root = chapters.find_root()
    for chapter in chapters.load_all(root):
        text = chapter.path.read_text(encoding="utf-8")
        tagged = [c for c in chapters.code_cells(text) if references.TAG in c.tags]
        assert tagged, f"{chapter.name} has no cell tagged {references.TAG}"
