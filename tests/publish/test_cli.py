"""The command line: what it says, what it writes, what it returns."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pytest
from lowdim.publish import (
    chapters,
    cli,
    execute,
    executor,
    kernels,
    records,
    running,
    tables,
)

REPOSITORY = Path(__file__).resolve().parents[2]
LOWDIM = [sys.executable, "-c", "import sys; from lowdim.publish.cli import main; sys.exit(main())"]


def refused(capsys, *words: str) -> str:
    """Run a command that must be refused; return its one sentence."""
    assert cli.main(list(words)) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("lowdim: ")
    assert err.endswith(".\n")
    assert err.count("\n") == 1
    return err.removeprefix("lowdim: ").strip()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["run", "weyl", "-p", "nois=1"],
            "weyl has no parameter 'nois'; it has: trials, noise, kind, seed "
            "(did you mean 'noise'?).",
        ),
        (["run", "weyl", "-p", "noise=-1"], "noise must be above 0; you gave -1."),
        (
            ["run", "weyl", "-p", "trials=ten"],
            "trials must be a whole number, 1 or more; you gave 'ten'.",
        ),
        (
            ["run", "weyl", "-p", "trials"],
            "-p wants NAME=VALUE, as in -p seed=1; you gave 'trials'.",
        ),
        (
            ["run", "weyl", "-p", "trials=1.5e0"],
            "trials must be a whole number, 1 or more; you gave '1.5e0'.",
        ),
        (["run", "weyl", "-p", "seed=1", "-p", "seed=2"], "-p seed was given twice."),
        (["run", "wyl"], "There is no chapter 'wyl'; chapters are: preserve/weyl."),
        (
            ["run", "weyl", "--preset", "papr"],
            "weyl has no preset 'papr'; it has: paper (did you mean 'paper'?).",
        ),
        (
            ["record", "weyl", "--preset", "big"],
            "weyl has no preset 'big'; it has: paper.",
        ),
        (
            ["record", "weyl"],
            "The following arguments are required: --preset; 'lowdim record' takes "
            "-h/--help, CHAPTER, --preset.",
        ),
        (
            ["ledger", "--jsn"],
            "Unknown: --jsn; 'lowdim ledger' takes -h/--help, --json.",
        ),
        (
            ["frob"],
            "Argument COMMAND: invalid choice: 'frob'; 'lowdim' takes -h/--help, --version, "
            "one of chapters, run, compare, sweep, record, ledger, data, book, serve, pdf, "
            "course, report, references.",
        ),
    ],
)
def test_usage_errors_are_one_sentence_and_write_nothing(book, capsys, words, sentence):
    book.chapter()
    book.presets("preserve/weyl:\n  paper: {trials: 100}\n")
    before = book.files()
    assert refused(capsys, *words) == sentence
    assert book.files() == before


def test_a_folder_that_cannot_be_is_refused_before_the_run(book, capsys, tmp_path, monkeypatch):
    book.chapter()
    monkeypatch.setattr(running, "execute", lambda *a, **k: pytest.fail("it ran"))
    (tmp_path / "file").write_text("")
    said = refused(capsys, "run", "weyl", "-o", str(tmp_path / "file" / "out"))
    assert "is a file, not a folder" in said


def test_no_book(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("LOWDIM_ROOT", str(tmp_path))
    assert "No book found" in refused(capsys, "chapters")


def test_chapters_lists_everything(book, capsys):
    book.chapter("preserve/weyl")
    book.chapter("collapse/other", claim="collapse.figure-2", title="Another")
    book.presets("preserve/weyl:\n  paper: {trials: 100, kind: normal}\n")
    assert cli.main(["chapters"]) == 0
    out = capsys.readouterr().out
    for piece in (
        "preserve/weyl\n  Weyl — noise moves",
        "claims: preserve.theorem-9-1",
        "trials = 10       instances in each attack; 1 or more\n",
        "kind = 'uniform'  how the weights begin; one of uniform, normal\n",
        "paper: trials = 100, kind = 'normal'",
        "collapse/other\n  Another",
    ):
        assert piece in out
    assert cli.main(["chapters", "other"]) == 0
    assert "weyl" not in capsys.readouterr().out


@pytest.mark.parametrize("words", [["--help"], ["run", "weyl", "-p", "noise=0"], ["chapters"]])
def test_nothing_heavy_is_imported_for_help_and_errors(book, words):
    book.chapter()
    code = (
        "import sys; from lowdim.publish.cli import main; main(sys.argv[1:]); "
        "heavy = {'torch', 'numpy', 'nbformat', 'jupytext', 'papermill', 'sphinx', 'jsonschema', "
        "'jupyter_client'} & set(sys.modules); sys.exit(str(heavy) if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


class Addresses(HTMLParser):
    """Every address that a page loads or links to."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.found += [value for key, value in attrs if key in ("href", "src") and value]


