"""The command `lowdim`: list, run and record chapters, the ledger, the book, references, reports.

Exit codes: 0 done; 1 a chapter, a build or a check failed; 2 the request was wrong (one sentence,
nothing run, nothing written); 130 interrupted, 143 ended by a signal. Nothing heavy is imported
before it is needed.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import zipfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NoReturn

import lowdim
from lowdim.publish import chapters
from lowdim.publish.chapters import Chapter, UsageError

LEDGER_FIELDS = (
    "id part kind source verdict tags trials violations tightness seed seconds chapter title "
    "statement evidence"
).split()


class _Parser(argparse.ArgumentParser):
    """argparse, but a mistake is one line."""

    def error(self, message: str) -> NoReturn:
        message = message.partition(" (choose from")[0]
        said = f"{message[0].upper()}{message[1:].rstrip('.')}"
        raise UsageError(f"{said}; '{self.prog}' takes {self.takes()}.")

    def takes(self) -> str:
        """What may be written after the command, in a few words."""
        words: list[str] = []
        for action in self._actions:
            if action.choices:
                words.append(f"one of {', '.join(map(str, action.choices))}")
            else:
                words.append("/".join(action.option_strings) or str(action.metavar))
        return ", ".join(words)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Refuse what is unknown here, where the choices are known, and not further up.

        An unknown option is named first, also where something else is missing.
        """
        words = list(sys.argv[1:] if args is None else args)
        if self._subparsers is not None:  # what comes after a command is the command's
            words = words[: next((i for i, w in enumerate(words) if w[:1] != "-"), len(words))]
        for word in words:
            named = word.partition("=")[0]
            if word.startswith("--") and word != "--" and named not in self._option_string_actions:
                self.error(f"unknown: {named}")
        known, extra = super().parse_known_args(args, namespace)
        if extra:
            self.error(f"unknown: {' '.join(extra)}")
        return known, extra


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code.

    >>> main(["--version"])  # doctest: +ELLIPSIS
    lowdim 0...
    0
    """
    if hasattr(sys.stdout, "reconfigure"):  # a terminal without σ gets a question mark for it
        sys.stdout.reconfigure(errors="replace")
    if argv is None:  # called by a shell: its kill is then as orderly as its Ctrl-C
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        _check_place()
        asked = _parser().parse_args(argv)
        return asked.do(asked)
    except SystemExit as done:  # argparse, after --help and --version
        return int(done.code or 0)
    except UsageError as error:
        print(f"lowdim: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("lowdim: interrupted.", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader, `head` perhaps, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (RuntimeError, ValueError) as error:
        if type(error).__module__.partition(".")[0] != "lowdim":
            raise
        print(f"lowdim: {error}", file=sys.stderr)
        if tail := getattr(error, "tail", ""):
            print(tail, file=sys.stderr)
        return 1


def _check_place() -> None:
    """The folder that a shell stands in may be gone; every path would then be a traceback."""
    try:
        os.getcwd()
    except FileNotFoundError:
        raise UsageError("The working folder is gone; change to another one.") from None


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="lowdim", description="Theorems you can run.", allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"lowdim {lowdim.__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)

    def command(name: str, do: Any, help: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=help, description=help, allow_abbrev=False)
        added.set_defaults(do=do)
        return added

    listing = command("chapters", _chapters, "List chapters: claims, parameters, presets.")
    listing.add_argument("chapter", nargs="?", metavar="CHAPTER", help="only this one")
    run = command("run", _run, "Run a chapter; write its notebook, a page and its record.")
    run.add_argument("chapter", metavar="CHAPTER", help="part/chapter, or a bare unique name")
    run.add_argument(
        "-p",
        "--parameter",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a parameter's value, in place of its default or preset; repeatable",
    )
    run.add_argument("--preset", metavar="NAME", help="a named set of parameters")
    run.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        help="where to write (default: _build/runs/<part>/<chapter> of the book)",
    )
    run.add_argument("--no-page", action="store_true", help="notebook and record only")
    against = command("compare", _compare, "What differs between two runs of a chapter.")
    against.add_argument(
        "run",
        nargs="+",
        metavar="RUN",
        help=(
            "a run's folder, record or notebook; or a chapter's name for the book's own run "
            "(the default for the first of two)"
        ),
    )
    against.add_argument("--json", action="store_true", help="a JSON object on standard output")
    sweep = command("sweep", _sweep, "Run a chapter many times; go on where it stopped.")
    sweep.add_argument("chapter", metavar="CHAPTER", help="part/chapter, or a bare unique name")
    sweep.add_argument(
        "-p",
        "--parameter",
        action="append",
        default=[],
        metavar="NAME=VALUES",
        help="values of a parameter: 0.1,0.5 or 0:20 (lists: 1,2;1,2,4); every combination is run",
    )
    sweep.add_argument("--plan", metavar="FILE", help="a grid (.yml) or rows (.csv) instead")
    sweep.add_argument(
        "-o", "--output", metavar="DIR", help="where (default: _build/sweeps/<part>/<chapter>)"
    )
    sweep.add_argument("--workers", metavar="N", type=int, help="runs at once (default: cores)")
    sweep.add_argument(
        "--scheduler", metavar="ADDRESS", help="a Dask cluster makes the runs: tcp://host:port"
    )
    sweep.add_argument("--keep-notebooks", choices=("none", "failed", "all"), default="failed")
    sweep.add_argument("--limit", metavar="SECONDS", type=float, default=3600.0, help="of one run")
    sweep.add_argument("--retry", action="store_true", help="try again what failed")
    sweep.add_argument("--dry-run", action="store_true", help="the plan and its cost; run nothing")
    sweep.add_argument("--yes", action="store_true", help="begin also with more than 10,000 runs")
    sweep.add_argument(
        "--keep-map",
        metavar="NUMBERS",
        help="of a sweep over two parameters: keep these numbers, and all verdicts, with the book",
    )
    record = command("record", _record, "Run a chapter with a preset; keep its record in the book.")
    record.add_argument("chapter", metavar="CHAPTER", help="part/chapter, or a bare unique name")
    record.add_argument("--preset", metavar="NAME", required=True, help="such as paper")
    ledger = command("ledger", _ledger, "Every claim and what was found, from current runs.")
    ledger.add_argument("--json", action="store_true", help="a JSON list on standard output")
    data = command("data", _data, "List data sets: what is at hand, and where; or fetch one.")
    data.add_argument("action", nargs="?", choices=("list", "fetch"), default="list")
    data.add_argument("name", nargs="?", metavar="NAME", help="the data set to fetch")
    data.add_argument("--split", metavar="SPLIT", help="only the files of this official split")
    command("book", _book, "Build the book into _build/html.")
    served = command("serve", _serve, "Show the book on this machine, and run chapters from it.")
    served.add_argument("--port", metavar="N", type=int, default=8000, help="0 for any free one")
    printed = command("pdf", _pdf, "Print the built book into _build/pdf: chapters, and the whole.")
    printed.add_argument("chapter", nargs="*", metavar="CHAPTER", help="only these (default: all)")
    _course_parsers(command("course", _course, "Assignments: a key, notebooks, grades."))
    report = command("report", _report, "Measure your own network; write a page and its JSON.")
    report.add_argument(
        "model", metavar="FILE.py:FUNCTION", help="makes the model; running the file runs its code"
    )
    report.add_argument("--data", metavar="NAME|FILE.npz", required=True, help="digits, or x and y")
    report.add_argument("--checkpoint", metavar="FILE", help="weights, loaded as weights only")
    report.add_argument("-o", "--output", metavar="DIR", type=Path, required=True)
    report.add_argument("--compare", metavar="DIR", help="another report, shown beside this one")
    report.add_argument("--rank", metavar="R", type=int, help="of row spaces (default: classes)")
    report.add_argument("--seed", metavar="SEED", type=int, default=0)
    refs = command("references", _references, "Refresh what the tests compare chapters with.")
    refs.add_argument("chapter", nargs="*", metavar="CHAPTER", help="only these (default: all)")
    way = refs.add_mutually_exclusive_group()
    way.add_argument("--check", action="store_true", help="tell what differs; write nothing")
    way.add_argument(
        "--widen", action="store_true", help="keep them, with room for this processor's rounding"
    )
    return parser


def _course_parsers(course: argparse.ArgumentParser) -> None:
    """The commands of `lowdim course`."""
    actions = course.add_subparsers(dest="action", metavar="ACTION", required=True)
    words = {
        "key": "Write a new key for a course into a file.",
        "build": "Make notebooks for students and instructors, and autograders.",
        "grade": "Grade a folder or a zip file of submissions in a jail.",
    }
    key, build, grade = (
        actions.add_parser(name, help=said, description=said, allow_abbrev=False)
        for name, said in words.items()
    )
    key.add_argument("file", metavar="FILE", type=Path, help="a new file; keep it to yourself")
    build.add_argument("assignment", metavar="ASSIGNMENT", help="a name, or a source file (.md)")
    formats = "plain, nbgrader or gradescope; repeatable (default: all three)"
    build.add_argument("--format", action="append", metavar="FORMAT", help=formats)
    grade.add_argument("submissions", metavar="SUBMISSIONS", type=Path, help="folder or zip file")
    grade.add_argument("-a", "--assignment", metavar="ASSIGNMENT", required=True)
    grade.add_argument("--jobs", metavar="N", type=int, help="jails at once (default: the cores)")
    grade.add_argument("--seconds", metavar="N", type=int, help="for one attempt (default: 20)")
    for each in (build, grade):
        each.add_argument("--roster", metavar="FILE", type=Path, help="students, one in a line")
        each.add_argument("-o", "--output", metavar="DIR", type=Path, required=True)
        each.add_argument("--key", metavar="FILE", type=Path, default=Path("course.key"))


def _course(asked: argparse.Namespace) -> int:
    from lowdim.course import desk, jail, keys

    progress = sys.stderr.isatty()
    try:
        if asked.action == "key":
            desk.make_key(asked.file)
            print(asked.file)
            return 0
        source = desk.find_assignment(asked.assignment, chapters.find_root)
        if asked.action == "build":
            for path in desk.build(source, asked.key, asked.output, asked.roster, asked.format):
                print(path)
            return 0
        for line in desk.grade(
            source, asked.key, asked.submissions, asked.output,
            roster=asked.roster, jobs=asked.jobs, seconds=asked.seconds, progress=progress,
        ):  # fmt: skip
            print(line)
    except (keys.CourseError, jail.JailMissing) as error:
        raise UsageError(str(error)) from None
    return 0


def _pairs(texts: Sequence[str]) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise UsageError(f"-p wants NAME=VALUE, as in -p seed=1; you gave '{text}'.")
        if name.strip() in pairs:
            raise UsageError(f"-p {name.strip()} was given twice.")
        pairs[name.strip()] = value
    return pairs


def _data(asked: argparse.Namespace) -> int:
    from lowdim.data import images
    from lowdim.data.images.catalogue import CATALOGUE
    from lowdim.evidence.tables import Table

    if asked.action == "list":
        if asked.name or asked.split:
            raise UsageError("'lowdim data list' takes no name; 'lowdim data fetch NAME' does.")
        if images.folder().is_file():
            raise UsageError(
                f"The data folder {images.folder()} is a file; let LOWDIM_DATA name a folder."
            )
        there = images.available()
        for name, kind in there.items():
            packed = images.folder() / f"{name}.npz"
            if kind == "subset" and packed.is_file() and not zipfile.is_zipfile(packed):
                there[name] = "damaged"
        rows = [(name, there.get(name, "-"), entry.licence) for name, entry in CATALOGUE.items()]
        print(f"The data folder is {images.folder()} (LOWDIM_DATA names another).")
        print(Table(("name", "at hand", "licence"), [("digits", "built in", "CC BY 4.0"), *rows]))
        return 0
    names = ", ".join(CATALOGUE)
    if asked.name not in CATALOGUE:
        given = f"'{asked.name}' is not one" if asked.name else "none was given"
        raise UsageError(f"'lowdim data fetch' wants the name of a data set, and {given}: {names}.")
    splits = CATALOGUE[asked.name].splits
    if asked.split is not None and asked.split not in splits:
        raise UsageError(
            f"{asked.name} has no split '{asked.split}'; its splits are: {', '.join(splits)}."
        )
    for path in images.fetch(asked.name, split=asked.split, progress=sys.stderr.isatty()):
        print(path)
    return 0


def _chapters(asked: argparse.Namespace) -> int:
    root = chapters.find_root()
    found = [chapters.resolve(asked.chapter, root=root)] if asked.chapter else None
    print("\n\n".join(describe(chapter) for chapter in found or chapters.load_all(root)))
    return 0


def describe(chapter: Chapter) -> str:
    """A chapter as `lowdim chapters` shows it, as plain text."""
    lines = [chapter.name, f"  {chapter.title}", f"  claims: {', '.join(chapter.claims)}"]
    names = [f"{p.name} = {p.default!r}" for p in chapter.parameters]
    width = max(len(name) for name in names)
    lines.append("  parameters:")
    for name, parameter in zip(names, chapter.parameters, strict=True):
        meaning = f"{parameter.meaning}; " if parameter.meaning else ""
        lines.append(f"    {name.ljust(width)}  {meaning}{parameter.allowed.text}")
    if chapter.presets:
        lines.append("  presets:")
        for preset, values in chapter.presets.items():
            shown = ", ".join(f"{name} = {value!r}" for name, value in values.items())
            lines.append(f"    {preset}: {shown}")
    return "\n".join(lines)


def _run(asked: argparse.Namespace) -> int:
    chapter = chapters.resolve(asked.chapter)
    values = chapters.chosen_values(chapter, _pairs(asked.parameter), preset=asked.preset)
    if asked.output is not None and not asked.output.strip():
        raise UsageError("-o wants the name of a folder, and was given an empty one.")
    from lowdim.publish import running

    made = running.run(
        chapter,
        values,
        output_dir=Path(asked.output) if asked.output else None,
        preset=asked.preset,
        page=not asked.no_page,
        progress=True,
    )
    from lowdim.publish.comparison import verdict_of

    for claim in made.record["claims"]:
        print(f"{claim['id']}: {verdict_of(claim)}")
    for path in filter(None, (made.notebook, made.page, made.record_path)):
        print(path)
    return 0


def _sweep(asked: argparse.Namespace) -> int:
    chapter = chapters.resolve(asked.chapter)
    from lowdim.publish.sweeps import plan

    if asked.plan is not None and asked.parameter:
        raise UsageError("Give -p or --plan, not both.")
    if asked.workers is not None and asked.workers < 1:
        raise UsageError(f"--workers must be 1 or more; you gave {asked.workers}.")
    if asked.workers is not None and asked.scheduler is not None:
        raise UsageError("Give --workers or --scheduler, not both: a cluster has its own.")
    if not asked.limit > 0:
        raise UsageError(f"--limit must be above 0; you gave {asked.limit:g}.")
    if asked.output is not None and not asked.output.strip():
        raise UsageError("-o wants the name of a folder, and was given an empty one.")
    runs = (
        plan.from_file(chapter, Path(asked.plan))
        if asked.plan is not None
        else plan.grid(chapter, _pairs(asked.parameter))
    )
    from lowdim.publish import execute, running
    from lowdim.publish.sweeps import coordinator, pools

    where = running.book_root(chapter) / "_build" / "sweeps" / chapter.name
    folder = (Path(asked.output) if asked.output else where).expanduser().resolve()
    running.check_output(folder)
    numbers = None if asked.keep_map is None else _map_numbers(asked.keep_map, chapter, runs)
    for name in sorted({str(values.get(running.DATA, "")) for values in runs} - {""}):
        running.check_data(chapter, {running.DATA: name})
    planned = coordinator.plan(chapter, runs, folder, retry=asked.retry)
    if len(planned.todo) > plan.MANY and not (asked.yes or asked.dry_run):
        raise UsageError(
            f"This would be {len(planned.todo):,} runs: see what they cost with --dry-run, and add "
            "--yes to begin."
        )
    with ExitStack() as during:
        pool: pools.Pool
        if asked.scheduler is None:
            cores = asked.workers or execute.cores()
            pool = pools.Local(cores)
        else:
            from lowdim.publish.sweeps import clusters

            pool = during.enter_context(clusters.connected(asked.scheduler, chapter))
            cores = pool.threads()
        if asked.dry_run:
            print(planned.describe(cores))
            return 0
        try:
            found = coordinator.sweep(
                planned,
                folder,
                pool=pool,
                keep=asked.keep_notebooks,
                limit=asked.limit,
                progress=True,
            )
        except KeyboardInterrupt:
            print("The same command goes on where this one stopped.", file=sys.stderr)
            raise
    print(
        f"{found.done:,} done, {found.failed:,} failed, {found.stale:,} of an earlier state; "
        f"a verdict is not the book's in {found.differ:,}"
    )
    print(found.table)
    print(found.page)
    if numbers is not None:
        print(_keep_map(planned, folder, runs, numbers))
    return 1 if found.failed else 0


def _map_numbers(text: str, chapter: Chapter, runs: Sequence[dict[str, Any]]) -> list[str]:
    """The numbers of a map that can be made of these runs, as far as that is known before them."""
    from lowdim.publish import comparison, maps, running

    root = running.book_root(chapter)
    maps.axes(chapter, runs)
    running.check_output(maps.path_of(root, chapter.name).parent)
    return maps.numbers_of(text, record=comparison.of_book(root, chapter.name))


def _keep_map(planned: Any, folder: Path, runs: Sequence[Any], numbers: Sequence[str]) -> Path:
    """Keep the map of a sweep that has ended."""
    from lowdim.publish import maps, running
    from lowdim.publish.sweeps import shelf

    with shelf.Shelf(folder, planned.chapter.name) as kept:
        rows = list(kept.rows(planned.runs))
    chapter = planned.chapter
    return maps.write(running.book_root(chapter), maps.make(chapter, runs, rows, numbers))


def _compare(asked: argparse.Namespace) -> int:
    from lowdim.publish import comparison

    if len(asked.run) > 2:
        raise UsageError(f"'lowdim compare' takes one or two runs; you gave {len(asked.run)}.")
    found = [_run_named(name) for name in asked.run]
    names = list(asked.run)
    if len(found) == 1:
        found.insert(0, _run_named(found[0]["chapter"], book=True))
        names.insert(0, "book")
    told = comparison.compare(*found)
    write = comparison.as_json if asked.json else comparison.as_text
    print(write(told, (names[0], names[1])))
    return 0


def _run_named(name: str, *, book: bool = False) -> dict[str, Any]:
    """The record of a run on disk, or of the book's own run where ``name`` is a chapter's."""
    from lowdim.publish import comparison

    if not book and (Path(name).exists() or Path(name).suffix in (".json", ".ipynb")):
        return comparison.record_at(Path(name))
    try:
        chapter = chapters.resolve(name)
    except UsageError:
        return comparison.record_at(Path(name))
    found = comparison.of_book(chapters.find_root(), chapter.name)
    if found is None:
        raise UsageError(
            f"The book has no current run of {chapter.name} to compare with: make book makes it."
        )
    return found


def _record(asked: argparse.Namespace) -> int:
    chapter = chapters.resolve(asked.chapter)
    values = chapters.chosen_values(chapter, {}, preset=asked.preset)
    from lowdim.publish import records, running

    folder = running.book_root(chapter) / "book" / "records" / chapter.part
    running.check_output(folder)
    running.check_data(chapter, values)
    _, record = running.execute_recorded(
        chapter, values, preset=asked.preset, progress=sys.stderr.isatty()
    )
    print(records.write(record, folder / f"{chapter.stem}.{asked.preset}.json"))
    return 0


def _ledger(asked: argparse.Namespace) -> int:
    root = chapters.find_root()
    chapters.load_all(root)  # what is malformed is answered before anything runs
    from lowdim.publish import execute, running

    running.check_output(root / "_build")

    executed = execute.execute_all(root, progress=sys.stderr.isatty())
    from lowdim.publish import words
    from lowdim.publish.pages import joined

    rows = ledger_rows(joined(root, execute.collect(root, executed)))
    bibliography = (root / "book" / "references.bib").read_text(encoding="utf-8")
    for row in rows:  # a terminal has no bibliography
        row["source"] = words.cited(row["source"], bibliography)
    if asked.json:
        print(json.dumps(rows, indent=2, ensure_ascii=False))
    else:
        from lowdim.publish.tables import ledger_table

        print(ledger_table(rows))
    if problems := execute.failures(executed):
        print(problems, file=sys.stderr)
        return 1
    return 0


def ledger_rows(found: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """One object per claim, with what its record says of the run."""
    return [
        {key: (claim if key in claim else record)[key] for key in LEDGER_FIELDS}
        for record in found
        for claim in record["claims"]
    ]


def _book(asked: argparse.Namespace) -> int:
    root = chapters.find_root()
    chapters.load_all(root)
    from lowdim.publish.build import build_book
    from lowdim.publish.running import check_output

    check_output(root / "_build")

    return build_book(root)


def _serve(asked: argparse.Namespace) -> int:
    if not 0 <= asked.port <= 65535:
        raise UsageError(f"--port must be between 0 and 65535; you gave {asked.port}.")
    root = chapters.find_root()
    from lowdim.publish.serve import app

    return app.serve(root, port=asked.port)


def _pdf(asked: argparse.Namespace) -> int:
    root = chapters.find_root()
    wanted = [chapters.resolve(name, root=root).name for name in asked.chapter] or None
    from lowdim.publish.site.pdf import print_book

    for path in print_book(root, chapters=wanted, progress=sys.stderr.isatty()):
        print(path)
    return 0


def _report(asked: argparse.Namespace) -> int:
    from lowdim.instruments.refusal import Unmeasurable
    from lowdim.instruments.report import report_on

    book = None
    try:
        built = chapters.find_root() / "_build" / "html"
        book = os.path.relpath(built, asked.output) if built.is_dir() else None
    except (UsageError, OSError):
        pass  # a report needs no book; its theorems are named without a link then
    try:
        paths = report_on(
            asked.model,
            asked.data,
            asked.output,
            checkpoint=asked.checkpoint,
            compare=asked.compare,
            book=book,
            rank=asked.rank,
            seed=asked.seed,
        )
    except (Unmeasurable, ValueError) as error:
        raise UsageError(str(error)) from error
    for path in paths:
        print(path)
    return 0


def _references(asked: argparse.Namespace) -> int:
    root = chapters.find_root()
    wanted = (
        [chapters.resolve(name, root=root) for name in asked.chapter]
        if asked.chapter
        else chapters.load_all(root)
    )
    from lowdim.publish import references

    differ = 0
    for chapter in wanted:
        if asked.widen:
            current = references.widen(chapter)
        else:
            current = references.refresh(chapter, check=asked.check, progress=sys.stderr.isatty())
        differ += not current
        word = "differs" if asked.check else "widened" if asked.widen else "rewritten"
        word = "current" if current else word
        print(f"{chapter.name}: {word}", flush=True)
    if differ and asked.check:
        raise references.ReferenceProblem(
            "References differ from what the chapters show now; "
            "`lowdim references` rewrites them: look at the difference before you commit it."
        )
    return 0
