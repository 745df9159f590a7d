"""What checkers are made of: one sentence for a wrong answer, whatever the answer does."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Concatenate, NoReturn, ParamSpec

import numpy as np
import torch

Rest = ParamSpec("Rest")
UNANSWERED = "Not answered yet."
PASSED = "Passed."


class Wrong(AssertionError):
    """An answer lacks a property: one sentence that says which, and not what the answer is."""


class Outcome(str):
    """What a checker says; true if the answer passed, so that it can be asserted.

    Examples
    --------
    >>> bool(Outcome("Passed.", passed=True)), bool(Outcome("No.", passed=False))
    (True, False)
    """

    passed: bool

    def __new__(cls, text: str, *, passed: bool) -> Outcome:
        made = super().__new__(cls, text)
        made.passed = passed
        return made

    def __bool__(self) -> bool:
        return self.passed

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))


def checker(
    judge: Callable[Concatenate[Any, Rest], None],
) -> Callable[Concatenate[Any, Rest], Outcome]:
    """A checker that tells from one that raises :class:`Wrong`.

    An answer that raises, or that is not written yet, gets its sentence too; nothing that the
    answer does ends in a traceback.

    Examples
    --------
    >>> @checker
    ... def check_double(double):
    ...     wants(double(3) == 6, "double(3) is not twice 3")
    >>> check_double(lambda x: 2 * x), check_double(lambda x: x * x)
    ('Passed.', 'Not yet: double(3) is not twice 3.')
    >>> def double(x):
    ...     raise NotImplementedError
    >>> check_double(double)
    'Not answered yet.'
    """

    @functools.wraps(judge)
    def check(answer: Any, /, *more: Rest.args, **named: Rest.kwargs) -> Outcome:
        try:
            judge(answer, *more, **named)
        except NotImplementedError:
            return Outcome(UNANSWERED, passed=False)
        except Wrong as wrong:
            return Outcome(f"Not yet: {str(wrong).rstrip('.')}.", passed=False)
        except Exception as error:
            said = " ".join(str(error).split()).rstrip(".")
            return Outcome(f"Not yet: it raises {type(error).__name__} ({said}).", passed=False)
        return Outcome(PASSED, passed=True)

    return check


def wants(holds: Any, sentence: str) -> None:
    """Raise :class:`Wrong` with ``sentence`` unless ``holds``; NaN never holds.

    Examples
    --------
    >>> wants(1 < 2, "one is not less than two")
    >>> wants(float("nan") < 2, "it is not less than two")
    Traceback (most recent call last):
        ...
    lowdim.exercises.checking.Wrong: it is not less than two
    """
    if not bool(holds):
        raise Wrong(sentence)


def outcome(sentence: str) -> NoReturn:
    """Raise :class:`Wrong`, where a branch has nothing more to ask.

    Examples
    --------
    >>> outcome("there is no such case")
    Traceback (most recent call last):
        ...
    lowdim.exercises.checking.Wrong: there is no such case
    """
    raise Wrong(sentence)


def number(value: Any, name: str) -> float:
    """A finite number, whatever it came as; a complex, a text or an array is :class:`Wrong`.

    Examples
    --------
    >>> number(torch.tensor(0.5), "the value")
    0.5
    >>> number("half", "the value")
    Traceback (most recent call last):
        ...
    lowdim.exercises.checking.Wrong: the value is no finite number
    """
    found: float | None = None
    if not isinstance(value, (str, bytes, bool, complex)):
        try:
            found = float(value)
        except (TypeError, ValueError, RuntimeError):
            found = None
    wants(found is not None and np.isfinite(found), f"{name} is no finite number")
    assert found is not None
    return found


def matrix(value: Any, shape: tuple[int | None, ...], name: str) -> torch.Tensor:
    """A real finite tensor of doubles of this shape (None: any), copied; else :class:`Wrong`.

    Examples
    --------
    >>> matrix([[1, 2]], (1, None), "the answer").dtype
    torch.float64
    >>> matrix([1, 2], (1, None), "the answer")
    Traceback (most recent call last):
        ...
    lowdim.exercises.checking.Wrong: the answer has shape (2,), not (1, any)
    """
    try:
        plain = value.detach().cpu().numpy() if isinstance(value, torch.Tensor) else value
        array = np.array(plain)
        real = array.dtype.kind in "biuf"
    except Exception:
        real = False
    wants(real, f"{name} is no array of real numbers")
    fits = len(array.shape) == len(shape) and all(
        want in (None, have) for want, have in zip(shape, array.shape, strict=True)
    )
    wanted = "(" + ", ".join("any" if n is None else str(n) for n in shape) + ")"
    wants(fits, f"{name} has shape {array.shape}, not {wanted}")
    found = torch.from_numpy(array.astype(np.float64))
    wants(torch.isfinite(found).all(), f"{name} has entries that are not finite")
    return found