@pytest.mark.chapter
def test_run_writes_notebook_page_and_record(book, capsys, tmp_path):
    book.chapter(body="print('cwd', os.path.basename(os.getcwd()), sys.executable)")
    book.presets("preserve/weyl:\n  paper: {trials: 100, noise: 2}\n")
    out = tmp_path / "out"
    words = ["run", "weyl", "-p", "trials=7", "--preset", "paper", "-o", str(out)]
    before = book.files()
    assert cli.main(words) == 0
    said = capsys.readouterr()
    assert said.err == "running preserve/weyl\n"
    assert said.out.startswith("preserve.theorem-9-1: holds\n")
    assert book.files() == before
    assert sorted(p.name for p in out.iterdir()) == [
        "weyl.html",
        "weyl.ipynb",
        "weyl.record.json",
        "weyl_files",
    ]

    record = records.read(out / "weyl.record.json")
    assert record["preset"] == "paper"
    assert record["parameters"] == {"trials": 7, "noise": 2.0, "kind": "uniform", "seed": 0}
    assert record["claims"][0]["trials"] == 14  # derived from trials in a later cell

    nb = nbformat.read(out / "weyl.ipynb", 4)
    nbformat.validate(nb)
    assert nb.metadata.lowdim.parameters.trials == 7
    assert nb.metadata.lowdim.chapter == "preserve/weyl"
    assert "papermill" not in nb.metadata
    printed = "".join(o.text for c in nb.cells for o in c.get("outputs", []) if "text" in o)
    assert printed == f"cwd preserve {sys.executable}\n"

    page = (out / "weyl.html").read_text()
    assert "Theorem 1" in page
    assert "Hermann Weyl" in page  # the citation, in the list of references
    assert "holds  trials 14  noise 2.0" in page
    assert "A run of your own" in page
    assert "lowdim run preserve/weyl -p trials=7 -p noise=2.0" in re.sub(r"<[^>]+>", "", page)
    assert "not.in-this-chapter" in page
    addresses = Addresses()
    addresses.feed(page)
    local = [a for a in addresses.found if not a.startswith("#")]
    assert local
    for address in local:
        assert not re.match(r"^(\w+:|/)", address), address
        assert (out / re.split(r"[?#]", address)[0]).is_file(), address
    assert any("mathjax/" in a for a in local)


@pytest.mark.chapter
def test_a_second_run_replaces_the_first(book, tmp_path, monkeypatch):
    from lowdim.publish import standalone

    def page(nb, *, name, root, folder, **more):
        (folder / f"{name}.html").write_text("page")
        (folder / f"{name}_files").mkdir()
        return folder / f"{name}.html"

    monkeypatch.setattr(standalone, "render", page)
    book.chapter()
    chapter = chapters.resolve("weyl")
    (tmp_path / "keep.txt").write_text("mine")
    first = running.run(chapter, {"trials": 3}, output_dir=tmp_path)
    (tmp_path / "weyl_files" / "old").write_text("")
    second = running.run(chapter, {"trials": 4}, output_dir=tmp_path)
    assert first.record_path == second.record_path
    assert records.read(second.record_path)["parameters"]["trials"] == 4
    assert not (tmp_path / "weyl_files" / "old").exists()
    assert (tmp_path / "keep.txt").read_text() == "mine"


