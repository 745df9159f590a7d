"""What decides a run: what must change its key, what must not, and whose key an edit changes."""

from __future__ import annotations

from modulefinder import ModuleFinder
from pathlib import Path
from typing import Any

import pytest
from lowdim.publish import chapters, content, execute

ROOT = chapters.find_root()
SOME = chapters.discover(ROOT)[::7]
NAME = "preserve/weyl"


@pytest.fixture
def write(book: Any) -> Any:
    """Writes files of a small library, which the chapters of the small book import."""
    folder = book.root / "lib" / "lowdim"

    def put(files: dict[str, str]) -> None:
        for name, text in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    put({"__init__.py": ""})
    return put


def key(book: Any, name: str = NAME, values: dict[str, Any] | None = None) -> str:
    return content.key(book.root, name, values)


MODULE = '''"""Says one."""
LIMIT = 3
"""Above it nothing is said."""


def one(x, y=1):
    """Return x + y.

    >>> one(1)
    2
    """
    return x + y  # the sum


class Empty:
    """Has nothing."""
'''
SAME = """# another comment
LIMIT = 3
def one(
    x,
    y = 1,
):
    '''Two doctests now.'''
    return (x
            + y)
class Empty: pass
"""


def test_comments_docstrings_and_formatting_of_the_library_do_not_count(
    book: Any, write: Any
) -> None:
    book.chapter(body="from lowdim import tools")
    write({"tools.py": MODULE})
    before = key(book)
    write({"tools.py": SAME})
    assert key(book) == before
    for changed in (SAME.replace("LIMIT = 3", "LIMIT = 3.0"), SAME.replace("y = 1", "y = 2")):
        write({"tools.py": changed})
        assert key(book) != before
    write({"tools.py": MODULE + "\nprint(one.__doc__)\n"})
    shown = key(book)
    write({"tools.py": MODULE.replace("Return", "Give") + "\nprint(one.__doc__)\n"})
    assert key(book) != shown, "a docstring that is used counts"


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("Nowhere.", "Only in the prose.", True),
        (":tags: [nbval-check-output]", ":tags: [nbval-check-output, hide-input]", True),
        ("doubled = 2 * trials", "doubled = (2*trials)  # twice", True),
        ("instances in each attack; 1 or more", "instances; 2 or more", True),
        ("doubled = 2 * trials", "doubled = 3 * trials", False),
        ("trials = 10 ", "trials = 11 ", False),
        (":tags: [parameters]", ":tags: [other]", False),
    ],
)
def test_of_a_chapter_the_code_counts(book: Any, old: str, new: str, same: bool) -> None:
    path = book.chapter()
    before = key(book)
    assert path.read_text().count(old) == 1
    path.write_text(path.read_text().replace(old, new))
    assert (key(book) == before) is same


def test_what_a_cell_shows_counts(book: Any) -> None:
    def of(body: str) -> str:
        book.chapter(body=body)
        return key(book)

    assert len({of("1 + 1"), of("1 + 1;"), of('"1 + 1"'), of("pass")}) == 4
    assert of("1 + 1 ; # quiet") == of("1 + 1;")
    assert of("%time 1 + 1") != of("%time 1 + 2")
    assert of("this is no Python") != of("this is no Python either")


def test_parameters_pins_and_committed_records_count_too(book: Any, write: Any) -> None:
    book.chapter()
    found = {key(book), key(book, values={"trials": 3}), key(book, values={"trials": 4})}
    (book.root / "requirements.lock").write_text("numpy==2.4.7\n")
    found.add(key(book))
    folder = book.root / "book" / "records" / "preserve"
    folder.mkdir(parents=True)
    (folder / "weyl.paper.json").write_text("{}")
    found.add(key(book))
    (folder / "another.paper.json").write_text("{}")
    assert len(found | {key(book)}) == 5


def closure(book: Any, body: str) -> set[str]:
    book.chapter(body=body)
    raw = content.chapter_path(book.root, NAME).read_bytes()
    return content.Library.of(book.root).closure(content.read_chapter_code(raw).imports)


