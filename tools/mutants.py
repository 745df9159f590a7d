"""Small changes of the library, each put to the tests: which ones does nobody notice?

Run by ``make mutants`` (``N`` changes, drawn from ``SEED``). A change is one operator, sign,
comparison, Boolean or constant of one line. It is put to the tests and examples of its own module
first; only if it survives these, to the other tests that reach the module, those that import it
before those that import what imports it, one file at a time, for ``--patience`` seconds. Tests
that name the changed function come first. Each is tried in a copy of the tree, in a process forked
from one that has loaded torch, with a limit of time; a change that never ends counts as noticed.
Tests that fail are run once without any change, to see who is at fault (not with ``--green``). A
run that is stopped reports what it has tried.
What survives is listed with its place; what changes nothing that matters stands in
``tools/equivalents.yml`` with the reason, and does not count. Tests of whole chapters and of the
built book are left out: they would notice much, late. So are modules and calls that only draw,
whose judge is the eye, and options that say how Python is to check.
"""

from __future__ import annotations

import argparse
import ast
import bisect
import contextlib
import importlib
import inspect
import itertools
import json
import math
import os
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
EQUIVALENT = Path("tools", "equivalents.yml")
OPERATORS: dict[type[ast.AST], tuple[str, str]] = {
    ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "/"), ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"), ast.Mod: ("%", "*"), ast.Pow: ("**", "*"),
    ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="), ast.NotEq: ("!=", "=="), ast.And: ("and", "or"), ast.Or: ("or", "and"),
}  # fmt: skip
LEFT_OUT = ("chapters", "book")  # folders of tests that run or read whole chapters
STOPPED = threading.Event()
DRAWN = re.compile(r"pictures$|portraits|^plots$|^_?drawing$|cover$|^moving_")
PENS = ("ax", "axes", "axis", "fig", "figure", "panel")
HEAVY = (
    "IPython.display", "hypothesis", "matplotlib.pyplot", "nbformat", "numpy", "pytest",
    "scipy.linalg", "scipy.optimize", "scipy.stats", "sklearn.linear_model", "sympy", "torch",
    "torch._dynamo", "yaml",
)  # fmt: skip
ROOM = 2  # steps of imports that a test of the same room is taken to be away
CHECKS = ("strict", "frozen", "slots", "kw_only")


@dataclass(frozen=True)
class Change:
    """One change of one line of a file, ``start`` and ``end`` counted in characters of the file."""

    path: str
    line: int
    start: int
    end: int
    old: str
    new: str
    text: str
    """The line as it is, without its indentation."""
    inside: str = ""
    """The function, or the class, that the line stands in."""

    def apply(self, source: str) -> str:
        """The file with the change."""
        return source[: self.start] + self.new + source[self.end :]

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.old} -> {self.new}    {self.text}"


