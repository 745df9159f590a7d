"""The verdict of a chapter, as the first thing of its section: a row for each claim.

A row has the badge, the claim's name, linked to its statement, and the sentence of evidence; beside
it this page's run and the larger runs that were kept. It takes the place of the raw table that the
verdict cell prints, which stays in the notebook. Slips follow as cards; how each claim is ruled,
rules in prose and code, comes last. A verdict that the run does not carry is said before all.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.transforms import SphinxTransform

import lowdim.evidence.values as measured
from lowdim.evidence.vocabulary import TONES, VERDICTS, badge, claim_name, kind_of
from lowdim.publish import directives
from lowdim.publish.site import folds, ladders
from lowdim.publish.site.elements import make

if TYPE_CHECKING:
    from sphinx.application import Sphinx

FEW = 8  # claims that are all shown
LESSER = ("lemma", "claim", "equation", "remark", "definition")  # kinds that a proof is made of
HEADER = ["claim", "verdict", "trials", "violations", "tightness"]
REASON = re.compile(r"^This run does not support '[\w-]+' for ([\w-]+): (.*)$", re.MULTILINE)
RATIO = (
    "Ratio: the largest left side over right side that was found; above 1 the claim is violated."
)


def setup(app: Sphinx) -> None:
    """Register the transform.

    Examples
    --------
    >>> from unittest.mock import Mock
    >>> app = Mock(); setup(app); app.add_transform.call_count
    1
    """
    app.add_transform(Climax)


@dataclass(frozen=True)
class Run:
    """A column: a run by its name, what is said of it, and its rulings by the claims' ids."""

    name: str
    preset: str
    facts: Sequence[str]
    rulings: Mapping[str, Mapping[str, Any]]

    @classmethod
    def of(cls, name: str, record: Mapping[str, Any]) -> Run:
        """The column of a record."""
        rulings = {claim["id"]: claim for claim in record["claims"]}
        return cls(name, record.get("preset") or "", directives.run_facts(record), rulings)

    @property
    def title(self) -> str:
        """Its name in few words.

        Examples
        --------
        >>> Run("Kept run", "paper", ["75 s"], {}).title
        'Kept run, paper'
        """
        return f"{self.name}, {self.preset}" if self.preset else self.name


def main_first(ids: Sequence[str], *, chapter: str = "") -> tuple[list[str], list[str]]:
    """The claims that a chapter is about, and those that its proofs are made of.

    A few are all shown. Of many, lemmas and their kind are the others, but for the first claim and
    the one that the chapter is named after.

    Examples
    --------
    >>> main_first(["x.lemma-1", "x.theorem-1"])
    (['x.lemma-1', 'x.theorem-1'], [])
    >>> many = ["x.theorem-3", *(f"x.lemma-{k}" for k in range(9))]
    >>> main, others = main_first(many, chapter="x/lemma_8")
    >>> main, len(others)
    (['x.theorem-3', 'x.lemma-8'], 8)
    """
    named = chapter.replace("/", ".").replace("_", "-")
    others = [name for name in ids[1:] if kind_of(name) in LESSER and name != named]
    if len(ids) <= FEW or len(others) < 3:
        return list(ids), []
    return [name for name in ids if name not in others], others


def reasons(text: str) -> dict[str, str]:
    """Why a run does not carry verdicts, by the claims' names, from what the verdict cell prints.

    Examples
    --------
    >>> reasons("This run does not support 'refuted' for lemma-2: no violation.")
    {'lemma-2': 'no violation.'}
    """
    return {found[1]: found[2].strip() for found in REASON.finditer(text)}


