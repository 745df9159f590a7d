"""All exercises of the book on one page: what each asks, of which kind it is, how long it takes.

Read from the chapters and written to ``book/_generated/exercises.md`` before Sphinx reads the
sources; ``book/exercises.md`` includes it, and a small script filters its tables.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lowdim.evidence.vocabulary import PARTS
from lowdim.publish import words
from lowdim.publish.pages import one_line
from lowdim.publish.site import book

if TYPE_CHECKING:
    from sphinx.application import Sphinx

PAGE = Path("book", "exercises.md")
GENERATED = Path("book", "_generated", "exercises.md")
KINDS = {
    "compute": "a cell of the chapter checks your code, or a figure answers",
    "prove": "paper and pencil",
    "slip": "about something that the paper prints",
    "open": "we know a part of the answer, or none",
}
MINUTES = {"Ten minutes": 10, "Half an hour": 30, "An hour": 60}
LONG = 240  # characters after which an exercise is shortened to whole sentences

_LEAD = re.compile(r"\*([A-Z][\w -]*?)\.?\*\s*")
_LITERAL = re.compile(r"\$\$.+?\$\$|\$(?:\\.|[^$\\])+\$|(`+)(?!`).+?(?<!`)\1(?!`)", re.S)
_SLIP = re.compile(
    r"\bprinted\b|\bslips?\b|which step fails|\bthe paper (?!has)\w+s\b|the paper's Definition"
)
_COMPUTE = re.compile(r"\bWrite `|\b[Pp]lot\b|^Repeat the experiment|^Train\b")


@dataclass(frozen=True)
class Exercise:
    """An exercise: ``number`` within its chapter, ``says`` how long it takes, in its own word."""

    chapter: str
    title: str
    number: int
    label: str
    says: str
    kind: str
    text: str

    @property
    def part(self) -> str:
        """The part's folder."""
        return self.chapter.partition("/")[0]

    @property
    def time(self) -> str:
        """What the page shows: minutes where the exercise gives them, else its own word.

        Examples
        --------
        >>> Exercise("preserve/weyl", "Weyl", 1, "weyl-1", "Half an hour", "prove", "").time
        '30 minutes'
        """
        return f"{MINUTES[self.says]} minutes" if self.says in MINUTES else self.says


def setup(app: Sphinx) -> None:
    """Write the page's tables before Sphinx reads the sources."""
    app.connect("builder-inited", _write)


def _write(app: Sphinx) -> None:
    root = Path(app.srcdir)
    if (root / PAGE).is_file():
        path = root / GENERATED
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page(of_book(root, book.of(app))), encoding="utf-8")


def of_book(root: Path, known: book.Book) -> list[Exercise]:
    """The exercises of all chapters of ``known``, in the order of the book.

    Examples
    --------
    >>> of_book(Path("nowhere"), book.Book({}, {}))
    []
    """
    found: list[Exercise] = []
    for chapter in known.chapters.values():
        source = (root / "notebooks" / f"{chapter.name}.md").read_text(encoding="utf-8")
        found += read(source, chapter.name, chapter.title, words.values_of(chapter.record))
    return found


def read(text: str, chapter: str, title: str, values: Mapping[str, object]) -> list[Exercise]:
    r"""The exercises of a chapter, with the numbers of its run.

    Examples
    --------
    >>> text = "```{exercise}\n:label: weyl-1\n*Ten minutes.* Show that $a=b$.\n```\n"
    >>> one, = read(text, "preserve/weyl", "Weyl — a bound", {})
    >>> one.number, one.time, one.kind, one.text
    (1, '10 minutes', 'prove', 'Show that $a=b$.')
    """
    blocks = [b for b in words.blocks(text) if b.name in ("exercise", "solution", "code-cell")]
    found: list[Exercise] = []
    for at, block in enumerate(blocks):
        if block.name != "exercise":
            continue
        body = words.fill(block.body, values)
        lead = _LEAD.match(body)
        said = lead[1] if lead else ""
        says = "Open" if said.startswith("Open") else said
        asks = body[lead.end() :] if lead else body
        checked = at + 1 < len(blocks) and blocks[at + 1].name == "code-cell"
        kind = kind_of(asks, says, checked=checked)
        number, label = len(found) + 1, block.options.get("label", "")
        found.append(Exercise(chapter, title, number, label, says, kind, asks.strip()))
    return found


