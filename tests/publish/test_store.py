"""Runs kept by content: found by key, whole or not at all, dropped by age alone."""

from __future__ import annotations

import os
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import nbformat
import pytest
from lowdim.publish import store

NAME = "preserve/weyl"


def notebook(text: str) -> nbformat.NotebookNode:
    shown = nbformat.v4.new_output("stream", text=text)
    cell = nbformat.v4.new_code_cell("1", outputs=[shown], execution_count=1)
    return nbformat.v4.new_notebook(cells=[cell])


def keep(root: Path, key: str, text: str = "", *, name: str = NAME, days: float = 0) -> None:
    kept = store.keep(root, name, key, notebook(text), seconds=1.5)
    then = time.time() - days * 86400
    os.utime(kept.path.with_suffix(".json"), (then, then))


def there(root: Path, name: str = NAME) -> set[str]:
    return {path.stem for path in (root / store.FOLDER / name).glob("*.ipynb")}


def text_of(kept: store.Kept | None) -> str:
    return kept.notebook().cells[0].outputs[0].text


def test_a_run_is_found_by_its_key_and_by_no_other(tmp_path: Path) -> None:
    for key in ("a", "b"):
        keep(tmp_path, key, text=f"shown by {key}")
    assert text_of(store.find(tmp_path, NAME, "a")) == "shown by a"
    assert text_of(store.find(tmp_path, NAME, "b")) == "shown by b"
    assert store.find(tmp_path, NAME, "c") is None
    assert store.find(tmp_path, "preserve/other", "a") is None
    keep(tmp_path, "a", text="shown later")
    assert text_of(store.find(tmp_path, NAME, "a")) == "shown later"
    assert store.seconds(tmp_path) == {NAME: 1.5}


def test_runs_go_by_age_and_by_number(tmp_path: Path) -> None:
    for day in (0, 10, 20, 29, 31, 400):
        keep(tmp_path, f"day{day}", days=day)
    keep(tmp_path, "alone", name="preserve/other", days=29)
    assert store.drop_old(tmp_path) == 2
    assert there(tmp_path) == {"day0", "day10", "day20", "day29"}
    for number in range(store.NEWEST):
        keep(tmp_path, f"new{number}", days=5 + number / 100)
    store.drop_old(tmp_path)
    newest = {f"new{number}" for number in range(store.NEWEST - 1)}
    assert there(tmp_path) == {"day0"} | newest
    assert there(tmp_path, "preserve/other") == {"alone"}
    assert store.drop_old(tmp_path, days=1, newest=1) == store.NEWEST


def test_being_asked_for_keeps_a_run(tmp_path: Path) -> None:
    for key in ("used", "unused"):
        keep(tmp_path, key, days=29)
    assert store.find(tmp_path, NAME, "used") is not None
    store.drop_old(tmp_path, days=28)
    assert there(tmp_path) == {"used"}


@pytest.mark.parametrize("damage", ["", "{", "{}", "[]"])
def test_what_is_half_written_is_no_run(tmp_path: Path, damage: str) -> None:
    keep(tmp_path, "a")
    folder = tmp_path / store.FOLDER / NAME
    (folder / "a.json").write_text(damage)
    assert store.find(tmp_path, NAME, "a") is None
    assert store.seconds(tmp_path) == {}
    keep(tmp_path, "b")
    (folder / "b.ipynb").unlink()
    assert store.find(tmp_path, NAME, "b") is None


def test_what_a_killed_process_left_goes_after_a_day(tmp_path: Path) -> None:
    keep(tmp_path, "good")
    folder = tmp_path / store.FOLDER / NAME
    for name, days in (("old.ipynb", 2), (".old.json.x", 2), ("now.ipynb", 0), (".now.x", 0)):
        (folder / name).write_text("")
        then = time.time() - days * 86400
        os.utime(folder / name, (then, then))
    assert store.drop_old(tmp_path) == 0
    left = {path.name for path in folder.iterdir()}
    assert left == {"good.ipynb", "good.json", "now.ipynb", ".now.x"}


def _write_and_read(root: Path, number: int) -> bool:
    whole = True
    for turn in range(20):
        text = f"{number} {turn} " * 2000
        store.keep(root, NAME, "same", notebook(text), seconds=1.0)
        store.drop_old(root)
        found = store.find(root, NAME, "same")
        said = text_of(found) if found else ""
        whole &= said == said[: len(said) // 2000] * 2000 and bool(said)
    return whole


def test_several_processes_may_keep_one_run_at_once(tmp_path: Path) -> None:
    with ProcessPoolExecutor(3, mp_context=get_context("spawn")) as pool:
        assert all(pool.map(_write_and_read, [tmp_path] * 3, range(3)))
