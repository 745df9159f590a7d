"""Verdicts: what a chapter found about each claim, refused when the evidence does not carry it.

A chapter ends in one call of :func:`verdict`. It shows a short rounded table, which is compared
with a committed reference, and carries the full record in the metadata of that output, so that it
travels inside every executed copy of the notebook.
"""

from __future__ import annotations

import json
import math
import os
import platform
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import cast

import torch

import lowdim
from lowdim import checks
from lowdim.evidence.attacks import Claim, Climb, Findings, across, attack
from lowdim.evidence.ladder import Ladder
from lowdim.evidence.tables import Table, short
from lowdim.evidence.vocabulary import TAGS, VERDICTS, badge, check_id, kind_of, part_of

__all__ = [
    "Claim", "Climb", "Findings", "Ruling", "across", "attack", "badge", "beside", "compared",
    "kept", "kept_lines", "rule", "verdict",
]  # fmt: skip

_STARTED = time.perf_counter()  # a chapter's clock: from the first import of this module


@dataclass(frozen=True)
class Ruling:
    """One claim, its verdict and the evidence."""

    claim: Claim
    verdict: str
    tags: tuple[str, ...]
    trials: int
    violations: int
    tightness: float | None
    evidence: str
    ladder: tuple[dict[str, object], ...]
    errata: tuple[dict[str, str], ...]
    reported: tuple[dict[str, object], ...]

    def record(self) -> dict[str, object]:
        """This ruling as the schema wants it."""
        finite = self.tightness is not None and abs(self.tightness) != float("inf")
        return {
            "id": self.claim.id,
            "part": part_of(self.claim.id),
            "kind": kind_of(self.claim.id),
            "source": self.claim.source,
            "statement": self.claim.statement,
            "verdict": self.verdict,
            "tags": list(self.tags),
            "trials": self.trials,
            "violations": self.violations,
            "tightness": float(f"{self.tightness:.6g}") if finite else None,
            "evidence": self.evidence,
            "ladder": list(self.ladder),
            "errata": list(self.errata),
            "reported": list(self.reported),
        }


def compared(
    quantity: str, reported: object, measured: object, reading: str, agrees: object
) -> dict[str, object]:
    """One line of what a paper reports beside what was measured, for ``rule(reported=...)``.

    ``reading`` says under which reading of the text; ``agrees`` is anything with a truth value, or
    None where the paper does not say.

    Examples
    --------
    >>> compared("slope", -2, "-1.9", "per point", torch.tensor(True))["agrees"]
    True
    """
    return {
        "quantity": quantity,
        "reported": str(reported),
        "measured": str(measured),
        "reading": reading,
        "agrees": None if agrees is None else bool(agrees),
    }


def rule(
    claim: Claim,
    verdict: str,
    *,
    evidence: str,
    found: Findings | None = None,
    ladder: Ladder | None = None,
    repair: Ladder | None = None,
    repair_found: Findings | None = None,
    counterexample: bool | None = None,
    trials: int | None = None,
    violations: int | None = None,
    tags: Sequence[str] = (),
    errata: Iterable[dict[str, str]] = (),
    reported: Iterable[dict[str, object]] = (),
) -> Ruling:
    """Rule on a claim; the verdict must agree with what was measured.

    ``found`` and ``ladder`` are the attack on and the proof of the claim *as printed*; ``repair``
    and ``repair_found`` those of the corrected form. ``counterexample`` says whether an explicit
    one was verified. ``trials`` and ``violations`` count for claims that are not inequalities.

    Raises
    ------
    ValueError
        If the id, the verdict or a tag is unknown, or if the evidence contradicts the verdict: a
        claim with violations does not hold, one whose ladder breaks has no sound proof, one without
        any violation or counterexample is not refuted, and a repair must be there and stand. Also
        if counts are given beside the findings of an attack, which has its own.

    Examples
    --------
    >>> claim = Claim("demo.theorem-1", "here", "all is well")
    >>> rule(claim, "holds", evidence="checked by hand", trials=1).verdict
    'holds'
    >>> rule(claim, "refuted", evidence="a feeling", trials=1)
    Traceback (most recent call last):
        ...
    ValueError: demo.theorem-1 cannot be 'refuted': no violation and no verified counterexample.
    """
    checks.choice(verdict, tuple(VERDICTS), "verdict")
    for tag in tags:
        checks.choice(tag, tuple(TAGS), "tag")
    check_id(claim.id)
    if found is not None and not (trials is None and violations is None):
        raise ValueError(
            f"{claim.id}: an attack counts for itself; beside found you gave "
            f"trials = {trials} and violations = {violations}."
        )
    n_violations = violations if violations is not None else (found.violations if found else 0)
    n_trials = trials if trials is not None else (found.trials if found else 0)
    problem = _contradiction(
        verdict, n_trials, n_violations, ladder, repair, repair_found, counterexample
    )
    if problem:
        raise ValueError(f"{claim.id} cannot be {verdict!r}: {problem}.")
    steps = tuple(step.record() for step in ladder.check()) if ladder else ()
    return Ruling(
        claim, verdict, tuple(tags), n_trials, n_violations,
        found.tightness if found else None, evidence, steps, tuple(errata), tuple(reported),
    )  # fmt: skip


