"""Answers of every kind are turned into what was asked for, or refused in a sentence."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from lowdim.course import judging
from lowdim.course.judging import Refused

STRANGE = [
    None, True, "1", "", [], {}, {"a": 1}, [[1, 2], [3]], ["1"], [None], np.array([True]),
    np.array([np.nan]), np.array([np.inf]), np.array([[1.0]]), np.zeros((0,)), np.array([1j]),
    float("nan"), float("inf"), 10**400, [10**400], [True],
]  # fmt: skip


@pytest.mark.parametrize("answer", STRANGE, ids=lambda a: repr(a)[:20])
def test_strange_answers_are_refused_and_raise_nothing_else(answer: object) -> None:
    with pytest.raises(Refused):
        judging.array(answer, shape=(2, 3))
    with pytest.raises(Refused):
        judging.exact(answer, shape=(2, 3))
    with pytest.raises(Refused):
        judging.word(answer, ["sound"])
    with pytest.raises(Refused):
        judging.parts(answer, 7)
    if not (isinstance(answer, np.ndarray) and answer.shape == (1, 1)):
        with pytest.raises(Refused):
            judging.number(answer)


def test_what_was_asked_for_comes_back_as_it_is() -> None:
    A = np.arange(6, dtype=np.int64).reshape(2, 3)
    np.testing.assert_array_equal(judging.array(A, shape=(2, None)), A.astype(float))
    assert judging.exact([Fraction(1, 3), 2, 0.1], shape=(3,)).tolist() == [
        Fraction(1, 3), Fraction(2), Fraction(0.1),
    ]  # fmt: skip
    assert judging.exact(A, shape=(2, 3))[1, 2] == 5
    assert judging.number(np.array([[2]])) == 2.0


def test_a_property_holds_if_it_does_for_every_input() -> None:
    space = judging.prepare(
        ["def judge(case, answer, values): return {'a': answer > 0, 'b': answer < 9}"]
    )
    cases = [(1,), (2,)]

    def of(*answers: object) -> tuple[dict, str]:
        found = judging.judge(space, ["a", "b"], cases, list(answers), {})
        return dict(found.holds), found.reason

    none = {"a": False, "b": False}
    assert of(("value", 5), ("value", 6)) == ({"a": True, "b": True}, "")
    assert of(("value", 5), ("value", 10)) == ({"a": True, "b": False}, "")
    assert of(("value", 5), None)[0] == none
    assert of(("raised", "NotImplementedError"), None) == (none, "It is not answered.")
    assert of(("raised", "ValueError"), None)[1].endswith("error (ValueError).")
    assert of(("raised", "<b>secret</b>"), None)[1] == "It stopped with an error."
    assert of(("raised", [1]), None)[1] == "It stopped with an error."
    assert of(("value", "text"), ("value", 5)) == (none, judging.UNFIT)
    assert of(("missing", None), None)[1] == "There is no function of this name."
    assert of(("form", None), None)[0] == none


def test_hidden_tests_for_nbgrader_assert_one_property() -> None:
    source = (
        "from lowdim.course.judging import number\n"
        "def cases(rng, values): return [(float(rng.random()),)]\n"
        "def judge(case, answer, values):\n"
        "    return {'a': number(answer) == case[0], 'b': False}"
    )
    judging.hidden_test([source], lambda x: x, "a", 3, {})
    with pytest.raises(AssertionError, match="does not hold: b"):
        judging.hidden_test([source], lambda x: x, "b", 3, {})
    with pytest.raises(AssertionError, match="no number"):
        judging.hidden_test([source], lambda x: "x", "a", 3, {})
    with pytest.raises(ValueError, match="define judge"):
        judging.prepare(["x = 1"])


def test_answers_may_be_judged_together() -> None:
    source = (
        "def cases(rng, values): return [(1,), (2,)]\n"
        "def judge_all(cases, answers, values): return {'same': answers[0] == answers[1]}"
    )
    space = judging.prepare([source])
    for second, same in ((5, True), (6, False)):
        told = [("value", 5), ("value", second)]
        assert judging.judge(space, ["same"], [(1,), (2,)], told, {}).holds == {"same": same}
    judging.hidden_test([source], lambda x: 3, "same", 0, {})
    with pytest.raises(AssertionError, match="same"):
        judging.hidden_test([source], lambda x: x, "same", 0, {})
