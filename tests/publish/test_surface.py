"""What is public, as read from the source, is what Python itself offers."""

from __future__ import annotations

import ast
import builtins
import importlib
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lowdim.publish import rooms
from lowdim.publish.surface import Entry, Surface

SURFACE = Surface()
PUBLIC = [module for module in SURFACE.found if rooms.public(module)]
ENTRIES = [entry for module in PUBLIC for entry in SURFACE.entries(module)]


def _object(entry: Entry) -> Any:
    return getattr(importlib.import_module(entry.module), entry.name)


@pytest.mark.parametrize("module", PUBLIC)
def test_names_are_those_that_the_module_offers(module: str) -> None:
    loaded = importlib.import_module(module)
    listed = getattr(loaded, "__all__", None)
    if listed is None:
        listed = [
            name
            for name, value in vars(loaded).items()
            if not name.startswith("_")
            and (inspect.isfunction(inspect.unwrap(value)) or inspect.isclass(value))
            and value.__module__ == module
        ]
        calls = [e.name for e in SURFACE.entries(module) if e.kind not in ("data", "type")]
        assert sorted(calls) == sorted(listed)
    else:
        assert sorted(e.name for e in SURFACE.entries(module)) == sorted(listed)


def _parameters(signature: inspect.Signature) -> list[tuple[str, Any, bool]]:
    return [(p.name, p.kind, p.default is not p.empty) for p in signature.parameters.values()]


def _read(signature: str) -> inspect.Signature:
    """Our text of a signature, read by Python."""
    scope: dict[str, Any] = {}
    tree = ast.parse(f"def f{signature}: pass")
    for node in ast.walk(tree.body[0].args):
        if isinstance(node, ast.arg):
            node.annotation = None
    tree.body[0].returns = None
    given = tree.body[0].args
    given.defaults = [ast.copy_location(ast.Constant(0), d) for d in given.defaults]
    given.kw_defaults = [d and ast.copy_location(ast.Constant(0), d) for d in given.kw_defaults]
    exec(compile(tree, "signature", "exec"), scope)
    return inspect.signature(scope["f"])


def _same(entry: Entry, function: Callable[..., Any]) -> bool:
    return _parameters(_read(entry.signature)) == _parameters(inspect.signature(function))


def test_signatures_are_those_that_python_sees() -> None:
    wrong = []
    for entry in ENTRIES:
        if entry.kind == "function" and not _same(entry, _object(entry)):
            wrong.append(f"{entry.module}.{entry.name}{entry.signature}")
        if entry.kind == "class" and entry.signature and not _same(entry, _object(entry)):
            wrong.append(f"{entry.module}.{entry.name}{entry.signature}")
        for member in entry.members:
            bound = inspect.getattr_static(_object(entry), member.name)
            if member.kind == "method" and isinstance(bound, classmethod | staticmethod):
                bound = getattr(_object(entry), member.name)
            elif member.kind == "method":
                bound = bound.__get__(object())
            if member.kind == "method" and not _same(member, bound):
                wrong.append(f"{entry.module}.{entry.name}.{member.name}{member.signature}")
            is_property = isinstance(bound, property) or hasattr(bound, "attrname")
            if is_property != (member.kind == "property"):
                wrong.append(f"{entry.module}.{entry.name}.{member.name} is a {member.kind}")
    assert wrong == []


def test_docstrings_and_kinds_are_those_that_python_sees() -> None:
    for entry in ENTRIES:
        found = _object(entry)
        if entry.kind in ("function", "class", "exception"):
            assert inspect.cleandoc(entry.doc) == inspect.getdoc(found), entry.name
            assert entry.home == found.__module__
        raised = inspect.isclass(found) and issubclass(found, BaseException)
        assert (entry.kind == "exception") == raised, entry.name


def test_every_public_name_has_words() -> None:
    silent = [
        f"{entry.module}.{entry.name}"
        for entry in ENTRIES
        if entry.kind not in ("data", "type") and not entry.doc.strip()
    ]
    assert silent + [module for module in PUBLIC if not SURFACE.doc(module)] == []


def test_every_name_has_one_address() -> None:
    addresses = [SURFACE.address(f"{entry.home}.{entry.name}") for entry in ENTRIES]
    assert None not in addresses
    for address in set(addresses):
        module, _, name = address.rpartition(".")
        assert rooms.public(module)
        assert hasattr(importlib.import_module(module), name)


def test_a_type_is_named_so_that_it_is_one_thing_only() -> None:
    """A bare word is built in; a dotted one leads to what it says, and not to its namesake."""
    wrong = set()
    for entry in (each for owner in ENTRIES for each in (owner, *owner.members)):
        if entry.kind in ("data", "type") or not entry.signature:
            continue
        text = entry.signature if "(" in entry.signature else f"(){entry.signature}"
        function = ast.parse(f"def f{text}: pass").body[0]
        given = [node.annotation for node in ast.walk(function.args) if isinstance(node, ast.arg)]
        for type_ in filter(None, [*given, function.returns]):
            for dotted in re.findall(r"~([\w.]+)", ast.unparse(type_)):
                module, _, name = dotted.rpartition(".")
                if not hasattr(importlib.import_module(module), name):
                    wrong.add(dotted)
            rest = re.sub(r"~[\w.]+|'[^']*'", "", ast.unparse(type_))
            bare = re.findall(r"(?<![\w.])[A-Za-z_]\w*(?![\w.])", rest)
            wrong |= {name for name in bare if not hasattr(builtins, name)}
    assert wrong == set()


@pytest.fixture
def house(tmp_path: Path) -> Callable[..., Surface]:
    """A package made of the given modules."""

    def make(**modules: str) -> Surface:
        for name, text in {"__init__": "", **modules}.items():
            path = tmp_path / "house" / f"{name}.py"
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        return Surface(rooms.modules(tmp_path / "house"))

    return make


def test_a_private_module_is_offered_by_the_public_one_that_lists_it(house) -> None:
    made = house(
        _engine="class Run:\n    def go(self):\n        '''Go.'''\n    def _no(self): pass\n",
        train="from house._engine import Run as Run\n__all__ = ['Run']\n",
        more="from house._engine import Run\ndef f(r: Run, *, other: 'Run | None' = None): pass\n",
    )
    assert made.address("house._engine.Run.go") == "house.train.Run.go"
    (entry,) = made.entries("house.more")
    assert entry.signature == "(r: ~house.train.Run, *, other: ~house.train.Run | None = None)"
    (run,) = made.entries("house.train")
    assert [member.name for member in run.members] == ["go"]
    assert made.resolve("Run.go", "house.more") == "house._engine.Run.go"
    assert made.resolve("Run.stay", "house.more") is None


def test_constants_carry_the_comment_beside_above_or_the_words_below(house) -> None:
    made = house(
        sizes=(
            "A = 1  # beside it\n# above\n# it\nB = (\n    2,\n)  # fmt: skip\n"
            "C = 3\n'''Below.'''\nAlias = list[int]\n_D = 4  # hidden\n"
        )
    )
    said = {
        entry.name: (entry.kind, entry.signature, entry.doc)
        for entry in made.entries("house.sizes")
    }
    assert said == {
        "A": ("data", "1", "beside it"),
        "B": ("data", "( 2, )", "above it"),
        "C": ("data", "3", "Below."),
        "Alias": ("type", "list[int]", ""),
    }


def test_a_listed_name_that_is_not_there_is_refused(house) -> None:
    made = house(train="__all__ = ['run']\n")
    with pytest.raises(ValueError, match=r"house.train.__all__ has run, which house.train has not"):
        made.entries("house.train")
