"""What one run of one chapter found, as one JSON document with a schema.

The verdict cell of a chapter leaves a partial record in its output's metadata
(``lowdim_record``), so it travels inside the executed notebook. Here it is completed with what
the notebook itself says (parameters, seed), validated, written and read.
"""

from __future__ import annotations

import ast
import json
import math
import os
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lowdim.evidence.values import LONGEST
from lowdim.evidence.vocabulary import ID, TAGS, VERDICTS

if TYPE_CHECKING:
    from nbformat import NotebookNode

KEY = "lowdim_record"
VERSION = "lowdim-record/2"
DATA_COUNTS = ("available", "taken", "classes", "side")


class RecordError(ValueError):
    """One sentence: what is wrong with a record, and whose it is."""


def schema() -> dict[str, Any]:
    """What a record is, as a JSON schema: numbers, names and units; its words are the book's.

    >>> schema()["properties"]["schema"]
    {'const': 'lowdim-record/2'}
    """
    count = {"type": "integer", "minimum": 0}
    name = {"type": "string", "minLength": 1}
    real = {"type": ["number", "null"]}
    value = {"$ref": "#/$defs/value"}

    def closed(properties: dict[str, Any], *optional: str, **more: Any) -> dict[str, Any]:
        needed = [key for key in properties if key not in optional]
        return {
            "type": "object",
            "additionalProperties": False,
            "required": needed,
            "properties": properties,
            **more,
        }

    step = closed({"rung": name, "instances": count, "violations": count, "worst": real})
    line = closed(
        {
            "quantity": name,
            "reported": value,
            "measured": value,
            "reading": {"type": "string"},
            "agrees": {"type": ["boolean", "null"]},
        }
    )
    claim = closed(
        {
            "id": {"type": "string", "pattern": ID.pattern},
            "verdict": {"enum": list(VERDICTS)},
            "supported": {"type": "boolean"},
            "tags": {"type": "array", "uniqueItems": True, "items": {"enum": list(TAGS)}},
            "trials": count,
            "violations": count,
            "tightness": real,
            "ladder": {"type": "array", "items": step},
            "lines": {"type": "array", "items": line},
        }
    )
    data = {key: name for key in ("name", "title", "split", "licence", "source", "citation")}
    data |= {key: {"type": "integer", "minimum": 1} for key in DATA_COUNTS}
    data |= {
        "kind": {"enum": ["built in", "official files", "subset"]},
        "files": {"type": "array", "items": {"type": "string", "pattern": r"^[^/\\]+$"}},
        "whole": {"type": "boolean"},
        "checked": {"type": "boolean"},
        "per_class": {"type": ["integer", "null"], "minimum": 1},
        "seed": {"type": "integer"},
    }
    machine = {"system": name, "processor": name, "cores": count, "threads": count}
    return closed(
        {
            "schema": {"const": VERSION},
            "chapter": {"type": "string", "pattern": "^[a-z0-9_]+/[a-z0-9_]+$"},
            "seed": {"type": "integer"},
            "parameters": {"type": "object"},
            "preset": {"type": ["string", "null"]},
            "seconds": {"type": "number", "minimum": 0},
            "versions": {"type": "object", "additionalProperties": name},
            "machine": closed(machine),
            "claims": {"type": "array", "minItems": 1, "items": claim},
            "values": {"type": "object", "additionalProperties": value},
            "data": closed(data),
        },
        "data",
        title="What one run of one chapter found",
        **{
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$defs": {
                "value": {
                    "description": "a number, a truth value, a name, an estimate with its error, "
                    "a share, a fraction, or a list of such; null where there is none",
                    "anyOf": [
                        {"type": ["number", "boolean", "null"]},
                        {"type": "string", "maxLength": LONGEST},
                        closed({"value": real, "error": real}),
                        closed({"count": count, "of": count}),
                        closed(
                            {"numerator": {"type": "integer"}, "denominator": {"type": "integer"}}
                        ),
                        {"type": "array", "items": value},
                    ],
                }
            },
        },
    )


