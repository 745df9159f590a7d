"""The parameters of a chapter: names, defaults, meanings and ranges, read from one code cell.

A parameters cell holds lines ``name = literal  # meaning; range`` and nothing else. The range is
the last ``;`` part of the comment and one of::

    any integer | any number | N or more | above X | below X | between X and Y (inclusive)
    from X up to Y (Y excluded) | one of a, b, c | true or false | a list, each <range>

Nothing heavy is imported: a mistyped value is answered at once.
"""

from __future__ import annotations

import ast
import builtins
import difflib
import io
import math
import re
import tokenize
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

GRAMMAR = (
    "'any integer', 'any number', 'N or more', 'above X', 'below X', 'between X and Y', "
    "'from X up to Y', 'one of a, b, c', 'true or false' or 'a list, each <range>'"
)
MOST = 10**9  # of a whole number that counts something: a slip, or no memory would do
NAMES = {int: "a whole number", float: "a number", bool: "true or false", str: "a word"}
_POWER = re.compile(r"[-+]?\d+[eE]\+?\d{1,2}")  # a whole number all the same
_NUMBER = r"([-+]?(?:\d[\d_]*\.?\d*|\.\d+)(?:e[-+]?\d+)?)"


class UsageError(ValueError):
    """One sentence for the person who asked; the command line prints it and returns 2."""


@dataclass(frozen=True)
class Range:
    """Which values are allowed: `low` and `high` with their openness, or `choices`.

    >>> Range("above 0", low=0.0, open_low=True).holds(0.0)
    False
    """

    text: str
    low: float = -math.inf
    high: float = math.inf
    open_low: bool = False
    open_high: bool = False
    choices: tuple[Any, ...] | None = None
    each: Range | None = None

    def holds(self, value: Any) -> bool:
        """Whether `value`, already of the right type, is allowed."""
        if self.each is not None:
            return all(self.each.holds(item) for item in value)
        if self.choices is not None:
            return value in self.choices
        if isinstance(value, (bool, str)):
            return True
        above = value > self.low if self.open_low else value >= self.low
        below = value < self.high if self.open_high else value <= self.high
        return above and below


@dataclass(frozen=True)
class Parameter:
    """One line of a parameters cell; `type` is int, float, bool, str or list (then see `item`)."""

    name: str
    default: Any
    type: builtins.type
    meaning: str
    allowed: Range
    item: builtins.type | None = None


def parse_range(text: str, kind: type) -> Range:
    """The range that `text` spells for values of type `kind`; ValueError if it does not fit.

    >>> parse_range("from 0 up to 1", float).holds(1.0)
    False
    >>> parse_range("one of relu, tanh", str).choices
    ('relu', 'tanh')
    """
    text = " ".join(text.split())
    if kind is bool:
        if text != "true or false":
            raise ValueError(f"a truth value has the range 'true or false', not '{text}'")
        return Range(text)
    if match := re.fullmatch(r"one of (.+)", text):
        words = [word.strip().strip("'\"") for word in match[1].split(",")]
        try:
            return Range(text, choices=tuple(kind(word) for word in words))
        except ValueError:
            raise ValueError(f"not every choice in '{text}' is {NAMES[kind]}") from None
    if kind is str:
        raise ValueError(f"a word has the range 'one of a, b, c', not '{text}'")
    if text == "any number" or (text == "any integer" and kind is int):
        return Range(text)
    patterns: dict[str, Callable[..., Range]] = {
        rf"{_NUMBER} or more": lambda low: Range(text, low=low),
        rf"above {_NUMBER}": lambda low: Range(text, low=low, open_low=True),
        rf"below {_NUMBER}": lambda high: Range(text, high=high, open_high=True),
        rf"between {_NUMBER} and {_NUMBER}": lambda low, high: Range(text, low, high),
        rf"from {_NUMBER} up to {_NUMBER}": lambda low, high: Range(
            text, low, high, open_high=True
        ),
    }
    for pattern, make in patterns.items():
        if match := re.fullmatch(pattern, text, flags=re.IGNORECASE):
            return make(*(float(number) for number in match.groups()))
    raise ValueError(f"'{text}' is no range for {NAMES[kind]}; a range is {GRAMMAR}")


def parse_cell(
    source: str, *, where: str = "the parameters cell", line: int = 1
) -> list[Parameter]:
    """The parameters that a cell's `source` declares, in order.

    `where` and `line` (of the cell's first line in that file) only serve the error, a
    `UsageError` that names file, line and what is expected there.

    >>> [p] = parse_cell("noise = 0.1  # size of the noise; above 0")
    >>> p.name, p.default, p.type.__name__, p.meaning, p.allowed.text
    ('noise', 0.1, 'float', 'size of the noise', 'above 0')
    >>> [p] = parse_cell('data = "a"  # images; one of\\n            # a, b')
    >>> p.allowed.text
    'one of a, b'
    """

    def fail(at: int, why: str) -> UsageError:
        return UsageError(
            f"{where}, line {line + at - 1}: {why}; "
            "expected 'name = literal  # meaning; range' on each line."
        )

    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        raise fail(error.lineno or 1, f"not Python ({error.msg})") from None
    comments = {
        token.start[0]: token.string.lstrip("# ").strip()
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT
    }
    begins = {line for node in tree.body for line in (node.lineno, node.end_lineno)}
    found: dict[str, Parameter] = {}
    for node in tree.body:
        simple = isinstance(node, ast.Assign) and len(node.targets) == 1
        target = node.targets[0] if isinstance(node, ast.Assign) and simple else None
        if not isinstance(node, ast.Assign) or not isinstance(target, ast.Name):
            raise fail(node.lineno, f"'{ast.unparse(node)}' is not a plain 'name = literal'")
        name = target.id
        try:
            default = ast.literal_eval(node.value)
        except ValueError:
            raise fail(
                node.lineno, f"{name} is computed ('{ast.unparse(node.value)}'), not a literal"
            ) from None
        if name in found:
            raise fail(node.lineno, f"{name} is declared twice")
        at = node.end_lineno or node.lineno
        comment = comments.get(at, "")
        while comment and (at + 1) in comments and (at + 1) not in begins:  # it goes on below
            at += 1
            comment = f"{comment} {comments[at]}"
        meaning, _, text = comment.rpartition(";")
        try:
            parameter = _declare(name, default, meaning.strip(), text.strip())
        except ValueError as error:
            raise fail(node.lineno, f"{name}: {error}") from None
        found[name] = parameter
    if not found:
        raise fail(1, "no parameter is declared")
    return list(found.values())


