"""A sweep as a whole: the same runs as papermill's, none lost, none twice, whatever is killed."""

from __future__ import annotations

import csv
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest
from lowdim.publish import chapters, cli, executor
from lowdim.publish.sweeps import coordinator, plan, pools, results, shelf, workers

pytestmark = [pytest.mark.chapter, pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")]
LOWDIM = [sys.executable, "-c", "import sys; from lowdim.publish.cli import main; sys.exit(main())"]
KILLS = int(os.environ.get("LOWDIM_KILLS", "3"))  # make soak asks for a hundred
SHOWS = """
print("printed"); print("again")
from IPython.display import HTML, display
import torch
from lowdim.evidence import plots
fig, ax = plots.figure(2, 1)
ax.plot([0, seed + 1])
plots.show(fig, alt="A line.")
display(HTML("<b>shown</b>"))
torch.Generator().manual_seed(seed).initial_seed()
"""


def outputs(notebook: nbformat.NotebookNode) -> list:
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return json.loads(json.dumps([(cell.source, cell.outputs) for cell in cells]))


def swept(folder: Path) -> list[shelf.Row]:
    with shelf.Shelf(folder) as kept:
        return list(kept.rows())


def make(folder: Path, asked: dict[str, str], **more) -> results.Summary:
    chapter = chapters.resolve("weyl")
    planned = coordinator.plan(
        chapter, plan.grid(chapter, asked), folder, retry=more.pop("retry", False)
    )
    return coordinator.sweep(planned, folder, pool=pools.Local(2), **more)


def test_a_run_in_a_fork_shows_what_papermill_shows(book, tmp_path: Path) -> None:
    book.chapter(body=SHOWS)
    make(tmp_path / "sweep", {"seed": "3", "trials": "4"}, keep="all")
    [path] = (tmp_path / "sweep" / coordinator.NOTEBOOKS).iterdir()
    mine = nbformat.read(path, as_version=4)
    theirs = executor.execute(book.root, "preserve/weyl", {"seed": 3, "trials": 4}, one_thread=True)
    assert outputs(mine) == outputs(theirs)
    nbformat.validate(mine)


def test_runs_are_made_once_and_only_what_is_new_is_made(book, tmp_path: Path) -> None:
    mark = tmp_path / "marks"
    book.chapter(body=f"open({str(mark)!r}, 'a').write(str(seed) + '\\n')")
    folder = tmp_path / "sweep"
    first = make(folder, {"seed": "0:3"})
    assert (first.done, first.failed) == (3, 0)
    make(folder, {"seed": "0:3"})
    make(folder, {"seed": "0:5"})
    assert sorted(mark.read_text().split()) == list("01234")
    with open(folder / results.TABLE, encoding="utf-8", newline="") as table:
        rows = list(csv.DictReader(table))
    assert [row["seed"] for row in rows] == list("01234")
    assert {row["twice"] for row in rows} == {"20"}
    assert {row["theorem-9-1"] for row in rows} == {"holds"}
    assert not list(folder.glob(".scratch-*"))


def test_a_failure_is_kept_stops_nobody_and_is_tried_again_when_asked(book, tmp_path) -> None:
    gate = tmp_path / "gate"
    book.chapter(body=f"assert seed != 1 or os.path.exists({str(gate)!r}), 'the gate is shut'")
    folder = tmp_path / "sweep"
    found = make(folder, {"seed": "0:3"})
    assert (found.done, found.failed) == (2, 1)
    [row] = [row for row in swept(folder) if row.state == shelf.FAILED]
    assert row.parameters == {"seed": 1}
    assert "the gate is shut" in row.error
    assert "AssertionError" in row.tail
    gate.touch()
    assert make(folder, {"seed": "0:3"}).failed == 1
    assert make(folder, {"seed": "0:3"}, retry=True).failed == 0


def test_runs_that_die_or_never_end_fail_alone(book, tmp_path: Path) -> None:
    book.chapter(
        body="import signal, time\n"
        "if seed == 0: os._exit(3)\n"
        "if seed == 1: os.kill(os.getpid(), signal.SIGKILL)\n"
        "if seed == 2: time.sleep(600)"
    )
    found = make(tmp_path, {"seed": "0:4"}, limit=3.0)
    assert (found.done, found.failed) == (1, 3)
    said = {row.parameters["seed"]: row.error for row in swept(tmp_path)}
    assert "died" in said[0]
    assert "died" in said[1]
    assert "longer than 3 seconds" in said[2]


def test_an_edit_makes_old_rows_stale_and_only_them(book, tmp_path: Path) -> None:
    path = book.chapter()
    folder = tmp_path / "sweep"
    assert make(folder, {"seed": "0:2"}).stale == 0
    path.write_text(path.read_text().replace("doubled = 2 * trials", "doubled = 3 * trials"))
    found = make(folder, {"seed": "0:1"})
    assert (found.done, found.stale) == (3, 2)
    path.write_text(path.read_text().replace("Nowhere.", "Nowhere at all."))
    assert make(folder, {"seed": "0:1"}).done == 3, "words decide nothing"


def test_an_edit_during_a_sweep_ends_it(book, tmp_path: Path) -> None:
    path = book.chapter()
    path.write_text(path.read_text().replace("pass\n", f"open({str(path)!r}, 'a').write(' ')\n"))
    with pytest.raises(coordinator.Changed, match="edited during the sweep"):
        make(tmp_path / "sweep", {"seed": "0:2"})
    assert not swept(tmp_path / "sweep")


def test_a_worker_that_is_killed_is_replaced(book, tmp_path: Path, monkeypatch) -> None:
    book.chapter()
    first = workers.Worker._ask
    killed = []

    def ask(self, request, chapter):
        if not killed:
            self._start(chapter)
            killed.append(self.process.pid)
            os.kill(self.process.pid, signal.SIGKILL)
        return first(self, request, chapter)

    monkeypatch.setattr(workers.Worker, "_ask", ask)
    assert make(tmp_path, {"seed": "0:3"}).done == 3
    assert killed


def test_killed_at_random_moments_nothing_is_lost_and_nothing_is_made_twice(book, tmp_path) -> None:
    book.chapter(body="import time; time.sleep(0.3)")
    folder = tmp_path / "sweep"
    count = 6 + 2 * KILLS
    words = [*LOWDIM, "sweep", "weyl", "-p", f"seed=0:{count}", "-o", str(folder)]
    moments = random.Random(7)
    seen: dict[str, float] = {}
    for _ in range(KILLS):
        with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as job:
            time.sleep(moments.uniform(1.0, 9.0))
            job.send_signal(moments.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT]))
        if (folder / shelf.NAME).is_file():
            now = {row.key: row.made for row in swept(folder)}
            assert all(now.get(key) == made for key, made in seen.items()), "a row was made again"
            seen = now
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = swept(folder)
    assert sorted(row.parameters["seed"] for row in rows) == list(range(count))
    assert {row.state for row in rows} == {shelf.DONE}
    assert not list(folder.glob(".scratch-*"))


