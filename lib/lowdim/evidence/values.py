"""Measured values by name: what a page inserts, a record keeps and a reference compares.

A cell says ``say(slope=exponent(x, y), usable=Share(12, 500))``; the prose beside it inserts
them by the role ``value``. Values are numbers, truth values, names, estimates with
their errors, shares and exact fractions, or lists of these. How many digits a reader sees is
decided in the prose (``slope:.2f``), so that it can change without computing again.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral, Real
from typing import Any

from lowdim.evidence.tables import short

NAME = re.compile(r"[a-z][a-zA-Z0-9_]*")
DIGITS = 6  # significant digits that a record keeps of a number
_SENTENCE = re.compile(r"[.!?;]\s|\.$")
LONGEST = 80  # characters of a name; more is a sentence
_said: dict[str, Any] = {}


@dataclass(frozen=True)
class Estimate:
    """A number with its error, two standard errors unless said otherwise.

    Examples
    --------
    >>> print(Estimate(-1.0234, 0.051))
    -1.02 ± 0.05
    >>> f"{Estimate(-1.0234, 0.051):+.3f}"
    '-1.023 ± 0.051'
    """

    value: float
    error: float

    def __iter__(self) -> Iterator[float]:
        return iter((self.value, self.error))

    def __getitem__(self, at: int) -> float:
        return (self.value, self.error)[at]

    def __float__(self) -> float:
        return float(self.value)

    def __format__(self, spec: str) -> str:
        if not spec:
            places = 2
            if 0 < self.error < math.inf:
                places = max(0, 1 - math.floor(math.log10(self.error)) - (self.error >= 0.0095))
            spec = f".{min(places, 6)}f"
        return f"{self.value:{spec}} ± {self.error:{spec.lstrip('+')}}"

    def __str__(self) -> str:
        return format(self, "")


@dataclass(frozen=True)
class Share:
    """So many of so many.

    Examples
    --------
    >>> print(Share(3, 500)), f"{Share(1, 4):.0%}"
    3 of 500
    (None, '25 %')
    """

    count: int
    of: int

    def __float__(self) -> float:
        return self.count / self.of if self.of else math.nan

    def __format__(self, spec: str) -> str:
        return number(float(self), spec) if spec else f"{self.count} of {self.of}"

    def __str__(self) -> str:
        return format(self, "")


def say(**values: object) -> None:
    """Keep measured values under their names, for the prose of this chapter and for its record.

    Numbers, truth values, names (a few words without a full stop), :class:`Estimate`,
    :class:`Share`, fractions, tensors of one element, or lists, arrays and tensors of these.

    Raises
    ------
    ValueError
        If a name is no lower-case identifier, if a value is a sentence (sentences belong in the
        prose), or if a chapter that is run as a whole says two things under one name.

    Examples
    --------
    >>> say(largest=0.25, cut=Share(1, 4))
    >>> text(said()["cut"]), text(said()["largest"], ".0%")
    ('1 of 4', '25 %')
    >>> forget()
    """
    for name, value in values.items():
        if not NAME.fullmatch(name):
            raise ValueError(f"a value's name is a lower-case identifier; you gave {name!r}.")
        kept = encode(value, name)
        if name in _said and _said[name] != kept and "LOWDIM_CHAPTER" in os.environ:
            raise ValueError(
                f"{name!r} was said before, as {text(_said[name])}, and is now {text(kept)}; "
                "give one of them another name."
            )
        _said[name] = kept


def said() -> dict[str, Any]:
    """Everything said so far in this kernel, as records keep it.

    Examples
    --------
    >>> forget(); said()
    {}
    """
    return dict(_said)


def forget() -> None:
    """Forget what was said, as at the start of a chapter.

    Examples
    --------
    >>> say(a=1); forget(); said()
    {}
    """
    _said.clear()


def encode(value: object, name: str = "value") -> Any:
    """A value as JSON has it; None where it is not finite.

    Raises
    ------
    ValueError
        If it is a sentence or nothing that a record keeps.

    Examples
    --------
    >>> encode(Estimate(1 / 3, 0.1)), encode(Share(1, 2)), encode([1.0, math.inf])
    ({'value': 0.333333, 'error': 0.1}, {'count': 1, 'of': 2}, [1.0, None])
    """
    if hasattr(value, "tolist"):  # of numpy and torch
        value = value.tolist()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        if len(value) > LONGEST or _SENTENCE.search(value):
            raise ValueError(
                f"{name!r} is a sentence ({value[:40]!r} …); a record keeps numbers and names, "
                "and the prose says the rest."
            )
        return value
    if isinstance(value, Estimate):
        return {"value": _rounded(value.value), "error": _rounded(value.error)}
    if isinstance(value, Share):
        return {"count": int(value.count), "of": int(value.of)}
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Fraction):
        return {"numerator": value.numerator, "denominator": value.denominator}
    if isinstance(value, Real):
        return _rounded(float(value))
    if isinstance(value, Sequence):
        return [encode(item, name) for item in value]
    raise ValueError(f"{name!r} is {value!r}; a record keeps numbers, names and lists of them.")


def decode(value: Any) -> Any:
    """What :func:`encode` was given, up to rounding.

    Examples
    --------
    >>> print(decode({"count": 1, "of": 2}), decode({"numerator": 1, "denominator": 3}))
    1 of 2 1/3
    """
    if isinstance(value, Mapping):
        if "error" in value:
            nan = math.nan
            pair = (value["value"], value["error"])
            return Estimate(*(nan if number is None else number for number in pair))
        if "of" in value:
            return Share(value["count"], value["of"])
        return Fraction(value["numerator"], value["denominator"])
    return [decode(item) for item in value] if isinstance(value, list) else value


def text(value: Any, spec: str = "") -> str:
    """An encoded value as a reader meets it; ``spec`` as in :func:`number`.

    Examples
    --------
    >>> text(0.123456), text(0.123456, "2"), text(True), text([1, 2]), text(None)
    ('0.123', '0.12', 'yes', '1, 2', '–')
    >>> text({"value": -1.0, "error": 0.02}), text("GELU")
    ('-1.00 ± 0.02', 'GELU')
    """
    value = decode(value)
    if value is None:
        return "–"
    if isinstance(value, bool):
        return ("no", "yes")[value]
    if isinstance(value, list):
        return ", ".join(text(encode(item), spec) for item in value)
    if isinstance(value, Estimate | Share):
        return format(value, spec)
    if isinstance(value, Fraction) and not spec:
        return str(value)
    return value if isinstance(value, str) else number(value, spec)


def number(value: float | Fraction, spec: str = "") -> str:
    """A number: by default three significant digits, whole numbers whole.

    ``spec`` is a format of Python's (``.2f``, ``+.1e``, ``,``, ``.0%``), or a number of significant
    digits.

    Examples
    --------
    >>> number(12), number(1 / 3), number(1 / 3, "2"), number(0.256, ".0%"), number(12345, ",")
    ('12', '0.333', '0.33', '26 %', '12,345')
    """
    if not spec:
        return str(value) if isinstance(value, int) else short(float(value))
    if spec.isdecimal():
        return short(float(value), int(spec))
    shown = format(float(value) if spec[-1] not in ",d" else value, spec)
    return shown.replace("%", " %")


def _rounded(value: float) -> float | None:
    number = float(value)
    return float(f"{number:.{DIGITS}g}") if math.isfinite(number) else None


__all__ = [
    "Estimate", "Share", "decode", "encode", "forget", "number", "said", "say", "text",
]  # fmt: skip
