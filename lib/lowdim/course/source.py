"""The source of an assignment: one MyST text notebook with questions, solutions and hidden tests.

What a cell is for stands in its options, which Jupytext keeps as the cell's metadata::

    ```{code-cell} python
    ---
    tags: [answer]
    question: projector
    kind: function
    points: {symmetric: 1, idempotent: 2}
    says: {symmetric: The result equals its transpose., idempotent: "...",}
    minutes: 20
    ---
    def projector(A):
        ### BEGIN SOLUTION
        ...
        ### END SOLUTION
    ```

Tags: ``given`` (code that all have), ``values`` (defines ``values(rng)``, a dictionary of plain
numbers that differ by student), ``answer``, ``check`` (a self-check that students keep), ``sample``
(as ``check``; its printed output, made by the solution, is kept), ``hidden`` (defines ``cases(rng,
values)``, a list of tuples of arguments, and ``judge(case, answer, values)``, a truth for each
property in ``points``; without ``question`` it is shared), ``wrong`` (a plausible wrong answer,
with the properties that it ``loses``), ``rubric``. Words are answered in Markdown cells, whose
options stand in the line ``+++ {"tags": ["answer"], ...}`` before them.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from lowdim.course.keys import CourseError

ROLES = ("given", "values", "answer", "check", "sample", "hidden", "wrong", "rubric")
KINDS = ("function", "counterexample", "rung", "test", "number", "words")
BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
STUB = ("# YOUR CODE HERE", "raise NotImplementedError()")
TEXT_STUB = "*Your answer, here.*"
FOLDER = "notebooks/course"


@dataclass(frozen=True)
class Cell:
    """A cell: its text, its options, and the line of the file where its text begins."""

    code: bool
    source: str
    options: Mapping[str, Any]
    line: int

    @property
    def role(self) -> str:
        """What it is for: one of `ROLES`, or nothing for what all see."""
        tags = self.options.get("tags") or []
        return next((tag for tag in tags if tag in ROLES), "")

    @property
    def question(self) -> str:
        """The question it belongs to, or nothing."""
        return str(self.options.get("question", ""))


@dataclass
class Question:
    """A question with all that belongs to it."""

    name: str
    kind: str
    points: dict[str, float]
    says: dict[str, str]
    minutes: int
    answer: Cell
    function: str
    hidden: list[Cell] = field(default_factory=list)
    wrong: list[Cell] = field(default_factory=list)
    rubric: list[Cell] = field(default_factory=list)

    @property
    def total(self) -> float:
        """All points of the question."""
        return sum(self.points.values())

    @property
    def by_hand(self) -> bool:
        """Whether a person gives its points."""
        return self.kind == "words"


@dataclass
class Assignment:
    """An assignment as its source has it."""

    name: str
    title: str
    minutes: int
    cells: list[Cell]
    questions: dict[str, Question]
    values: Cell | None
    shared: list[Cell]
    text: str

    @property
    def total(self) -> float:
        """All points."""
        return sum(question.total for question in self.questions.values())

    @property
    def given(self) -> list[Cell]:
        """The code cells that all students are given."""
        return [cell for cell in self.cells if cell.role == "given"]


def solved(source: str) -> str:
    """A cell with its solution and without the marks around it.

    Examples
    --------
    >>> print(solved("def f():\\n    ### BEGIN SOLUTION\\n    return 1\\n    ### END SOLUTION"))
    def f():
        return 1
    """
    return "\n".join(line for line in source.split("\n") if line.strip() not in (BEGIN, END))


def stub(source: str) -> str:
    """A cell with a stub in place of each solution, as nbgrader writes it.

    Examples
    --------
    >>> print(stub("def f():\\n    ### BEGIN SOLUTION\\n    return 1\\n    ### END SOLUTION"))
    def f():
        # YOUR CODE HERE
        raise NotImplementedError()
    """
    kept: list[str] = []
    inside = False
    for line in source.split("\n"):
        if line.strip() == BEGIN:
            inside = True
            kept += [line[: line.index("#")] + text for text in STUB]
        elif line.strip() == END:
            inside = False
        elif not inside:
            kept.append(line)
    return "\n".join(kept)


def cells(text: str) -> Iterator[Cell]:
    """The cells of a MyST text notebook after its front matter, in order.

    Examples
    --------
    >>> text = "# Title\\n```{code-cell} python\\n:tags: [given]\\nx = 1\\n```\\nWords\\n"
    >>> [(cell.code, cell.role, cell.source) for cell in cells(text)]
    [(False, '', '# Title'), (True, 'given', 'x = 1'), (False, '', 'Words')]
    """
    lines = text.split("\n")
    at = 0
    if lines[0] == "---":
        at = lines.index("---", 1) + 1
    prose: list[str] = []
    options: dict[str, Any] = {}
    begun = at

    def words() -> Iterator[Cell]:
        source = "\n".join(prose).strip("\n")
        if source:
            yield Cell(False, source, options, begun + 1)

    while at < len(lines):
        line = lines[at]
        fence = re.match(r"^(`{3,})(.*)$", line)
        if line.startswith("+++"):
            yield from words()
            said = line[3:].strip()
            options = json.loads(said) if said else {}
            prose, at, begun = [], at + 1, at + 1
        elif fence:
            stop = at + 1
            while stop < len(lines) and not re.match(rf"^`{{{len(fence[1])},}}\s*$", lines[stop]):
                stop += 1
            if fence[2].strip().startswith("{code-cell}"):
                yield from words()
                yield _code(lines[at + 1 : stop], at + 1)
                prose, options, begun = [], {}, stop + 1
            else:
                prose += lines[at : stop + 1]
            at = stop + 1
        else:
            prose.append(line)
            at += 1
    yield from words()


def _code(body: list[str], start: int) -> Cell:
    skip = 0
    options: dict[str, Any] = {}
    if body and body[0] == "---":
        skip = body.index("---", 1) + 1
        options = yaml.safe_load("\n".join(body[1 : skip - 1])) or {}
    else:
        while skip < len(body) and (match := re.match(r"^:([\w-]+):\s*(.*)$", body[skip])):
            options[match[1]] = yaml.safe_load(match[2])
            skip += 1
    return Cell(True, "\n".join(body[skip:]).strip("\n"), options, start + skip + 1)


def load(path: Path) -> Assignment:
    """Read an assignment and check that everything it needs is there.

    Raises
    ------
    CourseError
        If there is no such file, or it is malformed: one sentence with the line.

    Examples
    --------
    >>> load(Path("nowhere.md"))
    Traceback (most recent call last):
    lowdim.course.keys.CourseError: There is no assignment nowhere.md.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError:
        raise CourseError(f"There is no assignment {path}.") from None
    return parse(text, name=path.stem)


