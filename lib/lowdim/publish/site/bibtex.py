r"""How to cite: a BibTeX entry for the book, one for each claim, and the papers' own.

What the book is called and who wrote it is read from ``CITATION.cff``; a year, an address or a DOI
is in an entry if it is there. The papers' entries are those of ``book/references.bib``. A paper's
key stands in ``related`` and not in ``crossref``, by which BibTeX would give the paper's year and
proceedings to the claim.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

import lowdim
from lowdim.evidence.vocabulary import claim_name, kind_of

if TYPE_CHECKING:
    from sphinx.application import Sphinx

FILE = "lowdim.bib"
SCRIPT = Path("_static", "citations.js")
GENERATED = Path("book", "_generated", FILE)
OWN = "lowdim:"  # how the key of a claim begins
_SPECIAL = re.compile(r"([&%$#_])")
_CITED = re.compile(r"\{cite(?::\w+)?\}`([^`,]+)")
_ENTRY = re.compile(r"^@\w+\{([^,\s]+),.*?(?=^@|\Z)", re.DOTALL | re.MULTILINE)


def setup(app: Sphinx) -> None:
    """Put the file of all entries beside the pages, and the claims' where a script finds them."""
    app.connect("build-finished", _copy)


def _copy(app: Sphinx, problem: Exception | None) -> None:
    made = Path(app.srcdir) / GENERATED
    if problem is None and app.builder.format == "html" and made.is_file():
        shutil.copyfile(made, Path(app.outdir) / FILE)
        entries = script(made.read_text(encoding="utf-8"))
        (Path(app.outdir) / SCRIPT).write_text(entries, encoding="utf-8")


def script(entries: str) -> str:
    """The entries of the claims as a script, which a page loads when the first is asked for.

    Examples
    --------
    >>> print(script("@misc{lowdim:preserve.lemma-4-1,\\n}\\n"), end="")
    window.lowdimCitations = {
    "preserve.lemma-4-1":"@misc{lowdim:preserve.lemma-4-1,\\n}"
    };
    """
    own = [entry for entry in _ENTRY.finditer(entries) if entry[1].startswith(OWN)]
    pairs = [(entry[1].removeprefix(OWN), entry[0].rstrip()) for entry in own]
    rows = [":".join(json.dumps(each, ensure_ascii=False) for each in pair) for pair in pairs]
    return "window.lowdimCitations = {\n" + ",\n".join(rows) + "\n};\n"


@dataclass(frozen=True)
class Paper:
    """An entry of the bibliography: its key, its title as TeX, its year, and its text."""

    key: str
    title: str
    year: str
    text: str

    @property
    def plain(self) -> str:
        """The title as a page shows it."""
        return re.sub(r"[{}]", "", self.title)


def papers(bibliography: str) -> dict[str, Paper]:
    """The entries of a bibliography by key.

    Examples
    --------
    >>> found = papers("@article{weyl1912,\\n  title = {On {Weyl}},\\n  year = {1912}\\n}\\n")
    >>> found["weyl1912"].plain, found["weyl1912"].year
    ('On Weyl', '1912')
    """
    found = {}
    for entry in _ENTRY.finditer(bibliography):
        text = entry[0].rstrip()
        found[entry[1]] = Paper(entry[1], value(text, "title"), value(text, "year"), text)
    return found


def value(entry: str, name: str) -> str:
    """What a field of an entry holds, without its outer braces; empty if it has no such field.

    Examples
    --------
    >>> value("@misc{a, title = {One {Two} three}, year={1912}}", "title")
    'One {Two} three'
    """
    start = re.search(rf"\b{name}\s*=\s*\{{", entry)
    if not start:
        return ""
    depth, at = 1, start.end()
    while at < len(entry) and depth:
        depth += {"{": 1, "}": -1}.get(entry[at], 0)
        at += 1
    return " ".join(entry[start.end() : at - 1].split())


def cited(source: str) -> str | None:
    """The key of the paper that a source names first; None for what no paper states.

    Examples
    --------
    >>> cited("{cite}`he2023`, Theorem 2.4"), cited("this book")
    ('he2023', None)
    """
    found = _CITED.search(source)
    return found[1].strip() if found else None


