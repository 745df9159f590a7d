"""The whole book at once: its chapters in order, and every claim with its words and its verdict.

Read from the sources and from the records of the runs that the book shows; nothing is computed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lowdim.evidence.vocabulary import PARTS, claim_name
from lowdim.publish import words
from lowdim.publish.execute import RECORDS, toc_chapters
from lowdim.publish.source import first_heading

if TYPE_CHECKING:
    from sphinx.application import Sphinx


@dataclass(frozen=True)
class Claim:
    """A claim as readers meet it; texts are MyST Markdown with this run's numbers inserted.

    ``says`` is one line, ``body`` the whole statement, ``anchor`` its place on the page of its
    chapter, ``uses`` the ids that its words name as what it rests on.
    """

    id: str
    chapter: str
    title: str
    says: str
    body: str
    source: str
    reading: str
    evidence: str
    verdict: str
    tags: tuple[str, ...]
    supported: bool
    trials: int
    violations: int
    tightness: float | None
    errata: tuple[Mapping[str, str], ...]
    reported: tuple[Mapping[str, Any], ...]
    uses: tuple[str, ...] = ()

    @property
    def part(self) -> str:
        """The part's folder."""
        return self.id.partition(".")[0]

    @property
    def kind(self) -> str:
        """Theorem, figure, new, …"""
        return self.id.partition(".")[2].partition("-")[0]

    @property
    def name(self) -> str:
        """What a reader calls it: Theorem 3.1."""
        return claim_name(self.id)

    @property
    def ours(self) -> bool:
        """Whether the book states it and no paper."""
        return self.kind == "new"

    @property
    def anchor(self) -> str:
        """Where on its page it is stated: its id, which no heading can have.

        Examples
        --------
        >>> empty = dict.fromkeys(("title", "says", "body", "source", "reading", "evidence"), "")
        >>> counts = {"trials": 0, "violations": 0, "tightness": None, "errata": (), "reported": ()}
        >>> Claim(id="preserve.theorem-3-1", chapter="preserve/theorem_3_1", verdict="holds",
        ...       tags=(), supported=True, **empty, **counts).anchor
        'preserve.theorem-3-1'
        """
        return self.id

    @property
    def docname(self) -> str:
        """The Sphinx name of its page."""
        return f"notebooks/{self.chapter}"


@dataclass(frozen=True)
class Chapter:
    """A chapter: its name ``part/chapter``, its title, its claims' ids, its record."""

    name: str
    title: str
    claims: tuple[str, ...]
    record: Mapping[str, Any] = field(repr=False)

    @property
    def part(self) -> str:
        """The part's folder."""
        return self.name.partition("/")[0]

    @property
    def docname(self) -> str:
        """The Sphinx name of its page."""
        return f"notebooks/{self.name}"


@dataclass(frozen=True)
class Book:
    """Chapters and claims, each in the order of the book."""

    chapters: Mapping[str, Chapter]
    claims: Mapping[str, Claim]

    @cached_property
    def used_by(self) -> Mapping[str, tuple[str, ...]]:
        """For each claim the claims that name it as what they rest on."""
        found: dict[str, list[str]] = {name: [] for name in self.claims}
        for claim in self.claims.values():
            for used in claim.uses:
                found.setdefault(used, []).append(claim.id)
        return {name: tuple(users) for name, users in found.items()}

    def of_part(self, part: str) -> list[Claim]:
        """The claims of a part, in order."""
        return [claim for claim in self.claims.values() if claim.part == part]

    @property
    def parts(self) -> list[str]:
        """The parts that have a chapter."""
        return [part for part in PARTS if any(c.part == part for c in self.chapters.values())]


def load(root: Path) -> Book:
    """The book under ``root``, from its sources and ``_build/records``; without what has no record.

    Raises
    ------
    WordsError
        If the words of a chapter do not fit together.

    Examples
    --------
    >>> load(Path("nowhere")).parts
    []
    """
    chapters: dict[str, Chapter] = {}
    claims: dict[str, Claim] = {}
    for name in toc_chapters(root) if (root / "_toc.yml").is_file() else []:
        path = root / RECORDS / f"{name}.json"
        if not path.is_file():
            continue
        record = json.loads(path.read_text(encoding="utf-8"))
        source = (root / "notebooks" / f"{name}.md").read_text(encoding="utf-8")
        said = words.of_chapter(root, name)
        joined = words.join(record, said, title=first_heading(source) or name)
        values = words.values_of(record)
        chapters[name] = Chapter(
            name, joined["title"], tuple(c["id"] for c in joined["claims"]), record
        )
        order = list(said.statements)
        for row in sorted(joined["claims"], key=lambda c: order.index(c["id"])):
            claims[row["id"]] = _claim(row, said.statements[row["id"]], name, values)
    return Book(chapters, claims)


def _claim(
    row: Mapping[str, Any], said: words.Statement, chapter: str, values: Mapping[str, Any]
) -> Claim:
    return Claim(
        id=row["id"],
        chapter=chapter,
        title=said.title,
        says=row["statement"],
        body=words.fill(said.body, values),
        source=row["source"],
        reading=words.fill(said.reading, values),
        evidence=row["evidence"],
        verdict=row["verdict"],
        tags=tuple(row["tags"]),
        supported=row.get("supported", True),
        trials=row["trials"],
        violations=row["violations"],
        tightness=row["tightness"],
        errata=tuple(row["errata"]),
        reported=tuple(row["reported"]),
        uses=said.uses,
    )


def of(app: Sphinx) -> Book:
    """The book that ``app`` builds; read once.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> app = SimpleNamespace(srcdir="nowhere")
    >>> of(app) is of(app)
    True
    """
    kept = getattr(app, "_lowdim_book", None)
    if kept is None:
        kept = load(Path(app.srcdir))
        app._lowdim_book = kept  # type: ignore[attr-defined]  # a place that lives as long as the build
    return kept


def numbers(claims: Sequence[Claim]) -> dict[str, int]:
    """How many there are, by verdict, and how many are ours, and how many slips were found.

    Examples
    --------
    >>> numbers([])["claims"]
    0
    """
    found = {"claims": len(claims), "new": sum(claim.ours for claim in claims)}
    found["slips"] = sum(len(claim.errata) for claim in claims)
    for claim in claims:
        found[claim.verdict] = found.get(claim.verdict, 0) + 1
    return found
