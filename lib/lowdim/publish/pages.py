r"""The pages that are made from records: ledger, errata, reported against measured, status.

Each function takes records joined with the words of their chapters (:func:`joined`) and returns
MyST Markdown in a frame of HTML, because sentences have formulas and rows have attributes, by
which ``js/ledger.js`` narrows a list. :func:`write_all` puts the four under ``book/_generated``,
where the book's own pages include them.
"""

from __future__ import annotations

import html
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lowdim.evidence.vocabulary import KINDS, PARTS, TAGS, VERDICTS, badge, claim_name
from lowdim.publish import words
from lowdim.publish.site import bibtex
from lowdim.publish.site.bibtex import Citing, Paper
from lowdim.publish.site.ledger import Choice, Facet, cite, cite_link, data, form
from lowdim.publish.source import first_heading

Record = Mapping[str, Any]

NEWEST = Path("book", "records", "newest.json")
"""Which verdicts move with newer packages than the pins', as ``make newest`` found."""

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


def ledger(records: Sequence[Record], *, citing: Citing | None = None) -> str:
    """Every claim: verdict, statement, evidence, place; by part, with what narrows the list.

    With ``citing`` the page has the book's BibTeX entry, and each claim a link to its own.
    """
    pairs = _claims(records)
    said = f"{_plural(len(pairs), 'claim')} in {_plural(len(records), 'chapter')}."
    verdicts = Counter(claim["verdict"] for _, claim in pairs)
    tags = Counter(tag for _, claim in pairs for tag in claim["tags"])
    kinds = Counter(claim["kind"] for _, claim in pairs)
    facets = [
        Facet(
            "verdict", "Verdict", [Choice(v, badge(v), verdicts[v], m) for v, m in _said(VERDICTS)]
        ),
        Facet("tag", "Tag", [Choice(t, _tag(t), tags[t], m) for t, m in _said(TAGS)]),
        Facet("part", "Part", _part_choices(pairs)),
        Facet("kind", "Kind", [Choice(k, k, kinds[k]) for k in KINDS if kinds[k]]),
    ]
    sorts = {"book": "of the book", "verdict": "by verdict", "name": "by name"}
    lines = form(
        facets,
        rows=".ledger-row",
        words=("claim", "claims"),
        summary=said,
        panel="Filters, and what the words mean",
        sorts=sorts,
    )
    if citing:
        lines += [
            '<div class="ledger-citing">',
            cite(citing.book(), "the book", label="Cite the book"),
            "",
            "Each claim has a BibTeX entry of its own behind *Cite*; all of them, and the papers', "
            f'are in <a href="../{bibtex.FILE}" download>{bibtex.FILE}</a>.',
            "",
            "</div>",
        ]
    lines += ['<ul class="ledger-rows ledger-sorted" hidden></ul>', ""]
    for part, group in _by_part(pairs):
        lines += [f"## {part}", "", '<ul class="ledger-rows">', ""]
        for record, claim in group:
            lines += _row(record, claim, cited=citing is not None)
        lines += ["</ul>", ""]
    return "\n".join(lines) + "\n"


def _row(record: Record, claim: Record, *, cited: bool) -> list[str]:
    name = claim_name(claim["id"])
    source = one_line(claim["source"])
    says, evidence = one_line(claim["statement"]), one_line(claim["evidence"])
    if not claim.get("supported", True):
        evidence += " *This run does not support it.*"
    given = data(
        [claim["id"], record["chapter"]],
        verdict=claim["verdict"],
        part=claim["part"],
        kind=claim["kind"],
        tag=" ".join(claim["tags"]),
        name=name,
    )
    return [
        f'<li class="ledger-row" id="{claim["id"]}-verdict" {given}>',
        f'<div class="ledger-badges">{badge(claim["verdict"], claim["tags"])}</div>',
        '<div class="ledger-body">',
        f'<p class="ledger-name">{_claim_link(record, claim)}</p>',
        "",
        f'<span class="ledger-says">{says}</span>',
        "",
        f'<span class="ledger-label">Evidence</span> {evidence}',
        "",
        f'<span class="ledger-place">{source}. {_chapter_link(record)}</span> '
        f'<span class="ledger-facts">{_facts(claim)}</span>',
        "",
        "</div>",
        *([cite_link(claim["id"], name)] if cited else []),
        "</li>",
        "",
    ]


