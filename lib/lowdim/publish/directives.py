"""What a chapter's Markdown may say beyond MyST: claims, evidence, errata, values, kept runs.

Roles ``{value}``, ``{when}`` and ``{badge}``; directives ``{claim}``, ``{evidence}``,
``{erratum}``, ``{kept}`` and ``{when}``; and the options ``source``, ``reading``, ``says`` and
``uses`` of every ``prf:`` directive. Numbers come from the record of the page's run,
``_build/records/<chapter>.json``; a kept larger run shows the same sentences with its own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from docutils import nodes
from docutils.parsers.rst import directives as options
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxRole

import lowdim.evidence.values as measured
from lowdim.evidence.vocabulary import ID, badge, claim_name
from lowdim.publish import words
from lowdim.publish.execute import RECORDS
from lowdim.publish.site.elements import make

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

PREFIX = "notebooks/"
FEW = 2  # kept runs whose numbers an evidence repeats in full
logger = logging.getLogger(__name__)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register roles and directives with Sphinx."""
    for name, role in {"value": ValueRole, "when": WhenRole, "badge": BadgeRole}.items():
        app.add_role(name, role())
    for name, directive in {
        "claim": ClaimDirective,
        "evidence": EvidenceDirective,
        "erratum": ErratumDirective,
        "kept": KeptDirective,
        "when": WhenDirective,
    }.items():
        app.add_directive(name, directive)
    _let_proofs_state_claims()
    return {"version": "2", "parallel_read_safe": True, "parallel_write_safe": True}


def chapter_of(docname: str) -> str:
    """The chapter whose page ``docname`` is.

    >>> chapter_of("notebooks/preserve/lemma_4_1")
    'preserve/lemma_4_1'
    """
    return docname.removeprefix(PREFIX)


def record_of(env: BuildEnvironment, chapter: str) -> dict[str, Any]:
    """The record of the page's own run; an empty one if there is none."""
    kept = env.temp_data.setdefault("lowdim_records", {})
    if chapter not in kept:
        path = Path(env.srcdir) / RECORDS / f"{chapter}.json"
        read = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        kept[chapter] = read or {"claims": [], "values": {}, "parameters": {}}
    return kept[chapter]


def kept_records(env: BuildEnvironment, chapter: str) -> list[dict[str, Any]]:
    """The committed records of larger runs of a chapter, by preset."""
    folder = Path(env.srcdir, "book", "records", chapter).parent
    name = chapter.rpartition("/")[2]
    return [
        json.loads(path.read_text(encoding="utf-8"))
        for path in sorted(folder.glob(f"{name}.*.json"))
    ]


class _Here:
    """What roles and directives share: the page's chapter, its record, its values."""

    if TYPE_CHECKING:  # of both bases that it stands beside

        @property
        def env(self) -> BuildEnvironment: ...

    @property
    def record(self) -> dict[str, Any]:
        return record_of(self.env, chapter_of(self.env.docname))

    @property
    def chapter(self) -> str:
        # The page of a run stands alone, and its name is not the chapter's.
        return self.record.get("chapter") or chapter_of(self.env.docname)

    @property
    def values(self) -> dict[str, Any]:
        return words.values_of(self.record)

    def ruling(self, name: str) -> dict[str, Any] | None:
        """What this page's run found of ``name`` (``theorem-3-1``, or a full id)."""
        known = {claim["id"]: claim for claim in self.record["claims"]}
        part = self.chapter.partition("/")[0]
        return known.get(name) or known.get(f"{part}.{name}")


class ValueRole(SphinxRole, _Here):
    """A measured value: ``name:format``, or ``part/chapter::name`` on another page."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        chapter, _, content = self.text.rpartition("::")
        record = record_of(self.env, chapter) if chapter else self.record
        try:
            shown = words.inserted(content, words.values_of(record))
        except words.WordsError as problem:
            logger.warning("%s", problem, location=self.get_location())
            shown = self.text
        return [nodes.inline("", shown, classes=["lowdim-value"])], []


class WhenRole(SphinxRole, _Here):
    """One of two texts: ``condition | text if it holds | text if not``."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        try:
            text = words.chosen(self.text, self.values)
        except words.WordsError as problem:
            logger.warning("%s", problem, location=self.get_location())
            return [nodes.inline("", self.text)], []
        if not text:
            return [], []
        return self.inliner.parse(text, self.lineno, cast(Any, None), nodes.inline())


class BadgeRole(SphinxRole, _Here):
    """The verdict of a claim of this chapter, ``theorem-3-1``."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        return badge_nodes(self.ruling(self.text), self.text), []


def badge_nodes(ruling: Mapping[str, Any] | None, name: str) -> list[nodes.Node]:
    """The badge of a ruling; where the page's run has none, its place stays empty."""
    if ruling is None:
        return [nodes.inline("", "not run", classes=["verdict"])]
    text = badge(ruling["verdict"], ruling["tags"])
    shown: list[nodes.Node] = [nodes.raw("", text, format="html")]
    plain = " · ".join([ruling["verdict"], *ruling["tags"]])
    shown.append(nodes.raw("", plain, format="latex"))
    if not ruling.get("supported", True):
        shown.append(nodes.emphasis("", " (this run does not support it)"))
    return shown


