"""One rule for the figures of the part: what an interval decides, and what statements add up to.

A statement about a figure is true, false, or left open, where an error bar spans both answers.
*Reproduced* if every statement is true; *not-reproduced* if one is false and none is true; *partly*
otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable

from lowdim import checks

__all__ = ["inside", "ruled", "together"]


def inside(value: float, half: float, low: float, high: float) -> bool | None:
    """Whether ``value`` ± ``half`` lies between ``low`` and ``high``; None if it is cut by one.

    None also for what is no number.

    Raises
    ------
    ValueError
        If ``half`` is negative or ``low`` is not below ``high``.

    Examples
    --------
    >>> inside(0.1, 0.1, -0.25, 0.25), inside(0.9, 0.1, -0.25, 0.25), inside(-0.2, 0.3, -0.25, 0.25)
    (True, False, None)
    """
    if half < 0:
        raise ValueError(f"half an interval must be 0 or more; you gave half = {half}.")
    if not low < high:
        raise ValueError(f"low must be below high; you gave low = {low} and high = {high}.")
    if low < value - half and value + half < high:
        return True
    return False if value + half <= low or value - half >= high else None


def together(answers: Iterable[bool | None]) -> bool | None:
    """Several answers as one: no if one is no, yes if all are yes; None if open, or if none is.

    Examples
    --------
    >>> together([True, True]), together([True, None]), together([None, False]), together([])
    (True, None, False, None)
    """
    found = list(answers)
    if False in found:
        return False
    return True if found and all(found) else None


def ruled(answers: Iterable[bool | None]) -> str:
    """The verdict on a figure from what was found of its statements, None where nothing is decided.

    Raises
    ------
    ValueError
        If there is no statement.

    Examples
    --------
    >>> ruled([True, True]), ruled([True, None]), ruled([False, None]), ruled([None])
    ('reproduced', 'partly', 'not-reproduced', 'partly')
    """
    found = list(answers)
    checks.whole(len(found), "the number of statements", 1)
    if all(found):
        return "reproduced"
    return "partly" if any(found) or False not in found else "not-reproduced"
