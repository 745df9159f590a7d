"""A class from submissions to grades: tables, pages, resuming, the same bytes again."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from html.parser import HTMLParser
from pathlib import Path

import jsonschema
import pytest
from lowdim.course import build, gradebook, grading, keys, notebooks, source, submissions
from lowdim.course.jail import Limits
from lowdim.course.keys import CourseError
from lowdim.publish import cli

ROOT = Path(__file__).resolve().parents[2]
KEY = b"a key for the tests of this book"
ASSIGNMENT = source.load(ROOT / source.FOLDER / "projectors.md")
RUN = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
RUN += "from lowdim.publish.cli import main; sys.exit(main())"
LOWDIM = [sys.executable, "-c", RUN]  # it hears Ctrl-C where these tests run in the background
pytestmark = [pytest.mark.usefixtures("walls")]

# https://gradescope-autograders.readthedocs.io/en/latest/specs/, "Output format"
SEEN = {"enum": ["hidden", "after_due_date", "after_published", "visible"]}
FORM = {"enum": ["text", "html", "simple_format", "md", "ansi"]}
TEST = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "score": {"type": "number", "minimum": 0},
        "max_score": {"type": "number", "minimum": 0},
        "status": {"enum": ["passed", "failed"]},
        "name": {"type": "string"},
        "name_format": FORM,
        "number": {"type": "string"},
        "output": {"type": "string"},
        "output_format": FORM,
        "tags": {"type": "array", "items": {"type": "string"}},
        "visibility": SEEN,
        "extra_data": {},
    },
}
GRADESCOPE = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "score": {"type": "number"},
        "execution_time": {"type": "number"},
        "output": {"type": "string"},
        "output_format": FORM,
        "test_output_format": FORM,
        "test_name_format": FORM,
        "visibility": SEEN,
        "stdout_visibility": SEEN,
        "extra_data": {},
        "tests": {"type": "array", "items": TEST},
        "leaderboard": {"type": "array"},
    },
    "anyOf": [{"required": ["score"]}, {"required": ["tests"]}],
}


def handed_in(folder: Path) -> Path:
    """A small class: right, untouched, wrong, refused, and a name that is a formula."""
    folder.mkdir()
    own = {name: notebooks.values_of(ASSIGNMENT, KEY, name) for name in ("Ada", "=1+1", "Kurt")}
    wrong = {"distance": ASSIGNMENT.questions["distance"].wrong[0].source}
    texts = {
        "Ada": notebooks.solution(ASSIGNMENT, own["Ada"]),
        "=1+1": notebooks.solution(ASSIGNMENT, own["=1+1"], replaced=wrong),
        "Kurt": notebooks.student(ASSIGNMENT, own["Kurt"]).replace(
            "*Your answer, here.*", "<script>alert(1)</script>"
        ),
        "Zeno": "no JSON",
    }
    for name, text in texts.items():
        (folder / f"{name}.ipynb").write_text(text)
    (folder / "link.ipynb").symlink_to("/etc/passwd")
    return folder


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and gradebook.KEPT not in path.parts
    }


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with submissions and their grades, made by the command."""
    folder = tmp_path_factory.mktemp("class")
    handed_in(folder / "in")
    (folder / "course.key").write_bytes(KEY)
    words = ["course", "grade", str(folder / "in"), "-o", str(folder / "out"), "-a", "projectors"]
    assert cli.main([*words, "--key", str(folder / "course.key"), "--jobs", "2"]) == 0
    return folder


def rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))


def test_the_table_has_points_by_question_and_student(work: Path) -> None:
    table = {row["student"]: row for row in rows(work / "out" / "grades.csv")}
    assert list(table) == ["'=1+1", "Ada", "Kurt", "Zeno", "link"]
    machine = {n: q.total for n, q in ASSIGNMENT.questions.items() if not q.by_hand}
    assert {n: float(table["Ada"][n]) for n in machine} == machine
    assert table["Ada"]["proof"] == "" and float(table["Ada"]["total"]) == sum(machine.values())
    assert float(table["'=1+1"]["distance"]) == machine["distance"] - 2
    assert float(table["Kurt"]["total"]) == 0 and table["Kurt"]["note"] == ""
    assert "not JSON" in table["Zeno"]["note"] and "symbolic link" in table["link"]["note"]


def test_results_are_what_gradescope_reads(work: Path) -> None:
    found = sorted((work / "out" / "students").glob("*/results.json"))
    assert len(found) == 5
    for path in found:
        jsonschema.validate(json.loads(path.read_text()), GRADESCOPE)
    ada = json.loads((work / "out/students" / gradebook.slug("Ada") / "results.json").read_text())
    assert sum(t["score"] for t in ada["tests"]) == sum(t["max_score"] for t in ada["tests"])
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"tests": [{"points": 1}]}, GRADESCOPE)


