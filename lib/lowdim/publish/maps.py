"""A sweep over two parameters, kept with the book: numbers, names and verdicts, no sentence.

``lowdim sweep … --keep-map NUMBERS`` writes ``book/maps/<part>/<chapter>.json``; a page shows it
by a ``{map}`` directive (:mod:`lowdim.publish.site.maps`). Maps lie beside the records and not
among them: a chapter may read its records, so they decide its runs, and a map decides none.
"""

from __future__ import annotations

import json
import shlex
import statistics
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from lowdim.evidence.vocabulary import ID, VERDICTS
from lowdim.publish import comparison
from lowdim.publish.chapters import Chapter, UsageError
from lowdim.publish.records import RecordError, write_atomically
from lowdim.publish.sweeps.results import columns
from lowdim.publish.sweeps.shelf import DONE, Row

FOLDER = Path("book", "maps")
VERSION = "lowdim-map/1"
SEED = "seed"
FEWEST = 2  # values on an axis
VACUOUS = "vacuous"
MIXED = "mixed"
"""What a cell is called whose runs, with several seeds, do not have the same verdict."""


class MapError(RuntimeError):
    """One sentence: why no map is kept, or what is wrong with one."""


def schema() -> dict[str, Any]:
    """What a kept map is, as a JSON schema.

    Examples
    --------
    >>> schema()["properties"]["schema"]
    {'const': 'lowdim-map/1'}
    """
    name = {"type": "string", "minLength": 1, "pattern": r"^\S+$"}
    value = {"type": ["number", "string", "boolean", "array"]}
    names = {"type": "array", "minItems": 1, "uniqueItems": True}

    def closed(properties: dict[str, Any]) -> dict[str, Any]:
        needed = list(properties)
        rest = {"additionalProperties": False, "required": needed, "properties": properties}
        return {"type": "object", **rest}

    values = {"type": "array", "minItems": FEWEST, "uniqueItems": True, "items": value}
    place = {"type": "integer", "minimum": 0}
    run = {
        "at": {"type": "array", "minItems": 2, "maxItems": 2, "items": place},
        "seed": {"type": "integer"},
        "seconds": {"type": "number", "minimum": 0},
        "numbers": {"type": "array", "items": {"type": ["number", "null"]}},
        "verdicts": {"type": "array", "items": {"enum": list(VERDICTS)}},
        "supported": {"type": "array", "items": {"type": "boolean"}},
        "vacuous": {"type": "array", "items": {"type": "boolean"}},
    }
    axis = closed({"name": name, "values": values})
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "What a sweep over two parameters of one chapter found",
        **closed(
            {
                "schema": {"const": VERSION},
                "chapter": {"type": "string", "pattern": "^[a-z0-9_]+/[a-z0-9_]+$"},
                "axes": {"type": "array", "minItems": 2, "maxItems": 2, "items": axis},
                "seeds": {**names, "items": {"type": "integer"}},
                "fixed": {"type": "object", "additionalProperties": value},
                "numbers": {**names, "items": name},
                "claims": {**names, "items": {"type": "string", "pattern": ID.pattern}},
                "seconds": {"type": "number", "minimum": 0},
                "versions": {"type": "object", "additionalProperties": name},
                "runs": {"type": "array", "items": closed(run)},
            }
        ),
    }


@cache
def _validator() -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(schema())