def _facts(claim: Record) -> str:
    if not claim["trials"]:
        return "no trials"
    facts = [_plural(claim["trials"], "trial"), _plural(claim["violations"], "violation")]
    if claim["tightness"] is not None:
        facts.append(f"tightness {claim['tightness']:.3g}")
    return " · ".join(facts)


def errata(records: Sequence[Record], *, papers: Mapping[str, Paper] | None = None) -> str:
    """Every slip: where it is, what is printed, what is right, why, and what follows from it.

    ``papers`` is the bibliography, for the titles of the papers that are counted.
    """
    pairs = [(r, c) for r, c in _claims(records) if c["errata"]]
    slips = [(r, c) for r, c in pairs for _ in c["errata"]]
    if not slips:
        return "No slip has been found in the chapters that stand so far.\n"
    summary = f"{_plural(len(slips), 'slip')} in {_plural(len(pairs), 'claim')}."
    part = Facet("part", "Part and paper", _part_choices(slips, papers or {}))
    lines = form([part], rows=".errata-row", words=("slip", "slips"), summary=summary)
    for name, group in _by_part(pairs):
        lines += ["", f"## {name}", "", '<ul class="errata-rows">', ""]
        for record, claim in group:
            for number, slip in enumerate(claim["errata"], 1):
                lines += _slip(record, claim, slip, number)
        lines.append("</ul>")
    return "\n".join(lines) + "\n"


def _slip(record: Record, claim: Record, slip: Mapping[str, str], number: int) -> list[str]:
    shown = {key: one_line(value) for key, value in slip.items()}
    place = f"{claim['id']}-slip-{number}"
    given = data(
        [claim["id"], record["chapter"], record["title"]],
        part=claim["part"],
    )
    lines = [
        f'<li class="errata-row" id="{place}" {given}>',
        '<div class="errata-head">',
        "",
        f"**{shown['where']}**",
        "",
        f'<p class="errata-claim">{_claim_link(record, claim)} '
        f'<a class="errata-badge" href="ledger.html#{claim["id"]}-verdict">'
        f"{badge(claim['verdict'], claim['tags'])}</a> "
        f'<a class="errata-here" href="#{place}" aria-label="Address of this slip">#</a></p>',
        "</div>",
        '<div class="errata-pair">',
    ]
    for word in ("printed", "correct"):
        lines += [
            f'<div class="errata-{word}"><p class="errata-label">{word.title()}</p>',
            "",
            f"<span>{shown[word]}</span>",
            "",
            "</div>",
        ]
    lines.append("</div>")
    for word in ("why", "consequence"):
        lines += ["", f'<span class="errata-label">{word.title()}</span> {shown[word]}']
    return [*lines, "", "</li>", ""]


AGREES = {True: ("yes", "yes"), False: ("no", "no"), None: ("open", "–")}
"""What a comparison found: its word in the address, and how a page shows it."""


def reported(records: Sequence[Record]) -> str:
    """What the papers report beside what the chapters measured, with the reading taken."""
    pairs = [(r, c) for r, c in _claims(records) if c["reported"]]
    rows = [(r, c) for r, c in pairs for _ in c["reported"]]
    if not rows:
        return "No chapter that stands so far compares a reported number.\n"
    found = Counter(row["agrees"] for _, claim in pairs for row in claim["reported"])
    meanings = {
        True: "what was measured is what is reported",
        False: "what was measured is not what is reported",
        None: "the two cannot be compared",
    }
    agrees = [Choice(AGREES[v][0], _agrees(v), found[v], m) for v, m in meanings.items()]
    facets = [Facet("agrees", "Agrees", agrees), Facet("part", "Part", _part_choices(rows))]
    summary = (
        f"{_plural(len(rows), 'quantity', 'quantities')}: {found[True]} agree, "
        f"{found[False]} do not, {found[None]} cannot be compared."
    )
    words_of = ("quantity", "quantities")
    lines = form(facets, rows=".reported-row", words=words_of, summary=summary)
    head = ["Quantity", "Reported", "Measured", "Reading", "Agrees"]
    for part, group in _by_part(pairs):
        lines += ["", f"## {part}", "", '<table class="lowdim-rows">', "<thead><tr>"]
        lines += [f'<th scope="col">{word}</th>' for word in head]
        lines += ["</tr></thead>", "<tbody>"]
        for record, claim in group:
            for row in claim["reported"]:
                lines += _comparison(record, claim, row, head)
        lines += ["</tbody>", "</table>"]
    return "\n".join(lines) + "\n"


