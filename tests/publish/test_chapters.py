"""Reading chapters: names, parameters, ranges, presets, and the sentence for each mistake."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lowdim.publish import chapters
from lowdim.publish.parameters import UsageError, check, check_all, parse_cell, parse_range


def one(line: str):
    [parameter] = parse_cell(line)
    return parameter


@pytest.mark.parametrize(
    ("text", "kind", "inside", "outside"),
    [
        ("any integer", int, [-5, 0, 10**30], []),
        ("any number", float, [-5.5, 0.0], []),
        ("1 or more", int, [1, 7], [0, -1]),
        ("above 0", float, [1e-300, 3.0], [0.0, -1.0]),
        ("below -1.5", float, [-2.0], [-1.5, 0.0]),
        ("between 0 and 1", float, [0.0, 0.5, 1.0], [-1e-9, 1.0000001]),
        ("from 0 up to 1", float, [0.0, 0.999], [1.0, -0.1]),
        ("above 1e-3", float, [0.002], [1e-3]),
        ("one of relu, tanh", str, ["relu", "tanh"], ["selu", ""]),
        ("one of 1, 2, 3", int, [1, 3], [4]),
        ("true or false", bool, [True, False], []),
    ],
)
def test_ranges(text, kind, inside, outside):
    allowed = parse_range(text, kind)
    assert [allowed.holds(value) for value in inside] == [True] * len(inside)
    assert [allowed.holds(value) for value in outside] == [False] * len(outside)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("any integer", float),
        ("1 or more", str),
        ("positive", int),
        ("between 1", int),
        ("one of 1, b", int),
        ("1 or more", bool),
        ("", int),
    ],
)
def test_no_range(text, kind):
    with pytest.raises(ValueError):
        parse_range(text, kind)


@pytest.mark.parametrize(
    ("line", "text", "value"),
    [
        ("n = 3  # size; 1 or more", "12", 12),
        ("n = 3  # size; 1 or more", "1_000", 1000),
        ("x = 0.5  # size; above 0", "2", 2.0),
        ("x = 0.5  # size; above 0", 2, 2.0),
        ("x = 0.5  # size; above 0", "1e-3", 1e-3),
        ("b = True  # whether; true or false", "False", False),
        ("b = True  # whether; true or false", "true", True),
        ("s = 'a'  # which; one of a, b", "b", "b"),
        ("v = [1, 2]  # widths; a list, each 1 or more", "[3, 4]", [3, 4]),
        ("v = [1, 2]  # widths; a list, each 1 or more", "3,4", [3, 4]),
        ("v = [1, 2.5]  # scales; a list, each above 0", [3], [3.0]),
        ("v = ['a']  # which; a list, each one of a, b", "a,b", ["a", "b"]),
    ],
)
def test_values_accepted(line, text, value):
    got = check(one(line), text)
    assert got == value
    assert type(got) is type(value)


@pytest.mark.parametrize(
    ("line", "text", "sentence"),
    [
        ("noise = 0.1  # it; above 0", "-1", "noise must be above 0; you gave -1."),
        ("noise = 0.1  # it; above 0", -1, "noise must be above 0; you gave -1.0."),
        (
            "trials = 5  # it; 1 or more",
            "ten",
            "trials must be a whole number, 1 or more; you gave 'ten'.",
        ),
        (
            "trials = 5  # it; 1 or more",
            "1.5",
            "trials must be a whole number, 1 or more; you gave '1.5'.",
        ),
        (
            "trials = 5  # it; 1 or more",
            True,
            "trials must be a whole number, 1 or more; you gave True.",
        ),
        ("noise = 0.1  # it; above 0", "nan", "noise must be a number, above 0; you gave 'nan'."),
        ("noise = 0.1  # it; above 0", math.inf, "noise must be a number, above 0; you gave inf."),
        ("b = True  # it; true or false", "1", "b must be true or false; you gave '1'."),
        (
            "kind = 'relu'  # it; one of relu, tanh",
            "rel",
            "kind must be one of relu, tanh; you gave 'rel' (did you mean 'relu'?).",
        ),
        (
            "v = [1]  # it; a list, each 1 or more",
            "a,b",
            "v must be a list, each a whole number, 1 or more; you gave 'a,b'.",
        ),
        (
            "v = [1]  # it; a list, each 1 or more",
            "[0]",
            "v must be a list, each 1 or more; you gave [0].",
        ),
        (
            "v = [1]  # it; a list, each 1 or more",
            "",
            "v must be a list, each a whole number, 1 or more; you gave ''.",
        ),
    ],
)
def test_values_refused(line, text, sentence):
    with pytest.raises(UsageError) as error:
        check(one(line), text)
    assert str(error.value) == sentence


@given(st.integers())
def test_integers_survive_their_text(value):
    assert check(one("n = 0  # any integer"), str(value)) == value


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_floats_survive_their_text(value):
    assert check(one("x = 0.0  # it; any number"), repr(value)) == value


@pytest.mark.parametrize(
    ("source", "line", "says"),
    [
        ("a = 1  # x; 1 or more\nb = a + 1  # y; 1 or more", 12, "b is computed ('a + 1')"),
        ("a = 1", 11, "a comment with its range is missing"),
        ("\na = 1  # size, 1 or more", 12, "'size, 1 or more' is no range"),
        ("a = 0  # x; 1 or more", 11, "the default breaks its own range"),
        ("import os", 11, "'import os' is not a plain"),
        ("a = 1  # x; 1 or more\na = 2  # x; 1 or more", 12, "a is declared twice"),
        ("a, b = 1, 2  # x; 1 or more", 11, "is not a plain"),
        ("a = None  # x; 1 or more", 11, "None is neither"),
        ("a = []  # x; a list, each 1 or more", 11, "a list needs one or more"),
        ("a =", 11, "not Python"),
        ("# nothing", 11, "no parameter is declared"),
    ],
)
def test_a_bad_cell_is_named_with_file_and_line(source, line, says):
    with pytest.raises(UsageError) as error:
        parse_cell(source, where="notebooks/p/c.md", line=11)
    text = str(error.value)
    assert text.startswith(f"notebooks/p/c.md, line {line}: ")
    assert says in text
    assert "expected 'name = literal  # meaning; range'" in text
    assert "\n" not in text


def test_a_list_over_several_lines_and_semicolons_in_the_meaning():
    source = "v = [\n  1,\n  2,\n]  # widths; of layers; a list, each 1 or more\n\n# a remark\n"
    parameter = one(source)
    assert parameter.default == [1, 2]
    assert parameter.meaning == "widths; of layers"


def test_unknown_parameter_lists_the_names():
    with pytest.raises(UsageError) as error:
        check_all(
            parse_cell("trials = 1  # x; 1 or more\nnoise = 1.0  # y; above 0"),
            {"nois": 1},
            owner="theorem_3_1",
        )
    assert str(error.value) == (
        "theorem_3_1 has no parameter 'nois'; it has: trials, noise (did you mean 'noise'?)."
    )


def test_the_light_reader_agrees_with_jupytext(book):
    import jupytext

    path = book.chapter()
    ours = chapters.code_cells(path.read_text())
    theirs = [cell for cell in jupytext.read(path).cells if cell.cell_type == "code"]
    assert [cell.source for cell in ours] == [cell.source for cell in theirs]
    assert [list(cell.tags) for cell in ours] == [c.metadata.get("tags", []) for c in theirs]
    lines = path.read_text().splitlines()
    assert [lines[cell.line - 1] for cell in ours] == [c.source.splitlines()[0] for c in theirs]


def test_cells_with_yaml_options_and_inside_other_fences():
    text = (
        "````{note}\n```{code-cell} python\n:tags: [parameters]\nx = 1\n```\n````\n"
        "```{code-cell} python\n---\ntags: [parameters]\nmystnb:\n  image: {alt: a}\n---\n\ny = 2\n"
        "```\n"
    )
    import jupytext

    [cell] = chapters.code_cells(text)
    assert cell == chapters.Cell("y = 2", ("parameters",), 14)
    [theirs] = [c for c in jupytext.reads(text, fmt="md:myst").cells if c.cell_type == "code"]
    assert theirs.source == cell.source


def test_discover_in_the_order_of_the_toc_then_by_name(book):
    for name, listed in [("b/two", True), ("a/one", True), ("c/aa", False), ("a/zz", False)]:
        book.chapter(name, listed=listed)
    assert chapters.discover() == ["b/two", "a/one", "a/zz", "c/aa"]


def test_toc_with_parts_and_sections(book):
    book.chapter("a/one", listed=False)
    book.chapter("a/two", listed=False)
    (book.root / "_toc.yml").write_text(
        "format: jb-book\nroot: book/index\nparts:\n  - caption: I\n    chapters:\n"
        "      - file: book/a\n        sections:\n          - file: notebooks/a/two.md\n"
        "          - file: notebooks/a/one\n"
    )
    assert chapters.discover() == ["a/two", "a/one"]


def test_toc_that_lists_a_missing_chapter(book):
    book.chapter("a/one")
    book.listed.append("a/gone")
    book.toc()
    with pytest.raises(UsageError, match=r"_toc.yml lists notebooks/a/gone, which is not there"):
        chapters.discover()


@pytest.mark.parametrize(
    "asked", ["preserve/theorem_3_1", "theorem-3-1", "theorem_3_1", "Preserve/Theorem-3_1"]
)
def test_resolve(book, asked):
    book.chapter("preserve/theorem_3_1")
    book.chapter("preserve/lemma_4_1")
    assert chapters.resolve(asked).name == "preserve/theorem_3_1"


def test_resolve_lists_the_choices_nearest_first(book):
    for name in ("preserve/lemma_4_1", "preserve/theorem_3_1", "collapse/lemma_4_1"):
        book.chapter(name)
    with pytest.raises(UsageError) as error:
        chapters.resolve("theorm-3-1")
    assert str(error.value).startswith(
        "There is no chapter 'theorm-3-1'; chapters are: preserve/theorem_3_1, "
    )
    with pytest.raises(UsageError) as error:
        chapters.resolve("lemma-4-1")
    assert str(error.value) == (
        "'lemma-4-1' is the name of several chapters: preserve/lemma_4_1, collapse/lemma_4_1."
    )


def test_a_chapter_as_read(book):
    book.chapter()
    book.presets("preserve/weyl:\n  paper: {trials: 100, noise: 1}\n")
    chapter = chapters.resolve("weyl")
    assert chapter.title.startswith("Weyl — noise")
    assert chapter.claims == ("preserve.theorem-9-1",)
    assert chapter.defaults == {"trials": 10, "noise": 0.5, "kind": "uniform", "seed": 0}
    assert chapter.presets == {"paper": {"trials": 100, "noise": 1.0}}
    # default < preset < given
    assert chapters.chosen_values(chapter, {"noise": "2"}, preset="paper") == {
        "trials": 100,
        "noise": 2.0,
    }


@pytest.mark.parametrize(
    ("presets", "says"),
    [
        ("preserve/weyl:\n  paper: {trial: 1}\n", "preset 'paper': weyl has no parameter 'trial'"),
        ("preserve/weyl:\n  paper: {trials: 0}\n", "trials must be 1 or more; you gave 0."),
        ("preserve/weyl:\n  paper: {trials: '5'}\n", None),
        ("preserve/wyl:\n  paper: {trials: 5}\n", "has presets for 'preserve/wyl'"),
        ("preserve/weyl: [1]\n", "must read 'part/chapter"),
        ("a: {\n", "is not YAML"),
    ],
)
def test_presets_are_checked(book, presets, says):
    book.chapter()
    book.presets(presets)
    if says is None:
        [chapter] = chapters.load_all()
        assert chapter.presets["paper"] == {"trials": 5}
        return
    with pytest.raises(UsageError) as error:
        chapters.load_all()
    assert says in str(error.value)
    assert "notebooks/presets.yml" in str(error.value)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("{evidence} theorem-9-1", "{evidence} lemma-1", "preserve.lemma-1, which no block states"),
        ("{prf:theorem} Weyl", "{note} Weyl", "no block states"),
        ("[parameters]", "[other]", "exactly one code cell tagged 'parameters'"),
        ("kernelspec: {", "kernelspec: }", "front matter is not YAML"),
        ("trials = 10 ", "trials = 5+5 ", ", line 21: trials is computed ('5 + 5')"),
    ],
)
def test_a_malformed_chapter_is_named(book, old, new, says):
    path = book.chapter()
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(UsageError) as error:
        chapters.resolve("weyl")
    assert str(error.value).startswith("notebooks/preserve/weyl.md")
    assert says in str(error.value)


def test_find_root(book, monkeypatch, tmp_path: Path):
    monkeypatch.delenv("LOWDIM_ROOT")
    below = book.root / "notebooks" / "preserve"
    below.mkdir()
    monkeypatch.chdir(below)
    assert chapters.find_root() == book.root.resolve()
    monkeypatch.setenv("LOWDIM_ROOT", str(tmp_path / "nowhere"))
    with pytest.raises(UsageError, match="No book found"):
        chapters.find_root()


def test_assignments_are_no_chapters(book):
    book.chapter()
    before = chapters.discover(book.root)
    folder = book.root / "notebooks" / "course"
    folder.mkdir()
    (folder / "projectors.md").write_text("# An assignment, and no chapter\n")
    assert chapters.discover(book.root) == before
    assert [chapter.name for chapter in chapters.load_all(book.root)] == before
