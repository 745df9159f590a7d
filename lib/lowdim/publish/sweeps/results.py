"""A sweep as a table and as a page: one row a run, everything that its record says.

A list of numbers becomes one column for each place; an estimate has its error beside it, a share
its two counts. A column is empty where a run has no such number.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from lowdim.publish import comparison, content
from lowdim.publish.chapters import Chapter
from lowdim.publish.records import write_atomically
from lowdim.publish.sweeps.shelf import DONE, Row, Shelf

TABLE, PAGE = "runs.csv", "index.html"
FIRST = ("outcome", "current", "seconds", "host", "key")


@dataclass(frozen=True)
class Summary:
    """What a sweep holds now, and where its table and page are."""

    done: int
    failed: int
    stale: int
    differ: int
    table: Path
    page: Path


def write(
    folder: Path, kept: Shelf, *, root: Path, chapter: Chapter, keys: Iterable[str]
) -> Summary:
    """Write ``runs.csv`` and ``index.html`` of everything that is kept; sum it up."""
    wanted = {key: place for place, key in enumerate(keys)}
    book = comparison.of_book(root, chapter.name)
    named = content.keys(root, chapter.name)
    # As planned, and not as they happened to end; what was not asked for now comes after.
    rows = sorted(kept.rows(), key=lambda row: wanted.get(row.key, len(wanted)))
    current = {row.key: row.key in wanted or named(row.parameters) == row.key for row in rows}
    table = [columns(row, chapter.defaults, current=current[row.key]) for row in rows]
    write_atomically(folder / TABLE, as_csv(table))
    differ = [row.key for row in rows if moved(row, book)]
    write_atomically(folder / PAGE, as_page(chapter, rows, table, set(differ), book))
    done = sum(row.state == DONE for row in rows)
    return Summary(
        done=done,
        failed=len(rows) - done,
        stale=sum(not fresh for fresh in current.values()),
        differ=len(differ),
        table=folder / TABLE,
        page=folder / PAGE,
    )


def columns(row: Row, defaults: Mapping[str, Any], *, current: bool) -> dict[str, Any]:
    """Everything that is known of a run, by the name of its column.

    Examples
    --------
    >>> claim = {"id": "a.lemma-1", "verdict": "holds", "supported": True, "trials": 5,
    ...          "violations": 0, "tightness": 0.5}
    >>> record = {"claims": [claim], "values": {"slope": {"value": 1.0, "error": 0.1}},
    ...           "versions": {"torch": "2"}}
    >>> row = Row("k", {"seed": 1}, "done", 2.0, record, "", "", "here", 0.0)
    >>> found = columns(row, {"seed": 0, "n": 3}, current=True)
    >>> found["seed"], found["n"], found["slope"], found["slope.error"], found["lemma-1"]
    (1, 3, 1.0, 0.1, 'holds')
    """
    told: dict[str, Any] = {
        name: comparison.shown(value) if isinstance(value, list) else value
        for name, value in {**defaults, **row.parameters}.items()
    }
    told |= {"outcome": row.state, "current": current, "seconds": round(row.seconds, 3)}
    told |= {"host": row.host, "key": row.key}
    if row.record is None:
        return told | {"error": row.error}
    for claim in row.record["claims"]:
        name = claim["id"].partition(".")[2]
        told[name] = comparison.verdict_of(claim)
        for each in ("trials", "violations", "tightness"):
            told[f"{name}.{each}"] = claim[each]
    for name, value in row.record["values"].items():
        told |= dict(_flat(name, value))
    return told | {f"version.{name}": text for name, text in row.record["versions"].items()}


def _flat(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, list):
        for place, item in enumerate(value):
            yield from _flat(f"{name}.{place}", item)
    elif isinstance(value, dict) and "error" in value:
        yield name, value["value"]
        yield f"{name}.error", value["error"]
    elif isinstance(value, dict) and "count" in value:
        yield name, value["count"] / value["of"] if value["of"] else None
        yield f"{name}.count", value["count"]
        yield f"{name}.of", value["of"]
    elif isinstance(value, dict):
        yield name, value["numerator"] / value["denominator"]
    else:
        yield name, value


def as_csv(table: list[dict[str, Any]]) -> str:
    """The table as text, its columns in the order in which they first occur.

    Examples
    --------
    >>> print(as_csv([{"a": 1, "b": True}, {"a": 2, "c": None}]), end="")
    a,b,c
    1,true,
    2,,
    """
    names = list(dict.fromkeys(name for row in table for name in row))
    out = io.StringIO()
    write = csv.writer(out, lineterminator="\n")
    write.writerow(names)
    for row in table:
        write.writerow([_cell(row.get(name)) for name in names])
    return out.getvalue()


def _cell(value: Any) -> Any:
    return "" if value is None else str(value).lower() if isinstance(value, bool) else value


def moved(row: Row, book: Mapping[str, Any] | None) -> list[str]:
    """The claims whose verdict is not the book's in this run; all of none if it has no record.

    Examples
    --------
    >>> claim = {"id": "a.lemma-1", "verdict": "holds", "supported": True}
    >>> row = Row("k", {}, "done", 1.0, {"claims": [claim]}, "", "", "here", 0.0)
    >>> moved(row, {"claims": [{**claim, "verdict": "refuted"}]})
    ['a.lemma-1']
    """
    if book is None or row.record is None:
        return []
    there = {claim["id"]: comparison.verdict_of(claim) for claim in book["claims"]}
    here = {claim["id"]: comparison.verdict_of(claim) for claim in row.record["claims"]}
    return [name for name in here if here[name] != there.get(name)]


def as_page(
    chapter: Chapter,
    rows: list[Row],
    table: list[dict[str, Any]],
    differ: set[str],
    book: Mapping[str, Any] | None,
) -> str:
    """One page that opens from disk: a plot of any number against any parameter, and all runs."""
    names = [parameter.name for parameter in chapter.parameters]
    varied = [n for n in names if len({json.dumps(row.get(n)) for row in table}) > 1]
    numbers = _numbers(rows, table, names)
    ordered = sorted(
        zip(rows, table, strict=True),
        key=lambda pair: (pair[0].key not in differ, pair[0].state == DONE),
    )
    shown = [
        {
            "differs": moved(row, book),
            "failed": row.error,
            "values": {k: v for k, v in told.items() if k in varied or k in numbers},
        }
        for row, told in ordered
    ]
    data = {"parameters": varied or names, "numbers": numbers, "runs": shown}
    template = files("lowdim.publish.sweeps").joinpath("page.html").read_text(encoding="utf-8")
    head = ["", *varied, "outcome", "verdicts that are not the book's"]
    body = "\n".join(_line(row, told, varied, moved(row, book)) for row, told in ordered)
    said = _sentence(chapter.name, rows, differ, book)
    return (
        template.replace("@TITLE@", escape(f"A sweep of {chapter.name}"))
        .replace("@SAID@", escape(said))
        .replace("@HEAD@", "".join(f"<th>{escape(name)}</th>" for name in head))
        .replace("@BODY@", body)
        .replace("@DATA@", json.dumps(data, separators=(",", ":")).replace("</", "<\\/"))
    )


def _numbers(rows: list[Row], table: list[dict[str, Any]], parameters: list[str]) -> list[str]:
    """Names of columns to plot: first what the chapter says and what varies, then the rest."""
    said = {name for row in rows if row.record for name in row.record["values"]}
    found: dict[str, set[Any]] = {}
    for row in table:
        for name, value in row.items():
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                found.setdefault(name, set()).add(value)
    names = [name for name in found if name not in parameters]
    return sorted(
        names, key=lambda name: (len(found[name]) < 2, name.partition(".")[0] not in said)
    )


def _sentence(name: str, rows: list[Row], differ: set[str], book: Mapping[str, Any] | None) -> str:
    failed = sum(row.state != DONE for row in rows)
    against = "; the book's own run is not at hand, so no verdict is compared"
    if book is not None:
        against = f"; in {len(differ):,} a verdict is not the book's"
    return f"{len(rows):,} runs of {name}, of which {failed:,} failed{against}."


def _line(row: Row, told: Mapping[str, Any], varied: list[str], names: list[str]) -> str:
    cells = [comparison.clipped(told.get(name)) for name in varied]
    cells += [row.error or "done", ", ".join(names) or "—"]
    kind = "failed" if row.error else "differs" if names else ""
    marked = f'<tr class="{kind}"><td>{"!" if kind else ""}</td>'
    return marked + "".join(f"<td>{escape(str(cell))}</td>" for cell in cells) + "</tr>"
