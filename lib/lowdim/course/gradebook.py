"""A class from submissions to grades: in parallel, resumed where it stopped, the same bytes again.

What was found for a submission is kept under a name made of all that it depends on: the notebook,
the student, the assignment, the key, the limits and this code. A run that was interrupted goes on
there; the tables and pages are written at the end, from what is kept.
"""

from __future__ import annotations

import csv
import hashlib
import hmac
import io
import json
import os
import re
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lowdim.course import grading, jail, pages
from lowdim.course.grading import Graded, Result
from lowdim.course.jail import Limits
from lowdim.course.keys import CourseError
from lowdim.course.source import Assignment
from lowdim.course.submissions import Submission

KEPT = ".kept"
BY_HAND = "by-hand.csv"
HAND_FIELDS = ("student", "question", "points", "out of", "comment")


def grade_all(
    submitted: Sequence[Submission],
    assignment: Assignment,
    key: bytes,
    folder: Path,
    *,
    jobs: int | None = None,
    limits: Limits | None = None,
    progress: bool = False,
) -> list[Result]:
    """Grade every submission and write the grades into ``folder``; the results, by student.

    There: ``grades.csv``; ``by-hand.csv``, the place for points that a person gives, which is
    written once and read again; ``summary.html`` and ``to-read.html`` for the lecturer; and for
    each student ``students/<name>/feedback.html`` and ``results.json`` in Gradescope's form.

    Raises
    ------
    CourseError
        If ``folder`` holds anything but grades, or the points given by hand are none.
    JailMissing
        If there is no jail on this machine.

    Examples
    --------
    >>> import tempfile
    >>> from lowdim.course.notebooks import SMALL, student
    >>> from lowdim.course.source import parse
    >>> small = parse(SMALL, name="small")
    >>> handed_in = [Submission("Ada", student(small, {}).encode())]
    >>> if jail.missing() is None:
    ...     with tempfile.TemporaryDirectory() as made:
    ...         (result,) = grade_all(handed_in, small, b"0123456789abcdef", Path(made, "grades"))
    ...     assert result.total == 0
    """
    jail.require()
    limits = limits or Limits()
    check_folder(folder)
    by_hand = read_by_hand(folder / BY_HAND, assignment)
    kept = folder / KEPT
    kept.mkdir(parents=True, exist_ok=True)
    results: dict[str, Result] = {}
    left: dict[str, Submission] = {}
    names = {each.student: _name(each, assignment, key, limits) for each in submitted}
    for each in submitted:
        found = _read(kept / names[each.student], each.student)
        if found is None:
            left[each.student] = each
        else:
            results[each.student] = found

    def one(each: Submission) -> Result:
        result = grading.grade(each, assignment, key, limits=limits)
        write(kept / names[each.student], json.dumps(asdict(result), ensure_ascii=True))
        return result

    from tqdm import tqdm

    with (
        tqdm(total=len(submitted), initial=len(results), disable=not progress) as bar,
        ThreadPoolExecutor(jobs or os.cpu_count() or 1) as pool,
    ):
        futures = {pool.submit(one, each): each.student for each in left.values()}
        for future in futures:
            future.add_done_callback(lambda _: bar.update())
        try:
            wait(futures, return_when=FIRST_EXCEPTION)
        finally:  # after an error or Ctrl-C: those that run end, no other begins
            pool.shutdown(wait=True, cancel_futures=True)
        for future, student in futures.items():
            if not future.cancelled():
                results[student] = future.result()
    ordered = [results[student] for student in sorted(results)]
    _write_all(ordered, assignment, folder, by_hand)
    return ordered


def check_folder(folder: Path) -> None:
    """Refuse a place for grades that holds anything else.

    Examples
    --------
    >>> check_folder(Path("/usr"))
    Traceback (most recent call last):
    lowdim.course.keys.CourseError: /usr holds other things: name an empty or new folder for grades.
    """
    if folder.exists() and not folder.is_dir():
        raise CourseError(f"{folder} is a file: name an empty or new folder for grades.")
    if folder.is_dir() and not (folder / KEPT).is_dir() and any(folder.iterdir()):
        raise CourseError(f"{folder} holds other things: name an empty or new folder for grades.")


def _name(each: Submission, assignment: Assignment, key: bytes, limits: Limits) -> str:
    code = hashlib.sha256()
    for module in sorted(Path(__file__).parent.glob("*.py")):
        code.update(hashlib.sha256(module.read_bytes()).digest())
    parts = [each.student, each.refused, assignment.name, assignment.text, repr(limits)]
    text = b"\0".join([part.encode("utf-8", "replace") for part in parts])
    whole = code.digest() + hashlib.sha256(text).digest() + hashlib.sha256(each.data).digest()
    return hmac.new(key, whole, hashlib.sha256).hexdigest() + ".json"


def _read(path: Path, student: str) -> Result | None:
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        questions = {name: Graded(**each) for name, each in told["questions"].items()}
        return Result(student, told["refused"], questions)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write(path: Path, text: str) -> None:
    """Write a file whole or not at all.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(Path(folder, "a", "b.txt"), "text")
    ...     Path(folder, "a", "b.txt").read_text()
    'text'
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.write_text(text, encoding="utf-8", newline="")
    beside.replace(path)


def slug(student: str) -> str:
    """A name for a student's folder that is safe everywhere, and no other student's.

    Examples
    --------
    >>> slug("Noël/../x").rpartition("-")[0]
    'Nol.x'
    """
    plain = re.sub(r"\.+", ".", re.sub(r"[^A-Za-z0-9_.@-]", "", student)).strip(".-")[:40]
    code = hashlib.sha256(student.encode("utf-8", "replace")).hexdigest()[:8]
    return f"{plain}-{code}" if plain else code


def _cell(text: str) -> str:
    """A text that no spreadsheet takes for a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