def validate(kept: Mapping[str, Any], *, whose: str = "The map") -> None:
    """Raise `RecordError` with the first thing that is wrong.

    Beyond the schema, there is one run for each pair of values and each seed, with as many numbers
    and verdicts as the map has names for.

    Examples
    --------
    >>> validate({"schema": "lowdim-map/1"}, whose="x.json")
    Traceback (most recent call last):
        ...
    lowdim.publish.records.RecordError: x.json is no valid map: 'chapter' is a required property.
    """
    from jsonschema.exceptions import best_match

    problem = best_match(_validator().iter_errors(kept))
    if problem is not None:
        where = "/".join(str(step) for step in problem.absolute_path)
        said = f"{where + ': ' if where else ''}{' '.join(problem.message.split())[:300]}"
        raise RecordError(f"{whose} is no valid map: {said}.")
    across, up = (range(len(axis["values"])) for axis in kept["axes"])
    wanted = {(i, j, seed) for i in across for j in up for seed in kept["seeds"]}
    there = [(*run["at"], run["seed"]) for run in kept["runs"]]
    if set(there) != wanted or len(there) != len(wanted):
        raise RecordError(
            f"{whose} is no valid map: it has {len(there)} runs, and {len(wanted)} are one for "
            "each pair of values and each seed."
        )
    for run in kept["runs"]:
        claims = {len(run[key]) for key in ("verdicts", "supported", "vacuous")}
        if len(run["numbers"]) != len(kept["numbers"]) or claims != {len(kept["claims"])}:
            raise RecordError(
                f"{whose} is no valid map: the run at {run['at']} has not a number for each name "
                "and a verdict for each claim."
            )


