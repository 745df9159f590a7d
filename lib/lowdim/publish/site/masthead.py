"""The masthead of a chapter: what the paper says, what we find, what survives, before all else.

A ``{masthead}`` directive right after the title holds a definition list with the terms of
:data:`TERMS`. Beside it stands what the book knows: the verdicts of the main claims, the paper,
the minutes, the chapters that this one uses and those that use it, and the claims around its own
as a drawing, folded: the first picture of the chapter is to stand on the first screen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx import addnodes
from sphinx.util import logging

from lowdim.evidence.vocabulary import PARTS, claim_name, kind_of
from lowdim.publish import words
from lowdim.publish.directives import PREFIX, _Stating, badge_nodes
from lowdim.publish.site import book, graph, minutes
from lowdim.publish.site.boxes import element, main_claims
from lowdim.publish.source import first_heading

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

TERMS = {  # whether a chapter must have it
    "The paper says": True,
    "The papers say": False,  # in its place, where a chapter is about several
    "We find": True,
    "Smallest counterexample": False,
    "What survives": True,
    "You will learn": True,
}
FOLDED = ("You will learn",)  # on a phone, with the chapters around this one
BADGES = 3
GOALS = (2, 3)
GRAPH = "What its claims rest on, and what rests on them"
_TERM = re.compile(r"^(\S[^\n]*)\n(?=:[ \t])", re.MULTILINE)
logger = logging.getLogger(__name__)


def setup(app: Sphinx) -> None:
    """Register the directive, and the check that every chapter has one."""
    app.add_directive("masthead", Masthead)
    app.connect("env-check-consistency", _check)


def problems(text: str, *, where: str) -> list[str]:
    """What is wrong with the masthead of a chapter, a sentence each.

    Examples
    --------
    >>> print(*problems("# Weyl\\n\\nHow far?\\n", where="preserve/weyl"))
    preserve/weyl has no masthead: write ```{masthead}``` right after its title, with the terms \
