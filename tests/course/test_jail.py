"""The walls hold: what code in the jail can see, reach and use up, and what comes out of it."""

from __future__ import annotations

import contextlib
import os
import resource
import struct
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lowdim.course import _filter, _inside, _wire, jail
from lowdim.course.jail import Limits, Outcome

pytestmark = [pytest.mark.usefixtures("walls")]
# Folders on the way to the library, where a checkout stands below /tmp.
SHOWN = {path.parts[2] for path in jail.seen() if path.parts[1] == "tmp"}
SMALL = Limits(seconds=2, clock=120, memory=1 << 30)  # the clock of a machine that is busy


def tried(body: str, *, limits: Limits = SMALL, setup: str = "") -> Outcome:
    """What comes of a function with this body."""
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    return jail.run([setup, f"def tried():\n{lines}"], [("q", "tried", [()])], limits=limits)


def told(body: str, **options: Any) -> Any:
    """The value that it returns."""
    outcome = tried(body, **options)
    assert outcome.ended == "done" and outcome.said[1][3] == "value", outcome
    return outcome.said[1][4]


def refused(body: str) -> str:
    """The name of the error that it meets."""
    outcome = tried(body)
    assert outcome.said[1][3] == "raised", outcome
    return outcome.said[1][4]


def test_functions_are_called_on_inputs_that_come_back_changed() -> None:
    A = np.arange(6.0).reshape(2, 3)
    cell = "import numpy as np\ndef gram(A, *, k=1):\n    A *= 2\n    return A @ A.T, A.shape, 'x'"
    outcome = jail.run([cell], [("q", "gram", [(A,), (A[:1],)])], limits=SMALL)
    assert outcome.ended == "done" and outcome.said[0] == ("ready",)
    value, shape, text = outcome.said[1][4]
    np.testing.assert_array_equal(value, 4 * A @ A.T)
    assert shape == (2, 3) and text == "x" and A[0, 1] == 1.0
    np.testing.assert_array_equal(outcome.said[2][4][0], 4 * A[:1] @ A[:1].T)


def test_cells_fail_alone_and_moved_cells_still_work() -> None:
    cells = [
        "def f(): return base + 1",
        "later = base * 2",
        "syntax error here",
        "1 / 0",
        "%matplotlib inline\n!ls\nbase = 20",
        "%%bash\nrm -rf /",
        "import sys; sys.exit(3)",
        "def g(): return later",
    ]
    calls = [("a", "f", [()]), ("b", "g", [()]), ("c", "h", [()])]
    outcome = jail.run(cells, calls, limits=SMALL)
    assert [said[3:] for said in outcome.said[1:]] == [
        ("value", 21), ("value", 40), ("missing", None),
    ]  # fmt: skip


def test_errors_come_out_as_plain_names_only() -> None:
    assert refused("raise ValueError('secret')") == "ValueError"
    assert refused("raise type('secret', (Exception,), {})()") == ""
    assert refused("import sys; sys.exit()") == "SystemExit"


def test_only_python_and_scratch_are_there(tmp_path: Path) -> None:
    secret = tmp_path / "key"
    secret.write_text("secret")
    secret.chmod(0o777)
    assert not jail.visible(secret)
    listing = "import os\nreturn os.listdir('/'), os.listdir('/tmp'), os.path.exists('/home')"
    root, scratch, home = told(listing)
    expected = {path.parts[1] for path in jail.seen()} | {"course", "dev", "etc", "proc", "tmp"}
    assert set(root) - {name[1:] for name in jail.SYSTEM} == expected
    assert set(scratch) == SHOWN and home is False
    assert refused(f"return open({str(secret)!r}).read()") == "FileNotFoundError"
    assert told("import os\nreturn sorted(os.listdir('/etc'))") == sorted(
        {Path(name).name for name in jail.ETC if os.path.exists(name)}
    )