def test_bad_requests_get_one_sentence_and_write_nothing(book, capsys, tmp_path: Path) -> None:
    book.chapter()
    folder = tmp_path / "out"
    cases = {
        ("-p", "seed=0:20000"): "see what they cost with --dry-run",
        ("-p", "seed=1", "-p", "seed=2"): "-p seed was given twice",
        ("-p", "seed=0:2", "--workers", "0"): "--workers must be 1 or more",
        ("-p", "seed=0:2", "--limit", "0"): "--limit must be above 0",
        ("-p", "seed=0:2", "--plan", "x.yml"): "not both",
        (): "needs parameters to vary",
    }
    for words, sentence in cases.items():
        assert cli.main(["sweep", "weyl", *words, "-o", str(folder)]) == 2
        err = capsys.readouterr().err
        assert sentence in err
        assert err.count("\n") == 1
        assert not folder.exists()
    assert cli.main(["sweep", "weyl", "-p", "seed=0:3", "--dry-run", "-o", str(folder)]) == 0
    assert "3 runs; 0 are done, 0 have failed, 3 are to be made" in capsys.readouterr().out
    assert not folder.exists()


def test_the_page_puts_first_what_differs_from_the_book(book, tmp_path: Path) -> None:
    book.chapter(body="pass")
    chapter = chapters.resolve("weyl")
    claim = {"id": "preserve.theorem-9-1", "supported": True, "trials": 1, "violations": 0}
    claim |= {"tightness": None}

    def row(seed: int, verdict: str) -> shelf.Row:
        record = {"claims": [{**claim, "verdict": verdict}], "values": {"x": seed}, "versions": {}}
        return shelf.Row(str(seed), {"seed": seed}, "done", 1.0, record, "", "", "h", 0.0)

    rows = [row(1, "holds"), row(2, "refuted"), row(3, "holds")]
    table = [results.columns(each, chapter.defaults, current=True) for each in rows]
    book_run = rows[0].record
    page = results.as_page(chapter, rows, table, {"2"}, book_run)
    body = page.partition("<tbody>")[2]
    assert body.index("theorem-9-1") < body.index("<td>1</td>")
    data = json.loads(page.partition('id="data">')[2].partition("</script>")[0])
    assert [bool(run["differs"]) for run in data["runs"]] == [True, False, False]
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")
