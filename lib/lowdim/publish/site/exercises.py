"""All exercises of the book on one page: what each asks and trains, how hard, how long it takes.

Read from the chapters and written to ``book/_generated/exercises.md`` before Sphinx reads the
sources; ``book/exercises.md`` includes it, and a small script filters its tables. An exercise says
which of its chapter's goals it serves (``:goal:``, a number of the masthead's list), and how hard
it is where its time does not tell (``:level:``).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from lowdim.evidence.vocabulary import PARTS
from lowdim.publish import words
from lowdim.publish.pages import one_line
from lowdim.publish.site import book, graph, plain

if TYPE_CHECKING:
    from docutils.parsers.rst import Directive
    from sphinx.application import Sphinx

PAGE = Path("book", "exercises.md")
GENERATED = Path("book", "_generated", "exercises.md")
KINDS = {
    "compute": "a checker judges your code, or a figure answers",
    "prove": "paper and pencil",
    "slip": "an error to find, in print or in an argument",
    "open": "we know a part of the answer, or none",
}
LEVELS = {
    "warm-up": "the chapter's first pages are enough",
    "practice": "its method, on a new case",
    "hard": "asks for an idea of your own",
    "open": "perhaps a summer",
}
MINUTES = {"Warm-up": 10, "Ten minutes": 10, "Half an hour": 30, "An hour": 60}
USUAL = {"Warm-up": "warm-up", "Ten minutes": "warm-up", "Half an hour": "practice"}
USUAL |= {"An hour": "hard", "Open": "open"}
LONG = 240  # characters after which an exercise is shortened to whole sentences

_LEAD = re.compile(r"\*([A-Z][\w -]*?)\.?\*\s*")
_LITERAL = re.compile(r"\$\$.+?\$\$|\$(?:\\.|[^$\\])+\$|(`+)(?!`).+?(?<!`)\1(?!`)", re.S)
_SLIP = re.compile(
    r"\bprinted\b|\bslips?\b|which step fails|\bthe paper (?!has)\w+s\b|the paper's Definition"
)
_COMPUTE = re.compile(r"\bWrite `|\b[Pp]lot\b|^Repeat the experiment|^Train\b")


@dataclass(frozen=True)
class Exercise:
    """An exercise: ``number`` within its chapter, ``says`` how long it takes, in its own word.

    ``goal`` is what it trains, in the words of its chapter's masthead.
    """

    chapter: str
    title: str
    number: int
    label: str
    says: str
    kind: str
    text: str
    level: str = ""
    goal: str = ""

    @property
    def part(self) -> str:
        """The part's folder."""
        return self.chapter.partition("/")[0]

    @property
    def name(self) -> str:
        """What its chapter is called.

        Examples
        --------
        >>> Exercise("preserve/weyl", "Weyl — a bound", 1, "w", "An hour", "prove", "").name
        'Weyl'
        """
        return re.sub(r"^Part [IV]+, ", "", re.split(r"\s+[—–]\s+", self.title)[0])

    @property
    def minutes(self) -> int | None:
        """How long it takes; nobody knows of an open one.

        Examples
        --------
        >>> Exercise("preserve/weyl", "Weyl", 1, "weyl-1", "Half an hour", "prove", "").minutes
        30
        """
        return MINUTES.get(self.says)


def setup(app: Sphinx) -> None:
    """Write the page's tables before Sphinx reads the sources; let exercises name their goal."""
    app.connect("builder-inited", _write)
    if "sphinx_exercise" in app.extensions:
        app.add_directive("exercise", _directive(), override=True)


def _directive() -> type[Directive]:
    from docutils.parsers.rst import directives
    from sphinx_exercise.directive import ExerciseDirective

    class WithGoal(ExerciseDirective):
        """An exercise of sphinx-exercise, with what this page lists it by and who judges it."""

        option_spec: ClassVar[dict[str, Any]] = {
            **ExerciseDirective.option_spec,
            "goal": directives.positive_int,
            "level": lambda given: directives.choice(given, tuple(LEVELS)),
            "answer": directives.unchanged_required,
            "checker": directives.unchanged_required,
        }

        def run(self) -> list[Any]:
            answer, checker = (self.options.get(key, "") for key in ("answer", "checker"))
            if bool(answer) != bool(checker):
                raise self.error("An exercise that is judged has both :answer: and :checker:.")
            if checker:
                source, line = self.content.info(-1)
                for text in ("", "```python", *judged(answer, checker).splitlines(), "```"):
                    self.content.append(text, source, line)
            return super().run()

    return WithGoal


def judged(answer: str, checker: str) -> str:
    """The lines that judge an answer: ``answer`` as it is written, ``checker`` with its part.

    Examples
    --------
    >>> print(judged("centre(M)", "preserve.check_centre"))
    from lowdim.exercises.preserve import check_centre
    <BLANKLINE>
    check_centre(centre)
    """
    part, _, name = checker.partition(".")
    written = answer.partition("(")[0].strip()
    return f"from lowdim.exercises.{part} import {name}\n\n{name}({written})"


