"""The rooms: the contract between them, imports read rightly, drawings without collisions."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lowdim.publish import rooms
from lowdim.publish.rooms import Edge, Import

ROOT = Path(__file__).parents[2]
FOUND = rooms.modules()
BY_ROOM = rooms.rooms(FOUND)
HOME = {module: name for name, modules in BY_ROOM.items() for module in modules}
LEVEL = {name: level for level, layer in enumerate(rooms.ORDER) for name in layer}
SVG = "{http://www.w3.org/2000/svg}"


def test_every_room_has_its_place_in_the_order() -> None:
    assert set(BY_ROOM) == set(LEVEL)


def test_imports_go_down() -> None:
    wrong = [
        f"{each.source} imports {each.target}"
        for each in rooms.imports(FOUND)
        if HOME[each.source] != HOME[each.target]
        and LEVEL[HOME[each.source]] >= LEVEL[HOME[each.target]]
    ]
    assert wrong == []


def test_an_underscore_is_private_to_its_room() -> None:
    wrong = []
    for module, path in FOUND.items():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("lowdim"):
                for alias in node.names:
                    dotted = f"{node.module}.{alias.name}"
                    hidden = re.search(r"\._(?!_)", dotted)
                    home = HOME.get(dotted) or HOME[node.module]
                    if hidden and home != HOME[module]:
                        wrong.append(f"{module} imports {dotted}")
    assert wrong == []


def test_publishing_reaches_for_the_mathematics_late() -> None:
    early = [e for e in rooms.edges(FOUND) if e.source == "publish" and not e.late]
    assert {edge.target for edge in early} <= {
        rooms.GROUND,
        "evidence",
    }  # words and values are light


def test_imports_are_those_that_python_makes() -> None:
    name = "lowdim.preserve.drift"
    graph: dict[str, set[str]] = {}
    for each in rooms.imports(FOUND):
        if not each.late:
            graph.setdefault(each.source, set()).add(each.target)
    reached, queue = set(), [name]
    while queue:
        module = queue.pop()
        if module not in reached:
            reached.add(module)
            queue += graph.get(module, set())
            queue += [module.rpartition(".")[0]] if "." in module else []
    code = f"import sys, {name}; print(*(m for m in sys.modules if m.split('.')[0] == 'lowdim'))"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(said.stdout.split()) == reached


def test_every_way_to_import_is_seen(tmp_path: Path) -> None:
    files = {
        "house/__init__.py": "",
        "house/seeds.py": "",
        "house/cellar/__init__.py": "from . import wine\n",
        "house/cellar/wine.py": "def f():\n    from ..seeds import g\n",
        "house/attic/__init__.py": "",
        "house/attic/box.py": (
            "from typing import TYPE_CHECKING\n"
            "import house.seeds, os\n"
            "from house.cellar import wine as w, bottle\n"
            "if TYPE_CHECKING:\n    from house.attic import other\n"
            "def f():\n    import house.seeds\n"
        ),
        "house/attic/other.py": "class A:\n    from .box import b\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    found = rooms.modules(tmp_path / "house")
    assert rooms.imports(found) == [
        Import("house.attic.box", "house.cellar"),
        Import("house.attic.box", "house.cellar.wine"),
        Import("house.attic.box", "house.seeds"),
        Import("house.attic.other", "house.attic.box"),
        Import("house.cellar", "house.cellar.wine"),
        Import("house.cellar.wine", "house.seeds", late=True),
    ]


def test_an_import_that_goes_up_is_not_drawn() -> None:
    said = "nets imports hashing, but a room imports from lower layers only; the order is hashing"
    with pytest.raises(ValueError, match=said):
        rooms.draw(
            {"hashing": [], "nets": []}, [Edge("nets", "hashing", 1, False)], width=340, columns=2
        )


@st.composite
def houses(draw: st.DrawFn) -> tuple[dict[str, list[str]], list[Edge]]:
    """Rooms of any size with any imports that the order allows, some of them new."""
    placed = [name for layer in rooms.ORDER for name in layer]
    names = draw(st.lists(st.sampled_from([*placed, "porch"]), min_size=2, unique=True))
    words = st.text("abcdefgh", min_size=1, max_size=12)
    sizes = {name: draw(st.lists(words, max_size=14, unique=True)) for name in names}
    by_room = {
        name: [f"lowdim.{each}" if name == rooms.GROUND else f"lowdim.{name}.{each}" for each in s]
        for name, s in sizes.items()
    }
    level = {name: i for i, layer in enumerate(rooms.layers(names)) for name in layer}
    down = [(a, b) for a in names for b in names if level[a] < level[b]]
    chosen = draw(st.lists(st.sampled_from(down), unique=True)) if down else []
    counts, late = st.integers(1, 99), st.booleans()
    return by_room, [Edge(a, b, draw(counts), draw(late)) for a, b in chosen]


def _segments(svg: ElementTree.Element) -> list[tuple[float, float, float, float]]:
    """Every straight piece of every line, as (left, top, right, bottom)."""
    pieces = []
    for path in svg.iter(f"{SVG}path"):
        if "rooms-line" in path.get("class", ""):
            for x, y, way, end in re.findall(r"M([\d.]+) ([\d.]+)([HV])([\d.]+)", path.get("d")):
                x, y, end = float(x), float(y), float(end)
                ends = ((x, end), (y, y)) if way == "H" else ((x, x), (y, end))
                pieces.append((min(ends[0]), min(ends[1]), max(ends[0]), max(ends[1])))
    return pieces


def _overlap(a: Sequence[float], b: Sequence[float], *, apart: float = 0.0) -> bool:
    """Whether two boxes have more than an edge in common, the first widened by ``apart``."""
    level = a[0] - apart < b[2] and b[0] < a[2] + apart
    return level and a[1] - apart < b[3] and b[1] < a[3] + apart


@settings(max_examples=60, deadline=None)
@given(houses(), st.sampled_from([rooms.WIDE, rooms.NARROW]))
def test_no_line_crosses_a_box_and_nothing_leaves_the_picture(house, size) -> None:
    by_room, graph = house
    width, columns = size
    svg = ElementTree.fromstring(rooms.draw(by_room, graph, width=width, columns=columns))
    _, _, wide, high = map(float, svg.get("viewBox").split())
    boxes = []
    for rect in svg.iter(f"{SVG}rect"):
        x, y, w, h = (float(rect.get(key)) for key in ("x", "y", "width", "height"))
        assert x >= 0 and y >= 0 and x + w <= wide and y + h <= high
        boxes.append((x, y, x + w, y + h))
    assert len(boxes) == len(by_room)

    assert not any(_overlap(a, b) for a, b in combinations(boxes, 2))
    for left, top, right, bottom in _segments(svg):
        assert 0 <= left and right <= wide and 0 <= top and bottom <= high
        # A line may begin at an edge of a box and not go on inside.
        piece = (left - 0.005, top, right + 0.005, bottom)
        piece = (left, top - 0.005, right, bottom + 0.005) if top == bottom else piece
        assert not any(_overlap(piece, box) for box in boxes)
    shown = sorted(
        text.text for text in svg.iter(f"{SVG}text") if text.get("class") == "rooms-count"
    )
    assert shown == sorted(str(edge.count) for edge in graph)
    for edge in graph:
        assert f"{edge.target} {edge.count}" in svg.get("aria-label")


@settings(max_examples=60, deadline=None)
@given(houses(), st.sampled_from([rooms.WIDE, rooms.NARROW]))
def test_lines_to_two_rooms_may_cross_but_never_run_together(house, size) -> None:
    by_room, graph = house
    svg = ElementTree.fromstring(rooms.draw(by_room, graph, width=size[0], columns=size[1]))
    groups = [g for g in svg.iter(f"{SVG}g") if g.get("class").startswith("rooms-bus")]
    for one, other in combinations(map(_segments, groups), 2):
        for a in one:
            for b in other:
                parallel = (a[0] == a[2]) == (b[0] == b[2])
                assert not (parallel and _overlap(a, b, apart=3)), (a, b)


@pytest.mark.parametrize("size", [rooms.WIDE, rooms.NARROW])
def test_names_stay_within_their_boxes(size: tuple[int, int]) -> None:
    width, columns = size
    svg = ElementTree.fromstring(
        rooms.draw(BY_ROOM, rooms.edges(FOUND), width=width, columns=columns)
    )
    for group in svg.iter(f"{SVG}g"):
        if group.get("class") == "rooms-room":
            box = group.find(f"{SVG}rect")
            right = float(box.get("x")) + float(box.get("width"))
            for text in group.iter(f"{SVG}text"):
                letter = rooms.BOLD if text.get("class") == "rooms-title" else rooms.LETTER
                assert float(text.get("x")) + letter * len(text.text) <= right, text.text


def test_names_lead_to_the_reference(tmp_path: Path) -> None:
    drawn = rooms.write(tmp_path).read_text()
    addresses = set(re.findall(r'href="([^"]+)"', drawn))
    public = [m for m in FOUND if rooms.public(m) and m != "lowdim" and m != f"lowdim.{HOME[m]}"]
    assert addresses == {f"api/{HOME[module]}.html#module-{module}" for module in public}
    assert all((ROOT / "book" / "api" / f"{name}.md").is_file() for name in BY_ROOM)


def test_the_drawing_has_a_style_for_every_class() -> None:
    drawn = rooms.draw(BY_ROOM, rooms.edges(FOUND), width=720, columns=4)
    styles = (ROOT / "book" / "_static" / "lowdim.css").read_text()
    for name in set(re.findall(r'class="([^"]+)"', drawn)):
        for each in name.split():
            assert re.search(rf"\.{each}\b", styles), each
    assert not re.search(r"#[0-9a-f]{3,6}\b|\bfill=|\bstroke=", drawn.replace("#module", ""))
