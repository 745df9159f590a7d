"""What a lecturer asks for, from files to files: a key, an assignment to hand out, grades.

Everything is read and checked before anything is written, and a mistake is one sentence.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from lowdim.course import build as building
from lowdim.course import gradebook, jail, keys, source, submissions
from lowdim.course.jail import Limits
from lowdim.course.keys import CourseError


def make_key(path: Path) -> None:
    """Write a new key that its owner alone may read.

    Raises
    ------
    CourseError
        If the file is there already, or cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     make_key(Path(folder, "course.key"))
    ...     len(keys.read_key(Path(folder, "course.key")))
    64
    """
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise CourseError(
            f"{path} is there already, and another key would change everyone's values; "
            "name a new file."
        ) from None
    except OSError as error:
        raise CourseError(f"{path} cannot be written ({error.strerror}).") from None
    with os.fdopen(file, "w", encoding="ascii") as opened:
        opened.write(keys.new_key() + "\n")


def find_assignment(name: str, root: Callable[[], Path]) -> source.Assignment:
    """The assignment of this name in ``notebooks/course`` of a book, or in this file.

    Raises
    ------
    CourseError
        If there is none: with the names that there are.

    Examples
    --------
    >>> find_assignment("nowhere.md", Path)
    Traceback (most recent call last):
    lowdim.course.keys.CourseError: There is no assignment nowhere.md.
    """
    if name.endswith(".md"):
        return source.load(Path(name))
    folder = root() / source.FOLDER
    known = sorted(path.stem for path in folder.glob("*.md"))
    if name not in known:
        raise CourseError(f"There is no assignment '{name}'; there are: {', '.join(known)}.")
    return source.load(folder / f"{name}.md")


def build(
    assignment: source.Assignment,
    key: Path,
    folder: Path,
    roster: Path | None,
    formats: Sequence[str] | None,
) -> list[Path]:
    """Make an assignment; see :func:`lowdim.course.build.build`.

    Examples
    --------
    >>> from lowdim.course.notebooks import SMALL
    >>> build(source.parse(SMALL, name="small"), Path("nowhere"), Path("out"), None, None)
    Traceback (most recent call last):
    lowdim.course.keys.CourseError: There is no course key in nowhere; \
'lowdim course key nowhere' writes one.
    """
    names = building.read_roster(roster) if roster else []
    return building.build(
        assignment,
        keys.read_key(key),
        folder,
        roster=names,
        formats=formats or building.FORMATS,
    )


def grade(
    assignment: source.Assignment,
    key: Path,
    place: Path,
    folder: Path,
    *,
    roster: Path | None = None,
    jobs: int | None = None,
    seconds: int | None = None,
    progress: bool = False,
) -> list[str]:
    """Grade a class; what is to be said of it, in lines.

    With a ``roster`` a student may be called by the name of the folder that :func:`build` made,
    everyone on the list has a row, and whoever is not on it is not graded.

    Raises
    ------
    CourseError
        If something is missing or in a wrong place.
    JailMissing
        If there is no jail on this machine.

    Examples
    --------
    >>> from lowdim.course.notebooks import SMALL
    >>> grade(source.parse(SMALL, name="small"), Path("key"), Path("in"), Path("out"), jobs=0)
    Traceback (most recent call last):
    lowdim.course.keys.CourseError: jobs must be 1 or more; you gave 0.
    """
    for name, value in (("jobs", jobs), ("seconds", seconds)):
        if value is not None and value < 1:
            raise CourseError(f"{name} must be 1 or more; you gave {value}.")
    secret = keys.read_key(key)
    names = building.read_roster(roster) if roster else []
    known = {gradebook.slug(name): name for name in names} | {name: name for name in names}
    submitted = submissions.collect(place, assignment.name, known=known if roster else None)
    if folder.resolve().is_relative_to(place.resolve()):
        raise CourseError(f"{folder} is inside {place}: the grades would be among the submissions.")
    for path in (key, place, folder):
        if jail.visible(path):
            raise CourseError(
                f"{path} stands in a folder that code in the jail can read "
                f"({', '.join(map(str, jail.seen()))}): move it elsewhere."
            )
    gradebook.check_folder(folder)
    jail.require()
    limits = Limits() if seconds is None else Limits(seconds=seconds, clock=3 * seconds + 10)
    results = gradebook.grade_all(
        submitted, assignment, secret, folder, jobs=jobs, limits=limits, progress=progress
    )
    lines = [f"{each.student!r} was not graded. {each.refused}" for each in results if each.refused]
    return [*lines, str(folder / "grades.csv"), str(folder / "summary.html")]