def _contradiction(
    verdict: str,
    trials: int,
    violations: int,
    ladder: Ladder | None,
    repair: Ladder | None,
    repair_found: Findings | None,
    counterexample: bool | None,
) -> str | None:
    broken = bool(ladder and ladder.broken)
    if repair is not None and repair.broken:
        return f"the repaired proof breaks at {', '.join(repair.broken)}"
    if repair_found is not None and repair_found.violations:
        return f"the repaired statement has {repair_found.violations} violations"
    if verdict in ("holds", "proof-repaired"):
        if violations or counterexample:
            return f"{violations} violations were found"
        if verdict == "holds" and ladder and broken:
            return f"its ladder breaks at {', '.join(ladder.broken)}"
        if verdict == "proof-repaired" and not broken:
            return "no rung of its ladder is broken"
        if verdict == "proof-repaired" and repair is None:
            return "no repaired ladder was given"
        if not trials:
            return "nothing was tried"
    if verdict in ("repaired", "refuted") and not (violations or counterexample):
        return "no violation and no verified counterexample"
    if verdict in ("repaired", "refuted") and counterexample is False:
        return "the counterexample given does not check"
    if verdict == "repaired" and repair is None and repair_found is None:
        return "neither a repaired ladder nor an attack on the repaired statement was given"
    return None


class _Html:
    """An HTML fragment with a plain form, for glue."""

    def __init__(self, html: str, text: str) -> None:
        self._html, self._text = html, text

    def _repr_html_(self) -> str:
        return self._html

    def __repr__(self) -> str:
        return self._text


def verdict(
    *rulings: Ruling,
    data: Mapping[str, object] | None = None,
    numbers: Mapping[str, object] | None = None,
) -> tuple[Ruling, ...]:
    """Show the chapter's verdict table, attach its record to the output, return the rulings.

    The badge of each ruling is glued under the last part of its id (``theorem-3-1``). ``data`` is
    where real data came from (``Provenance.as_dict()``), and ``numbers`` what else the record is to
    keep by name: numbers, or lists, arrays or tensors of them; what is not finite is kept as null.

    Raises
    ------
    ValueError
        If no ruling is given or an id occurs twice.
    """
    ids = [ruling.claim.id for ruling in rulings]
    if not ids or len(set(ids)) < len(ids):
        raise ValueError(f"a verdict needs rulings on different claims; you gave {ids}.")
    from IPython.display import display
    from myst_nb import glue

    for ruling in rulings:
        html = badge(ruling.verdict, ruling.tags)
        text = " · ".join([ruling.verdict, *ruling.tags])
        glue(ruling.claim.id.split(".")[1], _Html(html, text), display=False)
    record = {
        "schema": "lowdim-record/1",
        "seconds": round(time.perf_counter() - _STARTED, 2),
        "versions": versions(),
        "machine": machine(),
        "claims": [ruling.record() for ruling in rulings],
    }
    if data is not None:
        record["data"] = {k: list(v) if isinstance(v, tuple) else v for k, v in data.items()}
    if numbers is not None:
        record["numbers"] = {name: _rounded(value) for name, value in numbers.items()}
    table = verdict_table(rulings)
    bundle = {"text/plain": str(table), "text/html": table._repr_html_()}
    display(bundle, raw=True, metadata={"lowdim_record": record})
    return rulings


