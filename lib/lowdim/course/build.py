"""An assignment on disk: what students get in one folder, what stays with the lecturer in another.

``released/`` holds a notebook for each student (plain), one for all (nbgrader, Gradescope) with
``values.json``; ``kept/`` the instructor's notebook, nbgrader's course folder with the source of
the release, and Gradescope's autograder. No solution, hidden input or key goes to ``released/``.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import lowdim
from lowdim.course import notebooks
from lowdim.course.gradebook import slug, write
from lowdim.course.keys import CourseError, identity
from lowdim.course.source import Assignment

FORMATS = ("plain", "nbgrader", "gradescope")
HERE = Path(__file__).parent


def read_roster(path: Path) -> list[str]:
    """The names of the students, one in each line; what begins with # is a comment.

    Raises
    ------
    CourseError
        If there is no such file, no name in it, or one twice or malformed.

    Examples
    --------
    >>> read_roster(Path("nowhere"))
    Traceback (most recent call last):
    lowdim.course.keys.CourseError: There is no list of students in nowhere.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError):
        raise CourseError(f"There is no list of students in {path}.") from None
    names = [identity(line) for line in lines if line.strip() and not line.startswith("#")]
    twice = sorted({name for name in names if names.count(name) > 1})
    if not names or twice or notebooks.EXAMPLE in names:
        wrong = f"has {', '.join(twice)} twice" if twice else "has no names"
        wrong = f"has the name {notebooks.EXAMPLE!r}" if notebooks.EXAMPLE in names else wrong
        raise CourseError(f"The list of students in {path} {wrong}; give each name once.")
    return names


def build(
    assignment: Assignment,
    key: bytes,
    folder: Path,
    *,
    roster: Sequence[str] = (),
    formats: Sequence[str] = FORMATS,
) -> list[Path]:
    """Write an assignment into ``folder``; the files, those for students first.

    Raises
    ------
    CourseError
        If the folder is not empty, a format is unknown, or there are values by student and no
        ``roster`` of students.

    Examples
    --------
    >>> import tempfile
    >>> from lowdim.course.source import parse
    >>> small = parse(notebooks.SMALL, name="small")
    >>> with tempfile.TemporaryDirectory() as made:
    ...     files = build(small, b"0123456789abcdef", Path(made, "out"), formats=["plain"])
    ...     [str(file.relative_to(made)) for file in files]
    ['out/released/plain/small.ipynb', 'out/kept/instructor/small.ipynb']
    """
    if unknown := [each for each in formats if each not in FORMATS]:
        raise CourseError(f"The format must be one of {', '.join(FORMATS)}; you gave {unknown[0]}.")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise CourseError(f"{folder} is there already: name an empty or new folder.")
    if assignment.values is not None and not roster:
        raise CourseError(
            f"{assignment.name} has values of their own for students: give their list, one name "
            "in a line, with --roster FILE."
        )
    example = notebooks.values_of(assignment, key, notebooks.EXAMPLE)
    made = _Files(folder)
    if "plain" in formats:
        for student in roster:
            own = notebooks.values_of(assignment, key, student)
            path = f"released/plain/{slug(student)}/{assignment.name}.ipynb"
            made.add(path, notebooks.student(assignment, own))
        if not roster:
            path = f"released/plain/{assignment.name}.ipynb"
            made.add(path, notebooks.student(assignment, {}))
    shared: notebooks.Values | None = None if assignment.values is not None else {}
    looked_up = {name: notebooks.values_of(assignment, key, name) for name in roster}
    table = json.dumps({notebooks.EXAMPLE: example, **looked_up}, indent=1, ensure_ascii=False)
    for each in ("nbgrader", "gradescope"):
        if each in formats:
            place = f"released/{each}/{assignment.name}"
            page = notebooks.student(assignment, shared, nbgrader=each == "nbgrader")
            made.add(f"{place}/{assignment.name}.ipynb", page)
            if shared is None:
                made.add(f"{place}/values.json", table + "\n")
    made.add(f"kept/instructor/{assignment.name}.ipynb", notebooks.instructor(assignment, example))
    if "nbgrader" in formats:
        place = f"kept/nbgrader/source/{assignment.name}"
        page = notebooks.source_for_nbgrader(assignment, key, shared)
        made.add(f"{place}/{assignment.name}.ipynb", page)
        if shared is None:
            made.add(f"{place}/values.json", table + "\n")
        made.add("kept/nbgrader/nbgrader_config.py", CONFIG)
    if "gradescope" in formats:
        made.add_bytes("kept/gradescope/autograder.zip", autograder(assignment, key))
    return made.written


class _Files:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.written: list[Path] = []

    def add(self, path: str, text: str) -> None:
        write(self.folder / path, text)
        self.written.append(self.folder / path)

    def add_bytes(self, path: str, data: bytes) -> None:
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        self.written.append(target)


CONFIG = """\
c = get_config()
c.CourseDirectory.course_id = "lowdim"
c.ClearSolutions.code_stub = {"python": "# YOUR CODE HERE\\nraise NotImplementedError()"}
c.ClearSolutions.text_stub = "*Your answer, here.*"
# a notebook with an error in one cell is graded in all others
c.ExecutePreprocessor.allow_errors = True
"""

SETUP = """\
#!/usr/bin/env bash
set -eu
apt-get update -qq
apt-get install -y --no-install-recommends bubblewrap python3 python3-venv
python3 -m venv /autograder/venv
/autograder/venv/bin/pip install --quiet {packages}
"""

RUN = """\
#!/usr/bin/env bash
# Students' code runs in a jail, and this stops with one sentence where there is none.
set -eu
here="${AUTOGRADER:-/autograder}"
python="${AUTOGRADER_PYTHON:-$here/venv/bin/python}"
export PYTHONPATH="$here/source/lib"
exec "$python" -m lowdim.course.gradescope "$here"
"""


def autograder(assignment: Assignment, key: bytes) -> bytes:
    """Gradescope's autograder, a zip file; the same bytes for the same assignment and key.

    It has ``setup.sh``, ``run_autograder``, the source, the key, and this room of the library: it
    is for the lecturer, and its jail keeps all of it from the code that it grades.

    Examples
    --------
    >>> from lowdim.course.source import parse
    >>> made = autograder(parse(notebooks.SMALL, name="small"), b"0123456789abcdef")
    >>> "run_autograder" in zipfile.ZipFile(io.BytesIO(made)).namelist()
    True
    """
    packages = f"'numpy=={np.__version__}' pyyaml tqdm"
    files = {
        "setup.sh": SETUP.format(packages=packages).encode(),
        "run_autograder": RUN.encode(),
        "assignment.md": assignment.text.encode(),
        "assignment.txt": assignment.name.encode(),
        "key": key,
        "lib/lowdim/__init__.py": Path(str(lowdim.__file__)).read_bytes(),
    }
    for module in sorted(HERE.glob("*.py")):
        files[f"lib/lowdim/course/{module.name}"] = module.read_bytes()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, (2000, 1, 1, 0, 0, 0))
            runs = name in ("setup.sh", "run_autograder")
            entry.external_attr = (0o100755 if runs else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            opened.writestr(entry, data)
    return out.getvalue()
