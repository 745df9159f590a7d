"""Which runs a sweep has: every combination once, and nothing that the chapter does not allow."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lowdim.publish.chapters import Chapter, UsageError
from lowdim.publish.parameters import parse_cell
from lowdim.publish.sweeps import plan

CELL = """\
trials = 10   # instances; 1 or more
noise = 0.5   # size; above 0
kind = "a"    # how; one of a, b
sizes = [1]   # sizes; a list, each 1 or more
seed = 0      # any integer
"""
CHAPTER = Chapter("preserve/weyl", Path("weyl.md"), "Weyl", (), tuple(parse_cell(CELL)))


@given(
    st.lists(st.integers(1, 99), min_size=1, max_size=4, unique=True),
    st.lists(st.sampled_from(["a", "b"]), min_size=1, unique=True),
    st.integers(-5, 5),
    st.integers(1, 6),
)
def test_a_grid_has_every_combination_once(trials, kinds, first, count) -> None:
    asked = {
        "trials": ",".join(map(str, trials)),
        "kind": ",".join(kinds),
        "seed": f"{first}:{first + count}",
    }
    runs = plan.grid(CHAPTER, asked)
    assert len(runs) == math.prod([len(trials), len(kinds), count])
    assert len({repr(run) for run in runs}) == len(runs)
    for name, values in (
        ("trials", set(trials)),
        ("kind", set(kinds)),
        ("seed", set(range(first, first + count))),
    ):
        assert {run[name] for run in runs} == values


def test_lists_are_parted_by_semicolons() -> None:
    runs = plan.grid(CHAPTER, {"sizes": "1,2;3"})
    assert [run["sizes"] for run in runs] == [[1, 2], [3]]


def test_a_table_and_a_grid_may_come_from_files(tmp_path: Path) -> None:
    table, grid = tmp_path / "runs.csv", tmp_path / "grid.yml"
    table.write_text("seed,noise\n1,0.5\n2,0.25\n")
    grid.write_text("seed: [1, 2]\nnoise: [0.5]\nsizes: [[1, 2]]\n")
    assert plan.from_file(CHAPTER, table) == [{"seed": 1, "noise": 0.5}, {"seed": 2, "noise": 0.25}]
    assert plan.from_file(CHAPTER, grid) == [
        {"seed": seed, "noise": 0.5, "sizes": [1, 2]} for seed in (1, 2)
    ]


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({}, "needs parameters to vary"),
        ({"seed": ""}, "seed was given no value"),
        ({"seed": "3:3"}, "seed was given no value"),
        ({"seed": "1,1"}, "seed was given 1 twice"),
        ({"sed": "1"}, "did you mean 'seed'"),
        ({"noise": "0.5,-1"}, "noise must be above 0; you gave -1"),
        ({"seed": "0:10000000"}, "1,000,000 are the most"),
        ({"seed": "0:10000", "trials": "1:1000"}, "has 9,990,000 runs"),
    ],
)
def test_what_is_no_grid_is_refused(asked: dict[str, str], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        plan.grid(CHAPTER, asked)


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("runs.csv", "seed,seed\n1,2\n", "names a parameter twice"),
        ("runs.csv", "seed,noise\n1\n", "line 2: not as many values as names"),
        ("runs.csv", "seed\nx\n", "line 2: seed must be a whole number"),
        ("runs.csv", "seed\n", "has no run in it"),
        ("runs.csv", "seed\n1\n1\n", "asks twice"),
        ("grid.yml", "seed: 1\n", "must read"),
        ("grid.yml", "seed: [1", "is not YAML"),
        ("grid.yml", "sed: [1]\n", "did you mean 'seed'"),
        ("grid.txt", "", "A plan is a .yml, .yaml or .csv file"),
    ],
)
def test_a_file_that_is_no_plan_is_refused(tmp_path: Path, name, text, sentence) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(UsageError, match=sentence):
        plan.from_file(CHAPTER, tmp_path / name)


def test_a_missing_plan_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        plan.from_file(CHAPTER, tmp_path / "none.csv")
