"""MyST text notebooks read as text: their code cells and their title, with line numbers.

No notebook library is imported, so reading a chapter's parameters takes milliseconds.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import yaml


@dataclass(frozen=True)
class Cell:
    """A code cell of a text notebook: `source`, `tags`, and the file's `line` where it begins."""

    source: str
    tags: tuple[str, ...]
    line: int


def code_cells(text: str) -> list[Cell]:
    """The top-level code cells of a MyST text notebook.

    >>> code_cells("```{code-cell} python\\n:tags: [parameters]\\nseed = 0\\n```\\n")
    [Cell(source='seed = 0', tags=('parameters',), line=3)]
    """
    lines = text.splitlines()
    cells: list[Cell] = []
    at = 0
    while at < len(lines):
        opening = re.match(r"^(`{3,}|~{3,}|:{3,})(.*)$", lines[at])
        at += 1
        if not opening:
            continue
        mark, start = opening[1], at
        closing = re.compile(rf"^{re.escape(mark[0])}{{{len(mark)},}}\s*$")
        while at < len(lines) and not closing.match(lines[at]):
            at += 1
        if opening[2].strip().startswith("{code-cell}"):
            cells.append(_cell(lines[start:at], start))
        at += 1
    return cells


def _cell(body: list[str], start: int) -> Cell:
    """Split a code cell's options (a `---` block or `:key: value` lines) from its source."""
    skip = 0
    options: dict[str, Any] = {}
    if body and body[0].strip() == "---" and "---" in [line.strip() for line in body[1:]]:
        skip = [line.strip() for line in body].index("---", 1) + 1
        options = yaml.safe_load("\n".join(body[1 : skip - 1])) or {}
    else:
        while skip < len(body) and (match := re.match(r"^:(\w[\w-]*):\s*(.*)$", body[skip])):
            options[match[1]] = yaml.safe_load(match[2]) if match[1] == "tags" else match[2]
            skip += 1
    while skip < len(body) and not body[skip].strip():
        skip += 1
    tags = options.get("tags") or []
    return Cell(
        "\n".join(body[skip:]).rstrip(),
        tuple(tags if isinstance(tags, list) else [tags]),
        start + skip + 1,
    )


def first_heading(text: str) -> str | None:
    """The text of the first `# heading` outside code, or None.

    >>> first_heading("```python\\n# not this\\n```\\n# Weyl — small noise\\n")
    'Weyl — small noise'
    """
    prose = re.sub(r"^(`{3,}).*?^\1`*\s*$", "", text, flags=re.DOTALL | re.MULTILINE)
    heading = re.search(r"^#\s+(.+?)\s*$", prose, flags=re.MULTILINE)
    return heading[1] if heading else None
