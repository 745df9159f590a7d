"""Pages for those who do not see, do not point, or follow by keys: what the theme leaves out.

Ids that stand on a page twice are taken away where they are made. What the theme's templates lack,
names and landmarks above all, is put in when all pages are written. Exercises get a sign that links
to them, as theorems and figures have. tests/book/test_access.py asks axe-core of every page.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform

from lowdim.publish.site import boxes

if TYPE_CHECKING:
    from sphinx.application import Sphinx

SHARED = {"exercise-content", "solution-content", "proof-content"}  # one name for all of a kind

_SIDEBAR = re.compile(r'<div id="pst-primary-sidebar" (?!role)')
_UNFOLDS = re.compile(r"(<a [^>]*>((?:(?!</a>).)*)</a><details[^>]*>)<summary>", re.DOTALL)
_SIGN = re.compile(r'<a class="headerlink" (href="#[^"]*") title="([^"]*)">')
_LINES = re.compile(r"<dl>\s*((?:<dd>(?:(?!</?d[ld]>).)*</dd>\s*)+)</dl>", re.DOTALL)
_NAMELESS = re.compile(r"<th((?: [^<>]*)?)>\s*</th>")
_EXERCISE = re.compile(
    r'(<div class="(?:[^"]* )?exercise(?: [^"]*)?" id="([^"]+)">\s*<p class="admonition-title">)'
    r"((?:(?!</p>).)*)</p>",
    re.DOTALL,
)


def setup(app: Sphinx) -> None:
    """Register with Sphinx; pages are changed before what they load is put together."""
    app.add_transform(ClaimsFirst)
    app.add_post_transform(OwnIds)
    app.connect("build-finished", _mend, priority=940)


class ClaimsFirst(SphinxTransform):
    """Where a chapter's label is its claim's, the box has the id; the label leads to the title."""

    default_priority = 800  # after labels have become ids of what they precede

    def apply(self, **_: Any) -> None:
        """Change the page's tree."""
        taken = {
            name
            for node in self.document.findall(boxes.tag)
            if "lowdim-box" in node["classes"]
            for name in node["ids"]
        }
        for section in self.document.findall(nodes.section):
            own = [name for name in section["ids"] if name not in taken]
            if own and len(own) < len(section["ids"]):
                for label, place in list(self.document.nameids.items()):
                    if place in taken and place in section["ids"]:
                        self.document.nameids[label] = own[0]
                section["ids"] = own


class OwnIds(SphinxPostTransform):
    """Take from the insides of boxes the id that all of them have."""

    default_priority = 900

    def run(self, **_: Any) -> None:
        """Change the page's tree."""
        for section in self.document.findall(nodes.section):
            section["ids"] = [name for name in section["ids"] if name not in SHARED]


def _mend(app: Sphinx, problem: Exception | None) -> None:
    if problem is not None or app.builder.format != "html":
        return
    out = Path(app.outdir)
    for path in sorted(out.rglob("*.html")):
        if "_static" not in path.relative_to(out).parts:
            text = path.read_text(encoding="utf-8")
            if (made := mended(text)) != text:
                path.write_text(made, encoding="utf-8")


def mended(text: str) -> str:
    """A page with the names and landmarks that it lacked; a second time changes nothing.

    Examples
    --------
    >>> mended('<a href="x">Part <em>I</em></a><details><summary><i></i></summary>')[40:]
    '<summary aria-label="Chapters of Part I"><i></i></summary>'
    >>> mended('<h2>So<a class="headerlink" href="#so" title="Link to this heading">#</a></h2>')
    '<h2>So<a class="headerlink" href="#so" aria-label="Link to this heading">#</a></h2>'
    >>> mended("<dt>f(<dl><dd>a,</dd><dd>b</dd></dl>)</dt>")
    '<dt>f(<div class="sig-lines"><div>a,</div><div>b</div></div>)</dt>'
    >>> mended('<tr><th class="txt"></th><th>n</th></tr>')
    '<tr><td class="txt"></td><th>n</th></tr>'
    """
    text = _SIDEBAR.sub('<div id="pst-primary-sidebar" role="region" aria-label="The book" ', text)
    text = _UNFOLDS.sub(_named, text)
    text = _EXERCISE.sub(_with_sign, text)
    text = _LINES.sub(_without_terms, text)
    text = _NAMELESS.sub(r"<td\1></td>", text)  # a heading that says nothing heads nothing
    # The list of references has a list's role, and its entries one that no list may have.
    text = text.replace(' role="doc-biblioentry"', ' role="listitem"')
    return _SIGN.sub(r'<a class="headerlink" \1 aria-label="\2">', text)


def _named(match: re.Match[str]) -> str:
    name = " ".join(re.sub(r"<[^>]+>", "", match[2]).split()).replace('"', "&quot;")
    return f'{match[1]}<summary aria-label="Chapters of {name}">'


def _without_terms(match: re.Match[str]) -> str:
    """Parameters below one another, which Sphinx makes a list of definitions without a term."""
    lines = match[1].replace("<dd>", "<div>").replace("</dd>", "</div>").strip()
    return f'<div class="sig-lines">{lines}</div>'


def _with_sign(match: re.Match[str]) -> str:
    if "headerlink" in match[3]:
        return match[0]
    sign = f'<a class="headerlink" href="#{match[2]}" title="Link to this exercise">#</a>'
    return f"{match[1]}{match[3]}{sign}</p>"
