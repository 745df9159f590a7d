r"""A search that finds claims first, in place of the theme's.

While pages are built what is found on them is collected: claims, symbols, exercises, headings, and
the prose of each section, without code. :func:`index` and :func:`texts` write it as two script
files, which ``js/search.js`` loads when somebody begins to search: a script may be loaded where a
page is opened from disk, data may not. The first has all but the prose and is small, so that
answers come at once; the second adds the prose. Formulas are kept as ``$TeX$``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx import addnodes

from lowdim.evidence.vocabulary import PARTS, TAGS, VERDICTS
from lowdim.publish.site import book

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.config import Config

INDEX, TEXTS = "search-index.js", "search-texts.js"
LONG = 60  # characters of a formula; a longer one helps nobody in a snippet of prose
TEMPLATES = Path("book", "_templates")
NOTATION = "book/notation"
# What the theme loads on every page for the search that this one replaces.
THEIRS = ("_static/searchtools.js", "_static/language_data.js", "searchindex.js")
_SCRIPT = re.compile(
    r"[ \t]*<script src=\"[^\"]*(?:" + "|".join(map(re.escape, THEIRS)) + r")[^\"]*\"></script>\n?"
)
_SILENT = (
    nodes.literal_block, nodes.raw, nodes.math_block, nodes.image, nodes.comment, nodes.target,
    nodes.system_message, nodes.substitution_definition,
)  # fmt: skip
_BLOCKS = (
    nodes.paragraph, nodes.caption, nodes.term, nodes.title, nodes.list_item, nodes.entry,
    nodes.math_block, nodes.line,
)  # fmt: skip
# Boxes whose words are found elsewhere in the index, or would give something away.
_ELSEWHERE = {"lowdim-kept", "lowdim-table", "cell_input", "lowdim-footer"}

# Pages made of what stands elsewhere too; their headings are enough.
_TWICE = ("book/api", "book/errata", "book/ledger", "book/reported", "book/status")


@dataclass
class Page:
    """What is searched on one page: sections, exercises, and where its claims are stated."""

    title: str = ""
    sections: list[tuple[str, str, str]] = field(default_factory=list)
    exercises: list[tuple[str, str, str]] = field(default_factory=list)
    symbols: list[tuple[str, str, str, str]] = field(default_factory=list)
    names: list[tuple[str, str]] = field(default_factory=list)
    places: dict[str, str] = field(default_factory=dict)


def setup(app: Sphinx) -> None:
    """Register with Sphinx; only in the book itself, not for the page of a single run."""
    if not (Path(app.confdir) / TEMPLATES / "search.html").is_file():
        return
    collected = Collected()
    app.connect("config-inited", _own_page)
    app.connect("builder-inited", _no_other_index)
    app.connect("doctree-read", _name_symbols)
    app.connect("doctree-resolved", collected.read)
    app.connect("html-page-context", _say_where)
    app.connect("build-finished", collected.write)


class Collected:
    """The pages of a build, by their names."""

    def __init__(self) -> None:
        self.pages: dict[str, Page] = {}

    def read(self, app: Sphinx, doctree: nodes.document, docname: str) -> None:
        """Take what is searched from a page that is about to be written."""
        page = page_of(doctree, claims=book.of(app).claims, docname=docname)
        numbers = app.env.toc_fignumbers.get(docname, {}).get("exercise", {})
        page.exercises = [
            (place, " ".join(["Exercise", ".".join(map(str, numbers.get(place, ())))]), words)
            for place, _, words in page.exercises
        ]
        self.pages[docname] = page

    def write(self, app: Sphinx, problem: Exception | None) -> None:
        """Write the index, and take out what the theme's own search would have needed."""
        if problem is not None or app.builder.format != "html":
            return
        out = Path(app.outdir)
        pages = {name: self.pages[name] for name in _in_order(app) if name in self.pages}
        (out / "_static" / INDEX).write_text(index(book.of(app), pages), encoding="utf-8")
        (out / "_static" / TEXTS).write_text(texts(pages), encoding="utf-8")
        for name in THEIRS:
            (out / name).unlink(missing_ok=True)
        for path in sorted(out.rglob("*.html")):
            if "_static" not in path.relative_to(out).parts:
                text = path.read_text(encoding="utf-8")
                slim = _SCRIPT.sub("", text)
                if slim != text:
                    path.write_text(slim, encoding="utf-8")


def _own_page(app: Sphinx, config: Config) -> None:
    config["templates_path"] = [*config["templates_path"], str(TEMPLATES)]
    config["html_additional_pages"] = {**config["html_additional_pages"], "search": "search.html"}


def _no_other_index(app: Sphinx) -> None:
    app.builder.search = False  # type: ignore[attr-defined]  # of builders of HTML


