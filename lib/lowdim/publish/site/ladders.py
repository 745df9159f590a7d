"""The table of a ladder's steps stands once on a page: folded, under the drawing.

A chapter prints the table where the ladder is built and draws the ladder below it; the drawing has
the same table in it. On the page the first one gives way; in the notebook it stays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.transforms import SphinxTransform

if TYPE_CHECKING:
    from sphinx.application import Sphinx

DRAWN = 'class="lowdim-ladder"'


def setup(app: Sphinx) -> None:
    """Register the transform.

    Examples
    --------
    >>> from unittest.mock import Mock
    >>> app = Mock(); setup(app); app.add_transform.call_count
    1
    """
    app.add_transform(OneTable)


class OneTable(SphinxTransform):
    """Take away each output that is a table under a ladder of the page."""

    default_priority = 395  # while outputs are as myst-nb has made them

    def apply(self, **kwargs: Any) -> None:
        """Compare what cells show with what ladders have in them."""
        shown = [node for node in self.document.findall(nodes.raw) if node["format"] == "html"]
        ladders = [node.astext() for node in shown if DRAWN in node.astext()]
        for node in shown:
            text = node.astext().strip()
            if DRAWN not in text and "<table" in text and any(text in one for one in ladders):
                drop(_around(node, "mime_bundle"))


def drop(bundle: nodes.Element | None) -> None:
    """Take an output off the page, and what held it if nothing else is in there.

    Examples
    --------
    >>> bundle = nodes.container(nb_element="mime_bundle")
    >>> output = nodes.container("", bundle, nb_element="cell_code_output")
    >>> cell = nodes.container("", output, nb_element="cell_code")
    >>> drop(bundle); cell.children
    []
    """
    if bundle is None:
        return
    output = bundle.parent
    output.remove(bundle)
    if not output.children:
        output.parent.remove(output)


def _around(node: nodes.Node, kind: str) -> nodes.Element | None:
    """The element of a notebook that a node stands in."""
    place = node.parent
    while place is not None and place.get("nb_element") != kind:
        place = place.parent
    return place