@pytest.mark.chapter
def test_a_finished_run_is_never_lost(book, capsys, tmp_path, monkeypatch):
    """Neither to a full disk nor to a page that cannot be rendered."""
    from lowdim.publish import renderer

    book.chapter()
    out = tmp_path / "out"

    def full(staged, folder):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(running, "_move_into_place", full)
        assert cli.main(["run", "weyl", "--no-page", "-o", str(out)]) == 1
    said = capsys.readouterr().err.splitlines()[-1]
    assert "no space left" in said
    rescued = Path(said.rpartition(" are in ")[2].removesuffix("."))
    assert {path.name for path in rescued.iterdir()} == {"weyl.ipynb", "weyl.record.json"}
    assert records.read(rescued / "weyl.record.json")["chapter"] == "preserve/weyl"
    shutil.rmtree(rescued)

    def broken(self, book):
        raise renderer.PageFailed("The page could not be rendered; the renderer said:\nno")

    monkeypatch.setattr(renderer.Renderer, "build", broken)
    assert cli.main(["run", "weyl", "-o", str(out)]) == 1
    assert f"its notebook and record are in {out}, but not its page" in capsys.readouterr().err
    assert {path.name for path in out.iterdir()} == {"weyl.ipynb", "weyl.record.json"}


@pytest.mark.parametrize(
    ("folder", "why"),
    [
        ("", "an empty one"),
        ("/proc/x", "Cannot write to /proc/x"),
        ("x" * 300, "more than"),
        (".git/x", ".git belongs to git"),
    ],
)
def test_where_nothing_can_be_written_nothing_is_computed(book, capsys, monkeypatch, folder, why):
    book.chapter()
    monkeypatch.setattr(running, "execute", lambda *a, **k: pytest.fail("it ran"))
    before = book.files()
    assert why in refused(capsys, "run", "weyl", "-o", folder)
    assert book.files() == before


@pytest.mark.chapter
def test_a_failing_chapter_says_where_and_leaves_nothing(book, capsys, tmp_path):
    book.chapter(body="raise ValueError('rank must be 1 or more; you gave 0')")
    before = book.files()
    out = tmp_path / "out"
    assert cli.main(["run", "weyl", "-p", "trials=3", "-o", str(out)]) == 1
    running_now, first, *tail = capsys.readouterr().err.splitlines()
    assert running_now == "running preserve/weyl"
    assert first == (
        "lowdim: preserve/weyl failed in code cell 3 "
        "('import os, platform, sys'): ValueError: rank must be 1 or more; you gave 0."
    )
    assert tail[-1] == "ValueError: rank must be 1 or more; you gave 0"
    assert "\x1b" not in "".join(tail)
    assert not out.exists()
    assert book.files() == before


@pytest.mark.chapter
def test_a_chapter_without_record_is_a_failure(book, capsys, tmp_path):
    path = book.chapter()
    path.write_text(path.read_text().replace('metadata={"lowdim_record": record}', "metadata={}"))
    assert cli.main(["run", "weyl", "-o", str(tmp_path / "out")]) == 1
    assert "preserve/weyl left no record" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.chapter
def test_record_is_kept_in_the_book(book, capsys):
    book.chapter()
    book.presets("preserve/weyl:\n  paper: {trials: 50}\n")
    before = book.files()
    assert cli.main(["record", "weyl", "--preset", "paper"]) == 0
    kept = "book/records/preserve/weyl.paper.json"
    assert book.files() - before == {kept}
    assert capsys.readouterr().out.strip().endswith(kept)
    record = records.read(book.root / kept)
    assert (record["preset"], record["parameters"]["trials"]) == ("paper", 50)


