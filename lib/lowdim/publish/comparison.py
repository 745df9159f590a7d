"""Two runs of one chapter beside each other: parameters, verdicts and numbers that differ.

Everything here compares records, so runs that were made elsewhere, kept years ago, or taken out of
an executed notebook are compared alike.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lowdim.evidence.values import text
from lowdim.publish import records
from lowdim.publish.parameters import UsageError

LONGEST = 60  # characters of a list that a cell of a table shows


@dataclass(frozen=True)
class Moved:
    """One thing under its name, as the two runs have it; None is "not there"."""

    name: str
    before: Any
    after: Any


@dataclass(frozen=True)
class Comparison:
    """What differs between two records of one chapter, and how much there was to differ."""

    chapter: str
    parameters: tuple[Moved, ...]
    verdicts: tuple[Moved, ...]
    values: tuple[Moved, ...]
    claims: int
    said: int

    @property
    def same(self) -> bool:
        """Whether no verdict and no number moved."""
        return not self.verdicts and not self.values


def compare(before: Mapping[str, Any], after: Mapping[str, Any]) -> Comparison:
    """What differs between two records.

    Raises
    ------
    UsageError
        If they are of different chapters.

    Examples
    --------
    >>> claim = {"id": "a.lemma-1", "verdict": "holds", "supported": True}
    >>> one = {"chapter": "a/b", "parameters": {"n": 1}, "claims": [claim]}
    >>> one |= {"values": {"slope": 1.0}}
    >>> two = {**one, "parameters": {"n": 2}, "values": {"slope": 1.5}}
    >>> found = compare(one, two)
    >>> [(m.name, m.before, m.after) for m in (*found.parameters, *found.verdicts, *found.values)]
    [('n', 1, 2), ('slope', '1', '1.5')]
    """
    if before["chapter"] != after["chapter"]:
        raise UsageError(
            f"Runs of two chapters cannot be compared: {before['chapter']} and {after['chapter']}."
        )
    claims = [
        {claim["id"]: verdict_of(claim) for claim in run["claims"]} for run in (before, after)
    ]
    said = [{name: text(value) for name, value in run["values"].items()} for run in (before, after)]
    return Comparison(
        chapter=after["chapter"],
        parameters=_moved(before["parameters"], after["parameters"]),
        verdicts=_moved(*claims),
        values=_moved(*said),
        claims=len(claims[1]),
        said=len(said[1]),
    )


def verdict_of(claim: Mapping[str, Any]) -> str:
    """A claim's verdict in one run, with the word for a run that does not carry it.

    Examples
    --------
    >>> verdict_of({"verdict": "refuted", "supported": False})
    'refuted, not supported by this run'
    """
    return claim["verdict"] + ("" if claim["supported"] else ", not supported by this run")


def _moved(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[Moved, ...]:
    names = dict.fromkeys([*after, *before])
    pairs = (Moved(name, before.get(name), after.get(name)) for name in names)
    return tuple(pair for pair in pairs if pair.before != pair.after)


def record_at(path: Path) -> dict[str, Any]:
    """The record of a run that lies at ``path``: a record, an executed notebook, or their folder.

    Raises
    ------
    UsageError
        If there is no run there, or several.
    RecordError
        If what is there is damaged.

    Examples
    --------
    >>> record_at(Path("no-such-place"))
    Traceback (most recent call last):
        ...
    lowdim.publish.parameters.UsageError: There is no run at no-such-place: give the folder of a \
