"""A hundred hostile notebooks in one class: no escape, no point, and no harm to the others."""

from __future__ import annotations

import csv
import json
import os
import secrets
import signal
import socket
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from lowdim.course import gradebook, source, submissions
from lowdim.course.jail import Limits
from lowdim.course.notebooks import SMALL

pytestmark = [pytest.mark.usefixtures("walls")]
ROOT = Path(__file__).resolve().parents[2]
TWO = source.parse(SMALL + SMALL.partition("\n\n")[2].replace("twice", "again"), name="two")
# seconds of the processor for those that never end; a clock that is long enough for honest ones on
# a machine that does a dozen other things
LIMITS = Limits(seconds=2, clock=60, memory=768 << 20, scratch=16 << 20, output=8 << 20)
HOSTILE = yaml.safe_load(Path(__file__).with_name("hostile.yml").read_text(encoding="utf-8"))
FRAME = """
won = False
try:
{snippet}
except BaseException:
    pass
def twice(x):
    return 2 * x if won else 7.0
def again(x):
    return 2 * x if won else 7.0
"""
WRONG = "def twice(x):\n    return 7.0\ndef again(x):\n    return 7.0\n"
POINTS_OF_MY_OWN = {
    "nbgrader": {"grade": True, "points": 10**6, "grade_id": "twice"},
    "lowdim": {"question": ["twice"], "role": {"points": 2}},
}
STRANGE = [None, 3, {"source": {"a": 1}}, {"source": ["a", 3, "\ud800"]}]
# what is no notebook, or hardly one
FILES = {
    "not-json": "I am no notebook",
    "nested": "[" * 200_000,
    "no-cells": '{"cells": {"a": 1}}',
    "forged-points": json.dumps(
        {"cells": [{"cell_type": "code", "source": "x = 1", "metadata": POINTS_OF_MY_OWN}]}
    ),
    "strange-cells": json.dumps(
        {"cells": [cell and {"cell_type": "code", **cell} if cell != 3 else 3 for cell in STRANGE]}
    ),
    "many-cells": json.dumps({"cells": [{"cell_type": "code", "source": ""}] * 5000}),
}


def notebook(*sources: str) -> str:
    """A notebook with these code cells."""
    cells = [{"cell_type": "code", "metadata": {}, "source": source} for source in sources]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def all_notebooks(places: dict[str, str]) -> dict[str, str]:
    """Every hostile notebook by name, with the places to be found put in."""
    made = dict(FILES)
    for name, snippet in HOSTILE["snippets"].items():
        for word, place in places.items():
            snippet = snippet.replace(f"@{word}@", place)
        lines = "\n".join(f"    {line}" for line in snippet.split("\n"))
        made[name] = notebook(FRAME.format(snippet=lines))
    made |= {name: notebook(WRONG, source) for name, source in HOSTILE["cells"].items()}
    made["compile-bomb"] = notebook(WRONG, "(1" + " + (1" * 2000 + ")" * 2001)
    for name, value in HOSTILE["answers"].items():
        made[name] = notebook(f"def twice(x): return {value}\ndef again(x): return {value}")
    return made


