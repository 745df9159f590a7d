"""Two runs beside each other: what moved is told, what did not is not, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lowdim.publish import banner, cli, comparison
from lowdim.publish.parameters import UsageError

VALUES = st.dictionaries(
    st.sampled_from(["slope", "gap", "rate", "share"]),
    st.floats(-1e3, 1e3, allow_nan=False).map(lambda x: float(f"{x:.3g}")),
)


def record(**more: Any) -> dict[str, Any]:
    claim = {"id": "preserve.lemma-1", "verdict": "holds", "supported": True}
    return {
        "chapter": "preserve/weyl",
        "parameters": {"trials": 10, "sizes": [1, 2]},
        "preset": None,
        "claims": [claim, {**claim, "id": "preserve.figure-1", "verdict": "reproduced"}],
        "values": {"slope": 0.5, "gap": {"value": 1.0, "error": 0.1}},
        **more,
    }


@given(VALUES)
def test_a_run_does_not_differ_from_itself(values: dict[str, float]) -> None:
    one = record(values=values)
    found = comparison.compare(one, one)
    assert found.same
    assert not found.parameters


@given(VALUES, VALUES)
def test_the_other_way_round_before_and_after_are_exchanged(one: dict, two: dict) -> None:
    there = comparison.compare(record(values=one), record(values=two))
    back = comparison.compare(record(values=two), record(values=one))
    flipped = {(m.name, m.after, m.before) for m in back.values}
    assert {(m.name, m.before, m.after) for m in there.values} == flipped
    named = {m.name for m in there.values}
    assert all(one.get(name) == two.get(name) for name in {*one, *two} - named)


def test_a_verdict_that_a_run_does_not_carry_has_moved() -> None:
    claims = [{**record()["claims"][0], "supported": False}, record()["claims"][1]]
    found = comparison.compare(record(), record(claims=claims))
    assert [m.name for m in found.verdicts] == ["preserve.lemma-1"]
    assert found.verdicts[0].after == "holds, not supported by this run"


def test_two_chapters_are_not_compared() -> None:
    with pytest.raises(UsageError, match="preserve/weyl and collapse/other"):
        comparison.compare(record(), record(chapter="collapse/other"))


def test_the_command_repeats_the_run() -> None:
    changed = comparison.compare(record(), record(parameters={"trials": 3, "sizes": [5]}))
    words = comparison.command("preserve/weyl", changed.parameters).split()
    asked = cli._parser().parse_args(words[1:])
    assert cli._pairs(asked.parameter) == {"trials": "3", "sizes": "5"}


def test_the_banner_names_what_moved_and_only_that() -> None:
    claims = [{**record()["claims"][0], "verdict": "refuted"}, record()["claims"][1]]
    mine = record(claims=claims, parameters={"trials": 3, "sizes": [1, 2]})
    defaults = {"trials": 10, "sizes": [1, 2]}
    titles = {"preserve.lemma-1": "Lemma 1", "preserve.figure-1": "Figure 1"}
    text = banner.words(mine, defaults=defaults, book=record(), titles=titles)
    assert "| `trials` | 10 | 3 |" in text
    assert "| Lemma 1 | holds | refuted |" in text
    assert "1 of 2 verdicts moved" in text
    assert "All 2 numbers" in text
    assert not {"Figure 1", "`sizes`"} & set(text.replace("|", "\n").split("\n"))
    alone = banner.words(mine, defaults=defaults, book=None, titles=titles)
    assert "nothing is compared" in alone


def test_the_banner_stands_below_the_title() -> None:
    cells = [nbformat.v4.new_markdown_cell("(label)=\n# Title\n\nFirst words.")]
    nb = nbformat.v4.new_notebook(cells=cells)
    banner.put_into(nb, "BANNER\n")
    lines = [line for line in nb.cells[0].source.splitlines() if line]
    assert lines == ["(label)=", "# Title", "BANNER", "First words."]


@pytest.mark.chapter
def test_compare_reads_folders_records_and_notebooks(book, capsys, tmp_path: Path) -> None:
    book.chapter()
    outs = [tmp_path / "three", tmp_path / "four"]
    for out, trials in zip(outs, "34", strict=True):
        words = ["run", "weyl", "-p", f"trials={trials}", "--no-page", "-o", str(out)]
        assert cli.main(words) == 0
        assert {path.name for path in out.iterdir()} == {"weyl.ipynb", "weyl.record.json"}
    capsys.readouterr()
    for name in ("", "weyl.ipynb", "weyl.record.json"):
        assert cli.main(["compare", str(outs[0] / name), str(outs[1] / name), "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["parameters"] == {"trials": [3, 4]}
    assert cli.main(["compare", str(outs[0]), str(outs[0])]) == 0
    assert "no parameter differs" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["nowhere"], "There is no run at nowhere"),
        (["a", "b", "c"], "takes one or two runs; you gave 3"),
        (["weyl"], "The book has no current run of preserve/weyl"),
        (["empty"], "should hold one run, and its records are: none"),
    ],
)
def test_bad_runs_get_one_sentence(book, capsys, monkeypatch, tmp_path, words, sentence) -> None:
    book.chapter()
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path)
    assert cli.main(["compare", *words]) == 2
    err = capsys.readouterr().err
    assert sentence in err
    assert err.count("\n") == 1