def parse(text: str, *, name: str) -> Assignment:
    """The assignment in a text; see :func:`load`.

    Examples
    --------
    >>> parse("# Title", name="small")
    Traceback (most recent call last):
    lowdim.course.keys.CourseError: small.md asks nothing: no cell is tagged 'answer'.
    """
    where = f"{name}.md"
    try:
        found = list(cells(text))
        front = re.match(r"^---\n(.*?)\n---\n", text, flags=re.DOTALL)
        settings = (yaml.safe_load(front[1]) if front else {}) or {}
    except (yaml.YAMLError, ValueError) as error:
        said = " ".join(str(error).split())
        raise CourseError(f"{where} cannot be read: {said}.") from None
    heading = re.search(r"^# (.+)$", text, flags=re.MULTILINE)
    questions: dict[str, Question] = {}
    for cell in found:
        if cell.role == "answer":
            question = _question(cell, f"{where}, line {cell.line}")
            if question.name in questions:
                raise CourseError(
                    f"{where}, line {cell.line}: question {question.name!r} is asked twice."
                )
            questions[question.name] = question
    if not questions:
        raise CourseError(f"{where} asks nothing: no cell is tagged 'answer'.")
    values, shared = None, []
    for cell in found:
        if cell.role in ("", "given", "answer") or (cell.role == "hidden" and not cell.question):
            shared += [cell] * (cell.role == "hidden")
        elif cell.role == "values":
            values = cell
        elif cell.question not in questions:
            raise CourseError(
                f"{where}, line {cell.line}: a cell tagged {cell.role!r} belongs to question "
                f"{cell.question!r}; questions are: {', '.join(questions)}."
            )
        elif cell.role in ("hidden", "wrong", "rubric"):
            getattr(questions[cell.question], cell.role).append(cell)
    for question in questions.values():
        _complete(question, where)
    minutes = sum(question.minutes for question in questions.values())
    minutes = int((settings.get("lowdim") or {}).get("minutes", minutes))
    title = heading[1] if heading else name
    return Assignment(name, title, minutes, found, questions, values, shared, text)


