"""The autograder as Gradescope calls it: one submission in its folders, ``results.json`` out.

The folder is ``/autograder`` there: ``source`` has what :func:`lowdim.course.build.autograder`
packed, ``submission`` the notebook, ``submission_metadata.json`` who handed it in.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from lowdim.course import gradebook, grading, jail, source, submissions
from lowdim.course.keys import CourseError, identity, read_key
from lowdim.course.submissions import Submission


def submitter(metadata: Any) -> str:
    """Whose submission it is: the first user's e-mail address, or else name.

    Raises
    ------
    CourseError
        If the metadata name nobody.

    Examples
    --------
    >>> submitter({"users": [{"email": "ada@example.org", "name": "Ada"}]})
    'ada@example.org'
    """
    users = metadata.get("users") if isinstance(metadata, dict) else None
    first = users[0] if isinstance(users, list) and users and isinstance(users[0], dict) else {}
    for field in ("email", "name"):
        if isinstance(first.get(field), str) and first[field].strip():
            return identity(first[field])
    raise CourseError("submission_metadata.json names no user with an e-mail address or a name.")


def main(folder: Path) -> int:
    """Grade the submission in ``folder``; 0, or 1 with one sentence if it could not be tried.

    Examples
    --------
    >>> main(Path("/nowhere"))
    1
    """
    packed = folder / "source"
    try:
        jail.require()
        name = (packed / "assignment.txt").read_text(encoding="utf-8").strip()
        text = (packed / "assignment.md").read_text(encoding="utf-8")
        assignment = source.parse(text, name=name)
        told = (folder / "submission_metadata.json").read_text(encoding="utf-8")
        student = submitter(json.loads(told))
        key = read_key(packed / "key")
    except (CourseError, jail.JailMissing, OSError, ValueError) as error:
        print(f"lowdim: {error}", file=sys.stderr)
        return 1
    try:
        found = submissions.collect(folder / "submission", name)
        notebooks = [each for each in found if not each.refused]
    except CourseError:
        notebooks = []
    if len(notebooks) == 1:
        handed_in = Submission(student, notebooks[0].data)
    else:
        several = f"There are {len(notebooks)} notebooks in the submission; hand in one."
        handed_in = Submission(student, refused=several)
    result = grading.grade(handed_in, assignment, key)
    whole = gradebook.gradescope(result, assignment, {})
    gradebook.write(folder / "results" / "results.json", json.dumps(whole, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
