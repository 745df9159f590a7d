"""Notebooks from the source of an assignment: the student's, the instructor's, and nbgrader's.

They are written as JSON, the same bytes for the same source, key and student. A student's notebook
is made of what students may see, cell by cell; nothing is taken out of a finished one.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import pprint
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from lowdim.course import keys
from lowdim.course.source import Assignment, Cell, Question, solved, stub

EXAMPLE = "example"  # whose values a notebook shows before a student has put in their name
HIDDEN = ("### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS")
Values = dict[str, Any]


def values_of(assignment: Assignment, key: bytes, student: str) -> Values:
    """The values of one student: plain numbers, texts and lists by name.

    Raises
    ------
    CourseError
        If the name is none, or the cell tagged ``values`` gives anything that is not plain.

    Examples
    --------
    >>> from lowdim.course.source import Cell
    >>> from types import SimpleNamespace
    >>> cell = Cell(True, "def values(rng): return {'n': int(rng.integers(5))}", {}, 1)
    >>> made = SimpleNamespace(name="one", values=cell)
    >>> values_of(made, b"0123456789abcdef", "Ada") == values_of(made, b"0123456789abcdef", "Ada")
    True
    """
    if assignment.values is None:
        return {}
    space: dict[str, Any] = {"np": np}
    exec(compile(assignment.values.source, "<values>", "exec"), space)
    made = space["values"](keys.generator(key, assignment.name, student, "values"))
    if not isinstance(made, dict) or json.loads(json.dumps(made)) != made:
        raise keys.CourseError(
            f"{assignment.name}.md: values(rng) must give a dictionary of plain numbers, texts and "
            f"lists; it gave {made!r}."
        )
    return made


def literal(values: Values) -> str:
    """The cell that gives a student their values.

    Examples
    --------
    >>> literal({"n": 3})
    "# your own numbers\\nvalues = {'n': 3}"
    """
    return f"# your own numbers\nvalues = {pprint.pformat(values, width=90, sort_dicts=False)}"


LOOKED_UP = """\
import json

student = "{example}"  # put your name here, as it is on the list of the course
with open("values.json", encoding="utf-8") as file:
    values = json.load(file)[student]  # your own numbers"""


