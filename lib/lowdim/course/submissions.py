"""What students handed in: a folder or a zip file of notebooks, read as bytes and never run here.

Every entry becomes one row, graded or refused with a reason: a link, a name with a path in it, two
notebooks of one student, a file that is no notebook. Nothing is left out in silence.
"""

from __future__ import annotations

import json
import os
import stat
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from lowdim.course.keys import CourseError, identity

LARGEST = 16 << 20  # bytes of a notebook
MOST_CELLS = 2_000
UNLISTED = "Nobody of this name is on the list of students."
NOTHING = "Nothing was handed in."
LEFT_BEHIND = ("__MACOSX", "Thumbs.db", "desktop.ini")  # by systems, in any folder


@dataclass(frozen=True)
class Submission:
    """A student's notebook as bytes, or the reason why there is none."""

    student: str
    data: bytes = b""
    refused: str = ""


@dataclass(frozen=True)
class Cell:
    """A cell as handed in."""

    code: bool
    source: str
    question: str


class NoNotebook(ValueError):
    """Bytes that are no notebook; the sentence says why."""


def read(data: bytes) -> list[Cell]:
    """The cells of a notebook that anyone may have written.

    Raises
    ------
    NoNotebook
        If it is none.

    Examples
    --------
    >>> read(b'{"cells": [{"cell_type": "code", "source": ["x = 1"]}]}')
    [Cell(code=True, source='x = 1', question='')]
    """
    try:
        whole = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise NoNotebook("The file is no notebook: it is not JSON.") from None
    cells = whole.get("cells") if isinstance(whole, dict) else None
    if not isinstance(cells, list):
        raise NoNotebook("The file is no notebook: it has no list of cells.")
    if len(cells) > MOST_CELLS:
        raise NoNotebook(f"The notebook has {len(cells)} cells; {MOST_CELLS} are allowed.")
    return [cell for each in cells if (cell := _cell(each)) is not None]


def _cell(each: Any) -> Cell | None:
    if not isinstance(each, dict) or each.get("cell_type") not in ("code", "markdown"):
        return None
    source = each.get("source", "")
    if isinstance(source, list):
        source = "".join(line for line in source if isinstance(line, str))
    if not isinstance(source, str):
        return None
    source = source.encode("utf-8", "replace").decode("utf-8")  # no lone surrogates
    metadata = each.get("metadata")
    ours = metadata.get("lowdim") if isinstance(metadata, dict) else None
    question = ours.get("question") if isinstance(ours, dict) else ""
    return Cell(each["cell_type"] == "code", source, question if isinstance(question, str) else "")


def collect(
    place: Path, assignment: str, *, known: Mapping[str, str] | None = None
) -> list[Submission]:
    """Everything in a folder or a zip file, one row for each student, by name.

    A student's notebook is ``<student>.ipynb``, or stands in the folder ``<student>`` or
    ``<student>/<assignment>``; of several there, it is the one called ``<assignment>.ipynb``.
    ``known`` has the names of all students, by every name that they may hand in under: whoever is
    not among them is refused, and whoever handed in nothing has a row that says so.

    Raises
    ------
    CourseError
        If there is no such place, or nothing in it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "Ada.ipynb").write_text("{}")
    ...     [each.student for each in collect(Path(folder), "projectors")]
    ['Ada']
    """
    if place.is_dir():
        found = list(_in_folder(place))
    elif zipfile.is_zipfile(place):
        found = list(_in_zip(place))
    else:
        raise CourseError(f"{place} is no folder and no zip file of submissions.")
    if not found:
        raise CourseError(f"There are no submissions in {place}.")
    by_student: dict[str, list[tuple[str, Submission]]] = {}
    for path, submission in found:
        name = _called(submission.student, known or {})
        by_student.setdefault(name, []).append((path, replace(submission, student=name)))
    rows = {name: _one(name, each, assignment) for name, each in by_student.items()}
    if known is not None:
        listed = set(known.values())
        for name in rows.keys() - listed:
            rows[name] = Submission(name, refused=rows[name].refused or UNLISTED)
        rows |= {name: Submission(name, refused=NOTHING) for name in listed - rows.keys()}
    return [rows[name] for name in sorted(rows)]


