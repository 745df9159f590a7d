"""The jail in which a student's code runs: bubblewrap around it, limits on it, a clock outside.

Inside there is Python with its packages, an empty folder ``/tmp`` and nothing else: no network, no
other process, no file of the machine's users, no variable of the environment. What goes in is one
message (:mod:`lowdim.course._wire`), what comes out are messages of bounded size; all of them are
the student's word and are judged outside. There is no other way to run a submission: where
bubblewrap is missing or forbidden, :func:`require` refuses.

As an ordinary user bubblewrap makes a user namespace; as root it makes none, and the code inside
continues as a user without a name, another one for each jail, so that the limit on the number of
processes counts those of this jail alone.
"""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, Any, Literal

from lowdim.course import _filter, _wire

HERE = Path(__file__).resolve().parent
PLACE = "/course"  # where this package stands inside
FIRST_USER = 0x60000000  # beyond the users of any machine
SYSTEM = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
ETC = ("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives")
OUT_OF_TIME = (128 + signal.SIGXCPU, -signal.SIGXCPU)
Call = tuple[str, str, Sequence[tuple[Any, ...]]]
"""A question, the function to call for it, and its hidden inputs."""
Ended = Literal["done", "time", "memory", "output", "died"]


class JailMissing(RuntimeError):
    """There is no jail on this machine; the sentence says what to install or allow."""


@dataclass(frozen=True)
class Limits:
    """What a submission may use; one attempt to run it ends when it asks for more.

    Examples
    --------
    >>> Limits(seconds=5).memory == Limits().memory
    True
    """

    seconds: int = 20
    """On the processor."""
    clock: float = 60.0
    """On the clock: more, so that a busy machine takes no points."""
    memory: int = 2 << 30
    """Bytes of address space of one process, and of memory of all together."""
    processes: int = 16
    """With threads."""
    file: int = 16 << 20
    """Bytes of one file."""
    scratch: int = 64 << 20
    """Bytes of all files together."""
    answer: int = 4 << 20
    """Bytes of the answer to one hidden input."""
    output: int = 64 << 20
    """Bytes of all answers."""


@dataclass(frozen=True)
class Outcome:
    """What came out: the messages as plain values, and how it ended."""

    said: tuple[Any, ...]
    ended: Ended
    seconds: float


@cache
def _program() -> str | None:
    return shutil.which("bwrap")


@cache
def missing() -> str | None:
    """Why there is no jail on this machine, in one sentence, or None if there is one.

    Examples
    --------
    >>> missing() is None or "bubblewrap" in missing()
    True
    """
    if sys.platform != "linux":
        return (
            f"Grading needs bubblewrap, which runs on Linux, and this is {sys.platform}: grade in "
            "a virtual machine with Linux and the package bubblewrap."
        )
    if _program() is None:
        return (
            "Grading runs students' code under bubblewrap, and there is no 'bwrap' here: install "
            "the package bubblewrap (apt install bubblewrap, or dnf install bubblewrap)."
        )
    # the whole way once: a jail that opens and holds no Python would give everyone no points
    with tempfile.TemporaryFile() as heard:
        found = _run(["def probe(): return 6 * 7"], [("", "probe", [()])], Limits(), heard)
        heard.seek(0)
        told = " ".join(heard.read(4000).decode(errors="replace").split())[-200:]
    if ("answer", "", 0, "value", 42) in found.said:
        return None
    return (
        f"Grading runs students' code under bubblewrap, which does not work here ({told or 'it'}"
        f"{'' if told else ' says nothing'}): allow user namespaces (on Ubuntu an AppArmor profile "
        "for bwrap, or sysctl kernel.apparmor_restrict_unprivileged_userns=0; in a container "
        "--privileged), or grade as root outside a container."
    )


def require() -> None:
    """Raise :class:`JailMissing` with one sentence where there is no jail.

    Examples
    --------
    >>> try:
    ...     require()
    ... except JailMissing as sentence:
    ...     assert "bubblewrap" in str(sentence)
    """
    if sentence := missing():
        raise JailMissing(sentence)


