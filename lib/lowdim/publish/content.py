"""What decides a run, by content: the chapter's code, its parameters, and what it imports.

Two states of the book in which a chapter has the same :func:`key` give the same run of it. Python
is compared without comments and formatting, the library without its docstrings too. Of the
library a chapter depends on the modules that its cells import, on those that these import (inside
functions as well), on the packages on the way, and on the data files that they name. Nothing is
imported to find that out.
"""

from __future__ import annotations

import ast
import fnmatch
import hashlib
import json
import platform
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lowdim.publish.records import write_atomically
from lowdim.publish.source import code_cells

PACKAGE = "lowdim"
FORMAT = "lowdim-run/1"
OBEYED = ("parameters", "raises-exception", "skip-execution")
"""The tags of a cell that decide how it is run; all other metadata only say how it is shown."""
MEMORY = Path("_build", "runs-by-content", "sources.json")
REMEMBERED = 2000  # files; an entry has a few hundred bytes
PUBLISHING = f"{PACKAGE}.publish"
ALL, BELOW = "*", "**"  # in place of a name: what lies in a package, at any depth

Import = tuple[int, str, tuple[str, ...]]
"""Dots in front, the module, the names taken from it: ``from ..a import b`` is (2, "a", ("b",))."""


@dataclass(frozen=True)
class Source:
    """A module or a chapter's code, read but not run.

    ``digest`` is the same for two texts that differ in comments or formatting only, ``imports``
    are those that may concern the package, ``files`` the strings that look like names of files.
    """

    digest: str
    imports: tuple[Import, ...]
    files: tuple[str, ...]


@dataclass
class Library:
    """The package as it is on disk now; files are read when they are first asked for."""

    folder: Path
    modules: dict[str, Path] = field(init=False)
    data: list[Path] = field(init=False)
    _read: dict[str, Source] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.modules, self.data = {}, []
        for path in sorted(self.folder.rglob("*")):
            inside = path.relative_to(self.folder)
            if path.suffix == ".py":
                parts = [PACKAGE, *inside.with_suffix("").parts]
                name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
                self.modules[name] = path
            elif path.is_file() and "__pycache__" not in inside.parts:
                self.data.append(path)

    @classmethod
    def of(cls, root: Path) -> Library:
        """The library that the chapters of this book import: its own, else the installed one."""
        own = root / "lib" / PACKAGE
        return cls(own if own.is_dir() else Path(__file__).resolve().parents[1])

    def source(self, module: str) -> Source:
        """What is known of a module."""
        if module not in self._read:
            self._read[module] = read_module(self.modules[module].read_bytes())
        return self._read[module]

    def closure(self, imports: Iterable[Import], *, package: str = "") -> set[str]:
        """Every module that these imports bring in, directly or through others.

        Names that are not the library's are passed over. ``package`` is where the imports stand,
        for relative ones.
        """
        found: set[str] = set()
        waiting = list(self._named(imports, package))
        while waiting:
            module = waiting.pop()
            if module not in found:
                found.add(module)
                waiting.extend(self._named(self.source(module).imports, self._package(module)))
        return found

    def files(self, module: str) -> set[Path]:
        """The data files of the package that a module names, or lie beside it and fit a pattern."""
        beside = self.modules[module].parent
        found = set()
        for said in self.source(module).files:
            name = said.rpartition("/")[2]
            for path in self.data:
                fits = fnmatch.fnmatchcase(path.name, name) or (
                    name.startswith(".") and path.name.endswith(name)
                )
                if path.name == name or (fits and path.is_relative_to(beside)):
                    found.add(path)
        return found

    def digests(self, imports: Iterable[Import]) -> dict[str, str]:
        """The digest of everything that decides what these imports bring in, by name."""
        modules = self.closure(imports)
        files = set().union(*map(self.files, modules))
        read = {f"{file.parent.name}/{file.name}": _sha(file.read_bytes()) for file in files}
        return {module: self.source(module).digest for module in modules} | read

    def _package(self, module: str) -> str:
        inside = self.modules[module].name == "__init__.py"
        return module if inside else module.rpartition(".")[0]

    def _named(self, imports: Iterable[Import], package: str) -> Iterator[str]:
        for level, module, names in imports:
            if level:
                above = package.split(".")[: len(package.split(".")) - level + 1]
                module = ".".join([*above, *filter(None, [module])])
            parts = module.split(".")
            for end in range(1, len(parts) + 1):
                if (name := ".".join(parts[:end])) in self.modules:
                    yield name
            for name in names:
                if name in (ALL, BELOW):
                    yield from self._inside(module, deep=name == BELOW)
                elif (full := f"{module}.{name}") in self.modules:
                    yield full

    def _inside(self, package: str, *, deep: bool) -> Iterator[str]:
        for name in self.modules:
            rest = name.removeprefix(f"{package}.")
            # What makes the book is no part of what it shows, unless it is named.
            if rest != name and (deep or "." not in rest) and not name.startswith(PUBLISHING):
                yield name


