"""The chapters of the book: where they are, what they claim, what parameters they take.

A chapter is ``notebooks/<part>/<chapter>.md``, a MyST text notebook, and is called
``part/chapter``. It is read here without any notebook library, so that ``lowdim chapters`` and
every usage error answer at once.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from lowdim.publish import words
from lowdim.publish.parameters import Parameter, UsageError, check, check_all, parse_cell
from lowdim.publish.source import Cell, code_cells, first_heading

__all__ = [
    "Cell",
    "Chapter",
    "Parameter",
    "UsageError",
    "check",
    "chosen_values",
    "code_cells",
    "discover",
    "find_root",
    "load",
    "load_all",
    "load_presets",
    "resolve",
]

PRESETS = "notebooks/presets.yml"
COURSE = "course"  # a folder of assignments, which are no chapters


@dataclass(frozen=True)
class Chapter:
    """What is known of a chapter without running it."""

    name: str
    path: Path
    title: str
    claims: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    presets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def part(self) -> str:
        """The folder, `preserve` in `preserve/lemma_4_1`."""
        return self.name.partition("/")[0]

    @property
    def stem(self) -> str:
        """The file's name, `lemma_4_1` in `preserve/lemma_4_1`."""
        return self.name.partition("/")[2]

    @property
    def defaults(self) -> dict[str, Any]:
        """Parameter name to default."""
        return {parameter.name: parameter.default for parameter in self.parameters}


def find_root() -> Path:
    """The book's folder: $LOWDIM_ROOT, else the nearest one upwards from here, else the package's.

    Raises `UsageError` if none of them has `_toc.yml` and `notebooks/`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Path(folder, "notebooks").mkdir()
    ...     _ = Path(folder, "_toc.yml").write_text("format: jb-book")
    ...     before = os.environ.get("LOWDIM_ROOT")
    ...     os.environ["LOWDIM_ROOT"] = folder
    ...     found = find_root() == Path(folder).resolve()
    ...     _ = os.environ.pop("LOWDIM_ROOT") if before is None else None
    ...     os.environ.update({"LOWDIM_ROOT": before} if before else {})
    >>> found
    True
    """
    given = os.environ.get("LOWDIM_ROOT")
    if given:
        candidates = [Path(given).expanduser().resolve()]
    else:
        here = Path.cwd().resolve()
        candidates = [here, *here.parents, Path(__file__).resolve().parents[3]]
    for folder in candidates:
        if (folder / "_toc.yml").is_file() and (folder / "notebooks").is_dir():
            return folder
    where = f"LOWDIM_ROOT={given}" if given else "this folder, those above it and the package's own"
    raise UsageError(
        f"No book found: a folder with _toc.yml and notebooks/ is needed, looked in {where}."
    )


def _toc_names(root: Path) -> list[str]:
    """Chapter names in the order of `_toc.yml`; other files of the toc are passed over."""

    def files(node: Any) -> Iterator[str]:
        if isinstance(node, dict):
            yield from (str(node[key]) for key in ("root", "file") if key in node)
            for key in ("parts", "chapters", "sections", "entries", "subtrees"):
                yield from files(node.get(key))
        elif isinstance(node, list):
            for item in node:
                yield from files(item)

    try:
        toc = yaml.safe_load(_text(root / "_toc.yml", "_toc.yml"))
    except yaml.YAMLError as error:
        raise UsageError(f"_toc.yml is not YAML ({_one_line(error)}).") from None
    if not isinstance(toc, dict):
        raise UsageError("_toc.yml is no table of contents: it needs 'format: jb-book' and 'root'.")
    names = []
    for file in files(toc):
        pieces = Path(file).with_suffix("").parts
        if len(pieces) == 3 and pieces[0] == "notebooks":
            names.append("/".join(pieces[1:]))
    return names


def discover(root: Path | None = None) -> list[str]:
    """Every chapter's name: those of `_toc.yml` in its order, then the others by name.

    Raises `UsageError` if the toc names a chapter that has no file.
    """
    root = root or find_root()
    present = {
        f"{path.parent.name}/{path.stem}": path
        for path in (root / "notebooks").glob("*/*.md")
        if path.parent.name != COURSE and path.is_file()
    }
    listed = list(dict.fromkeys(_toc_names(root)))
    if missing := [name for name in listed if name not in present]:
        raise UsageError(
            f"_toc.yml lists notebooks/{missing[0]}, which is not there; "
            f"chapters are: {', '.join(sorted(present)) or 'none yet'}."
        )
    return listed + sorted(set(present) - set(listed))


