"""Kernels that are forked from a process in which the large packages are there already.

A kernel takes five seconds of the processor to start and to import torch and what else chapters
import, and a build starts dozens. So a process that starts kernels with one thread has, from the
second on, a nursery: a process that has imported those packages, has started no thread, and forks.
The library itself is not among them: its code may change while a nursery lives. A fork is a fresh
kernel in all that a chapter can see.

To jupyter a small process stands for each kernel; that and the nursery's own process are in
:mod:`lowdim.publish.hatch`. A nursery ends with whoever started it, and its kernels end with it.
"""

from __future__ import annotations

import atexit
import contextlib
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

HATCH = Path(__file__).with_name("hatch.py")
ONE = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
# What is read when Python starts or a package is imported, by the beginning of its name.
EARLY = ("PYTHON", "OMP_", "MKL_", "OPENBLAS_", "NUMEXPR_", "ATEN_", "ONEDNN_", "NPY_", "MPL",
         "TORCH", "LD_", "KMP_")  # fmt: skip

_open: dict[tuple[tuple[str, str], ...], Nursery] = {}
_asked: Counter[tuple[tuple[str, str], ...]] = Counter()
_lock = threading.Lock()


def command(environment: Mapping[str, str]) -> list[str] | None:
    """What starts a kernel with ``environment`` from a nursery, up to its own arguments.

    None where it is to be started by itself: the first with such an environment, one with several
    threads, one on a system without fork.

    >>> command({"OMP_NUM_THREADS": "2"}) is None
    True
    """
    if any(environment.get(name) != "1" for name in ONE) or sys.platform != "linux":
        return None
    key = tuple(sorted((k, v) for k, v in environment.items() if k.startswith(EARLY)))
    with _lock:
        _asked[key] += 1
        if _asked[key] < 2:
            return None
        if key not in _open or not _open[key].alive:
            _open[key] = Nursery(environment)
        return [sys.executable, "-S", "-E", str(HATCH), "ask", _open[key].address]


class Nursery:
    """A process that forks kernels, from its start until its owner ends or closes it."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._folder = tempfile.mkdtemp(prefix="lowdim-nursery-")
        self.address = str(Path(self._folder, "s"))
        # It listens before it imports: whoever asks meanwhile waits.
        listening = socket.socket(socket.AF_UNIX)
        listening.bind(self.address)
        listening.listen()
        self._process = subprocess.Popen(
            [sys.executable, str(HATCH), "serve", str(listening.fileno())],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=dict(environment),
            pass_fds=[listening.fileno()],
            start_new_session=True,
        )
        listening.close()
        atexit.register(self.close)

    @property
    def alive(self) -> bool:
        """Whether it can be asked for a kernel."""
        return self._process.poll() is None

    def close(self) -> None:
        """End it, and all kernels that it made."""
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(5)
        self._process.kill()
        self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)
        atexit.unregister(self.close)