def chapter_path(root: Path, chapter: str) -> Path:
    """Where the source of ``part/chapter`` is.

    Examples
    --------
    >>> chapter_path(Path("book"), "preserve/depth").as_posix()
    'book/notebooks/preserve/depth.md'
    """
    return root / "notebooks" / f"{chapter}.md"


def key(
    root: Path,
    chapter: str,
    values: Mapping[str, Any] | None = None,
    *,
    library: Library | None = None,
) -> str:
    """The name of the chapter's run with ``values`` in place of its defaults, as things are now.

    64 hexadecimal digits. ``library`` saves looking for the package's files again when many keys
    are wanted at once. FileNotFoundError if there is no such chapter.
    """
    return keys(root, chapter, library=library)(values or {})


def keys(
    root: Path, chapter: str, *, library: Library | None = None
) -> Callable[[Mapping[str, Any]], str]:
    """Gives runs of one chapter their :func:`key` by their values: for when there are many."""
    library = library or Library.of(root)
    _recall(root)
    code = read_chapter_code(chapter_path(root, chapter).read_bytes())
    parts = {
        "format": FORMAT,
        "python": platform.python_version(),
        "pins": _digests(root.glob("requirements.lock")),
        "code": code.digest,
        "library": library.digests(code.imports),
        "records": _digests((root / "book" / "records").glob(f"{chapter}.*.json")),
    }
    return lambda values: _sha(
        json.dumps(parts | {"parameters": dict(values)}, sort_keys=True).encode()
    )


def read_module(raw: bytes) -> Source:
    """What is known of a module of the library from its text; docstrings do not count.

    >>> read_module(b"def f():\\n  'Doc.'\\n  return 1") == read_module(b"def f(): return 1  # 1")
    True
    >>> read_module(b"from lowdim.nets import networks").imports
    ((0, 'lowdim.nets', ('networks',)),)
    """
    return _known("module", raw, _module)


def read_chapter_code(raw: bytes) -> Source:
    """What is known of a chapter's code cells, all in one; its prose does not count."""
    return _known("chapter", raw, _chapter)


def remember(root: Path) -> None:
    """Write down what was read, so that the next process need not parse it again."""
    if len(_sources) > _recalled.get(root, 0):
        newest = list(_sources.items())[-REMEMBERED:]
        text = {name: [s.digest, s.imports, s.files] for name, s in newest}
        write_atomically(root / MEMORY, json.dumps({"reader": _reader(), "sources": text}))
        _recalled[root] = len(_sources)


_sources: dict[str, Source] = {}
_recalled: dict[Path, int] = {}  # by book, how many sources its memory file had


def _known(kind: str, raw: bytes, read: Callable[[bytes], Source]) -> Source:
    name = f"{kind} {_sha(raw)}"
    if name not in _sources:
        _sources[name] = read(raw)
    return _sources[name]


def _recall(root: Path) -> None:
    if root in _recalled:
        return
    _recalled[root] = 0
    try:
        document = json.loads((root / MEMORY).read_text(encoding="utf-8"))
        if document["reader"] != _reader():
            return
        for name, (digest, imports, files) in document["sources"].items():
            taken = tuple((level, module, tuple(names)) for level, module, names in imports)
            _sources.setdefault(name, Source(digest, taken, tuple(files)))
    except (OSError, ValueError, KeyError, TypeError):
        return  # absent or damaged: everything is read from its source
    _recalled[root] = len(_sources)