def changes(source: str, path: str = "") -> list[Change]:
    """Every change that a file offers, in order; docstrings, types and messages offer none.

    >>> [(c.old, c.new) for c in changes("def f(x: int | None) -> int:\\n    return -x + 2")]
    [('-', ''), ('+', '-'), ('2', '3')]
    """
    tree = ast.parse(source)
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    lines = source.splitlines()

    def place(line: int, column: int) -> int:
        # ast counts bytes of the line, Python characters
        return starts[line - 1] + len(lines[line - 1].encode()[:column].decode())

    found: list[Change] = []
    blocks = [
        (node.lineno, node.end_lineno or 0, node.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("__")
    ]

    def name(line: int) -> str:
        around = [block for block in blocks if block[0] <= line <= block[1]]
        return max(around)[2] if around else ""

    def add(start: int, end: int, new: str) -> None:
        number = bisect.bisect_right(starts, start)
        text = lines[number - 1].strip()
        found.append(Change(path, number, start, end, source[start:end], new, text, name(number)))

    def between(left: ast.expr, right: ast.expr, kind: type[ast.AST]) -> None:
        if kind not in OPERATORS or left.end_lineno is None or left.end_col_offset is None:
            return
        old, new = OPERATORS[kind]
        start = place(left.end_lineno, left.end_col_offset)
        gap = source[start : place(right.lineno, right.col_offset)]
        bare = re.sub(r"#[^\n]*", lambda comment: " " * len(comment.group()), gap)
        if (at := bare.find(old)) >= 0:
            add(start + at, start + at + len(old), new)

    for node in _walk(tree):
        match node:
            case ast.BinOp(left=left, op=op, right=right):
                between(left, right, type(op))
            case ast.Compare(left=left, ops=ops, comparators=rights):
                for a, op, b in zip([left, *rights], ops, rights, strict=False):
                    between(a, b, type(op))
            case ast.BoolOp(op=op, values=values):
                for a, b in itertools.pairwise(values):
                    between(a, b, type(op))
            case ast.UnaryOp(op=ast.USub()):
                start = place(node.lineno, node.col_offset)
                add(start, start + 1, "")
            case ast.Constant(value=value) if isinstance(value, bool | int | float):
                assert node.end_lineno is not None and node.end_col_offset is not None
                span = (
                    place(node.lineno, node.col_offset),
                    place(node.end_lineno, node.end_col_offset),
                )
                add(*span, _other(value))
    return sorted(set(found), key=lambda change: change.start)


def _walk(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes that compute; not types, texts with values in them, or what is raised."""
    for name, field in ast.iter_fields(tree):
        if name in ("annotation", "returns", "type_params"):
            continue
        for child in field if isinstance(field, list) else [field]:
            if not isinstance(child, ast.AST) or isinstance(child, ast.JoinedStr | ast.Raise):
                continue
            if isinstance(child, ast.keyword) and child.arg in CHECKS:
                continue
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
                continue
            if isinstance(child, ast.Assign) and _is_alias(child):
                continue
            if isinstance(child, ast.Call) and _draws(child):
                continue
            yield child
            yield from _walk(child)


def _is_alias(node: ast.Assign) -> bool:
    """A name for a type, ``Pair = tuple[int, int] | None``."""
    names = [target.id for target in node.targets if isinstance(target, ast.Name)]
    types = isinstance(node.value, ast.BinOp | ast.Subscript)
    return types and bool(names) and all(re.fullmatch(r"[A-Z][a-z]\w*", name) for name in names)


def _draws(node: ast.Call) -> bool:
    """A call of an axis or a figure, ``ax.set(xlim=(0, 1))``."""
    called = node.func
    while isinstance(called, ast.Attribute | ast.Subscript):
        called = called.value
    return isinstance(called, ast.Name) and called.id in PENS and called is not node.func


def _other(value: bool | int | float) -> str:
    if isinstance(value, bool):
        return str(not value)
    if isinstance(value, int):
        return str(value + 1)
    return repr(value * 1.5) if value else "1.0"


def draw(root: Path, number: int, seed: int, only: Sequence[str] = ()) -> list[Change]:
    """``number`` changes of the library, or of those whose ``path:line:`` has one of ``only``."""
    every = [
        change
        for file in sorted((root / "lib").rglob("*.py"))
        if not DRAWN.search(file.stem) or only
        if not only or any(name.partition(":")[0] in file.as_posix() for name in only)
        for change in changes(file.read_text(encoding="utf-8"), file.relative_to(root).as_posix())
        if not only or any(name in f"{change.path}:{change.line}:" for name in only)
    ]
    return random.Random(seed).sample(every, min(number, len(every)))


def own_tests(root: Path, path: str) -> list[str]:
    """The tests of the module itself, and its examples."""
    module = Path(path).relative_to("lib/lowdim")
    name = module.stem.strip("_")
    beside = root / "tests" / module.parent
    found = sorted(beside.glob(f"test_{name}.py")) + sorted(beside.glob(f"test_{name}_*.py"))
    return [path, *(file.relative_to(root).as_posix() for file in found)]


@cache
def _imports(file: Path, root: Path) -> frozenset[str]:
    """The files of the library that a file imports, anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    paths = {f"lib/{name.replace('.', '/')}" for name in found if name.startswith("lowdim")}
    each = {f"{path}{end}" for path in paths for end in (".py", "/__init__.py")}
    return frozenset(path for path in each if (root / path).is_file())


def other_tests(root: Path, path: str) -> list[str]:
    """What is tried on a survivor: tests that reach the module, and those of its room.

    The nearest come first, and among them the smallest.
    """
    importers: dict[str, set[str]] = {}
    for file in (root / "lib").rglob("*.py"):
        for imported in _imports(file, root):
            importers.setdefault(imported, set()).add(file.relative_to(root).as_posix())
    steps, edge = {path: 0}, {path}
    while edge:
        edge = {file for module in edge for file in importers.get(module, ())} - steps.keys()
        steps |= dict.fromkeys(edge, max(steps.values()) + 1)
    mine, found = set(own_tests(root, path)), []
    room = root / "tests" / Path(path).relative_to("lib/lowdim").parts[0]
    for file in sorted((root / "tests").rglob("test_*.py")):
        name = file.relative_to(root).as_posix()
        if name in mine or file.relative_to(root / "tests").parts[0] in LEFT_OUT:
            continue
        text = file.read_text(encoding="utf-8")
        if "mark.browser" in text or "mark.book" in text or "mark.chapter" in text:
            continue
        reached = [steps[module] for module in _imports(file, root) if module in steps]
        if file.is_relative_to(room):  # may import it by its name alone
            reached.append(ROOM)
        if reached:
            found.append((min(reached), len(text), name))
    return [name for *_, name in sorted(found)]


@cache
def _loaded() -> None:
    """What tests import, paid for once."""
    os.environ.setdefault("MPLBACKEND", "agg")
    for name in HEAVY:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    import torch

    torch.set_num_threads(1)


class Nearest:
    """A plugin of pytest: tests that name a function come first."""

    def __init__(self, name: str) -> None:
        self.name = re.compile(rf"\b{re.escape(name)}\b")

    def pytest_collection_modifyitems(self, items: list) -> None:
        """Sort the tests, those that name it first."""
        items.sort(key=lambda item: not self.name.search(self.text(item)))

    @staticmethod
    def text(item: Any) -> str:
        """The name of a test or an example, and the source of a test."""
        try:
            return f"{item.name} {inspect.getsource(item.function)}"
        except (AttributeError, OSError, TypeError):
            return item.name


def attempt(
    tree: Path, tests: Sequence[str], *, seconds: float, name: str = "", keep: bool = False
) -> tuple[str, float]:
    """Run tests in a fork: 'passed', 'failed', 'none' (no test there) or 'time', and how long.

    Seconds are the processor's, so that a busy machine changes no answer; a test that only waits
    is stopped after ten times as many.
    What Python compiles is kept only on demand: it tells an old file from a new one by seconds.
    """
    child = os.fork()
    if child == 0:
        os.setsid()
        whole = math.ceil(seconds)
        resource.setrlimit(resource.RLIMIT_CPU, (whole, whole + 1))
        try:
            nothing = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(nothing, stream)
            os.chdir(tree)
            sys.dont_write_bytecode = not keep
            sys.path[:0] = [str(tree / "lib")]
            # for what tests start; this process has read its own
            os.environ["PYTHONPATH"] = str(tree / "lib")
            if not keep:
                os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
            import pytest

            options = [
                "-x",
                "-q",
                "-p",
                "no:cacheprovider",
                "-p",
                "no:xdist",
                "--hypothesis-seed=0",
            ]
            code = int(pytest.main([*options, *tests], plugins=[Nearest(name)]))
        except BaseException:
            code = 1
        os._exit(code)
    until = time.monotonic() + 10 * seconds
    while not (ended := os.wait4(child, os.WNOHANG))[0]:
        if time.monotonic() > until or STOPPED.is_set():
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return "time", seconds
        time.sleep(0.02)
    code, used = os.waitstatus_to_exitcode(ended[1]), ended[2].ru_utime + ended[2].ru_stime
    late = code in (-signal.SIGXCPU, -signal.SIGKILL) and used >= seconds - 1
    return "time" if late else {0: "passed", 5: "none"}.get(code, "failed"), used


class Bench:
    """A copy of the tree in which one change after another is tried."""

    def __init__(
        self, root: Path, folder: Path, *, slowest: float, patience: float, green: bool
    ) -> None:
        self.tree, self.slowest, self.patience, self.green = folder, slowest, patience, green
        self.fails: dict[tuple[str, ...], bool] = {}
        for name in ("lib", "tests", "tools"):
            shutil.copytree(
                root / name,
                folder / name,
                ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"),
            )
        for path in root.iterdir():
            if path.name not in ("lib", "tests", "tools", ".git", "_build", ".venv"):
                (folder / path.name).symlink_to(path)

    def fail_unchanged(self, tests: list[str]) -> bool:
        """Whether these tests fail without any change; tried once."""
        key = tuple(tests)
        if key not in self.fails and not self.green:
            how, _ = attempt(self.tree, tests, seconds=self.slowest, keep=True)
            self.fails[key] = how != "passed"
        return self.fails.get(key, False)

    def noticed(self, change: Change, tests: list[str]) -> tuple[str, float]:
        """'noticed', 'survived', 'none' (no test there), or why these tests say nothing."""
        path = self.tree / change.path
        source, before = path.read_text(encoding="utf-8"), path.stat()
        try:
            path.write_text(change.apply(source), encoding="utf-8")
            how, took = attempt(self.tree, tests, seconds=self.slowest, name=change.inside)
        finally:
            path.write_text(source, encoding="utf-8")
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        if how in ("failed", "time"):
            fails = self.fail_unchanged(tests)
            return "its tests fail, or take too long, unchanged" if fails else "noticed", took
        return "survived" if how == "passed" else how, took

    def outcome(self, change: Change) -> str:
        """'noticed', 'survived', or why nothing can be said."""
        first, _ = self.noticed(change, own_tests(self.tree, change.path))
        if first not in ("survived", "none"):
            return first
        spent, said = 0.0, first
        for test in other_tests(self.tree, change.path):
            how, took = self.noticed(change, [test])
            spent += took
            if how == "noticed":
                return "noticed"
            said = "survived" if how == "survived" else said
            if spent > self.patience:
                break
        return "no test" if said == "none" else said


def equivalents(root: Path) -> dict[tuple[str, str, str, str], str]:
    """Changes that matter to nobody: file, line, old and new to the reason."""
    import yaml

    file = root / EQUIVALENT
    listed = yaml.safe_load(file.read_text(encoding="utf-8")) if file.is_file() else None
    return {
        (each["path"], each["text"], str(each["old"]), str(each["new"])): each["why"]
        for each in listed or []
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Try changes and list the survivors; 1 if fewer than ``--least`` of them are noticed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("-n", type=int, default=90, help="changes to try")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", default=(), help="parts of path:line:")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--least", type=float, default=0.95, help="share that must be noticed")
    parser.add_argument(
        "--slowest", type=float, default=100.0, help="seconds of the processor for tests"
    )
    parser.add_argument(
        "--patience", type=float, default=60.0, help="the same, for other tests on a survivor"
    )
    parser.add_argument(
        "--green", action="store_true", help="tests are known to pass unchanged: spare that run"
    )
    parser.add_argument("--root", type=Path, default=ROOT)
    parser.add_argument("-o", "--output", type=Path, default=Path("_build", "mutants.json"))
    asked = parser.parse_args(argv)
    if asked.n < 1 or asked.workers < 1:
        print(f"mutants: -n and --workers are 1 or more, not {asked.n} and {asked.workers}.")
        return 2
    drawn = draw(asked.root, asked.n, asked.seed, asked.only)
    if not drawn:
        print(f"mutants: no file of the library has {' or '.join(asked.only)} in its path.")
        return 2
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    found = run(
        asked.root, drawn, known=equivalents(asked.root), workers=asked.workers,
        slowest=asked.slowest, patience=asked.patience, green=asked.green,
    )  # fmt: skip
    sure = ("noticed", "survived", "no test")
    counted = {change: how for change, how in found.items() if how in sure}
    noticed = sum(how == "noticed" for how in counted.values())
    report = {
        "seed": asked.seed, "drawn": len(found), "noticed": noticed, "counted": len(counted),
        "changes": [asdict(change) | {"outcome": how} for change, how in found.items()],
    }  # fmt: skip
    target = asked.root / asked.output
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(report, indent=1), encoding="utf-8")
    for change, how in found.items():
        if how != "noticed":
            print(f"{how}: {change}")
    share = noticed / len(counted) if counted else 0.0
    print(f"{noticed} of {len(counted)} changes were noticed ({share:.1%}), seed {asked.seed}.")
    return int(share < asked.least)


def run(
    root: Path,
    drawn: Sequence[Change],
    *,
    known: dict[tuple[str, str, str, str], str],
    workers: int,
    **options: Any,
) -> dict[Change, str]:
    """What became of each change, in the order in which they were drawn; options of the bench."""
    from tqdm import tqdm

    _loaded()
    outcomes: dict[Change, str] = {}
    waiting = []
    for change in drawn:
        why = known.get((change.path, change.text, change.old, change.new))
        if why is None:
            waiting.append(change)
        else:
            outcomes[change] = f"equivalent ({why})"
    pause = 0.1 if sys.stderr.isatty() else 30.0
    shares = [waiting[k::workers] for k in range(workers)]
    with (
        tempfile.TemporaryDirectory() as folder,
        tqdm(total=len(waiting), unit=" changes", mininterval=pause) as bar,
        ThreadPoolExecutor(workers) as pool,
    ):

        def work(number: int) -> None:
            bench = Bench(root, Path(folder, f"tree{number}"), **options)
            for change in shares[number]:
                how = bench.outcome(change)
                if STOPPED.is_set():
                    return
                outcomes[change] = how
                bar.update()
                if how != "noticed":
                    bar.write(f"{how}: {change}", file=sys.stderr)

        for number in range(workers):
            Path(folder, f"tree{number}").mkdir()
        try:
            list(pool.map(work, range(workers)))
        except KeyboardInterrupt:  # what was tried is reported: a smaller sample
            STOPPED.set()
    return {change: outcomes[change] for change in drawn if change in outcomes}


if __name__ == "__main__":
    sys.exit(main())
