"""What `pip install` gives: a library that imports, and with [book] a chapter that runs."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
import pytest
from lowdim.publish.sphinxext import downloadable

if TYPE_CHECKING:
    from conftest import Wheel

ROOT = Path(__file__).resolve().parents[2]
LIB = ROOT / "lib"


def test_the_wheel_holds_every_file_of_the_library(wheel: Wheel) -> None:
    held = {name for name in zipfile.ZipFile(wheel.file).namelist() if ".dist-info/" not in name}
    sources = {
        str(path.relative_to(LIB))
        for path in (LIB / "lowdim").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert "lowdim/py.typed" in sources and held == sources


def test_the_library_is_found_in_the_wheel_and_nowhere_else(wheel: Wheel) -> None:
    done = wheel.python("import lowdim, sys; print(lowdim.__file__, *sys.path, sep='\\n')")
    file, *path = done.stdout.splitlines()
    assert Path(file).is_relative_to(wheel.target), done.stderr
    assert not [entry for entry in path if Path(entry).is_relative_to(LIB)]


IMPORT_ALL = """
import importlib, json, pkgutil, sys
import lowdim

failed = {{}}
for module in pkgutil.walk_packages(lowdim.__path__, "lowdim.", onerror=lambda name: None):
    if module.name.startswith({skipped!r}):
        continue
    try:
        importlib.import_module(module.name)
    except ImportError as error:
        failed[module.name] = str(error)
known = [name for name in sys.modules if name.startswith("lowdim.")]
print(json.dumps([failed, known, sorted(sys.modules)]))
"""


def test_with_the_base_every_module_outside_publish_imports(wheel: Wheel) -> None:
    done = wheel.python(IMPORT_ALL.format(skipped="lowdim.publish"))
    assert done.returncode == 0, done.stderr
    failed, known, every = json.loads(done.stdout)
    assert not failed
    assert {"lowdim.linalg.subspaces", "lowdim.hashing.kernels", "lowdim.data.images"} <= {*known}
    assert "torch" in every and "sphinx" not in every and "pytest" not in every


def test_with_the_book_every_module_imports(wheel: Wheel) -> None:
    done = wheel.python(IMPORT_ALL.format(skipped="none"), "book")
    assert done.returncode == 0, done.stderr
    failed, known, _ = json.loads(done.stdout)
    assert not failed and "lowdim.publish.cli" in known


def test_packages_that_are_not_required_are_out_of_reach(wheel: Wheel) -> None:
    # otherwise the two tests above would pass whatever the metadata said
    for name, extras in (("pytest", ()), ("pytest", ("book",)), ("myst_nb", ())):
        assert f"No module named '{name}'" in wheel.python(f"import {name}", *extras).stderr
    assert wheel.python("import myst_nb", "book").returncode == 0


def test_importing_the_package_alone_is_light(wheel: Wheel) -> None:
    done = wheel.python("import lowdim, sys; print('numpy' in sys.modules, 'torch' in sys.modules)")
    assert done.stdout.split() == ["False", "False"], done.stderr


def test_the_command_comes_with_it(wheel: Wheel) -> None:
    script = wheel.target / "bin" / "lowdim"
    done = subprocess.run(
        [sys.executable, script, "--version"],
        cwd=wheel.scratch,
        env=wheel.environment("book"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == ["lowdim", wheel.metadata["Version"]], done.stderr


@pytest.mark.chapter
def test_a_downloaded_chapter_runs_to_its_end(wheel: Wheel, tmp_path: Path) -> None:
    """One quick chapter, in an empty folder, by the command that its page names.

    The packages are those of this environment, less all that ``lowdim[book]`` does not bring in;
    an environment of its own would take minutes and gigabytes.
    """
    notebook = downloadable(ROOT / "notebooks" / "hashing" / "hashing_property.md")
    where = nbformat.v4.new_code_cell("import lowdim\nprint(lowdim.__file__)")
    notebook.cells.append(where)
    path = tmp_path / "chapter.ipynb"
    nbformat.write(notebook, path)
    jupyter = shutil.which("jupyter-execute", path=Path(sys.executable).parent)
    assert jupyter, "nbclient is not installed beside this Python"
    done = subprocess.run(
        [sys.executable, jupyter, "--inplace", path.name],
        cwd=tmp_path,
        env=wheel.environment("book") | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    cells = nbformat.read(path, as_version=4).cells
    assert Path(cells[-1].outputs[0].text.strip()).is_relative_to(wheel.target)
    records = [
        output.metadata["lowdim_record"]
        for cell in cells
        for output in cell.get("outputs", ())
        if "lowdim_record" in output.get("metadata", {})
    ]
    assert len(records) == 1 and len(records[0]["claims"]) >= 3
    assert records[0]["versions"]["lowdim"] == wheel.metadata["Version"]
