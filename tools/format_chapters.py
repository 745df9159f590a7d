"""Format the code cells of the chapters with ruff; ``--check`` only tells.

ruff reads no MyST notebooks. Cells that change nothing are left byte for byte as they are.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WIDTH = "88"  # what fits on a page without scrolling
CELL = re.compile(r"(```\{code-cell\}[^\n]*\n(?::[^\n]*\n)*)(.*?)(^```$)", re.S | re.M)


def formatted(cells: list[str]) -> list[str]:
    """The code of the cells as ruff lays it out, or SystemExit if one does not parse.

    One call for all: starting ruff takes longer than a cell does.
    """
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, f"{k:05}.py") for k in range(len(cells))]
        for file, code in zip(files, cells, strict=True):
            file.write_text(code)
        command = [sys.executable, "-m", "ruff", "format", "--isolated", "--line-length", WIDTH]
        done = subprocess.run([*command, folder], capture_output=True, text=True, check=False)
        if done.returncode:
            broken = re.findall(r"(\d{5})\.py", done.stderr)
            shown = "".join(f"\nin the cell\n{cells[int(k)]}" for k in dict.fromkeys(broken))
            raise SystemExit(done.stderr.replace(folder, "cells") + shown)
        return [file.read_text() for file in files]


def is_ours(head: str) -> bool:
    # The comments of the parameters cell are aligned by hand, for reading.
    return "parameters]" not in head


def main() -> int:
    """Format every chapter; with --check return 1 if one would change."""
    stale = []
    texts = {path: path.read_text() for path in sorted((ROOT / "notebooks").glob("*/*.md"))}
    cells = [m[2] for text in texts.values() for m in CELL.finditer(text) if is_ours(m[1])]
    laid_out = iter(formatted(cells))
    for path, text in texts.items():
        new = CELL.sub(lambda m: m[1] + (next(laid_out) if is_ours(m[1]) else m[2]) + m[3], text)
        if new != text:
            stale.append(str(path.relative_to(ROOT)))
            if "--check" not in sys.argv:
                path.write_text(new)
    if stale and "--check" in sys.argv:
        print(f"Not formatted: {', '.join(stale)}; run python tools/format_chapters.py.")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
