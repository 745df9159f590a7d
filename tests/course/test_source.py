"""Sources of assignments: read as Jupytext reads them, complete, and right about themselves."""

from __future__ import annotations

import ast
import copy
import re
from pathlib import Path

import jupytext
import pytest
from lowdim.course import judging, keys, notebooks, source
from lowdim.course.keys import CourseError
from lowdim.course.notebooks import SMALL
from lowdim.course.source import Assignment, Question

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / source.FOLDER).glob("*.md"))
KEY = b"a key for the tests of this book"
STUDENTS = ("Ada", "Kurt", "Emmy", "Sofja")
ASSIGNMENTS = {path.stem: source.load(path) for path in SOURCES}
QUESTIONS = [
    (assignment, question)
    for assignment in [*ASSIGNMENTS.values(), source.parse(SMALL, name="small")]
    for question in assignment.questions.values()
    if not question.by_hand
]


def ids(value: object) -> str:
    return getattr(value, "name", str(value))


PREPARED: dict[tuple[str, str, str], tuple[dict, dict, list]] = {}


def prepared(assignment: Assignment, question: Question, student: str) -> tuple[dict, dict, list]:
    """The values, the hidden names and the hidden inputs of a student, made once."""
    named = (assignment.name, question.name, student)
    if named not in PREPARED:
        values = notebooks.values_of(assignment, KEY, student)
        hidden = judging.prepare([c.source for c in [*assignment.shared, *question.hidden]])
        rng = keys.generator(KEY, assignment.name, student, question.name)
        PREPARED[named] = values, hidden, list(hidden["cases"](rng, values))
    return PREPARED[named]


