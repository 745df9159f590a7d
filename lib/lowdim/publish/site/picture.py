"""``{picture} fig-name``: a chapter's figure on another page, with a caption of that page's own.

What is shown is the chapter's own output, from the run that the book shows, so a part's page tells
its story with the pictures of its chapters and draws none again. Below the caption stands where the
picture comes from.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from lowdim.publish.site.elements import make

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

logger = logging.getLogger(__name__)
BUNDLE = "mime_bundle"
SHOWN = ("text/html", "image/svg+xml", "image/png")


class slot(nodes.General, nodes.Element):
    """Where the figure called ``figure`` goes once every page has been read."""


def setup(app: Sphinx) -> None:
    """Register the directive, and what fills it."""
    app.add_node(slot)
    app.add_directive("picture", PictureDirective)
    app.connect("doctree-resolved", _fill)


class PictureDirective(SphinxDirective):
    """A figure by its name; the text is its caption here."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        """The figure's place, with its caption."""
        place = slot("", figure=self.arguments[0])
        place.source, place.line = self.get_source_info()
        caption = make("figcaption")
        self.state.nested_parse(self.content, self.content_offset, caption)
        return [make("figure", place, caption, classes=["lowdim-picture"])]


def contents(figure: nodes.Element) -> list[nodes.Node]:
    """Copies of what a figure shows, without its caption and legend and without its ids.

    Examples
    --------
    >>> drawn = nodes.image(uri="a.svg", ids=["a"])
    >>> [shown] = contents(nodes.figure("", drawn, nodes.caption("", "A line.")))
    >>> shown["uri"], shown["ids"], drawn["ids"]
    ('a.svg', [], ['a'])
    """
    made = [
        child.deepcopy()
        for child in figure.children
        if not isinstance(child, nodes.caption | nodes.legend)
    ]
    holder = nodes.Element("", *made)
    for bundle in [n for n in holder.findall(nodes.Element) if n.get("nb_element") == BUNDLE]:
        # one output in several forms, of which each page shows the first that it can
        forms = {form["mime_type"]: form for form in bundle.children}  # type: ignore[index]
        best = next((forms[name] for name in SHOWN if name in forms), None)
        bundle.replace_self(best.children if best is not None else [])
    for inner in holder.findall(nodes.Element):
        inner["ids"] = []
    return holder.children


def find(doctree: nodes.document, anchor: str) -> nodes.figure | None:
    """The figure of a page at an anchor.

    Examples
    --------
    >>> from docutils.utils import new_document
    >>> page = new_document("page")
    >>> page += nodes.figure("", ids=["fig-a"])
    >>> find(page, "fig-a") is page[0], find(page, "fig-b")
    (True, None)
    """
    return next((n for n in doctree.findall(nodes.figure) if anchor in n["ids"]), None)


def _fill(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    places = list(doctree.findall(slot))
    if not places:
        return
    pages = cache(lambda name: _page(app.env, name))
    for place in places:
        known: dict[str, Any] = app.env.get_domain("std").anonlabels  # type: ignore[attr-defined]
        where, anchor = known.get(place["figure"], ("", ""))
        figure = find(pages(where), anchor) if where else None
        if figure is None:
            logger.warning(
                "there is no figure '%s' in any chapter", place["figure"], location=place
            )
            place.parent.remove(place)
            continue
        to = f"{app.builder.get_relative_uri(docname, where)}#{anchor}"
        title = app.env.titles[where].deepcopy()
        link = nodes.reference("", "", *title.children, refuri=to, internal=True)
        caption = place.parent[-1]
        assert isinstance(caption, nodes.Element)
        from_where = [nodes.Text("From "), link, nodes.Text(".")]
        caption += nodes.paragraph("", "", *from_where, classes=["lowdim-picture-from"])
        place.replace_self(contents(figure))


def _page(env: BuildEnvironment, name: str) -> nodes.document:
    return env.get_doctree(name)
