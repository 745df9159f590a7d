"""A report on a network: a page and its machine-readable form, written together or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from torch import nn

from lowdim.instruments import loading
from lowdim.instruments.measuring import Measurement, measure
from lowdim.instruments.page import page
from lowdim.instruments.recording import Recorder
from lowdim.instruments.refusal import Unmeasurable

__all__ = ["NAMES", "report", "report_on"]

NAMES = ("report.html", "report.json")
"""What a report writes into its folder."""

MOST = 2_000_000


def report(
    found: Measurement,
    folder: Path | str,
    *,
    title: str | None = None,
    compare: Path | str | None = None,
    recorder: Recorder | None = None,
    book: str | None = None,
) -> tuple[Path, Path]:
    """Write ``report.html`` and ``report.json`` into ``folder``; return their paths.

    Parameters
    ----------
    title
        Of the page; the model's class by default.
    compare
        The folder, or the JSON file, of another report, shown beside this one.
    recorder
        Its records are drawn over training.
    book
        The address of the built book, to which the theorems link.

    Raises
    ------
    Unmeasurable
        If ``compare`` is no report, ``folder`` cannot be written, or the page would be above 2 MB.
        Nothing is written then.

    Examples
    --------
    >>> import tempfile
    >>> import torch
    >>> found = measure(nn.Linear(3, 2), torch.randn(30, 3), labels=torch.arange(30) % 2)
    >>> with tempfile.TemporaryDirectory() as at:
    ...     [path.name for path in report(found, at)]
    ['report.html', 'report.json']
    """
    other = None if compare is None else _read(Path(compare))
    held: dict[str, Any] = {"title": title or found.model, **found.as_json()}
    history: Sequence[dict[str, Any]] = recorder.as_json() if recorder is not None else ()
    if recorder is not None:
        held["recorder"] = {
            "records": list(history),
            "share": recorder.share,
            "said": str(recorder),
        }
    text = page(held, book=book, compare=other, history=history)
    if len(text.encode()) > MOST:
        raise Unmeasurable(
            f"The page would have {len(text.encode()) / 1e6:.1f} MB, more than 2; "
            "name fewer layers to measure."
        )
    target = Path(folder)
    if target.exists() and not target.is_dir():
        raise Unmeasurable(f"{target} is a file, not a folder.")
    try:
        target.mkdir(parents=True, exist_ok=True)
        paths = []
        content = (text, json.dumps(held, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
        for name, body in zip(NAMES, content, strict=True):
            partial = target / f".{name}.partial"
            partial.write_text(body, encoding="utf-8")
            os.replace(partial, target / name)
            paths.append(target / name)
    except OSError as error:
        raise Unmeasurable(f"{target} cannot be written: {error.strerror}.") from error
    return paths[0], paths[1]


def _read(path: Path) -> dict[str, Any]:
    file = path / NAMES[1] if path.is_dir() else path
    try:
        held = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Unmeasurable(
            f"{file} is no report to compare with: {type(error).__name__}."
        ) from error
    if not isinstance(held, dict) or held.get("schema") != "lowdim-instruments/1":
        raise Unmeasurable(f"{file} is no report to compare with: it lacks the schema of one.")
    return held


def report_on(
    model: str,
    data: str,
    folder: Path | str,
    *,
    checkpoint: Path | str | None = None,
    compare: Path | str | None = None,
    book: str | None = None,
    **options: Any,
) -> tuple[Path, Path]:
    """A report on a model that a file makes: what ``lowdim report`` does.

    ``model`` is FILE.py:FUNCTION and ``data`` a name or FILE.npz; ``options`` go to ``measure``.

    Raises
    ------
    Unmeasurable
        If anything does not fit, in one sentence; nothing is written then.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as at:
    ...     file = Path(at, "net.py")
    ...     made = "nn.Sequential(nn.Flatten(), nn.Linear(64, 10))"
    ...     _ = file.write_text(f"from torch import nn\\ndef make():\\n    return {made}")
    ...     [p.name for p in report_on(f"{file}:make", "digits", at, sample=16, probes=2)]
    ['report.html', 'report.json']
    """
    if compare is not None:
        _read(Path(compare))
    target = Path(folder)
    if target.exists() and not target.is_dir():
        raise Unmeasurable(f"{target} is a file, not a folder.")
    made: nn.Module = loading.made(loading.factory(model), model)
    if checkpoint is not None:
        loading.checkpoint(made, Path(checkpoint))
    given = loading.data(data, made)
    found = measure(made, given.train, held_out=given.held_out, **options)
    title = f"{found.model} on {given.name}"
    return report(found, target, title=title, compare=compare, book=book)
