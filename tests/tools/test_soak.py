"""Soaking: allowed values at their edges are run, and what does not hold then is told."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import pytest
from lowdim.publish import chapters
from lowdim.publish.chapters import Chapter
from lowdim.publish.parameters import check_all, parse_cell

ROOT = Path(__file__).resolve().parents[2]
spec = importlib.util.spec_from_file_location("tools_soak", ROOT / "tools" / "soak.py")
tool = importlib.util.module_from_spec(spec)
sys.modules[spec.name] = tool
spec.loader.exec_module(tool)

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
EVERY = [chapters.load(name, root=ROOT) for name in chapters.discover(ROOT)]


@pytest.mark.parametrize("chapter", EVERY, ids=lambda chapter: chapter.name)
def test_every_run_that_is_wanted_is_allowed_and_no_larger(chapter: Chapter) -> None:
    runs = tool.wanted(chapter, tool.KINDS + tool.MORE, seeds=3, base=None)
    assert len({repr(values) for _, values in runs}) == len(runs)
    for kind, values in runs:
        assert check_all(chapter.parameters, values, owner=chapter.stem) == values
        for name, value in values.items():
            default = chapter.defaults[name]
            if isinstance(default, list):
                assert set(value) <= set(default)
            elif isinstance(default, int) and name != tool.SEED:
                assert value <= default, (kind, name)


def test_a_preset_can_stand_in_for_the_defaults() -> None:
    cell = "n = 9  # n; 2 or more\nseed = 0  # any integer"
    chapter = Chapter("a/b", Path("b.md"), "B", (), tuple(parse_cell(cell)))
    assert tool.wanted(chapter, ["seeds"], seeds=1, base={"n": 4, "seed": 3}) == [
        ("seeds", {"n": 4, "seed": 4})
    ]
    assert not tool.wanted(chapter, ["smallest"], seeds=1, base={"n": 2})


def test_sentences_that_a_page_leaves_out_are_left_out() -> None:
    text = ":::{when} n > 1\nIt is {value}`gone`.\n:::\n\n{when}`n > 1 | {value}`gone` | Well.`\n"
    text = text.replace("`n > 1 | {value}`gone` | Well.`", "``n > 1 | {value}`gone` | Well.``")
    assert list(tool.sentences(text, {"n": 1})) == [(5, "Well.", "")]
    problems = [problem for *_, problem in tool.sentences(text, {"n": 2})]
    assert len(problems) == 2
    assert all("no cell says 'gone'" in problem for problem in problems)


@pytest.mark.parametrize(
    ("text", "values", "problem"),
    [
        ("{value}`a:.2f`", {"a": None}, "'a:.2f' shows '–'"),
        ("{value}`a`", {"a": {"count": 0, "of": 0}}, ""),
        ("{value}`a:.0%`", {"a": {"count": 0, "of": 0}}, "shows 'nan'"),
        ("{value}`a[3]`", {"a": [1, 2]}, "a place that a has not"),
        ("{when}`a / b > 1 | Yes. | No.`", {"a": 1, "b": 0}, "ZeroDivisionError"),
        ("{when}`-a > 1 | Yes. | No.`", {"a": None}, "TypeError"),
        ("From {value}`a` to nan.", {"a": 1}, ""),
        ("It is {value}`a:.2f`. A dash: not measured.", {"a": None}, ""),
        ("It is {value}`a:.2f`. A dash: not measured.", {"a": float("nan")}, "shows 'nan'"),
    ],
)
def test_what_cannot_be_said_is_found(text: str, values: dict, problem: str) -> None:
    [(line, shown, found)] = tool.sentences(text, values)
    assert line == 1
    assert problem in found
    assert bool(found) == bool(problem) != bool(shown)


@forks
@pytest.mark.chapter
def test_what_raises_and_what_cannot_be_said_is_told(book, tmp_path: Path, capsys) -> None:
    path = book.chapter(body="assert seed != 2, 'two is too many'")
    text = path.read_text()
    text = text.replace('"twice": doubled', '"twice": doubled if trials > 1 else None')
    path.write_text(text.replace('"supported": True', '"supported": seed != 1'))
    words = ["weyl", "--kinds", "smallest,seeds", "--seeds", "2", "-o", str(tmp_path)]
    assert tool.main(words) == 1
    told = capsys.readouterr().out
    assert "3 runs; 1 raised; 1 have sentences that cannot be said; 1 do not support" in told
    assert "lowdim run preserve/weyl -p trials=1\n    unsaid: line" in told
    assert "'twice' shows '–'" in told
    assert "-p seed=2\n    raised: preserve/weyl failed in code cell" in told
    assert "two is too many" in told
    read = (tmp_path / "preserve" / "weyl" / "sentences.md").read_text()
    assert "No violation in 20 instances." in read
    path.write_text(text.replace("in {value}`twice` instances", "anywhere"))
    assert tool.main([*words[:-4], "--seeds", "1", "-o", str(tmp_path)]) == 0, (
        "words decide nothing"
    )
    assert "2 runs; all is well" in capsys.readouterr().out


@forks
@pytest.mark.chapter
def test_a_chapter_of_the_book_holds_at_its_smallest(tmp_path: Path, capsys, monkeypatch) -> None:
    monkeypatch.setenv("LOWDIM_ROOT", str(ROOT))
    assert tool.main(["preserve/projector", "--kinds", "smallest", "-o", str(tmp_path)]) == 0
    assert "1 runs; all is well" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["weyl", "--kinds", "most"], "There is no kind 'most'; kinds are: smallest, lists"),
        (["weyl", "--seeds", "0"], "must be 1 or more"),
        (["wile"], "There is no chapter 'wile'"),
    ],
)
def test_bad_requests_get_one_sentence(book, capsys, tmp_path, words, sentence) -> None:
    book.chapter()
    folder = tmp_path / "out"
    assert tool.main([*words, "-o", str(folder)]) == 2
    err = capsys.readouterr().err
    assert sentence in err
    assert err.count("\n") == 1
    assert not folder.exists()
