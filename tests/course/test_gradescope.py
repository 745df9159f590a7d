"""Whose a submission is, from metadata that may be anything."""

from __future__ import annotations

import pytest
from lowdim.course.gradescope import submitter
from lowdim.course.keys import CourseError, identity


def test_the_first_user_s_address_or_else_name() -> None:
    ada, bob = {"email": "ada@example.org", "name": "Ada"}, {"email": "bob@example.org"}
    assert submitter({"users": [ada, bob]}) == identity("ada@example.org")
    for email in ("", "  ", None, 7):
        assert submitter({"users": [{"email": email, "name": "Ada"}, bob]}) == identity("Ada")


@pytest.mark.parametrize(
    "metadata",
    [
        None, [], "ada", {}, {"users": None}, {"users": []}, {"users": ["ada"]},
        {"users": [None]}, {"users": {"email": "ada@example.org"}}, {"users": "ada"},
        {"users": [{}]}, {"users": [{"email": "", "name": " "}]}, {"users": [[]]},
    ],
)  # fmt: skip
def test_metadata_that_name_nobody_are_refused(metadata: object) -> None:
    with pytest.raises(CourseError, match="names no user with an e-mail address or a name"):
        submitter(metadata)
