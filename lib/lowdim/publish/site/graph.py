"""The graph of claims: what each of them rests on, and drawings of it as linked SVG.

A claim *uses* another if its statement or its proof does: the paper's proof, or ours where the
claim was repaired or is new. What rests, directly or through others, on something refuted or not
reproduced is *shaken*. :func:`neighbourhood` draws what surrounds a chapter, and
:mod:`lowdim.publish.site.graphpage` puts the drawings on pages.
"""

from __future__ import annotations

import html
import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lowdim.evidence.vocabulary import PARTS, TONES
from lowdim.publish import words
from lowdim.publish.execute import toc_chapters
from lowdim.publish.site import layout
from lowdim.publish.site.book import Book, Claim

if TYPE_CHECKING:
    from pylatexenc.latex2text import LatexNodes2Text

WIDE, NARROW = 720, 340
"""Widths of the two drawings of a part: for a laptop, and for a phone."""
BOOK = 960
"""Width of the drawing of the whole book."""
FALLEN = ("refuted", "not-reproduced")
SHORT = {
    "Theorem": "Thm", "Lemma": "Lemma", "Proposition": "Prop.", "Corollary": "Cor.",
    "Definition": "Def.", "Equation": "Eq.", "Section": "§", "Appendix": "App.",
    "Figure": "Fig.", "Table": "Table", "Remark": "Rem.",
}  # fmt: skip
SIZE = 12.0  # of letters, in pixels
LETTERS = {"ijl.,:()' ": 0.3, "frt-": 0.36, "mwMW": 0.9, "ABCDEFGHIJKLNOPQRSTUVXYZ§": 0.7}
"""How wide letters are against their size, at the most, in the fonts that pages use."""
MARK = 15.0  # what the sign of the verdict takes
BAND = 30.0  # between the bands of two parts, and for a name


@dataclass(frozen=True)
class Graph:
    """Claims and what they use, both within this graph and in the order of the book."""

    claims: Mapping[str, Claim]
    uses: Mapping[str, tuple[str, ...]]

    @cached_property
    def used_by(self) -> Mapping[str, tuple[str, ...]]:
        """For each claim the claims that use it."""
        found: dict[str, list[str]] = {name: [] for name in self.claims}
        for name, used in self.uses.items():
            for other in used:
                found[other].append(name)
        return {name: tuple(users) for name, users in found.items()}

    @cached_property
    def edges(self) -> list[layout.Edge]:
        """From what is used to what uses it."""
        return [(used, name) for name in self.claims for used in self.uses[name]]

    @cached_property
    def alone(self) -> list[str]:
        """Claims that neither use another nor are used: listed beside a drawing, not in it."""
        return [name for name in self.claims if not self.uses[name] and not self.used_by[name]]

    @cached_property
    def shaken(self) -> Mapping[str, tuple[str, ...]]:
        """What rests on something refuted or not reproduced, with what that is."""
        found = {}
        for name in self.claims:
            below = self.foundations(name)
            fallen = tuple(b for b in below if self.claims[b].verdict in FALLEN)
            if fallen:
                found[name] = fallen
        return found

    def foundations(self, name: str) -> list[str]:
        """All that a claim rests on, directly or through others, in the order of the book."""
        found: set[str] = set()
        todo = [name]
        while todo:
            new = set(self.uses[todo.pop()]) - found
            found |= new
            todo += new
        return [other for other in self.claims if other in found]

    def part(self, names: Iterable[str]) -> Graph:
        """The same graph with these claims alone."""
        kept = set(names)
        claims = {name: claim for name, claim in self.claims.items() if name in kept}
        return Graph(claims, {n: tuple(u for u in self.uses[n] if u in kept) for n in claims})


def of(book: Book) -> Graph:
    """The graph of a book; what has no record is left out, as in the book itself.

    Examples
    --------
    >>> of(Book({}, {})).edges
    []
    """
    claims = book.claims
    uses = {
        name: tuple(other for other in claims if other in claim.uses)
        for name, claim in claims.items()
    }
    return Graph(claims, uses)


def check(root: Path) -> None:
    """Whether what the chapters under ``root`` say they use exists, and makes no circle.

    Raises
    ------
    WordsError
        With a sentence for each name that no chapter states, and for a circle.

    Examples
    --------
    >>> check(Path("nowhere"))
    """
    chapters = toc_chapters(root) if (root / "_toc.yml").is_file() else []
    statements = {
        name: statement
        for chapter in chapters
        for name, statement in words.of_chapter(root, chapter).statements.items()
    }
    if problems := words.uses_problems(statements):
        raise words.WordsError("\n".join(problems))


def short(claim: Claim) -> str:
    """A name for a node.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> [short(SimpleNamespace(name=name)) for name in ("Theorem 3.1, closeness", "New: gates")]
    ['Thm 3.1, closeness', 'gates']
    """
    name = claim.name.removeprefix("New: ")
    kind, _, rest = name.partition(" ")
    if kind == "Equation":
        number, comma, more = rest.partition(", ")
        return f"Eq. ({number}){comma}{more}"
    return f"{SHORT[kind]} {rest}".replace("§ ", "§") if kind in SHORT else name