def load(name: str, *, root: Path | None = None) -> Chapter:
    """The chapter called `part/chapter`, with its presets checked; `UsageError` if malformed."""
    root = root or find_root()
    path = root / "notebooks" / f"{name}.md"
    where = f"notebooks/{name}.md"
    text = _text(path, where)
    front = re.match(r"^---\n(.*?)\n---\s*\n", text, flags=re.DOTALL)
    try:
        yaml.safe_load(front[1] if front else "")
    except yaml.YAMLError as error:
        raise UsageError(f"{where}: its front matter is not YAML ({_one_line(error)}).") from None
    claims = _stated(text, name, where)
    cells = [cell for cell in code_cells(text) if "parameters" in cell.tags]
    if len(cells) != 1:
        raise UsageError(
            f"{where}: exactly one code cell tagged 'parameters' is expected; found {len(cells)}."
        )
    parameters = parse_cell(cells[0].source, where=where, line=cells[0].line)
    chapter = Chapter(
        name, path, first_heading(text) or path.stem, tuple(claims), tuple(parameters)
    )
    presets = _presets_of(chapter, load_presets(root).get(name, {}))
    return Chapter(name, path, chapter.title, chapter.claims, chapter.parameters, presets)


def _stated(text: str, name: str, where: str) -> list[str]:
    """The claims that a chapter's blocks state."""
    try:
        claims = list(words.read(text, part=name.partition("/")[0], where=where).statements)
    except words.WordsError as problem:
        raise UsageError(str(problem)) from None
    if not claims:
        raise UsageError(
            f"{where} states no claim: label a prf: block with an id such as preserve.theorem-3-1, "
            "or add a block ```{claim} figure-1```."
        )
    return claims


def load_presets(root: Path) -> dict[str, dict[str, dict[str, Any]]]:
    """`notebooks/presets.yml`: chapter → preset → parameter → value; shape checked, values not."""
    path = root / PRESETS
    if not path.is_file():
        return {}
    try:
        presets = yaml.safe_load(_text(path, PRESETS)) or {}
    except yaml.YAMLError as error:
        raise UsageError(f"{PRESETS} is not YAML ({_one_line(error)}).") from None
    shaped = isinstance(presets, dict) and all(
        isinstance(sets, dict) and all(isinstance(values, dict) for values in sets.values())
        for sets in presets.values()
    )
    if not shaped:
        raise UsageError(
            f"{PRESETS} must read 'part/chapter: {{preset: {{parameter: value}}}}' throughout."
        )
    return presets


def _presets_of(chapter: Chapter, presets: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    checked = {}
    for preset, values in presets.items():
        try:
            checked[preset] = check_all(chapter.parameters, values, owner=chapter.stem)
        except UsageError as error:
            raise UsageError(f"{PRESETS}, {chapter.name}, preset '{preset}': {error}") from None
    return checked


def _text(path: Path, where: str) -> str:
    """What a file says; `UsageError` if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise UsageError(f"{where}, line {line}: it is not UTF-8 text.") from None
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise UsageError(f"{where} cannot be read ({why}).") from None


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


def load_all(root: Path | None = None) -> list[Chapter]:
    """Every chapter; also refuses presets of chapters that do not exist."""
    root = root or find_root()
    names = discover(root)
    for name in load_presets(root):
        if name not in names:
            raise UsageError(
                f"{PRESETS} has presets for '{name}'; chapters are: {', '.join(names)}."
            )
    return [load(name, root=root) for name in names]


def resolve(name: str, *, root: Path | None = None) -> Chapter:
    """The chapter that `name` means: `part/chapter`, or a bare name that is unique.

    Hyphens and underscores are the same, so `theorem-3-1` works. Otherwise a `UsageError`
    that lists the choices, the nearest first.
    """
    root = root or find_root()
    names = discover(root)
    asked = name.strip().removesuffix(".md").removeprefix("notebooks/").lower().replace("-", "_")
    found = [full for full in names if asked in (full.replace("-", "_"), _bare(full))]
    if len(found) == 1:
        return load(found[0], root=root)
    if found:
        raise UsageError(f"'{name}' is the name of several chapters: {', '.join(found)}.")
    by_likeness = sorted(
        names,
        key=lambda full: max(
            difflib.SequenceMatcher(None, asked, candidate).ratio()
            for candidate in (full, _bare(full))
        ),
        reverse=True,
    )
    raise UsageError(
        f"There is no chapter '{name}'; chapters are: {', '.join(by_likeness) or 'none yet'}."
    )


def _bare(full: str) -> str:
    return full.partition("/")[2].replace("-", "_")


def chosen_values(
    chapter: Chapter, given: Mapping[str, Any], *, preset: str | None = None
) -> dict[str, Any]:
    """What differs from the defaults: the preset's values, overruled by those `given`."""
    if preset is not None and preset not in chapter.presets:
        known = ", ".join(chapter.presets) or "none"
        near = difflib.get_close_matches(preset, chapter.presets, n=1)
        hint = f" (did you mean '{near[0]}'?)" if near else ""
        raise UsageError(f"{chapter.stem} has no preset '{preset}'; it has: {known}{hint}.")
    values = dict(chapter.presets[preset]) if preset else {}
    values.update(check_all(chapter.parameters, given, owner=chapter.stem))
    return values