def seen() -> tuple[Path, ...]:
    """The folders of this machine that code in the jail can read.

    Examples
    --------
    >>> Path("/usr") in seen(), Path("/home") in seen()
    (True, False)
    """
    executable = Path(sys.executable).resolve()
    wanted = [
        Path("/usr"), Path(sys.base_prefix), Path(sys.prefix), Path(sys.prefix).resolve(),
        _packages(), executable.parents[1], HERE.parent,
    ]  # fmt: skip
    found: list[Path] = []
    for path in wanted:
        if not any(path.is_relative_to(other) for other in found):
            found.append(path)
    return tuple(found)


def _packages() -> Path:
    """The folder that numpy stands in."""
    import numpy

    return Path(numpy.__file__).parents[1]


def visible(path: Path) -> bool:
    """Whether code in the jail could read this file of the machine.

    Examples
    --------
    >>> visible(Path("/usr/share/key")), visible(Path("/srv/key"))
    (True, False)
    """
    return any(path.resolve().is_relative_to(folder.resolve()) for folder in seen())


def _walls(limits: Limits) -> list[str]:
    """The command of bubblewrap up to what it is to run."""
    made = [_program() or "bwrap", "--unshare-ipc", "--unshare-pid", "--unshare-net"]
    made += ["--unshare-uts", "--unshare-cgroup-try", "--hostname", "jail", "--die-with-parent"]
    made += ["--new-session", "--clearenv", "--cap-drop", "ALL"]
    if os.getuid() == 0:
        made += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        made += ["--unshare-user", "--uid", "65534", "--gid", "65534"]
    made += ["--perms", "1777", "--size", str(limits.scratch), "--tmpfs", "/tmp"]
    for name in SYSTEM:
        if os.path.islink(name):
            made += ["--symlink", os.readlink(name), name]
        elif os.path.isdir(name):
            made += ["--ro-bind", name, name]
    made += ["--perms", "0755", "--dir", "/etc"]
    for name in ETC:
        made += ["--ro-bind-try", name, name]
    # bubblewrap makes the folders above these for their owner alone, who will not be there
    above = {parent for folder in [*seen(), Path(PLACE, "lowdim")] for parent in folder.parents}
    for parent in sorted(above - {Path("/"), Path("/etc"), Path("/tmp")}):
        made += ["--perms", "0755", "--dir", str(parent)]
    for folder in seen():
        made += ["--ro-bind", str(folder), str(folder)]
    made += ["--ro-bind", str(HERE.parent), f"{PLACE}/lowdim"]
    # bubblewrap's own /dev and / would take files up to half of the memory
    made += ["--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev"]
    made += ["--remount-ro", "/", "--chdir", "/tmp"]
    settings = {
        "PATH": "/usr/bin:/bin", "HOME": "/tmp", "LANG": "C.UTF-8", "PYTHONHASHSEED": "0",
        "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1",
        "MPLBACKEND": "agg", "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": f"{PLACE}:{_packages()}",
    }  # fmt: skip
    for name, value in settings.items():
        made += ["--setenv", name, value]
    return made


@contextlib.contextmanager
def _filtered() -> Iterator[tuple[list[str], tuple[int, ...]]]:
    """The filter of system calls in an open file: options for bubblewrap, files to hand over."""
    program = _filter.program()
    if program is None:
        yield [], ()
        return
    with tempfile.TemporaryFile() as file:
        file.write(program)
        file.seek(0)
        yield ["--seccomp", str(file.fileno())], (file.fileno(),)


def run(cells: Sequence[str], calls: Sequence[Call], *, limits: Limits | None = None) -> Outcome:
    """Run cells in the jail, then call functions that they define.

    Parameters
    ----------
    cells
        The code of each cell, in order; a cell that fails does not stop the others.
    calls
        For each question: its name, the function to call, and its hidden inputs, each a tuple of
        arguments. The messages that come back are ``["ready"]``, then ``["answer", question,
        number, kind, value]`` with the kinds ``value``, ``raised``, ``missing`` and ``form``, then
        ``["done"]``; whatever does not look like that was written by the student and is left out.

    Raises
    ------
    JailMissing
        If there is no bubblewrap, or it may not work.

    Examples
    --------
    >>> if missing() is None:
    ...     found = run(["def double(x): return 2 * x"], [("q", "double", [(21,)])])
    ...     assert found.said[1] == ("answer", "q", 0, "value", 42) and found.ended == "done"
    """
    require()
    with open(os.devnull, "wb") as nothing:
        return _run(cells, calls, limits or Limits(), nothing)


