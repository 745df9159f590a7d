"""What is handed out: no secret is in it, it runs, and nbgrader takes it."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import nbformat
import pytest
from lowdim.course import build, judging, keys, notebooks, source
from lowdim.course.jail import Limits
from lowdim.course.keys import CourseError
from lowdim.course.notebooks import SMALL
from lowdim.course.source import Assignment

ROOT = Path(__file__).resolve().parents[2]
ASSIGNMENTS = {
    path.stem: source.load(path) for path in sorted((ROOT / source.FOLDER).glob("*.md"))
} | {"small": source.parse(SMALL, name="small")}
KEY = b"a key that nobody should ever see"
ROSTER = ["Ada", "Kurt G", "Emmy"]


@pytest.fixture(scope="module", params=ASSIGNMENTS.values(), ids=lambda a: a.name)
def assignment(request: pytest.FixtureRequest) -> Assignment:
    return request.param


@pytest.fixture(scope="module")
def built(assignment: Assignment, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built") / "out"
    build.build(assignment, KEY, folder, roster=ROSTER)
    return folder


def secret_lines(assignment: Assignment) -> set[str]:
    """Every line of code or words that students must not get, unless they are given it too."""
    secret: set[str] = set()
    for cell in notebooks.secrets_of(assignment):
        secret |= {line.strip() for line in cell.source.split("\n")}
    given: set[str] = set()
    for question in assignment.questions.values():
        inside = False
        for line in question.answer.source.split("\n"):
            if line.strip() in (source.BEGIN, source.END):
                inside = line.strip() == source.BEGIN
            elif inside:
                secret.add(line.strip())
            else:
                given.add(line.strip())
    for cell in assignment.cells:
        if cell.role in ("", "given", "check", "sample"):
            given |= {line.strip() for line in cell.source.split("\n")}
    return {line for line in secret - given if len(line) > 8 and re.search(r"\w{3}", line)}


def texts(path: Path) -> str:
    """All that can be read in a file, with the lines of notebooks put together."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        text += "\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"])
    return text


def test_nothing_that_students_get_has_a_secret(assignment: Assignment, built: Path) -> None:
    secrets = secret_lines(assignment)
    assert len(secrets) > 5
    released = [path for path in (built / "released").rglob("*") if path.is_file()]
    assert len(released) >= len(ROSTER) + 2
    seeds = {
        str(keys.seed(KEY, assignment.name, name, purpose))
        for name in [*ROSTER, "nbgrader", notebooks.EXAMPLE]
        for purpose in ["values", *assignment.questions]
    }
    for path in released:
        text = texts(path)
        assert path.suffix in (".ipynb", ".json")
        assert KEY.decode() not in text and not [seed for seed in seeds if seed in text]
        found = [line for line in secrets if line in text]
        assert not found, f"{path.name} has {found[0]!r}"
        assert not re.search("HIDDEN TESTS|BEGIN SOLUTION|judge|[Rr]ubric", text)


def test_the_search_for_secrets_finds_them_where_they_are(
    assignment: Assignment, built: Path
) -> None:
    secrets = secret_lines(assignment)
    text = texts(built / "kept" / "instructor" / f"{assignment.name}.ipynb")
    assert not [line for line in secrets if line not in text]


def test_hidden_inputs_are_in_nothing_that_students_get(
    assignment: Assignment, built: Path
) -> None:
    """The numbers themselves: no entry of a hidden array stands in a released file."""
    text = "".join(texts(p) for p in (built / "released").rglob("*") if p.is_file())
    for question in assignment.questions.values():
        if question.by_hand:
            continue
        space = judging.prepare([c.source for c in [*assignment.shared, *question.hidden]])
        for student in ROSTER:
            values = notebooks.values_of(assignment, KEY, student)
            rng = keys.generator(KEY, assignment.name, student, question.name)
            for case in space["cases"](rng, values):
                for number in re.findall(r"\d\.\d{6,}", repr(case)):
                    assert number not in text


def test_every_notebook_is_valid_and_the_same_bytes_again(
    assignment: Assignment, built: Path, tmp_path: Path
) -> None:
    build.build(assignment, KEY, tmp_path / "again", roster=ROSTER)
    files = sorted(p.relative_to(built) for p in built.rglob("*") if p.is_file())
    again = sorted(p.relative_to(tmp_path / "again") for p in (tmp_path / "again").rglob("*.*"))
    assert [f for f in again if (tmp_path / "again" / f).is_file()] == files
    for file in files:
        assert (built / file).read_bytes() == (tmp_path / "again" / file).read_bytes()
        if file.suffix == ".ipynb":
            nbformat.validate(nbformat.read(built / file, as_version=4))


def run(notebook: Path) -> tuple[str, dict]:
    """Run the code of a notebook of ours from top to bottom; what it prints, and its names."""
    space: dict = {}
    before = os.getcwd()
    os.chdir(notebook.parent)
    try:
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
                if cell["cell_type"] == "code":
                    exec("".join(cell["source"]), space)
    finally:
        os.chdir(before)
    return printed.getvalue(), space


