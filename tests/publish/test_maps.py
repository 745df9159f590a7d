"""Kept maps: the format, the command that writes them, and those of the book."""

from __future__ import annotations

import copy
import json
import os
import shlex
from pathlib import Path
from typing import Any

import pytest
from lowdim.publish import chapters, cli, content, maps, words
from lowdim.publish.records import RecordError
from lowdim.publish.site.maps import Shown
from lowdim.publish.sweeps import plan
from lowdim.publish.sweeps.shelf import DONE, FAILED, Row

ROOT = Path(__file__).resolve().parents[2]
KEPT = sorted((ROOT / maps.FOLDER).glob("*/*.json"))
CLAIM = {"id": "preserve.theorem-9-1", "verdict": "holds", "tags": [], "violations": 0}


def row(parameters: dict[str, Any], number: float | None, *, supported: bool = True) -> Row:
    claim = {**CLAIM, "supported": supported, "trials": 1, "tightness": 0.5}
    record = {"claims": [claim], "values": {"twice": number}, "versions": {"torch": "2"}}
    record |= {"seed": parameters.get("seed", 0), "parameters": parameters}
    return Row("k", parameters, DONE, 1.0, record, "", "", "here", 0.0)


RUNS = [
    {"trials": trials, "noise": noise, "kind": "normal", "seed": seed}
    for trials in (10, 20, 30)
    for noise in (0.1, 0.5)
    for seed in (0, 1, 2)
]


@pytest.fixture
def chapter(book) -> chapters.Chapter:
    book.chapter()
    return chapters.resolve("weyl")


@pytest.fixture
def made(chapter) -> dict[str, Any]:
    """Trials times noise plus seed; at the larger noise carried in one run only."""
    rows = [
        row(
            run,
            run["trials"] * run["noise"] + run["seed"],
            supported=run["noise"] < 0.5 or (run["seed"] == 0 and run["trials"] == 30),
        )
        for run in RUNS
    ]
    return maps.make(chapter, RUNS, rows, ["twice"])


def test_a_map_has_the_medians_and_the_verdicts_of_its_cells(made) -> None:
    assert [axis["name"] for axis in made["axes"]] == ["trials", "noise"]
    assert made["fixed"] == {"kind": "normal"} and made["seeds"] == [0, 1, 2]
    assert maps.grid(made, "twice") == [[2.0, 3.0, 4.0], [6.0, 11.0, 16.0]]
    unlike = "holds, not supported by this run"
    assert maps.rulings(made, "theorem-9-1") == [["holds"] * 3, [unlike, unlike, maps.MIXED]]
    told = maps.facts(made, "twice", "theorem-9-1")
    assert (told["cells"], told["runs"], told["seeds"], told["seconds"]) == (6, 18, 3, 18.0)
    assert (told["carried"], told["not_carried"], told["mixed"], told["holds"]) == (3, 2, 1, 3)
    assert (told["least"], told["least_x"], told["least_y"]) == (2.0, 10, 0.1)
    assert (told["most"], told["most_x"], told["most_y"]) == (16.0, 30, 0.5)
    assert (told["ups"], told["downs"], told["ups_y"], told["downs_y"]) == (4, 0, 3, 0)


def test_a_claim_that_says_nothing_is_told_apart(made) -> None:
    for run in made["runs"]:
        run["vacuous"] = [run["at"] == [0, 0]]
    assert maps.rulings(made, "theorem-9-1")[0] == ["holds, vacuous", "holds", "holds"]
    told = maps.facts(made, "twice", "theorem-9-1")
    assert (told["vacuous"], told["holds"], told["carried"]) == (1, 3, 3)


def test_a_run_without_the_number_leaves_the_median_to_the_others(chapter) -> None:
    rows = [row(run, None if run["seed"] or run["noise"] > 0.1 else 7.0) for run in RUNS]
    made = maps.make(chapter, RUNS, rows, ["twice"])
    assert maps.grid(made, "twice") == [[7.0] * 3, [None] * 3]
    assert maps.facts(made, "twice", "theorem-9-1")["most"] == 7.0


def test_what_is_written_is_what_is_read_and_one_run_stands_in_a_line(made, tmp_path) -> None:
    path = maps.write(tmp_path, made)
    assert path == maps.path_of(tmp_path, "preserve/weyl")
    assert maps.read(tmp_path, "preserve/weyl") == made
    lines = path.read_text().splitlines()
    assert sum('"at":' in line for line in lines) == len(RUNS)


def test_its_command_asks_for_the_same_runs(chapter, made) -> None:
    lowdim, sweep, name, *given = shlex.split(maps.command(made))
    assert (lowdim, sweep, name) == ("lowdim", "sweep", "preserve/weyl")
    asked = cli._parser().parse_args([sweep, name, *given])
    assert asked.keep_map == "twice"
    again = plan.grid(chapter, cli._pairs(asked.parameter))
    as_set = {json.dumps(run, sort_keys=True) for run in again}
    assert as_set == {json.dumps(run, sort_keys=True) for run in RUNS}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda m: m.pop("seeds"), "'seeds' is a required property"),
        (lambda m: m["runs"].pop(), "it has 17 runs, and 18 are one for each pair"),
        (lambda m: m["runs"].append(m["runs"][0]), "it has 19 runs"),
        (lambda m: m["runs"][0]["numbers"].append(1.0), "has not a number for each name"),
        (lambda m: m["runs"][0]["verdicts"].clear(), "a verdict for each claim"),
        (lambda m: m["runs"][0]["vacuous"].append(True), "a verdict for each claim"),
        (lambda m: m["axes"][0]["values"].pop(), "it has 18 runs, and 12"),
        (lambda m: m["numbers"].__setitem__(0, "a sentence"), "numbers/0"),
        (lambda m: m["runs"][0].__setitem__("verdicts", ["true"]), "verdicts/0"),
        (lambda m: m.__setitem__("says", "It holds."), "'says' was unexpected"),
    ],
)
def test_what_is_no_map_is_refused_in_one_sentence(made, change, sentence: str) -> None:
    broken = copy.deepcopy(made)
    change(broken)
    with pytest.raises(RecordError, match=r"x\.json is no valid map: ") as refused:
        maps.validate(broken, whose="x.json")
    assert sentence in str(refused.value)


