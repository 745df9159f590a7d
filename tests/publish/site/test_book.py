"""The whole book as data: every claim once, with its words, its verdict and its place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lowdim.publish import chapters
from lowdim.publish.site import book

ROOT = chapters.find_root()


@pytest.fixture(scope="module")
def made() -> book.Book:
    """The book of this checkout, if it was built."""
    found = book.load(ROOT)
    if not found.claims:
        pytest.skip("no chapter has been run: make book")
    return found


@pytest.mark.book
def test_every_claim_of_every_record_is_there_once(made: book.Book) -> None:
    records = [
        json.loads(path.read_text(encoding="utf-8"))
        for path in (ROOT / "_build" / "records").glob("*/*.json")
    ]
    ruled = [claim["id"] for record in records for claim in record["claims"]]
    assert sorted(ruled) == sorted(made.claims)
    for name, chapter in made.chapters.items():
        assert all(made.claims[claim].chapter == name for claim in chapter.claims)


@pytest.mark.book
def test_words_have_their_numbers(made: book.Book) -> None:
    for claim in made.claims.values():
        assert "{value}" not in claim.says + claim.body + claim.evidence, claim.id
        assert claim.says and claim.source and claim.evidence, claim.id


@pytest.mark.book
def test_numbers_add_up(made: book.Book) -> None:
    from lowdim.evidence.vocabulary import VERDICTS

    claims = list(made.claims.values())
    found = book.numbers(claims)
    assert sum(found.get(verdict, 0) for verdict in VERDICTS) == found["claims"] == len(claims)
    assert sum(book.numbers(made.of_part(part))["claims"] for part in made.parts) == len(claims)


def test_a_folder_without_a_book_has_no_claims(tmp_path: Path) -> None:
    assert book.load(tmp_path) == book.Book({}, {})