def stub(answer: str) -> str:
    """The cell in which a reader writes the answer.

    Examples
    --------
    >>> print(stub("centre(M)"))
    def centre(M):
        raise NotImplementedError("your answer")
    """
    return f'def {answer.strip()}:\n    raise NotImplementedError("your answer")'


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
    >>> one.number, one.minutes, one.kind, one.level, one.text
    (1, 10, 'prove', 'warm-up', 'Show that $a=b$.')
    """
    every = list(words.blocks(text))
    head = next((block.body for block in every if block.name == "masthead"), "")
    goals = plain.goals(words.fill(head, values))
    blocks = [b for b in every if b.name in ("exercise", "solution", "code-cell")]
    found: list[Exercise] = []
    for at, block in enumerate(blocks):
        if block.name != "exercise":
            continue
        body = words.fill(block.body, values)
        lead = _LEAD.match(body)
        said = lead[1] if lead else ""
        says = "Open" if said.startswith("Open") else said
        asks = body[lead.end() :] if lead else body
        follows = at + 1 < len(blocks) and blocks[at + 1].name == "code-cell"
        checked = "checker" in block.options or follows
        kind = kind_of(asks, says, checked=checked)
        number, label = len(found) + 1, block.options.get("label", "")
        level = block.options.get("level") or USUAL.get(says, "")
        place = int(block.options.get("goal") or 0)
        goal = goals[place - 1] if 0 < place <= len(goals) else ""
        found.append(Exercise(chapter, title, number, label, says, kind, asks.strip(), level, goal))
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
    """What the page shows as MyST Markdown: how many there are, and a table for each part.

    Examples
    --------
    >>> one = Exercise("preserve/weyl", "Weyl — x", 1, "weyl-1", "Open", "open", "Why?", "open")
    >>> print(page([one]).partition("## Part I: Preserve")[2], end="")
    <BLANKLINE>
    <BLANKLINE>
    :::{list-table}
    :header-rows: 1
    :class: lowdim-table lowdim-exercises
    <BLANKLINE>
    * - Exercise
      - Kind
      - Difficulty
      - Minutes
      - What it asks, and what for
    * - {ref}`Weyl, 1 <weyl-1>`
      - open
      - open
      - –
      - Why?
    :::
    """
    many = f"There are {len(exercises)} exercises" if len(exercises) != 1 else "There is 1 exercise"
    lines = [f"{many}.", ""]
    for title, meanings, given in (
        ("Kind", KINDS, Counter(each.kind for each in exercises)),
        ("Difficulty", LEVELS, Counter(each.level for each in exercises)),
    ):
        listed = [f"**{word}** ({given[word]}), {meanings[word]}" for word in meanings]
        lines += [f"- {title}: {'; '.join(listed)}."]
    lines += ["", *_data(exercises)]
    for part, title in PARTS.items():
        rows = [exercise for exercise in exercises if exercise.part == part]
        if rows:
            lines += ["", f"## {title}", "", *_table(rows)]
    return "\n".join(lines) + "\n"


def _data(exercises: Sequence[Exercise]) -> list[str]:
    """What the menus choose by, for the script: formulas in a cell are no longer text there."""
    known = {
        each.label: {
            "part": PARTS.get(each.part, each.part),
            "kind": each.kind,
            "level": each.level,
            "minutes": each.minutes,
            "chapter": f"{PARTS.get(each.part, each.part).partition(': ')[2]}: {each.name}",
            "goal": graph.plain(each.goal),
            "words": graph.plain(f"{each.title} {each.text}").lower(),
        }
        for each in exercises
    }
    text = json.dumps(known, ensure_ascii=False, sort_keys=True).replace("</", "<\\/")
    opening = '<script type="application/json" id="lowdim-exercises">'
    return ["````{raw} html", f"{opening}{text}</script>", "````"]


def _table(exercises: Sequence[Exercise]) -> list[str]:
    lines = [":::{list-table}", ":header-rows: 1", ":class: lowdim-table lowdim-exercises", ""]
    lines += ["* - Exercise", "  - Kind", "  - Difficulty", "  - Minutes"]
    lines += ["  - What it asks, and what for"]
    for each in exercises:
        lines += [
            f"* - {{ref}}`{each.name}, {each.number} <{each.label}>`",
            f"  - {each.kind}",
            f"  - {each.level}",
            f"  - {each.minutes or '–'}",
            f"  - {shortened(each.text)}",
        ]
        if each.goal:
            lines += ["", f"    {{.exercise-goal}}\n    Goal: {each.goal}."]
    return [*lines, ":::"]
