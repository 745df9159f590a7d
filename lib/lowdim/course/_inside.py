"""What runs inside the jail: the student's cells, then their functions on the hidden inputs.

A program of its own. It reads one message from standard input, and
writes one message after another to what was its standard output: all of them the student's word,
since their code could write there too. Nothing here is a verdict.
"""

from __future__ import annotations

import builtins
import contextlib
import os
import resource
import struct
import sys
import time
import types
from collections.abc import Callable

from lowdim.course import _wire

PLAIN = {
    name for name, kind in vars(builtins).items()
    if isinstance(kind, type) and issubclass(kind, BaseException)
} | {"LinAlgError"}  # fmt: skip


def limit(limits: dict[str, int]) -> None:
    """Lower every limit for good; time on the processor counts from here, not from the start."""
    for name, value in limits.items():
        if name == "uid":
            continue
        if name == "cpu":  # a slow machine takes its time to begin, and no student's
            value += round(time.process_time())
        which = getattr(resource, f"RLIMIT_{name.upper()}")
        most = resource.getrlimit(which)[1]
        least = value if most == resource.RLIM_INFINITY else min(value, most)
        # a second after the first warning, which ends a process that does not listen to it
        resource.setrlimit(which, (least, least + (name == "cpu")))
    if os.getuid() == 0 and limits["uid"]:  # only without a user namespace
        os.setgroups([])
        os.setresgid(*[limits["uid"]] * 3)
        os.setresuid(*[limits["uid"]] * 3)


def plain(source: str) -> str:
    """A cell without what only IPython understands."""
    lines = source.split("\n")
    if lines and lines[0].startswith("%%"):
        first = lines[0].split()[0]
        lines = lines[1:] if first in ("%%time", "%%timeit", "%%capture") else []
    return "\n".join(
        line[: len(line) - len(line.lstrip())] + "pass" if line.lstrip()[:1] in ("%", "!") else line
        for line in lines
    )


def execute(cells: list[str], space: dict) -> None:
    """Run cells in order; those that fail once more at the end, in case they were moved."""
    waiting = cells
    for _ in range(3):
        failed = []
        for source in waiting:
            try:
                exec(compile(_whole(source), "<cell>", "exec"), space)
            except BaseException as error:
                if isinstance(error, NameError | ImportError):
                    failed.append(source)
        if not failed or len(failed) == len(waiting):
            return
        waiting = failed


def _whole(source: str) -> str:
    try:
        compile(source, "<cell>", "exec")
    except SyntaxError:
        return plain(source)
    return source


def main() -> None:
    """Do what the message on standard input asks."""
    out = os.dup(1)
    asked = _wire.decode(sys.stdin.buffer.read(), limit=1 << 28)
    nothing = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nothing, fd)
    os.chdir("/tmp")
    limit(asked["limits"])

    def say(*told: object) -> None:
        message = _wire.encode(list(told), limit=asked["answer"])
        data = struct.pack("<I", len(message)) + message
        while data:
            data = data[os.write(out, data) :]

    main = types.ModuleType("__main__")  # what classes and pickles of the cells look for
    sys.modules["__main__"] = main
    space = vars(main)
    space["display"] = lambda *shown, **options: None
    execute(asked["cells"], space)
    say("ready")
    for question, function, cases in asked["calls"]:
        for number, case in enumerate(cases):
            answer(say, question, function, number, case, space)
    say("done")
    os._exit(0)


def answer(
    say: Callable, question: str, function: str, number: int, case: tuple, space: dict
) -> None:
    """Call a function on one hidden input and tell what came of it."""
    if not callable(space.get(function)):
        return say("answer", question, number, "missing", None)
    try:
        value = space[function](*case)
        try:
            say("answer", question, number, "value", value)
        except _wire.WireError:
            say("answer", question, number, "form", None)
    except BaseException as error:
        name = type(error).__name__
        with contextlib.suppress(BaseException):
            say("answer", question, number, "raised", name if name in PLAIN else "")


if __name__ == "__main__":
    main()
