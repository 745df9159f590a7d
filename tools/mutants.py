"""Small changes of the library, each put to the tests: which ones does nobody notice?

Run by ``make mutants`` (``N`` changes, drawn from ``SEED``). A change is one operator, sign,
comparison, Boolean or constant of one line. It is put to the tests and examples of its own module
first; only if it survives these, to the rest of its room and to the tests that import the module.
Each is tried in a copy of the tree, in a process forked from one that has loaded torch, with a
limit of time; a change that never ends counts as noticed. What survives is listed with its place;
what changes nothing that matters stands in ``tools/equivalents.yml`` with the reason, and does not
count. Tests of whole chapters and of the built book are left out: they would notice much, late. So
are modules that only draw, whose judge is the eye, and options that say how Python is to check.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import itertools
import json
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EQUIVALENT = Path("tools", "equivalents.yml")
OPERATORS: dict[type[ast.AST], tuple[str, str]] = {
    ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "/"), ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"), ast.Mod: ("%", "*"), ast.Pow: ("**", "*"),
    ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="), ast.NotEq: ("!=", "=="), ast.And: ("and", "or"), ast.Or: ("or", "and"),
}  # fmt: skip
LEFT_OUT = ("chapters", "book")  # folders of tests that run or read whole chapters
DRAWN = re.compile(r"pictures$|portraits|^plots$|^_?drawing$|cover$|^moving_")
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

    def add(start: int, end: int, new: str) -> None:
        number = source.count("\n", 0, start) + 1
        text = lines[number - 1].strip()
        found.append(Change(path, number, start, end, source[start:end], new, text))

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
            yield child
            yield from _walk(child)


def _is_alias(node: ast.Assign) -> bool:
    """A name for a type, ``Pair = tuple[int, int] | None``."""
    names = [target.id for target in node.targets if isinstance(target, ast.Name)]
    types = isinstance(node.value, ast.BinOp | ast.Subscript)
    return types and bool(names) and all(re.fullmatch(r"[A-Z][a-z]\w*", name) for name in names)


def _other(value: bool | int | float) -> str:
    if isinstance(value, bool):
        return str(not value)
    if isinstance(value, int):
        return str(value + 1)
    return repr(value * 1.5) if value else "1.0"


def draw(root: Path, number: int, seed: int, only: Sequence[str] = ()) -> list[Change]:
    """``number`` changes of the library, or of those files whose path has one of ``only``."""
    every = [
        change
        for file in sorted((root / "lib").rglob("*.py"))
        if (any(name in file.as_posix() for name in only) if only else not DRAWN.search(file.stem))
        for change in changes(file.read_text(encoding="utf-8"), file.relative_to(root).as_posix())
    ]
    return random.Random(seed).sample(every, min(number, len(every)))


def own_tests(root: Path, path: str) -> list[str]:
    """The tests of the module itself, and its examples."""
    module = Path(path).relative_to("lib/lowdim")
    name = module.stem.strip("_")
    beside = root / "tests" / module.parent
    found = sorted(beside.glob(f"test_{name}.py")) + sorted(beside.glob(f"test_{name}_*.py"))
    return [path, *(file.relative_to(root).as_posix() for file in found)]


def other_tests(root: Path, path: str) -> list[str]:
    """What is tried on a survivor: its room's tests, and those that name the module."""
    module = Path(path).relative_to("lib/lowdim")
    stem = module.stem if module.stem != "__init__" else module.parent.name
    names = re.compile(rf"^\s*(?:from|import) .*\b{re.escape(stem)}\b", re.M)
    mine = set(own_tests(root, path))
    room = root / "tests" / module.parts[0]
    found = []
    for file in sorted((root / "tests").rglob("test_*.py")):
        name = file.relative_to(root).as_posix()
        if name in mine or file.relative_to(root / "tests").parts[0] in LEFT_OUT:
            continue
        text = file.read_text(encoding="utf-8")
        if "mark.browser" in text or "mark.book" in text:
            continue
        if file.is_relative_to(room) or names.search(text):
            found.append(name)
    return found


@cache
def _loaded() -> None:
    """What every test imports, paid for once."""
    for name in ("hypothesis", "numpy", "pytest", "scipy.linalg", "scipy.optimize", "torch"):
        importlib.import_module(name)
    import torch

    torch.set_num_threads(1)