class Outside(HTMLParser):
    """Collects what a page would fetch or run."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("script", "link", "iframe", "img", "object", "form") or any(
            name.startswith("on") or name in ("src", "href") for name, _ in attrs
        ):
            self.found.append(tag)


def test_pages_open_without_a_network_and_run_nothing(work: Path) -> None:
    for path in (work / "out").rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        parser = Outside()
        parser.feed(text)
        assert parser.found == [] and "http" not in text.replace("http-equiv", "")
    assert "&lt;script&gt;alert(1)" in (work / "out" / "to-read.html").read_text()


def test_feedback_names_the_property_and_nothing_that_is_hidden(work: Path) -> None:
    page = (work / "out/students" / gradebook.slug("=1+1") / "feedback.html").read_text()
    says = ASSIGNMENT.questions["distance"].says
    assert re.search(f"{re.escape(says['digits'])}</td><td><strong>does not hold", page)
    assert re.search(f"{re.escape(says['value'])}</td><td>holds", page)
    assert "23 of 31 points. 6 of these are still to be given by a person." in page
    secret = {
        line.strip() for c in notebooks.secrets_of(ASSIGNMENT) for line in c.source.split("\n")
    }
    for path, data in files(work / "out").items():
        text = data.decode()
        assert "Traceback" not in text and KEY.decode() not in text
        if path != "to-read.html":
            assert not [line for line in secret if len(line) > 12 and line in text], path


def test_the_summary_tells_what_was_hardest(work: Path) -> None:
    text = (work / "out" / "summary.html").read_text()
    assert "Graded: 3. Not graded: 2." in text
    hardest = text.partition("the hardest first")[2].partition("<h2>")[0]
    assert re.findall(r"<td>([\w-]+)</td>", hardest)[0] == "distance"
    missed = text.partition("most often missed first")[2]
    assert ASSIGNMENT.questions["distance"].says["digits"] in missed.split("</tr>")[0]


def test_the_same_submissions_give_the_same_bytes(work: Path, tmp_path: Path) -> None:
    submitted = submissions.collect(work / "in", "projectors")
    gradebook.grade_all(submitted, ASSIGNMENT, KEY, tmp_path / "again", jobs=1)
    assert files(tmp_path / "again") == files(work / "out")


def test_what_was_graded_is_not_graded_again(
    work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(work / "out", tmp_path / "out")
    submitted = submissions.collect(work / "in", "projectors")
    asked: list[str] = []
    real = grading.grade

    def counted(each: submissions.Submission, *rest: object, **options: object) -> grading.Result:
        asked.append(each.student)
        return real(each, *rest, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(grading, "grade", counted)
    gradebook.grade_all(submitted, ASSIGNMENT, KEY, tmp_path / "out")
    assert asked == [] and files(tmp_path / "out") == files(work / "out")
    for path in sorted((tmp_path / "out" / gradebook.KEPT).iterdir())[:2]:
        path.write_text("{half")  # as a machine that stopped would leave it
    gradebook.grade_all(submitted, ASSIGNMENT, KEY, tmp_path / "out")
    assert len(asked) == 2 and files(tmp_path / "out") == files(work / "out")
    changed = [submissions.Submission("Ada", submitted[0].data), *submitted[2:]]
    gradebook.grade_all(changed, ASSIGNMENT, KEY, tmp_path / "out", limits=Limits())
    assert asked[2:] == ["Ada"]  # another notebook under her name


def test_an_interrupted_run_goes_on_where_it_stopped(work: Path, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    whole = json.loads((work / "in" / "Kurt.ipynb").read_text())
    slow = {"cell_type": "code", "metadata": {}, "source": "import time\ntime.sleep(4)"}
    for k in range(6):  # after the first two there is time to interrupt, however busy the machine
        cells = whole["cells"] + [slow] * (k >= 2)
        (folder / f"student {k}.ipynb").write_text(json.dumps(whole | {"cells": cells}))
    words = ["course", "grade", str(folder), "-o", str(tmp_path / "out"), "-a", "projectors"]
    command = [*LOWDIM, *words, "--key", str(work / "course.key"), "--jobs"]
    environment = os.environ | {"LOWDIM_ROOT": str(ROOT)}
    running = subprocess.Popen([*command, "1"], env=environment, stderr=subprocess.PIPE, text=True)
    kept = tmp_path / "out" / gradebook.KEPT
    until = time.monotonic() + 180
    while time.monotonic() < until and len(list(kept.glob("[!.]*.json"))) < 2:
        time.sleep(0.01)
    running.send_signal(signal.SIGINT)
    told = running.communicate()[1]
    assert running.returncode == 130 and told.endswith("lowdim: interrupted.\n")
    before = {path.name for path in kept.glob("[!.]*.json")}
    assert 2 <= len(before) < 6 and not (tmp_path / "out" / "grades.csv").exists()
    times = {name: (kept / name).stat().st_mtime_ns for name in before}
    assert subprocess.run([*command, "4"], env=environment, check=False).returncode == 0
    assert len(rows(tmp_path / "out" / "grades.csv")) == 6
    assert times == {name: (kept / name).stat().st_mtime_ns for name in before}


def test_points_by_hand_are_read_and_kept(work: Path, tmp_path: Path) -> None:
    shutil.copytree(work / "out", tmp_path / "out")
    path = tmp_path / "out" / gradebook.BY_HAND
    lines = path.read_text().splitlines()
    assert lines[0] == "student,question,points,out of,comment" and len(lines) == 6
    given = [
        line.replace("Ada,proof,,6,", 'Ada,proof,4.5,6,"Nice, but short <b>"') for line in lines
    ]
    path.write_text("\n".join(given))
    submitted = submissions.collect(work / "in", "projectors")
    gradebook.grade_all(submitted, ASSIGNMENT, KEY, tmp_path / "out")
    assert path.read_text() == "\n".join(given)
    row = next(r for r in rows(tmp_path / "out" / "grades.csv") if r["student"] == "Ada")
    assert row["proof"] == "4.5" and float(row["total"]) == 25 + 4.5
    place = tmp_path / "out/students" / gradebook.slug("Ada")
    assert "Nice, but short &lt;b&gt;" in (place / "feedback.html").read_text()
    assert json.loads((place / "results.json").read_text())["tests"][-1]["score"] == 4.5
    path.write_text(lines[0] + "\nAda,proof,7,6,\n")
    with pytest.raises(CourseError, match="line 2: proof has 6 points; you gave 7"):
        gradebook.grade_all(submitted, ASSIGNMENT, KEY, tmp_path / "out")
    path.write_text(lines[0] + "\nAda,essay,7,6,\n")
    with pytest.raises(CourseError, match="by hand are proof; you gave 'essay'"):
        gradebook.grade_all(submitted, ASSIGNMENT, KEY, tmp_path / "out")


def refused(capsys: pytest.CaptureFixture, *words: object) -> str:
    assert cli.main(["course", *map(str, words)]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("lowdim: ") and err.count("\n") == 1
    return err


def test_mistakes_are_one_sentence_and_change_nothing(
    work: Path, tmp_path: Path, capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOWDIM_ROOT", str(ROOT))
    out, key = tmp_path / "new", ("--key", work / "course.key")
    grade = ("grade", work / "in", "-o", out, "-a", "projectors")
    assert "There is no assignment 'projcts'; there are: " in refused(
        capsys, "grade", work / "in", "-o", out, "-a", "projcts", *key
    )
    assert "no course key in" in refused(capsys, *grade, "--key", tmp_path / "none")
    assert "is no folder and no zip" in refused(
        capsys, "grade", tmp_path / "x", "-o", out, "-a", "projectors", *key
    )
    assert "jobs must be 1 or more; you gave 0" in refused(capsys, *grade, *key, "--jobs", 0)
    assert "holds other things" in refused(
        capsys, "grade", work / "in", "-o", work, "-a", "projectors", *key
    )
    assert "among the submissions" in refused(
        capsys, "grade", work / "in", "-o", work / "in" / "x", "-a", "projectors", *key
    )
    assert "can read" in refused(capsys, *grade[:3], "/usr/x", *grade[4:], *key)
    assert "give their list" in refused(capsys, "build", "projectors", "-o", out, *key)
    assert "is there already" in refused(capsys, "key", work / "course.key")
    monkeypatch.setattr("lowdim.course.jail.missing", lambda: "Install the package bubblewrap.")
    assert "bubblewrap" in refused(capsys, *grade, *key)
    assert not out.exists() and list(tmp_path.iterdir()) == []


def test_the_command_builds_for_a_list_of_students(
    tmp_path: Path, capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOWDIM_ROOT", str(ROOT))
    assert cli.main(["course", "key", str(tmp_path / "key")]) == 0
    (tmp_path / "roster").write_text("Ada\nKurt\n")
    words = ["build", "projectors", "-o", tmp_path / "out", "--key", tmp_path / "key"]
    assert cli.main(["course", *map(str, words), "--roster", str(tmp_path / "roster")]) == 0
    listed = capsys.readouterr().out.splitlines()[1:]
    assert sorted(listed) == sorted(str(p) for p in (tmp_path / "out").rglob("*") if p.is_file())


def test_what_was_handed_out_can_be_handed_in_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folders of the release are names of students, where the list says whose."""
    monkeypatch.setenv("LOWDIM_ROOT", str(ROOT))
    (tmp_path / "key").write_bytes(KEY)
    (tmp_path / "roster").write_text("Kurt G\nEmmy\n")
    build.build(ASSIGNMENT, KEY, tmp_path / "out", roster=["Kurt G"], formats=["plain"])
    (path,) = (tmp_path / "out/released/plain").rglob("*.ipynb")
    path.write_text(notebooks.solution(ASSIGNMENT, notebooks.values_of(ASSIGNMENT, KEY, "Kurt G")))
    words = [
        "grade",
        tmp_path / "out/released/plain",
        "-o",
        tmp_path / "grades",
        "-a",
        "projectors",
    ]
    words += ["--key", tmp_path / "key", "--roster", tmp_path / "roster"]
    assert cli.main(["course", *map(str, words)]) == 0
    table = {row["student"]: row for row in rows(tmp_path / "grades" / "grades.csv")}
    machine = sum(q.total for q in ASSIGNMENT.questions.values() if not q.by_hand)
    assert float(table["Kurt G"]["total"]) == machine
    assert table["Emmy"]["note"] == submissions.NOTHING and len(table) == 2