def _say_where(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    # The script asks the page where the index is, and leaves pages without one alone.
    where = context["pathto"](f"_static/{INDEX}", 1)
    formulas = context["pathto"](f"_static/{app.config.mathjax_path}", 1)
    context["metatags"] = (
        context.get("metatags", "")
        + f'<meta name="lowdim-search" content="{where}" />\n'
        + f'<meta name="lowdim-mathjax" content="{formulas}" />\n'
    )


def _in_order(app: Sphinx) -> list[str]:
    """The pages as a reader turns them; those outside of the contents at the end."""
    order: list[str] = []
    waiting = [app.config.root_doc]
    while waiting:
        name = waiting.pop(0)
        if name not in order:
            order.append(name)
            waiting = [*app.env.toctree_includes.get(name, []), *waiting]
    return [*order, *sorted(set(app.env.found_docs) - set(order))]


def _name_symbols(app: Sphinx, doctree: nodes.document) -> None:
    """Give each row of the tables of symbols a place of its own, so that links can lead to it."""
    if app.env.docname != NOTATION:
        return
    taken: set[str] = set()
    for row in _symbol_rows(doctree):
        name = slug(_text(row[0]))
        while name in taken:
            name += "-again"
        taken.add(name)
        row["ids"] = [name]


def slug(symbol: str) -> str:
    r"""The place of a symbol on the page of notation, from its TeX.

    Examples
    --------
    >>> slug(r"$\sigma_i(A)$"), slug(r"$\lVert\cdot\rVert_2$")
    ('symbol-sigma-i-a', 'symbol-lvert-cdot-rvert-2')
    """
    words = re.findall(r"[a-z0-9]+", symbol.lower())
    return "-".join(["symbol", *words])


def _symbol_rows(doctree: nodes.document) -> Iterator[nodes.row]:
    for body in doctree.findall(nodes.tbody):
        yield from (row for row in body.children if isinstance(row, nodes.row))


def page_of(
    doctree: nodes.document, *, claims: Mapping[str, book.Claim], docname: str = ""
) -> Page:
    """What is searched on the page of ``doctree``; ``claims`` are those that are indexed apart.

    Examples
    --------
    >>> from docutils.core import publish_doctree
    >>> page_of(publish_doctree("A title\\n=======\\n\\nWords.\\n"), claims={}).exercises
    []
    """
    page = Page()
    for section in doctree.findall(nodes.section):
        title = section.next_node(nodes.title)
        if title is None or title.parent is not section:
            continue  # the inside of a theorem or an exercise
        heading = _text(title)
        page.title = page.title or heading
        prose = " ".join(filter(None, _prose(section, page, claims)))
        page.sections.append((section["ids"][0], heading, prose))
    if docname == NOTATION:
        page.symbols = list(_symbols(doctree))
    if docname.startswith(_TWICE):
        page.sections = [(place, heading, "") for place, heading, _ in page.sections]
    return page


def _symbols(doctree: nodes.document) -> Iterator[tuple[str, str, str, str]]:
    """Each row of the tables of symbols: its place, the symbol, what it means, in which part."""
    for row in _symbol_rows(doctree):
        head = row.parent.parent.next_node(nodes.thead)
        first = head.next_node(nodes.entry) if head is not None else None
        part = _text(first) if first is not None else ""
        cells = [_text(cell) for cell in row.children]
        meaning = "; ".join(filter(None, cells[1:]))
        yield row["ids"][0], cells[0], meaning, part if part.startswith("Part") else ""


def _prose(node: nodes.Element, page: Page, claims: Mapping[str, book.Claim]) -> Iterator[str]:
    """The text under ``node`` down to the next section; boxes that are indexed apart are noted."""
    for child in node.children:
        if not isinstance(child, nodes.Element) or isinstance(child, (*_SILENT, nodes.section)):
            continue
        kind = child.tagname
        classes: set[str] = set(child.get("classes", ()))
        stated = [name for name in (child.get("label"), *child.get("ids", ())) if name in claims]
        if stated:  # its box, whatever has made it
            page.places[stated[0]] = child["ids"][0]
        elif kind.startswith("exercise"):
            page.exercises.append((child["ids"][0], *_exercise(child)))
        elif isinstance(child, addnodes.desc):
            page.names += _names(child)
        elif isinstance(child, nodes.title) or kind.startswith("solution") or classes & _ELSEWHERE:
            continue
        elif isinstance(child, (nodes.table, nodes.container, nodes.figure)) or _inside(child):
            yield from _prose(_opened(child), page, claims)
        else:
            yield _text(child)


def _inside(node: nodes.Element) -> bool:
    return any(isinstance(child, (nodes.container, nodes.section)) for child in node.children)


def _opened(node: nodes.Element) -> nodes.Element:
    """A box as one list of what is in it: sections inside a proof are no sections of the page."""
    opened = nodes.Element()
    for child in node.children:
        grand = child.children if isinstance(child, nodes.section) else [child]
        opened.children += grand
    return opened


def _exercise(node: nodes.Element) -> tuple[str, str]:
    """The name and the first words of an exercise."""
    titles = [title for title in node.children if isinstance(title, nodes.title)]
    words = " ".join(_text(child) for child in node.children if child not in titles)
    name = " ".join(_text(title) for title in titles)
    return name or "Exercise", first_words(words.strip())


def _names(node: addnodes.desc) -> Iterator[tuple[str, str]]:
    """The functions and classes that a reference describes here: their module and their name."""
    for signature in node.children:
        if isinstance(signature, addnodes.desc_signature) and signature["ids"]:
            module, _, name = signature["ids"][0].rpartition(".")
            yield module, name


def _text(node: nodes.Node) -> str:
    """The words of a node on one line, with formulas between dollars."""
    return " ".join(_gathered(node).split())


def _gathered(node: nodes.Node) -> str:
    if isinstance(node, nodes.Text):
        return node.astext()
    if isinstance(node, nodes.math):
        return f"${node.astext()}$"
    if isinstance(node, _SILENT):
        return " "
    if isinstance(node, nodes.Element) and "lowdim-kept" in node.get("classes", ()):
        return " "
    inner = "".join(_gathered(child) for child in node.children)
    return f" {inner} " if isinstance(node, _BLOCKS) else inner


def first_words(text: str, most: int = 160) -> str:
    r"""The beginning of a text, cut between words and never inside a formula.

    Examples
    --------
    >>> first_words("Let $x = 1$ and more", 8)
    'Let …'
    >>> first_words("Short.", 8)
    'Short.'
    """
    if len(text) <= most:
        return text
    cut = text[:most]
    if cut.count("$") % 2:
        cut = cut[: cut.rindex("$")]
    return cut[: cut.rfind(" ")].rstrip(" ,;") + " …" if " " in cut else "…"


def plain(markdown: str) -> str:
    r"""A statement without the marks of Markdown; formulas stay, between single dollars.

    Examples
    --------
    >>> plain("By {ref}`the flow <x-flow>` **all** of $a_*$ and `b_*`\n\n$$x^2$$ (x-square)")
    'By the flow all of $a_*$ and b_* $x^2$'
    """
    markdown = re.sub(r"(\$\$) *\([\w.:-]+\)(?=\s|$)", r"\1", markdown)  # the label of an equation
    text = re.sub(r"\{[\w:-]+\}`([^`<]*?)(?:\s*<[^`>]*>)?`", r"\1", markdown)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text).replace("$$", "$")
    pieces = re.split(r"(\$[^$]*\$|`[^`]*`)", text)
    pieces[::2] = [re.sub(r"\*+|\\(?=[\W_])", "", piece) for piece in pieces[::2]]
    pieces[1::2] = [piece.strip("`") for piece in pieces[1::2]]
    return " ".join("".join(pieces).split())


