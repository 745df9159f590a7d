"""The landing page's own directives: the book in numbers, findings as cards, what verdicts mean.

Words are on the page, ``book/index.md``; numbers and badges come from the book itself, pictures
from :mod:`lowdim.publish.site.landing_pictures`.
"""

from __future__ import annotations

import html
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import urlencode

from docutils import nodes
from docutils.parsers.rst import directives as options
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from lowdim.evidence.vocabulary import TAGS, TONES, VERDICTS, badge
from lowdim.publish.site import book
from lowdim.publish.site.landing_pictures import PICTURES, picture

if TYPE_CHECKING:
    from sphinx.application import Sphinx

LEDGER, ERRATA, STATUS = "book/ledger", "book/errata", "book/status"
logger = logging.getLogger(__name__)


def setup(app: Sphinx) -> None:
    """Register the directives."""
    app.add_directive("landing-numbers", NumbersDirective)
    app.add_directive("landing-cards", CardsDirective)
    app.add_directive("landing-finding", FindingDirective)
    app.add_directive("landing-verdicts", VerdictsDirective)
    app.add_directive("landing-cover", CoverDirective)


def where(key: str) -> tuple[str, dict[str, str]]:
    """The page that lists what a number counts, and the filter that finds it there.

    Examples
    --------
    >>> where("refuted"), where("new")
    (('book/ledger', {'verdict': 'refuted'}), ('book/ledger', {'kind': 'new'}))
    """
    other = {
        "claims": (LEDGER, {}),
        "new": (LEDGER, {"kind": "new"}),
        "slips": (ERRATA, {}),
        "chapters": (STATUS, {}),
    }
    return other[key] if key in other else (LEDGER, {"verdict": key})


class _Landing(SphinxDirective):
    def book(self) -> book.Book:
        return book.of(self.env.app)

    def address(self, page: str, query: dict[str, str] | None = None, anchor: str = "") -> str:
        """The address of a page of the book from here."""
        at = self.env.app.builder.get_relative_uri(self.env.docname, page)
        at += f"?{urlencode(query)}" if query else ""
        return html.escape(at + (f"#{anchor}" if anchor else ""))

    def refuse(self, message: str, *given: object) -> list[nodes.Node]:
        logger.warning(message, *given, location=self.get_location())
        return []


class NumbersDirective(_Landing):
    """The book in numbers. Each line of the content is ``key: what it counts``, in order."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """A bar with a piece for each verdict, and a number for each line."""
        whole = self.book()
        found = book.numbers(list(whole.claims.values()))
        found["chapters"] = len(whole.chapters)
        tiles = []
        for line in self.content:
            key, _, label = (piece.strip() for piece in line.partition(":"))
            if key not in {*found, *VERDICTS, "chapters"}:
                return self.refuse("there is no number '%s'", key)
            page, query = where(key)
            tone = TONES.get(key, "plain")
            tiles.append(
                f'<li><a class="landing-number landing-{tone}" href="{self.address(page, query)}">'
                f"<strong>{found.get(key, 0)}</strong> <span>{html.escape(label)}</span></a></li>"
            )
        listed = f'<ul class="landing-numbers">{"".join(tiles)}</ul>'
        return [nodes.raw("", self.bar(found) + listed, format="html")]

    def bar(self, found: dict[str, int]) -> str:
        """All claims side by side, by verdict; each piece leads to its rows of the ledger."""
        pieces = []
        for verdict in (name for name in VERDICTS if found.get(name)):
            page, query = where(verdict)
            name = f"{found[verdict]} {verdict}"
            pieces.append(
                f'<a class="landing-piece landing-{TONES[verdict]}" style="flex-grow:'
                f' {found[verdict]}" href="{self.address(page, query)}" title="{name}"'
                f' aria-label="{name}"></a>'
            )
        return f'<div class="landing-strip">{"".join(pieces)}</div>' if pieces else ""


class CardsDirective(_Landing):
    """Findings side by side."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """A box around the cards."""
        box = nodes.container(classes=["landing-cards"])
        self.state.nested_parse(self.content, self.content_offset, box)
        return [box]


class FindingDirective(_Landing):
    """A finding: the claim's id, a name, a formula, a picture, and a sentence as its content."""

    has_content = True
    required_arguments = 1
    option_spec: ClassVar = dict.fromkeys(
        ("name", "formula", "picture"), options.unchanged_required
    )

    def run(self) -> list[nodes.Node]:
        """A card that is a link to where the claim is stated."""
        claim = self.book().claims.get(self.arguments[0])
        drawn = self.options["picture"]
        if drawn not in PICTURES:
            return self.refuse("there is no picture '%s'", drawn)
        if claim is None and self.book().claims:
            return self.refuse("there is no claim '%s'", self.arguments[0])
        name = html.escape(self.options["name"])
        if claim is not None:
            to = self.address(claim.docname, anchor=claim.anchor)
            name = f'<a href="{to}">{name}</a>'
        mark = badge(claim.verdict) if claim else ""
        whose = book_name(self.arguments[0])
        head = f'<p class="landing-part">{whose} {mark}</p><h3>{name}</h3>'
        card = nodes.container(classes=["landing-card"])
        self.set_source_info(card)
        card += nodes.raw("", picture(drawn) + head, format="html")
        formula = nodes.paragraph(classes=["landing-formula"])
        found, messages = self.state.inline_text(self.options["formula"], self.lineno)
        formula += [*found, *messages]
        card += formula
        self.state.nested_parse(self.content, self.content_offset, card)
        return [card]


def book_name(claim: str) -> str:
    """The part of a claim, as cards call it.

    Examples
    --------
    >>> book_name("preserve.new-tangent")
    'Part I'
    """
    from lowdim.evidence.vocabulary import PARTS, part_of

    return PARTS[part_of(claim)].partition(":")[0]


class VerdictsDirective(_Landing):
    """What each verdict and each tag means, with its badge."""

    def run(self) -> list[nodes.Node]:
        """A list of badges and meanings."""
        rows = [(badge(verdict), meaning) for verdict, meaning in VERDICTS.items()]
        rows += [
            (f'<span class="verdict verdict-tag">{tag}</span>', meaning)
            for tag, meaning in TAGS.items()
        ]
        shown = "".join(
            f"<div><dt>{mark}</dt><dd>{html.escape(meaning)}</dd></div>" for mark, meaning in rows
        )
        return [nodes.raw("", f'<dl class="landing-verdicts simple">{shown}</dl>', format="html")]


class CoverDirective(_Landing):
    """The cover: on paper only, where it is the first page."""

    def run(self) -> list[nodes.Node]:
        """The drawing of :mod:`lowdim.publish.site.cover`."""
        from lowdim.publish.site import cover

        said = cover.words(Path(self.env.srcdir))
        drawn = cover.cover(*said, cover.counted(self.book()))
        return [nodes.raw("", f'<div class="landing-cover">{drawn}</div>', format="html")]
