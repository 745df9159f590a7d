"""The part's rule for figures, against a second way to say it."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lowdim.collapse.figures import inside, ruled, together

numbers = st.floats(-3, 3)


@given(numbers, st.floats(0, 2))
def test_an_interval_decides_only_if_both_of_its_ends_agree(value: float, half: float) -> None:
    ends = [-1 < end < 1 for end in (value - half, value + half)]
    over = value - half <= -1 and value + half >= 1
    found = inside(value, half, -1, 1)
    assert found is True if all(ends) else found is not True
    if any(ends) and not all(ends):
        assert found is None
    if not any(ends):
        assert found is (None if over and half > 0 else False)


def test_every_triple_of_answers() -> None:
    for answers in product([True, False, None], repeat=3):
        word = ruled(answers)
        assert (word == "reproduced") == (answers.count(True) == 3)
        lost = answers.count(True) == 0 and answers.count(False) > 0
        assert (word == "not-reproduced") == lost


def test_together_is_and_with_a_third_value() -> None:
    rank = {False: 0, None: 1, True: 2}
    for answers in product(rank, repeat=3):
        assert rank[together(answers)] == min(rank[a] for a in answers)


def test_refusals() -> None:
    with pytest.raises(ValueError, match="half = -1"):
        inside(0, -1, 0, 1)
    with pytest.raises(ValueError, match="low = 1 and high = 0"):
        inside(0, 0, 1, 0)
    with pytest.raises(ValueError, match="statements"):
        ruled([])
