"""Rows of a sweep: kept at once, never overwritten by another run of the same, one writer."""

from __future__ import annotations

from pathlib import Path

import pytest
from lowdim.publish.chapters import UsageError
from lowdim.publish.sweeps.shelf import DONE, FAILED, NAME, Shelf


def put(shelf: Shelf, key: str, state: str, record: dict | None = None, error: str = "") -> None:
    shelf.put(key, {"seed": 1}, state=state, seconds=1.0, host="h", record=record, error=error)


def test_a_row_is_there_for_the_next_reader(tmp_path: Path) -> None:
    with Shelf(tmp_path, "a/b", write=True) as shelf:
        put(shelf, "k", DONE, {"values": {"x": 0.1}})
        with Shelf(tmp_path, "a/b") as other:  # while the writer is open
            [row] = other.rows()
    assert (row.key, row.parameters, row.record) == ("k", {"seed": 1}, {"values": {"x": 0.1}})


def test_what_is_done_stays_and_what_failed_may_be_tried_again(tmp_path: Path) -> None:
    with Shelf(tmp_path, "a/b", write=True) as shelf:
        put(shelf, "k", FAILED, error="no")
        put(shelf, "k", DONE, {"first": 1})
        put(shelf, "k", FAILED, error="late")
        put(shelf, "k", DONE, {"second": 1})
        [row] = shelf.rows()
    assert (row.state, row.record, row.error) == (DONE, {"first": 1}, "")


def test_there_is_one_writer(tmp_path: Path) -> None:
    with (
        Shelf(tmp_path, "a/b", write=True),
        pytest.raises(UsageError, match="under way in another process"),
        Shelf(tmp_path, "a/b", write=True),
    ):
        pass
    with Shelf(tmp_path, "a/b", write=True):  # and the lock goes with its owner
        pass


def test_another_chapter_and_what_is_no_sweep_are_refused(tmp_path: Path) -> None:
    with Shelf(tmp_path, "a/b", write=True):
        pass
    with (
        pytest.raises(UsageError, match="a sweep of a/b, not of c/d"),
        Shelf(tmp_path, "c/d", write=True),
    ):
        pass
    with pytest.raises(UsageError, match="There is no sweep"), Shelf(tmp_path / "none"):
        pass
    bad = tmp_path / "bad"
    bad.mkdir()
    (bad / NAME).write_bytes(b"no database at all, and long enough to be read as one" * 10)
    with pytest.raises(UsageError, match="is no sweep"), Shelf(bad, "a/b", write=True):
        pass
