"""What is right: answers as plain values against the properties that they should have.

An assignment's hidden cells are the lecturer's code. For a question they define ``cases(rng,
values)`` and ``judge(case, answer, values)``, or ``judge_all(cases, answers, values)`` where only
several answers together have a property; they use the functions here to turn an answer, which
may be anything that has a plain form, into what was asked for, or to refuse it in one sentence. A
sentence tells which property failed and never what the answer is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

UNFIT = "What came back is not what was asked for, and could not be judged."


class Refused(Exception):
    """An answer of the wrong kind: no property can be asked of it."""


def array(
    answer: object, *, shape: Sequence[int | None] | None = None, complex: bool = False
) -> np.ndarray:
    """The answer as finite numbers, doubles, of this ``shape``; None leaves an axis open.

    Raises
    ------
    Refused
        If it is no array of numbers, has another shape, or an entry that is not finite.

    Examples
    --------
    >>> array([[1, 2], [3, 4]], shape=(2, None))
    array([[1., 2.],
           [3., 4.]])
    """
    if isinstance(answer, list | tuple | int | float | Fraction) and not isinstance(answer, bool):
        try:
            answer = np.array(_numbers(answer), dtype=np.float64)
        except (ValueError, TypeError, OverflowError):
            raise Refused("What came back is no array of numbers.") from None
    if not isinstance(answer, np.ndarray) or answer.dtype.kind not in "iufc"[: 4 if complex else 3]:
        raise Refused("What came back is no array of numbers.")
    if shape is not None and (
        len(shape) != answer.ndim
        or any(want not in (None, has) for want, has in zip(shape, answer.shape, strict=True))
    ):
        asked = ", ".join("any" if size is None else str(size) for size in shape)
        raise Refused(f"What came back has the shape {answer.shape}, and not ({asked}).")
    answer = answer.astype(np.complex128 if complex else np.float64)
    if not np.isfinite(answer).all():
        raise Refused("What came back is not finite: it holds a NaN or an infinity.")
    return answer


def _numbers(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_numbers(item) for item in value]
    if isinstance(value, np.ndarray):
        return value.astype(np.float64)
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction):
        raise TypeError
    return float(value)


def number(answer: object) -> float:
    """The answer as one finite number.

    Raises
    ------
    Refused
        If it is none.

    Examples
    --------
    >>> number(Fraction(1, 4)), number(np.array(2.0))
    (0.25, 2.0)
    """
    if isinstance(answer, np.ndarray) and answer.size == 1 and answer.dtype.kind in "iuf":
        answer = answer.item()
    if isinstance(answer, bool) or not isinstance(answer, int | float | Fraction):
        raise Refused("What came back is no number.")
    try:
        value = float(answer)
    except OverflowError:
        value = math.inf
    if not math.isfinite(value):
        raise Refused("What came back is not finite: it is a NaN or an infinity.")
    return value


def exact(answer: object, *, shape: tuple[int, ...]) -> np.ndarray:
    """The answer as an array of fractions: every number that comes back is one.

    Raises
    ------
    Refused
        As :func:`array` does.

    Examples
    --------
    >>> exact([[Fraction(1, 3), 0.5]], shape=(1, 2)).tolist()
    [[Fraction(1, 3), Fraction(1, 2)]]
    """
    array(answer, shape=shape)  # refuses what is no array of finite numbers of this shape
    if isinstance(answer, np.ndarray):
        answer = answer.tolist()
    flat: list[Fraction] = []

    def walk(value: Any) -> None:
        if isinstance(value, np.ndarray):
            value = value.tolist()
        if isinstance(value, list | tuple):
            for item in value:
                walk(item)
        else:
            flat.append(Fraction(value))

    walk(answer)
    made = np.empty(len(flat), dtype=object)
    made[:] = flat
    return made.reshape(shape)


def parts(answer: object, count: int) -> list[Any]:
    """The answer as so many things together.

    Raises
    ------
    Refused
        If it is no tuple, list or array of this length.

    Examples
    --------
    >>> parts((1, "a"), 2)
    [1, 'a']
    """
    if not isinstance(answer, list | tuple | np.ndarray) or (
        isinstance(answer, np.ndarray) and not answer.ndim
    ):
        raise Refused(f"What came back are not {count} things.")
    if len(answer) != count:
        raise Refused(f"What came back are {len(answer)} things, and not {count}.")
    return list(answer)


def word(answer: object, choices: Sequence[str]) -> str:
    """The answer as one of these words.

    Raises
    ------
    Refused
        If it is none of them.

    Examples
    --------
    >>> word("sound", ["sound", "broken"])
    'sound'
    """
    if not isinstance(answer, str) or answer not in choices:
        raise Refused(f"What came back is none of: {', '.join(choices)}.")
    return answer


def close(a: Any, b: Any, *, tolerance: float = 1e-8) -> bool:
    """Whether two arrays agree up to ``tolerance`` times the larger one's largest entry, or 1.

    Examples
    --------
    >>> close(np.eye(2), np.eye(2) + 1e-12), close(np.eye(2), np.ones((2, 2)))
    (True, False)
    """
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape:
        return False
    size = max(1.0, float(np.abs(a).max(initial=0)), float(np.abs(b).max(initial=0)))
    return bool(np.all(np.abs(a - b) <= tolerance * size))


@dataclass(frozen=True)
class Judgement:
    """Which properties hold, and the first reason why others do not."""

    holds: Mapping[str, bool]
    reason: str


def prepare(hidden: Sequence[str]) -> dict[str, Any]:
    """Run the hidden cells of a question; the names that they define.

    Raises
    ------
    ValueError
        If they define neither ``judge`` nor ``judge_all``.

    Examples
    --------
    >>> sorted(set(prepare(["def judge(case, answer, values): return {}"])) & {"cases", "judge"})
    ['cases', 'judge']
    """
    space: dict[str, Any] = {"__name__": "hidden"}
    for source in hidden:
        exec(compile(source, "<hidden>", "exec"), space)
    if not callable(space.get("judge")) and not callable(space.get("judge_all")):
        raise ValueError("The hidden cells of a question define judge(case, answer, values).")
    space.setdefault("cases", lambda rng, values: [()])
    return space


def judge(
    space: Mapping[str, Any],
    properties: Sequence[str],
    cases: Sequence[tuple[Any, ...]],
    answers: Sequence[tuple[str, Any] | None],
    values: Any,
) -> Judgement:
    """Judge the answers to hidden inputs: a property holds if it does for every input.

    ``answers`` has for each input a pair (kind, value) as the jail tells them, or None for none.

    Examples
    --------
    >>> space = prepare(["def judge(case, answer, values): return {'even': answer % 2 == 0}"])
    >>> judge(space, ["even"], [()], [("value", 4)], {}).holds
    {'even': True}
    """
    nothing = dict.fromkeys(properties, False)
    told = []
    for answer in answers:
        if answer is None:
            return Judgement(nothing, "It did not come to an end within its limits.")
        kind, value = answer
        if kind == "missing":
            return Judgement(nothing, "There is no function of this name.")
        if kind == "form":
            return Judgement(nothing, "What came back is no number, array, text or list of such.")
        if kind == "raised":
            if value == "NotImplementedError":
                return Judgement(nothing, "It is not answered.")
            name = value if isinstance(value, str) and value.isidentifier() else ""
            return Judgement(nothing, f"It stopped with an error{f' ({name})' if name else ''}.")
        told.append(value)
    try:
        found = _found(space, list(cases), told, values)
        return Judgement({p: all(bool(each[p]) for each in found) for p in properties}, "")
    except Refused as refusal:
        return Judgement(nothing, str(refusal))
    except Exception:  # one strange answer must not end the grading of a class
        return Judgement(nothing, UNFIT)


def _found(
    space: Mapping[str, Any], cases: list[tuple[Any, ...]], answers: list[Any], values: Any
) -> list[Mapping[str, Any]]:
    """What the hidden cells find: for each input, or for all of them together."""
    if "judge_all" in space:
        return [space["judge_all"](cases, answers, values)]
    return [space["judge"](c, answer, values) for c, answer in zip(cases, answers, strict=True)]


def hidden_test(hidden: Sequence[str], function: Any, prop: str, seed: int, values: Any) -> None:
    """Assert one property in the process of the student: for nbgrader, which grades there.

    Raises
    ------
    AssertionError
        If it does not hold.

    Examples
    --------
    >>> source = "def judge(case, answer, values): return {'even': answer % 2 == 0}"
    >>> hidden_test([source], lambda: 4, "even", 0, {})
    """
    space = prepare(hidden)
    cases = list(space["cases"](np.random.default_rng(seed), values))
    try:
        found = _found(space, cases, [function(*case) for case in cases], values)
    except Refused as refusal:
        raise AssertionError(str(refusal)) from None
    assert all(each[prop] for each in found), f"This property does not hold: {prop}."
