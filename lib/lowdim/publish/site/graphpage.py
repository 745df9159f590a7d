"""The graph of claims on pages: drawings, the list of what stands alone, and the table.

Directives ``{claim-graph}`` (the whole book, or a part: ``{claim-graph} preserve``) and
``{claim-uses}`` (the table of a part); the role ``{graph}``, which inserts a
number by its name, ``drawn`` for instance.
"""

from __future__ import annotations

import html
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.errors import ExtensionError
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxRole

from lowdim.evidence.vocabulary import PARTS, TONES, VERDICTS, badge
from lowdim.publish.site import book, graph
from lowdim.publish.words import WordsError

if TYPE_CHECKING:
    from sphinx.application import Sphinx

HEAD = ("claim", "verdict", "uses", "used by", "rests on something refuted")
logger = logging.getLogger(__name__)


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.add_directive("claim-graph", GraphDirective)
    app.add_directive("claim-uses", UsesDirective)
    app.add_role("graph", NumberRole())
    app.connect("builder-inited", _check)


def _check(app: Sphinx) -> None:
    try:
        graph.check(Path(app.srcdir))
    except WordsError as problem:
        raise ExtensionError(str(problem)) from None


def of(app: Sphinx) -> graph.Graph:
    """The graph of the book that ``app`` builds; made once.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> of(SimpleNamespace(srcdir="nowhere")).edges
    []
    """
    kept = getattr(app, "_lowdim_graph", None)
    if kept is None:
        kept = graph.of(book.of(app))
        app._lowdim_graph = kept  # type: ignore[attr-defined]  # lives as long as the build
    return kept


def numbers(made: graph.Graph) -> dict[str, int]:
    """What a page may say of a graph in numbers.

    Examples
    --------
    >>> numbers(graph.Graph({}, {}))["claims"]
    0
    """
    standing = [n for n in made.shaken if made.claims[n].verdict not in graph.FALLEN]
    return {
        "claims": len(made.claims),
        "drawn": len(made.claims) - len(made.alone),
        "alone": len(made.alone),
        "uses": len(made.edges),
        "fallen": sum(claim.verdict in graph.FALLEN for claim in made.claims.values()),
        "shaken": len(made.shaken),
        "standing": len(standing),
    }


