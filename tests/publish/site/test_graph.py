"""The graph of claims: what rests on what, what is shaken, and how it is drawn."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
from lowdim.evidence.vocabulary import PARTS
from lowdim.publish import chapters, words
from lowdim.publish.execute import toc_chapters
from lowdim.publish.site import book, graph, graphpage

ROOT = chapters.find_root()


def claim(
    name: str, verdict: str = "holds", *uses: str, chapter: str = "preserve/one"
) -> book.Claim:
    """A claim of Part I, or of the part that its id has."""
    full = name if "." in name else f"preserve.{name}"
    texts = dict.fromkeys(("title", "body", "source", "reading", "evidence"), "")
    return book.Claim(
        id=full,
        chapter=chapter,
        says=r"$a<b$ & \|c\|",
        verdict=verdict,
        tags=(),
        supported=True,
        trials=0,
        violations=0,
        tightness=None,
        errata=(),
        reported=(),
        uses=tuple(use if "." in use else f"preserve.{use}" for use in uses),
        **texts,
    )


def made(*claims: book.Claim) -> book.Book:
    """A book with these claims."""
    by_chapter: dict[str, list[str]] = {}
    for each in claims:
        by_chapter.setdefault(each.chapter, []).append(each.id)
    kept = {name: book.Chapter(name, name, tuple(ids), {}) for name, ids in by_chapter.items()}
    return book.Book(kept, {each.id: each for each in claims})


SMALL = made(
    claim("figure-1", "not-reproduced"),
    claim("lemma-1"),
    claim("lemma-2", "repaired", "lemma-1"),
    claim("section-5", "holds", "figure-1", chapter="preserve/two"),
    claim("new-bound", "holds", "section-5", "lemma-2", chapter="preserve/two"),
    claim("figure-9", "partly", chapter="preserve/two"),
)


def test_what_rests_on_something_fallen_is_shaken_through_others_too() -> None:
    found = graph.of(SMALL)
    assert found.shaken == {
        "preserve.section-5": ("preserve.figure-1",),
        "preserve.new-bound": ("preserve.figure-1",),
    }
    assert found.alone == ["preserve.figure-9"]
    assert found.used_by["preserve.lemma-1"] == ("preserve.lemma-2",)
    assert graphpage.numbers(found) == {
        "claims": 6, "drawn": 5, "alone": 1, "uses": 4, "fallen": 1, "shaken": 2, "standing": 2,
    }  # fmt: skip


def _svg(text: str) -> ElementTree.Element:
    return ElementTree.fromstring(text)


def test_a_drawing_is_linked_and_says_what_was_found() -> None:
    found = graph.of(SMALL)
    drawn = _svg(graph.draw(found, whole=found, here="book/x", room=300, label="all"))
    nodes = {a.get("data-claim"): a for a in drawn.iter("a")}
    assert set(nodes) == set(found.claims) - {"preserve.figure-9"}
    bound = nodes["preserve.new-bound"]
    assert bound.get("href") == "../notebooks/preserve/two.html#preserve.new-bound"
    assert {"tone-good", "new", "shaken"} <= set((bound.get("class") or "").split())
    said = bound.findtext("title") or ""
    assert said.startswith("New: bound: holds.") and "a<b" in said and "Figure 1" in said
    assert "refuted or not reproduced" in said
    assert "refuted" not in (nodes["preserve.lemma-2"].findtext("title") or "")
    pairs = {(e.get("data-from"), e.get("data-to")) for e in drawn.iter("path") if e.get("data-to")}
    assert pairs == set(found.edges)


def test_nodes_come_in_the_order_in_which_they_are_read() -> None:
    found = graph.of(SMALL)
    drawn = graph.draw(found, whole=found, here="book/x", room=300, label="all")
    places = re.findall(r'translate\(([\d.]+) ([\d.]+)\)"><a', drawn)
    read = [(float(y), float(x)) for x, y in places]
    assert read == sorted(read) and len(read) == 5


def test_parts_are_bands_and_a_claim_of_another_part_has_its_number() -> None:
    two = made(
        claim("lemma-1"),
        claim("lemma-2", "holds", "lemma-1"),
        claim("embedded.lemma-3", "holds", "lemma-2", chapter="embedded/a"),
        claim("hashing.lemma-1", chapter="hashing/a"),
        claim("hashing.lemma-2", "holds", "hashing.lemma-1", chapter="hashing/a"),
    )
    found = graph.of(two)
    drawn = graph.draw(found, whole=found, here="book/x", room=300, label="all")
    assert re.findall(r'class="band"[^>]*>([^<]*)', drawn) == [PARTS["preserve"], PARTS["hashing"]]
    assert "III · Lemma 3" in drawn and ">Lemma 2<" in drawn


def test_a_neighbourhood_has_the_chapter_and_what_is_next_to_it() -> None:
    drawn = graph.neighbourhood(SMALL, "preserve/two")
    names = set(re.findall(r'data-claim="preserve\.([^"]*)"', drawn))
    assert names == {"figure-1", "section-5", "new-bound", "lemma-2"}
    assert 'href="two.html#preserve.new-bound"' in drawn
    assert re.search(r'class="[^"]*\bown\b[^"]*" href="two.html#preserve.section-5"', drawn)
    assert 'class="node tone-warn" href="one.html#preserve.lemma-2"' in drawn


def test_a_chapter_whose_claims_stand_alone_has_no_drawing() -> None:
    assert graph.neighbourhood(made(claim("lemma-1")), "preserve/one") == ""


def test_signs_are_explained_only_where_they_occur() -> None:
    said = graphpage.legend(["holds", "partly"])
    assert "holds" in said and "partly" in said and "refuted, " not in said


def test_plain_text_has_no_markup_of_mathematics() -> None:
    said = r"$\|P(X^*)\|_2\le\frac12$ in {ref}`the *model* <projector>`"
    assert graph.plain(said) == "‖P(X^*)‖_2≤1/2 in the model"
    assert graph.plain("50 % of `x`") == "50 % of x"


# The words of the chapters


@pytest.fixture(scope="module")
def statements() -> dict[str, words.Statement]:
    """All claims of this checkout."""
    return {
        name: statement
        for chapter in toc_chapters(ROOT)
        for name, statement in words.of_chapter(ROOT, chapter).statements.items()
    }


def test_the_chapters_use_what_there_is_and_in_no_circle(
    statements: dict[str, words.Statement],
) -> None:
    assert words.uses_problems(statements) == []
    graph.check(ROOT)


def test_what_a_proof_refers_to_is_listed() -> None:
    assert words.unlisted(ROOT, toc_chapters(ROOT)) == []


def test_most_claims_hang_together(statements: dict[str, words.Statement]) -> None:
    used = {use for statement in statements.values() for use in statement.uses}
    connected = {name for name, statement in statements.items() if statement.uses} | used
    assert len(connected) > len(statements) / 2


def _statement(name: str, *uses: str) -> words.Statement:
    return words.Statement(name, "", "", "", "", "", uses)


def test_an_unknown_id_is_told_with_near_ones() -> None:
    known = {
        n: _statement(n) for n in ("preserve.lemma-4-1", "preserve.lemma-4-2", "hashing.new-x")
    }
    known["preserve.theorem-3-1"] = _statement("preserve.theorem-3-1", "preserve.lema-4-1")
    (said,) = words.uses_problems(known)
    assert said.startswith("preserve.theorem-3-1 uses preserve.lema-4-1, which no chapter states;")
    assert "preserve.lemma-4-1" in said and "hashing" not in said


def test_a_circle_is_told_with_its_claims() -> None:
    ring = {"a.lemma-1": ("a.lemma-2",), "a.lemma-2": ("a.lemma-3",), "a.lemma-3": ("a.lemma-1",)}
    (said,) = words.uses_problems({n: _statement(n, *uses) for n, uses in ring.items()})
    start = said.partition(" ")[0]
    chain = said.partition(": ")[2].partition(";")[0].split(" uses ")
    assert chain[0] == chain[-1] == start
    assert all(b in ring[a] for a, b in pairwise(chain))


def _chapter(root: Path, name: str, text: str) -> None:
    path = root / "notebooks" / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    "proof",
    [
        "```{prf:proof}\nBy {ref}`the lemma <first>`. ∎\n```",
        "```{prf:proof}\nBy [the lemma](first). ∎\n```",
        "```{prf:proof}\nBy {prf:ref}`it <a.lemma-1>`. ∎\n```",
        "Well known.\n\n```{prf:proof}\nBy Lemmas 7 and 1. ∎\n```",
        "*Proof.* By Lemma 1. ∎",
    ],
)
def test_a_reference_that_is_not_listed_is_told(tmp_path: Path, proof: str) -> None:
    lemma = "```{prf:lemma} One\n:label: a.lemma-1\n:source: x\nText.\n```"
    _chapter(tmp_path, "a/first", f"(first)=\n# First\n\n{lemma}\n")
    theorem = "```{prf:theorem} Two\n:label: a.theorem-2\n:source: x\n"
    head = "(second)=\n# Second\n\n"
    _chapter(tmp_path, "a/second", f"{head}{theorem}Text.\n```\n\n{proof}\n")
    (said,) = words.unlisted(tmp_path, ["a/first", "a/second"])
    assert "the proof of a.theorem-2 refers to" in said and "notebooks/a/first.md" in said
    listed = f"{head}{theorem}:uses: a.lemma-1\nText.\n```\n\n{proof}\n"
    _chapter(tmp_path, "a/second", listed)
    assert words.unlisted(tmp_path, ["a/first", "a/second"]) == []


def test_a_proof_under_another_heading_belongs_to_no_claim() -> None:
    text = "```{claim} lemma-2\nx\n```\n\n## Why\n\n```{prf:proof}\nBy Lemma 1.\n```\n"
    assert words.proof_references(text, part="a") == {}


def test_a_comment_of_a_cell_is_no_heading() -> None:
    cell = "```{code-cell} python\n# no heading\n```"
    text = f"```{{claim}} lemma-2\nx\n```\n\n{cell}\n\n```{{prf:proof}}\nBy Lemma 1.\n```\n"
    assert words.proof_references(text, part="a") == {"a.lemma-2": {"a.lemma-1"}}
