"""One submission from bytes to points: cells into the jail, answers out, judged here.

A submission is first run as a whole. If it does not come to its end, the questions that are left
are asked again: without the one that did not come back, or, if the cells themselves did not, each
with its own cells only. So one bad answer costs its own points, and never more than a bounded time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lowdim.course import jail, judging, keys, submissions
from lowdim.course.jail import Limits
from lowdim.course.notebooks import literal, values_of
from lowdim.course.source import Assignment, Question
from lowdim.course.submissions import Cell, Submission

ENDED = {
    "time": "It did not come to an end within its time.",
    "memory": "It wanted more memory than there is.",
    "output": "What came back is too large.",
    "died": "It ended the program that asked it.",
}


@dataclass
class Graded:
    """Points of one question: by property, and why some are missing."""

    points: dict[str, float]
    out_of: dict[str, float]
    reason: str = ""
    by_hand: bool = False
    text: str = ""

    @property
    def total(self) -> float:
        """All points that were given."""
        return sum(self.points.values())


@dataclass
class Result:
    """What became of one submission."""

    student: str
    refused: str = ""
    questions: dict[str, Graded] = field(default_factory=dict)

    @property
    def total(self) -> float:
        """All points that were given."""
        return sum(question.total for question in self.questions.values())


@dataclass(frozen=True)
class _Asked:
    """A question with the hidden inputs of one student."""

    question: Question
    space: Mapping[str, Any]
    cases: list[tuple[Any, ...]]


def grade(
    submission: Submission, assignment: Assignment, key: bytes, *, limits: Limits | None = None
) -> Result:
    """Grade one submission.

    Raises
    ------
    JailMissing
        If there is no jail on this machine.

    Examples
    --------
    >>> from lowdim.course.notebooks import SMALL, solution
    >>> from lowdim.course.source import parse
    >>> small = parse(SMALL, name="small")
    >>> handed_in = Submission("Ada", solution(small, {}).encode())
    >>> if jail.missing() is None:
    ...     assert grade(handed_in, small, b"0123456789abcdef").total == 2
    """
    jail.require()
    nothing = {
        name: Graded(dict.fromkeys(q.points, 0.0), q.points, submission.refused, q.by_hand)
        for name, q in assignment.questions.items()
    }
    if submission.refused:
        return Result(submission.student, submission.refused, nothing)
    try:
        cells = submissions.read(submission.data)
    except submissions.NoNotebook as error:
        for each in nothing.values():
            each.reason = str(error)
        return Result(submission.student, str(error), nothing)
    values = values_of(assignment, key, submission.student)
    asked = {
        name: _ask(assignment, question, key, submission.student, values)
        for name, question in assignment.questions.items()
        if not question.by_hand
    }
    answers, why = _answers(assignment, cells, asked, values, limits or Limits())
    found = {}
    for name, question in assignment.questions.items():
        if question.by_hand:
            text = "\n\n".join(c.source for c in cells if c.question == name and not c.code)
            untouched = text.strip() in ("", question.answer.source.strip())
            reason = "It is not answered." if untouched else ""
            zero = dict.fromkeys(question.points, 0.0)
            found[name] = Graded(zero, question.points, reason, True, "" if untouched else text)
            continue
        put = asked[name]
        told = [answers.get((name, number)) for number in range(len(put.cases))]
        judged = judging.judge(put.space, list(question.points), put.cases, told, values)
        reason = why.get(name, judged.reason) if None in told else judged.reason
        points = {p: question.points[p] * judged.holds[p] for p in question.points}
        found[name] = Graded({p: float(x) for p, x in points.items()}, question.points, reason)
    return Result(submission.student, "", found)


def _ask(
    assignment: Assignment, question: Question, key: bytes, student: str, values: Any
) -> _Asked:
    space = judging.prepare([cell.source for cell in [*assignment.shared, *question.hidden]])
    rng = keys.generator(key, assignment.name, student, question.name)
    return _Asked(question, space, list(space["cases"](rng, values)))


Answers = dict[tuple[str, int], tuple[str, Any]]


def _answers(
    assignment: Assignment,
    cells: Sequence[Cell],
    asked: Mapping[str, _Asked],
    values: dict[str, Any],
    limits: Limits,
) -> tuple[Answers, dict[str, str]]:
    """What the functions return, and for each that does not why."""
    given = [cell.source for cell in assignment.given] + [literal(values)]
    known = {cell.source.strip() for cell in assignment.cells if cell.role in ("given", "check",
             "sample", "")} | {literal(values).strip()}  # fmt: skip
    own = [c.source for c in cells if c.code and c.source.strip() not in known]
    answers: Answers = {}
    why: dict[str, str] = {}
    left = list(asked)
    while left:
        ran, ready, ended = _run([*given, *own], [asked[name] for name in left], limits)
        answers |= ran
        if ended == "done":
            return answers, why
        if not ready:  # a cell did not come to its end: each question with its own cells
            for name in left:
                alone = [source for source in own if _defines(source, asked[name].question)]
                ran, _, ended = _run([*given, *alone], [asked[name]], limits)
                answers |= ran
                why[name] = ENDED.get(ended, "")
            return answers, why
        stuck = next((n for n in left if not _complete(n, asked[n], answers)), left[-1])
        why[stuck] = ENDED[ended]
        left = left[left.index(stuck) + 1 :]
    return answers, why


def _complete(name: str, asked: _Asked, answers: Answers) -> bool:
    return all((name, number) in answers for number in range(len(asked.cases)))


def _run(cells: list[str], asked: list[_Asked], limits: Limits) -> tuple[Answers, bool, str]:
    calls = [(each.question.name, each.question.function, each.cases) for each in asked]
    outcome = jail.run(cells, calls, limits=limits)
    known = {(each.question.name, n) for each in asked for n in range(len(each.cases))}
    answers: Answers = {}
    for said in outcome.said:
        if said[0] == "answer" and (said[1], said[2]) in known:
            answers.setdefault((said[1], said[2]), (said[3], said[4]))
    return answers, ("ready",) in outcome.said, outcome.ended


def _defines(source: str, question: Question) -> bool:
    """Whether a cell has the answer to a question."""
    begins = re.match(rf"\s*# answer: {re.escape(question.name)}\s", source)
    return bool(begins or re.search(rf"^def\s+{question.function}\b", source, flags=re.MULTILINE))
