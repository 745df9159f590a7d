"""A jail for the tests of grading."""

from __future__ import annotations

import os

import pytest
from lowdim.course import jail


@pytest.fixture(scope="session")
def walls() -> None:
    """bubblewrap. Without it: skipped with the reason, or a failure in CI."""
    if reason := jail.missing():
        if os.environ.get("CI", "").lower() in ("1", "true", "yes"):
            pytest.fail(reason)
        pytest.skip(reason)