class _Stating(SphinxDirective, _Here):
    """Directives that show sentences of the chapter."""

    def inline(self, text: str) -> list[nodes.Node]:
        found, messages = self.state.inline_text(text, self.lineno)
        return [*found, *messages]

    def line(self, name: str, given: Mapping[str, str]) -> nodes.paragraph:
        """Badge, source and reading of a claim, as one paragraph."""
        paragraph = nodes.paragraph(classes=["lowdim-source"])
        paragraph += badge_nodes(self.ruling(name), name)
        if source := given.get("source"):
            paragraph += [nodes.Text(" Source: "), *self.inline(source.rstrip(".") + ".")]
        if reading := given.get("reading"):
            paragraph += [nodes.Text(" Our reading: "), *self.inline(reading)]
        return paragraph


class ClaimDirective(_Stating):
    """A claim that has no theorem-like block of its own: a figure, an equation, half a theorem."""

    has_content = True
    required_arguments = 1
    option_spec = dict.fromkeys(words.OPTIONS, options.unchanged)

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        full = f"{self.chapter.partition('/')[0]}.{name}"
        box = nodes.container(classes=["lowdim-claim"], ids=[nodes.make_id(full)])
        self.set_source_info(box)
        title = nodes.strong("", claim_name(full) + ". ")
        body = nodes.Element()
        self.state.nested_parse(self.content, self.content_offset, body)
        if body.children and isinstance(body[0], nodes.paragraph):
            body[0].insert(0, title)
        else:
            body.insert(0, nodes.paragraph("", "", title))
        box += [*body.children, self.line(name, self.options)]
        return [box]


class EvidenceDirective(_Stating):
    """What carries a verdict: one sentence or two, with this run's numbers and the kept run's.

    They become a row of the verdict (:mod:`lowdim.publish.site.climax`).
    """

    has_content = True
    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        full = f"{self.chapter.partition('/')[0]}.{self.arguments[0]}"
        box = nodes.container(classes=["lowdim-evidence"], about=full)
        self.set_source_info(box)
        self.state.nested_parse(self.content, self.content_offset, box)
        box += self.kept("\n".join(self.content), full)
        return [box]

    def kept(self, text: str, name: str) -> list[nodes.Node]:
        """The same sentences with the numbers of a kept run, where it has them all."""
        asked = words.names(text)
        if not asked:
            return []
        shown: list[nodes.Node] = []
        records = kept_records(self.env, self.chapter)
        if len(records) > FEW:  # one for each of many data sets: too many to repeat a sentence for
            records = [record for record in records if record["preset"] == "paper"]
        for record in records:
            values = words.values_of(record)
            here = any(claim["id"] == name for claim in record["claims"])
            if (
                here
                and asked <= set(values)
                and words.fill(text, values) != words.fill(text, self.values)
            ):
                paragraph = nodes.paragraph(classes=["lowdim-kept"], preset=record["preset"])
                paragraph += nodes.emphasis("", f"In the kept run ({record['preset']}): ")
                paragraph += self.inline(" ".join(words.fill(text, values).split()))
                shown.append(paragraph)
        return shown


class ErratumDirective(_Stating):
    """A slip of the paper, as a card: where, printed and correct side by side, why, what follows.

    The cards of a chapter are gathered under its verdict (:mod:`lowdim.publish.site.climax`).
    """

    required_arguments = 1
    option_spec = dict.fromkeys(words.FIELDS, options.unchanged_required)

    def run(self) -> list[nodes.Node]:
        full = f"{self.chapter.partition('/')[0]}.{self.arguments[0]}"
        box = nodes.container(classes=["lowdim-slip"], about=full)
        self.set_source_info(box)
        where = self.inline(self.options["where"])
        box += nodes.paragraph("", "", *where, classes=["lowdim-slip-where"])
        box += make(
            "dl",
            *(
                make(
                    "div",
                    make("dt", field.title()),
                    make("dd", nodes.inline("", "", *self.inline(self.options[field]))),
                    classes=[f"lowdim-slip-{field}"],
                )
                for field in words.FIELDS[1:]
            ),
        )
        return [box]