@pytest.mark.chapter
@pytest.mark.skipif(sys.platform == "win32", reason="sends a signal")
@pytest.mark.parametrize(
    ("sent", "code", "last"),
    [
        (signal.SIGINT, 130, [b"lowdim: interrupted."]),
        (signal.SIGTERM, 143, []),
        (signal.SIGKILL, -9, []),
    ],
)
def test_an_interrupted_run_leaves_nothing_and_no_kernel(book, tmp_path, sent, code, last):
    mark = tmp_path / "pid"
    book.chapter(
        body=f"import time\nopen({str(mark)!r}, 'w').write(str(os.getpid()))\ntime.sleep(60)"
    )
    before = book.files()
    out = tmp_path / "out"
    # A shell starts background jobs with SIGINT ignored, and children inherit that.
    job = subprocess.Popen(
        [*LOWDIM, "run", "weyl", "-o", str(out)],
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    until = time.monotonic() + 60
    while not (mark.exists() and mark.read_text()):
        assert time.monotonic() < until, "the chapter never began"
        time.sleep(0.1)
    job.send_signal(sent)
    _, err = job.communicate(timeout=30)
    assert job.returncode == code, err
    told = [line for line in err.splitlines() if not line.startswith((b"running", b"preserve/"))]
    assert told == last, "apart from lines of progress"
    assert not out.exists()
    assert book.files() == before
    pid = int(mark.read_text())
    until = time.monotonic() + 10
    while _alive(pid):
        assert time.monotonic() < until, "the kernel outlived its run"
        time.sleep(0.1)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat")
    return not (state.exists() and state.read_text().rpartition(")")[2].split()[0] == "Z")


def test_a_kernel_is_this_interpreter_whatever_is_registered(tmp_path, monkeypatch):
    from jupyter_client.manager import KernelManager

    elsewhere = tmp_path / "kernels" / "python3"
    elsewhere.mkdir(parents=True)
    spec = {"argv": ["/no/such/python"], "display_name": "Python 3", "language": "python"}
    (elsewhere / "kernel.json").write_text(json.dumps(spec))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    made = kernels.manager_class(KernelManager, {"A": "1"})(kernel_name="python3")
    assert KernelManager(kernel_name="python3").kernel_spec.argv == ["/no/such/python"]
    assert made.kernel_spec.argv[0] == sys.executable
    assert made.kernel_spec.env == {"A": "1"}
    assert os.path.isabs(made.connection_file)


ROW = {
    "id": "preserve.theorem-3-1",
    "part": "preserve",
    "kind": "theorem",
    "source": "Some Neural Networks Inherently Preserve Subspace Clustering Structure, Theorem 3.1",
    "verdict": "repaired",
    "tags": ["vacuous", "typo"],
    "trials": 20000,
    "violations": 3,
    "tightness": 0.123456,
    "seed": 0,
    "seconds": 12.34,
    "chapter": "preserve/theorem_3_1",
}


@pytest.mark.parametrize("width", [60, 80, 100, 140, 200])
def test_the_ledger_fits_the_terminal(width):
    other = ROW | {"id": "preserve.new-tangent", "tightness": None, "tags": []}
    text = tables.ledger_table([ROW, other], width=width)
    assert max(map(len, text.splitlines())) <= width
    squeezed = " ".join(text.split())
    for piece in ("preserve.theorem-3-1", "20000", "0.123", "[vacuous]", "preserve.new-tangent"):
        assert piece in squeezed
    assert tables.ledger_table([]) == "No claims yet."


def test_ledger_rows_hold_the_promised_fields():
    record = {
        "chapter": "preserve/x",
        "title": "X",
        "seed": 4,
        "seconds": 2.5,
        "claims": [{**ROW, "statement": "s", "evidence": "e", "ladder": []}],
    }
    for key in ("chapter", "seed", "seconds"):
        record["claims"][0].pop(key)
    [row] = cli.ledger_rows([record])
    promised = "id part kind source verdict trials violations tightness seed seconds chapter"
    assert set(promised.split()) <= set(row)
    assert (row["seed"], row["seconds"], row["chapter"]) == (4, 2.5, "preserve/x")


@pytest.mark.chapter
def test_ledger_runs_what_is_needed(book, capsys):
    book.chapter("preserve/good")
    book.chapter("preserve/bad", claim="preserve.lemma-9-2", body="raise ValueError('no')")
    assert cli.main(["ledger", "--json"]) == 1
    out, err = capsys.readouterr()
    [row] = json.loads(out)
    assert (row["id"], row["verdict"], row["trials"]) == ("preserve.theorem-9-1", "holds", 20)
    assert (row["chapter"], row["title"][:4], row["seed"]) == ("preserve/good", "Weyl", 0)
    assert "preserve/bad failed" in err
    assert "ValueError: no" in err


def pytest_on(book, *options: str) -> subprocess.CompletedProcess[str]:
    """The project's own chapter tests, pointed at a small book."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        str(REPOSITORY / "tests" / "chapters" / "test_notebooks.py"),
    ]
    env = os.environ | {"LOWDIM_ROOT": str(book.root), "NO_COLOR": "1"}
    return subprocess.run(
        [*command, "-q", "-p", "no:cacheprovider", *options],
        cwd=REPOSITORY,
        env=env,
        capture_output=True,
        text=True,
    )


@pytest.mark.chapter
def test_nbval_passes_what_agrees_also_in_parallel(book, capsys):
    book.chapter("preserve/one")
    book.chapter("preserve/two", claim="preserve.lemma-9-2")
    book.presets("preserve/one:\n  ci: {trials: 3}\n")
    assert cli.main(["references"]) == 0
    assert "trials 6 " in (book.root / "tests/references/preserve/one.json").read_text()
    assert cli.main(["references", "--check"]) == 0
    for options in ([], ["-n", "2"], ["-n", "2", "--dist", "loadfile", "--nbval-lax"]):
        done = pytest_on(book, *options)
        assert done.returncode == 0, done.stdout
        assert "4 passed" in done.stdout
    # The run with the defaults is the book's from now on; the other one had parameters of its own.
    one, two = execute.execute_all(book.root, progress=False)
    assert (one.cached, two.cached) == (False, True)
    again = executor.execute(book.root, "preserve/two", one_thread=True)
    shown = [[c.outputs for c in nb.cells if "outputs" in c] for nb in (two.notebook, again)]
    assert shown[0] == shown[1]
    assert two.notebook.metadata.language_info == again.metadata.language_info


@pytest.mark.chapter
def test_nbval_catches_a_wrong_value_and_a_raising_cell(book, capsys):
    path = book.chapter(body="size = 1")
    assert cli.main(["references"]) == 0
    capsys.readouterr()
    text = path.read_text()

    path.write_text(text.replace("doubled = 2 * trials", "doubled = 3 * trials"))
    done = pytest_on(book)
    assert done.returncode == 1, done.stdout
    assert "trials 20" in done.stdout
    assert "trials 30" in done.stdout
    assert "lowdim references preserve/weyl" in done.stdout
    assert cli.main(["references", "--check"]) == 1
    assert "preserve/weyl: differs" in capsys.readouterr().out

    path.write_text(text.replace("size = 1", "raise RuntimeError('broken here')"))
    done = pytest_on(book)
    assert done.returncode == 1, done.stdout
    assert "broken here" in done.stdout


@pytest.mark.chapter
def test_nbval_refuses_missing_stale_and_empty_references(book, capsys):
    path = book.chapter()
    done = pytest_on(book)
    assert done.returncode == 2, done.stdout
    assert "preserve/weyl has no reference: run `lowdim references preserve/weyl`" in done.stdout

    assert cli.main(["references"]) == 0
    reference = book.root / "tests" / "references" / "preserve" / "weyl.json"
    good = reference.read_text()
    text = path.read_text()
    path.write_text(text.replace("verdict']}  trials", "verdict']}   trials"))
    done = pytest_on(book)
    assert done.returncode == 1, done.stdout
    assert "shows something else" in done.stdout
    assert "If the new output is right: `lowdim references preserve/weyl`" in done.stdout

    path.write_text(text.replace("seed = 0 ", "seed = 1 "))
    done = pytest_on(book)
    assert done.returncode == 2, done.stdout
    assert "is stale, its parameters changed" in done.stdout

    path.write_text(text)
    stored = json.loads(good)
    stored["cells"] = [[] for _ in stored["cells"]]
    reference.write_text(json.dumps(stored))
    done = pytest_on(book)
    assert done.returncode == 2, done.stdout
    assert "has a check cell without output" in done.stdout

    reference.write_text(good)
    (reference.parent / "gone.json").write_text("{}")
    done = pytest_on(book)
    assert done.returncode == 1, done.stdout
    assert "remove the references of chapters that went" in done.stdout


@pytest.mark.parametrize("code", [0, 3])
def test_book_returns_what_the_build_returns(book, monkeypatch, code):
    from lowdim.publish import build

    asked = []
    monkeypatch.setattr(build, "build_book", lambda root: asked.append(root) or code)
    book.chapter()
    assert cli.main(["book"]) == code
    assert asked == [book.root.resolve()]
