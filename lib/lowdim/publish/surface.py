r"""What the library offers: every public name with its signature, read from the source.

A name is public if its module is, and if it is in the module's ``__all__``, or, without one, if it
is defined there and has no underscore. It has one *entry*: in the public module that defines it,
else in the first public module whose ``__all__`` hands it on. Nothing is imported, so types and
defaults are those that are written: an alias keeps its name, and a constant too.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import zip_longest
from pathlib import Path

from lowdim.publish import rooms

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Entry:
    """A public name of a module, and what its source says of it.

    ``module`` is where it is offered and ``home`` where it is defined. ``kind`` is ``"function"``,
    ``"class"``, ``"exception"``, ``"type"`` (an alias) or ``"data"`` (a constant), and of a member
    ``"method"`` or ``"property"``; ``signature`` is what follows the name, of the two its value.
    """

    module: str
    name: str
    home: str
    kind: str
    doc: str
    signature: str
    members: tuple[Entry, ...] = ()
    decorators: tuple[str, ...] = ()

    @property
    def has_example(self) -> bool:
        """Whether its docstring, or that of a member, has an example that is run."""
        return ">>> " in self.doc or any(member.has_example for member in self.members)


class Surface:
    """The public names of a package; of ``lowdim`` unless ``found`` has another's modules.

    Examples
    --------
    >>> offered = Surface()
    >>> [entry.name for entry in offered.entries("lowdim.evidence.ladder")]
    ['RELATIVE', 'ABSOLUTE', 'Rung', 'Step', 'Ladder', 'plain']
    >>> offered.address("lowdim.linalg._principal.Tracker")
    'lowdim.linalg.subspaces.Tracker'
    """

    def __init__(self, found: Mapping[str, Path] | None = None) -> None:
        self.found = rooms.modules() if found is None else dict(found)
        self._sources = {name: _Source(name, path) for name, path in self.found.items()}
        self._entries: dict[str, list[Entry]] = {}

    def doc(self, module: str) -> str:
        """The docstring of a module, or an empty string."""
        return ast.get_docstring(self._sources[module].tree) or ""

    def entries(self, module: str) -> list[Entry]:
        """The public names of a module, in the order of its source; those it hands on come last.

        Raises
        ------
        ValueError
            If ``__all__`` has a name that the module neither defines nor imports.

        Examples
        --------
        >>> generator, = Surface().entries("lowdim.seeds")
        >>> generator.kind, generator.signature
        ('function', '(seed: int, trial: int, purpose: str, *more: int) -> np.random.Generator')"""
        if module not in self._entries:
            self._entries[module] = self._listed(module)
        return self._entries[module]

    def _listed(self, module: str) -> list[Entry]:
        source = self._sources[module]
        own = [name for name in source.names if source.listed is None or name in source.listed]
        handed_on = sorted(set(source.listed or ()) - set(own))
        missing = [name for name in handed_on if name not in source.imported]
        if missing:
            raise ValueError(f"{module}.__all__ has {', '.join(missing)}, which {module} has not.")
        entries = [self._entry(module, module, name) for name in own]
        for name in handed_on:
            home, _, original = source.imported[name].rpartition(".")
            if home in self._sources:
                entries.append(self._entry(module, home, original))
        return entries

    def resolve(self, word: str, module: str) -> str | None:
        """The dotted name of what ``word`` means in a module; None if it is nothing of ours.

        Examples
        --------
        >>> Surface().resolve("Table", "lowdim.evidence.ladder")
        'lowdim.evidence.tables.Table'
        >>> Surface().resolve("Tensor", "lowdim.evidence.ladder") is None
        True
        """
        if word in self._sources:
            return word
        source = self._sources[module]
        head, _, rest = word.partition(".")
        if head in source.imported:
            word = ".".join(filter(None, [source.imported[head], rest]))
        elif head in source.names or head in source.private:
            word = f"{module}.{word}"
        parts = word.split(".")
        for cut in range(len(parts), 0, -1):
            home, inner = ".".join(parts[:cut]), parts[cut:]
            if home in self._sources:
                return self._within(home, inner)
        return None

    def address(self, dotted: str) -> str | None:
        """Where a dotted name has its entry, or None where it has none.

        Examples
        --------
        >>> Surface().address("lowdim.evidence.ladder.Ladder.check")
        'lowdim.evidence.ladder.Ladder.check'
        >>> Surface().address("lowdim.linalg._krylov.rounding") is None
        True
        """
        return self._addresses.get(dotted)

    @cached_property
    def _addresses(self) -> dict[str, str]:
        """Dotted names as defined, to dotted names as offered."""
        addresses = {name: name for name in self.found if rooms.public(name)}
        for module in list(addresses):
            for entry in self._names(module):
                defined = f"{entry[0]}.{entry[1]}"
                if module == entry[0] or not rooms.public(entry[0]):
                    offered = addresses.setdefault(defined, f"{module}.{entry[1]}")
                    for member in self._sources[entry[0]].members(entry[1]):
                        addresses[f"{defined}.{member.name}"] = f"{offered}.{member.name}"
        return addresses

    def _names(self, module: str) -> Iterator[tuple[str, str]]:
        """Where each public name of a module is defined, and as what."""
        source = self._sources[module]
        for name in source.names if source.listed is None else source.listed:
            if name in source.names:
                yield module, name
            elif name in source.imported:
                home, _, original = source.imported[name].rpartition(".")
                if home in self._sources and original in self._sources[home].names:
                    yield home, original

    def _within(self, home: str, inner: list[str]) -> str | None:
        source = self._sources[home]
        if not inner:
            return home
        if inner[0] in source.imported:
            return self.resolve(".".join([source.imported[inner[0]], *inner[1:]]), home)
        if inner[0] not in source.names and inner[0] not in source.private:
            return None
        if inner[1:] and inner[1] not in source.attributes(inner[0]):
            return None
        return ".".join([home, *inner])

    def _entry(self, module: str, home: str, name: str) -> Entry:
        source = self._sources[home]
        match source.names[name]:
            case ast.FunctionDef() | ast.AsyncFunctionDef() as node:
                return self._function(module, home, node)
            case ast.ClassDef() as node:
                members = tuple(
                    self._function(module, home, each, member=True) for each in source.members(name)
                )
                kind = "exception" if any(map(_raised, node.bases)) else "class"
                doc = ast.get_docstring(node) or ""
                signature = self._call(home, node)
                return Entry(module, name, home, kind, doc, signature, members)
            case ast.expr() as value:
                kind = "data" if name.isupper() else "type"
                return Entry(module, name, home, kind, source.said[name], source.text(value))
        raise ValueError(f"{home}.{name} is not a function, a class or a constant.")

    def _function(self, module: str, home: str, node: Function, *, member: bool = False) -> Entry:
        marks = tuple(ast.unparse(mark).rpartition(".")[2] for mark in node.decorator_list)
        doc = ast.get_docstring(node) or ""
        if not member:
            signature = self._arguments(home, node) + self._result(home, node)
            return Entry(module, node.name, home, "function", doc, signature)
        if {"property", "cached_property"} & set(marks):
            signature = self._result(home, node)
            return Entry(module, node.name, home, "property", doc, signature, (), marks)
        skip = 0 if "staticmethod" in marks else 1
        signature = self._arguments(home, node, skip=skip) + self._result(home, node)
        return Entry(module, node.name, home, "method", doc, signature, (), marks)

    def _call(self, home: str, node: ast.ClassDef) -> str:
        """How a class is called: its ``__init__``, else the fields of a data class or a tuple."""
        for each in node.body:
            if isinstance(each, ast.FunctionDef) and each.name == "__init__":
                return self._arguments(home, each, skip=1)
        marks = [ast.unparse(mark) for mark in node.decorator_list]
        bases = [ast.unparse(base) for base in node.bases]
        if not any("dataclass" in mark for mark in marks) and "NamedTuple" not in bases:
            return ""
        plain: list[str] = []
        named: list[str] = []
        for name, (where, each) in self._fields(home, node).items():
            shown = self._argument(where, name, each.annotation, _default(each.value))
            (named if _by_name(each.value) else plain).append(shown)
        return f"({', '.join([*plain, *['*'][: len(named)], *named])})"

    def _fields(self, home: str, node: ast.ClassDef) -> dict[str, tuple[str, ast.AnnAssign]]:
        """The fields of a data class that are arguments, those of its bases first."""
        found: dict[str, tuple[str, ast.AnnAssign]] = {}
        for base in map(ast.unparse, node.bases):
            source = self._sources[home]
            where, _, name = source.imported.get(base, f"{home}.{base}").rpartition(".")
            above = self._sources[where].names.get(name) if where in self._sources else None
            if isinstance(above, ast.ClassDef):
                found |= self._fields(where, above)
        for each in node.body:
            if not isinstance(each, ast.AnnAssign) or not isinstance(each.target, ast.Name):
                continue
            if "ClassVar" not in ast.unparse(each.annotation) and _given(each.value):
                found[each.target.id] = (home, each)
        return found

    def _arguments(self, home: str, node: Function, *, skip: int = 0) -> str:
        given = node.args
        plain = [*given.posonlyargs, *given.args]
        defaults = [None] * (len(plain) - len(given.defaults)) + list(given.defaults)
        shown = [
            self._argument(home, each.arg, each.annotation, default)
            for each, default in zip(plain, defaults, strict=True)
        ]
        if given.posonlyargs:
            shown.insert(len(given.posonlyargs), "/")
        shown = shown[skip:]
        if given.vararg:
            shown.append("*" + self._argument(home, given.vararg.arg, given.vararg.annotation))
        elif given.kwonlyargs:
            shown.append("*")
        for each, default in zip(given.kwonlyargs, given.kw_defaults, strict=True):
            shown.append(self._argument(home, each.arg, each.annotation, default))
        if given.kwarg:
            shown.append("**" + self._argument(home, given.kwarg.arg, given.kwarg.annotation))
        return f"({', '.join(shown)})"

    def _argument(
        self, home: str, name: str, type_: ast.expr | None, default: ast.expr | None = None
    ) -> str:
        text = name if type_ is None else f"{name}: {self._type(home, type_)}"
        if default is None:
            return text
        value = self._sources[home].text(default)
        return f"{text} = {value}" if type_ is not None else f"{text}={value}"

    def _result(self, home: str, node: Function) -> str:
        return "" if node.returns is None else f" -> {self._type(home, node.returns)}"

    def _type(self, home: str, node: ast.expr) -> str:
        """A type as it is written, but with names in full, so that each can be the right link."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node = ast.parse(node.value, mode="eval").body
        return ast.unparse(_InFull(self, home).visit(node))


