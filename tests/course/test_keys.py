"""Seeds: from the key and the name, and from nothing else."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lowdim.course import desk, keys
from lowdim.course.keys import CourseError, identity, seed

KEY = b"0123456789abcdef"
WORDS = st.text("abc", max_size=4)


@given(st.tuples(WORDS, WORDS), st.tuples(WORDS, WORDS))
def test_no_two_askers_share_a_seed(one: tuple[str, str], other: tuple[str, str]) -> None:
    a, b = (seed(KEY, assignment, "Ada", purpose) for assignment, purpose in (one, other))
    assert (a == b) == (one == other)


def test_the_key_and_the_name_both_count() -> None:
    made = {
        seed(key, "one", name, "values")
        for key in (KEY, KEY + b"x", KEY[::-1])
        for name in ("Ada", "ada", "Ada L", "Kurt")
    }
    assert len(made) == 12


def test_two_ways_to_write_a_letter_are_one_name() -> None:
    assert seed(KEY, "one", "Noe\u0308l", "values") == seed(KEY, "one", " No\u00ebl\n", "values")


@pytest.mark.parametrize("name", ["", " ", ".", "..", "a/b", "..\\x", "a\nb", "\u202ea", "x" * 121])
def test_names_that_are_none_are_refused(name: str) -> None:
    with pytest.raises(CourseError, match="student's name"):
        identity(name)


def test_a_key_is_written_once_for_its_owner_alone(tmp_path: Path) -> None:
    file = tmp_path / "course.key"
    desk.make_key(file)
    first = keys.read_key(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600 and len(first) == 64
    with pytest.raises(CourseError, match="is there already"):
        desk.make_key(file)
    assert keys.read_key(file) == first
    file.write_text("short")
    with pytest.raises(CourseError, match="has 5 characters, and needs 16"):
        keys.read_key(file)