def kind_of(text: str, says: str, *, checked: bool = False) -> str:
    """Which of `KINDS` an exercise is; ``checked`` if a cell that judges the answer follows it.

    Examples
    --------
    >>> kind_of("Write `f(x)`.", "An hour"), kind_of("Show it.", "Open")
    ('compute', 'open')
    >>> kind_of("For which $x$ does the printed bound fail?", "Warm-up")
    'slip'
    """
    if says.startswith("Open"):
        return "open"
    if checked or _COMPUTE.search(text):
        return "compute"
    return "slip" if _SLIP.search(text) else "prove"


def shortened(text: str, long: int = LONG) -> str:
    """The first sentences of a text, whole, and never cut inside a formula.

    Examples
    --------
    >>> shortened("Let $a. B$ be. Show that it is.", long=10)
    'Let $a. B$ be. …'
    """
    text = one_line(text.replace("$$", "$"))
    if len(text) <= long:
        return text
    literal = [match.span() for match in _LITERAL.finditer(text)]
    ends = [
        m.end()
        for m in re.finditer(r"[.?](?=\s)", text)
        if not any(a <= m.start() < b for a, b in literal) and not text[: m.end()].endswith("e.g.")
    ]
    within = [end for end in ends if end <= long] or ends[:1]
    return f"{text[: within[-1]]} …" if within else text


def page(exercises: Sequence[Exercise]) -> str:
    """The tables as MyST Markdown, one for each part.

    Examples
    --------
    >>> one = Exercise("preserve/weyl", "Weyl — x", 1, "weyl-1", "Open", "open", "Why?")
    >>> print(page([one]), end="")
    There is 1 exercise: 1 open.
    <BLANKLINE>
    ## Part I: Preserve
    <BLANKLINE>
    :::{list-table}
    :header-rows: 1
    :class: lowdim-table lowdim-exercises
    <BLANKLINE>
    * - Exercise
      - Kind
      - Time
      - What it asks
    * - {ref}`Weyl, 1 <weyl-1>`
      - open
      - Open
      - Why?
    :::
    """
    counts = Counter(exercise.kind for exercise in exercises)
    listed = ", ".join(f"{counts[kind]} {_in_words(kind)}" for kind in KINDS if counts[kind])
    many = f"There are {len(exercises)} exercises" if len(exercises) != 1 else "There is 1 exercise"
    lines = [f"{many}: {listed}."]
    for part, title in PARTS.items():
        rows = [exercise for exercise in exercises if exercise.part == part]
        if rows:
            lines += ["", f"## {title}", "", *_table(rows)]
    return "\n".join(lines) + "\n"


def _in_words(kind: str) -> str:
    return {"compute": "to compute", "prove": "to prove", "slip": "about a slip"}.get(kind, kind)


def _table(exercises: Sequence[Exercise]) -> list[str]:
    lines = [":::{list-table}", ":header-rows: 1", ":class: lowdim-table lowdim-exercises", ""]
    lines += ["* - Exercise", "  - Kind", "  - Time", "  - What it asks"]
    for each in exercises:
        name = each.title.partition(" — ")[0]
        lines += [
            f"* - {{ref}}`{name}, {each.number} <{each.label}>`",
            f"  - {each.kind}",
            f"  - {each.time.replace(' ', chr(160))}",
            f"  - {shortened(each.text)}",
        ]
    return [*lines, ":::"]
