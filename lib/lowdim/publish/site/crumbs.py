"""Where a page stands: Book › Part › Chapter above it, and the paper in its window's title."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lowdim.publish.site import masthead

if TYPE_CHECKING:
    from sphinx.application import Sphinx

PREFIX = "notebooks/"


def setup(app: Sphinx) -> None:
    """Register with Sphinx; after the description of a page has taken its title as it is."""
    app.connect("html-page-context", _say_where, priority=700)


def _say_where(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    if doctree is None or pagename == app.config.root_doc:
        return
    title = context.get("title", "")
    above = [(parent["link"], parent["title"]) for parent in context.get("parents", ())]
    home = (context["pathto"](app.config.root_doc), "Book")
    context["body"] = crumbs([home, *above], here=title) + context["body"]
    if pagename.startswith(PREFIX):
        text = Path(app.env.doc2path(pagename)).read_text(encoding="utf-8")
        part = pagename.removeprefix(PREFIX).partition("/")[0]
        if paper := short_reference(Path(app.srcdir), masthead.paper(text, part)):
            context["title"] = with_paper(title, html.escape(paper))


def crumbs(above: list[tuple[str, str]], *, here: str) -> str:
    """The way to a page as HTML; the page itself is named by what its title begins with.

    Examples
    --------
    >>> print(crumbs([("index.html", "Book")], here="Theorem 3.1 — it holds"))
    <nav class="lowdim-crumbs d-print-none" aria-label="Breadcrumbs"><ol>\
<li><a href="index.html">Book</a></li><li aria-current="page">Theorem 3.1</li></ol></nav>
    """
    steps = "".join(
        f'<li><a href="{html.escape(link)}">{_without_links(name)}</a></li>' for link, name in above
    )
    last = f'<li aria-current="page">{_without_links(masthead.short(here))}</li>'
    return (
        '<nav class="lowdim-crumbs d-print-none" aria-label="Breadcrumbs">'
        f"<ol>{steps}{last}</ol></nav>"
    )


def _without_links(title: str) -> str:
    return re.sub(r"</?a\b[^>]*>", "", title)


def with_paper(title: str, paper: str) -> str:
    """A chapter's title that says which paper it is about.

    Examples
    --------
    >>> with_paper("Theorem 2.4 — depth regularizes", "He, Tsai and Ward 2023")
    'Theorem 2.4 (He, Tsai and Ward 2023) — depth regularizes'
    """
    head, dash, rest = title.partition(" — ")
    return f"{head} ({paper}){dash}{rest}"


def short_reference(root: Path, key: str) -> str:
    """The authors of a paper and its year, from the list of references; empty without a key.

    Examples
    --------
    >>> short_reference(Path("nowhere"), "weyl1912")
    ''
    """
    path = root / "book" / "references.bib"
    if not key or not path.is_file():
        return ""
    bib = path.read_text(encoding="utf-8")
    entry = re.search(rf"@\w+\{{{re.escape(key)},(.*?)(?=^@|\Z)", bib, re.DOTALL | re.MULTILINE)
    if entry is None:
        return ""
    said = dict(re.findall(r"^\s*(author|year)\s*=\s*\{(.*)\},?\s*$", entry[1], re.MULTILINE))
    return f"{names(said['author'])} {said.get('year', '')}".strip() if "author" in said else ""


def names(authors: str) -> str:
    r"""The surnames of at most three authors.

    Examples
    --------
    >>> names(r"He, Jun and Tsai, Ann"), names(r"Bj{\"o}rck, A. and B, C. and D, E. and F, G.")
    ('He and Tsai', 'Björck et al.')
    """
    from pylatexenc.latex2text import LatexNodes2Text

    found = [
        LatexNodes2Text().latex_to_text(name.partition(",")[0]).strip()
        for name in re.split(r"\s+and\s+", authors)
    ]
    if len(found) > 3:
        return f"{found[0]} et al."
    return " and ".join(filter(None, [", ".join(found[:-1]), found[-1]]))
