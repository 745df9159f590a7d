"""The table of a ladder's steps stands under its drawing, and nowhere else on a page."""

from __future__ import annotations

from docutils import nodes
from docutils.utils import new_document
from lowdim.evidence import _drawing as drawing
from lowdim.evidence.ladder import Ladder
from lowdim.evidence.tables import Table
from lowdim.publish.site import ladders


def chain(end: float) -> Ladder:
    rungs = Ladder("demo")
    rungs.start("a", [1.0])
    rungs.leq("b", [end], because="so")
    return rungs


def shown(html: str) -> nodes.container:
    """An output of a cell with its code, as myst-nb makes it."""
    raw = nodes.container("", nodes.raw("", html, format="html"), mime_type="text/html")
    bundle = nodes.container("", raw, nb_element="mime_bundle")
    code = nodes.container("", nodes.literal_block("", "x.table()"), nb_element="cell_code_source")
    output = nodes.container("", bundle, nb_element="cell_code_output")
    return nodes.container("", code, output, nb_element="cell_code")


def test_a_table_that_a_ladder_has_is_not_shown_before_it() -> None:
    page = new_document("x")
    page += shown(chain(2.0).table()._repr_html_())
    page += shown(drawing.html(chain(2.0), alt="demo"))
    page += shown(chain(3.0).table()._repr_html_())  # of another ladder, which is not drawn
    page += shown(Table(("step",), [("b",)])._repr_html_())
    ladders.OneTable(page).apply()
    assert [len(cell.children) for cell in page.children] == [1, 2, 2, 2]
    assert page[0].astext() == "x.table()", "its code stays"


def test_a_page_without_a_drawing_keeps_its_tables() -> None:
    page = new_document("x")
    page += shown(chain(2.0).table()._repr_html_())
    ladders.OneTable(page).apply()
    assert len(page[0].children) == 2
