"""An HTML element around other nodes of a page, where docutils has no node for it.

Writers of other formats show what is inside and leave the element out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from docutils import nodes

if TYPE_CHECKING:
    from sphinx.application import Sphinx


class element(nodes.Element):  # docutils names what it calls for a node after its class
    """``tag`` with ``html``, its attributes beyond ids and classes."""


def make(tag: str, *children: nodes.Node | str, **given: Any) -> element:
    """An element with children, texts among them; ``classes``, ``ids``, ``html`` as for a node.

    Examples
    --------
    >>> print(make("b", "two", classes=["count"]))
    <element classes="count" tag="b">two</element>
    """
    inside = [nodes.Text(child) if isinstance(child, str) else child for child in children]
    return element("", *inside, tag=tag, **given)


def setup(app: Sphinx) -> None:
    """Register the node."""
    app.add_node(
        element, html=(_open, _close), latex=(_pass, _pass), text=(_pass, _pass), man=(_pass, _pass)
    )


def _open(translator: Any, node: element) -> None:
    translator.body.append(translator.starttag(node, node["tag"], "", **node.get("html", {})))


def _close(translator: Any, node: element) -> None:
    translator.body.append(f"</{node['tag']}>\n")


def _pass(translator: Any, node: element) -> None:
    pass
