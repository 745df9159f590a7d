"""The ledger as a table that fits the terminal."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from lowdim.evidence.tables import Table


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
    try:
        return Table(head, body).text(width=width)
    except ValueError:  # too narrow
        return "\n".join(_stacked(row, head, width) for row in body)


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