class KeptDirective(_Stating):
    """A larger run that was kept: its column in the verdict, its sizes here; or line by line.

    Without options, or with ``preset``, the runs stand beside the page's own in the table of
    verdicts (:mod:`lowdim.publish.site.climax`), and what they changed is listed here. With
    ``lines`` it is what they measured beside what the paper reports.
    """

    option_spec = dict.fromkeys(("lines", "preset"), options.unchanged)

    def run(self) -> list[nodes.Node]:
        records = kept_records(self.env, self.chapter)
        if preset := self.options.get("preset"):
            records = [record for record in records if record["preset"] == preset]
        if not records:
            return [nodes.paragraph("", "No larger run of this chapter was kept.")]
        wanted = self.options.get("lines")
        if wanted is not None:
            return [table for record in records for table in self.lines(record, wanted.split())]
        return [self.sizes(record) for record in records]

    def sizes(self, record: Mapping[str, Any]) -> nodes.Node:
        """Which parameters of the kept run differ from this page's, and how."""
        here = self.record.get("parameters", {})
        changed = {k: v for k, v in record["parameters"].items() if here.get(k, v) != v}
        box = nodes.container(classes=["lowdim-sizes"], preset=record["preset"])
        name = _run_name(record).removeprefix("kept run, ")
        said = f"{name}. " + ("Changed from this page:" if changed else "The same parameters.")
        box += nodes.paragraph("", said[0].upper() + said[1:])
        if changed:
            box += make("ul", *(_change(k, here[k], v) for k, v in sorted(changed.items())))
        return box

    def lines(self, record: Mapping[str, Any], wanted: Sequence[str]) -> list[nodes.Node]:
        """What the kept run measured beside what the paper reports."""
        rows = []
        for claim in record["claims"]:
            if not wanted or claim["id"].partition(".")[2] in wanted:
                for line in claim["lines"]:
                    agrees = {True: "yes", False: "no", None: "–"}[line["agrees"]]
                    reported, found = (measured.text(line[k]) for k in ("reported", "measured"))
                    cells = (line["reading"], line["quantity"], reported, found)
                    rows.append(
                        [*(self.inline(words_) if words_ else "–" for words_ in cells), agrees]
                    )
        head = ["reading", "quantity", "reported", "measured", "agrees"]
        name = nodes.paragraph("", "", nodes.emphasis("", _run_name(record)))
        return [name, _table(head, rows)] if rows else []


class WhenDirective(_Stating):
    """A passage that is shown where a condition on this run's values holds."""

    has_content = True
    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        try:
            if not words.holds(self.arguments[0], self.values):
                return []
        except words.WordsError as problem:
            logger.warning("%s", problem, location=self.get_location())
        body = nodes.Element()
        self.state.nested_parse(self.content, self.content_offset, body)
        return body.children


def _run_name(record: Mapping[str, Any]) -> str:
    return ", ".join(["kept run", record["preset"], *run_facts(record)])


def run_facts(record: Mapping[str, Any]) -> list[str]:
    """On which data a run was made, and how long it took.

    >>> run_facts({"seconds": 1234.5})
    ['1,234\N{NO-BREAK SPACE}s']
    """
    data, seconds = record.get("data"), record["seconds"]
    facts = [f"{data['taken']:,}\N{NO-BREAK SPACE}images of {data['title']}"] if data else []
    return [*facts, f"{seconds:,.{0 if seconds >= 10 else 1}f}\N{NO-BREAK SPACE}s"]


def _change(name: str, here: Any, there: Any) -> nodes.Node:
    """A parameter that a kept run has another value of."""

    def shown(value: Any) -> str:
        text = measured.text(value) or "none"
        return f"[{text}]" if isinstance(value, list) else text

    return make("li", nodes.literal("", name), f" {shown(here)} → {shown(there)}")


def _table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> nodes.Node:
    """A table whose cells are text or inline nodes."""
    table = nodes.table(classes=["lowdim-table", "lowdim-kept"])
    group = nodes.tgroup(cols=len(head))
    group += [nodes.colspec(colwidth=1) for _ in head]
    table += group

    def row(cells: Sequence[Any]) -> nodes.row:
        made = nodes.row()
        for cell in cells:
            content = [nodes.Text(cell)] if isinstance(cell, str) else cell
            made += nodes.entry("", nodes.paragraph("", "", *content))
        return made

    group += nodes.thead("", row(head))
    group += nodes.tbody("", *(row(cells) for cells in rows))
    return nodes.container("", table, classes=["lowdim-table"])


def _let_proofs_state_claims() -> None:
    # sphinx-proof's directives take no other options; a claim's source belongs beside its words.
    from sphinx_proof.directive import ElementDirective

    if "source" in ElementDirective.option_spec:
        return
    ElementDirective.option_spec = {
        **ElementDirective.option_spec,
        **dict.fromkeys(words.OPTIONS, options.unchanged),
    }
    plain = ElementDirective.run

    def run(self: Any) -> list[nodes.Node]:
        shown = plain(self)
        label = self.options.get("label", "")
        if self.options.get("source") and ID.match(label):
            shown.append(_Stating.line(_Borrowed(self), label, self.options))
        return shown

    ElementDirective.run = run


class _Borrowed(_Stating):
    """A proof directive seen as one of ours."""

    def __init__(self, directive: SphinxDirective) -> None:
        self.__dict__.update(directive.__dict__)