def _reader() -> str:
    """Names the way in which sources are read: another Python dumps other trees."""
    return _sha(Path(__file__).read_bytes() + platform.python_version().encode())


def _module(raw: bytes) -> Source:
    try:
        tree = ast.parse(raw)
    except (SyntaxError, ValueError):  # importing it fails, which the run will say
        return Source(_sha(raw), (), ())
    imports, files = _scan(tree, strip=b"__doc__" not in raw)
    return Source(_sha(ast.dump(tree).encode()), imports, files)


def _chapter(raw: bytes) -> Source:
    told: list[Any] = []
    imports: set[Import] = set()
    for cell in code_cells(raw.decode("utf-8")):
        code, found = _cell(cell.source)
        told.append([sorted(set(cell.tags) & set(OBEYED)), code])
        imports.update(found)
    return Source(_sha(json.dumps(told).encode()), tuple(sorted(imports)), ())


def _cell(text: str) -> tuple[list[Any], tuple[Import, ...]]:
    # Lines of IPython's own are no Python, but the imports beside them count.
    plain = re.sub(r"^\s*[%!].*$", "", text, flags=re.MULTILINE)
    flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    try:
        tree = compile(plain, "<cell>", "exec", flags=flags, dont_inherit=True)
    except (SyntaxError, ValueError):
        return [text], ()
    # Not stripped: a string that ends a cell is shown.
    imports = _scan(tree, strip=False)[0] if "import" in text else ()
    if plain != text:
        return [text], imports
    return [ast.dump(tree), _is_quiet(text, tree)], imports


def _is_quiet(text: str, tree: ast.Module) -> bool:
    """Whether a semicolon at its end keeps a cell from showing its last value."""
    if not tree.body:
        return False
    last = tree.body[-1]
    line = text.splitlines()[(last.end_lineno or last.lineno) - 1].encode("utf-8")
    return line[last.end_col_offset :].lstrip().startswith(b";")


def _scan(tree: ast.Module, *, strip: bool) -> tuple[tuple[Import, ...], tuple[str, ...]]:
    """The imports that may be the package's and the names of files; docstrings are taken out."""
    imports: set[Import] = set()
    files: set[str] = set()
    waiting: list[ast.AST] = [tree]
    while waiting:
        node: Any = waiting.pop()
        if strip and isinstance(getattr(node, "body", None), list):
            node.body = [child for child in node.body if not _is_text(child)] or [ast.Pass()]
        if isinstance(node, ast.If) and _name(node.test) == "TYPE_CHECKING":
            waiting.extend(node.orelse)  # the rest is never executed
            continue
        if isinstance(node, ast.Import):
            imports.update((0, alias.name, ()) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names = tuple(alias.name for alias in node.names)
            imports.add((node.level, node.module or "", names))
        elif isinstance(node, ast.Call):
            imports.update(_called(node))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if re.fullmatch(r"[^\s]*\.\w{1,8}", node.value):
                files.add(node.value)
        waiting.extend(ast.iter_child_nodes(node))
    ours = (i for i in imports if i[0] or i[1].partition(".")[0] == PACKAGE)
    return tuple(sorted(ours)), tuple(sorted(files))


def _is_text(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _name(node: ast.expr) -> str:
    """``b`` of ``a.b`` and of ``b``."""
    return getattr(node, "attr", getattr(node, "id", ""))


def _called(node: ast.Call) -> Iterator[Import]:
    """What ``import_module`` and ``__import__`` bring in; the whole library if computed."""
    if _name(node.func) not in ("import_module", "__import__"):
        return
    first = node.args[0] if node.args else None
    if isinstance(first, ast.Constant) and isinstance(first.value, str):
        module = first.value.lstrip(".")
        yield len(first.value) - len(module), module, ()
    else:
        yield 0, PACKAGE, (BELOW,)


def _digests(paths: Iterable[Path]) -> dict[str, str]:
    """The digests of files, byte for byte."""
    return {path.name: _sha(path.read_bytes()) for path in paths}


def _sha(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()