class NumberRole(SphinxRole):
    """A number of the graph: one of :func:`numbers`."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        known = numbers(of(self.env.app))
        if self.text not in known:
            logger.warning(
                "'%s' is no number of the graph; there are %s.",
                self.text,
                ", ".join(known),
                location=self.get_location(),
            )
        return [nodes.inline("", str(known.get(self.text, self.text)))], []


class GraphDirective(SphinxDirective):
    """The graph of the book, or of a part."""

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        whole = of(self.env.app)
        part = self.arguments[0] if self.arguments else ""
        if part and part not in PARTS:
            raise self.error(f"'{part}' is no part; the parts are {', '.join(PARTS)}.")
        mine = {name for name, claim in whole.claims.items() if part in ("", claim.part)}
        # A part is drawn with what it uses of others, and what uses it there.
        near = {name for claim in mine for name in (*whole.uses[claim], *whole.used_by[claim])}
        shown = whole.part(mine | near)
        here, title = self.env.docname, PARTS.get(part, "the whole book")
        drawn = graph.figure(
            shown,
            whole=whole,
            here=here,
            label=f"What the claims of {title} rest on; the table has the same in words",
            room=graph.WIDE if part else graph.BOOK,
        )
        if not drawn:
            return [nodes.paragraph("", "No claim here rests on another.")]
        # Whoever goes by keys need not go through every node.
        said = '<a class="claim-skip" href="#claim-legend">Skip the drawing</a>' + drawn
        said += legend(claim.verdict for claim in shown.claims.values())
        said += alone(shown, whole, here) if part else ""
        return [nodes.raw("", said, format="html")]


def legend(verdicts: Iterable[str]) -> str:
    """What the signs of a drawing mean, for the verdicts that it has.

    Examples
    --------
    >>> "a cross" in legend(["refuted"]), "a tick" in legend(["refuted"])
    (True, False)
    """
    names = {"good": "a tick", "warn": "a triangle", "bad": "a cross", "open": "a ring"}
    there = set(verdicts)
    rows = []
    for tone, sign in names.items():
        words = ", ".join(v for v in VERDICTS if TONES[v] == tone and v in there)
        if words:
            drawn = f'<path class="sign" transform="translate(13 10)" d="{graph.SIGNS[tone]}"/>'
            rows.append((f"node tone-{tone}", f'<rect width="26" height="20" rx="4"/>{drawn}',
                         f"{words}", f"{sign}: "))  # fmt: skip
    rows.append(("node", '<rect width="26" height="20" rx="10"/>', "ours, new in this book", ""))
    rows.append(("node shaken", '<rect width="26" height="20" rx="4"/>',
                 "rests on something refuted or not reproduced", "dashed: "))  # fmt: skip
    items = "".join(
        f'<li><svg class="claim-key" width="30" height="24" viewBox="-2 -2 30 24" '
        f'aria-hidden="true"><g class="{classes}">{drawn}</g></svg>'
        f'<span class="claim-sign">{sign}</span>{html.escape(words)}</li>'
        for classes, drawn, words, sign in rows
    )
    named = 'id="claim-legend" aria-label="Signs of the drawing"'
    return f'<ul class="claim-legend" {named} tabindex="-1">{items}</ul>'


def alone(shown: graph.Graph, whole: graph.Graph, here: str) -> str:
    """The claims that use no other and are not used, as a paragraph of links.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> lemma = SimpleNamespace(name="Lemma 1", docname="notebooks/a/b", anchor="a-lemma-1")
    >>> whole = graph.Graph({"a.lemma-1": lemma}, {"a.lemma-1": ()})
    >>> alone(whole, whole, "book/graph").partition("drawn: ")[2]
    '<a href="../notebooks/a/b.html#a-lemma-1">Lemma 1</a>.</p>'
    """
    lonely = [whole.claims[name] for name in shown.alone]
    if not lonely:
        return ""
    links = ", ".join(
        f'<a href="{html.escape(graph.link(claim, here))}">{html.escape(claim.name)}</a>'
        for claim in lonely
    )
    return f'<p class="claim-alone">Standing alone, and not drawn: {links}.</p>'


class UsesDirective(SphinxDirective):
    """The graph of a part as a table: each claim, its verdict, what it uses, what uses it."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        part, whole = self.arguments[0], of(self.env.app)
        rows = [self.row(whole, c) for c in whole.claims.values() if c.part == part]
        cells = "".join(f'<th scope="col">{word}</th>' for word in HEAD)
        table = (
            f'<div class="lowdim-table"><table class="lowdim-table claim-uses">'
            f"<thead><tr>{cells}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
        )
        return [nodes.raw("", table, format="html")]

    def row(self, whole: graph.Graph, claim: book.Claim) -> str:
        """One claim."""

        def links(names: Iterable[str]) -> str:
            return ", ".join(self.to(whole.claims[name], claim.part) for name in names) or "–"

        verdict = badge(claim.verdict, claim.tags)
        lists: list[Any] = [whole.uses[claim.id], whole.used_by[claim.id]]
        lists.append(whole.shaken.get(claim.id, ()))
        cells = "".join(
            f'<td data-head="{head}"{"" if names else " class=none"}>{links(names)}</td>'
            for head, names in zip(HEAD[2:], lists, strict=True)
        )
        return (
            f'<tr><th scope="row">{self.to(claim, claim.part)}</th><td>{verdict}</td>{cells}</tr>'
        )

    def to(self, claim: book.Claim, part: str) -> str:
        """A link to a claim; with its part's name, seen from another part."""
        name = claim.name if claim.part == part else f"{claim.name} ({PARTS[claim.part]})"
        address = html.escape(graph.link(claim, self.env.docname))
        return f'<a href="{address}">{html.escape(name)}</a>'
