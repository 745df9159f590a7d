"""What the code imports is what the metadata requires: nothing is missing, nothing is idle."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import TYPE_CHECKING

import jupytext
import yaml
from packaging.utils import canonicalize_name

if TYPE_CHECKING:
    from conftest import Wheel

ROOT = Path(__file__).resolve().parents[2]
CHAPTERS = sorted(p for p in (ROOT / "notebooks").glob("*/*.md") if p.parent.name != "course")

# Only a chapter that is running glues, and whoever runs one has [book].
IN_A_CHAPTER_ONLY = {"myst-nb"}
# Run as programs, so that no import names them.
RUN = {"jupyter-book"}


@cache
def owners_of_modules() -> dict[str, list[str]]:
    """Top-level module to the packages that bring it, read once: it takes a second."""
    return dict(packages_distributions())


def imported(source: str, *, everywhere: bool = True) -> Iterator[str]:
    """Names of the packages that a module imports; if not ``everywhere``, when it is imported."""
    waiting: list[ast.AST] = [ast.parse(source)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            yield node.module.partition(".")[0]
        if everywhere or not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            waiting.extend(ast.iter_child_nodes(node))


def packages(names: Iterator[str] | set[str]) -> set[str]:
    """The packages, by their canonical names, that bring these modules; ours and Python's not."""
    owners = owners_of_modules()
    own = {*sys.stdlib_module_names, "lowdim"}
    return {canonicalize_name(owners.get(name, [name])[0]) for name in set(names) - own}


def sources(wheel: Wheel, *, publish: bool) -> dict[str, str]:
    """The modules of the wheel, those of publish or all others."""
    paths = (wheel.target / "lowdim").rglob("*.py")
    named = {str(path.relative_to(wheel.target)): path for path in paths}
    return {
        name: path.read_text(encoding="utf-8")
        for name, path in named.items()
        if name.startswith("lowdim/publish/") == publish
    }


def needs(texts: dict[str, str], *, everywhere: bool = True) -> dict[str, set[str]]:
    """Package to the modules that need it."""
    found: dict[str, set[str]] = {}
    for name, text in texts.items():
        for package in packages(imported(text, everywhere=everywhere)):
            found.setdefault(package, set()).add(name)
    return found


def missing(found: dict[str, set[str]], required: set[str]) -> dict[str, set[str]]:
    return {package: where for package, where in found.items() if package not in required}


@cache
def chapters() -> dict[str, str]:
    """The code of every chapter."""
    notebooks = {f"{path.parent.name}/{path.stem}": jupytext.read(path) for path in CHAPTERS}
    return {
        name: "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
        for name, notebook in notebooks.items()
    }


def extensions() -> set[str]:
    """The packages of the extensions that the book's configuration loads."""
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    names = {name.partition(".")[0] for name in config["sphinx"]["extra_extensions"]}
    return packages(names)


def test_imports_are_read_as_python_runs_them() -> None:
    source = "import a.b\nif x:\n    from c.d import e\nfrom . import f\ndef g():\n    import h\n"
    assert set(imported(source)) == {"a", "c", "h"}
    assert set(imported(source, everywhere=False)) == {"a", "c"}


def test_the_base_covers_all_but_publish(wheel: Wheel) -> None:
    texts = sources(wheel, publish=False)
    assert len(texts) > 40
    assert not missing(needs(texts, everywhere=False), wheel.required())
    assert not missing(needs(texts), wheel.required() | IN_A_CHAPTER_ONLY)


def test_the_book_covers_publish(wheel: Wheel) -> None:
    texts = sources(wheel, publish=True)
    assert texts and not missing(needs(texts, everywhere=False), wheel.required("book"))
    assert not missing(needs(texts), wheel.required("book", "dask"))
    assert IN_A_CHAPTER_ONLY <= wheel.required("book")


def test_the_book_covers_what_chapters_import(wheel: Wheel) -> None:
    texts = chapters()
    assert len(texts) >= 44 and not missing(needs(texts), wheel.required("book"))
    assert "ipykernel" in wheel.required("book")  # no chapter imports it, and none runs without


def test_the_book_covers_its_extensions(wheel: Wheel) -> None:
    assert extensions() - {"lowdim"} <= wheel.required("book")


def test_nothing_is_required_that_nothing_uses(wheel: Wheel) -> None:
    outside, publish = (set(needs(sources(wheel, publish=p))) for p in (False, True))
    assert wheel.required() <= outside
    used = outside | publish | set(needs(chapters())) | extensions() | RUN
    assert wheel.required("book", "dask") <= used
    text = " ".join(sources(wheel, publish=True).values())
    assert all(name.replace("-", "_") in text or name in text for name in RUN)


def test_everything_that_is_required_is_pinned(wheel: Wheel) -> None:
    lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    pinned = {line.partition("==")[0] for line in lines if not line.startswith("#")}
    assert wheel.required("book", "dask") <= pinned
