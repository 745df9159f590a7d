"""The reference: every public name is in it, Sphinx can set it, and its examples are run."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from lowdim.publish import reference, rooms
from lowdim.publish.surface import Surface

ROOT = Path(__file__).parents[2]
SURFACE = Surface()
BY_ROOM = rooms.rooms(SURFACE.found)

# Public functions without an example: they draw, download, or act on a whole book. Give one an
# example and strike it off; nothing is added.
MOST = 71
WITHOUT_EXAMPLE = """
lowdim.evidence.plots: show
lowdim.publish.build: build_book put_in_place
lowdim.publish.chapters: chosen_values discover load load_all load_presets resolve
lowdim.publish.cli: describe ledger_rows
lowdim.publish.content: key keys read_chapter_code remember
lowdim.publish.directives: badge_nodes kept_records record_of
lowdim.publish.execute: collect current drop_stale execute_all failures obtain read_chapter
lowdim.publish.execute: with_outputs
lowdim.publish.executor: execute
lowdim.publish.kernels: manager_class
lowdim.publish.pages: errata joined ledger reported status write_all
lowdim.publish.records: extract parameters read write write_atomically
lowdim.publish.references: check_cells ci_values compare load measure reference_path refresh
lowdim.publish.running: book_root check_output default_output execute execute_recorded run
lowdim.publish.running: write_notebook
lowdim.publish.serve.app: serve
lowdim.publish.sphinxext: downloadable footer
lowdim.publish.standalone: render
lowdim.publish.store: drop_old find keep seconds
lowdim.publish.sweeps.coordinator: plan sweep
lowdim.publish.sweeps.results: as_page write
lowdim.publish.sweeps.warm: make serve
lowdim.publish.words: join of_chapter read values_of
"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The generated pages by name."""
    written = reference.write(tmp_path_factory.mktemp("reference"))
    return {path.stem: path for path in written}


@pytest.mark.parametrize("name", BY_ROOM)
def test_a_room_has_a_page_with_every_name_of_it(name: str, pages: dict[str, Path]) -> None:
    text = pages[f"api-{name}"].read_text()
    written = re.findall(r"^(?:\.\. py:)(\w+):: ([\w.]+)(?:.*)", text, flags=re.MULTILINE)
    module, addresses = "", set()
    for kind, word in written:
        module = word if kind == "module" else module
        addresses.add(word if kind == "module" else f"{module}.{word}")
    wanted = {each for each in BY_ROOM[name] if rooms.public(each)}
    for each in sorted(wanted):
        wanted |= {SURFACE.address(f"{e.home}.{e.name}") for e in SURFACE.entries(each)}
    assert wanted <= addresses
    assert not [a for a in addresses if not rooms.public(a)]
    index = re.findall(r":py:obj:`~([\w.]+)`\n\s+(\S.*)", text)
    shown = [e for m in BY_ROOM[name] if rooms.public(m) for e in SURFACE.entries(m)]
    shown = [f"{e.module}.{e.name}" for e in shown if e.kind not in reference.VALUES]
    assert set(shown) & addresses <= {word for word, said in index if said.endswith(".")}


@pytest.mark.parametrize("name", BY_ROOM)
def test_the_book_has_the_page(name: str) -> None:
    stub = ROOT / "book" / "api" / f"{name}.md"
    assert stub.is_file(), (
        f"the room {name} needs a page, book/api/{name}.md, and a place in _toc.yml"
    )
    assert f"{{include}} ../_generated/api-{name}.md" in stub.read_text()
    assert f"file: book/api/{name}\n" in (ROOT / "_toc.yml").read_text()


def test_the_book_has_no_page_of_a_room_that_is_gone() -> None:
    assert {path.stem for path in (ROOT / "book" / "api").glob("*.md")} == set(BY_ROOM)


def test_examples_are_run() -> None:
    options = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]
    assert "--doctest-modules" in options["addopts"].split()
    assert "lib" in options["testpaths"]
    assert "collect_ignore" not in (ROOT / "tests" / "conftest.py").read_text()
    assert not list((ROOT / "lib").rglob("conftest.py"))


