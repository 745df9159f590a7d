"""Points: all for the solution, none for the stub, and each wrong answer loses its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lowdim.course import grading, jail, notebooks, source
from lowdim.course.grading import Result
from lowdim.course.jail import Limits
from lowdim.course.notebooks import SMALL
from lowdim.course.source import Assignment
from lowdim.course.submissions import Submission

ROOT = Path(__file__).resolve().parents[2]
KEY = b"a key for the tests of this book"
ASSIGNMENTS = {path.stem: source.load(path) for path in sorted((ROOT / source.FOLDER).glob("*.md"))}
# two questions: one that may be spoilt, and one that must stay as it is
TWO = source.parse(
    SMALL + SMALL.partition("\n\n")[2].replace("twice", "again").replace("def again", "def again"),
    name="two",
)
pytestmark = [pytest.mark.usefixtures("walls")]
every = pytest.mark.parametrize("assignment", ASSIGNMENTS.values(), ids=lambda a: a.name)


def graded(assignment: Assignment, text: str, *, limits: Limits | None = None) -> Result:
    return grading.grade(Submission("Ada", text.encode()), assignment, KEY, limits=limits)


def points(result: Result) -> dict[str, float]:
    return {name: question.total for name, question in result.questions.items()}


def by_machine(assignment: Assignment) -> dict[str, float]:
    return {n: 0.0 if q.by_hand else q.total for n, q in assignment.questions.items()}


def values(assignment: Assignment) -> dict:
    return notebooks.values_of(assignment, KEY, "Ada")


@every
def test_the_solution_has_all_points_and_the_stub_none(assignment: Assignment) -> None:
    own = values(assignment)
    assert points(graded(assignment, notebooks.solution(assignment, own))) == by_machine(assignment)
    untouched = graded(assignment, notebooks.student(assignment, own))
    assert untouched.total == 0 and not untouched.refused
    assert {q.reason for q in untouched.questions.values()} == {"It is not answered."}


@every
def test_another_students_solution_loses_points_where_values_are_ones_own(
    assignment: Assignment,
) -> None:
    """Answers that hold their numbers as literals: copied numbers are wrong numbers."""
    if assignment.values is None:
        pytest.skip("it has no values of one's own")
    theirs = notebooks.values_of(assignment, KEY, "Kurt")
    fixed = {
        name: source.solved(q.answer.source).replace("values[", f"{theirs!r}[")
        for name, q in assignment.questions.items()
        if not q.by_hand
    }
    copied = notebooks.solution(assignment, values(assignment), replaced=fixed)
    result = graded(assignment, copied)
    assert result.total < sum(by_machine(assignment).values())


@every
def test_wrong_answers_lose_exactly_their_points(assignment: Assignment) -> None:
    """All first wrong answers at once, then all second ones: questions do not touch one another."""
    own = values(assignment)
    most = max(len(q.wrong) for q in assignment.questions.values())
    for k in range(most):
        wrong = {n: q.wrong[k] for n, q in assignment.questions.items() if len(q.wrong) > k}
        text = notebooks.solution(
            assignment, own, replaced={n: cell.source for n, cell in wrong.items()}
        )
        expected = by_machine(assignment)
        for name, cell in wrong.items():
            lost = cell.options["loses"]
            expected[name] -= sum(assignment.questions[name].points[prop] for prop in lost)
        assert points(graded(assignment, text)) == expected


def cells(*sources: str) -> str:
    made = [{"cell_type": "code", "metadata": {}, "source": text} for text in sources]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


TWICE, AGAIN = "def twice(x): return 2 * x", "def again(x): return 2 * x"
FULL = {"twice": 2.0, "again": 2.0}


@pytest.mark.parametrize(
    "sources",
    [
        (TWICE, AGAIN),
        (AGAIN, TWICE),
        ("def twice(x): return 1", TWICE, AGAIN, "x = 5", AGAIN),
        ("def again(x): return twice(x)", TWICE),
        ("def twice(x): return factor * x", AGAIN, "factor = two", "two = 2"),
        (TWICE, AGAIN, "this is no Python"),
        (TWICE, AGAIN, "1 / 0", "raise SystemExit", "raise KeyboardInterrupt"),
        (TWICE, AGAIN, "import nowhere"),
        ("%matplotlib inline\n" + TWICE, "%%time\n" + AGAIN, "!ls", "?twice"),
        (f"{TWICE}\n{AGAIN}\nprint(twice(3))",),
        (TWICE, AGAIN, "import warnings, sys\nwarnings.warn('x')\nprint('x', file=sys.stderr)"),
        ("from numpy import float32\ndef twice(x): return float32(2) * x", AGAIN),
        (TWICE, "again = lambda x: 2 * x"),
        (TWICE, AGAIN, "class A:\n    pass\nA()"),
    ],
)
def test_added_moved_and_broken_cells_cost_nothing(sources: tuple[str, ...]) -> None:
    result = graded(TWO, cells(*sources))
    if "float32" in sources[0]:  # less exact than was asked for, and told so
        assert points(result) == {"twice": 1.0, "again": 2.0}
    else:
        assert points(result) == FULL


@pytest.mark.parametrize(
    ("spoilt", "reason"),
    [
        ("while True: pass\n" + TWICE, "within its time"),
        ("def twice(x):\n    while True: pass", "within its time"),
        ("import os; os._exit(0)", "no function of this name|ended the program"),
        ("def twice(x):\n    import os; os._exit(0)", "ended the program"),
        ("def twice(x):\n    import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "ended"),
        ("def twice(x): return 1 / 0", r"error \(ZeroDivisionError\)"),
        ("def twice(x: return 3", "no function of this name"),
        ("", "no function of this name"),
        ("twice = 2", "no function of this name"),
        ("def twice(x): return object()", "no number, array, text"),
        ("def twice(x): return None", "no number"),
        ("def twice(): return 2", r"error \(TypeError\)"),
        ("def twice(x): raise NotImplementedError", "not answered"),
        ("def twice(x): return 'x' * 10**8", "no number, array, text"),
    ],
)
def test_a_spoilt_answer_costs_its_own_points_only(spoilt: str, reason: str) -> None:
    limits = Limits(seconds=1, clock=120)  # the clock of a machine that is busy
    result = graded(TWO, cells(spoilt, AGAIN), limits=limits)
    assert points(result) == {"twice": 0.0, "again": 2.0}
    import re

    assert re.search(reason, result.questions["twice"].reason), result.questions["twice"].reason
    assert result.questions["again"].reason == ""


def test_words_are_kept_for_a_person() -> None:
    assignment = ASSIGNMENTS["projectors"]
    text = notebooks.student(assignment, values(assignment))
    answered = text.replace("*Your answer, here.*", "By <b>induction</b>.")
    result = graded(assignment, answered)
    assert result.questions["proof"].text == "By <b>induction</b>."
    assert result.questions["proof"].by_hand and result.questions["proof"].reason == ""


def test_what_was_refused_has_no_points_and_its_reason() -> None:
    for each in (Submission("Ada", refused="A link."), Submission("Ada", b"no JSON")):
        result = grading.grade(each, TWO, KEY)
        assert points(result) == {"twice": 0.0, "again": 0.0}
        assert result.refused and result.questions["twice"].reason == result.refused


def test_hidden_inputs_differ_by_student_and_key() -> None:
    asked = grading._ask(TWO, TWO.questions["twice"], KEY, "Ada", {})
    for key, student in ((KEY, "Kurt"), (KEY[::-1], "Ada")):
        other = grading._ask(TWO, TWO.questions["twice"], key, student, {})
        assert asked.cases[0] != other.cases[0]
    assert asked.cases == grading._ask(TWO, TWO.questions["twice"], KEY, "Ada", {}).cases


def test_without_a_jail_nothing_is_graded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jail, "missing", lambda: "install the package bubblewrap.")
    with pytest.raises(jail.JailMissing):
        graded(TWO, cells(TWICE))
