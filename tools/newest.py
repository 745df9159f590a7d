"""Run the chapters with newer packages than the pins', and list the verdicts that move.

Run by ``make newest`` (``CHAPTERS`` narrows it). Packages are installed into an environment of
their own, ``_build/newest``: of each package of ``requirements.in`` the newest version with the
major number of its pin. torch stays as pinned, because every number that is trained depends on it.
Chapters run there through the library's own executor, with the parameters of the tests, and their
verdicts are compared with the book's. What moved is written to ``book/records/newest.json``, from
which the status page shows it. Exit code 1 if a verdict moved or a chapter failed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import venv
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

KEPT = ("torch",)
PLACE = Path("_build", "newest")
INSIDE = "inside"  # the word by which this script is called in the new environment
LIBRARY = Path(__file__).resolve().parents[1] / "lib"


def read(text: str) -> Iterator[Requirement]:
    """The packages that a file of requirements names, without comments.

    >>> [str(each) for each in read("# The book\\nsphinx==7.1  # why\\n\\ntqdm")]
    ['sphinx==7.1', 'tqdm']
    """
    for line in text.splitlines():
        if named := line.partition("#")[0].strip():
            yield Requirement(named)


def pins(text: str) -> dict[str, str]:
    """Package to version of a lock.

    >>> pins("# made by hand\\nnumpy==2.4.6")
    {'numpy': '2.4.6'}
    """
    return {canonicalize_name(each.name): str(each.specifier)[2:] for each in read(text)}


def loosened(asked: str, locked: str) -> list[str]:
    """What to ask pip for: each package from its pin up to the next major version.

    >>> loosened("numpy==2.4.6\\ntorch==2.13.0\\ntqdm", "numpy==2.4.6\\ntorch==2.13.0\\ntqdm==4.67")
    ['numpy>=2.4.6,<3', 'torch==2.13.0', 'tqdm>=4.67,<5']
    """
    found, known = [], pins(locked)
    for each in read(asked):
        name = canonicalize_name(each.name)
        pin = known[name]
        after = Version(pin).major + 1
        found.append(f"{name}=={pin}" if name in KEPT else f"{name}>={pin},<{after}")
    return found


def install(root: Path) -> Path:
    """Make the environment, or bring it up to date; the path of its Python."""
    folder = root / PLACE
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
    asked, locked = (
        (root / f"requirements.{end}").read_text(encoding="utf-8") for end in ("in", "lock")
    )
    wanted = folder / "requirements.txt"
    wanted.write_text("\n".join(loosened(asked, locked)) + "\n", encoding="utf-8")
    quiet = ["--quiet", "--disable-pip-version-check", "--no-input"]
    command = [str(python), "-m", "pip", *quiet, "install", "--upgrade", "-r", str(wanted)]
    subprocess.run(command, check=True)
    return python


def inside(root: Path, names: Sequence[str], workers: int) -> dict[str, Any]:
    """Run chapters in this environment: versions, verdicts by claim, and what failed."""
    from lowdim.publish import chapters, executor, records, references
    from lowdim.publish.comparison import verdict_of

    def one(name: str) -> tuple[dict[str, str], str]:
        chapter = chapters.resolve(name, root=root)
        values = references.ci_values(chapter)
        try:
            made = executor.execute(root, chapter.name, values, one_thread=True, timeout=900)
        except executor.ChapterFailed as failure:
            return {}, str(failure)
        claims = records.extract(made, chapter=chapter.name)["claims"]
        print(f"{chapter.name} has run", file=sys.stderr, flush=True)
        return {claim["id"]: verdict_of(claim) for claim in claims}, ""

    with ThreadPoolExecutor(workers) as pool:
        found = dict(zip(names, pool.map(one, names), strict=True))
    asked = read((root / "requirements.in").read_text(encoding="utf-8"))
    return {
        "versions": {name: version(name) for name in (canonicalize_name(a.name) for a in asked)},
        "verdicts": {name: verdicts for name, (verdicts, error) in found.items() if not error},
        "failed": {name: error for name, (_, error) in found.items() if error},
    }


def run(python: Path, root: Path, names: Sequence[str], workers: int) -> dict[str, Any]:
    """The same in the environment of another Python."""
    output = root / PLACE / "found.json"
    output.parent.mkdir(parents=True, exist_ok=True)
    settings = {"LOWDIM_ROOT": str(root), "PYTHONPATH": str(LIBRARY)}
    command = [str(python), __file__, INSIDE, str(workers), str(output), *names]
    subprocess.run(command, check=True, env=os.environ | settings)
    return json.loads(output.read_text(encoding="utf-8"))


def book_verdicts(root: Path, name: str) -> dict[str, str]:
    """The book's verdicts by claim: of its current run, else of the committed reference."""
    from lowdim.publish import chapters, comparison

    chapter = chapters.resolve(name, root=root)
    if (kept := comparison.of_book(root, chapter.name)) is not None:
        return {claim["id"]: comparison.verdict_of(claim) for claim in kept["claims"]}
    path = root / "tests" / "references" / f"{chapter.name}.json"
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"] if path.is_file() else []
    shown = [output.get("data", {}).get("text/plain", "") for cell in cells for output in cell]
    found = {}
    for line in "\n".join(shown).splitlines():
        short, _, rest = line.strip().partition(" ")
        claim = short if short in chapter.claims else f"{chapter.part}.{short}"
        if claim in chapter.claims and rest:
            found[claim] = re.split(r"\s{2,}| · ", rest.strip())[0]
    return found


