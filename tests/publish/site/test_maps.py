"""A kept map on a page: drawn, keyed, told in a table, repeated by a command; and in a notebook."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from lowdim.publish import maps, words
from lowdim.publish.records import RecordError
from lowdim.publish.site import maps as drawing
from lowdim.publish.site.plain import Plain

CHAPTER = "preserve/weyl"
WORD = "holds, not supported by this run"
OPTIONS = {"number": "twice", "claim": "theorem-9-1", "alt": "A map."}
PAGE = """\
# A chapter

```{{map}}
:number: {number}
:claim: theorem-9-1
:says: what is doubled
:format: .1f
:alt: A grid of {{value}}`cells` cells.
In {{value}}`carried` of {{value}}`cells` cells it *holds*; {{when}}`most > 5 | large | small`.
```
"""
EXTENSION = """\
from lowdim.publish.site import elements, maps
def setup(app):
    elements.setup(app)
    maps.setup(app)
"""


def kept(values: list[list[float | None]], carried: list[list[bool | None]]) -> dict[str, Any]:
    """A map ``[up][across]`` of two seeds; None for a cell in which they differ."""
    runs = []
    for j, row in enumerate(values):
        for i, value in enumerate(row):
            for seed in (0, 1):
                ruled = carried[j][i] if carried[j][i] is not None else seed == 0
                numbers = {"numbers": [value], "verdicts": ["holds"], "supported": [ruled]}
                numbers |= {"vacuous": [False]}
                runs.append({"at": [i, j], "seed": seed, "seconds": 1.0, **numbers})
    axes = [
        {"name": "trials", "values": [10 * (i + 1) for i in range(len(values[0]))]},
        {"name": "noise", "values": [[0.1 * (j + 1)] for j in range(len(values))]},
    ]
    made = {"schema": maps.VERSION, "chapter": CHAPTER, "axes": axes, "seeds": [0, 1]}
    made |= {"fixed": {}, "numbers": ["twice"], "claims": ["preserve.theorem-9-1"]}
    made |= {"seconds": 12.0, "versions": {"torch": "2"}, "runs": runs}
    maps.validate(made)
    return made


MAP = kept([[1.0, 2.0, 4.0], [8.0, 16.0, None]], [[True, True, None], [True, False, False]])


def put(root: Path, made: dict[str, Any] = MAP) -> None:
    path = maps.path_of(root, CHAPTER)
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(made))


@pytest.fixture
def page(tmp_path: Path) -> Callable[..., tuple[str, str]]:
    """Builds the page of a chapter with a map; returns its HTML and the warnings."""

    def build(number: str = "twice", *, there: bool = True) -> tuple[str, str]:
        source = tmp_path / "source"
        path = source / "notebooks" / f"{CHAPTER}.md"
        path.parent.mkdir(parents=True)
        path.write_text(PAGE.format(number=number))
        (source / "index.md").write_text(f"# Book\n\n```{{toctree}}\nnotebooks/{CHAPTER}\n```\n")
        (source / "conf.py").write_text("extensions = ['myst_parser', 'map_on_trial']\n")
        (tmp_path / "map_on_trial.py").write_text(EXTENSION)
        if there:
            put(source)
        made = tmp_path / "html"
        search = os.pathsep.join([str(tmp_path), *sys.path])
        done = subprocess.run(
            [sys.executable, "-m", "sphinx", "-q", "-b", "html", "--no-color", source, made],
            env={**os.environ, "PYTHONPATH": search},
            capture_output=True,
            text=True,
            check=True,
        )
        return (made / "notebooks" / f"{CHAPTER}.html").read_text(), done.stderr

    return build


def test_a_page_has_the_drawing_the_words_the_table_and_the_command(page) -> None:
    html, warned = page()
    assert not warned
    [figure] = re.findall(r'<figure class="lowdim-map.*?</figure>', html, re.S)
    assert 'role="img" aria-label="A grid of 6 cells."' in figure
    assert figure.count('class="lowdim-map-cell"') == 6
    caption = re.search(r"<figcaption.*?</figcaption>", figure, re.S)
    assert caption and "In 3 of 6 cells it <em>holds</em>; large." in caption[0]
    fold = figure[figure.index("<details") :]
    bare = re.sub(r"</?span[^>]*>", "", fold)  # of the highlighted command
    plain = " ".join(unescape(re.sub(r"<[^>]+>", " ", bare)).split())
    assert f"– ({WORD})" in plain and "16.0" in plain and "mixed" in plain
    assert "lowdim sweep preserve/weyl -p trials=10,20,30" in plain
    assert "what is doubled, stronger where larger" in figure and "seeds differ" in figure


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"number": "thrice"}, "keeps no number 'thrice'; it keeps twice"),
        ({"there": False}, "preserve/weyl has no kept map to show"),
    ],
)
def test_what_cannot_be_shown_is_a_warning_which_ends_a_strict_build(page, asked, sentence) -> None:
    html, warned = page(**asked)
    assert sentence in warned
    assert "<svg" not in html


def shown(made: dict[str, Any] = MAP, **more: str) -> drawing.Shown:
    return drawing.Shown.of(made, {**OPTIONS, **more})


def test_more_ink_is_a_larger_number() -> None:
    for scale, middle in (("linear", 2 / 15), ("log", 2 / 4)):  # of 4 between 1 and 16
        ink = shown(scale=scale).ink()
        assert ink[1][2] == 0.0, "no number, no ink"
        flat = [ink[0][0], ink[0][1], ink[0][2], ink[1][0], ink[1][1]]
        assert flat == sorted(flat)
        assert (flat[0], flat[-1]) == (drawing.PALE, drawing.DARK)
        wanted = 3 / 15 if scale == "linear" else middle
        assert ink[0][2] == pytest.approx(
            drawing.PALE + wanted * (drawing.DARK - drawing.PALE), abs=1e-3
        )


def test_the_line_runs_exactly_where_the_verdict_changes() -> None:
    svg = shown().svg("A map.")
    path = re.search(r'lowdim-map-turn" d="([^"]*)"', svg)
    assert path is not None
    # holds holds mixed / holds not not, from the foot: two turns across, two up
    assert path[1].count("v") == 2 and path[1].count("h") == 2
    even = kept([[1.0, 1.0], [1.0, 1.0]], [[True, True], [True, True]])
    assert 'lowdim-map-turn" d=""' in shown(even).svg("A map.")


def test_a_dashed_line_runs_where_the_number_passes_a_value() -> None:
    svg = shown(line="3").svg("A map.")
    path = re.search(r'lowdim-map-line" d="([^"]*)"', svg)
    # 1 2 4 / 8 16 –, from the foot
    assert path is not None and (path[1].count("v"), path[1].count("h")) == (2, 3)
    assert "lowdim-map-line" not in shown().svg("A map.")
    told = shown(line="3").facts()
    assert (told["line"], told["above"]) == (3.0, 3)
    with pytest.raises(RecordError, match="line of a map is a number; this one is three"):
        shown(line="three")


def test_everything_drawn_is_inside_the_drawing() -> None:
    drawn = ElementTree.fromstring(shown().svg("A < map & more"))
    assert drawn.get("aria-label") == "A < map & more"
    _, _, width, height = map(float, drawn.attrib["viewBox"].split())
    for cell in drawn.iter("rect"):
        x, y, w, h = (float(cell.attrib[key]) for key in ("x", "y", "width", "height"))
        assert x >= 0 and y >= 0 and x + w <= width + 0.1 and y + h <= height
    for text in drawn.iter("text"):
        assert 0 <= float(text.attrib["x"]) <= width and 0 < float(text.attrib["y"]) < height
    marks = {cell.attrib["data-verdict"] for cell in drawn.iter("g")}
    assert marks == {"holds", WORD, maps.MIXED}


def test_the_colours_are_the_pages() -> None:
    svg = shown().svg("A map.")
    assert set(re.findall(r'(?:fill|stroke)="([^"]+)"', svg)) == {"currentColor", "none"}
    assert "style=" not in svg


def test_each_option_that_is_needed_or_wrong_is_named() -> None:
    with pytest.raises(RecordError, match="this one lacks number, claim, alt"):
        drawing.Shown.of(MAP, {})
    with pytest.raises(RecordError, match="scale of a map is linear or log; this one is cubic"):
        shown(scale="cubic")


def test_a_notebook_has_the_caption_and_the_table(tmp_path: Path) -> None:
    put(tmp_path)
    record = {"claims": [], "values": {}}
    text = PAGE.format(number="twice").partition("\n\n")[2]
    said = Plain(tmp_path, CHAPTER, record).markdown(text)
    assert "In 3 of 6 cells it *holds*; large." in said
    assert "| noise \\ trials | 10 | 20 | 30 |" in said
    assert "{" not in said


def test_numbers_of_a_map_are_not_asked_of_the_chapters_cells() -> None:
    text = PAGE.format(number="twice")
    assert words.names(text) == set()
    assert words.names(text + "\nAnd {value}`slope`.") == {"slope"}
    assert words.without_maps(text).count("\n") == text.count("\n")
