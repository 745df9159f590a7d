"""References: what a run said, within what it may be off."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lowdim.publish import chapters, references

reals = st.floats(-1e6, 1e6, allow_nan=False)


@given(st.dictionaries(st.sampled_from("abcd"), st.one_of(reals, st.integers(), st.booleans())))
def test_a_run_agrees_with_its_own_reference(values):
    reference = references.tolerances(values, values, None)
    assert references.differences(values, reference) == []
    assert all(entry["within"] == 0 for entry in reference.values())


@given(st.floats(0.01, 1e6), st.floats(-0.5, 0.5).filter(lambda share: abs(share) > 1e-4))
def test_a_number_that_moves_nowhere_is_held_to_its_digits(value, share):
    reference = references.tolerances({"a": value}, {"a": value}, {"a": 2 * value})
    assert references.differences({"a": value * (1 + share)}, reference)
    assert not references.differences({"a": value * (1 + 1e-6)}, reference)


@given(st.floats(-1e3, 1e3), st.floats(0.1, 10), st.floats(-0.99, 0.99))
def test_what_moves_elsewhere_may_move_as_far_as_it_was_seen_to(value, moved, share):
    reference = references.tolerances({"a": value}, {"a": value + moved}, None)
    assert not references.differences({"a": value + 2 * share * moved}, reference)
    assert references.differences({"a": value + 4 * moved + 1e-5 * abs(value)}, reference)


def test_each_number_of_a_list_has_room_of_its_own():
    then = [1.0, {"value": 5.0, "error": 0.5}, 1e9]
    moved = [1.0, {"value": 5.0, "error": 0.51}, 2e9]
    reference = references.tolerances({"a": then}, {"a": moved}, None)
    assert reference["a"]["within"] == [0, 0, 0.03, 3e9]
    assert not references.differences({"a": [1.0, {"value": 5.0, "error": 0.52}, 0.0]}, reference)
    assert references.differences({"a": [1.01, *then[1:]]}, reference)
    assert references.differences({"a": [1.0, {"value": 5.1, "error": 0.5}, 1e9]}, reference)
    assert references.differences({"a": then[:2]}, reference)


@given(st.floats(1.0, 1e6), st.floats(-1, 1))
def test_what_is_trained_has_room_and_a_factor_is_noticed(value, share):
    reference = references.tolerances({"a": value, "n": 7}, {"a": value, "n": 7}, None)
    near, far = value * (1 + 0.019 * share), value * 1.05
    assert not references.differences({"a": near, "n": 7}, reference, trained=True)
    assert len(references.differences({"a": far, "n": 8}, reference, trained=True)) == 2


def test_chapters_that_follow_gradients_are_told_from_those_that_do_not():
    found = {name: references._trains(chapters.load(name)) for name in (
        "preserve/lemma_4_1", "collapse/theorem_5_4", "preserve/learned_weights",
        "hashing/natural_images", "hashing/recovering_gamma",
    )}  # fmt: skip
    assert list(found.values()) == [False, False, True, True, True], found


@given(st.floats(-1e-13, 1e-13), st.floats(-1e-13, 1e-13))
def test_what_is_rounding_is_not_compared(now, then):
    reference = references.tolerances({"a": then}, {"a": then}, None)
    assert not references.differences({"a": now}, reference)


@pytest.mark.parametrize(
    ("now", "then"),
    [
        (3, 4),
        (True, False),
        ("GELU", "ReLU"),
        (None, 1.0),
        ([1.0, 2.0], [1.0]),
        ({"count": 1, "of": 3}, {"count": 1, "of": 2}),
        ({"value": 1.0, "error": 0.2}, 1.0),
        ({"value": 1.05, "error": 0.2}, {"value": 1.0, "error": 0.2}),
    ],
)
def test_counts_names_and_shapes_are_exact(now, then):
    reference = references.tolerances({"a": then}, {"a": then}, None)
    assert len(references.differences({"a": now}, reference)) == 1


def test_names_that_come_and_go_are_told():
    told = references.differences({"a": 1}, {"b": {"is": 1, "within": 0}})
    assert told == ["a is said, but the reference has none", "b is not said any more"]


def written(book: Any, **changes: Any) -> chapters.Chapter:
    """A chapter of the small book with its reference, or a changed one."""
    book.chapter()
    chapter = chapters.load("preserve/weyl")
    output = {"output_type": "display_data", "data": {"text/plain": "t"}, "metadata": {}}
    document = {
        "cells": [[output]],
        "chapter": chapter.name,
        "parameters": chapter.defaults,
        "values": {},
        **changes,
    }
    path = references.reference_path(chapter)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document))
    return chapter


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"values": 3}, "is damaged"),
        ({"parameters": {}}, "its parameters changed"),
        ({"cells": [[]]}, "without output"),
        ({"cells": []}, "without output"),
    ],
)
def test_a_reference_that_cannot_be_used_says_what_to_run(book, changes, said):
    with pytest.raises(references.ReferenceProblem, match=said) as problem:
        references.load(written(book, **changes))
    assert "lowdim references preserve/weyl" in str(problem.value)


def test_rewording_does_not_make_a_reference_stale(book):
    chapter = written(book)
    text = chapter.path.read_text()
    chapter.path.write_text(text.replace("No violation in", "Nothing broke in"))
    assert references.load(chapters.load("preserve/weyl"))["cells"]


@pytest.mark.chapter
def test_a_reference_is_made_by_running(book):
    book.chapter()
    chapter = chapters.load("preserve/weyl")
    assert references.refresh(chapter) is False
    reference = references.load(chapter)
    assert reference["values"] == {"twice": {"is": 20, "within": 0}}
    assert references.refresh(chapter, check=True)
    path = chapter.path
    path.write_text(path.read_text().replace("doubled = 2 *", "doubled = 3 *"))
    assert not references.refresh(chapters.load("preserve/weyl"), check=True)


@given(st.floats(-1e3, 1e3), st.floats(0.1, 10), st.integers(-9, 9))
def test_another_processor_widens_what_differs_there_and_nothing_else(value, moved, count):
    then = {"a": value, "b": [value, 1.0], "n": count}
    here = {"a": value, "b": [value, 1.0 + moved], "n": count + 1}
    reference = references.tolerances(then, then, None)
    wider = references.widened(reference, here)
    assert not references.differences(here, wider) and not references.differences(then, wider)
    assert wider["a"] == reference["a"] and wider["n"] == {"is": count, "within": 3}
    assert wider["b"]["within"][0] == 0 < 2.8 * moved <= wider["b"]["within"][1]
    assert references.widened(wider, here) == wider


@pytest.mark.chapter
def test_a_reference_is_widened_by_running_and_never_over_a_verdict(book):
    book.chapter()
    chapter = chapters.load("preserve/weyl")
    references.refresh(chapter)
    assert references.widen(chapter)
    path = references.reference_path(chapter)
    kept = json.loads(path.read_text())
    kept["values"]["twice"]["is"] = 21
    path.write_text(json.dumps(kept))
    assert references.compare(chapter) and not references.widen(chapter)
    assert references.load(chapter)["values"] == {"twice": {"is": 21, "within": 3}}
    assert not references.compare(chapter)
    kept["cells"][0][0]["data"]["text/plain"] += "!"
    path.write_text(json.dumps(kept))
    before = path.read_bytes()
    with pytest.raises(references.ReferenceProblem, match="another verdict table"):
        references.widen(chapter)
    assert path.read_bytes() == before
