"""Verdicts: what a chapter found about each claim, and whether this run carries it.

A chapter ends in one call of :func:`verdict`. It shows a short rounded table, which is compared
with a committed reference, and carries the record in the metadata of that output, so that it
travels inside every executed copy of the notebook. A record holds numbers and names only; what a
claim says, and what is said of it, are words of the chapter.
"""

from __future__ import annotations

import html
import os
import platform
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

import torch

import lowdim
from lowdim import checks
from lowdim.evidence.attacks import Findings
from lowdim.evidence.ladder import Ladder
from lowdim.evidence.tables import Table, short
from lowdim.evidence.values import encode, said
from lowdim.evidence.vocabulary import KINDS, TAGS, VERDICTS

__all__ = [
    "Ruling", "compared", "holds", "judged", "partly", "proof_repaired", "refuted", "repaired",
    "reproduced", "undecidable", "verdict",
]  # fmt: skip

SCHEMA = "lowdim-record/2"
_STARTED = time.perf_counter()  # a chapter's clock: from the first import of this module


@dataclass(frozen=True)
class Ruling:
    """A verdict and what carries it; ``problem`` says what does not, or is empty."""

    verdict: str
    tags: tuple[str, ...] = ()
    trials: int = 0
    violations: int = 0
    tightness: float | None = None
    ladder: tuple[dict[str, object], ...] = ()
    lines: tuple[dict[str, object], ...] = ()
    problem: str = field(default="", compare=False)

    def record(self, claim: str) -> dict[str, object]:
        """This ruling on ``claim`` as the schema wants it."""
        finite = self.tightness is not None and abs(self.tightness) != float("inf")
        return {
            "id": claim,
            "verdict": self.verdict,
            "supported": not self.problem,
            "tags": list(self.tags),
            "trials": self.trials,
            "violations": self.violations,
            "tightness": float(f"{self.tightness:.6g}") if finite else None,
            "ladder": list(self.ladder),
            "lines": list(self.lines),
        }


def judged(
    word: str,
    found: Findings | None = None,
    *,
    ladder: Ladder | None = None,
    by: Findings | Ladder | Sequence[Findings | Ladder] = (),
    counterexample: object = None,
    trials: int | None = None,
    violations: int | None = None,
    lines: Sequence[Mapping[str, object]] = (),
    tags: Sequence[str] = (),
) -> Ruling:
    """A ruling with the verdict ``word``, for words that a run decides; see its named forms.

    ``found`` and ``ladder`` are the attack on and the proof of the claim *as printed*; ``by`` are
    the attack on and the proof of a corrected form. ``counterexample`` says whether an explicit one
    was verified. ``trials`` and ``violations`` count for claims that are not inequalities,
    ``lines`` compare a figure with what was measured (:func:`compared`).

    Raises
    ------
    ValueError
        If the verdict or a tag is unknown, or if counts are given beside the findings of an
        attack, which has its own. That the evidence does not carry the verdict is no error but the
        ruling's ``problem``.

    Examples
    --------
    >>> judged("refuted", trials=1).problem
    'no violation and no verified counterexample'
    """
    checks.choice(word, tuple(VERDICTS), "verdict")
    for tag in tags:
        checks.choice(tag, tuple(TAGS), "tag")
    if found is not None and not (trials is None and violations is None):
        raise ValueError(
            f"an attack counts for itself; beside found you gave trials = {trials} and "
            f"violations = {violations}."
        )
    repairs = (by,) if isinstance(by, Findings | Ladder) else tuple(by)
    counts = (found.trials, found.violations) if found else (trials or 0, violations or 0)
    problem = _contradiction(word, *counts, ladder, repairs, counterexample)
    steps = tuple(_numbers(step.record()) for step in ladder.check()) if ladder else ()
    tightness = found.tightness if found else None
    tags = [tag for tag in TAGS if tag in tags]
    return Ruling(word, tuple(tags), *counts, tightness, steps, tuple(map(dict, lines)), problem)


def _numbers(step: dict[str, object]) -> dict[str, object]:
    """A step of a ladder without the reason for it, which is the chapter's to say."""
    return {key: value for key, value in step.items() if key != "because"}