@cache
def plain(text: str) -> str:
    r"""A line of Markdown with mathematics, as plain text for where nothing is typeset.

    Examples
    --------
    >>> plain(r"$\tan\theta\le\frac{a+b}2$ for *all* `Y`, $\|x^{1/2}\|$.")
    'tanθ≤(a+b)/2 for all Y, ‖x^(1/2)‖.'
    """
    bare = re.sub(r"\{[\w:]+\}`([^`<]*?)\s*(?:<[^`]*>)?`", r"\1", text)
    shown = [
        _formula(piece) if piece.startswith("$") else re.sub(r"[*`]", "", piece)
        for piece in re.split(r"(\$+[^$]+\$+)", bare)
    ]
    return " ".join("".join(shown).split())


def _formula(source: str) -> str:
    # The converter knows no sign for a norm, and drops braces that hold a power together.
    for sign, kept in zip((r"\|", r"\,", r"\;", r"\{", r"\}"), "‖  \ue000\ue001", strict=True):
        source = source.replace(sign, kept)
    source = re.sub(r"\\operatorname\*?\{(\w+)\}", r" \1 ", source)
    said = _converter().latex_to_text(source).replace("{", "(").replace("}", ")")
    said = re.sub(r"([_^])\((\w+)\)", r"\1\2", said)
    return said.replace("\ue000", "{").replace("\ue001", "}")


@cache
def _converter() -> LatexNodes2Text:
    from pylatexenc import latex2text

    def fraction(node: Any, l2tobj: LatexNodes2Text) -> str:
        parts = [l2tobj.nodelist_to_text([part]).strip("{}") for part in node.nodeargd.argnlist]
        return "/".join(f"({part})" if re.search(r"[-+ /]", part) else part for part in parts)

    known = latex2text.get_default_latex_context_db()
    kinds = [latex2text.MacroTextSpec(f"{kind}frac", fraction) for kind in ("", "t", "d")]
    known.add_context_category("fractions", prepend=True, macros=kinds)
    return latex2text.LatexNodes2Text(
        latex_context=known, math_mode="text", keep_braced_groups=True, keep_braced_groups_minlen=2
    )


def title(graph: Graph, claim: Claim) -> str:
    """What a node says of itself: name, verdict, statement, and whether its ground has fallen.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> claim = SimpleNamespace(id="a", name="Lemma 1", verdict="holds", tags=(), says="$a<b$.")
    >>> title(Graph({"a": claim}, {"a": ()}), claim)
    'Lemma 1: holds. a<b.'
    """
    tags = "".join(f", {tag}" for tag in claim.tags)
    said = f"{claim.name}: {claim.verdict}{tags}. {plain(claim.says).rstrip('.')}."
    if fallen := graph.shaken.get(claim.id):
        names = ", ".join(graph.claims[name].name for name in fallen)
        said += f" Rests on something refuted or not reproduced: {names}."
    return said


def link(claim: Claim, here: str) -> str:
    """The address of a claim's statement, seen from the page ``here``.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> link(SimpleNamespace(docname="notebooks/a/b", anchor="a-lemma-1"), "book/graph")
    '../notebooks/a/b.html#a-lemma-1'
    """
    page = posixpath.relpath(f"{claim.docname}.html", posixpath.dirname(here) or ".")
    return f"{page}#{claim.anchor}"


def draw(graph: Graph, *, whole: Graph, here: str, room: float, label: str, own: str = "") -> str:
    """A drawing of ``graph`` as SVG, for the page ``here``, about ``room`` wide.

    ``whole`` is the graph of the book, which says what is shaken. Claims of the chapter ``own``
    stand out. Pieces of several parts are in bands, each part's under its name. Without a claim
    that uses another the drawing is empty.

    Examples
    --------
    >>> empty = Graph({}, {})
    >>> draw(empty, whole=empty, here="book/graph", room=WIDE, label="Nothing")
    ''
    """
    drawn = [name for name in graph.claims if name not in graph.alone]
    bands: dict[str, list[str]] = {}
    for piece in layout.components(drawn, graph.edges):
        bands.setdefault(graph.claims[piece[0]].part, []).extend(piece)
    edges, nodes = [], []
    wide, top = room, 0.0
    for part, names in bands.items():
        if len(bands) > 1:
            nodes.append(f'<text class="band" x="0" y="{top + 16:g}">{PARTS[part]}</text>')
            top += BAND
        mixed = any(graph.claims[name].part != part for name in names)
        texts = {name: _text(graph.claims[name], mixed) for name in graph.claims if name in names}
        widths = {name: round(width(text) + MARK + 16, 1) for name, text in texts.items()}
        made = layout.plan(widths, [edge for edge in graph.edges if edge[0] in texts], room)
        for (a, b), way in made.routes.items():
            curve = _curve([(x, y + top) for x, y in way])
            edges.append(f'<path class="edge" data-from="{a}" data-to="{b}" d="{curve}"/>')
        for name in made.order():
            x, y = made.corners[name]
            node = _node(whole, graph.claims[name], texts[name], widths[name], here, own)
            nodes.append(f'<g transform="translate({x:.1f} {y + top:.1f})">{node}</g>')
        wide, top = max(wide, made.width), top + made.height + BAND
    if not edges:
        return ""
    size = f'viewBox="-2 -2 {wide + 4:g} {top - BAND + 4:g}" width="{wide + 4:g}"'
    head = f'<svg class="claim-graph" {size} role="group" aria-label="{html.escape(label)}">'
    return "\n".join([head, *edges, *nodes, "</svg>"])