@cache
def _validator() -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(schema())


def validate(record: Mapping[str, Any], *, whose: str = "The record") -> None:
    """Raise `RecordError` with the first thing that does not fit the schema.

    >>> validate({"schema": "lowdim-record/2"}, whose="x.json")
    Traceback (most recent call last):
        ...
    lowdim.publish.records.RecordError: x.json is no valid record: 'chapter' is a required property.
    """
    from jsonschema.exceptions import best_match

    problem = best_match(_validator().iter_errors(record))
    if problem is not None:
        where = "/".join(str(step) for step in problem.absolute_path)
        message = " ".join(problem.message.split())
        message = message if len(message) < 300 else message[:297] + "..."
        raise RecordError(f"{whose} is no valid record: {where + ': ' if where else ''}{message}.")
    if lost := _not_finite(record):
        raise RecordError(f"{whose} is no valid record: {lost} is not a finite number.")


def _not_finite(value: Any, where: str = "") -> str | None:
    """The path of the first NaN or infinity, which JSON has no word for."""
    if isinstance(value, float) and not math.isfinite(value):
        return where
    if isinstance(value, Mapping):
        items: Any = value.items()
    elif isinstance(value, (list, tuple)):
        items = enumerate(value)
    else:
        return None
    found = (_not_finite(item, f"{where}/{key}".lstrip("/")) for key, item in items)
    return next((path for path in found if path), None)


def extract(nb: NotebookNode, *, chapter: str, preset: str | None = None) -> dict[str, Any]:
    """The complete, validated record of an executed notebook.

    `chapter` is `part/chapter`, `preset` the preset it was run with. Raises `RecordError` if
    the notebook carries no record or several, or if the record does not fit the schema.
    """
    found = [
        output["metadata"][KEY]
        for cell in nb.cells
        if cell.cell_type == "code"
        for output in cell.get("outputs", [])
        if KEY in output.get("metadata", {})
    ]
    if not found:
        raise RecordError(
            f"{chapter} left no record: its verdict cell, the last code cell before "
            f"'Where we deviate', must be run and carry '{KEY}' in its output's metadata."
        )
    if len(found) > 1:
        raise RecordError(f"{chapter} left {len(found)} records; one verdict cell is expected.")
    values = parameters(nb)
    if "seed" not in values:
        raise RecordError(
            f"{chapter} has no parameter 'seed'; it has: {', '.join(values) or 'none'}."
        )
    record = {
        **json.loads(json.dumps(found[0])),
        "chapter": chapter,
        "parameters": values,
        "seed": values["seed"],
        "preset": preset,
    }
    validate(record, whose=f"What {chapter} left")
    return record


def parameters(nb: NotebookNode) -> dict[str, Any]:
    """The values that the run used: the `parameters` cell, then the `injected-parameters` cell."""
    values: dict[str, Any] = {}
    for tag in ("parameters", "injected-parameters"):
        for cell in nb.cells:
            if cell.cell_type == "code" and tag in cell.metadata.get("tags", []):
                for node in ast.parse(cell.source).body:
                    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                        values[node.targets[0].id] = ast.literal_eval(node.value)
    return values


def write(record: Mapping[str, Any], path: Path) -> Path:
    """Validate and write sorted, indented JSON; the file is there whole or not at all."""
    path = Path(path)
    validate(record, whose=f"What was to be written to {path.name}")
    text = json.dumps(record, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False)
    write_atomically(path, text + "\n")
    return path


def write_atomically(path: Path, text: str) -> None:
    """Write beside the target and rename."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with open(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def read(path: Path) -> dict[str, Any]:
    """The record in a file, validated; `RecordError` names the file."""
    path = Path(path)
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise RecordError(f"{path.name} is not JSON ({error}).") from None
    validate(record, whose=path.name)
    return record
