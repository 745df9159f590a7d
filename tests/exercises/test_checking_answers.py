"""Every checker passes its solution and refuses plausible wrong answers, each with its sentence.

`answers/<part>/<name>.py` holds the answers to `lowdim.exercises.<part>.check_<name>`: `solution`,
others that are right as well (`also_…`), and at least two that are not (`wrong_…`), whose
docstrings say what somebody who writes this was thinking.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import pkgutil
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import lowdim.exercises
import pytest
from lowdim.exercises.checking import PASSED, UNANSWERED
from lowdim.publish import words
from lowdim.publish.chapters import discover
from lowdim.publish.site.exercises import kind_of

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PARTS = [
    importlib.import_module(f"lowdim.exercises.{found.name}")
    for found in pkgutil.iter_modules(lowdim.exercises.__path__)
    if found.name != "checking"
]
CHECKERS = {
    f"{module.__name__.rpartition('.')[2]}.{name}": function
    for module in PARTS
    for name, function in vars(module).items()
    if name.startswith("check_")
}


def answers(checker: str) -> ModuleType:
    part, _, name = checker.partition(".check_")
    path = HERE / "answers" / part / f"{name}.py"
    assert path.is_file(), f"{checker} has no answers: write {path.relative_to(ROOT)}"
    spec = importlib.util.spec_from_file_location(f"answers_{part}_{name}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def named(module: ModuleType, prefix: str) -> dict[str, Callable]:
    return {name: thing for name, thing in vars(module).items() if name.startswith(prefix)}


@pytest.mark.parametrize("checker", CHECKERS)
def test_right_answers_pass_and_wrong_ones_are_told_why(checker: str) -> None:
    check, given = CHECKERS[checker], answers(checker)
    assert check(given.solution) == PASSED
    for name, answer in named(given, "also_").items():
        assert check(answer) == PASSED, name
    wrong = named(given, "wrong_")
    assert len(wrong) >= 2, "two plausible wrong answers are the least"
    lines = {line.strip() for line in inspect.getsource(given.solution).splitlines()[1:]}
    for name, answer in wrong.items():
        said = check(answer)
        assert not said, f"{name} passes"
        assert re.fullmatch(r"Not yet: [^\n]+\.", said), name
        assert " raises " not in said, f"{name} does not get as far as being judged: {said}"
        assert not [line for line in lines if len(line) > 8 and line in said], "the answer is told"
        assert answer.__doc__, f"{name}: what was its author thinking?"


@pytest.mark.parametrize("checker", CHECKERS)
def test_whatever_comes_gets_one_sentence(checker: str) -> None:
    check = CHECKERS[checker]

    def unwritten(*_: object) -> None:
        raise NotImplementedError("your answer")

    assert check(unwritten) == UNANSWERED
    for nothing in (lambda *_: None, lambda *_: "text", lambda *_: float("nan"), 3, None):
        said = check(nothing)
        assert not said
        assert re.fullmatch(r"Not yet: [^\n]+\.", said)


def exercises() -> dict[str, tuple[str, words.Block]]:
    """The blocks that name a checker: checker to chapter and block."""
    found: dict[str, tuple[str, words.Block]] = {}
    for chapter in discover(ROOT):
        text = (ROOT / "notebooks" / f"{chapter}.md").read_text(encoding="utf-8")
        for block in words.blocks(text):
            if block.name == "exercise" and "checker" in block.options:
                checker = block.options["checker"]
                assert checker not in found, f"{checker} judges two exercises"
                found[checker] = (chapter, block)
    return found


def test_every_checker_judges_one_exercise_and_every_exercise_has_its_checker() -> None:
    assert sorted(exercises()) == sorted(CHECKERS)


@pytest.mark.parametrize("chapter", discover(ROOT))
def test_every_computational_exercise_has_an_answer_cell_and_a_checker(chapter: str) -> None:
    text = (ROOT / "notebooks" / f"{chapter}.md").read_text(encoding="utf-8")
    for block in words.blocks(text):
        if block.name == "exercise":
            said = re.match(r"\*([^*]*)\*\s*", block.body)
            assert said, f"{block.options['label']} does not say how long it takes"
            kind = kind_of(block.body[said.end() :], said[1].rstrip("."))
            assert kind != "compute" or "checker" in block.options, block.options["label"]
    assert "def check_" not in text, "a checker lives in the library, not in a chapter"


@pytest.mark.parametrize("checker", CHECKERS)
def test_the_printed_solution_passes(checker: str) -> None:
    chapter, exercise = exercises()[checker]
    text = (ROOT / "notebooks" / f"{chapter}.md").read_text(encoding="utf-8")
    label = exercise.options["label"]
    [solution] = [
        block
        for block in words.blocks(text)
        if block.name == "solution" and block.argument == label
    ]
    code = "\n".join(re.findall(r"^```python\n(.*?)^```", solution.body, re.S | re.M))
    assert code, f"the solution of {label} prints no code"
    known: dict[str, object] = {}
    exec("import math\nimport numpy as np\nimport torch\n" + code, known)
    written = exercise.options["answer"].partition("(")[0].strip()
    assert CHECKERS[checker](known[written]) == PASSED