Hand = Mapping[str, Mapping[str, tuple[str, str]]]


def read_by_hand(path: Path, assignment: Assignment) -> dict[str, dict[str, tuple[str, str]]]:
    """Points and comments that a person gave: student to question to (points, comment), as texts.

    Raises
    ------
    CourseError
        If points are no number from 0 to those of the question.

    Examples
    --------
    >>> read_by_hand(Path("nowhere.csv"), None)
    {}
    """
    if not path.is_file():
        return {}
    found: dict[str, dict[str, tuple[str, str]]] = {}
    with path.open(encoding="utf-8-sig", newline="") as file:
        for number, row in enumerate(csv.DictReader(file), 2):
            student, name = (row.get("student") or "").removeprefix("'"), row.get("question") or ""
            points = (row.get("points") or "").strip()
            question = assignment.questions.get(name)
            if question is None or not question.by_hand:
                asked = [n for n, q in assignment.questions.items() if q.by_hand]
                raise CourseError(
                    f"{path}, line {number}: questions graded by hand are {', '.join(asked)}; "
                    f"you gave {name!r}."
                )
            if points and not re.fullmatch(r"\d+(\.\d+)?", points):
                raise CourseError(f"{path}, line {number}: points {points!r} are no number.")
            if points and float(points) > question.total:
                raise CourseError(
                    f"{path}, line {number}: {name} has {question.total:g} points; "
                    f"you gave {points}."
                )
            found.setdefault(student, {})[name] = (points, row.get("comment") or "")
    return found


def _write_all(
    results: Sequence[Result], assignment: Assignment, folder: Path, by_hand: Hand
) -> None:
    asked = [name for name, question in assignment.questions.items() if question.by_hand]
    if asked:
        path = folder / BY_HAND  # the lecturer's from now on: lines are added, none is changed
        rows = [
            (_cell(result.student), name, "", f"{assignment.questions[name].total:g}", "")
            for result in results
            for name in asked
            if name not in by_hand.get(result.student, {})
        ]
        before = path.read_text(encoding="utf-8-sig") if path.is_file() else _csv([HAND_FIELDS])
        if rows or not path.is_file():
            write(path, before + "\n" * (not before.endswith("\n")) + _csv(rows))
        write(folder / "to-read.html", pages.to_read(results, assignment))
    write(folder / "grades.csv", grades(results, assignment, by_hand))
    write(folder / "summary.html", pages.summary(results, assignment))
    for result in results:
        place = folder / "students" / slug(result.student)
        told = by_hand.get(result.student, {})
        write(place / "feedback.html", pages.feedback(result, assignment, told))
        whole = json.dumps(gradescope(result, assignment, told), indent=1, ensure_ascii=False)
        write(place / "results.json", whole + "\n")


def _hand(by_hand: Hand, result: Result, name: str) -> tuple[str, str]:
    return by_hand.get(result.student, {}).get(name, ("", ""))


def _csv(rows: Sequence[Sequence[str]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


def grades(results: Sequence[Result], assignment: Assignment, by_hand: Hand) -> str:
    """The table of points, as CSV: a row for each student, a column for each question.

    A question that waits for a person is empty, and counts nothing in the total.

    Examples
    --------
    >>> from lowdim.course.notebooks import SMALL
    >>> from lowdim.course.source import parse
    >>> print(grades([], parse(SMALL, name="small"), {}), end="")
    student,twice,total,out of,note
    """
    rows: list[Sequence[str]] = [("student", *assignment.questions, "total", "out of", "note")]
    for result in results:
        points: list[str] = []
        for name, question in result.questions.items():
            told = _hand(by_hand, result, name)[0] if question.by_hand else f"{question.total:g}"
            points.append(told)
        total = sum(float(each) for each in points if each)
        rows.append((_cell(result.student), *points, f"{total:g}", f"{assignment.total:g}",
                     _cell(result.refused)))  # fmt: skip
    return _csv(rows)


def gradescope(
    result: Result, assignment: Assignment, by_hand: Mapping[str, tuple[str, str]]
) -> dict[str, Any]:
    """What Gradescope reads from ``results.json``: a test for each property.

    Examples
    --------
    >>> from lowdim.course.notebooks import SMALL
    >>> from lowdim.course.source import parse
    >>> gradescope(Result("Ada", "It is a link."), parse(SMALL, name="small"), {})["score"]
    0
    """
    if result.refused:
        return {"score": 0, "output": f"Not graded. {result.refused}", "visibility": "visible"}
    tests: list[dict[str, Any]] = []
    for number, (name, question) in enumerate(result.questions.items(), 1):
        asked = assignment.questions[name]
        if question.by_hand:
            points, comment = by_hand.get(name, ("", ""))
            if points:
                tests.append({
                    "name": name, "number": str(number), "score": float(points),
                    "max_score": float(asked.total), "output": comment, "visibility": "visible",
                })  # fmt: skip
            continue
        for k, (prop, most) in enumerate(question.out_of.items(), 1):
            said = f"{asked.says[prop]} This {pages.verdict(question, prop)}."
            score = float(question.points[prop])
            tests.append({
                "name": f"{name}: {prop}", "number": f"{number}.{k}", "score": score,
                "max_score": float(most), "status": "passed" if score == most else "failed",
                "output": f"{said} {question.reason}".strip(), "output_format": "text",
                "visibility": "visible",
            })  # fmt: skip
    return {"tests": tests, "stdout_visibility": "hidden"}
