"""The rooms of the library are a contract: what may import what, what is private, what is tested.

The order of the rooms stands in pyproject.toml and import-linter checks it (``make lint``); here a
library that breaks it is seen to be refused. The rest is read from the sources without importing.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import jupytext
import pytest
from lowdim.publish import rooms

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "lib" / "lowdim"
ROOMS = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))
GROUND = sorted(path.stem for path in PACKAGE.glob("*.py") if path.stem != "__init__")
# folders of tests/ that mirror no room
NOT_ROOMS = {"book", "chapters", "packaging", "references", "tools"}
SOURCES = sorted(PACKAGE.rglob("*.py"))


def module_name(path: Path) -> str:
    parts = ("lowdim", *path.relative_to(PACKAGE).with_suffix("").parts)
    return ".".join(part for part in parts if part != "__init__")


MODULES = {module_name(path) for path in SOURCES}


def room_of(name: str) -> str:
    """The room of a dotted name; a module of the ground floor is a room of its own."""
    return f"{name}.".split(".")[1]


def is_private(part: str) -> bool:
    return part.startswith("_") and not part.startswith("__")


def reaches_into(source: str, module: str) -> Iterator[str]:
    """The names with an underscore that ``module`` takes from other rooms.

    Both ways of taking one count: ``from lowdim.nets._run import Run`` and ``training._helper``
    after ``from lowdim.nets import training``.
    """
    tree = ast.parse(source)
    bound = {}  # names of this module that stand for modules of the library
    taken = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                taken.append(alias.name)
                if alias.asname:
                    bound[alias.asname] = alias.name
        elif isinstance(node, ast.ImportFrom):
            package = module.rsplit(".", node.level)[0] if node.level else ""
            start = ".".join(filter(None, (package, node.module)))
            for alias in node.names:
                taken.append(f"{start}.{alias.name}")
                if f"{start}.{alias.name}" in MODULES:
                    bound[alias.asname or alias.name] = f"{start}.{alias.name}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            dotted = ast.unparse(node)
            if re.fullmatch(r"[\w.]+", dotted):
                first, _, rest = dotted.partition(".")
                taken.append(f"{bound.get(first, first)}.{rest}")
    for name in dict.fromkeys(taken):
        parts = name.split(".")
        foreign = parts[0] == "lowdim" and room_of(name) != room_of(module)
        if foreign and any(is_private(part) for part in parts):
            yield name


@pytest.mark.parametrize("path", SOURCES, ids=module_name)
def test_an_underscore_means_private_to_its_room(path: Path) -> None:
    found = list(reaches_into(path.read_text(encoding="utf-8"), module_name(path)))
    assert not found, f"{module_name(path)} reaches into another room: {', '.join(found)}"


@pytest.mark.parametrize("path", sorted((ROOT / "notebooks").glob("*/*.md")), ids=lambda p: p.stem)
def test_chapters_use_public_names_only(path: Path) -> None:
    cells = [cell.source for cell in jupytext.read(path).cells if cell.cell_type == "code"]
    found = [name for cell in cells for name in reaches_into(cell, "lowdim")]
    assert cells and not found, f"private names in {path.name}: {', '.join(found)}"


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("from lowdim.nets._run import Run", ["lowdim.nets._run.Run"]),
        ("from lowdim.nets.training import _step", ["lowdim.nets.training._step"]),
        ("import lowdim.nets._run", ["lowdim.nets._run"]),
        ("import lowdim.nets._run as r\nr.Run", ["lowdim.nets._run", "lowdim.nets._run.Run"]),
        ("from lowdim.nets import training as t\nt._step()", ["lowdim.nets.training._step"]),
        ("def f():\n    from ..nets import _run", ["lowdim.nets._run"]),
        ("import lowdim\nlowdim.nets._run.Run", ["lowdim.nets._run.Run", "lowdim.nets._run"]),
        ("from lowdim.linalg import _krylov\n_krylov.x", []),
        ("from lowdim.nets import training\ntraining.train.__doc__\nself._x", []),
        ("import numpy as np\nnp._core", []),
    ],
)
def test_every_way_of_reaching_into_a_room_is_seen(source: str, found: list[str]) -> None:
    assert list(reaches_into(source, "lowdim.linalg.ranks")) == found


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_says_what_it_holds(room: str) -> None:
    says = ast.get_docstring(ast.parse((PACKAGE / room / "__init__.py").read_text("utf-8")))
    assert says and says.splitlines()[0].endswith("."), f"lowdim.{room} has no opening sentence"


def test_tests_mirror_the_rooms() -> None:
    folders = {path.name for path in (ROOT / "tests").iterdir() if path.is_dir()} - {"__pycache__"}
    assert folders - NOT_ROOMS == set(ROOMS)


@pytest.mark.parametrize("room", ROOMS)
def test_a_file_of_tests_is_named_after_what_it_tests(room: str) -> None:
    held = {path.stem.lstrip("_") for path in (PACKAGE / room).iterdir() if path.stem != "__init__"}
    tests = [path.stem.removeprefix("test_") for path in (ROOT / "tests" / room).glob("test_*.py")]
    assert tests, f"tests/{room} holds no test"
    strange = [test for test in tests if not any(f"{test}_".startswith(f"{m}_") for m in held)]
    assert not strange, (
        f"tests/{room} tests what lowdim.{room} does not hold: {', '.join(strange)}; "
        f"a file is test_<module>.py or test_<module>_<what>.py, <module> being one of "
        f"{', '.join(sorted(held))}"
    )


def contract_layers() -> list[str]:
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layered = [c for c in config["tool"]["importlinter"]["contracts"] if c["type"] == "layers"]
    assert len(layered) == 1
    return layered[0]["layers"]


def test_the_contract_keeps_places_for_rooms_to_come() -> None:
    named = re.findall(r"\w+", " ".join(contract_layers()))
    assert len(named) == len(set(named))
    assert set(ROOMS) | set(GROUND) <= set(named)  # the rest are rooms that may come


def test_the_drawing_of_the_rooms_follows_the_contract() -> None:
    layers = [re.findall(r"\w+", layer) for layer in contract_layers()]
    present = [
        {"ground" if n in GROUND else n for n in layer} & {"ground", *ROOMS} for layer in layers
    ]
    assert [set(layer) for layer in rooms.ORDER] == [layer for layer in present if layer]


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    """import-linter on the package in ``folder`` under this project's contracts."""
    linter = shutil.which("lint-imports", path=Path(sys.executable).parent)
    assert linter, "import-linter is not installed beside this Python: run make test"
    return subprocess.run(
        [linter, "--no-cache", "--no-logo", "--config", str(ROOT / "pyproject.toml")],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sources in a folder of their own."""
    folder = tmp_path_factory.mktemp("rooms")
    shutil.copytree(PACKAGE, folder / "lowdim", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def test_the_rooms_keep_their_contract(copied: Path) -> None:
    done = lint(copied)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("room", "line", "contract"),
    [
        ("linalg", "import lowdim.publish.records", "Rooms stand above one another"),
        ("linalg", "from lowdim import nets", "Rooms stand above one another"),
        ("data", "from lowdim import linalg", "Rooms stand above one another"),
        ("hashing", "from lowdim import preserve", "Rooms stand above one another"),
        ("nets", "def f():\n    from lowdim import collapse", "Rooms stand above one another"),
        ("course", "from lowdim import publish", "Rooms stand above one another"),
        ("cellar", "", "Rooms stand above one another"),
        ("publish", "import notebooks", "The library knows no chapter"),
        ("linalg", "import IPython", "The mathematics needs no publishing tools"),
    ],
)
def test_a_broken_contract_is_refused(copied: Path, room: str, line: str, contract: str) -> None:
    added = copied / "lowdim" / room / "added.py"
    is_new = not added.parent.exists()
    added.parent.mkdir(exist_ok=True)
    (added.parent / "__init__.py").touch()
    added.write_text(line)
    try:
        done = lint(copied)
    finally:
        shutil.rmtree(added.parent) if is_new else added.unlink()
    assert done.returncode == 1, done.stderr
    assert re.search(rf"{contract}.* BROKEN", done.stdout), done.stdout