def _declare(name: str, default: Any, meaning: str, text: str) -> Parameter:
    if not text:
        raise ValueError("a comment with its range is missing")
    if isinstance(default, list):
        kinds = {type(item) for item in default}
        match = re.fullmatch(r"a list, each (.+)", text)
        if not match or not kinds or not kinds <= {int, float, str}:
            raise ValueError(
                "a list needs one or more numbers or words and the range 'a list, each <range>'"
            )
        item = float if kinds == {int, float} else kinds.pop()
        allowed = Range(text, each=parse_range(match[1], item))
        parameter = Parameter(name, default, list, meaning, allowed, item)
    elif type(default) in NAMES:
        allowed = parse_range(text, type(default))
        parameter = Parameter(name, default, type(default), meaning, allowed)
    else:
        raise ValueError(
            f"{default!r} is neither a number, a truth value, a word nor a list of them"
        )
    try:
        value = check(parameter, default)
    except UsageError as error:
        raise ValueError(f"the default breaks its own range ({str(error).rstrip('.')})") from None
    return Parameter(name, value, parameter.type, meaning, allowed, parameter.item)


def check(parameter: Parameter, given: Any) -> Any:
    """`given` (text from a command line, or a value) as a value of `parameter`.

    Raises `UsageError`, one sentence, for a wrong type and for a value out of range.

    >>> [trials] = parse_cell("trials = 10  # instances; 1 or more")
    >>> check(trials, "25")
    25
    >>> check(trials, "ten")
    Traceback (most recent call last):
        ...
    lowdim.publish.parameters.UsageError: trials must be a whole number, 1 or more; you gave 'ten'.
    """
    name, allowed = parameter.name, parameter.allowed
    try:
        value = _convert(given, parameter.type, parameter.item)
    except (ValueError, SyntaxError):
        kind = "" if parameter.type in (bool, list) else NAMES[parameter.type] + ", "
        if parameter.type is list and parameter.item:
            words = allowed.text.removeprefix("a list, each ")
            kind, text = f"a list, each {NAMES[parameter.item]}, ", words
        else:
            text = allowed.text
        raise UsageError(f"{name} must be {kind}{text}; you gave {given!r}.") from None
    if not allowed.holds(value):
        hint = _hint(value, allowed.choices or ())
        shown = given if isinstance(given, str) and not isinstance(value, str) else repr(value)
        raise UsageError(f"{name} must be {allowed.text}; you gave {shown}{hint}.")
    for each in value if isinstance(value, list) else [value]:
        if isinstance(each, int) and (allowed.each or allowed).low > -math.inf and each > MOST:
            raise UsageError(f"{name} must be {allowed.text}, up to {MOST:,}; you gave {given}.")
    return value


def _convert(given: Any, kind: type, item: type | None) -> Any:
    """`given` as `kind`, or ValueError; a truth value is never taken for a number."""
    if kind is list:
        if isinstance(given, str):
            inner = given.strip()
            if inner.startswith("[") != inner.endswith("]"):
                raise ValueError("a bracket is missing")
            inner = inner.removeprefix("[").removesuffix("]")
            given = [part.strip().strip("'\"") for part in inner.split(",") if part.strip()]
        if isinstance(given, list) and given:
            return [_convert(part, item or str, None) for part in given]
    elif kind is bool:
        if isinstance(given, bool):
            return given
        if isinstance(given, str) and given.strip().lower() in ("true", "false"):
            return given.strip().lower() == "true"
    elif kind is str:
        if isinstance(given, str):
            return given
    elif isinstance(given, (int, str)) and not isinstance(given, bool):
        if kind is int and isinstance(given, str) and _POWER.fullmatch(given.strip()):
            given = int(Fraction(given.strip()))  # 1e3, as one writes a thousand
        value = kind(given)
        if kind is int or math.isfinite(value):
            return value
    elif kind is float and isinstance(given, float) and math.isfinite(given):
        return given
    raise ValueError(f"{given!r} is no {kind.__name__}")


def _hint(word: Any, choices: Iterable[Any]) -> str:
    near = difflib.get_close_matches(str(word), [str(choice) for choice in choices], n=1)
    return f" (did you mean '{near[0]}'?)" if near else ""


def check_all(
    parameters: Iterable[Parameter], given: Mapping[str, Any], *, owner: str
) -> dict[str, Any]:
    """Every value in `given` checked; an unknown name is a `UsageError` that lists the names.

    >>> check_all(parse_cell("noise = 0.1  # size; above 0"), {"noise": "1"}, owner="weyl")
    {'noise': 1.0}
    """
    known = {parameter.name: parameter for parameter in parameters}
    for name in given:
        if name not in known:
            listed = ", ".join(known) + _hint(name, known)
            raise UsageError(f"{owner} has no parameter '{name}'; it has: {listed}.")
    return {name: check(known[name], value) for name, value in given.items()}