@dataclass(frozen=True)
class Citing:
    """What entries are made of: the book's title, its authors and version, and the papers."""

    title: str
    authors: tuple[str, ...]
    version: str
    more: Mapping[str, str] = field(default_factory=dict)
    papers: Mapping[str, Paper] = field(default_factory=dict)

    def book(self) -> str:
        """The entry of the book itself."""
        return _entry("misc", "lowdim", self._fields(self.title, f"Version {_tex(self.version)}"))

    def claim(self, name: str, *, verdict: str, chapter: str, source: str) -> str:
        r"""The entry of a claim: what it is, of which paper, and what became of it.

        Examples
        --------
        >>> paper = Paper("weyl1912", "On Values", "1912", "")
        >>> citing = Citing("A Book", ("Somebody",), "1.0", papers={"weyl1912": paper})
        >>> print(citing.claim("preserve.lemma-4-1", verdict="holds", chapter="preserve/lemma_4_1",
        ...                    source="{cite}`weyl1912`, page 5"))
        @misc{lowdim:preserve.lemma-4-1,
          author       = {{Somebody}},
          title        = {{Lemma 4.1 of On Values: holds}},
          howpublished = {In: A Book, version 1.0},
          note         = {notebooks/preserve/lemma\_4\_1.md; on weyl1912},
          version      = {1.0},
          related      = {weyl1912}
        }
        """
        key = cited(source)
        paper = self.papers.get(key or "")
        called = claim_name(name)
        if kind_of(name) == "new":
            called = f"{called.removeprefix('New: ').capitalize()}, new in this book"
        of = f" of {paper.title}" if paper else ""
        note = f"notebooks/{_tex(chapter)}.md"
        fields = self._fields(
            f"{_tex(called)}{of}: {verdict}", note + (f"; on {key}" if key else "")
        )
        fields["howpublished"] = f"In: {_tex(self.title)}, version {_tex(self.version)}"
        if key:
            fields["related"] = key
        return _entry("misc", f"{OWN}{name}", fields)

    def everything(self, claims: Iterable[str]) -> str:
        """All entries as one file: the book, the papers that have a claim, and ``claims``."""
        entries = list(claims)
        used = {value(entry, "related") for entry in entries}
        own = [paper.text for key, paper in sorted(self.papers.items()) if key in used]
        return "\n\n".join([self.book(), *own, *entries]) + "\n"

    def _fields(self, title: str, note: str) -> dict[str, str]:
        return {
            "author": " and ".join(f"{{{_tex(name)}}}" for name in self.authors),
            "title": f"{{{title}}}",
            "howpublished": "",
            "note": note,
            "version": _tex(self.version),
            **self.more,
        }


def read(root: Path) -> Citing | None:
    """What the book under ``root`` says of itself; None if it has no ``CITATION.cff``.

    Examples
    --------
    >>> read(Path("nowhere")) is None
    True
    """
    path, bibliography = root / "CITATION.cff", root / "book" / "references.bib"
    if not path.is_file():
        return None
    said = yaml.safe_load(path.read_text(encoding="utf-8"))
    known = papers(bibliography.read_text(encoding="utf-8")) if bibliography.is_file() else {}
    names = tuple(
        person.get("name") or f"{person['family-names']}, {person.get('given-names', '')}"
        for person in said["authors"]
    )
    more = {"doi": said.get("doi"), "url": said.get("url")}
    more["year"] = str(said["date-released"])[:4] if said.get("date-released") else None
    version = str(said.get("version") or lowdim.__version__)
    given = {name: text for name, text in more.items() if text}
    return Citing(said["title"], names, version, given, known)


def _tex(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text)


def _entry(kind: str, key: str, fields: Mapping[str, str]) -> str:
    shown = {name: text for name, text in fields.items() if text}
    width = max(map(len, shown))
    lines = ",\n".join(f"  {name:<{width}} = {{{text}}}" for name, text in shown.items())
    return f"@{kind}{{{key},\n{lines}\n}}"