def _called(name: str, known: Mapping[str, str]) -> str:
    """The student of this name, in the form that seeds are made from."""
    try:
        plain = identity(name)
    except CourseError:
        return name  # which is refused
    return known.get(plain, plain)


def _one(student: str, each: list[tuple[str, Submission]], assignment: str) -> Submission:
    """The one submission of a student."""
    try:
        identity(student)
    except CourseError as error:
        return Submission(student, refused=str(error))
    good = [(path, s) for path, s in each if not s.refused]
    named = [(path, s) for path, s in good if PurePosixPath(path).stem == assignment]
    if not good:
        return each[0][1]
    if len({s.data for _, s in good}) == 1:
        return good[0][1]
    tops = {path.partition("/")[0] for path, _ in good}
    if len(named) == 1 and len(tops) == 1:
        return named[0][1]
    listed = ", ".join(sorted(path for path, _ in good))
    return Submission(student, refused=f"There are {len(good)} different notebooks: {listed}.")


def _in_folder(folder: Path) -> Iterator[tuple[str, Submission]]:
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if _left_behind(entry.name):
            continue
        name = _readable(entry.name)
        if entry.is_dir(follow_symlinks=False):
            inner = list(_below(Path(entry.path), name))
            for path in inner:
                yield f"{name}/{path.relative_to(entry.path)}", _opened(path, name)
            if not inner:
                yield name, Submission(name, refused="There is no notebook in the folder.")
        else:
            student = name.removesuffix(".ipynb")
            if not name.endswith(".ipynb"):
                reason = f"{name} is no notebook: its name does not end in .ipynb."
                student = PurePosixPath(name).stem
                yield name, Submission(student, refused=reason)
            else:
                yield name, _opened(Path(entry.path), student)


def _left_behind(name: str) -> bool:
    """Whether a system or a program wrote it; a notebook with a strange name is a notebook."""
    hidden = name.startswith(".") and (name.startswith("._") or not name.endswith(".ipynb"))
    return name in LEFT_BEHIND or (hidden and name.strip(".") != "")


def _below(folder: Path, name: str) -> Iterator[Path]:
    for above, folders, files in os.walk(folder, followlinks=False):
        folders[:] = sorted(each for each in folders if not each.startswith("."))
        if len(Path(above).relative_to(folder).parts) >= 3:
            folders.clear()
        for each in sorted(files):
            if each.endswith(".ipynb") and not each.startswith("."):
                yield Path(above, each)


def _readable(name: str) -> str:
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _opened(path: Path, student: str) -> Submission:
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        kind = "a symbolic link" if path.is_symlink() else "not readable"
        return Submission(student, refused=f"The notebook is {kind}.")
    with os.fdopen(file, "rb") as opened:
        about = os.fstat(opened.fileno())
        if not stat.S_ISREG(about.st_mode):
            return Submission(student, refused="The notebook is no ordinary file.")
        return _bounded(student, opened.read(LARGEST + 1))


def _bounded(student: str, data: bytes) -> Submission:
    if len(data) > LARGEST:
        return Submission(student, refused=f"The notebook has more than {LARGEST >> 20} MB.")
    return Submission(student, data)


def _in_zip(place: Path) -> Iterator[tuple[str, Submission]]:
    with zipfile.ZipFile(place) as opened:
        for entry in sorted(opened.infolist(), key=lambda entry: entry.filename):
            path = PurePosixPath(entry.filename.replace("\\", "/"))
            if entry.is_dir() or any(_left_behind(part) for part in path.parts):
                continue
            student = path.parts[0].removesuffix(".ipynb")
            if path.is_absolute() or ".." in path.parts or ":" in path.parts[0]:
                reason = "Its name in the zip file is a path to another place."
                yield entry.filename, Submission(entry.filename, refused=reason)
            elif stat.S_ISLNK(entry.external_attr >> 16):
                yield (
                    entry.filename,
                    Submission(student, refused="The notebook is a symbolic link."),
                )
            elif path.suffix != ".ipynb":
                reason = f"{path.name} is no notebook: its name does not end in .ipynb."
                yield entry.filename, Submission(student, refused=reason)
            else:
                try:
                    with opened.open(entry) as file:
                        yield str(path), _bounded(student, file.read(LARGEST + 1))
                except (RuntimeError, OSError, zipfile.BadZipFile, NotImplementedError):
                    yield str(path), Submission(student, refused="It cannot be unpacked.")
