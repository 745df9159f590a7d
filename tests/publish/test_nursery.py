"""Kernels from a nursery: the same as others, and gone with whoever asked for them."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from lowdim.publish import chapters, executor, kernels, nursery

pytestmark = [
    pytest.mark.chapter,
    pytest.mark.skipif(sys.platform != "linux", reason="kernels are forked on Linux"),
]
ONE = dict.fromkeys(nursery.ONE, "1")


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No nursery of other tests, and none left."""
    monkeypatch.setattr(nursery, "_open", {})
    monkeypatch.setattr(nursery, "_asked", nursery.Counter())
    yield
    for each in nursery._open.values():
        each.close()


def until(asked: Callable[[], Any], seconds: float = 30.0) -> Any:
    """What is asked for, as soon as it is there."""
    end = time.monotonic() + seconds
    while not (found := asked()) and time.monotonic() < end:
        time.sleep(0.05)
    return found


def gone(pid: int) -> bool:
    """Whether a process has ended; one that nobody has waited for yet has."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def test_the_second_kernel_is_forked_and_shows_what_the_first_showed(book) -> None:
    book.chapter(
        body="import matplotlib.pyplot as plt, torch\n"
        "torch.manual_seed(seed)\n"
        "print(platform.python_version(), sys.argv[0], sys.path)\n"
        "print(os.getcwd(), os.environ['LOWDIM_CHAPTER'], torch.rand(2), hash('a'))\n"
        "_ = plt.plot(torch.arange(3))"
    )
    runs = [executor.execute(book.root, "preserve/weyl", one_thread=True) for _ in range(3)]
    assert len(nursery._open) == 1
    first, *others = [
        [
            re.sub(r"\S*ipykernel_launcher.py", "launcher", json.dumps(cell.outputs))
            for cell in nb.cells
            if cell.cell_type == "code"
        ]
        for nb in runs
    ]
    assert "launcher" in "".join(first) and "image/png" in "".join(first)
    assert others == [first, first]


def test_one_that_dies_or_is_left_early_is_told_as_ever(book) -> None:
    book.chapter(body="if seed == 1: os._exit(3)\nif seed == 2: sys.exit(0)\nassert seed != 3")
    chapter = chapters.load("preserve/weyl", root=book.root)
    executor.execute(book.root, chapter.name, one_thread=True)
    for seed, said in ((1, "its kernel died"), (3, "AssertionError")):
        with pytest.raises(executor.ChapterFailed, match=said):
            executor.execute(book.root, chapter.name, {"seed": seed}, one_thread=True)
    assert executor.execute(book.root, chapter.name, one_thread=True)
    assert len(nursery._open) == 1


def test_a_kernel_can_be_interrupted_and_ends_with_what_stands_for_it(book, tmp_path) -> None:
    from jupyter_client.manager import KernelManager

    added = {**kernels.environment(book.root), **ONE}
    nursery.command({**os.environ, **added})
    manager = kernels.manager_class(KernelManager, added)()
    manager.start_kernel()
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=90)
        mark = tmp_path / "mark"
        client.execute(
            f"import os, pathlib, time; pathlib.Path({str(mark)!r}).write_text(str(os.getpid()));"
            "time.sleep(600)"
        )
        pid = int(until(lambda: mark.exists() and mark.read_text()))
        assert pid != manager.provisioner.pid
        manager.interrupt_kernel()
        while (told := client.get_shell_msg(timeout=60))["msg_type"] != "execute_reply":
            pass
        assert told["content"]["ename"] == "KeyboardInterrupt"
        assert not gone(pid)
        os.kill(manager.provisioner.pid, signal.SIGKILL)
        assert until(lambda: gone(pid))
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def test_kernels_and_nursery_end_with_their_owner(book, tmp_path) -> None:
    mark = tmp_path / "mark"
    book.chapter(
        body=f"import pathlib, time\nif seed == 1:\n    pathlib.Path({str(mark)!r}).write_text("
        "f'{os.getpid()} {os.getppid()}')\n    time.sleep(600)"
    )
    script = textwrap.dedent(f"""
        from pathlib import Path
        from lowdim.publish import executor
        for seed in (0, 1):
            executor.execute(Path({str(book.root)!r}), "preserve/weyl", {{"seed": seed}},
                             one_thread=True)
    """)
    owner = subprocess.Popen([sys.executable, "-c", script])
    try:
        pids = [int(pid) for pid in until(lambda: mark.exists() and mark.read_text(), 90).split()]
        assert "hatch.py" in Path(f"/proc/{pids[1]}/cmdline").read_text()
        assert owner.poll() is None and not any(map(gone, pids))
    finally:
        owner.kill()
        owner.wait()
    assert until(lambda: all(map(gone, pids)))


def test_without_a_nursery_what_stands_for_a_kernel_becomes_one(tmp_path) -> None:
    mark = tmp_path / "mark"
    line = (
        f"import os, pathlib; pathlib.Path({str(mark)!r}).write_text(str(os.getpid())); os._exit(7)"
    )
    command = [sys.executable, "-S", "-E", str(nursery.HATCH), "ask", str(tmp_path / "nobody")]
    arguments = ["-f", str(tmp_path / "k.json"), f"--IPKernelApp.exec_lines={[line]!r}"]
    made = subprocess.Popen([*command, *arguments], stdin=subprocess.DEVNULL)
    assert made.wait(60) == 7
    assert mark.read_text() == str(made.pid)


def test_a_nursery_that_fails_at_its_start_costs_nothing_but_time(book) -> None:
    """A package that Python imports by itself, and that ends the process the second time."""
    book.chapter()
    seen = book.root / "seen"
    (book.root / "lib" / "lowdim").mkdir(parents=True)
    (book.root / "lib" / "sympy.py").write_text(
        f"import os, pathlib\npathlib.Path({str(seen)!r}).touch()\nos._exit(9)"
    )
    for _ in range(2):
        assert executor.execute(book.root, "preserve/weyl", one_thread=True)
    assert seen.exists()


def test_a_nursery_that_has_ended_is_replaced() -> None:
    environment = {**os.environ, **ONE}
    nursery.command(environment)
    first = nursery.command(environment)
    [made] = nursery._open.values()
    made.close()
    assert not made.alive and not Path(made.address).exists()
    assert nursery.command(environment)[-1] != first[-1]


@pytest.mark.parametrize("changed", [{"OMP_NUM_THREADS": "2"}, {"MKL_NUM_THREADS": ""}])
def test_kernels_with_several_threads_are_not_forked(changed: dict[str, str]) -> None:
    assert [nursery.command({**ONE, **changed}) for _ in range(3)] == [None] * 3
    assert not nursery._open


def test_what_is_read_at_the_start_is_never_shared() -> None:
    environment = {**os.environ, **ONE}
    nursery.command(environment)
    assert nursery.command({**environment, "PYTHONPATH": "elsewhere"}) is None
    assert nursery.command({**environment, "LOWDIM_CHAPTER": "a/b"}) is not None