def facts(ruling: Mapping[str, Any]) -> list[str]:
    """What a run counted for a claim.

    Examples
    --------
    >>> facts({"trials": 4000, "violations": 0, "tightness": 0.98, "lines": []})
    ['4,000 trials', 'no violation', 'ratio 0.98']
    """
    told = []
    if ruling["trials"]:
        told.append(_count(ruling["trials"], "trial"))
        told.append(_count(ruling["violations"], "violation"))
    elif ruling["violations"]:
        told.append(_count(ruling["violations"], "violation"))
    if ruling["tightness"] is not None:
        told.append(f"ratio {measured.number(ruling['tightness'], '2')}")
    compared = [line["agrees"] for line in ruling["lines"] if line["agrees"] is not None]
    if compared:
        told.append(f"{sum(compared)} of {len(compared)} reported values agree")
        if not ruling["violations"]:
            told = [fact for fact in told if fact != "no violation"]  # nothing to violate
    return told


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}" if number else f"no {what}"


class Climax(SphinxTransform):
    """Put the verdict together where its section begins."""

    default_priority = 410  # once statements are boxes, for their places are linked to

    def apply(self, **kwargs: Any) -> None:
        """Gather evidence, slips and runs; order the section."""
        evidence = {box["about"]: box for box in _boxes(self.document, "lowdim-evidence")}
        if not evidence:
            return
        first = next(iter(evidence.values()))
        section = first.parent
        at = section.index(first)
        record = directives.record_of(self.env, directives.chapter_of(self.env.docname))
        chapter = record.get("chapter") or directives.chapter_of(self.env.docname)
        why = self.printed() if record["claims"] else {}
        slips = list(_boxes(self.document, "lowdim-slip"))
        start = next((k + 1 for k, n in enumerate(section) if isinstance(n, nodes.title)), 0)
        before = section.children[start:at] if isinstance(section, nodes.section) else []
        for node in [*before, *evidence.values(), *slips]:
            node.parent.remove(node)
        verdict = self.verdict(evidence, self.runs(record, chapter), why, chapter)
        section.insert(start if before else at, verdict)
        if slips:
            section.insert(section.index(verdict) + 1, _slips(slips))
        if before:
            title = make("p", "How each claim is ruled", classes=["rubric", "lowdim-ruled"])
            section.extend([title, *before])
            for node in before:
                for cell in folds.cells(node) if isinstance(node, nodes.Element) else ():
                    folds.fold(cell)

    def printed(self) -> dict[str, str]:
        """Take the verdict cell's table off the page; return the reasons that stood under it."""
        found: dict[str, str] = {}
        for cell in folds.cells(self.document):
            for bundle in _elements(cell, "mime_bundle"):
                plain = (n for n in _inside(bundle) if n.get("mime_type") == "text/plain")
                text = "".join(node.astext() for node in plain)
                if text.partition("\n")[0].split() == HEADER:
                    found |= reasons(text)
                    ladders.drop(bundle)
        return found

    def runs(self, record: Mapping[str, Any], chapter: str) -> list[Run]:
        """This page's run, then those kept ones that the page has a ``{kept}`` for."""
        if not record["claims"]:
            return []
        asked = [box["preset"] for box in _boxes(self.document, "lowdim-sizes")]
        kept = directives.kept_records(self.env, chapter)
        found = [Run.of("Kept run", one) for one in kept if one["preset"] in asked]
        found.sort(key=lambda run: asked.index(run.preset))
        return [Run.of("This page’s run", record), *found]

    def verdict(
        self,
        evidence: Mapping[str, nodes.Element],
        runs: Sequence[Run],
        why: Mapping[str, str],
        chapter: str,
    ) -> nodes.Node:
        """The whole of it: what is not carried, a tally, the main claims, the others folded."""
        today = runs[0].rulings if runs else {}
        ids = list(dict.fromkeys([*evidence, *today]))
        _, others = main_first(ids, chapter=chapter)
        fallen = [name for name in ids if not today.get(name, {}).get("supported", True)]
        others = [name for name in others if name not in fallen]
        main = [name for name in ids if name not in others]

        places = _places(self.document)

        def table(names: Sequence[str]) -> nodes.Node:
            rows = []
            for name in names:
                reason = why.get(name.partition(".")[2], "") if name in fallen else None
                rows.append(_row(name, evidence.get(name), runs, reason, places))
            return _table(rows, runs)

        box = make("div", classes=["lowdim-climax"])
        if fallen:
            box += _alarm(fallen, why, len(ids))
        box += make("p", _count(len(ids), "claim"), *_tally(ids, today), classes=["lowdim-tally"])
        box += table(main)
        if others:
            kinds = {kind_of(name) for name in others}
            title = "Lemmas of the proof" if kinds <= {"lemma", "claim"} else "Steps of the proof"
            summary = make("summary", make("span", f"{title} ({len(others)})"))
            summary += _tally(others, today)
            box += make("details", summary, table(others), classes=["lowdim-lemmas"])
        if any(r["tightness"] is not None for run in runs for r in run.rulings.values()):
            box += nodes.paragraph("", RATIO, classes=["lowdim-note"])
        return box


