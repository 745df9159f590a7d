"""Numbers in a range: its ends, and the sentence for what is outside."""

from __future__ import annotations

import math

import pytest
from lowdim.nets._numbers import number


def test_ends_belong_to_a_range_or_not() -> None:
    assert number(0, "x", least=0) == 0.0 and isinstance(number(0, "x", least=0), float)
    assert number(0.999, "x", least=0, below=1) == 0.999
    assert number(1e-300, "x", above=0) == 1e-300
    assert number(-1e300, "x") == -1e300


@pytest.mark.parametrize(
    ("value", "options", "words"),
    [
        (0, {"above": 0}, "above 0 and finite; you gave 0"),
        (-1, {"least": 0}, "0 or above and finite"),
        (1, {"least": 0, "below": 1}, "0 or above and below 1; you gave 1"),
        (math.inf, {"above": 0}, "finite; you gave inf"),
        (math.nan, {"least": 0}, "you gave nan"),
        (True, {"least": 0}, "you gave True"),
        ("1", {"least": 0}, "you gave '1'"),
    ],
)
def test_what_is_outside_is_refused(value: object, options: dict, words: str) -> None:
    with pytest.raises(ValueError, match=f"^rate must be a number .*{words}"):
        number(value, "rate", **options)