def _run(cells: Sequence[str], calls: Sequence[Call], limits: Limits, errors: IO[bytes]) -> Outcome:
    """The same without asking whether there is a jail; ``errors`` takes what bubblewrap says."""
    asked = {
        "cells": list(cells),
        "calls": [[name, function, [tuple(case) for case in cases]]
                  for name, function, cases in calls],
        "answer": limits.answer,
        "limits": {
            "as": limits.memory, "cpu": limits.seconds, "nproc": limits.processes,
            "fsize": limits.file, "nofile": 64, "core": 0, "stack": 64 << 20, "msgqueue": 0,
            "memlock": 0, "sigpending": 256,
            "uid": 0,
        },
    }  # fmt: skip
    begun = time.monotonic()
    with tempfile.TemporaryFile() as request, _filtered() as (options, files):
        if os.getuid() == 0:
            # the number of the open file differs between jails of this process, the process
            # between graders of this machine
            slot = os.getpid() * 1024 + request.fileno() % 1024
            asked["limits"]["uid"] = FIRST_USER + slot % (1 << 28)  # type: ignore[index]
        request.write(_wire.encode(asked, limit=1 << 28))
        request.seek(0)
        walls = _walls(limits)
        command = [walls[0], *options, *walls[1:], sys.executable, "-s", "-B"]
        process = subprocess.Popen(
            [*command, "-m", "lowdim.course._inside"],
            stdin=request,
            stdout=subprocess.PIPE,
            stderr=errors,
            pass_fds=files,
            env={"LANG": "C.UTF-8"},  # /proc/1/environ shows it inside, whatever bubblewrap clears
        )
        try:
            data, ended = _listen(process, limits, begun)
        finally:
            process.kill()
            process.wait()
            if process.stdout:
                process.stdout.close()
    said, finished = _messages(data, limits)
    return Outcome(tuple(said), "done" if finished else ended, time.monotonic() - begun)


def _listen(process: subprocess.Popen, limits: Limits, begun: float) -> tuple[bytes, Ended]:
    """All that the jail writes, until it ends, asks for too much, or its time is over."""
    assert process.stdout is not None
    fd = process.stdout.fileno()
    os.set_blocking(fd, False)
    data = bytearray()
    looked = 0.0
    while True:
        now = time.monotonic()
        if now - begun > limits.clock:
            return bytes(data), "time"
        if now - looked > 0.1:
            looked = now
            if _resident(process.pid) > limits.memory:
                return bytes(data), "memory"
        if not select.select([fd], [], [], 0.05)[0]:
            continue
        piece = os.read(fd, 1 << 20)
        if not piece:  # all who could write are gone
            code = process.wait()
            return bytes(data), "time" if code in OUT_OF_TIME else "died"
        data += piece
        if data.endswith(DONE):
            return bytes(data), "done"
        if len(data) > limits.output:
            return bytes(data[: limits.output]), "output"


def _resident(pid: int) -> int:
    """Bytes of memory of a process and all below it, as far as the system tells."""
    total, waiting = 0, [pid]
    page = os.sysconf("SC_PAGE_SIZE")
    while waiting:
        each = waiting.pop()
        with contextlib.suppress(OSError, ValueError, IndexError):
            total += int(Path(f"/proc/{each}/statm").read_text().split()[1]) * page
            children = Path(f"/proc/{each}/task/{each}/children").read_text()
            waiting += map(int, children.split())
    return total


DONE = struct.pack("<I", len(_wire.encode(["done"]))) + _wire.encode(["done"])


def _messages(data: bytes, limits: Limits) -> tuple[list[tuple[Any, ...]], bool]:
    """The messages in what came out, up to the first that is none; whether it was finished."""
    said: list[tuple[Any, ...]] = []
    while len(data) >= 4:
        (length,) = struct.unpack("<I", data[:4])
        if length > len(data) - 4:
            break
        try:
            told = _wire.decode(data[4 : 4 + length], limit=limits.answer)
        except _wire.WireError:
            break
        data = data[4 + length :]
        match told:
            case ["ready"]:
                said.append(("ready",))
            case ["done"]:
                return said, True
            case ["answer", str(), int(), "value" | "raised" | "missing" | "form", _]:
                said.append(tuple(told))
            case _:
                break
    return said, False