def _numbers(value: str) -> str:
    r"""A text whose numbers are written as readers write them.

    >>> _numbers("1e-08 and -2.5e+03"), _numbers("inf"), _numbers("0.5")
    ('$10^{-8}$ and $-2.5\\times10^{3}$', '∞', '0.5')
    """

    def power(match: re.Match[str]) -> str:
        sign, digits, exponent = match.groups()
        factor = "" if float(digits) == 1 else rf"{digits}\times"
        return f"${sign}{factor}10^{{{int(exponent)}}}$"

    value = re.sub(r"(?<![\w.$])(-?)(\d+(?:\.\d+)?)e([+-]\d+)\b(?![^$]*\$)", power, value)
    return re.sub(r"(?<![\\\w])inf\b", "∞", value)


def _comparison(record: Record, claim: Record, row: Record, head: Sequence[str]) -> list[str]:
    texts = [text(_numbers(row[key])) for key in ("quantity", "reported", "measured", "reading")]
    texts[0] += f" ({_claim_link(record, claim)})"
    given = data(
        [claim["id"], record["chapter"], record["title"]],
        agrees=AGREES[row["agrees"]][0],
        part=claim["part"],
    )
    lines = [f'<tr class="reported-row" {given}>']
    for word, shown in zip(head, [*texts, _agrees(row["agrees"])], strict=True):
        lines += [f'<td data-label="{word}">', "", shown or "–", "", "</td>"]
    return [*lines, "</tr>"]


def _agrees(value: bool | None) -> str:
    word, shown = AGREES[value]
    return f'<span class="verdict agrees-{word}">{shown}</span>'


def status(
    records: Sequence[Record],
    *,
    sizes: Sequence[Record] = (),
    newest: Mapping[str, Any] | None = None,
) -> str:
    """Every chapter with its run time; ``sizes`` are the committed records of larger runs.

    ``newest`` is what ``make newest`` found, or None if it was not run.

    What all runs have in common is said once at the top, what all of a table have in common once
    above it; what differs within a table is a column of it.
    """
    runs = [*records, *sizes]
    total = sum(record["seconds"] for record in records)
    lines = [f"**{_plural(len(records), 'chapter')}, {total:,.1f} s of computing in all.**", ""]
    common = _common(runs)
    if common:
        lines += [_sentence("Every run here" if sizes else "Every run", common), ""]
    if records:
        own, differing = _split(records, common)
        lines += [_sentence("Every chapter's run", own), ""] if own else []
        head = ["Chapter", "Claims", "Seconds", *differing, "Notebook"]
        rows = [
            [
                _chapter_link(record),
                f'<a href="ledger.html?text={record["chapter"]}">{len(record["claims"])}</a>',
                f"{record['seconds']:.1f}",
                *(text(_settings(record).get(name, "–")) for name in differing),
                f'<a href="../{notebook_url(record["chapter"])}" download>.ipynb</a>',
            ]
            for record in records
        ]
        lines += [*_table(head, rows, "lowdim-status"), ""]
    if sizes:
        own, differing = _split(sizes, common)
        spent = sum(record["seconds"] for record in sizes)
        lines += ["## Runs that were kept", ""]
        lines += [f"{_plural(len(sizes), 'larger run')}, {spent / 3600:.1f} hours in all.", ""]
        lines += [_sentence("Every one of them", own), ""] if own else []
        head = ["Chapter", "Run", "Data", "Seconds", *differing]
        rows = [
            [
                f"[{record['title'].partition(' — ')[0]}](/notebooks/{record['chapter']}.md)",
                text(record["preset"] or "–"),
                _data(record),
                f"{record['seconds']:,.0f}",
                *(text(_settings(record).get(name, "–")) for name in differing),
            ]
            for record in sizes
        ]
        lines += [*_table(head, rows, "lowdim-status lowdim-compact"), ""]
    if newest:
        lines += _newer(newest, {record["chapter"]: _chapter_link(record) for record in records})
    return "\n".join(lines) + "\n"


def _newer(found: Mapping[str, Any], links: Mapping[str, str]) -> list[str]:
    """Which verdicts moved with newer packages, and which chapters did not run there."""
    versions = ", ".join(
        f"{name} {new} for {old}" for name, (old, new) in found["versions"].items()
    )
    moved = _plural(len(found["moved"]), "verdict")
    said = f"{_plural(found['chapters'], 'chapter')} with {versions or 'the same packages'}"
    lines = ["## Newer packages", "", f"{text(said)}: {moved} moved.", ""]
    rows = [
        [each["claim"], each["before"] or "–", each["after"] or "–"] for each in found["moved"]
    ] + [["–", "–", each["error"]] for each in found["failed"]]
    names = [each["chapter"] for each in [*found["moved"], *found["failed"]]]
    if rows:
        head = ["Chapter", "Claim", "With the pins", "With newer packages"]
        shown = [
            [links.get(name, text(name)), *map(text, row)]
            for name, row in zip(names, rows, strict=True)
        ]
        lines += [*_table(head, shown, "lowdim-status lowdim-compact"), ""]
    return lines