def width(text: str) -> float:
    """How wide a node's text is, about: no font is at hand.

    Examples
    --------
    >>> width("mm") > width("ii")
    True
    """
    shares = {letter: share for letters, share in LETTERS.items() for letter in letters}
    return SIZE * sum(shares.get(letter, 0.58) for letter in text)


def _text(claim: Claim, mixed: bool) -> str:
    number = PARTS[claim.part].partition(":")[0].removeprefix("Part ")
    return f"{number} · {short(claim)}" if mixed else short(claim)


def _curve(way: Sequence[layout.Point]) -> str:
    """A path through the points, upright at each of them, that ends just above the last."""
    (x, y), *rest = way
    said = f"M{x:.1f} {y:.1f}"
    for i, (to_x, to_y) in enumerate(rest):
        end = to_y - (4 if i == len(rest) - 1 else 0)  # room for the arrow
        half = (y + end) / 2
        if abs(to_x - x) < 0.05:
            said += f"V{end:.1f}"
        else:
            said += f"C{x:.1f} {half:.1f} {to_x:.1f} {half:.1f} {to_x:.1f} {end:.1f}"
        x, y = to_x, to_y
    return f"{said}m-3 -3.5l3 5l3 -5"


SIGNS = {
    "good": "M-4 0l3 3l5 -6",  # a tick
    "warn": "M0 -4l4.2 7.4h-8.4z",  # a triangle
    "bad": "M-3.5 -3.5l7 7M-3.5 3.5l7 -7",  # a cross
    "open": "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z",  # a ring
}
"""What tells the tone of a verdict without its colour."""


def _node(graph: Graph, claim: Claim, text: str, width: float, here: str, own: str) -> str:
    classes = ["node", f"tone-{TONES[claim.verdict]}"]
    classes += ["new"] * claim.ours + ["shaken"] * (claim.id in graph.shaken)
    classes += ["own"] * (claim.chapter == own)
    said = html.escape(title(graph, claim), quote=False)
    round_ = layout.HEIGHT / 2 if claim.ours else 4
    return (
        f'<a class="{" ".join(classes)}" href="{html.escape(link(claim, here))}" '
        f'data-claim="{claim.id}"><title>{said}</title>'
        f'<rect width="{width:g}" height="{layout.HEIGHT:g}" rx="{round_:g}"/>'
        f'<path class="sign" transform="translate(13 {layout.HEIGHT / 2:g})" '
        f'd="{SIGNS[TONES[claim.verdict]]}"/>'
        f'<text x="{MARK + 7:g}" y="16">{html.escape(text)}</text></a>'
    )


def figure(
    graph: Graph, *, whole: Graph, here: str, label: str, own: str = "", room: float = WIDE
) -> str:
    """Two drawings of a graph, wide and narrow, of which a page shows the one that fits.

    Examples
    --------
    >>> figure(Graph({}, {}), whole=Graph({}, {}), here="book/graph", label="Nothing")
    ''
    """
    wide, narrow = (
        draw(graph, whole=whole, here=here, room=width, label=label, own=own)
        for width in (room, NARROW)
    )
    if not wide:
        return ""
    return (
        f'<figure class="claim-figure"><div class="claim-wide">{wide}</div>'
        f'<div class="claim-narrow">{narrow}</div></figure>'
    )


def neighbourhood(book: Book, chapter: str) -> str:
    """What surrounds a chapter: its claims, what they use, what uses them; for its own page.

    Empty where its claims neither use another nor are used.

    Examples
    --------
    >>> from lowdim.publish.site.book import Chapter
    >>> weyl = Chapter("preserve/weyl", "Weyl", (), {})
    >>> neighbourhood(Book({"preserve/weyl": weyl}, {}), "preserve/weyl")
    ''
    """
    graph = of(book)
    own = book.chapters[chapter].claims
    near = {name for claim in own for name in (*graph.uses[claim], *graph.used_by[claim])}
    kept = graph.part({*own, *near})
    # An edge between two claims of other chapters is another page's matter.
    uses = {
        name: tuple(u for u in used if name in own or u in own) for name, used in kept.uses.items()
    }
    return figure(
        Graph(kept.claims, uses),
        whole=graph,
        here=book.chapters[chapter].docname,
        label="What the claims of this chapter rest on, and what rests on them",
        own=chapter,
    )