def judged(assignment: Assignment, question: Question, code: str, student: str) -> dict:
    """Which properties an answer has, asked in this process: it is ours."""
    values, hidden, cases = prepared(assignment, question, student)
    space: dict = {"values": values}
    for cell in assignment.given:
        exec(cell.source, space)
    exec(code, space)
    answers = [("value", space[question.function](*copy.deepcopy(case))) for case in cases]
    found = judging.judge(hidden, list(question.points), cases, answers, values)
    assert found.reason != judging.UNFIT
    return dict(found.holds)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_cells_are_those_that_jupytext_reads(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    theirs = jupytext.reads(text, fmt="md:myst").cells
    ours = list(source.cells(text))
    assert [(c.cell_type == "code", c.source.strip("\n")) for c in theirs] == [
        (c.code, c.source) for c in ours
    ]
    for their, our in zip(theirs, ours, strict=True):
        assert dict(their.metadata) == dict(our.options)


@pytest.mark.parametrize("student", STUDENTS)
@pytest.mark.parametrize(("assignment", "question"), QUESTIONS, ids=ids)
def test_solutions_have_every_property(
    assignment: Assignment, question: Question, student: str
) -> None:
    found = judged(assignment, question, source.solved(question.answer.source), student)
    assert all(found.values()), found


@pytest.mark.parametrize("student", STUDENTS)
@pytest.mark.parametrize(("assignment", "question"), QUESTIONS, ids=ids)
def test_wrong_answers_lose_exactly_what_is_said(
    assignment: Assignment, question: Question, student: str
) -> None:
    assert len(question.wrong) >= 2
    for cell in question.wrong:
        found = judged(assignment, question, cell.source, student)
        lost = {name for name, holds in found.items() if not holds}
        assert lost == set(cell.options["loses"]), f"line {cell.line}"


@pytest.mark.parametrize(("assignment", "question"), QUESTIONS, ids=ids)
def test_every_property_is_lost_by_some_wrong_answer(
    assignment: Assignment, question: Question
) -> None:
    lost = {name for cell in question.wrong for name in cell.options["loses"]}
    assert lost == set(question.points)


PLANTED = [(a, q) for a, q in QUESTIONS if {"sound", "broken"} <= set(q.points)]


def test_every_part_plants_ladders_or_claims() -> None:
    names = {assignment.name for assignment, _ in PLANTED}
    assert names == {"projectors", "ladders", "stationary", "flows", "hashing"}


@pytest.mark.parametrize(("assignment", "question"), PLANTED, ids=ids)
def test_five_planted_ladders_are_sound_and_ten_are_broken(
    assignment: Assignment, question: Question
) -> None:
    values, hidden, cases = prepared(assignment, question, "Ada")
    space: dict = {"values": values}
    for cell in assignment.given:
        exec(cell.source, space)
    exec(source.solved(question.answer.source), space)
    told = [space[question.function](*copy.deepcopy(case)) for case in cases]
    assert told.count("") >= 5 and len(told) - told.count("") >= 10
    # whoever accepts all, or names the same place in all, has no points for the others
    for always in (lambda names: "", lambda names: names[1], lambda names: names[-1]):
        given = [("value", always(case[0])) for case in cases]
        found = judging.judge(hidden, list(question.points), cases, given, values).holds
        assert not found["broken"]


@pytest.mark.parametrize("assignment", ASSIGNMENTS.values(), ids=ids)
def test_an_assignment_takes_two_to_four_hours(assignment: Assignment) -> None:
    assert 120 <= assignment.minutes <= 240
    assert assignment.minutes == sum(q.minutes for q in assignment.questions.values())
    for question in assignment.questions.values():
        assert all(re.fullmatch(r"[A-Z].*\.", said) for said in question.says.values())


@pytest.mark.parametrize("assignment", ASSIGNMENTS.values(), ids=ids)
def test_values_differ_by_student_and_copied_answers_are_wrong(assignment: Assignment) -> None:
    if assignment.values is None:
        pytest.skip("it has no values of one's own")
    made = [repr(notebooks.values_of(assignment, KEY, f"student {k}")) for k in range(50)]
    assert len(set(made)) >= 48
    assert made[0] != repr(notebooks.values_of(assignment, b"another key " * 3, "student 0"))


@pytest.mark.parametrize(("assignment", "question"), QUESTIONS, ids=ids)
def test_stubs_raise_and_keep_the_signature(assignment: Assignment, question: Question) -> None:
    made = ast.parse(source.stub(question.answer.source))
    full = ast.parse(source.solved(question.answer.source))
    pairs = [
        (a, b)
        for a, b in zip(made.body, full.body, strict=True)
        if isinstance(a, ast.FunctionDef) and a.name == question.function
    ]
    ((stubbed, solved),) = pairs
    assert ast.dump(stubbed.args) == ast.dump(solved.args)
    assert ast.get_docstring(stubbed) == ast.get_docstring(solved)
    space: dict = {"values": {}}
    for cell in assignment.given:
        exec(cell.source, space)
    exec(compile(made, "stub", "exec"), space)
    with pytest.raises(NotImplementedError):
        space[question.function](*[None] * len(stubbed.args.args))


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("kind: function", "kind: riddle", "kind must be one of function, .*'riddle'"),
        ("question: twice\nkind", "question: Two words\nkind", "small letters; you gave 'Two"),
        ("points: {value: 1, sign: 1}", "points: 3", "points must be a number .* you gave 3"),
        ("points: {value: 1,", "points: {value: -1,", "points must be a number above 0"),
        ("sign: It keeps", "sing: It keeps", "'says' needs a sentence for each of value, sign"),
        ("minutes: 5", "minutes: none", "minutes must be 1 or more"),
        ("    ### END SOLUTION\n", "", "solution between"),
        ("def twice(x):\n    ###", "def twice(x:\n    ###", "is no Python"),
        ("def twice(x):\n    ###", "if True:\n    ###", "must define a function"),
        ("loses: [sign]", "loses: [colour]", "'loses' must name some of value, sign.*colour"),
        ("loses: [sign]", "loses: []", "'loses' must name some of"),
        (":tags: [hidden]\n:question: twice", ":tags: [hidden]", "needs a cell tagged 'hidden'"),
        (":question: twice\nfrom", ":question: thrice\nfrom", "belongs to question 'thrice'"),
        ("tags: [wrong]\nquestion: twice\nloses: [sign]", "tags: [x]", "two plausible wrong"),
        ("points: {value", "points: {{value", "cannot be read"),
    ],
)
def test_a_malformed_source_is_one_sentence(old: str, new: str, sentence: str) -> None:
    assert old in SMALL
    with pytest.raises(CourseError, match=sentence) as raised:
        source.parse(SMALL.replace(old, new, 1), name="small")
    assert "\n" not in str(raised.value)


def test_a_question_is_asked_once() -> None:
    with pytest.raises(CourseError, match="'twice' is asked twice"):
        source.parse(SMALL + SMALL, name="small")
