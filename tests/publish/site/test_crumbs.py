"""Where a page stands, and which paper a chapter is about."""

from __future__ import annotations

from pathlib import Path

import pytest
from lowdim.publish import words
from lowdim.publish.execute import toc_chapters
from lowdim.publish.site import crumbs, masthead

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("name", toc_chapters(ROOT))
def test_every_chapter_names_its_paper(name: str) -> None:
    text = (ROOT / "notebooks" / f"{name}.md").read_text(encoding="utf-8")
    stated = words.read(text, part=name.partition("/")[0]).statements
    if all(claim.partition(".")[2].startswith("new-") for claim in stated):
        return  # all of it is this book's
    said = crumbs.short_reference(ROOT, masthead.paper(text, name.partition("/")[0]))
    assert said[-4:].isdigit() and "{" not in said and "\\" not in said


def test_what_is_not_in_the_list_of_references_is_not_named(tmp_path: Path) -> None:
    assert crumbs.short_reference(ROOT, "") == ""
    assert crumbs.short_reference(ROOT, "nobody1900") == ""
    assert crumbs.short_reference(tmp_path, "he2023") == ""


def test_a_title_that_is_one_piece_is_followed_by_the_paper() -> None:
    assert crumbs.with_paper("Outlook", "Weyl 1912") == "Outlook (Weyl 1912)"


def test_a_link_in_a_title_is_no_link_in_a_link() -> None:
    made = crumbs.crumbs([("a.html", '<a href="b">x</a> y')], here="z")
    assert made.count("<a ") == 1 and ">x y</a>" in made