run, its .record.json or its .ipynb.
    """
    if path.is_dir():
        found = sorted(path.glob("*.record.json"))
        if len(found) != 1:
            names = ", ".join(item.name for item in found) or "none"
            raise UsageError(f"{path} should hold one run, and its records are: {names}.")
        path = found[0]
    if not path.is_file():
        raise UsageError(
            f"There is no run at {path}: give the folder of a run, its .record.json or its .ipynb."
        )
    if path.suffix != ".ipynb":
        return records.read(path)
    import nbformat

    try:
        nb = nbformat.read(path, as_version=4)
    except (ValueError, KeyError, AttributeError, UnicodeDecodeError) as error:
        raise records.RecordError(f"{path.name} is no notebook ({_one_line(error)}).") from None
    chapter = nb.metadata.get("lowdim", {}).get("chapter")
    if not chapter:
        raise UsageError(f"{path.name} is no run of a chapter: it does not say of which.")
    return records.extract(nb, chapter=chapter, preset=nb.metadata["lowdim"].get("preset"))


def of_book(root: Path, chapter: str) -> dict[str, Any] | None:
    """The record of the book's own run, without making one; None if the chapter has no current run.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as empty:
    ...     of_book(Path(empty), "preserve/lemma_4_1") is None
    True
    """
    from lowdim.publish import content, store

    try:
        kept = store.find(root, chapter, content.key(root, chapter))
    except OSError:  # no such chapter here, or no right to read it
        return None
    return None if kept is None else records.extract(kept.notebook(), chapter=chapter)


def command(chapter: str, parameters: Sequence[Moved], *, preset: str | None = None) -> str:
    """The command that repeats a run whose ``parameters`` differ so from the defaults.

    Examples
    --------
    >>> command("a/b", [Moved("noise", 0.1, 0.5), Moved("sizes", [1], [1, 2])])
    'lowdim run a/b -p noise=0.5 -p sizes=1,2'
    """
    words = ["lowdim run", chapter, *([f"--preset {preset}"] if preset else [])]
    return " ".join([*words, *(f"-p {pair.name}={shown(pair.after)}" for pair in parameters)])


def shown(value: Any) -> str:
    """A value as it is typed on the command line.

    Examples
    --------
    >>> shown([1, 2]), shown(True), shown(0.5), shown(None)
    ('1,2', 'true', '0.5', '—')
    """
    if value is None:
        return "—"
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(shown, value)) if isinstance(value, (list, tuple)) else str(value)


def clipped(value: Any) -> str:
    """The same for a cell of a table: a long list ends in an ellipsis.

    Examples
    --------
    >>> len(clipped(list(range(100)))) == LONGEST
    True
    """
    words = shown(value)
    return words if len(words) <= LONGEST else words[: LONGEST - 1] + "…"


def as_text(found: Comparison, names: tuple[str, str]) -> str:
    """The comparison for a terminal: three tables, or the sentence that nothing moved.

    Examples
    --------
    >>> print(as_text(Comparison("a/b", (), (), (), 2, 5), ("book", "this run")))
    a/b: no parameter differs; all 2 verdicts and all 5 numbers are the same.
    """
    from lowdim.evidence.tables import Table

    lines = [f"{found.chapter}: {summary(found)}"]
    parts = {"parameter": found.parameters, "verdict": found.verdicts, "number": found.values}
    for what, moved in parts.items():
        if moved:
            rows = [(m.name, clipped(m.before), clipped(m.after)) for m in moved]
            lines += ["", str(Table((what, *names), rows))]
    return "\n".join(lines)


def summary(found: Comparison) -> str:
    """One sentence: how many parameters differ, how many verdicts and numbers moved.

    Examples
    --------
    >>> summary(Comparison("a/b", (Moved("n", 1, 2),), (), (Moved("x", "1", "2"),), 2, 5))
    'one parameter differs; all 2 verdicts are the same; 1 of 5 numbers moved.'
    """
    count = len(found.parameters)
    differ = {0: "no parameter differs", 1: "one parameter differs"}
    first = differ.get(count, f"{count} parameters differ")
    if found.same:
        return f"{first}; all {found.claims} verdicts and all {found.said} numbers are the same."
    moved = len(found.verdicts)
    second = (
        f"{moved} of {found.claims} verdicts moved"
        if moved
        else (f"all {found.claims} verdicts are the same")
    )
    if not found.values:
        return f"{first}; {second}; all {found.said} numbers are the same."
    return f"{first}; {second}; {len(found.values)} of {found.said} numbers moved."


def as_json(found: Comparison, names: tuple[str, str]) -> str:
    """The comparison for programs.

    Examples
    --------
    >>> json.loads(as_json(Comparison("a/b", (), (), (), 2, 5), ("one", "two")))["runs"]
    ['one', 'two']
    """

    def rows(moved: Sequence[Moved]) -> dict[str, list[Any]]:
        return {pair.name: [pair.before, pair.after] for pair in moved}

    told = {
        "chapter": found.chapter,
        "runs": list(names),
        "parameters": rows(found.parameters),
        "verdicts": rows(found.verdicts),
        "values": rows(found.values),
    }
    return json.dumps(told, indent=2, ensure_ascii=False)


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
