"""The linter of chapters: it finds what it should, where it is, and touches nothing but code."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import jupytext
import pytest

ROOT = Path(__file__).resolve().parents[2]
CHAPTERS = sorted(p for p in (ROOT / "notebooks").glob("*/*.md") if p.parent.name != "course")


def load(name: str) -> ModuleType:
    """A script of tools/ as a module."""
    spec = importlib.util.spec_from_file_location(f"tools_{name}", ROOT / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


tool = load("chapters")

CHAPTER = """\
---
kernelspec: {name: python3, display_name: Python 3}
lowdim: {claims: [preserve.theorem-9-1]}
---
# A title
```python
this_is = no.cell
```
```{code-cell} python
---
tags: [hide-input]
---
import math

import numpy as np

base = 2
```
Words, `code`, and <b>tags</b>.
```{code-cell} python
:tags: [parameters]
trials = 10    # by hand;   1 or more
seed   = 0     # any integer
```
```{code-cell} python
from fractions import Fraction

total = Fraction(base, trials + seed)
total
```
"""
DIRTY = """\
```{code-cell} python
:tags: [remove-input]
grow = lambda x: x + bas
rows = [lambda: k for k in range(3)]
def later( ): return grow(1)
total
later()
```
"""


class Tree:
    """A folder with chapters."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "notebooks" / "preserve").mkdir(parents=True)

    def write(self, name: str, text: str) -> Path:
        path = self.root / "notebooks" / f"{name}.md"
        path.write_text(text)
        return path

    def run(self, *arguments: str) -> int:
        return tool.main(arguments, root=self.root)


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_cells_are_those_that_jupytext_reads(path: Path) -> None:
    notebook = jupytext.read(path)
    expected = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.code for cell in tool.cells(path.read_text("utf-8"))] == expected


def test_options_in_either_form_are_not_code() -> None:
    assert [cell.code.split("\n")[0] for cell in tool.cells(CHAPTER)] == [
        "import math",
        "trials = 10    # by hand;   1 or more",
        "from fractions import Fraction",
    ]
    assert [cell.by_hand for cell in tool.cells(CHAPTER)] == [False, True, False]


def test_findings_are_told_by_line_of_the_file(tree: Tree, capsys: pytest.CaptureFixture) -> None:
    text = CHAPTER + DIRTY
    tree.write("preserve/weyl", text)
    assert tree.run() == 1
    told = capsys.readouterr().out.splitlines()
    lines = text.splitlines()

    def told_at(line: str) -> set[str]:
        where = f"notebooks/preserve/weyl.md:{lines.index(line) + 1}:"
        return {says.split(" ")[1] for says in told if says.startswith(where)}

    assert told_at("import math") == {"F401"}
    assert told_at("import numpy as np") == {"F401"}
    assert told_at("grow = lambda x: x + bas") == {"E731", "F821", "the"}  # first line of a cell
    assert told_at("rows = [lambda: k for k in range(3)]") == {"B023"}
    assert lines.count("total") == 2
    last = len(lines) - 1 - lines[::-1].index("total")
    assert [says for says in told if f"weyl.md:{last + 1}:1: B018" in says]


def test_what_is_usual_in_a_notebook_is_no_finding(tree: Tree) -> None:
    # names from earlier cells, an import in a later cell, a last expression that is shown, and
    # parameters whose comments are aligned
    used = CHAPTER.replace("total\n```", "print(math.pi, np.pi)\ntotal\n```")
    tree.write("preserve/weyl", used)
    assert tree.run() == 0
    assert tree.run("--fix") == 0
    assert (tree.root / "notebooks/preserve/weyl.md").read_text() == used


def test_a_line_may_have_100_characters(tree: Tree, capsys: pytest.CaptureFixture) -> None:
    for width, passes in ((100, True), (101, False)):
        line = 'x = "{}"'.format("a" * (width - 6))
        assert len(line) == width
        tree.write("preserve/weyl", f"# T\n```{{code-cell}} python\n{line}\n```\n")
        assert (tree.run() == 0) == passes
    assert "weyl.md:3:101: E501" in capsys.readouterr().out


def test_a_cell_that_does_not_parse_is_shown(tree: Tree, capsys: pytest.CaptureFixture) -> None:
    path = tree.write("preserve/weyl", CHAPTER + "```{code-cell} python\nx = (1,\n```\n")
    before = path.read_text()
    assert tree.run("--fix") == 1
    line = before.splitlines().index("x = (1,") + 1
    assert f"weyl.md:{line}:" in capsys.readouterr().out
    assert path.read_text().split("# A title")[0] == before.split("# A title")[0]


def test_repairing_changes_code_and_nothing_else() -> None:
    def outside(text: str) -> str:
        return tool.with_code(text, [""] * len(tool.cells(text)))

    texts = {path.stem: path.read_text("utf-8") for path in CHAPTERS}
    repaired = tool.repair(texts)
    for name, text in texts.items():
        new = repaired[name]
        assert outside(new) == outside(text), name
        old_cells, new_cells = tool.cells(text), tool.cells(new)
        assert [c.code for c in new_cells if c.by_hand] == [c.code for c in old_cells if c.by_hand]
    left = tool.check(repaired)
    assert not [str(finding) for finding in left if "formatted" in finding.says]
    assert tool.repair(repaired) == repaired


def test_named_chapters_alone_are_looked_at(tree: Tree, capsys: pytest.CaptureFixture) -> None:
    good = tree.write("preserve/good", "# T\n```{code-cell} python\nx = 1\n```\n")
    bad = tree.write("preserve/bad", CHAPTER)
    assert tree.run(str(good)) == 0 and tree.run(str(bad)) == 1
    with pytest.raises(SystemExit, match="no chapter"):
        tree.run(str(tree.root / "notebooks" / "preserve"))


def test_assignments_are_left_alone(tmp_path: Path) -> None:
    for part in ("course", "preserve"):
        (tmp_path / "notebooks" / part).mkdir(parents=True)
        (tmp_path / "notebooks" / part / "one.md").write_text(CHAPTER)
    assert tool.chosen(tmp_path, []) == ["preserve/one"]