def compared(root: Path, found: dict[str, Any]) -> dict[str, Any]:
    """What the status page shows: versions that differ from the pins', and what moved."""
    locked = pins((root / "requirements.lock").read_text(encoding="utf-8"))
    moved = [
        {"chapter": name, "claim": claim, "before": book.get(claim), "after": after.get(claim)}
        for name, after in found["verdicts"].items()
        for book in [book_verdicts(root, name)]
        for claim in dict.fromkeys([*book, *after])
        if book.get(claim) != after.get(claim)
    ]
    newer = {
        name: [locked[name], there]
        for name, there in found["versions"].items()
        if Version(there).public != Version(locked[name]).public
    }
    failed = [{"chapter": name, "error": error} for name, error in found["failed"].items()]
    count = len(found["verdicts"]) + len(failed)
    return {"chapters": count, "versions": newer, "moved": moved, "failed": failed}


def main(argv: Sequence[str] | None = None) -> int:
    """Install, run, compare and write; 1 if something moved, 2 if it was asked for wrongly."""
    from lowdim.publish import chapters
    from lowdim.publish.pages import NEWEST

    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0], allow_abbrev=False)
    parser.add_argument("chapter", nargs="*", metavar="CHAPTER", help="only these (default: all)")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, metavar="N")
    asked = parser.parse_args(argv)
    try:
        root = chapters.find_root()
        named = asked.chapter or chapters.discover(root)
        names = [chapters.resolve(name, root=root).name for name in named]
    except chapters.UsageError as error:
        print(f"newest: {error}", file=sys.stderr)
        return 2
    try:
        found = compared(root, run(install(root), root, names, max(1, asked.workers)))
    except subprocess.CalledProcessError as error:
        print(f"newest: {' '.join(error.cmd[:4])} … ended with {error.returncode}.")
        return 2
    target = root / NEWEST
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    for each in found["failed"]:
        print(each["error"])
    for each in found["moved"]:
        print(f"{each['claim']}: {each['before']} → {each['after']}")
    print(f"{len(found['moved'])} verdicts of {found['chapters']} chapters moved.")
    return int(bool(found["moved"] or found["failed"]))


if __name__ == "__main__":
    if sys.argv[1:2] == [INSIDE]:
        count, place, *chosen = sys.argv[2:]
        told = inside(Path(os.environ["LOWDIM_ROOT"]), chosen, int(count))
        Path(place).write_text(json.dumps(told), encoding="utf-8")
    else:
        sys.exit(main())