class _Maker:
    """Collects cells."""

    def __init__(self, assignment: Assignment, *, nbgrader: bool = False) -> None:
        self.assignment = assignment
        self.nbgrader = nbgrader
        self.cells: list[dict[str, Any]] = []

    def add(
        self, code: bool, source: str, role: str = "", question: str = "", **grade: Any
    ) -> dict[str, Any]:
        name = f"{self.assignment.name}\0{len(self.cells)}"
        cell: dict[str, Any] = {
            "cell_type": "code" if code else "markdown",
            "id": hashlib.sha256(name.encode()).hexdigest()[:12],
            "metadata": {"lowdim": {"role": role, "question": question}} if role else {},
            "source": source.splitlines(keepends=True),
        }
        if code:
            cell |= {"execution_count": None, "outputs": []}
        if self.nbgrader and grade:
            asked = {"grade": False, "solution": False, "locked": False, "task": False} | grade
            cell["metadata"]["nbgrader"] = {"schema_version": 3, **asked}
            if asked["locked"]:
                cell["metadata"] |= {"deletable": False, "editable": False}
        self.cells.append(cell)
        return cell

    def done(self) -> str:
        metadata = {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
            "lowdim": {"assignment": self.assignment.name},
        }
        whole = {"cells": self.cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
        return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"

    def heading(self, question: Question) -> None:
        points = f"{question.total:g} point{'s' * (question.total != 1)}"
        self.add(False, f"**{question.name}**: {points}, about {question.minutes} minutes.")


def student(assignment: Assignment, values: Values | None, *, nbgrader: bool = False) -> str:
    """The notebook that students get, as text: stubs, self-checks, sample output.

    ``values`` are those of one student; None makes a notebook for all that looks its reader up in
    ``values.json``. With ``nbgrader`` the cells carry its metadata, and a locked cell of tests for
    each property, empty but for what it says.

    Examples
    --------
    >>> from lowdim.course.source import parse
    >>> small = parse(SMALL, name="small")
    >>> "return 2 * x" in student(small, {}), "NotImplementedError" in student(small, {})
    (False, True)
    """
    maker = _Maker(assignment, nbgrader=nbgrader)
    return _notebook(maker, values, stub, lambda question, prop: "# hidden tests")


def source_for_nbgrader(assignment: Assignment, key: bytes, values: Values | None) -> str:
    """The notebook that ``nbgrader generate_assignment`` makes a release from.

    Examples
    --------
    >>> from lowdim.course.source import parse
    >>> made = source_for_nbgrader(parse(SMALL, name="small"), b"0123456789abcdef", {})
    >>> "### BEGIN SOLUTION" in made, "### BEGIN HIDDEN TESTS" in made
    (True, True)
    """

    def tests(question: Question, prop: str) -> str:
        hidden = [cell.source for cell in [*assignment.shared, *question.hidden]]
        seed = keys.seed(key, assignment.name, "nbgrader", question.name)
        call = f"hidden_test({hidden!r}, {question.function}, {prop!r}, {seed}, values)"
        lines = ["# hidden tests", HIDDEN[0], "from lowdim.course.judging import hidden_test"]
        return "\n".join([*lines, call, HIDDEN[1]])

    maker = _Maker(assignment, nbgrader=True)
    return _notebook(maker, values, lambda source: source, tests)


def _notebook(
    maker: _Maker,
    values: Values | None,
    answer: Callable[[str], str],
    tests: Callable[[Question, str], str],
) -> str:
    assignment = maker.assignment
    samples = _samples(assignment, values or {})
    given = False
    for number, cell in enumerate(assignment.cells):
        role, question = cell.role, assignment.questions.get(cell.question)
        locked = {"grade_id": f"cell-{number}", "locked": True}
        if role in ("", "given"):
            maker.add(cell.code, cell.source, "given" if cell.code else "")
        elif role in ("check", "sample") and question:
            added = maker.add(True, cell.source, "check", question.name)
            if cell.line in samples:
                added["outputs"] = [_stream(samples[cell.line])]
        elif role == "values":
            text = LOOKED_UP.format(example=EXAMPLE) if values is None else literal(values)
            maker.add(True, text, "given")
            given = True
        elif role == "answer" and question:
            maker.heading(question)
            if question.by_hand:
                graded = {"grade": True, "points": question.total, "solution": True}
                maker.add(False, cell.source, "answer", question.name,
                          **graded, grade_id=question.name)  # fmt: skip
                continue
            text = f"# answer: {question.name}\n{answer(cell.source)}"
            maker.add(True, text, "answer", question.name, grade_id=question.name, solution=True)
            if maker.nbgrader:
                for prop, points in question.points.items():
                    name = f"{question.name}-{prop}"
                    said = f"# {question.says[prop]}\n{tests(question, prop)}"
                    locked = {"grade_id": name, "locked": True, "grade": True, "points": points}
                    maker.add(True, said, "tests", question.name, **locked)
    if maker.nbgrader and not given:  # its hidden tests pass them on
        maker.add(True, "values = {}", "given")
        maker.cells.insert(0, maker.cells.pop())
    return maker.done()


def instructor(assignment: Assignment, values: Values) -> str:
    """The instructor's notebook, as text: solutions, hidden tests, wrong answers, rubric.

    Examples
    --------
    >>> from lowdim.course.source import parse
    >>> "return 2 * x" in instructor(parse(SMALL, name="small"), {})
    True
    """
    maker = _Maker(assignment)
    for cell in assignment.cells:
        role, question = cell.role, assignment.questions.get(cell.question)
        if role == "values":
            maker.add(True, literal(values), "given")
        if role == "answer" and question:
            maker.heading(question)
            maker.add(cell.code, solved(cell.source), role, question.name)
        elif cell.code and role in ("values", "hidden", "wrong"):
            loses = ", ".join(cell.options.get("loses", []))
            said = {"values": "the values of each student", "hidden": "hidden tests"}
            what = said.get(role, f"a wrong answer; it loses: {loses}")
            source = cell.source.replace("```", "'''")
            maker.add(False, f"*For instructors, {what}:*\n\n```python\n{source}\n```", role)
        else:
            maker.add(cell.code, cell.source, role or ("given" if cell.code else ""), cell.question)
    return maker.done()


def solution(
    assignment: Assignment, values: Values, *, replaced: Mapping[str, str] | None = None
) -> str:
    """A notebook as a student would hand it in, with every answer right but those ``replaced``.

    Examples
    --------
    >>> from lowdim.course.source import parse
    >>> small = parse(SMALL, name="small")
    >>> "return 3" in solution(small, {}, replaced={"twice": "def twice(x): return 3"})
    True
    """
    maker = _Maker(assignment, nbgrader=True)
    right = {
        question.answer.source: (replaced or {}).get(name, solved(question.answer.source))
        for name, question in assignment.questions.items()
    }
    return _notebook(maker, values, lambda source: right[source], lambda q, p: "# hidden tests")


def _samples(assignment: Assignment, values: Values) -> dict[int, str]:
    """What the solution prints in cells tagged ``sample``, by the line of the cell."""
    if not any(cell.role == "sample" for cell in assignment.cells):
        return {}
    space: dict[str, Any] = {"values": values}
    found = {}
    for cell in assignment.cells:
        if cell.code and cell.role in ("", "given", "answer", "sample"):
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                exec(compile(solved(cell.source), "<sample>", "exec"), space)
            if cell.role == "sample":
                found[cell.line] = printed.getvalue()
    return found


def _stream(text: str) -> dict[str, Any]:
    return {"name": "stdout", "output_type": "stream", "text": text.splitlines(keepends=True)}


def secrets_of(assignment: Assignment) -> Iterable[Cell]:
    """The cells of which nothing may be in what students get.

    Examples
    --------
    >>> from lowdim.course.source import parse
    >>> {cell.role for cell in secrets_of(parse(SMALL, name="small"))} == {"hidden", "wrong"}
    True
    """
    return [c for c in assignment.cells if c.role in ("values", "hidden", "wrong", "rubric")]


SMALL = """\
# The smallest assignment

```{code-cell} python
---
tags: [answer]
question: twice
kind: function
points: {value: 1, sign: 1}
says: {value: It is twice as large., sign: It keeps the sign.}
minutes: 5
---
def twice(x):
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION
```
```{code-cell} python
:tags: [hidden]
:question: twice
from lowdim.course.judging import number

def cases(rng, values):
    return [(float(x),) for x in rng.uniform(1, 9, 3)] + [(-3.0,)]

def judge(case, answer, values):
    found = number(answer)
    return {"value": abs(found) == 2 * abs(case[0]), "sign": found * case[0] > 0}
```
```{code-cell} python
---
tags: [wrong]
question: twice
loses: [sign]
---
def twice(x):
    return abs(2 * x)
```
```{code-cell} python
---
tags: [wrong]
question: twice
loses: [value]
---
def twice(x):
    return x
```
"""
"""An assignment for examples and tests."""