def autograded(place: Path, text: str, name: str) -> dict:
    """What Gradescope reads after it called the autograder in this place of /autograder."""
    (place / "submission").mkdir(exist_ok=True)
    (place / "submission" / f"{name}.ipynb").write_text(text)
    done = subprocess.run(
        ["bash", place / "source" / "run_autograder"],
        env=os.environ | {"AUTOGRADER": str(place), "AUTOGRADER_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    result = json.loads((place / "results" / "results.json").read_text())
    jsonschema.validate(result, GRADESCOPE)
    return result


def unpacked(assignment: source.Assignment, place: Path, student: str) -> None:
    """The autograder and whose submission it is, as Gradescope lays them out."""
    with zipfile.ZipFile(io.BytesIO(build.autograder(assignment, KEY))) as packed:
        packed.extractall(place / "source")
    users = {"users": [{"email": student, "name": "Ada"}]}
    (place / "submission_metadata.json").write_text(json.dumps(users))


@pytest.mark.parametrize("name", [path.stem for path in (ROOT / source.FOLDER).glob("*.md")])
def test_gradescopes_autograder_gives_a_solution_all_points(name: str, tmp_path: Path) -> None:
    """Unpacked and called as Gradescope does it, with a folder in place of /autograder."""
    student = "ada@example.org"
    assignment = source.load(ROOT / source.FOLDER / f"{name}.md")
    unpacked(assignment, tmp_path, student)
    own = notebooks.values_of(assignment, KEY, student)
    result = autograded(tmp_path, notebooks.solution(assignment, own), name)
    machine = sum(q.total for q in assignment.questions.values() if not q.by_hand)
    assert sum(test["score"] for test in result["tests"]) == machine
    assert sum(test["max_score"] for test in result["tests"]) == machine


def test_gradescopes_autograder_takes_points_away_as_ours_does(tmp_path: Path) -> None:
    student = "ada@example.org"
    unpacked(ASSIGNMENT, tmp_path, student)
    own = notebooks.values_of(ASSIGNMENT, KEY, student)
    wrong = {"margin": ASSIGNMENT.questions["margin"].wrong[0].source}
    texts = {
        22.0: notebooks.solution(ASSIGNMENT, own, replaced=wrong),
        0.0: notebooks.student(ASSIGNMENT, own),
    }
    for expected, text in texts.items():
        result = autograded(tmp_path, text, "projectors")
        assert sum(test["score"] for test in result["tests"]) == expected
    (tmp_path / "submission" / "second.ipynb").write_text("{}")
    result = autograded(tmp_path, texts[0.0], "projectors")
    assert result["score"] == 0 and "2 notebooks" in result["output"]


def test_names_of_folders_are_safe_and_differ() -> None:
    names = [
        "../../etc",
        "a/b",
        "ab",
        "A",
        "a",
        "名前",
        "名",
        ".",
        "..",
        "x" * 300,
        "con",
        "a b",
        "é",
    ]
    made = [gradebook.slug(name) for name in names]
    assert len({each.lower() for each in made}) == len(names)
    assert all(re.fullmatch(r"[A-Za-z0-9_@][A-Za-z0-9_.@-]{0,60}", each) for each in made)
    assert keys.identity("名前") == "名前"
