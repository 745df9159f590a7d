"""The list of runs on disk: what is damaged hides itself and no other."""

from __future__ import annotations

import json
from pathlib import Path

from lowdim.publish.serve import runs


def test_a_restart_finds_all_that_is_whole(tmp_path: Path) -> None:
    first = runs.Runs(tmp_path)
    kept = [first.add("a/b", {"seed": n}, None) for n in range(4)]
    kept[0].state = runs.RUNNING
    first.keep(kept[0])
    (tmp_path / kept[1].id / runs.NAME).write_text("{")
    told = json.loads((tmp_path / kept[2].id / runs.NAME).read_text())
    (tmp_path / kept[2].id / runs.NAME).write_text(json.dumps({**told, "id": "../../etc"}))
    (tmp_path / ".half").mkdir()
    (tmp_path / "empty").mkdir()
    again = runs.Runs(tmp_path)
    assert [entry.id for entry in again] == [kept[0].id, kept[3].id]
    assert [entry.state for entry in again] == [runs.INTERRUPTED, runs.WAITING]
    assert not (tmp_path / ".half").exists()


def test_a_deleted_run_is_not_written_again(tmp_path: Path) -> None:
    kept = runs.Runs(tmp_path)
    entry = kept.add("a/b", {}, None)
    kept.delete(entry)
    kept.keep(entry)
    assert not list(tmp_path.iterdir())
    assert kept.get(entry.id) is None
