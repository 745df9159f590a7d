"""The ledger as a table that fits the terminal."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any


def ledger_table(rows: Sequence[Mapping[str, Any]], *, width: int | None = None) -> str:
    """Plain text, at most `width` columns (the terminal's, if not given).

    Where not even the narrow columns fit, each claim becomes a few lines of its own.

    >>> row = {"id": "a.lemma-1", "verdict": "holds", "tags": [], "trials": 5, "violations": 0,
    ...        "tightness": None, "seed": 0, "seconds": 1.25, "chapter": "a/b", "kind": "lemma",
    ...        "source": "Someone 2020, Lemma 1"}
    >>> print(ledger_table([row], width=100))
    claim      verdict  trials  violations  tightness  seed  seconds  chapter  source
    a.lemma-1  holds         5           0          –     0      1.2  a/b      Someone 2020, Lemma 1
    """
    width = width or shutil.get_terminal_size((100, 24)).columns
    if not rows:
        return "No claims yet."
    head = "claim verdict trials violations tightness seed seconds chapter source".split()
    body = [_texts(row) for row in rows]
    widths = [max(len(line[i]) for line in [head, *body]) for i in range(len(head))]
    fixed = sum(widths[:-1]) + 2 * (len(head) - 1)
    if width - fixed < 12:
        return "\n".join(_stacked(row, head, width) for row in body)
    room = width - fixed
    lines = []
    for cells in [head, *body]:
        wrapped = textwrap.wrap(cells[-1], room) or [""]
        first = [
            cell.rjust(size) if 2 <= i <= 6 else cell.ljust(size)
            for i, (cell, size) in enumerate(zip(cells[:-1], widths[:-1], strict=True))
        ]
        lines.append("  ".join([*first, wrapped[0]]).rstrip())
        lines.extend(" " * fixed + more for more in wrapped[1:])
    return "\n".join(lines)


def _texts(row: Mapping[str, Any]) -> list[str]:
    tightness = "–" if row["tightness"] is None else f"{row['tightness']:.3g}"
    verdict = " ".join([row["verdict"], *(f"[{tag}]" for tag in row["tags"])])
    numbers = [str(row["trials"]), str(row["violations"]), tightness, str(row["seed"])]
    return [row["id"], verdict, *numbers, f"{row['seconds']:.1f}", row["chapter"], row["source"]]


def _stacked(cells: Sequence[str], head: Sequence[str], width: int) -> str:
    claim, verdict, *numbers, chapter, source = cells
    facts = ", ".join(f"{name} {value}" for name, value in zip(head[2:7], numbers, strict=True))
    wrapped = [
        line
        for text in (f"{verdict}; {facts}", f"{chapter}; {source}")
        for line in textwrap.wrap(text, max(20, width), initial_indent="  ", subsequent_indent="  ")
    ]
    return "\n".join([claim, *wrapped])