The paper says, We find, What survives, You will learn.
    """
    found = [block for block in words.blocks(text) if block.name == "masthead"]
    if not found:
        needed = ", ".join(term for term, must in TERMS.items() if must)
        return [
            f"{where} has no masthead: write ```{{masthead}}``` right after its title, with the "
            f"terms {needed}."
        ]
    if len(found) > 1:
        return [f"{where} has {len(found)} mastheads; keep the first."]
    wrong = []
    if not re.search(r"^# [^\n]+\n\s*[`:]{3,}\{masthead\}", text, flags=re.MULTILINE):
        wrong.append(f"{where}: the masthead belongs right after the title; move it there.")
    terms = [term.strip() for term in _TERM.findall(found[0].body)]
    if unknown := [term for term in terms if term not in TERMS]:
        wrong.append(
            f"{where}: the masthead says {', '.join(unknown)}; its terms are {', '.join(TERMS)}."
        )
    there = {*terms, *(["The paper says"] if "The papers say" in terms else [])}
    if missing := [term for term, must in TERMS.items() if must and term not in there]:
        wrong.append(
            f"{where}: the masthead lacks {', '.join(missing)}; write the term on a line, and "
            "below it a colon and a sentence."
        )
    goals = [
        block.split(";") for block in re.findall(r"^You will learn\n: (.+)$", found[0].body, re.M)
    ]
    if any(len(items) not in GOALS for items in goals):
        wrong.append(f"{where}: name two or three things to learn, with a semicolon between them.")
    return wrong


def _check(app: Sphinx, env: BuildEnvironment) -> None:
    for name in book.of(app).chapters:
        text = Path(env.srcdir, PREFIX, f"{name}.md").read_text(encoding="utf-8")
        for problem in problems(text, where=f"notebooks/{name}.md"):
            logger.warning("%s", problem)


def references(text: str, labels: Mapping[str, str]) -> Iterator[str]:
    """The chapters that a text refers to; ``labels`` has the chapter of each label.

    Examples
    --------
    >>> text = "By {ref}`Weyl <weyl>`, and [so](weyl), and {value}`a/b::c`, and {ref}`none`."
    >>> list(references(text, {"weyl": "preserve/weyl"}))
    ['preserve/weyl', 'preserve/weyl', 'a/b']
    """
    for target in re.findall(r"\{(?:prf:)?(?:ref|numref|eq)\}`(?:[^`<]*<)?([^`>]+)>?`", text):
        if target in labels:
            yield labels[target]
    for target in re.findall(r"\]\(#?([^)\s]+)\)", text):
        if target in labels:
            yield labels[target]
        elif match := re.search(r"notebooks/(\w+/\w+)\.md", target):
            yield match[1]
    yield from re.findall(r"\{value\}`(\w+/\w+)::", text)


def labels_of(text: str) -> set[str]:
    """The labels that a chapter has.

    Examples
    --------
    >>> sorted(labels_of("(weyl)=\\n# Weyl\\n```{prf:lemma} L\\n:label: preserve.lemma-1\\n```\\n"))
    ['preserve.lemma-1', 'weyl']
    """
    written = re.findall(r"^\(([^)\s]+)\)=", text, flags=re.MULTILINE)
    given = re.findall(r"^\s*(?::label:|:?name:)\s*(\S+)", text, flags=re.MULTILINE)
    return {*written, *given}


@dataclass(frozen=True)
class Around:
    """The chapters around one, each list in the order of the book.

    ``uses`` and ``used_in`` are what claims say they use; ``see_also`` is what the text refers to
    beside these.
    """

    uses: Sequence[str] = ()
    used_in: Sequence[str] = ()
    see_also: Sequence[str] = ()


def around(made: book.Book, root: Path) -> Mapping[str, Around]:
    """For each chapter those around it.

    Examples
    --------
    >>> around(book.Book({}, {}), Path("nowhere"))
    {}
    """
    order = list(made.chapters)
    texts = {name: (root / PREFIX / f"{name}.md").read_text(encoding="utf-8") for name in order}
    labels = {label: name for name, text in texts.items() for label in labels_of(text)}
    uses: dict[str, set[str]] = {name: set() for name in order}
    for claim in made.claims.values():
        uses[claim.chapter] |= {made.claims[u].chapter for u in claim.uses if u in made.claims}
    found = {}
    for name, text in texts.items():
        used_in = {other for other in order if name in uses[other]}
        also = set(references(text, labels)) - uses[name] - used_in
        lists = (
            tuple(other for other in order if other in kept and other != name)
            for kept in (uses[name], used_in, also)
        )
        found[name] = Around(*lists)
    return found


def short(title: str) -> str:
    """What a chapter is called among its neighbours.

    Examples
    --------
    >>> short("Part III, Lemma 3.1 — weights that training cannot see")
    'Lemma 3.1'
    """
    return re.sub(r"^Part [IV]+, ", "", re.split(r"\s+[—–]\s+", title)[0])


def _around(app: Sphinx, chapter: str) -> Around:
    kept = getattr(app, "_lowdim_around", None)
    if kept is None:
        kept = around(book.of(app), Path(app.srcdir))
        app._lowdim_around = kept  # type: ignore[attr-defined]  # as long as the build
    return kept[chapter]


class Masthead(_Stating):
    """The definition list of a chapter, with what is generated around it."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """A section with the facts, the claims, the list, and what a phone folds."""
        body = nodes.Element()
        self.state.nested_parse(self.content, self.content_offset, body)
        items = [
            item
            for item in body.findall(nodes.definition_list_item)
            if item.parent.parent is body  # and not of a list within a definition
        ]
        shown = [item for item in items if item[0].astext() not in FOLDED]
        more = [item for item in items if item[0].astext() in FOLDED]
        env_book = book.of(self.env.app)
        chapter = env_book.chapters.get(self.chapter)
        if chapter:
            near = _around(self.env.app, self.chapter)
            more += _links("Uses", near.uses, env_book)
            more += _links("Used in", near.used_in, env_book)
            more += _links("See also", near.see_also, env_book)
        made = element("section", classes=["lowdim-masthead"], aria_label="This chapter in short")
        made += self.facts()
        made += self.claims()
        made += nodes.definition_list("", *shown, classes=["masthead-list"])
        if more:
            around = ", and the chapters around this one" if len(more) > len(FOLDED) else ""
            title = f"What you will learn{around}"
            made += element(
                "details",
                element("summary", nodes.Text(title)),
                nodes.definition_list("", *more, classes=["masthead-list"]),
                classes=["masthead-more"],
                open="",
            )
        if chapter and (drawn := graph.neighbourhood(env_book, self.chapter)):
            made += element(
                "details",
                element("summary", nodes.Text(GRAPH)),
                nodes.raw("", drawn, format="html"),
                self.whole_graph(),
                classes=["masthead-graph"],
            )
        self.set_source_info(made)
        return [made]

    def whole_graph(self) -> nodes.Node:
        """What the signs mean, and where all claims are drawn."""
        line = nodes.paragraph(
            "",
            "An arrow points from a claim to what uses it. A dashed frame: it rests on "
            "something refuted or not reproduced. ",
        )
        if "book/graph" in self.env.found_docs:
            line += [
                _link("book/graph", "The whole graph, its signs and its table"),
                nodes.Text("."),
            ]
        return line

    def facts(self) -> nodes.Node:
        """Part, paper and minutes in one line."""
        text = Path(self.env.doc2path(self.env.docname)).read_text(encoding="utf-8")
        pieces: list[list[nodes.Node]] = []
        part = self.chapter.partition("/")[0]
        if part in PARTS:
            docname = f"book/{part}"
            known = docname in self.env.found_docs
            name = PARTS[part]
            pieces.append([_link(docname, name) if known else nodes.Text(name)])
        if key := paper(text, part):
            title = _title(Path(self.env.srcdir), key)
            cited = self.inline(f"{{cite}}`{key}`")
            quoted = [nodes.emphasis("", title), nodes.Text(", ")] if title else []
            pieces.append([*quoted, *cited])
        if text.startswith("---\njupytext"):
            pieces.append([nodes.Text(pace(*minutes.of_text(text)))])
        line = element("p", classes=["masthead-facts"])
        for number, piece in enumerate(pieces):
            line += ([nodes.Text(" · ")] if number else []) + [element("span", *piece)]
        return line

    def claims(self) -> nodes.Node:
        """The main claims with their verdicts, each a link to its box; then how many more."""
        text = Path(self.env.doc2path(self.env.docname)).read_text(encoding="utf-8")
        ruled = {claim["id"]: claim for claim in self.record["claims"]}
        stated = _in_order(text, self.chapter.partition("/")[0], ruled)
        main = main_claims(stated, first_heading(text) or "", many=2)
        main = [*main, *(claim for claim in stated if claim not in main)][:BADGES]
        line = element("p", classes=["masthead-claims"])
        for claim in main:
            name = claim_name(claim)
            link = nodes.reference("", name, refid=claim, internal=True)
            line += element("span", link, nodes.Text(" "), *badge_nodes(ruled[claim], claim))
            line += nodes.Text(" ")
        if rest := len(stated) - len(main):
            line += nodes.reference("", f"and {rest} more", refid="verdict", internal=True)
        return line


def _in_order(text: str, part: str, ruled: Mapping[str, Any]) -> list[str]:
    try:
        stated = list(words.read(text, part=part).statements)
    except words.WordsError:  # told elsewhere
        stated = []
    return [claim for claim in stated if claim in ruled] or list(ruled)


def pace(read: int, proofs: int) -> str:
    """How long a chapter takes, as its masthead says it.

    Examples
    --------
    >>> pace(1, 0).replace("\N{NO-BREAK SPACE}", " ")
    '1 minute to read'
    >>> pace(30, 10).replace("\N{NO-BREAK SPACE}", " ")
    '30 minutes to read, 10 more to follow the proofs'
    """
    space = "\N{NO-BREAK SPACE}"
    more = f", {proofs}{space}more to follow the proofs" if proofs else ""
    return f"{read}{space}minute{'' if read == 1 else 's'} to read{more}"


def paper(text: str, part: str) -> str:
    """The key of the paper that the chapter's first printed claim is from.

    Examples
    --------
    >>> text = "```{claim} lemma-1\\n:source: {cite}`weyl1912`\\nIt is so.\\n```\\n"
    >>> paper(text, "preserve")
    'weyl1912'
    """
    try:
        statements = words.read(text, part=part).statements
    except words.WordsError:
        return ""
    for claim, statement in statements.items():
        if kind_of(claim) != "new" and (cited := re.search(r"\{cite\}`(\w+)`", statement.source)):
            return cited[1]
    return ""


def _title(root: Path, key: str) -> str:
    """The title of a paper, from the list of references."""
    path = root / "book" / "references.bib"
    path = path if path.is_file() else root / "references.bib"
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    entry = re.search(rf"@\w+\{{{key},(.*?)(?=^@|\Z)", text, flags=re.DOTALL | re.MULTILINE)
    title = re.search(r"\btitle\s*=\s*\{(.*?)\}\s*,?\s*(?:$|,)", entry[1], re.M) if entry else None
    return re.sub(r"[{}]", "", title[1]) if title else ""


def _link(docname: str, name: str) -> addnodes.pending_xref:
    return addnodes.pending_xref(
        "",
        nodes.inline("", name),
        refdomain="std",
        reftype="doc",
        reftarget=f"/{docname}",
        refexplicit=True,
        refwarn=True,
    )


def _links(term: str, names: Sequence[str], made: book.Book) -> list[nodes.definition_list_item]:
    if not names:
        return []
    line = nodes.paragraph()
    for number, name in enumerate(names):
        if number:
            line += nodes.Text(" · ")
        chapter = made.chapters[name]
        line += _link(chapter.docname, short(chapter.title))
    return [
        nodes.definition_list_item("", nodes.term("", term), nodes.definition("", line)),
    ]