def test_the_environment_of_the_grader_is_out_of_sight(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COURSE_SECRET", "xyzzy")
    look = """
import glob
found = ""
for name in glob.glob("/proc/[0-9]*/environ") + glob.glob("/proc/[0-9]*/cmdline"):
    try:
        found += open(name).read()
    except OSError:
        pass
return found + repr(dict(__import__("os").environ)) + str(len(found) > 10)
"""
    found = told(look)
    assert "xyzzy" not in found and found.endswith("True")


def test_other_processes_are_out_of_reach() -> None:
    assert told("import os\nreturn max(int(p) for p in os.listdir('/proc') if p.isdecimal())") < 20
    assert refused(f"import os\nos.kill({os.getpid()}, 9)") in ("ProcessLookupError", "OSError")
    assert told("import os\nreturn os.getuid(), os.geteuid()")[0] > 1000


@pytest.mark.parametrize("path", ["/x", "/usr/x", "/etc/x", "/dev/x", "/dev/shm/x", "/course/x"])
def test_nothing_but_scratch_can_be_written(path: str) -> None:
    body = f"try:\n    open({path!r}, 'w')\nexcept OSError as error:\n    return error.errno"
    assert told(body) in (13, 30)


def test_scratch_is_bounded_and_gone_afterwards() -> None:
    fill = """
written = 0
try:
    for k in range(100):
        with open(f"/tmp/{k}", "wb") as file:
            written += file.write(bytes(1 << 20))
except OSError:
    return written
"""
    assert told(fill, limits=Limits(scratch=8 << 20)) <= 8 << 20
    assert set(told("import os\nreturn os.listdir('/tmp')")) == SHOWN
    big = "with open('/tmp/x', 'wb', 0) as file:\n    return file.write(bytes(9 << 20))"
    assert told(big, limits=Limits(file=8 << 20)) == 8 << 20


@pytest.mark.parametrize(
    "body",
    [
        "import socket\nsocket.socket()",
        "import socket\nsocket.create_connection(('127.0.0.1', 80), 1)",
        "import os\nos.memfd_create('x')",
        "import ctypes\nif ctypes.CDLL(None, use_errno=True).unshare(0x10000000): raise OSError",
        "import ctypes\nif ctypes.CDLL(None).ptrace(16, 1, 0, 0): raise OSError",
        "import ctypes\nif ctypes.CDLL(None).shmget(0, 1 << 30, 0o1600) < 0: raise OSError",
        "import os\nos.setuid(0)",
        "import os\nos.chroot('/tmp')",
    ],
)
def test_calls_that_no_answer_needs_are_refused(body: str) -> None:
    assert refused(body) in ("OSError", "PermissionError", "gaierror")


def test_processes_and_threads_are_counted() -> None:
    # a name that children inherit and that is seen from outside: other jails, of tests beside this
    # one, are none of its business
    name = f"forked{os.getpid()}"
    fork = f"""
import ctypes, os, time
ctypes.CDLL(None).prctl(15, b"{name}")
made = 0
try:
    while made < 200:
        if os.fork() == 0:
            time.sleep(60)
        made += 1
except OSError:
    return made, open("/proc/self/comm").read().strip()
"""
    made, called = told(fork)
    assert 0 < made < SMALL.processes and called == name
    until = time.monotonic() + 60
    while (left := named(name)) and time.monotonic() < until:
        time.sleep(0.05)
    assert not left
    assert told("import os\nreturn os.getpid()") < 20


def named(name: str) -> list[str]:
    """The processes of this machine with that name."""
    found = []
    for path in Path("/proc").glob("[0-9]*/comm"):
        with contextlib.suppress(OSError):
            if path.read_text().strip() == name:
                found.append(path.parent.name)
    return found


def test_memory_is_bounded_for_one_and_for_all() -> None:
    assert refused("import numpy as np\nnp.ones(10**10)") == "MemoryError"
    many = """
import os, time
for _ in range(6):
    if os.fork() == 0:
        held = bytearray(300 << 20)
        time.sleep(200)
time.sleep(200)
"""
    # Time enough: on a machine whose memory is lent page by page, 300 MB may take seconds of the
    # processor, and processes that end for want of those hold no memory.
    roomy = Limits(seconds=60, clock=180, memory=1 << 30)
    assert tried(many, limits=roomy).ended == "memory"


def test_time_is_bounded_whatever_is_caught() -> None:
    loop = """
import signal
while True:
    try:
        while True:
            pass
    except BaseException:
        pass
"""
    outcome = jail.run([loop], [], limits=Limits(seconds=1, clock=120))
    assert outcome.ended == "time" and outcome.said == ()
    deaf = "import signal\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)" + loop
    assert jail.run([deaf], [], limits=Limits(seconds=1, clock=120)).ended in ("died", "time")
    sleeping = jail.run(["import time\ntime.sleep(99)"], [], limits=Limits(clock=1))
    assert sleeping.ended == "time" and sleeping.seconds < 90


def test_time_before_the_first_cell_is_not_the_students(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that is slow to begin gives as many seconds as a fast one."""
    lowered: dict[int, tuple[int, int]] = {}
    monkeypatch.setattr(_inside.resource, "getrlimit", lambda which: (-1, -1))
    monkeypatch.setattr(_inside.resource, "setrlimit", lowered.__setitem__)
    monkeypatch.setattr(_inside.time, "process_time", lambda: 2.7)
    _inside.limit({"cpu": 5, "nofile": 64, "uid": 0})
    assert lowered == {resource.RLIMIT_CPU: (8, 9), resource.RLIMIT_NOFILE: (64, 64)}


WRITE = """
import os, struct, sys
from lowdim.course import _wire
def say(*told):
    message = _wire.encode(list(told))
    for fd in range(3, 20):
        try:
            os.write(fd, struct.pack("<I", len(message)) + message)
        except OSError:
            pass
"""


def test_output_is_bounded_and_what_is_printed_goes_nowhere() -> None:
    flood = WRITE + "while True:\n    say('answer', 'q', 0, 'value', 'x' * 100_000)"
    assert jail.run([flood], [], limits=Limits(output=1 << 20)).ended == "output"
    assert told("print('x' * 10_000_000)\nreturn 1") == 1


@pytest.mark.parametrize(
    ("told", "kept"),
    [
        ("say('answer', 'q', 0, 'value', 1)", [("answer", "q", 0, "value", 1)]),
        ("say('points', 'q', 100)", []),
        ("say('answer', 'q', 'first', 'value', 1)", []),
        ("say('answer', ['q'], 0, 'value', 1)", []),
        ("say({})", []),
        ("os.write(3, b'\\xff' * 50)", []),
    ],
)
def test_forged_messages_are_the_word_of_the_student_or_nothing(told: str, kept: list) -> None:
    outcome = jail.run([f"{WRITE}{told}\nos._exit(0)"], [], limits=SMALL)
    assert list(outcome.said) == kept and outcome.ended == "died"


def test_without_bubblewrap_there_is_a_sentence_and_no_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def with_program(program: str | None, check: Callable[[str], None]) -> None:
        jail.missing.cache_clear()
        monkeypatch.setattr(jail, "_program", lambda: program)
        try:
            with pytest.raises(jail.JailMissing) as raised:
                jail.run(["x = 1"], [])
            check(str(raised.value))
        finally:
            jail.missing.cache_clear()
            monkeypatch.undo()

    def install(sentence: str) -> None:
        assert "install the package bubblewrap" in sentence and "\n" not in sentence

    def forbidden(sentence: str) -> None:
        assert "setting up uid map" in sentence and "user namespaces" in sentence

    with_program(None, install)
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\necho bwrap: setting up uid map: Permission denied >&2\nexit 1\n")
    program.chmod(0o755)
    with_program(str(program), forbidden)
    monkeypatch.setattr(sys, "platform", "darwin")
    with_program("/usr/bin/bwrap", lambda sentence: None)
    assert jail.missing() is None


def test_the_filter_is_a_program_for_both_processors() -> None:
    for machine in ("x86_64", "aarch64"):
        program = _filter.program(machine)
        assert program is not None
        steps = list(struct.iter_unpack("<HBBI", program))
        for at, (code, then, otherwise, _) in enumerate(steps):
            if code & 0x07 == 0x05:  # a jump stays within the program
                assert at + 1 + max(then, otherwise) < len(steps)
        assert steps[-1][3] == _filter.ALLOW
    columns = list(zip(*_filter.NUMBERS.values(), strict=True))
    assert all(len(set(column)) == len(column) for column in columns)


def test_the_end_of_a_run_is_one_message() -> None:
    assert jail._messages(jail.DONE, SMALL) == ([], True)
    assert jail._messages(jail.DONE[:-1], SMALL) == ([], False)
    ready = _wire.encode(["ready"])
    once = struct.pack("<I", len(ready)) + ready
    assert jail._messages(once + jail.DONE + once, SMALL) == ([("ready",)], True)