def axes(chapter: Chapter, runs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The two parameters that ``runs`` vary, with their values: the first across, the second up.

    Raises
    ------
    UsageError
        If another number of parameters is varied, seeds apart, or a combination is missing.

    Examples
    --------
    >>> runs = [{"a": a, "b": b, "n": 3} for a in (1, 2) for b in (0.1, 0.5)]
    >>> axes(Chapter("x/y", Path("y.md"), "Y", (), ()), runs)
    [{'name': 'a', 'values': [1, 2]}, {'name': 'b', 'values': [0.1, 0.5]}]
    """
    found: dict[str, list[Any]] = {}
    for run in runs:
        for name, value in run.items():
            if value not in found.setdefault(name, []):
                found[name].append(value)
    varied = [name for name, values in found.items() if len(values) > 1 and name != SEED]
    if len(varied) != 2:
        raise UsageError(
            f"A map has two parameters with several values each, and perhaps several seeds; this "
            f"sweep of {chapter.stem} varies {', '.join(varied) or 'none'}."
        )
    cells = len(found[varied[0]]) * len(found[varied[1]]) * len(found.get(SEED, [0]))
    if len(runs) != cells:
        raise UsageError(
            f"A map needs every combination of its values, {cells:,} runs; this plan has "
            f"{len(runs):,}."
        )
    return [{"name": name, "values": found[name]} for name in varied]


def numbers_of(text: str, *, record: Mapping[str, Any] | None) -> list[str]:
    """The names of columns in ``text``, ``slope,levels.0``; they are in ``record``, if given.

    Raises
    ------
    UsageError
        If there is no name, one is there twice, or the record has no number under it.

    Examples
    --------
    >>> numbers_of("slope, levels.0", record=None)
    ['slope', 'levels.0']
    """
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names or len(set(names)) < len(names):
        raise UsageError(f"--keep-map wants names of numbers, each once; you gave '{text}'.")
    if record is not None:
        row = Row("", dict(record["parameters"]), DONE, 0.0, dict(record), "", "", "", 0.0)
        _pick(columns(row, {}, current=True), names, UsageError)
    return names


def _pick(told: Mapping[str, Any], names: Iterable[str], wrong: type[Exception]) -> list[Any]:
    """The numbers under these names; ``wrong`` is raised for what is no number."""
    found = []
    for name in names:
        value = told.get(name)
        if name not in told or not (value is None or isinstance(value, (int, float))):
            known = [n for n, v in told.items() if isinstance(v, float)]
            raise wrong(
                f"A run has no number '{name}' to keep in a map; it has {', '.join(known)}."
            )
        found.append(value)
    return found


def make(
    chapter: Chapter, runs: Sequence[Mapping[str, Any]], rows: Sequence[Row], names: Sequence[str]
) -> dict[str, Any]:
    """The map of a sweep that has ended: ``rows`` are what came of ``runs``, in their order.

    Raises
    ------
    UsageError
        As :func:`axes`.
    MapError
        If a run is missing or failed, or has no such number.

    Examples
    --------
    >>> chapter = Chapter("a/b", Path("b.md"), "B", (), ())
    >>> make(chapter, [{"m": m, "n": n} for m in (1, 2) for n in (3, 4)], [], ["slope"])
    Traceback (most recent call last):
        ...
    lowdim.publish.maps.MapError: 4 of 4 runs are missing or failed, so no map of a/b is kept; \
--retry makes them again.
    """
    both = axes(chapter, runs)
    bad = len(runs) - sum(row.record is not None for row in rows)
    if bad:
        raise MapError(
            f"{bad:,} of {len(runs):,} runs are missing or failed, so no map of {chapter.name} is "
            "kept; --retry makes them again."
        )
    varied = [axis["name"] for axis in both]
    kept = []
    for run, row in zip(runs, rows, strict=True):
        assert row.record is not None
        told = columns(row, chapter.defaults, current=True)
        kept.append(
            {
                "at": [axis["values"].index(run[axis["name"]]) for axis in both],
                "seed": row.record["seed"],
                "seconds": round(row.seconds, 1),
                "numbers": _pick(told, names, MapError),
                "verdicts": [claim["verdict"] for claim in row.record["claims"]],
                "supported": [claim["supported"] for claim in row.record["claims"]],
                "vacuous": [VACUOUS in claim["tags"] for claim in row.record["claims"]],
            }
        )
    first = rows[0].record
    assert first is not None
    made = {
        "schema": VERSION,
        "chapter": chapter.name,
        "axes": both,
        "seeds": list(dict.fromkeys(run["seed"] for run in kept)),
        "fixed": {k: v for k, v in runs[0].items() if k not in (*varied, SEED)},
        "numbers": list(names),
        "claims": [claim["id"] for claim in first["claims"]],
        "seconds": round(sum(row.seconds for row in rows), 1),
        "versions": first["versions"],
        "runs": kept,
    }
    validate(made, whose=f"What was swept of {chapter.name}")
    return made


def path_of(root: Path, chapter: str) -> Path:
    """Where the map of ``part/chapter`` lies.

    Examples
    --------
    >>> path_of(Path(), "preserve/depth").as_posix()
    'book/maps/preserve/depth.json'
    """
    return root / FOLDER / f"{chapter}.json"


def write(root: Path, kept: Mapping[str, Any]) -> Path:
    """Write a map into the book under ``root``, one run in a line, whole or not at all.

    Raises
    ------
    RecordError
        If it is no map; nothing is written then.

    Examples
    --------
    >>> write(Path("nowhere"), {})
    Traceback (most recent call last):
        ...
    lowdim.publish.records.RecordError: The map is no valid map: 'schema' is a required property.
    """
    validate(kept)
    path = path_of(root, kept["chapter"])
    lines = [
        f'  "{key}": {json.dumps(value, sort_keys=True, allow_nan=False)}'
        for key, value in kept.items()
        if key != "runs"
    ]
    runs = [f"    {json.dumps(run, allow_nan=False)}" for run in kept["runs"]]
    body = ",\n".join([*lines, '  "runs": [\n' + ",\n".join(runs) + "\n  ]"])
    write_atomically(path, "{\n" + body + "\n}\n")
    return path


def read(root: Path, chapter: str) -> dict[str, Any] | None:
    """The kept map of ``part/chapter``, validated; None if there is none.

    Raises
    ------
    RecordError
        If what is there is no map, or one of another chapter.

    Examples
    --------
    >>> read(Path("nowhere"), "preserve/depth") is None
    True
    """
    path = path_of(root, chapter)
    if not path.is_file():
        return None
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise RecordError(f"{path.name} is not JSON ({error}).") from None
    validate(kept, whose=path.name)
    if kept["chapter"] != chapter:
        raise RecordError(f"{path.name} is a map of {kept['chapter']}, not of {chapter}.")
    return kept


def command(kept: Mapping[str, Any]) -> str:
    """The line that makes a map again.

    Examples
    --------
    >>> both = [{"name": "n", "values": [1, 2]}, {"name": "sizes", "values": [[1], [1, 2]]}]
    >>> made = {"chapter": "a/b", "axes": both, "seeds": [0], "fixed": {"k": 0.5}}
    >>> command(made | {"numbers": ["slope"]})
    "lowdim sweep a/b -p n=1,2 -p 'sizes=1;1,2' -p k=0.5 -p seed=0 --keep-map slope"
    """
    given = {axis["name"]: axis["values"] for axis in kept["axes"]}
    given |= {name: [value] for name, value in kept["fixed"].items()}
    given |= {SEED: kept["seeds"]}
    words = ["lowdim", "sweep", kept["chapter"]]
    for name, values in given.items():
        mark = ";" if isinstance(values[0], list) else ","
        words += ["-p", f"{name}={mark.join(map(as_text, values))}"]
    return shlex.join([*words, "--keep-map", ",".join(kept["numbers"])])


def as_text(value: Any) -> str:
    """A parameter's value as one would give it.

    Examples
    --------
    >>> as_text([0.5, 2]), as_text(True), as_text(1e-05)
    ('0.5,2', 'true', '1e-05')
    """
    if isinstance(value, list):
        return ",".join(map(as_text, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def grid(kept: Mapping[str, Any], number: str) -> list[list[float | None]]:
    """The median over seeds of a number, ``[up][across]``; None where no run has it.

    Raises
    ------
    RecordError
        If the map does not keep that number.

    Examples
    --------
    >>> both = [{"name": "m", "values": [1, 2]}, {"name": "n", "values": [3]}]
    >>> runs = [{"at": [0, 0], "numbers": [v]} for v in (1.0, 2.0, 9.0)]
    >>> grid({"axes": both, "numbers": ["slope"], "runs": runs}, "slope")
    [[2.0, None]]
    """
    if number not in kept["numbers"]:
        raise RecordError(
            f"The map of {kept['chapter']} keeps no number '{number}'; it keeps "
            f"{', '.join(kept['numbers'])}."
        )
    place = kept["numbers"].index(number)
    found: dict[tuple[int, int], list[float]] = {}
    for run in kept["runs"]:
        if (value := run["numbers"][place]) is not None:
            found.setdefault(tuple(run["at"]), []).append(value)
    across, up = (range(len(axis["values"])) for axis in kept["axes"])
    return [
        [statistics.median(found[i, j]) if (i, j) in found else None for i in across] for j in up
    ]


def rulings(kept: Mapping[str, Any], claim: str) -> list[list[str]]:
    """What the runs say of a claim, ``[up][across]``: its verdict, or `MIXED`.

    ``claim`` is the id without its part. A claim that a run finds vacuous, and a verdict that it
    does not carry, are told apart.

    Raises
    ------
    RecordError
        If the map has no such claim.

    Examples
    --------
    >>> both = [{"name": "m", "values": [1, 2]}, {"name": "n", "values": [3]}]
    >>> ruled = [([0, 0], True), ([0, 0], False), ([1, 0], False)]
    >>> runs = [{"at": at, "verdicts": ["holds"], "supported": [by]} for at, by in ruled]
    >>> runs = [{**run, "vacuous": [True]} for run in runs]
    >>> kept = {"chapter": "a/b", "claims": ["a.lemma-1"], "axes": both, "runs": runs}
    >>> rulings(kept, "lemma-1")
    [['mixed', 'holds, vacuous, not supported by this run']]
    """
    part = kept["chapter"].partition("/")[0]
    if f"{part}.{claim}" not in kept["claims"]:
        known = ", ".join(name.partition(".")[2] for name in kept["claims"])
        raise RecordError(f"The map of {kept['chapter']} has no claim '{claim}'; it has {known}.")
    place = kept["claims"].index(f"{part}.{claim}")
    found: dict[tuple[int, int], set[str]] = {}
    for run in kept["runs"]:
        verdict = run["verdicts"][place] + (f", {VACUOUS}" if run[VACUOUS][place] else "")
        ruled = {"verdict": verdict, "supported": run["supported"][place]}
        found.setdefault(tuple(run["at"]), set()).add(comparison.verdict_of(ruled))
    across, up = (range(len(axis["values"])) for axis in kept["axes"])
    return [[min(found[i, j]) if len(found[i, j]) == 1 else MIXED for i in across] for j in up]


def facts(
    kept: Mapping[str, Any], number: str, claim: str, *, line: float | None = None
) -> dict[str, Any]:
    """What a sentence about a map may insert, by name.

    ``cells``, ``runs``, ``seeds``, ``seconds``; ``least`` and ``most`` of the number, and where:
    ``least_x``, ``least_y``, ``most_x``, ``most_y``; and in how many cells the runs carry the
    verdict (``carried``), do not (``not_carried``), or differ (``mixed``); in how many all find it
    ``vacuous``; and, for each verdict with ``_`` for ``-``, in how many all carry it. ``ups`` and
    ``downs`` count the neighbours across which the number rises and falls along the first axis,
    ``ups_y`` and ``downs_y`` along the second. With a ``line``, that number; and ``above``, the
    cells whose number is larger.

    Examples
    --------
    >>> both = [{"name": "m", "values": [1, 2]}, {"name": "n", "values": [[0.5]]}]
    >>> runs = [{"at": [i, 0], "numbers": [4.0 - i]} for i in (0, 1)]
    >>> ruled = {"verdicts": ["holds"], "supported": [True], "vacuous": [False]}
    >>> runs = [{**run, **ruled} for run in runs]
    >>> kept = {"chapter": "a/b", "axes": both, "seeds": [0], "seconds": 1.5, "runs": runs}
    >>> told = facts(kept | {"numbers": ["x"], "claims": ["a.lemma-1"]}, "x", "lemma-1")
    >>> told["cells"], told["holds"], told["least"], told["least_x"], told["least_y"]
    (2, 2, 3.0, 2, 0.5)
    """
    values, said = grid(kept, number), rulings(kept, claim)
    across, up = (axis["values"] for axis in kept["axes"])
    flat = [word for row in said for word in row]
    told: dict[str, Any] = {
        "cells": len(flat),
        "runs": len(kept["runs"]),
        "seeds": len(kept["seeds"]),
        "seconds": kept["seconds"],
        "mixed": flat.count(MIXED),
        "not_carried": sum("not supported" in word for word in flat),
        VACUOUS: sum(f", {VACUOUS}" in word for word in flat),
    }
    told["carried"] = told["cells"] - told["mixed"] - told["not_carried"]
    carried = [word.partition(",")[0] for word in flat if "not supported" not in word]
    told |= {verdict.replace("-", "_"): carried.count(verdict) for verdict in VERDICTS}
    there = [(v, i, j) for j, row in enumerate(values) for i, v in enumerate(row) if v is not None]
    for name, (value, i, j) in (("least", min(there)), ("most", max(there))) if there else ():
        told |= {name: value, f"{name}_x": single(across[i]), f"{name}_y": single(up[j])}
    if line is not None:
        told |= {"line": line, "above": sum(value > line for value, _, _ in there)}
    told["ups"], told["downs"] = _steps(values)
    told["ups_y"], told["downs_y"] = _steps([list(column) for column in zip(*values, strict=True)])
    return told


def _steps(rows: Sequence[Sequence[float | None]]) -> tuple[int, int]:
    pairs = [(a, b) for row in rows for a, b in pairwise(row) if a is not None and b is not None]
    return sum(a < b for a, b in pairs), sum(a > b for a, b in pairs)


def single(value: Any) -> Any:
    """A list of one value as that value: chapters take lists, and a map varies one place.

    Examples
    --------
    >>> single([0.1]), single(3), single([1, 2])
    (0.1, 3, [1, 2])
    """
    return value[0] if isinstance(value, list) and len(value) == 1 else value