def _rounded(value: object) -> object:
    """Four significant digits of a number, or of each in nested lists; None if not finite."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if value is None or isinstance(value, list | tuple):
        return None if value is None else [_rounded(item) for item in value]
    number = float(cast(float, value))
    return float(f"{number:.4g}") if math.isfinite(number) else None


def kept(path: str | os.PathLike[str]) -> dict | None:
    """The record of a run that was kept by ``lowdim record``, or None if there is none.

    Raises
    ------
    ValueError
        If the file is there and is not a record.

    Examples
    --------
    >>> kept("nowhere.json") is None
    True
    """
    try:
        with open(path, encoding="utf-8") as file:
            record = json.load(file)
        [claim["id"] for claim in record["claims"]]
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is not a record: {error!r}.") from None
    return record


def of_larger(record: dict | None, id: str, *, than: Mapping[str, float]) -> dict | None:
    """What a kept run found of a claim, if it was larger in every parameter of ``than``; or None.

    A larger run is nearer to the paper, so on a figure or a table it decides, kinder or not.

    Examples
    --------
    >>> record = {"parameters": {"width": 100}, "claims": [{"id": "demo.figure-1"}]}
    >>> of_larger(record, "demo.figure-1", than={"width": 16})
    {'id': 'demo.figure-1'}
    >>> of_larger(record, "demo.figure-1", than={"width": 100}) is None
    True
    """
    if record is None or any(not record["parameters"][key] > value for key, value in than.items()):
        return None
    return next((claim for claim in record["claims"] if claim["id"] == id), None)


def beside(rulings: Sequence[Ruling], path: str | os.PathLike[str]) -> Table:
    """Today's verdicts beside those of a recorded run, claim by claim.

    ``path`` is a record written by ``lowdim record``. In a copy of a chapter that left its book
    behind there is none; then the table says so.

    Raises
    ------
    ValueError
        If the file is there and is not a record.

    Examples
    --------
    >>> beside([], "nowhere.json").rows
    [('no record at nowhere.json', '', '', '', '')]
    """
    header = ("claim", "run", "verdict", "trials", "tightness")
    record = kept(path)
    if record is None:
        return Table(header, [(f"no record at {path}", "", "", "", "")])
    recorded = {claim["id"]: claim for claim in record["claims"]}
    run = record["preset"]
    if data := record.get("data"):
        run += f", {data['taken']}\N{NO-BREAK SPACE}images of {data['title']}"
    rows = []
    for ruling in rulings:
        now = (ruling.claim.id, "today", ruling.verdict, ruling.trials, short(ruling.tightness, 2))
        rows.append(now)
        then = recorded.get(ruling.claim.id)
        if then:
            # No break inside a quantity: on a phone the column is narrow.
            name = f"{run}, {record['seconds']:.0f}\N{NO-BREAK SPACE}s"
            rows.append(("", name, then["verdict"], then["trials"], short(then["tightness"], 2)))
    return Table(header, rows)


def kept_lines(path: str | os.PathLike[str], *ids: str) -> Table:
    """What a kept run measured beside what a paper reports, for some claims, line by line.

    ``path`` is as in ``beside``; ``ids`` name claims of the record; without them all are shown.

    Raises
    ------
    ValueError
        If the file is there and is not a record, or has no such claim.

    Examples
    --------
    >>> kept_lines("nowhere.json", "demo.figure-1").rows
    [('no record at nowhere.json', '', '', '', '')]
    """
    header = ("reading", "quantity", "reported", "measured", "agrees")
    record = kept(path)
    if record is None:
        return Table(header, [(f"no record at {path}", "", "", "", "")])
    found = {claim["id"]: claim.get("reported") or [] for claim in record["claims"]}
    for id in ids:
        if id not in found:
            raise ValueError(f"{path} has no claim {id!r}; it has {', '.join(found)}.")
    lines = [line for id in ids or found for line in found[id]]
    word = {True: "yes", False: "no", None: "–"}
    return Table(
        header, [(*(line[key] for key in header[:4]), word[line["agrees"]]) for line in lines]
    )


def _tight(value: float | None) -> str:
    """A tightness as it is compared: what a search reached differs a little between machines."""
    return short(value, 2 if value is None or value >= 0.95 else 1)


def verdict_table(rulings: Iterable[Ruling]) -> Table:
    """The compared table: id, verdict with tags, trials, violations, tightness coarsely."""
    rows = [
        (
            r.claim.id,
            " · ".join([r.verdict, *r.tags]),
            r.trials,
            r.violations,
            _tight(r.tightness),
        )
        for r in rulings
    ]
    return Table(("claim", "verdict", "trials", "violations", "tightness"), rows)


def versions() -> dict[str, str]:
    """Versions of what a chapter's numbers depend on.

    Examples
    --------
    >>> sorted(versions())[:2]
    ['lowdim', 'matplotlib']
    """
    packages = ("torch", "numpy", "scipy", "matplotlib", "scikit-learn")
    found = {name: version(name).split("+")[0] for name in packages}
    return {"lowdim": lowdim.__version__, "python": platform.python_version(), **found}


def machine() -> dict[str, object]:
    """What kind of machine this is, without saying which one.

    Examples
    --------
    >>> sorted(machine())
    ['cores', 'processor', 'system', 'threads']
    """
    return {
        "system": sys.platform,
        "processor": platform.machine() or "unknown",
        "cores": os.cpu_count() or 1,
        "threads": torch.get_num_threads(),
    }