def _question(cell: Cell, where: str) -> Question:
    name, kind = cell.question, cell.options.get("kind")
    if not re.fullmatch(r"[a-z][a-z0-9_-]*", name):
        raise CourseError(
            f"{where}: an answer needs 'question', a word in small letters; you gave {name!r}."
        )
    if kind not in KINDS:
        raise CourseError(f"{where}: kind must be one of {', '.join(KINDS)}; you gave {kind!r}.")
    points, says = cell.options.get("points"), cell.options.get("says", {})
    minutes = cell.options.get("minutes")
    if (
        not isinstance(points, dict)
        or not points
        or not all(isinstance(p, int | float) and p > 0 for p in points.values())
    ):
        raise CourseError(
            f"{where}: points must be a number above 0 for each property; you gave {points!r}."
        )
    if not isinstance(says, dict) or set(points) != set(says):
        raise CourseError(
            f"{where}: 'says' needs a sentence for each of {', '.join(points)}; "
            f"you gave some for {', '.join(says) or 'none'}."
        )
    if not isinstance(minutes, int) or minutes < 1:
        raise CourseError(f"{where}: minutes must be 1 or more; you gave {minutes!r}.")
    function = ""
    if kind != "words":
        if not cell.code or cell.source.count(BEGIN) != 1 or cell.source.count(END) != 1:
            raise CourseError(f"{where}: an answer has its solution between {BEGIN} and {END}.")
        try:
            tree = ast.parse(cell.source)
        except SyntaxError as error:
            raise CourseError(f"{where}: the solution is no Python ({error.msg}).") from None
        defined = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
        function = str(cell.options.get("function", defined[-1] if defined else ""))
        if function not in defined:
            raise CourseError(f"{where}: the answer must define a function {function!r}.")
    return Question(name, kind, dict(points), dict(says), minutes, cell, function)


def _complete(question: Question, where: str) -> None:
    what = f"{where}: question {question.name!r}"
    if question.by_hand:
        if question.answer.code or question.answer.source != TEXT_STUB:
            raise CourseError(f"{what} is answered in a Markdown cell that says {TEXT_STUB}")
        if not question.rubric:
            raise CourseError(f"{what} is graded by hand and needs a cell tagged 'rubric'.")
        return
    if not question.hidden:
        raise CourseError(f"{what} needs a cell tagged 'hidden' that defines judge().")
    if len(question.wrong) < 2:
        raise CourseError(
            f"{what} needs two plausible wrong answers or more; it has {len(question.wrong)}."
        )
    for cell in question.wrong:
        loses = cell.options.get("loses")
        if not isinstance(loses, list) or not loses or not set(loses) <= set(question.points):
            raise CourseError(
                f"{where}, line {cell.line}: 'loses' must name some of "
                f"{', '.join(question.points)}; you gave {loses!r}."
            )
