"""Kernels that are this very interpreter, whatever else is registered under the name python3.

A kernel specification in the user's own folders comes before the environment's and may belong to
another Python; so none is looked up. Sockets are files in a private temporary folder: kernels
started at the same moment cannot take each other's port.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import weakref
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from lowdim.publish import nursery

ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1"
)


def environment(root: Path, *, chapter: str = "", one_thread: bool = False) -> dict[str, str]:
    """What is added to a kernel's environment so that a chapter of `root` runs the same anywhere.

    >>> environment(Path("."), one_thread=True)["OMP_NUM_THREADS"]
    '1'
    """
    added = {
        "LOWDIM_ROOT": str(root),
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        "PYTHONHASHSEED": "0",
    }
    if chapter:  # what a chapter asks its own kept runs by, and what its claims are called after
        added["LOWDIM_CHAPTER"] = chapter
    if (root / "lib" / "lowdim").is_dir():
        paths = [str(root / "lib"), os.environ.get("PYTHONPATH", "")]
        added["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    return added | (ONE_THREAD if one_thread else {})


class Watch:
    """Knows kernels that are at work in other threads, so that they can all be ended at once."""

    def __init__(self) -> None:
        self._managers: weakref.WeakSet[Any] = weakref.WeakSet()
        self._over = False

    def add(self, manager: Any) -> None:
        """Watch a kernel from its start; one that starts after the end is ended at once."""
        self._managers.add(manager)
        if self._over:
            self.end()

    def end(self) -> None:
        """Kill every kernel, and any that is still to start."""
        self._over = True
        for manager in list(self._managers):
            process = manager.provisioner
            if process is not None and process.has_process:  # else its number may be another's
                with suppress(ProcessLookupError):
                    os.kill(process.pid, signal.SIGKILL)


def manager_class(base: type, added: Mapping[str, str], *, watch: Watch | None = None) -> type:
    """A kernel manager class, derived from jupyter_client's `base`, for this interpreter.

    A kernel that it starts can be ended through `watch`.
    """
    from ipykernel.kernelspec import make_ipkernel_cmd
    from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
    from jupyter_core.utils import run_sync

    class Specs(KernelSpecManager):
        def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
            warm = nursery.command({**os.environ, **added})
            return KernelSpec(
                argv=[*warm, "-f", "{connection_file}"]
                if warm
                else make_ipkernel_cmd(executable=sys.executable),
                display_name="Python 3",
                language="python",
                env=dict(added),
            )

    class Manager(base):
        def __init__(self, **options: Any) -> None:
            options.setdefault("kernel_spec_manager", Specs())
            super().__init__(**options)
            if sys.platform != "win32":  # no ipc there
                folder = tempfile.mkdtemp(prefix="lowdim-")
                weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
                self.connection_file = os.path.join(folder, "kernel.json")
                self.transport = "ipc"
                self.ip = os.path.join(folder, "k")

        async def _async_pre_start_kernel(self, **options: Any) -> Any:
            # What a chapter writes to its error stream comes as output; this is the kernel's own.
            options.setdefault("stderr", subprocess.DEVNULL)
            return await super()._async_pre_start_kernel(**options)

        pre_start_kernel = run_sync(_async_pre_start_kernel)

        async def _async_post_start_kernel(self, **options: Any) -> None:
            await super()._async_post_start_kernel(**options)
            if watch is not None:
                watch.add(self)

    return Manager
