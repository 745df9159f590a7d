"""A sweep on a Dask cluster: the same rows, whoever dies, and nobody is left behind."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
from lowdim.publish import chapters, cli
from lowdim.publish.sweeps import coordinator, plan, pools, shelf

pytestmark = [pytest.mark.chapter, pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")]
LOWDIM = [sys.executable, "-c", "import sys; from lowdim.publish.cli import main; sys.exit(main())"]
DASK = [sys.executable, "-m", "dask"]
QUIET: Any = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


class Cluster:
    """A scheduler and workers of one thread, each a process, on 127.0.0.1."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.workers: list[subprocess.Popen] = []
        told = folder / "scheduler.json"
        told.unlink(missing_ok=True)
        words = ["--host", "127.0.0.1", "--port", "0", "--dashboard-address", "127.0.0.1:0"]
        self.scheduler = subprocess.Popen(
            [*DASK, "scheduler", *words, "--scheduler-file", str(told)], **QUIET
        )
        until(told.is_file)
        self.address = until(lambda: _address(told))

    def add(self, **environment: str) -> subprocess.Popen:
        """One more worker."""
        words = ["--no-nanny", "--no-dashboard", "--nthreads", "1", "--memory-limit", "0"]
        words += ["--host", "127.0.0.1", "--local-directory", str(self.folder / "dask")]
        self.workers.append(
            subprocess.Popen(
                [*DASK, "worker", self.address, *words], env=os.environ | environment, **QUIET
            )
        )
        return self.workers[-1]

    def wait(self, count: int) -> None:
        """Wait until the scheduler knows so many workers."""
        from distributed import Client

        with Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(count, timeout=60)

    def end(self) -> None:
        """End all, and what they have started."""
        processes = [self.scheduler, *self.workers]
        for process in processes:
            process.kill()
        for process in processes:
            process.wait()


def _address(told: Path) -> str:
    with suppress(ValueError, KeyError):
        return json.loads(told.read_text())["address"]
    return ""


def until(true: Callable[[], Any], seconds: float = 60.0) -> Any:
    """Wait until something is so, and return it."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := true():
            return found
        time.sleep(0.1)
    raise AssertionError("it did not happen in time")


def ours(folder: Path) -> list[int]:
    """The processes that work on the book in ``folder``, by its name in their environment."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            about = process.environ().get("LOWDIM_ROOT"), process.status()
            if about[0] == str(folder) and about[1] != psutil.STATUS_ZOMBIE:
                found.append(process.pid)
    return [pid for pid in found if pid != os.getpid()]


@pytest.fixture
def cluster(book, tmp_path: Path) -> Iterator[Cluster]:
    """A scheduler alone; in the end, nothing of it may be left."""
    made = Cluster(tmp_path)
    yield made
    made.end()
    until(lambda: not ours(book.root), 10)


def words(address: str, folder: Path, count: int) -> list[str]:
    return ["sweep", "weyl", "-p", f"seed=0:{count}", "-o", str(folder), "--scheduler", address]


def rows(folder: Path) -> dict[int, shelf.Row]:
    with suppress(chapters.UsageError):  # there is none yet, or it is being made
        with shelf.Shelf(folder) as kept:
            return {row.parameters["seed"]: row for row in kept.rows()}
    return {}


