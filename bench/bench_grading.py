"""Grading a class against nbgrader on the same notebooks.

nbgrader is no package of the environment: ``make nbgrader`` installs it into one of its own, which
has numpy. Both sides grade in as many processes as they do by default: ours in one jail for each
core, nbgrader in one kernel after the other.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from lowdim.course import build, gradebook, jail, notebooks, source, submissions

ROOT = Path(__file__).resolve().parents[1]
KEY = b"a key for the benchmark of this book"
NBGRADER = ROOT / ".venv/nbgrader/bin/nbgrader"


def missing() -> str:
    """Why there is nothing to compare, or nothing."""
    if not NBGRADER.is_file():
        return "nbgrader is not installed: run make nbgrader"
    return jail.missing() or ""


def grade_30_vs_nbgrader(students: int = 30) -> dict[str, float]:
    """Seconds of nbgrader divided by ours, for ``students`` right and wrong notebooks."""
    assignment = source.load(ROOT / source.FOLDER / "projectors.md")
    names = [f"student-{k:02}" for k in range(students)]
    right = [name for name, question in assignment.questions.items() if question.wrong]
    expected = {}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        out = place / "out"
        build.build(assignment, KEY, out, roster=names, formats=["nbgrader"])
        course = out / "kept" / "nbgrader"
        for k, name in enumerate(names):
            asked = right[k % len(right)]
            wrong = assignment.questions[asked].wrong[0]
            own = notebooks.values_of(assignment, KEY, name)
            spoilt = {asked: wrong.source} if k % 2 else {}
            lost = [assignment.questions[asked].points[p] for p in wrong.options["loses"]]
            expected[name] = 25 - (sum(lost) if k % 2 else 0)
            target = course / "submitted" / name / assignment.name / f"{assignment.name}.ipynb"
            target.parent.mkdir(parents=True)
            target.write_text(notebooks.solution(assignment, own, replaced=spoilt))
        environment = os.environ | {"PYTHONPATH": str(ROOT / "lib"), "HOME": folder}
        environment["PATH"] = f"{NBGRADER.parent}:{environment['PATH']}"

        def nbgrader(*words: str) -> None:
            subprocess.run(
                [str(NBGRADER), *words, assignment.name],
                cwd=course,
                env=environment,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                check=True,
            )

        nbgrader("generate_assignment")
        start = time.perf_counter()
        nbgrader("autograde")
        theirs = time.perf_counter() - start
        start = time.perf_counter()
        submitted = submissions.collect(course / "submitted", assignment.name)
        results = gradebook.grade_all(submitted, assignment, KEY, place / "grades")
        ours = time.perf_counter() - start
    found = {result.student: result.total for result in results}
    if found != expected:
        raise RuntimeError(f"grades are not what they should be: {found}")
    return {"ratio": theirs / ours, "ours": ours, "nbgrader": theirs, "students": students}


if __name__ == "__main__":
    print(grade_30_vs_nbgrader(int(sys.argv[1]) if len(sys.argv) > 1 else 30))
