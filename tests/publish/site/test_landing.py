"""The landing page: its numbers, its cards, its pictures."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from lowdim.publish import chapters
from lowdim.publish.site import landing
from lowdim.publish.site.landing_pictures import PICTURES, picture

ROOT = chapters.find_root()
INDEX = (ROOT / "book" / "index.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_are_drawn(name: str) -> None:
    drawn = ElementTree.fromstring(picture(name))
    assert len(list(drawn.iter())) > 4
    assert "nan" not in picture(name)


def test_cards_show_claims_that_chapters_state() -> None:
    claims = re.findall(r"\{landing-finding\} (\S+)", INDEX)
    assert len(claims) == 5
    stated = "".join(p.read_text(encoding="utf-8") for p in (ROOT / "notebooks").glob("*/*.md"))
    for claim in claims:
        assert f":label: {claim}\n" in stated, claim
    assert {claim.partition(".")[0] for claim in claims} == {
        "preserve", "collapse", "embedded", "hashing",
    }  # fmt: skip


def test_numbers_lead_to_what_they_count() -> None:
    assert landing.where("claims") == ("book/ledger", {})
    assert landing.where("proof-repaired") == ("book/ledger", {"verdict": "proof-repaired"})
    assert landing.where("slips")[0] == "book/errata"


def test_the_page_holds_no_count_of_its_own() -> None:
    assert not re.search(r"\b\d+ (claims|chapters|slips|theorems)\b", INDEX)