def test_an_untouched_notebook_runs_to_its_end(assignment: Assignment, built: Path) -> None:
    released = sorted((built / "released").rglob("*.ipynb"))
    for path in released:
        printed, space = run(path)
        checks = sum(cell.role in ("check", "sample") for cell in assignment.cells)
        assert printed.count("not answered yet") == checks
        if assignment.values is not None:
            assert isinstance(space["values"], dict)


def test_the_instructors_notebook_runs_and_its_checks_hold(
    assignment: Assignment, built: Path
) -> None:
    printed, _ = run(built / "kept" / "instructor" / f"{assignment.name}.ipynb")
    assert "not answered" not in printed


def test_values_are_the_students_own(assignment: Assignment, built: Path) -> None:
    if assignment.values is None:
        pytest.skip("it has no values of one's own")
    table = json.loads((built / f"released/nbgrader/{assignment.name}/values.json").read_text())
    assert set(table) == {notebooks.EXAMPLE, *ROSTER}
    for student in ROSTER:
        (path,) = (built / "released" / "plain").glob(f"{build.slug(student)}/*.ipynb")
        assert run(path)[1]["values"] == table[student]
        assert table[student] == notebooks.values_of(assignment, KEY, student)


def test_minutes_and_points_are_told(assignment: Assignment, built: Path) -> None:
    text = texts(next((built / "released" / "plain").rglob("*.ipynb")))
    for question in assignment.questions.values():
        assert f"**{question.name}**: {question.total:g} points, about {question.minutes} " in text


def test_what_an_answer_prints_is_shown(assignment: Assignment, built: Path) -> None:
    """The output of the solution, in every notebook that students get; theirs replaces it."""
    if assignment.name in ("small", "project"):
        pytest.skip("it shows no sample")
    for path in (built / "released").rglob("*.ipynb"):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        (shown,) = ["".join(o["text"]) for c in cells for o in c.get("outputs", [])]
        assert re.search(r"\d\.", shown) and "not answered" not in shown


def test_sample_output_is_kept() -> None:
    shown = "```{code-cell} python\n:tags: [sample]\n:question: twice\nprint(twice(21))\n```\n"
    made = json.loads(notebooks.student(source.parse(SMALL + shown, name="small"), {}))
    assert made["cells"][-1]["outputs"] == [
        {"name": "stdout", "output_type": "stream", "text": ["42\n"]}
    ]


