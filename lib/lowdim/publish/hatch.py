"""The processes of a nursery: one that forks kernels, and one that stands for each to jupyter.

What stands for a kernel asks for one, ends when it ends, with its exit code, and passes on what
interrupts it; when it is ended, so is the kernel. Where no nursery answers it becomes an ordinary
kernel itself. Both are run by the path of this file, which imports nothing of the library: whatever
a checkout has made of that, kernels start, and say what is wrong.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import json
import os
import selectors
import signal
import socket
import struct
import sys
from collections.abc import Mapping
from typing import Any

CODE = struct.Struct("<i")  # an exit code
BORN = b"+"
# None of these starts a thread where the environment asks for one thread. Those that look for a
# shell when they are imported, as the inline backend does, are left to the kernel.
PACKAGES = (
    "ipykernel.kernelapp", "ipykernel.zmqshell", "matplotlib.pyplot",
    "matplotlib.backends.backend_agg", "matplotlib.backends.backend_svg",
    "numpy", "scipy.integrate", "scipy.linalg", "scipy.optimize", "scipy.stats",
    "sklearn.datasets", "sympy", "torch", "tqdm", "yaml",
)  # fmt: skip


def _ask(address: str, arguments: list[str]) -> None:
    """Ask at `address` for a kernel with these arguments, and stand for it until its end."""
    asked = {"arguments": arguments, "folder": os.getcwd(), "environment": dict(os.environ)}
    wanted = json.dumps(asked).encode()
    nursery = socket.socket(socket.AF_UNIX)
    born = b""
    with contextlib.suppress(OSError):
        nursery.connect(address)
        socket.send_fds(nursery, [struct.pack("<I", len(wanted))], [0, 1, 2])
        nursery.sendall(wanted)
        born = nursery.recv(1)
    if born != BORN:
        os.execv(sys.executable, [sys.executable, "-m", "ipykernel_launcher", *arguments])
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: nursery.send(bytes([number])))
    told = b""
    while len(told) < CODE.size:
        piece = nursery.recv(CODE.size - len(told))
        if not piece:
            os._exit(1)
        told += piece
    code = CODE.unpack(told)[0]
    os._exit(code if code >= 0 else 128 - code)


def _serve(listening: socket.socket) -> None:
    """Fork a kernel for each that asks, until the standard input ends."""
    for name in PACKAGES:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    chosen = selectors.DefaultSelector()
    chosen.register(0, selectors.EVENT_READ, None)
    chosen.register(listening, selectors.EVENT_READ, None)
    kernels: dict[socket.socket, tuple[int, int]] = {}  # its number, and a file that tells its end

    def forget(asker: socket.socket) -> None:
        pid, end = kernels.pop(asker)
        for each in (asker, end):
            chosen.unregister(each)
        _, status = os.waitpid(pid, 0)
        with contextlib.suppress(OSError):
            asker.sendall(CODE.pack(os.waitstatus_to_exitcode(status)))
        asker.close()
        os.close(end)

    while True:
        for key, _ in chosen.select():
            if key.fileobj == 0:
                for pid, _end in kernels.values():
                    os.kill(pid, signal.SIGKILL)
                return
            if key.fileobj is listening:
                asker = listening.accept()[0]
                with contextlib.suppress(OSError, ValueError, struct.error):
                    wanted, files = _received(asker)
                    pid = os.fork()
                    if pid == 0:
                        chosen.close()
                        for other, (_, end) in kernels.items():
                            other.close()
                            os.close(end)
                        listening.close()
                        asker.close()
                        _become(wanted, files)
                    for file in files:
                        os.close(file)
                    kernels[asker] = pid, os.pidfd_open(pid)
                    with contextlib.suppress(OSError):
                        asker.sendall(BORN)
                    for each in (asker, kernels[asker][1]):
                        chosen.register(each, selectors.EVENT_READ, asker)
                    continue
                asker.close()
            elif key.data in kernels:
                asker, (pid, end) = key.data, kernels[key.data]
                if key.fileobj == end:
                    forget(asker)
                    continue
                numbers = b""
                with contextlib.suppress(OSError):
                    numbers = asker.recv(64)
                for number in numbers or bytes([signal.SIGKILL]):  # whoever asked is gone
                    os.kill(pid, number)
                if not numbers:
                    forget(asker)


def _received(asker: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """What is asked for, and the three open files that come with it."""
    asker.settimeout(10)
    head, files, _, _ = socket.recv_fds(asker, 4, 3)
    (length,) = struct.unpack("<I", head)
    text = b""
    while len(text) < length:
        piece = asker.recv(length - len(text))
        if not piece:
            raise OSError("whoever asked is gone")
        text += piece
    asker.settimeout(None)
    return json.loads(text), files


def _become(wanted: Mapping[str, Any], files: list[int]) -> None:
    """Be a kernel, in this forked process, and never come back."""
    code = 1
    try:
        os.setsid()
        for place, file in enumerate(files):
            os.dup2(file, place)
            os.close(file)
        os.environ.clear()
        os.environ.update(wanted["environment"])
        os.chdir(wanted["folder"])
        sys.argv = ["ipykernel_launcher.py", *wanted["arguments"]]
        import random

        import numpy as np
        from ipykernel.kernelapp import IPKernelApp

        random.seed()  # as it is in a process of its own
        np.random.seed()  # noqa: NPY002
        IPKernelApp.launch_instance(parent_handle=os.getppid())  # with which it is to end
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    except BaseException:
        code = 1
    finally:
        with contextlib.suppress(Exception):
            atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
        os._exit(code)


if __name__ == "__main__":
    del sys.path[0]  # the folder of this file
    if sys.argv[1] == "serve":
        _serve(socket.socket(fileno=int(sys.argv[2])))
    else:
        _ask(sys.argv[2], sys.argv[3:])