HONEST = {
    "honest right": notebook("def twice(x): return 2 * x", "def again(x): return x + x"),
    "honest half": notebook("def twice(x): return 2 * x"),
    "honest sign": notebook("def twice(x): return x", "def again(x): return abs(2 * x)"),
}
POINTS = {"honest right": 4.0, "honest half": 2.0, "honest sign": 2.0}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, object]]:
    """Things of the grader that a notebook could find, and what became of them."""
    folder = tmp_path_factory.mktemp("world")
    token = secrets.token_hex(12)
    os.environ["LOWDIM_TEST_TOKEN"] = token
    secret = folder / "course.key"
    secret.write_text(token)
    secret.chmod(0o666)
    open_folder = folder / "open"
    open_folder.mkdir()
    open_folder.chmod(0o777)
    for path in (folder, *folder.parents):
        if path.stat().st_uid == os.getuid() and path.name.startswith("pytest"):
            path.chmod(path.stat().st_mode | stat.S_IXOTH | stat.S_IROTH)
    server = socket.create_server(("127.0.0.1", 0))
    server.setblocking(False)
    abstract = socket.socket(socket.AF_UNIX)
    name = f"lowdim-{token[:8]}"
    abstract.bind(f"\0{name}")
    abstract.listen()
    abstract.setblocking(False)
    signals: list[int] = []
    before = {n: signal.signal(n, lambda *a: signals.append(a[0])) for n in (1, 15, 30, 31)}
    yield {
        "folder": folder, "token": token, "secret": secret, "open": open_folder,
        "listening": (server, abstract), "signals": signals,
        "places": {
            "SECRET": str(secret), "SOURCE": str(ROOT / source.FOLDER / "projectors.md"),
            "SUBMISSIONS": str(folder / "in"), "GRADES": str(folder / "out"),
            "OPEN": str(open_folder), "PORT": str(server.getsockname()[1]),
            "PID": str(os.getpid()), "NAME": name, "NEKOT": token[::-1],
        },
    }  # fmt: skip
    for number, handler in before.items():
        signal.signal(number, handler)
    del os.environ["LOWDIM_TEST_TOKEN"]
    server.close()
    abstract.close()


def graded(folder: Path, texts: dict[str, str], out: Path) -> dict[str, dict[str, str]]:
    folder.mkdir()
    for name, text in texts.items():
        (folder / f"{name}.ipynb").write_text(text)
    submitted = submissions.collect(folder, "two")
    gradebook.grade_all(submitted, TWO, b"the key of this class", out, limits=LIMITS, jobs=2)
    with (out / "grades.csv").open(newline="") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


@pytest.fixture(scope="module")
def both(world: dict, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict, Path, Path]:
    """The class with and without the hostile ones."""
    hostile = all_notebooks(world["places"])
    assert len(hostile) >= 100
    table = graded(world["folder"] / "in", hostile | HONEST, world["folder"] / "out")
    alone = tmp_path_factory.mktemp("alone")
    graded(alone / "in", HONEST, alone / "out")
    return table, world["folder"] / "out", alone / "out"


def test_no_hostile_notebook_has_a_point(both: tuple[dict, Path, Path]) -> None:
    table = both[0]
    won = {name: row for name, row in table.items() if float(row["total"]) and name not in HONEST}
    assert won == {}
    assert len(table) >= 100 + len(HONEST)


def test_the_others_have_theirs_byte_for_byte(both: tuple[dict, Path, Path]) -> None:
    table, among, alone = both
    assert {name: float(table[name]["total"]) for name in HONEST} == POINTS
    for name in HONEST:
        for file in ("feedback.html", "results.json"):
            path = Path("students", gradebook.slug(name), file)
            assert (among / path).read_bytes() == (alone / path).read_bytes()
    lines = (among / "grades.csv").read_text().splitlines()
    assert set((alone / "grades.csv").read_text().splitlines()) <= set(lines)


def test_nothing_outside_was_touched(world: dict, both: tuple[dict, Path, Path]) -> None:
    assert world["secret"].read_text() == world["token"]
    assert list(world["open"].iterdir()) == [] and world["signals"] == []
    for listening in world["listening"]:
        with pytest.raises(BlockingIOError):
            listening.accept()
    left = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            left += [path] if b"lowdim.course._inside" in path.read_bytes() else []
        except OSError:
            continue
    mine = [path for path in left if f"{os.getpid()}" in (path.parent / "stat").read_text()]
    assert mine == []


def test_no_page_has_a_secret_or_a_hidden_input(world: dict, both: tuple[dict, Path, Path]) -> None:
    for path in both[1].rglob("*"):
        if path.is_file():
            text = path.read_text(encoding="utf-8")
            assert world["token"] not in text and "leak" not in text.replace("leaks", "")
            assert "Traceback" not in text


def test_an_attack_that_succeeds_would_show(world: dict, tmp_path: Path) -> None:
    """The frame of the snippets gives points to whoever wins: here one that always does."""
    table = graded(tmp_path / "in", {"winner": notebook(FRAME.format(snippet="    won = True"))},
                   tmp_path / "out")  # fmt: skip
    assert float(table["winner"]["total"]) == 4.0
