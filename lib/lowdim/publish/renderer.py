"""A process that renders one page: started early, so that it has loaded Sphinx when it is needed.

A run of a chapter needs a page at its end, and loading what renders it takes longer than rendering.
So the process is started beside the chapter and waits for one line on its standard input, the
folder of the small book to build. It ends when that input ends: whoever started it may be killed at
any time, and neither a process nor the folder outlives it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from types import TracebackType

LAST = 15  # lines of what the renderer said that are worth showing


class PageFailed(RuntimeError):
    """The page could not be rendered: one sentence, then what the renderer said last."""


class Renderer:
    """Use as a context: the process starts on entry and has ended on exit.

    Examples
    --------
    >>> with Renderer() as renderer:  # nothing asked for: it ends at once
    ...     renderer.process.poll() is None
    True
    """

    def __enter__(self) -> Renderer:
        library = str(Path(__file__).resolve().parents[2])  # the book's settings name an extension
        paths = os.pathsep.join(filter(None, [library, os.environ.get("PYTHONPATH", "")]))
        self.process = subprocess.Popen(
            [sys.executable, "-m", "lowdim.publish.renderer"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
            env=os.environ | {"PYTHONPATH": paths},
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.process.kill()
        self.process.communicate()

    def build(self, book: Path) -> Path:
        """Build the book in a folder; return where its pages are.

        Raises
        ------
        PageFailed
            If it cannot be built.
        """
        streams = self.process
        assert streams.stdin is not None and streams.stdout is not None  # as asked for
        said: list[str] = []
        try:
            streams.stdin.write(f"{book}\n")
            streams.stdin.flush()  # and left open: its end would be ours
            said = streams.stdout.read().splitlines()
        except BrokenPipeError:
            said = streams.stdout.read().splitlines()
        html = book / "_build" / "html"
        if streams.wait() or not html.is_dir():
            lines = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in said if line.strip()]
            raise PageFailed(
                "The page could not be rendered; the renderer said:\n" + "\n".join(lines[-LAST:])
            )
        return html


def _end_with_parent(book: list[Path]) -> None:
    """Wait for the end of the standard input: our parent is gone then, and so is our purpose."""
    while os.read(0, 4096):
        pass
    for folder in book:
        shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)


def _serve() -> int:
    import jupyter_book.cli.main
    import jupyter_book.sphinx
    import matplotlib  # noqa: F401
    import myst_nb.sphinx_ext  # noqa: F401
    import sphinx.builders.html  # noqa: F401

    from lowdim.publish import sphinxext  # noqa: F401

    # Bytes and not the text layer: what it read ahead the thread below would never see.
    line = b""
    while not line.endswith(b"\n"):
        got = os.read(0, 1)
        if not got:
            return 0
        line += got
    book = Path(line.decode().strip())
    threading.Thread(target=_end_with_parent, args=([book],), daemon=True).start()
    os.chdir(book)
    jupyter_book.cli.main.main(["build", str(book), "--all", "--quiet"], standalone_mode=False)
    return 0


if __name__ == "__main__":
    sys.exit(_serve())