@pytest.mark.parametrize(
    ("body", "modules"),
    [
        ("import lowdim", "lowdim"),
        ("import numpy as np", ""),
        ("from lowdim.nets import dense", "lowdim lowdim.nets lowdim.nets.dense"),
        ("from lowdim.nets.dense import Dense", "lowdim lowdim.nets lowdim.nets.dense"),
        ("import lowdim.nets.dense as d", "lowdim lowdim.nets lowdim.nets.dense"),
        ("from lowdim.nets import train", "lowdim lowdim.nets lowdim.nets.train lowdim.seeds"),
        ("from lowdim import data", "lowdim lowdim.data lowdim.data.fetch lowdim.seeds"),
        (
            "if False:\n    from lowdim import seeds\nelse:\n    from lowdim.nets import *",
            "lowdim lowdim.nets lowdim.nets.dense lowdim.nets.train lowdim.seeds",
        ),
        (
            "import importlib\nimportlib.import_module('lowdim.nets.dense')",
            "lowdim lowdim.nets lowdim.nets.dense",
        ),
        (
            "import importlib\nfor name in names: importlib.import_module(name)",
            "lowdim lowdim.data lowdim.data.fetch lowdim.nets lowdim.nets.dense "
            "lowdim.nets.train lowdim.seeds",
        ),
        ("from lowdim.publish import pages", "lowdim lowdim.publish lowdim.publish.pages"),
    ],
)
def test_imports_are_followed(book: Any, write: Any, body: str, modules: str) -> None:
    write(
        {
            "seeds.py": "import numpy",
            "nets/__init__.py": "",
            "nets/dense.py": "import typing\nif typing.TYPE_CHECKING:\n    from . import train",
            "nets/train.py": "def lazy():\n    from ..seeds import generator\n",
            "data/__init__.py": "from .fetch import get",
            "data/fetch.py": "from lowdim import seeds",
            "publish/__init__.py": "",
            "publish/pages.py": "",
        }
    )
    assert closure(book, body) == set(modules.split())


@pytest.fixture(scope="module")
def compiled_away(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library, with what only type checkers read in a form that the compiler leaves out."""
    folder = tmp_path_factory.mktemp("lib")
    for path in (ROOT / "lib" / "lowdim").rglob("*.py"):
        copy = folder / path.relative_to(ROOT / "lib")
        copy.parent.mkdir(parents=True, exist_ok=True)
        text = path.read_text(encoding="utf-8")
        copy.write_text(text.replace("if TYPE_CHECKING:", "if False:"), encoding="utf-8")
    return folder


@pytest.mark.parametrize("name", SOME)
def test_the_closure_is_what_modulefinder_finds(
    name: str, compiled_away: Path, tmp_path: Path
) -> None:
    path = content.chapter_path(ROOT, name)
    script = tmp_path / "cells.py"
    cells = chapters.code_cells(path.read_text(encoding="utf-8"))
    script.write_text("\n".join(cell.source for cell in cells), encoding="utf-8")
    finder = ModuleFinder(path=[str(compiled_away)])
    finder.run_script(str(script))
    expected = {module for module in finder.modules if module.partition(".")[0] == "lowdim"}
    imports = content.read_chapter_code(path.read_bytes()).imports
    assert content.Library.of(ROOT).closure(imports) == expected
    assert not [module for module in expected if module.startswith("lowdim.publish")]


@pytest.mark.parametrize("name", SOME)
def test_the_code_that_counts_is_the_code_that_runs(name: str) -> None:
    text = content.chapter_path(ROOT, name).read_text(encoding="utf-8")
    run = [c for c in execute.read_chapter(ROOT, name).cells if c.cell_type == "code"]
    assert [cell.source for cell in chapters.code_cells(text)] == [cell.source for cell in run]


def test_data_files_count_for_those_who_read_them(book: Any, write: Any) -> None:
    book.chapter("preserve/one", body="from lowdim.nets import dense")
    book.chapter("preserve/two", body="from lowdim.nets import train", claim="preserve.lemma-1-2")
    write(
        {
            "nets/__init__.py": "",
            "nets/dense.py": "SIZES = open(HERE / 'sizes.json')\n",
            "nets/train.py": '"""Not those of sizes.json."""\nTABLES = HERE.glob("*.csv")\n',
        }
    )
    folder = book.root / "lib" / "lowdim"
    changed = []
    for path in ("nets/sizes.json", "nets/deep/rates.csv", "elsewhere.csv", "notes.txt"):
        before = key(book, "preserve/one"), key(book, "preserve/two")
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text("1")
        after = key(book, "preserve/one"), key(book, "preserve/two")
        changed.append([b != a for b, a in zip(before, after, strict=True)])
    assert changed == [[True, False], [False, True], [False, False], [False, False]]


def test_sources_are_parsed_once_and_remembered(
    book: Any, write: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    book.chapter(body="from lowdim import tools")
    write({"tools.py": "FIRST = 20471\n"})
    before = key(book)
    content.remember(book.root)
    assert (book.root / content.MEMORY).is_file()

    def forget() -> None:
        monkeypatch.setattr(content, "_sources", {})
        monkeypatch.setattr(content, "_recalled", {})

    forget()
    with monkeypatch.context() as patch:
        for reader in ("_module", "_chapter"):
            patch.setattr(content, reader, lambda raw: pytest.fail("it was parsed again"))
        assert key(book) == before
    for damage in ("", "[]", '{"reader": 1}'):
        forget()
        (book.root / content.MEMORY).write_text(damage)
        assert key(book) == before


def test_a_book_without_a_library_of_its_own_uses_the_installed_one(book: Any) -> None:
    book.chapter(body="from lowdim import seeds")
    assert content.Library.of(book.root).modules["lowdim.seeds"].name == "seeds.py"
    with pytest.raises(FileNotFoundError):
        key(book, "preserve/none")