def _tagged(word: str, found: Findings | None, options: dict[str, Any]) -> Ruling:
    """A ruling whose tags are given as truth values: ``sharpened=True``."""
    tags = [tag for tag in TAGS if bool(options.pop(tag, False))]
    return judged(word, found, tags=[*options.pop("tags", ()), *tags], **options)


def holds(found: Findings | None = None, **options: Any) -> Ruling:
    """The claim holds as stated; options as for :func:`judged`, and tags as truth values.

    Examples
    --------
    >>> holds(trials=3, sharpened=True).tags
    ('sharpened',)
    """
    return _tagged("holds", found, options)


def proof_repaired(found: Findings | None = None, **options: Any) -> Ruling:
    """The statement survives, a step of its proof (``ladder``) does not; ``by`` proves it.

    Examples
    --------
    >>> proof_repaired(trials=3).problem
    'no rung of its ladder is broken'
    """
    return _tagged("proof-repaired", found, options)


def repaired(found: Findings | None = None, **options: Any) -> Ruling:
    """False, incomplete or meaningless as stated; ``by`` is the corrected form.

    Examples
    --------
    >>> repaired(counterexample=True).problem
    'neither a repaired ladder nor an attack on the repaired statement was given'
    """
    return _tagged("repaired", found, options)


def refuted(found: Findings | None = None, **options: Any) -> Ruling:
    """A counterexample, and no honest repair.

    Examples
    --------
    >>> refuted(counterexample=True).problem
    ''
    """
    return _tagged("refuted", found, options)


def undecidable(found: Findings | None = None, **options: Any) -> Ruling:
    """The text leaves it open; each reading was run.

    Examples
    --------
    >>> undecidable(trials=2).verdict
    'undecidable'
    """
    return _tagged("undecidable", found, options)


def reproduced(lines: Sequence[Mapping[str, object]], **options: Any) -> Ruling:
    """What a figure or table shows is what was measured: *all* ``lines`` agree, or ``partly``, ...

    The rule of the book: *reproduced* if every line that can be compared agrees,
    *not-reproduced* if none does, else *partly*.

    Examples
    --------
    >>> reproduced([compared("slope", -2, -1.9, "per point", True)], trials=1).verdict
    'reproduced'
    """
    answers = [line["agrees"] for line in lines if line["agrees"] is not None]
    word = "partly" if any(answers) else "not-reproduced"
    word = "reproduced" if answers and all(answers) else word
    return _tagged(word, None, {**options, "lines": lines})


def partly(lines: Sequence[Mapping[str, object]], **options: Any) -> Ruling:
    """Part of what a figure or table shows was measured, by the chapter's own rule.

    Examples
    --------
    >>> partly([], trials=1).verdict
    'partly'
    """
    return _tagged("partly", None, {**options, "lines": lines})


def compared(
    quantity: str, reported: object, measured: object, reading: str = "", agrees: object = None
) -> dict[str, object]:
    """One line of what a paper reports beside what was measured.

    ``reading`` says under which reading of the text; ``agrees`` is anything with a truth value, or
    None where the paper does not say.

    Examples
    --------
    >>> compared("slope", -2, -1.9, "per point", torch.tensor(True))["agrees"]
    True
    """
    return {
        "quantity": quantity,
        "reported": encode(reported, quantity),
        "measured": encode(measured, quantity),
        "reading": reading,
        "agrees": None if agrees is None else bool(agrees),
    }


def _contradiction(
    word: str,
    trials: int,
    violations: int,
    ladder: Ladder | None,
    repairs: Sequence[Findings | Ladder],
    counterexample: object,
) -> str:
    """Why the evidence does not carry the verdict; empty if it does."""
    broken = bool(ladder and ladder.broken)
    exact = None if counterexample is None else bool(counterexample)
    for repair in repairs:
        if isinstance(repair, Ladder) and repair.broken:
            return f"the repaired proof breaks at {', '.join(repair.broken)}"
        if isinstance(repair, Findings) and repair.violations:
            return f"the repaired statement has {repair.violations} violations"
    if word in ("holds", "proof-repaired"):
        if violations or exact:
            return f"{violations} violations were found"
        if word == "holds" and ladder and broken:
            return f"its ladder breaks at {', '.join(ladder.broken)}"
        if word == "proof-repaired" and not broken:
            return "no rung of its ladder is broken"
        if word == "proof-repaired" and not any(isinstance(r, Ladder) for r in repairs):
            return "no repaired ladder was given"
        if not trials:
            return "nothing was tried"
    if word in ("repaired", "refuted") and not (violations or exact):
        return "no violation and no verified counterexample"
    if word in ("repaired", "refuted") and exact is False:
        return "the counterexample given does not check"
    if word == "repaired" and not repairs:
        return "neither a repaired ladder nor an attack on the repaired statement was given"
    return ""