def refused(asked: list[str], folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """The one sentence that a command gets which ran and wrote nothing."""
    assert cli.main(asked) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1, err
    assert not folder.exists()
    return err


def test_the_rows_are_those_of_a_local_sweep(book, cluster, tmp_path: Path, capsys) -> None:
    book.chapter(body="assert seed != 1, 'one is refused'")
    folder = tmp_path / "there"
    asked = words(cluster.address, folder, 4)
    assert "has no workers" in refused(asked, folder, capsys)
    cluster.add()
    cluster.add()
    cluster.wait(2)
    assert cli.main([*asked, "--dry-run"]) == 0
    assert "4 runs; 0 are done" in capsys.readouterr().out
    assert not folder.exists()
    assert cli.main([*asked, "--keep-notebooks", "all"]) == 1
    assert "3 done, 1 failed" in capsys.readouterr().out
    chapter = chapters.resolve("weyl")
    here = coordinator.plan(chapter, plan.grid(chapter, {"seed": "0:4"}), tmp_path / "here")
    coordinator.sweep(here, tmp_path / "here", pool=pools.Local(1), keep="all")
    mine, theirs = rows(folder), rows(tmp_path / "here")
    for seed in range(4):
        for what in ("key", "parameters", "state", "record", "error", "host"):
            assert getattr(mine[seed], what) == getattr(theirs[seed], what)
    assert "one is refused" in mine[1].tail
    kept = [
        sorted(p.name for p in (f / "notebooks").iterdir()) for f in (folder, tmp_path / "here")
    ]
    assert kept[0] == kept[1] and len(kept[0]) == 4
    until(lambda: len(ours(book.root)) == 3, 10)  # the warm processes are gone with the sweep

    other = tmp_path / "other"
    shutil.copytree(book.root, other)
    path = other / "notebooks/preserve/weyl.md"
    path.write_text(path.read_text().replace("doubled = 2 * trials", "doubled = 3 * trials"))
    stranger = cluster.add(LOWDIM_ROOT=str(other))
    cluster.wait(3)
    asked[5] = str(tmp_path / "new")
    said = refused(asked, tmp_path / "new", capsys)
    assert "has another state of preserve/weyl" in said
    stranger.kill()
    (tmp_path / "old" / "lowdim").mkdir(parents=True)
    (tmp_path / "old" / "lowdim" / "__init__.py").write_text('__version__ = "0.0.1"\n')
    cluster.add(PYTHONPATH=str(tmp_path / "old"))
    cluster.wait(3)
    said = refused(asked, tmp_path / "new", capsys)
    assert "lowdim.publish" in said


def test_a_worker_that_is_killed_costs_no_run(book, cluster, tmp_path: Path) -> None:
    marks = tmp_path / "marks"
    book.chapter(
        body=f"import time\nopen({str(marks)!r}, 'a').write(f'{{seed}}\\n')\ntime.sleep(0.7)"
    )
    victim = cluster.add()
    cluster.add()
    cluster.wait(2)
    folder = tmp_path / "sweep"
    with subprocess.Popen([*LOWDIM, *words(cluster.address, folder, 8)], **QUIET) as job:
        until(lambda: len(rows(folder)) >= 2)
        victim.kill()
        assert job.wait(timeout=60) == 0
    found = rows(folder)
    assert sorted(found) == list(range(8))
    assert {row.state for row in found.values()} == {shelf.DONE}
    begun = marks.read_text().split()
    assert set(begun) == set("01234567") and len(begun) <= 10


def test_without_its_scheduler_a_sweep_ends_and_later_goes_on(book, cluster, tmp_path) -> None:
    book.chapter(body="import time; time.sleep(0.7)")
    cluster.add()
    cluster.add()
    cluster.wait(2)
    folder = tmp_path / "sweep"
    asked = [*LOWDIM, *words(cluster.address, folder, 8)]
    with subprocess.Popen(
        asked, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as job:
        until(lambda: len(rows(folder)) >= 2)
        cluster.scheduler.send_signal(signal.SIGKILL)
        said = job.communicate(timeout=60)[1].splitlines()
    assert job.returncode == 1
    assert said[-1].startswith(f"lowdim: The Dask scheduler at {cluster.address} is gone")
    assert not [line for line in said if "Traceback" in line]
    assert not list(folder.glob(".scratch-*"))
    before = {seed: row.made for seed, row in rows(folder).items()}
    assert 2 <= len(before) < 8
    cluster.end()
    again = Cluster(tmp_path)
    try:
        again.add()
        again.wait(1)
        asked = [*LOWDIM, *words(again.address, folder, 8)]
        # Told to end, it leaves no run behind on the cluster.
        with subprocess.Popen(asked, **QUIET) as job:
            until(lambda: len(rows(folder)) > len(before))
            job.send_signal(signal.SIGTERM)
            assert job.wait(timeout=30) == 143
        until(lambda: len(ours(book.root)) == 2, 10)
        assert subprocess.run(asked, check=False, **QUIET).returncode == 0
    finally:
        again.end()
    after = {seed: row.made for seed, row in rows(folder).items()}
    assert sorted(after) == list(range(8))
    assert before.items() <= after.items(), "a row was made again"


def test_bad_addresses_get_one_sentence(book, tmp_path: Path, capsys, monkeypatch) -> None:
    book.chapter()
    folder = tmp_path / "out"
    with socket.socket() as silent:  # listens, and never says a word
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        port = silent.getsockname()[1]
        start = time.monotonic()
        said = refused(words(f"tcp://127.0.0.1:{port}", folder, 2), folder, capsys)
        assert f"No Dask scheduler answers at tcp://127.0.0.1:{port} within 5 seconds" in said
        assert time.monotonic() - start < 15
    for address in ("127.0.0.1:8786", "tcp://127.0.0.1", "http://127.0.0.1:8786", ""):
        assert "wants tcp://host:port" in refused(words(address, folder, 2), folder, capsys)
    both = [*words("tcp://127.0.0.1:1", folder, 2), "--workers", "2"]
    assert "not both" in refused(both, folder, capsys)
    monkeypatch.setitem(sys.modules, "distributed", None)
    asked = words("tcp://127.0.0.1:1", folder, 2)
    assert "pip install 'lowdim[dask]'" in refused(asked, folder, capsys)