@pytest.mark.parametrize(
    ("roster", "formats", "sentence"),
    [
        ([], ["plain"], "give their list"),
        (ROSTER, ["pdf"], "one of plain, nbgrader, gradescope; you gave pdf"),
    ],
)
def test_what_cannot_be_built_is_refused_and_nothing_written(
    tmp_path: Path, roster: list[str], formats: list[str], sentence: str
) -> None:
    with pytest.raises(CourseError, match=sentence):
        build.build(
            ASSIGNMENTS["projectors"], KEY, tmp_path / "out", roster=roster, formats=formats
        )
    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_something_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    with pytest.raises(CourseError, match="there already"):
        build.build(ASSIGNMENTS["small"], KEY, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "has no names"),
        ("Ada\n# x\nAda\n", "has Ada twice"),
        ("../x\n", "no slash"),
        ("example", "'example'"),
    ],
)
def test_a_list_of_students_has_each_name_once(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "roster"
    path.write_text(text)
    with pytest.raises(CourseError, match=sentence):
        build.read_roster(path)
    path.write_text("# week 1\nAda\n\n Kurt \n")
    assert build.read_roster(path) == ["Ada", "Kurt"]


def test_the_autograder_stands_alone(tmp_path: Path) -> None:
    """It needs nothing of the library but what is packed, and numpy, yaml and tqdm."""
    data = build.autograder(ASSIGNMENTS["projectors"], KEY)
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        names = packed.namelist()
        modules = {n: packed.read(n).decode() for n in names if n.endswith(".py")}
        assert {"setup.sh", "run_autograder"} <= set(names)
        assert packed.getinfo("run_autograder").external_attr >> 16 & 0o111
    own = {"lowdim", "numpy", "yaml", "tqdm"} | set(sys.stdlib_module_names)
    for name, text in modules.items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("lowdim."):
                assert (node.module or "").startswith("lowdim.course"), name
            tops = (
                [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else [node.module or ""]
                if isinstance(node, ast.ImportFrom)
                else []
            )
            assert {top.partition(".")[0] for top in tops} <= own, name


def test_what_students_are_told_is_what_they_have() -> None:
    told = (ROOT / "book" / "students.md").read_text(encoding="utf-8")
    assert "about twenty seconds and two gigabytes" in told
    assert (Limits().seconds, Limits().memory) == (20, 2 << 30)
    for word in source.STUB[1:]:
        assert f"`{word}`" in told


def test_lecturers_are_told_of_every_assignment_and_no_other() -> None:
    told = (ROOT / "book" / "lecturers.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(\w+)` \|", told, re.M)) == set(ASSIGNMENTS) - {"small"}
    planned = set(re.findall(r"\| `(\w+)` \|$", told, re.M))
    assert planned == set(ASSIGNMENTS) - {"small"}


NBGRADER = ROOT / ".venv/nbgrader/bin/nbgrader"  # by make nbgrader


@pytest.fixture
def nbgrader_there() -> None:
    if not NBGRADER.is_file():
        reason = "nbgrader is not installed: run make nbgrader"
        if os.environ.get("CI", "").lower() in ("1", "true", "yes"):
            pytest.fail(reason)
        pytest.skip(reason)


def with_nbgrader(command: list[str], course: Path) -> str:
    """What a command of nbgrader prints, run in this folder of a course."""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "lib"), "HOME": str(course)}
    environment["PATH"] = f"{NBGRADER.parent}:{environment['PATH']}"
    done = subprocess.run(
        command, cwd=course, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


# all assignments in one process of nbgrader: most of the time goes into starting one
EVERY = """
import json, sys
from nbgrader.apps.api import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from traitlets.config.loader import PyFileConfigLoader
config = PyFileConfigLoader("nbgrader_config.py").load_config()
config.CourseDirectory.root = sys.argv[1]
api = NbGraderAPI(CourseDirectory(config=config), config=config)
found = {}
for name in sys.argv[2:]:
    for done in (api.generate_assignment(name), api.autograde(name, "Ada")):
        assert done["success"], done
    with api.gradebook as book:
        found[name] = book.find_submission(name, "Ada").score
print(json.dumps(found))
"""


@pytest.mark.usefixtures("nbgrader_there")
def test_nbgrader_gives_every_solution_all_points(tmp_path: Path) -> None:
    course, expected = tmp_path / "course", {}
    for name, assignment in ASSIGNMENTS.items():
        build.build(assignment, KEY, tmp_path / name, roster=ROSTER, formats=["nbgrader"])
        shutil.copytree(tmp_path / name / "kept" / "nbgrader", course, dirs_exist_ok=True)
        place = course / "submitted" / "Ada" / name
        place.mkdir(parents=True)
        own = notebooks.values_of(assignment, KEY, "Ada")
        (place / f"{name}.ipynb").write_text(notebooks.solution(assignment, own))
        expected[name] = sum(q.total for q in assignment.questions.values() if not q.by_hand)
    python = str(NBGRADER.with_name("python"))
    told = with_nbgrader([python, "-c", EVERY, str(course), *expected], course)
    assert json.loads(told.splitlines()[-1]) == expected


@pytest.mark.usefixtures("nbgrader_there")
def test_nbgrader_takes_the_source_and_grades_what_comes_back(tmp_path: Path) -> None:
    """Its own tools: a release as ours, all points for the solution, none for the stub."""
    assignment = ASSIGNMENTS["projectors"]
    build.build(assignment, KEY, tmp_path / "out", roster=ROSTER, formats=["nbgrader"])
    course = tmp_path / "out" / "kept" / "nbgrader"

    def nbgrader(*words: str) -> None:
        with_nbgrader([str(NBGRADER), *words], course)

    name = assignment.name
    nbgrader("generate_assignment", name)
    theirs = json.loads((course / "release" / name / f"{name}.ipynb").read_text())
    ours = json.loads((tmp_path / f"out/released/nbgrader/{name}/{name}.ipynb").read_text())
    sources = ["".join(cell["source"]) for cell in theirs["cells"]]
    assert [s.strip() for s in sources] == ["".join(c["source"]).strip() for c in ours["cells"]]
    values = notebooks.values_of(assignment, KEY, "Ada")
    wrong = {
        question.name: question.wrong[0]
        for question in assignment.questions.values()
        if question.wrong
    }
    handed_in = {
        "Ada": notebooks.solution(assignment, values),
        "Emmy": json.dumps(ours),
        "Kurt": notebooks.solution(
            assignment, values, replaced={n: cell.source for n, cell in wrong.items()}
        ),
    }
    for student, text in handed_in.items():
        place = course / "submitted" / student / name
        place.mkdir(parents=True)
        (place / f"{name}.ipynb").write_text(text)
    nbgrader("autograde", name)
    nbgrader("export", "--to", str(tmp_path / "grades.csv"))
    lines = (tmp_path / "grades.csv").read_text().splitlines()
    rows = [dict(zip(lines[0].split(","), line.split(","), strict=True)) for line in lines[1:]]
    points = {row["student_id"]: float(row["raw_score"]) for row in rows}
    by_machine = sum(q.total for q in assignment.questions.values() if not q.by_hand)
    lost = sum(
        assignment.questions[n].points[p]
        for n, cell in wrong.items()
        for p in cell.options["loses"]
    )
    assert points == {"Ada": by_machine, "Emmy": 0.0, "Kurt": by_machine - lost}
