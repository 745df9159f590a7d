"""Which runs a sweep consists of: a grid from the command line or YAML, or the rows of a table."""

from __future__ import annotations

import csv
import itertools
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from lowdim.publish.chapters import Chapter, UsageError
from lowdim.publish.parameters import Parameter, check, check_all

MANY = 10_000  # runs that are not begun without being asked twice
MOST = 1_000_000  # runs that are not planned at all
_RANGE = re.compile(r"([-+]?\d+):([-+]?\d+)(?::(\d+))?")


def choices(parameter: Parameter, text: str) -> list[Any]:
    """The values that ``text`` gives a parameter: ``0.1,0.5``, ``0:20`` or ``0:20:5``.

    A range goes up to its end and leaves it out, as in Python. The values of a list are parted by
    semicolons: ``sizes=10,20;10,20,40`` are two lists.

    Raises
    ------
    UsageError
        If a value is not allowed, if there is none, or if one is given twice.

    Examples
    --------
    >>> from lowdim.publish.parameters import parse_cell
    >>> cell = "seed = 0  # seed; any integer\\nsizes = [1]  # n; a list, each 1 or more"
    >>> seed, sizes = parse_cell(cell)
    >>> choices(seed, "0:6:2"), choices(sizes, "1,2;4")
    ([0, 2, 4], [[1, 2], [4]])
    """
    found = _RANGE.fullmatch(text.strip())
    if found and parameter.type is int:
        start, stop, step = int(found[1]), int(found[2]), int(found[3] or 1)
        given: Sequence[Any] = range(start, stop, step) if step else ()
        if len(given) > MOST:
            raise UsageError(
                f"{parameter.name}={text} has {len(given):,} values; {MOST:,} are the most."
            )
    else:
        given = [
            part for part in re.split(";" if parameter.type is list else ",", text) if part.strip()
        ]
    values = [
        check(parameter, value if isinstance(value, int) else value.strip()) for value in given
    ]
    if not values:
        raise UsageError(f"{parameter.name} was given no value: '{text}'.")
    for place, value in enumerate(values):
        if value in values[:place][-1000:]:
            raise UsageError(f"{parameter.name} was given {value!r} twice.")
    return values


def grid(chapter: Chapter, given: Mapping[str, str]) -> list[dict[str, Any]]:
    """Every combination of the values given, the last parameter changing fastest.

    Examples
    --------
    >>> from lowdim.publish.parameters import parse_cell
    >>> cell = "n = 1  # n; 1 or more\\nseed = 0  # seed; any integer"
    >>> chapter = Chapter("a/b", Path("b.md"), "B", (), tuple(parse_cell(cell)))
    >>> grid(chapter, {"n": "1,2", "seed": "0:2"})
    [{'n': 1, 'seed': 0}, {'n': 1, 'seed': 1}, {'n': 2, 'seed': 0}, {'n': 2, 'seed': 1}]
    """
    known = {parameter.name: parameter for parameter in chapter.parameters}
    check_all(
        chapter.parameters,
        {name: known[name].default for name in given if name in known},
        owner=chapter.stem,
    )
    for name in given:
        if name not in known:
            check_all(chapter.parameters, {name: None}, owner=chapter.stem)  # refuses, with a hint
    if not given:
        raise UsageError(
            f"A sweep needs parameters to vary, as in -p seed=0:20; {chapter.stem} has: "
            f"{', '.join(known)}."
        )
    axes = {name: choices(known[name], text) for name, text in given.items()}
    if (count := math.prod(map(len, axes.values()))) > MOST:
        raise UsageError(f"This grid has {count:,} runs; {MOST:,} are the most.")
    return [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]


def from_file(chapter: Chapter, path: Path) -> list[dict[str, Any]]:
    """The runs in a file: a YAML mapping of parameters to lists (a grid), or a CSV table (rows).

    Raises
    ------
    UsageError
        If the file is missing, empty or malformed, or if a value is not allowed.

    Examples
    --------
    >>> from_file(None, Path("runs.txt"))
    Traceback (most recent call last):
        ...
    lowdim.publish.parameters.UsageError: A plan is a .yml, .yaml or .csv file; you gave runs.txt.
    """
    if path.suffix not in (".yml", ".yaml", ".csv"):
        raise UsageError(f"A plan is a .yml, .yaml or .csv file; you gave {path}.")
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"The plan {path} cannot be read ({_one_line(error)}).") from None
    return _rows(chapter, path, text) if path.suffix == ".csv" else _yaml(chapter, path, text)


def _rows(chapter: Chapter, path: Path, text: str) -> list[dict[str, Any]]:
    rows = csv.DictReader(text.splitlines(), strict=True)
    names = rows.fieldnames or []
    if len(set(names)) < len(names):
        raise UsageError(f"{path} names a parameter twice in its first line: {', '.join(names)}.")
    runs: list[dict[str, Any]] = []
    try:
        for row in rows:
            if None in row or None in row.values():
                raise UsageError(f"{path}, line {rows.line_num}: not as many values as names.")
            runs.append(check_all(chapter.parameters, row, owner=chapter.stem))
    except csv.Error as error:
        raise UsageError(f"{path}, line {rows.line_num}: no CSV ({error}).") from None
    except UsageError as error:
        where = f"{path}, line {rows.line_num}: "
        raise UsageError(
            str(error) if str(error).startswith(str(path)) else where + str(error)
        ) from None
    return _distinct(runs, path)


def _yaml(chapter: Chapter, path: Path, text: str) -> list[dict[str, Any]]:
    try:
        plan = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise UsageError(f"{path} is not YAML ({_one_line(error)}).") from None
    if (
        not isinstance(plan, dict)
        or not plan
        or not all(isinstance(v, list) and v for v in plan.values())
    ):
        raise UsageError(f"{path} must read 'parameter: [value, value, …]' on each line.")
    axes: dict[str, list[Any]] = {}
    for name, values in plan.items():
        axes[name] = [
            check_all(chapter.parameters, {name: value}, owner=chapter.stem)[name]
            for value in values
        ]
    if (count := math.prod(map(len, axes.values()))) > MOST:
        raise UsageError(f"This grid has {count:,} runs; {MOST:,} are the most.")
    runs = [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]
    return _distinct(runs, path)


def _distinct(runs: list[dict[str, Any]], path: Path) -> list[dict[str, Any]]:
    if not runs:
        raise UsageError(f"{path} has no run in it.")
    seen: set[str] = set()
    for run in runs:
        if (told := repr(run)) in seen:
            raise UsageError(f"{path} asks twice for {run}.")
        seen.add(told)
    return runs


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