def attempt(tree: Path, tests: Sequence[str], *, seconds: float) -> tuple[str, float]:
    """Run tests in a fork: 'passed', 'failed', 'none' (no test there) or 'time', and how long."""
    begun = time.monotonic()
    child = os.fork()
    if child == 0:
        os.setsid()
        try:
            nothing = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(nothing, stream)
            os.chdir(tree)
            sys.path[:0] = [str(tree / "lib")]
            # for what tests start; this process has read its own
            os.environ["PYTHONPATH"] = str(tree / "lib")
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
            code = int(pytest.main([*options, *tests]))
        except BaseException:
            code = 1
        os._exit(code)
    until = begun + seconds
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        if time.monotonic() > until:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return "time", time.monotonic() - begun
        time.sleep(0.02)
    code = os.waitstatus_to_exitcode(status)
    return {0: "passed", 5: "none"}.get(code, "failed"), time.monotonic() - begun


class Bench:
    """A copy of the tree in which one change after another is tried."""

    def __init__(self, root: Path, folder: Path, slowest: float) -> None:
        self.root, self.tree, self.slowest = root, folder, slowest
        for name in ("lib", "tests", "tools"):
            shutil.copytree(
                root / name,
                folder / name,
                ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"),
            )
        for path in root.iterdir():
            if path.name not in ("lib", "tests", "tools", ".git", "_build", ".venv"):
                (folder / path.name).symlink_to(path)
        self.normal: dict[tuple[str, ...], tuple[str, float]] = {}

    def without(self, tests: list[str]) -> tuple[str, float]:
        """How these tests end without any change, once."""
        if tuple(tests) not in self.normal:
            self.normal[tuple(tests)] = attempt(self.tree, tests, seconds=self.slowest)
        return self.normal[tuple(tests)]

    def outcome(self, change: Change) -> str:
        """'noticed', 'survived', or why nothing can be said."""
        path = self.tree / change.path
        source = path.read_text(encoding="utf-8")
        tried = False
        for tests in (own_tests(self.tree, change.path), other_tests(self.tree, change.path)):
            if not tests:
                continue
            ended, took = self.without(tests)
            if ended == "none":
                continue
            if ended != "passed":
                return f"its tests {'fail' if ended == 'failed' else 'take too long'} unchanged"
            tried = True
            try:
                path.write_text(change.apply(source), encoding="utf-8")
                limit = min(self.slowest, 20 + 5 * took)
                if attempt(self.tree, tests, seconds=limit)[0] != "passed":
                    return "noticed"
            finally:
                path.write_text(source, encoding="utf-8")
        return "survived" if tried else "no test"


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
    parser.add_argument("--only", nargs="*", default=(), help="parts of paths of files")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--least", type=float, default=0.95, help="share that must be noticed")
    parser.add_argument(
        "--slowest", type=float, default=300.0, help="seconds for one set of tests at the most"
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
    known = equivalents(asked.root)
    found = run(asked.root, drawn, known=known, workers=asked.workers, slowest=asked.slowest)
    counted = {change: how for change, how in found.items() if how in ("noticed", "survived")}
    noticed = sum(how == "noticed" for how in counted.values())
    report = {
        "seed": asked.seed, "drawn": len(drawn), "noticed": noticed, "counted": len(counted),
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
    root: Path, drawn: Sequence[Change], *, known: dict, workers: int, slowest: float
) -> dict[Change, str]:
    """What became of each change, in the order in which they were drawn."""
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
    waiting.sort(key=lambda change: change.path)  # so that a file's own tests are timed once
    shares = [waiting[k::workers] for k in range(workers)]
    with (
        tempfile.TemporaryDirectory() as folder,
        tqdm(total=len(waiting), unit=" changes", disable=not sys.stderr.isatty()) as bar,
        ThreadPoolExecutor(workers) as pool,
    ):

        def work(number: int) -> dict[Change, str]:
            bench, mine = Bench(root, Path(folder, f"tree{number}"), slowest), {}
            for change in shares[number]:
                mine[change] = bench.outcome(change)
                bar.update()
                if mine[change] != "noticed":  # told at once: whoever stops it has the list
                    bar.write(f"{mine[change]}: {change}", file=sys.stderr)
            return mine

        for number in range(workers):
            Path(folder, f"tree{number}").mkdir()
        for part in pool.map(work, range(workers)):
            outcomes |= part
    return {change: outcomes[change] for change in drawn}


if __name__ == "__main__":
    sys.exit(main())
