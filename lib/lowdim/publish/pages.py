r"""The pages that are made from records: ledger, errata, reported against measured, status.

Each function takes records joined with the words of their chapters (:func:`joined`) and returns
MyST Markdown; :func:`write_all` puts the four under ``book/_generated``, where the book's own pages
include them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lowdim.evidence.vocabulary import PARTS, TAGS, VERDICTS, badge, claim_name
from lowdim.publish import words
from lowdim.publish.source import first_heading

Record = Mapping[str, Any]

_LITERAL = re.compile(r"(?<![\\$])\$(?![\s$])(?:\\.|[^$\\])+?(?<!\s)\$(?![\d$])|`[^`]+`")
_MARKUP = re.compile(r"([\\`*_{}\[\]()#+!<>|~^$&:@\"'-])")


def text(value: str) -> str:
    r"""One line of Markdown that shows ``value``, with its mathematics and code left alone.

    >>> print(text("a<b for $x<y$"))
    a\<b for $x<y$
    """
    value = re.sub(r"\s+", " ", value).strip().replace("$$", "$")
    out, end = [], 0
    for match in _LITERAL.finditer(value):
        out += [_MARKUP.sub(r"\\\1", value[end : match.start()]), match.group()]
        end = match.end()
    shown = "".join([*out, _MARKUP.sub(r"\\\1", value[end:])])
    return re.sub(r"^(\d+)\.(?=\s|$)", r"\1\\.", shown)  # "1." would begin a list


def one_line(value: str) -> str:
    """Markdown on one line, as a cell of a table needs it.

    >>> one_line(" a\\n b ")
    'a b'
    """
    shown = " ".join(value.split())
    return re.sub(r"^(\d+)\.(?=\s|$)", r"\1\\.", shown)  # "1." would begin a list


def joined(root: Path, records: Sequence[Record]) -> list[dict[str, Any]]:
    """Records with the words of their chapters, as the pages and the ledger show them.

    Raises `WordsError` with every misfit between the words of a chapter and its record.
    """
    found, misfits = [], []
    for record in records:
        chapter = record["chapter"]
        said = words.of_chapter(root, chapter)
        misfits += words.problems(said, record, where=f"notebooks/{chapter}.md")
        if not misfits:
            path = root / "notebooks" / f"{chapter}.md"
            title = first_heading(path.read_text(encoding="utf-8")) or chapter
            found.append(words.join(record, said, title=title))
    if misfits:
        raise words.WordsError("\n".join(misfits))
    return found


def ledger(records: Sequence[Record], *, labels: Iterable[str] = ()) -> str:
    """Every claim with its verdict, grouped by part; ``labels`` are the ``prf:`` labels there."""
    labels = set(labels)
    pairs = _claims(records)
    counts = Counter(claim["verdict"] for _, claim in pairs)
    lines = [f"**{_plural(len(pairs), 'claim')} in {_plural(len(records), 'chapter')}.**", ""]
    lines += [" ".join(f"{badge(v)} {counts[v]}&ensp;" for v in VERDICTS if counts[v]), ""]
    head = ["Claim", "Verdict", "Trials", "Violations", "Tightness", "Seed", "Seconds"]
    for part, group in _by_part(pairs):
        rows = []
        for record, claim in group:
            first = "<br>".join(
                [
                    f'<span id="{claim["id"]}-verdict"></span>{_claim_link(record, claim, labels)}',
                    _id_link(record, claim),
                    f"{claim['kind']}; {one_line(claim['source'])}",
                ]
            )
            numbers = [
                f"{claim['trials']:,}",
                f"{claim['violations']:,}",
                "–" if claim["tightness"] is None else f"{claim['tightness']:.3g}",
                str(record["seed"]),
                f"{record['seconds']:.1f}",
            ]
            rows.append([first, badge(claim["verdict"], claim["tags"]), *numbers])
        lines += [f"## {part}", "", *_table(head, rows, "lowdim-ledger"), ""]
    lines += ["## What the words mean", ""]
    lines += [f"{badge(v)}\n: {meaning}.\n" for v, meaning in VERDICTS.items()]
    for tag, meaning in TAGS.items():
        lines.append(f'<span class="verdict verdict-tag">{tag}</span>\n: {meaning}.\n')
    return "\n".join(lines) + "\n"


def errata(records: Sequence[Record], *, labels: Iterable[str] = ()) -> str:
    """Every slip: where it is, what is printed, what is right, why, and what follows from it."""
    labels = set(labels)
    pairs = [(r, c) for r, c in _claims(records) if c["errata"]]
    total = sum(len(claim["errata"]) for _, claim in pairs)
    if not total:
        return "No slip has been found in the chapters that stand so far.\n"
    lines = [f"**{_plural(total, 'slip')} in {_plural(len(pairs), 'claim')}.**", ""]
    for part, group in _by_part(pairs):
        lines += [f"## {part}", ""]
        for record, claim in group:
            for slip in claim["errata"]:
                lines += [
                    "::::{div} lowdim-card",
                    f"**{one_line(slip['where'])}** {_claim_link(record, claim, labels)} "
                    f"{badge(claim['verdict'], claim['tags'])}",
                    "",
                ]
                for word in ("printed", "correct", "why", "consequence"):
                    lines += [word.title(), f": {one_line(slip[word])}", ""]
                lines += ["::::", ""]
    return "\n".join(lines) + "\n"


def reported(records: Sequence[Record], *, labels: Iterable[str] = ()) -> str:
    """What the papers report beside what the chapters measured, with the reading taken."""
    labels = set(labels)
    pairs = [(r, c) for r, c in _claims(records) if c["reported"]]
    if not pairs:
        return "No chapter that stands so far compares a reported number.\n"
    found = Counter(row["agrees"] for _, claim in pairs for row in claim["reported"])
    total = _plural(sum(found.values()), "quantity", "quantities")
    counts = f"{found[True]} agree, {found[False]} do not, {found[None]} cannot be compared."
    lines = [f"**{total}**: {counts}", ""]
    head = ["Quantity", "Reported", "Measured", "Reading", "Agrees"]
    for part, group in _by_part(pairs):
        rows = [
            [
                f"{text(row['quantity'])} ({_claim_link(record, claim, labels)})",
                text(row["reported"]),
                text(row["measured"]),
                text(row["reading"]) or "–",
                {True: "yes", False: "**no**", None: "–"}[row["agrees"]],
            ]
            for record, claim in group
            for row in claim["reported"]
        ]
        lines += [f"## {part}", "", *_table(head, rows, "lowdim-reported"), ""]
    return "\n".join(lines) + "\n"


def status(
    records: Sequence[Record], *, labels: Iterable[str] = (), sizes: Sequence[Record] = ()
) -> str:
    """Every chapter with its run time, seed and versions; ``sizes`` are the committed records."""
    labels = set(labels)
    total = sum(record["seconds"] for record in records)
    lines = [f"**{_plural(len(records), 'chapter')}, {total:.1f} s of computing in all.**", ""]
    made = [(_versions(record), _machine(record)) for record in records]
    same = len(set(made)) == 1
    if same:
        lines += [f"Versions: {made[0][0]}.", "", f"Machine: {made[0][1]}.", ""]
    head = ["Chapter", "Seconds", "Seed", "Claims", "Notebook"]
    head += [] if same else ["Versions", "Machine"]
    rows = []
    for record, how in zip(records, made, strict=True):
        row = [
            _chapter_link(record),
            f"{record['seconds']:.1f}",
            str(record["seed"]),
            ", ".join(_claim_link(record, claim, labels) for claim in record["claims"]),
            f'<a href="../{notebook_url(record["chapter"])}" download>.ipynb</a>',
        ]
        rows.append(row if same else [*row, *how])
    lines += [*_table(head, rows, "lowdim-status"), ""] if rows else []
    if sizes:
        head = ["Chapter", "Preset", "Data", "Seconds", "Seed", "Machine", "Versions"]
        rows = [
            [
                _chapter_link(record),
                text(record["preset"] or "–"),
                _data(record),
                f"{record['seconds']:,.1f}",
                str(record["seed"]),
                _machine(record),
                _versions(record),
            ]
            for record in sizes
        ]
        lines += ["## Runs that were kept", "", *_table(head, rows, "lowdim-status"), ""]
    return "\n".join(lines) + "\n"


def _data(record: Record) -> str:
    """Which images a recorded run used, in a few words; a dash if none."""
    data = record.get("data")
    if not data:
        return "–"
    kind = {"subset": "of a subset", "official files": "of the official files"}.get(data["kind"])
    return text(" ".join(filter(None, [f"{data['title']}, {data['taken']} images", kind])))


def notebook_url(chapter: str) -> str:
    """Where in the built book the downloadable notebook of a chapter is.

    >>> notebook_url("preserve/lemma_4_1")
    '_notebooks/preserve/lemma_4_1.ipynb'
    """
    return f"_notebooks/{chapter}.ipynb"


def proof_labels(root: Path, chapters: Iterable[str]) -> set[str]:
    """The ``:label:`` of every ``prf:`` directive in these chapters."""
    pattern = re.compile(r"\{prf:[a-z]+\}[^\n]*\n(?::[^\n]*\n)*?:label:[ ]*(\S+)")
    sources = (root / "notebooks" / f"{chapter}.md" for chapter in chapters)
    return {label for s in sources for label in pattern.findall(s.read_text(encoding="utf-8"))}


def write_all(root: Path, records: Sequence[Record]) -> list[Path]:
    """Write the four pages under ``book/_generated``; return their paths."""
    from lowdim.publish.records import read

    records = joined(root, records)
    labels = proof_labels(root, [record["chapter"] for record in records])
    titles = {record["chapter"]: record["title"] for record in records}
    sizes = [read(path) for path in sorted((root / "book" / "records").glob("*/*.json"))]
    sizes = [{**kept, "title": titles.get(kept["chapter"], kept["chapter"])} for kept in sizes]
    folder = root / "book" / "_generated"
    folder.mkdir(parents=True, exist_ok=True)
    contents = {
        "ledger": ledger(records, labels=labels),
        "errata": errata(records, labels=labels),
        "reported": reported(records, labels=labels),
        "status": status(records, labels=labels, sizes=sizes),
    }
    for name, content in contents.items():
        (folder / f"{name}.md").write_text(content, encoding="utf-8")
    return [folder / f"{name}.md" for name in contents]


def _claims(records: Sequence[Record]) -> list[tuple[Record, Record]]:
    return [(record, claim) for record in records for claim in record["claims"]]


def _by_part(pairs: Sequence[tuple[Record, Record]]) -> list[tuple[str, list]]:
    groups: dict[str, list] = {part: [] for part in PARTS}
    for record, claim in pairs:
        groups.setdefault(claim["part"], []).append((record, claim))
    return [(PARTS.get(part, part.title()), group) for part, group in groups.items() if group]


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], style: str) -> list[str]:
    # A list-table and not a Markdown table: a bar in a cell, as in a norm, needs no escape there.
    lines = [":::{list-table}", ":header-rows: 1", f":class: lowdim-table {style}", ""]
    for row in [head, *rows]:
        lines += [f"{'* -' if i == 0 else '  -'} {cell}" for i, cell in enumerate(row)]
    return [*lines, ":::"]


def _chapter_link(record: Record) -> str:
    return f"[{record['title']}](/notebooks/{record['chapter']}.md)"


def _id_link(record: Record, claim: Record) -> str:
    return f"[`{claim['id']}`](/notebooks/{record['chapter']}.md)"


def _claim_link(record: Record, claim: Record, labels: set[str]) -> str:
    name = claim_name(claim["id"])
    if claim["id"] in labels:
        return f"{{prf:ref}}`{name} <{claim['id']}>`"
    return f"[{name}](/notebooks/{record['chapter']}.md)"


def _versions(record: Record) -> str:
    return ", ".join(f"{name} {text(v)}" for name, v in sorted(record["versions"].items()))


def _machine(record: Record) -> str:
    machine = record["machine"]
    cores, threads = _plural(machine["cores"], "core"), _plural(machine["threads"], "thread")
    return text(f"{machine['system']}, {machine['processor']}, {cores}, {threads} per chapter")


def _plural(count: int, one: str, many: str | None = None) -> str:
    return f"{count} {one if count == 1 else many or one + 's'}"