def verdict(rulings: Mapping[str, Ruling], *, data: Mapping[str, object] | None = None) -> None:
    """Show the chapter's verdict table and attach the record to the output.

    ``rulings`` by the claims' ids, without the part (``theorem-3-1``). ``data`` is where real data
    came from (``Provenance.as_dict()``). Everything that :func:`~lowdim.evidence.values.say` was
    told goes into the record.

    Raises
    ------
    ValueError
        If no ruling is given, or an id has no kind among those of the book.

    Examples
    --------
    >>> verdict({})
    Traceback (most recent call last):
    ValueError: ...
    """
    from IPython.display import display

    if not rulings:
        raise ValueError("a verdict needs a ruling on at least one claim; none was given.")
    for name in rulings:
        if "." in name or name.partition("-")[0] not in KINDS:
            raise ValueError(
                f"a ruling is named <kind>-<number> with a kind among {', '.join(KINDS)}, "
                f"as in theorem-3-1; you gave {name!r}."
            )
    part = part_here()
    record: dict[str, object] = {
        "schema": SCHEMA,
        "seconds": round(time.perf_counter() - _STARTED, 2),
        "versions": versions(),
        "machine": machine(),
        "claims": [ruling.record(f"{part}.{name}") for name, ruling in rulings.items()],
        "values": said(),
    }
    if data is not None:
        record["data"] = {k: list(v) if isinstance(v, tuple) else v for k, v in data.items()}
    table = verdict_table(rulings)
    plain, page = str(table), table._repr_html_()
    if reasons := unsupported(rulings):
        plain = f"{plain}\n{reasons}"
        page += "".join(f"<p>{html.escape(line)}</p>" for line in reasons.splitlines())
    bundle = {"text/plain": plain, "text/html": page}
    display(bundle, raw=True, metadata={"lowdim_record": record})


def part_here() -> str:
    """The part that the running chapter belongs to; ``here`` in a copy that left its book.

    Examples
    --------
    >>> import os; before = os.environ.pop("LOWDIM_CHAPTER", None)
    >>> os.environ["LOWDIM_CHAPTER"] = "preserve/theorem_3_1"; part_here()
    'preserve'
    >>> _ = os.environ.pop("LOWDIM_CHAPTER")
    >>> os.environ.update({} if before is None else {"LOWDIM_CHAPTER": before})
    """
    return os.environ.get("LOWDIM_CHAPTER", "here").partition("/")[0]


def verdict_table(rulings: Mapping[str, Ruling]) -> Table:
    """The compared table: claim, verdict with tags, trials, violations, tightness coarsely.

    Examples
    --------
    >>> print(verdict_table({"lemma-1": holds(trials=3), "lemma-2": refuted()}))
    claim    verdict                    trials  violations  tightness
    lemma-1  holds                           3           0          –
    lemma-2  not by this run (refuted)       0           0          –
    """
    rows = []
    for name, ruling in rulings.items():
        word = " · ".join([ruling.verdict, *ruling.tags])
        word = f"not by this run ({ruling.verdict})" if ruling.problem else word
        tight = ruling.tightness
        # What a search reached differs a little between machines.
        digits = 2 if tight is None or tight >= 0.95 else 1
        rows.append((name, word, ruling.trials, ruling.violations, short(tight, digits)))
    return Table(("claim", "verdict", "trials", "violations", "tightness"), rows)


def unsupported(rulings: Mapping[str, Ruling]) -> str:
    """One line for each verdict of the book that this run does not carry, with the reason.

    Examples
    --------
    >>> print(unsupported({"lemma-1": holds(trials=3), "lemma-2": refuted()}))
    This run does not support 'refuted' for lemma-2: no violation and no verified counterexample.
    """
    return "\n".join(
        f"This run does not support '{ruling.verdict}' for {name}: {ruling.problem}."
        for name, ruling in rulings.items()
        if ruling.problem
    )


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