def index(made: book.Book, pages: Mapping[str, Page]) -> str:
    """Everything but the prose, as a script that sets ``lowdimIndex``; one line for each thing.

    Examples
    --------
    >>> index(book.Book({}, {}), {"a": Page(title="A page")}).count("A page")
    1
    """
    number = {name: at for at, name in enumerate(pages)}
    claims = [
        [
            claim.id, claim.name, plain(claim.title), plain(claim.says), plain(claim.body),
            number[claim.docname], pages[claim.docname].places.get(claim.id, claim.anchor),
            claim.verdict, list(claim.tags),
        ]
        for claim in made.claims.values()
        if claim.docname in number
    ]  # fmt: skip
    lists: dict[str, Sequence[Any]] = {
        "pages": [[f"{name}.html", page.title, _part(name)] for name, page in pages.items()],
        "claims": claims,
        "notation": [[number[n], *row] for n, page in pages.items() for row in page.symbols],
        "exercises": [[number[n], *row] for n, page in pages.items() for row in page.exercises],
        "sections": [[number[n], *row[:2]] for n, page in pages.items() for row in page.sections],
        "names": [[number[n], *row] for n, page in pages.items() for row in _by_module(page)],
    }
    meanings = {"parts": PARTS, "meanings": {**VERDICTS, **TAGS}}
    shown = [f'"{name}": {_compact(value)}' for name, value in meanings.items()]
    for name, rows in lists.items():
        shown.append(f'"{name}": [\n' + ",\n".join(map(_compact, rows)) + "\n]")
    return "window.lowdimIndex = {\n" + ",\n".join(shown) + "\n};\n"


def texts(pages: Mapping[str, Page]) -> str:
    """The prose of the sections, in the order of the index, as a script that sets ``lowdimTexts``.

    Examples
    --------
    >>> texts({"a": Page(sections=[("top", "Top", "Some prose.")])})
    'window.lowdimTexts = [\\n"Some prose."\\n];\\n'
    """
    rows = [_compact(_brief(text)) for page in pages.values() for _, _, text in page.sections]
    return "window.lowdimTexts = [\n" + ",\n".join(rows) + "\n];\n"


def _brief(text: str) -> str:
    return re.sub(r"\$[^$]*\$", lambda m: m[0] if len(m[0]) <= LONG else "…", text)


def _by_module(page: Page) -> list[tuple[str, str]]:
    modules: dict[str, list[str]] = {}
    for module, name in page.names:
        modules.setdefault(module, []).append(name)
    return [(module, " ".join(names)) for module, names in modules.items()]


def _part(docname: str) -> str:
    part = docname.removeprefix("notebooks/").removeprefix("book/").partition("/")[0]
    return part if part in PARTS else ""


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