def test_a_file_that_is_no_map_or_another_chapters_is_named(made, book) -> None:
    path = maps.write(book.root, made)
    other = path.with_name("other.json")
    other.write_text(path.read_text())
    with pytest.raises(RecordError, match=r"other.json is a map of preserve/weyl, not of"):
        maps.read(book.root, "preserve/other")
    path.write_text("{")
    with pytest.raises(RecordError, match=r"weyl.json is not JSON"):
        maps.read(book.root, "preserve/weyl")


def test_a_number_or_a_claim_that_is_not_kept_is_named_with_those_that_are(made) -> None:
    with pytest.raises(RecordError, match="keeps no number 'slope'; it keeps twice"):
        maps.grid(made, "slope")
    with pytest.raises(RecordError, match="no claim 'lemma-1'; it has theorem-9-1"):
        maps.rulings(made, "lemma-1")


def test_no_map_is_made_of_runs_that_failed_or_have_no_such_number(chapter) -> None:
    rows = [row(run, 1.0) for run in RUNS]
    lost = Row("k", RUNS[0], FAILED, 1.0, None, "It raised.", "", "here", 0.0)
    with pytest.raises(maps.MapError, match=r"1 of 18 runs are missing or failed, so no map"):
        maps.make(chapter, RUNS, [lost, *rows[1:]], ["twice"])
    with pytest.raises(maps.MapError, match="no number 'thrice' to keep in a map"):
        maps.make(chapter, RUNS, rows, ["thrice"])


def test_bad_requests_get_one_sentence_and_write_nothing(book, capsys, tmp_path: Path) -> None:
    book.chapter()
    folder, before = tmp_path / "out", book.files()
    two = ("-p", "trials=10,20", "-p", "noise=0.1,0.5")
    rows = tmp_path / "rows.csv"
    rows.write_text("trials,noise\n10,0.1\n10,0.5\n20,0.1\n")
    cases = {
        ("-p", "trials=10,20", "--keep-map", "twice"): "this sweep of weyl varies trials",
        ("-p", "seed=0:5", "--keep-map", "twice"): "varies none",
        (*two, "-p", "kind=uniform,normal", "--keep-map", "twice"): "varies trials, noise, kind",
        (*two, "--keep-map", ","): "--keep-map wants names of numbers",
        (*two, "--keep-map", "twice,twice"): "each once",
        ("--plan", str(rows), "--keep-map", "twice"): "every combination of its values, 4 runs",
    }
    for words_, sentence in cases.items():
        assert cli.main(["sweep", "weyl", *words_, "-o", str(folder)]) == 2
        err = capsys.readouterr().err
        assert sentence in err, err
        assert err.count("\n") == 1
    assert not folder.exists()
    assert book.files() == before


@pytest.mark.chapter
@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_sweep_keeps_its_map_and_no_run_depends_on_it(book, capsys, tmp_path: Path) -> None:
    book.chapter()
    asked = ["sweep", "weyl", "-p", "trials=10,20", "-p", "noise=0.1,0.5", "-o", str(tmp_path)]
    before = content.key(book.root, "preserve/weyl")
    assert cli.main([*asked, "--keep-map", "thrice"]) == 1, "the book has no run to look it up in"
    assert "no number 'thrice'" in capsys.readouterr().err
    assert not (book.root / maps.FOLDER).exists()
    assert cli.main([*asked, "--keep-map", "twice,theorem-9-1.tightness"]) == 0
    assert str(maps.path_of(book.root, "preserve/weyl")) in capsys.readouterr().out
    kept = maps.read(book.root, "preserve/weyl")
    assert kept is not None
    assert maps.grid(kept, "twice") == [[20, 40], [20, 40]]
    assert maps.grid(kept, "theorem-9-1.tightness") == [[0.5, 0.5], [0.5, 0.5]]
    assert content.key(book.root, "preserve/weyl") == before


# Those of the book


def test_every_part_of_the_four_has_a_map() -> None:
    assert {"preserve", "collapse", "embedded", "hashing"} <= {path.parent.name for path in KEPT}


@pytest.mark.parametrize("path", KEPT, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_kept_map_fits_its_chapter_and_is_shown_there(path: Path) -> None:
    name = f"{path.parent.name}/{path.stem}"
    kept = maps.read(ROOT, name)
    assert kept is not None
    chapter = chapters.resolve(name, root=ROOT)
    _, _, _, *given = shlex.split(maps.command(kept))
    asked = cli._parser().parse_args(["sweep", name, *given])
    runs = plan.grid(chapter, cli._pairs(asked.parameter))  # parameters and ranges as they are now
    assert len(runs) == len(kept["runs"])
    assert set(kept["claims"]) == set(chapter.claims)
    blocks = [b for b in words.blocks(chapter.path.read_text("utf-8")) if b.name == "map"]
    assert blocks, "a map that no page shows"
    for block in blocks:
        shown = Shown.of(kept, block.options)
        assert "{value}" not in words.fill(block.body + block.options["alt"], shown.facts())