def _row(
    name: str,
    said: nodes.Element | None,
    runs: Sequence[Run],
    reason: str | None,
    places: set[str],
) -> nodes.Element:
    """A claim: name, badge, evidence, a cell for each run; ``reason`` where not carried."""
    ruling = runs[0].rulings.get(name) if runs else None
    head = nodes.paragraph(classes=["lowdim-ruling-head"])
    head += _named(places, name)
    cell = make("td", head, classes=["lowdim-ruling-said"])
    tone = TONES[ruling["verdict"]] if ruling else "tag"
    if reason is None:
        head += [nodes.Text(" "), *directives.badge_nodes(ruling, name)]
    else:
        tone = "bad"
        head += [nodes.Text(" "), _word("not by this run", "bad", bold=True)]
        cell += nodes.paragraph("", _fallen(ruling, reason), classes=["lowdim-reason"])
    if said is not None:
        cell += nodes.container("", *_in_order(said, runs), classes=["lowdim-evidence"])
    cells = [_cell(run, run.rulings.get(name), ruling) for run in runs]
    place = nodes.make_id(f"ruling-{name}")
    return make("tr", cell, *cells, ids=[place], classes=["lowdim-ruling", f"tone-{tone}"])


def _inside(node: nodes.Element) -> list[nodes.Element]:
    return [child for child in node.children if isinstance(child, nodes.Element)]


def _boxes(document: nodes.document, kind: str) -> Iterator[nodes.Element]:
    found = [box for box in document.findall(nodes.container) if kind in box["classes"]]
    return iter(found)


def _elements(cell: nodes.Element, kind: str) -> list[nodes.container]:
    return [n for n in cell.findall(nodes.container) if n.get("nb_element") == kind]


def _places(document: nodes.document) -> set[str]:
    """The names of all places of a page."""
    found: set[str] = set()
    for node in document.findall(nodes.Element):
        found |= set(node.get("ids", ()))
    return found


def _named(places: set[str], name: str) -> nodes.Node:
    """The claim's name, linked to its statement: by its id as it is, for a chapter's label may be
    what remains of it without the dot.
    """
    shown = nodes.strong("", claim_name(name))
    for place in (name, nodes.make_id(name)):
        if place in places:
            return nodes.reference("", "", shown, internal=True, refid=place)
    return shown


def _in_order(said: nodes.Element, runs: Sequence[Run]) -> list[nodes.Node]:
    """The evidence, then its sentences with the numbers of the kept runs, in order of columns."""
    kept = {node["preset"]: node for node in _inside(said) if "preset" in node}
    own = [node for node in said.children if node not in kept.values()]
    return [*own, *(kept[run.preset] for run in runs[1:] if run.preset in kept)]


def _word(text: str, tone: str, *, bold: bool = False) -> nodes.Node:
    """A word in the colour of its tone; ``bold``, as a badge."""
    classes = ["verdict", f"tone-{tone}"] if bold else ["lowdim-word", f"tone-{tone}"]
    return nodes.inline("", text, classes=classes)


