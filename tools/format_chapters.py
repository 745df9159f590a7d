"""Format the code cells of the chapters with ruff; ``--check`` only tells.

ruff reads no MyST notebooks. Cells that change nothing are left byte for byte as they are.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WIDTH = "88"  # what fits on a page without scrolling
CELL = re.compile(r"(```\{code-cell\}[^\n]*\n(?::[^\n]*\n)*)(.*?)(^```$)", re.S | re.M)


def formatted(code: str) -> str:
    """The code of one cell as ruff lays it out, or SystemExit if it does not parse."""
    command = [sys.executable, "-m", "ruff", "format", "--isolated", "--line-length", WIDTH, "-"]
    done = subprocess.run(command, input=code, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return done.stdout


def keep_parameters(head: str, code: str) -> str:
    # The comments of the parameters cell are aligned by hand, for reading.
    return code if "parameters]" in head else formatted(code)


def main() -> int:
    """Format every chapter; with --check return 1 if one would change."""
    stale = []
    for path in sorted((ROOT / "notebooks").glob("*/*.md")):
        text = path.read_text()
        new = CELL.sub(lambda m: m[1] + keep_parameters(m[1], m[2]) + m[3], text)
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
