"""Lint and format the code of the chapters with ruff, under the same rules as the library.

    python tools/chapters.py                  every chapter
    python tools/chapters.py --fix            the same, repaired where ruff can
    python tools/chapters.py <file> ...       these chapters

ruff reads notebooks, and then sees names across cells, but no MyST files. nbQA and jupytext take it
there by writing the whole file anew: the front matter loses what is ours, options of cells change
their form. So the cells go to ruff as a notebook, findings are told by file and line, and what ruff
repairs goes back into its cell; all other lines of the file stay as they are, byte for byte.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

ROOT = Path(__file__).resolve().parents[1]
CONFIG = Path(__file__).with_name("chapters.toml")
SYNTAX = "invalid-syntax"
COURSE = "course"  # assignments are no chapters: their wrong answers are wrong on purpose


@dataclass(frozen=True)
class Cell:
    """The code of one cell: lines ``start`` to ``stop`` (without it) of its file, from 0."""

    start: int
    stop: int
    code: str
    by_hand: bool  # the comments of the parameters are aligned, for reading


@dataclass(frozen=True, order=True)
class Finding:
    """Something to be said about a line (from 1) of a chapter."""

    chapter: str
    line: int
    column: int
    says: str

    def __str__(self) -> str:
        return f"notebooks/{self.chapter}.md:{self.line}:{self.column}: {self.says}"


@cache
def cells(text: str) -> tuple[Cell, ...]:
    """The code cells of a MyST notebook, in order.

    Examples
    --------
    >>> cells("# Title\\n```{code-cell} python\\n:tags: [hide-input]\\nx = 1\\n```\\n")
    (Cell(start=3, stop=4, code='x = 1', by_hand=False),)
    """
    lines = text.split("\n")
    found = []
    for token in MarkdownIt("commonmark").disable("inline").parse(text):
        if token.type != "fence" or token.level or not token.info.startswith("{code-cell}"):
            continue
        assert token.map is not None  # every block has one
        first, stop = token.map[0] + 1, token.map[1] - 1
        start = first
        if lines[start] == "---":
            start = lines.index("---", start + 1) + 1
        while start < stop and lines[start].startswith(":"):
            start += 1
        by_hand = any("parameters" in line for line in lines[first:start])
        found.append(Cell(start, stop, "\n".join(lines[start:stop]), by_hand))
    return tuple(found)


def with_code(text: str, codes: Sequence[str]) -> str:
    """``text`` with ``codes`` in its cells, except those that are laid out by hand."""
    lines = text.split("\n")
    for cell, code in reversed(list(zip(cells(text), codes, strict=True))):
        if code != cell.code and not cell.by_hand:
            lines[cell.start : cell.stop] = code.split("\n") if code else []
    return "\n".join(lines)


def as_notebook(codes: Iterable[str]) -> str:
    """A notebook of these code cells and no others."""
    empty = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": []}
    made = [{**empty, "id": f"cell-{k}", "source": code} for k, code in enumerate(codes)]
    metadata = {"language_info": {"name": "python"}}
    return json.dumps({"cells": made, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5})


class Copies:
    """Chapters as notebooks in ``folder``, for ruff to read and write."""

    def __init__(self, folder: str, texts: Mapping[str, str]) -> None:
        self.files: dict[Path, str] = {}
        for k, (chapter, text) in enumerate(texts.items()):
            copy = Path(folder, f"{k:03}.ipynb").resolve()
            copy.write_text(as_notebook(cell.code for cell in cells(text)), encoding="utf-8")
            self.files[copy] = chapter

    def check(self, *options: str) -> list[dict[str, Any]]:
        """What ``ruff check`` finds, in its own form, with the name of the chapter."""
        found = json.loads(self._ruff(self.files, "check", "--output-format", "json", *options))
        for item in found:
            item["chapter"] = self.files[Path(item["filename"]).resolve()]
        return found

    def format(self, *, without: set[str]) -> None:
        """``ruff format`` on every chapter but these."""
        files = [copy for copy, chapter in self.files.items() if chapter not in without]
        if files:
            self._ruff(files, "format")

    def codes(self) -> dict[str, list[str]]:
        """The code of the cells of each chapter as it is now."""
        read = {name: json.loads(copy.read_text("utf-8")) for copy, name in self.files.items()}
        return {
            chapter: ["".join(cell["source"]) for cell in notebook["cells"]]
            for chapter, notebook in read.items()
        }

    def _ruff(self, files: Iterable[Path], *arguments: str) -> str:
        options = ["--no-cache", "--config", str(CONFIG)]
        command = [sys.executable, "-m", "ruff", *arguments, *options, *map(str, files)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode not in (0, 1):
            raise SystemExit(done.stderr)
        return done.stdout


def check(texts: Mapping[str, str]) -> list[Finding]:
    """What ruff has to say about chapters: rules, syntax, and layout where they parse."""
    if not texts:
        return []
    with tempfile.TemporaryDirectory() as folder:
        copies = Copies(folder, texts)
        found, broken = [], set()
        for item in copies.check():
            chapter, at = item["chapter"], item["location"]
            if item["code"] == SYNTAX:
                broken.add(chapter)
            line = cells(texts[chapter])[item["cell"] - 1].start + at["row"]
            found.append(Finding(chapter, line, at["column"], f"{item['code']} {item['message']}"))
        copies.format(without=broken)
        codes = copies.codes()
    for chapter, text in texts.items():
        for cell, code in zip(cells(text), codes[chapter], strict=True):
            if code != cell.code and not cell.by_hand:
                found.append(Finding(chapter, cell.start + 1, 1, "the cell is not formatted"))
    return sorted(found)


def repair(texts: Mapping[str, str]) -> dict[str, str]:
    """The chapters with all that ruff repairs without risk, and laid out by it."""
    if not texts:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        copies = Copies(folder, texts)
        left = copies.check("--fix")
        copies.format(without={item["chapter"] for item in left if item["code"] == SYNTAX})
        codes = copies.codes()
    return {chapter: with_code(text, codes[chapter]) for chapter, text in texts.items()}


def chosen(root: Path, files: Sequence[str]) -> list[str]:
    """The names of the chapters in ``files``, or of all; SystemExit if one is no chapter."""
    notebooks = (root / "notebooks").resolve()
    every = [
        str(path.relative_to(notebooks).with_suffix(""))
        for path in notebooks.glob("*/*.md")
        if path.parent.name != COURSE
    ]
    asked = []
    for file in files:
        path = Path(file).resolve()
        name = str(path.relative_to(notebooks).with_suffix("")) if notebooks in path.parents else ""
        if name not in every:
            raise SystemExit(f"{file} is no chapter: give files notebooks/<part>/<chapter>.md.")
        asked.append(name)
    return sorted(asked or every)


def main(arguments: Sequence[str] | None = None, *, root: Path = ROOT) -> int:
    """Say what is to be done about the chapters; 1 if there is something."""
    parser = argparse.ArgumentParser(description="Lint and format the code of chapters with ruff.")
    parser.add_argument("files", nargs="*", help="chapters; all of them by default")
    parser.add_argument("--fix", action="store_true", help="repair what ruff repairs")
    asked = parser.parse_args(arguments)

    names = chosen(root, asked.files)
    path = {name: root / "notebooks" / f"{name}.md" for name in names}
    texts = {name: path[name].read_text(encoding="utf-8") for name in names}
    if asked.fix:
        for name, text in repair(texts).items():
            if text != texts[name]:
                path[name].write_text(text, encoding="utf-8")
                texts[name] = text

    told = [str(finding) for finding in check(texts)]
    if told:
        hint = "" if asked.fix else "; `make format` repairs some of them"
        told.append(f"{len(told)} findings in chapters{hint}.")
        print("\n".join(told))
    return int(bool(told))


if __name__ == "__main__":
    sys.exit(main())