def _fallen(ruling: Mapping[str, Any] | None, reason: str) -> str:
    word = ruling["verdict"] if ruling else ""
    said = f"This run does not support “{word}”"
    return f"{said}: {reason}" if reason else f"{said}."


def _cell(
    run: Run, ruling: Mapping[str, Any] | None, today: Mapping[str, Any] | None
) -> nodes.Node:
    """What one run found of one claim."""
    cell = make("td", classes=["lowdim-run"], html={"data-run": run.title})
    if ruling is None:
        cell += nodes.Text("–")
        return cell
    if not ruling.get("supported", True):
        cell += _word("not by this run", "bad", bold=True)
    elif today and (ruling["verdict"], ruling["tags"]) != (today["verdict"], today["tags"]):
        shown = badge(ruling["verdict"], ruling["tags"])
        cell += nodes.raw("", shown, format="html")
    else:
        cell += _word(ruling["verdict"], TONES[ruling["verdict"]])
    if told := facts(ruling):
        cell += make("ul", *(make("li", fact) for fact in told))
    return cell


def _table(rows: Sequence[nodes.Element], runs: Sequence[Run]) -> nodes.Node:
    """Rows under a head; its parts say what they are, for a narrow screen shows them as cards."""
    column = {"scope": "col", "role": "columnheader"}
    heads = [make("th", "Claim and evidence", html=column)]
    for run in runs:
        name = make("span", run.title)
        below = make("span", ", ".join(run.facts), classes=["lowdim-run-facts"])
        heads.append(make("th", name, below, html=column))
    head = make("thead", make("tr", *heads, html={"role": "row"}), html={"role": "rowgroup"})
    for row in rows:
        row["html"] = {"role": "row"}
        for cell in _inside(row):
            cell["html"] = {**cell.get("html", {}), "role": "cell"}
    body = make("tbody", *rows, html={"role": "rowgroup"})
    width = f"runs-{len(runs)}"
    return make("table", head, body, classes=["lowdim-rulings", width], html={"role": "table"})


def _tally(ids: Sequence[str], rulings: Mapping[str, Mapping[str, Any]]) -> list[nodes.Node]:
    """How many have each verdict."""
    words = Counter(
        r["verdict"] if r.get("supported", True) else "" for n in ids if (r := rulings.get(n))
    )
    shown: list[nodes.Node] = []
    for word in VERDICTS:
        if words[word]:
            mark = nodes.raw("", badge(word), format="html")
            shown.append(make("span", f"{words[word]} ", mark, classes=["lowdim-tallied"]))
    if words[""]:
        none = _word("not by this run", "bad", bold=True)
        shown.append(make("span", f"{words['']} ", none, classes=["lowdim-tallied"]))
    return shown


def _alarm(fallen: Sequence[str], why: Mapping[str, str], of: int) -> nodes.Node:
    """What this run does not carry, before anything else."""
    title = f"This run does not support {len(fallen)} of {of} verdicts"
    items = []
    for name in fallen:
        place = nodes.make_id(f"ruling-{name}")
        link = nodes.reference("", claim_name(name), internal=True, refid=place)
        reason = why.get(name.partition(".")[2], "")
        told = [link, nodes.Text(f": {reason}")] if reason else [link]
        items.append(make("li", nodes.inline("", "", *told)))  # a link stands in a text
    head = nodes.paragraph("", "", nodes.strong("", title))
    return make("div", head, make("ul", *items), classes=["lowdim-alarm"], html={"role": "note"})


def _slips(slips: Sequence[nodes.Node]) -> nodes.Node:
    title = f"Slips of the paper ({len(slips)})"
    head = make("p", title, classes=["rubric"])
    return make("div", head, *slips, classes=["lowdim-slips"])