def test_every_public_function_has_an_example() -> None:
    lines = (line.partition(": ") for line in WITHOUT_EXAMPLE.strip().splitlines())
    listed = {f"{module}.{name}" for module, _, names in lines for name in names.split()}
    missing = {
        SURFACE.address(f"{entry.home}.{entry.name}")
        for module in SURFACE.found
        if rooms.public(module)
        for entry in SURFACE.entries(module)
        if entry.kind == "function" and not entry.has_example
        if entry.name != "setup"  # Sphinx calls it, with a whole application
    }
    assert sorted(missing - listed) == []
    assert sorted(listed - missing) == [], "these have an example now, or are gone: strike them off"
    assert len(listed) <= MOST


def test_sphinx_sets_every_page_without_a_warning(pages: dict[str, Path], tmp_path: Path) -> None:
    settings = yaml.safe_load((ROOT / "_config.yml").read_text())["sphinx"]["config"]
    names = ("nitpick_ignore_regex", "maximum_signature_line_length", "add_module_names")
    given: dict[str, Any] = {name: settings[name] for name in names}
    given |= {"extensions": ["myst_parser"], "root_doc": "book/api"}
    lines = [f"{name} = {value!r}" for name, value in given.items()]
    (tmp_path / "conf.py").write_text("\n".join(lines))
    (tmp_path / "book" / "api").mkdir(parents=True)
    toc = "\n```{toctree}\n:glob:\napi/*\n```\n"
    (tmp_path / "book" / "api.md").write_text("# All\n\n" + pages.pop("api").read_text() + toc)
    for name, path in pages.items():
        target = tmp_path / "book" / "api" / f"{name.removeprefix('api-')}.md"
        shutil.copyfile(path, target)
        target.write_text(f"# {name}\n\n" + target.read_text())
    command = [sys.executable, "-m", "sphinx", "-b", "dummy", "-q", "-W", "-n", "--keep-going"]
    done = subprocess.run(
        [*command, str(tmp_path), str(tmp_path / "out")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_reference_to_nothing_is_refused(tmp_path: Path) -> None:
    (tmp_path / "house").mkdir()
    (tmp_path / "house" / "__init__.py").write_text("'''See :func:`gone`.'''\n")
    made = Surface(rooms.modules(tmp_path / "house"))
    with pytest.raises(ValueError, match=r"A docstring of house refers to gone, which is not"):
        reference._mended(made.doc("house"), "house", made)


@pytest.mark.parametrize(
    ("doc", "said"),
    [
        ("One. Two.", "One."),
        ("One\nhalf: of it.\n\nMore.", "One half: of it."),
        ("About 0.5 e.g. this.", "About 0.5 e.g. this."),
        ("Of :math:`a. B` only. No.", "Of :math:`a. B` only."),
        ("No stop", "No stop"),
    ],
)
def test_the_first_sentence(doc: str, said: str) -> None:
    assert reference.first_sentence(doc) == said


def test_what_is_safe_already_stays_as_it_is() -> None:
    doc = (
        "A word, ``code`` and :math:`|x|`.\n\n.. math:: |a|\n   + |b|\n\nParameters\n----------\n"
        "x\n    Some ``x``.\n\nRaises\n------\nValueError\n    If not.\n\nExamples\n--------\n"
        ">>> {'|': `1`}\n|\n"
    )
    assert reference.mended(doc).rstrip() == doc.rstrip()
    assert reference.mended(reference.mended(doc)) == reference.mended(doc)


def test_prose_after_parameters_is_not_a_parameter() -> None:
    listed = "Parameters\n----------\nx\n    An x."
    doc = f"S.\n\n{listed}\n\nIt is so.\n\nRaises\n------\nValueError\n    If."
    body = reference._body(doc, "lowdim.seeds", SURFACE)
    assert [line for line in body if line.startswith(":param")] == [":param x: An x."]
    assert "It is so." in body and ":raises ValueError: If." in body