def _settings(record: Record) -> dict[str, str]:
    """What a run ran on and with, a short text for each."""
    machine = record["machine"]
    return {
        "system": f"{machine['system']}, {machine['processor']}",
        "cores": str(machine["cores"]),
        "threads": str(machine["threads"]),
        "seed": str(record["seed"]),
        **dict(sorted(record["versions"].items())),
    }


def _common(runs: Sequence[Record]) -> dict[str, str]:
    """The settings that all runs share."""
    made = [_settings(run) for run in runs]
    first = made[0] if made else {}
    return {name: v for name, v in first.items() if all(run.get(name) == v for run in made)}


def _split(runs: Sequence[Record], said: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """What these runs share beyond what was said already, and the names of what differs."""
    shared = _common(runs)
    names = dict.fromkeys(name for run in runs for name in _settings(run))
    own = {name: value for name, value in shared.items() if name not in said}
    return own, [name for name in names if name not in shared]


def _sentence(who: str, settings: Mapping[str, str]) -> str:
    said = ", ".join(f"{name} {value}" for name, value in settings.items())
    return f"{who}: {text(said)}."


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


def write_all(root: Path, records: Sequence[Record]) -> list[Path]:
    """Write the four pages, and the file of BibTeX entries, under ``book/_generated``."""
    from lowdim.publish.records import read

    records = [_in_order(root, record) for record in joined(root, records)]
    titles = {record["chapter"]: record["title"] for record in records}
    sizes = [read(path) for path in sorted((root / "book" / "records").glob("*/*.json"))]
    sizes = [{**kept, "title": titles.get(kept["chapter"], kept["chapter"])} for kept in sizes]
    order = list(titles)
    sizes.sort(key=lambda kept: order.index(kept["chapter"]) if kept["chapter"] in order else -1)
    kept = root / NEWEST
    newest = json.loads(kept.read_text(encoding="utf-8")) if kept.is_file() else None
    citing = bibtex.read(root)
    contents = {
        "ledger.md": ledger(records, citing=citing),
        "errata.md": errata(records, papers=citing.papers if citing else None),
        "reported.md": reported(records),
        "status.md": status(records, sizes=sizes, newest=newest),
    }
    if citing:
        contents[bibtex.FILE] = citing.everything(
            citing.claim(c["id"], verdict=c["verdict"], chapter=r["chapter"], source=c["source"])
            for r, c in _claims(records)
        )
    folder = root / "book" / "_generated"
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        (folder / name).write_text(content, encoding="utf-8")
    return [folder / name for name in contents]


def _in_order(root: Path, record: Record) -> dict[str, Any]:
    """A record with its claims in the order in which the chapter states them."""
    order = list(words.of_chapter(root, record["chapter"]).statements)
    return {**record, "claims": sorted(record["claims"], key=lambda c: order.index(c["id"]))}


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


def _claim_link(record: Record, claim: Record) -> str:
    """A claim's name that leads to where its chapter states it; the pages stand in ``book/``."""
    place = f"../notebooks/{record['chapter']}.html#{claim['id']}"
    return f'<a class="reference internal" href="{place}">{claim_name(claim["id"])}</a>'


def _part_choices(
    pairs: Sequence[tuple[Record, Record]], papers: Mapping[str, Paper] | None = None
) -> list[Choice]:
    """The parts with how many rows each has, and the paper that its claims are of."""
    found = []
    for part, group in _by_part(pairs):
        of = (papers or {}).get(bibtex.cited(group[0][1]["source"]) or "")
        title = f"{html.escape(of.plain)}, {of.year}" if of else ""
        found.append(Choice(group[0][1]["part"], part, len(group), title))
    return found


def _said(meanings: Mapping[str, str]) -> list[tuple[str, str]]:
    return [(word, html.escape(meaning)) for word, meaning in meanings.items()]


def _tag(tag: str) -> str:
    return f'<span class="verdict verdict-tag">{tag}</span>'


def _plural(count: int, one: str, many: str | None = None) -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"