class _InFull(ast.NodeTransformer):
    """Types in full, after the sign by which Sphinx knows to show the last word only.

    A bare name would be taken for any class of that name, such as a ``Path`` of ours.
    """

    def __init__(self, surface: Surface, home: str) -> None:
        self.surface, self.home = surface, home

    def visit_Name(self, node: ast.Name) -> ast.expr:
        source = self.surface._sources[self.home]
        dotted = self.surface.resolve(node.id, self.home)
        if dotted is None:
            return ast.Name(f"~{source.imported[node.id]}") if node.id in source.imported else node
        address = self.surface.address(dotted)
        alias = source.names.get(node.id)
        if address is None and isinstance(alias, ast.expr):
            return ast.Name(self.surface._type(self.home, alias))
        return ast.Name(f"~{address or dotted}")

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        dotted = self.surface.resolve(ast.unparse(node), self.home)
        address = self.surface.address(dotted) if dotted else None
        return ast.Name(f"~{address}") if address else node


@dataclass
class _Source:
    """A module as text: what it defines, imports and lists."""

    module: str
    path: Path
    names: dict[str, ast.AST] = field(default_factory=dict)
    private: set[str] = field(default_factory=set)
    imported: dict[str, str] = field(default_factory=dict)
    said: dict[str, str] = field(default_factory=dict)
    listed: list[str] | None = None

    def __post_init__(self) -> None:
        whole = self.path.read_text(encoding="utf-8")
        self.tree = rooms.parsed(whole)
        self.lines = whole.split("\n")
        for node, after in zip_longest(self.tree.body, self.tree.body[1:]):
            match node:
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                    self._define(name, node)
                case ast.ClassDef(name=name):
                    self._define(name, node)
                case ast.ImportFrom() | ast.If():  # the latter for type checkers only
                    self._import(node)
                case ast.Assign(targets=[ast.Name(id="__all__")], value=value):
                    self.listed = list(ast.literal_eval(value))
                case ast.AugAssign(target=ast.Name(id="__all__"), value=value):
                    self.listed = [*(self.listed or []), *ast.literal_eval(value)]
                case (
                    ast.Assign(targets=[ast.Name(id=name)], value=value)
                    | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
                ):
                    self._define(name, value)
                    self.said[name] = _string(after) or _comment(self.lines, node)
                case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=parts)):
                    for each, part in zip(names, parts, strict=False):
                        if isinstance(each, ast.Name):
                            self._define(each.id, part)
                            self.said[each.id] = _comment(self.lines, node)

    def _import(self, node: ast.stmt) -> None:
        for each in ast.walk(node):
            match each:
                case ast.ImportFrom(module=str(home), names=names, level=0):
                    self.imported |= {a.asname or a.name: f"{home}.{a.name}" for a in names}

    def _define(self, name: str, node: ast.AST) -> None:
        if name.startswith("_"):
            self.private.add(name)
        else:
            self.names[name] = node

    def text(self, node: ast.expr) -> str:
        """A value on one line, as it is written."""
        first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        # Columns count bytes. (The function of `ast` for this splits the file again at each call.)
        lines = [line.encode() for line in self.lines[first : last + 1]]
        lines[-1] = lines[-1][: node.end_col_offset]
        lines[0] = lines[0][node.col_offset :]
        return " ".join(b" ".join(lines).decode().split())

    def members(self, name: str) -> list[Function]:
        """The public methods and properties of a class that have a docstring of their own."""
        node = self.names[name]
        if not isinstance(node, ast.ClassDef):
            return []
        return [
            each
            for each in node.body
            if isinstance(each, Function) and not each.name.startswith("_")
            if ast.get_docstring(each)
        ]

    def attributes(self, name: str) -> set[str]:
        """Whatever the body of a class names."""
        body = getattr(self.names.get(name), "body", [])
        named = (each.target for each in body if isinstance(each, ast.AnnAssign))
        fields = {target.id for target in named if isinstance(target, ast.Name)}
        return fields | {each.name for each in body if isinstance(each, Function)}


