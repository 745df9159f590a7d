"""Values by name: what goes in comes out, up to six digits, and no sentence gets in."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from lowdim.evidence import values
from lowdim.evidence.values import Estimate, Share

numbers = st.floats(allow_nan=False, allow_infinity=False, width=32)
leaves = st.one_of(
    numbers,
    st.integers(-(10**9), 10**9),
    st.booleans(),
    st.text("abcXYZ 012-", min_size=1, max_size=20),
    st.fractions(),
    st.builds(Estimate, numbers, numbers),
    st.builds(Share, st.integers(0, 99), st.integers(1, 99)),
)


@pytest.fixture(autouse=True)
def fresh():
    values.forget()
    yield
    values.forget()


@given(st.recursive(leaves, lambda inner: st.lists(inner, max_size=3), max_leaves=5))
def test_encoding_survives_json_and_comes_back(value):
    kept = json.loads(json.dumps(values.encode(value)))
    assert values.encode(values.decode(kept)) == kept
    if isinstance(value, float):
        assert values.decode(kept) == pytest.approx(value, rel=1e-5)
    elif not isinstance(value, Estimate | list):
        assert values.decode(kept) == value


@given(leaves)
def test_every_value_has_a_text(value):
    assert values.text(values.encode(value))


def test_tensors_and_what_is_not_finite():
    assert values.encode(torch.tensor([1.0, math.nan])) == [1.0, None]
    assert values.encode(torch.tensor(3)) == 3
    assert values.text(values.encode(math.inf)) == "–"


@pytest.mark.parametrize(
    "sentence", ["It holds. So there", "All is well.", "x" * 81, "one; two is a sentence"]
)
def test_sentences_stay_in_the_prose(sentence):
    with pytest.raises(ValueError, match="prose"):
        values.say(word=sentence)


@pytest.mark.parametrize("name", ["Upper", "1st", "a-b", "_x"])
def test_names_are_identifiers(name):
    with pytest.raises(ValueError, match="identifier"):
        values.say(**{name: 1})


def test_a_chapter_says_one_thing_under_one_name(monkeypatch):
    monkeypatch.setenv("LOWDIM_CHAPTER", "preserve/weyl")
    values.say(a=1)
    values.say(a=1)
    with pytest.raises(ValueError, match="said before, as 1, and is now 2"):
        values.say(a=2)
    monkeypatch.delenv("LOWDIM_CHAPTER")  # at a keyboard a cell may be run again
    values.say(a=2)
    assert values.said() == {"a": 2}


@given(st.integers(0, 10**6), st.integers(1, 10**6))
def test_shares_as_percentages_agree_with_their_number(count, of):
    shown = format(Share(count, of), ".3%").removesuffix(" %")
    assert float(shown) == pytest.approx(100 * count / of, abs=5.1e-4)


def test_an_estimate_is_a_pair_and_a_number():
    estimate = Estimate(-1.25, 0.5)
    value, error = estimate
    assert (value, error, float(estimate), estimate[0]) == (-1.25, 0.5, -1.25, -1.25)


@given(st.floats(1e-4, 10), st.floats(-50, 50))
def test_an_estimate_shows_its_error_to_a_digit_or_two(error, value):
    shown, shown_error = str(Estimate(value, error)).split(" ± ")
    assert float(shown_error) == pytest.approx(error, rel=0.5)
    assert float(shown) == pytest.approx(value, abs=0.51 * 10 ** -len(shown.partition(".")[2]))


@pytest.mark.parametrize(
    ("spec", "shown"),
    [("", "1230"), ("2", "1200"), (".1f", "1234.6"), (".2e", "1.23e+03"), (",.0f", "1,235")],
)
def test_formats(spec, shown):
    assert values.number(1234.567, spec) == shown


def test_fractions_are_exact():
    assert values.text(values.encode(Fraction(256, 225))) == "256/225"
    assert values.text(values.encode(Fraction(1, 3)), ".2f") == "0.33"
