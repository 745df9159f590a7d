"""One run in a process of its own: it can be cancelled at any time, and ends with the server.

The request is one line of JSON on the standard input; what happens comes as lines of JSON on the
standard output. When the input ends, so does the run: the server has cancelled it, or is gone.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

GRACE = 5.0  # seconds to end in order, kernel and folders included


def _make(request: dict[str, Any], tell: Any) -> None:
    """Run what is asked for; tell how far it is, and how it ended."""
    from lowdim.publish import chapters, comparison, records, running
    from lowdim.publish.executor import ChapterFailed
    from lowdim.publish.renderer import PageFailed

    root, folder = Path(request["root"]), Path(request["folder"])
    chapter = chapters.load(request["chapter"], root=root)
    told: dict[str, Any] = {"state": "done", "said": "", "tail": "", "page": True, "moved": {}}
    try:
        running.run(
            chapter,
            request["values"],
            output_dir=folder,
            preset=request["preset"],
            tell=lambda cell, cells: tell({"cell": cell, "cells": cells}),
        )
    except PageFailed as error:  # notebook and record are there all the same
        told |= {"page": False, "said": str(error).partition("\n")[0]}
    except (ChapterFailed, chapters.UsageError, records.RecordError, running.NotWritten) as error:
        tell({"state": "failed", "said": str(error), "tail": getattr(error, "tail", "")})
        return
    record = records.read(folder / f"{chapter.stem}.record.json")
    book = comparison.of_book(root, chapter.name)
    if book is not None:
        found = comparison.compare(book, record)
        told["moved"] = {
            **json.loads(comparison.as_json(found, ("book", "this run"))),
            "summary": comparison.summary(found),
        }
    tell(told)


def _end_with_input() -> None:
    while os.read(0, 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE)
    os._exit(1)


def _main() -> int:
    """Serve one request."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    line = b""
    while not line.endswith(b"\n"):  # bytes: what a text layer read ahead the thread would miss
        got = os.read(0, 1)
        if not got:
            return 1
        line += got
    threading.Thread(target=_end_with_input, daemon=True).start()
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what anything else prints is no answer

    def tell(told: dict[str, Any]) -> None:
        answers.write(json.dumps(told) + "\n")
        answers.flush()

    _make(json.loads(line), tell)
    return 0


if __name__ == "__main__":
    sys.exit(_main())