def _given(value: ast.expr | None) -> bool:
    """Whether a field of a data class is an argument."""
    return value is None or "init=False" not in ast.unparse(value)


def _by_name(value: ast.expr | None) -> bool:
    """Whether a field of a data class is an argument by name only."""
    return value is not None and "kw_only=True" in ast.unparse(value)


def _default(value: ast.expr | None) -> ast.expr | None:
    """The default of a data class's field: what is inside a call of ``field``, if that says it."""
    if isinstance(value, ast.Call) and ast.unparse(value.func).endswith("field"):
        given = {word.arg: word.value for word in value.keywords}
        return given.get("default") or given.get("default_factory")
    return value


def _raised(base: ast.expr) -> bool:
    known = getattr(builtins, ast.unparse(base), None)
    error = isinstance(known, type) and issubclass(known, BaseException)
    return error or ast.unparse(base).endswith("Error")


def _string(node: ast.stmt | None) -> str:
    match node:
        case ast.Expr(value=ast.Constant(value=str(said))):
            return said
    return ""


def _comment(lines: Sequence[str], node: ast.stmt) -> str:
    """The comment beside a statement, else the one right above it; not one that talks to tools."""
    beside = (
        lines[(node.end_lineno or node.lineno) - 1].encode()[node.end_col_offset :].decode().strip()
    )
    if beside.startswith("#") and not beside.startswith(("# fmt:", "# type:", "# noqa")):
        return beside.lstrip("# ")
    said: list[str] = []
    for line in reversed(lines[: node.lineno - 1]):
        if not line.startswith("#"):
            break
        said.insert(0, line.lstrip("# "))
    return " ".join(said)
