r"""What a link leads to, shown beside the link: a statement, an equation, a figure, a reference.

When all pages are there each is read once more. The things that its links lead to are cut out of
the pages where they are, cleaned, and written into the page that links to them, as data inside the
page: so they can be shown where the book is opened from disk. ``js/previews.js`` shows them.
"""

from __future__ import annotations

import html
import json
import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from lowdim.evidence.vocabulary import badge
from lowdim.publish.site import book

if TYPE_CHECKING:
    from sphinx.application import Sphinx

MOST = 160_000  # characters of previews in one page
LENGTHS = (3_000, 1_200, 600, 250)  # of one preview; the first with which the page keeps to MOST
LISTED = "book/api"  # the reference has the first sentence beside each name already
_LINK = re.compile(r'<a\b([^>]*?)\bhref="([^"]*)"([^>]*)>(.*?)</a>', re.S)
_NAMED = re.compile(
    r"\b(Theorem|Lemma|Proposition|Corollary|Definition|Claim|Remark)s? ([\dA-Z.]+)"
)
_ANCHOR = re.compile(r"<a\b[^>]*>(.*?)</a>", re.S)
_UNWANTED = re.compile(
    r'<a class="headerlink".*?</a>|<(script|style|button|svg|iframe|noscript)\b.*?</\1>|<!--.*?-->',
    re.S,
)
_OWN = re.compile(r'\s(?:id|name|for|tabindex|role|aria-[a-z]+|data-[\w-]+)="[^"]*"')
_PARAGRAPH = re.compile(r"<p\b[^>]*>.*?</p>", re.S)
_HEADING = re.compile(r"<h([1-6])\b[^>]*>(.*?)</h\1>", re.S)
_BLOCK = re.compile(r"<(p|div|ul|ol|dl|figure|table|section|pre|blockquote|math)\b")
_KINDS = (  # by class; the first that fits
    ("exercise", "exercise"), ("solution", "solution"), ("proof", "statement"),
    ("lowdim-claim", "statement"), ("math", "equation"), ("citation", "reference"),
    ("footnote", "reference"), ("admonition", "statement"),
)  # fmt: skip


def setup(app: Sphinx) -> None:
    """Register with Sphinx, after everything else that writes pages; only in the book itself."""
    if (Path(app.confdir) / "book" / "index.md").is_file():  # the page of a run moves its pictures
        app.connect("build-finished", _write, priority=900)


def _write(app: Sphinx, problem: Exception | None) -> None:
    if problem is not None or app.builder.format != "html":
        return
    out = Path(app.outdir)
    pages = {
        path.relative_to(out).as_posix(): Page(path.read_text(encoding="utf-8"))
        for path in sorted(out.rglob("*.html"))
        if "_static" not in path.relative_to(out).parts
    }
    claims = {
        (f"{claim.docname}.html", claim.name): claim for claim in book.of(app).claims.values()
    }
    for name, page in pages.items():
        if name.startswith(LISTED):
            continue
        text = with_previews(name, pages, claims)
        if text != page.text:
            (out / name).write_text(text, encoding="utf-8")


@dataclass(frozen=True)
class Page:
    """A built page: its text, and where in it the article is."""

    text: str

    @cached_property
    def article(self) -> tuple[int, int]:
        """Where the article begins and ends; nowhere in a page without one."""
        begin = self.text.find("<article")
        return (begin, self.text.find("</article>", begin)) if begin >= 0 else (0, 0)

    @cached_property
    def title(self) -> str:
        """The first heading, without its marks."""
        found = _HEADING.search(self.text, *self.article)
        return cleaned(found[2]).strip() if found else ""

    @cached_property
    def places(self) -> Mapping[str, int]:
        """Where each element with a name begins; the first of those with the same."""
        found: dict[str, int] = {}
        for match in re.finditer(r'<[a-z][a-z0-9]*\b[^<>]*?\sid="([^"]+)"', self.text):
            found.setdefault(html.unescape(match[1]), match.start())
        return found


@dataclass(frozen=True)
class Card:
    """What is shown: its kind, which the style knows, and its HTML as it stands on its own page."""

    kind: str
    content: str


def element(text: str, begin: int) -> str:
    """The element that begins at ``begin``, with all that is in it.

    Examples
    --------
    >>> element("<p><b>one</b> <b>two</b></p> <p>three</p>", 0)
    '<p><b>one</b> <b>two</b></p>'
    >>> element("<img src='x'> and more", 0)
    "<img src='x'>"
    """
    name = re.match(r"<([a-zA-Z][\w:-]*)", text[begin : begin + 40])
    if name is None:
        return ""
    depth = 0
    for tag in re.compile(rf"<(/?){name[1]}\b[^>]*>").finditer(text, begin):
        depth += -1 if tag[1] else 1
        if depth == 0:
            return text[begin : tag.end()]
        if name[1] in ("img", "br", "hr", "input"):
            break
    return text[begin : text.find(">", begin) + 1]


def cleaned(content: str) -> str:
    """HTML that can be shown a second time: no names, no links, no buttons, nothing that runs.

    Examples
    --------
    >>> cleaned('<p id="x">See <a href="#y">here</a><a class="headerlink" href="#x">#</a></p>')
    '<p>See <span>here</span></p>'
    """
    content = _UNWANTED.sub("", content)
    content = _ANCHOR.sub(r"<span>\1</span>", content)
    return _OWN.sub("", content)


def shortened(content: str, most: int) -> str:
    """The first blocks of ``content`` that fit into ``most`` characters; the first one always.

    Examples
    --------
    >>> shortened("<p>one</p><p>two</p>", 12)
    '<p>one</p><p class="lowdim-preview-more">…</p>'
    >>> shortened("<p>one</p><p>two</p>", 120)
    '<p>one</p><p>two</p>'
    """
    if len(content) <= most:
        return content
    kept, at = "", 0
    while (block := _BLOCK.search(content, at)) is not None:
        whole = element(content, block.start())
        if kept and len(kept) + len(whole) > most:
            return kept + '<p class="lowdim-preview-more">…</p>'
        kept += content[at : block.start()] + whole
        at = block.start() + len(whole)
    return kept + content[at:]


def card_of(page: Page, place: str) -> Card | None:
    """What stands at ``place`` of a page; None where nothing can be shown.

    Examples
    --------
    >>> page = Page('<article><h1>T</h1><div class="math" id="e">x</div></article>')
    >>> card_of(page, "e")
    Card(kind='equation', content='<div class="math">x</div>')
    """
    begin = page.places.get(place)
    if begin is None or not page.article[0] <= begin < page.article[1]:
        return None
    whole = element(page.text, begin)
    tag = whole[1 : re.search(r"[\s>]", whole).start()]  # type: ignore[union-attr]  # it has an end
    opening = whole[: whole.index(">") + 1]
    classes = re.search(r'\bclass="([^"]*)"', opening)
    known = classes[1].split() if classes else []
    if tag == "span" and not re.sub(r"<[^>]*>|\s", "", whole):  # a mark before what is meant
        after = re.compile(r"<([a-z][a-z0-9]*)\b").search(page.text, begin + len(whole))
        if after is None:
            return None
        if re.fullmatch("h[1-6]", after[1]):
            return _section(page, after.start())
        whole = element(page.text, after.start())
        tag, known = after[1], ["math"] if 'class="math' in whole[:40] else []
    if tag == "section":
        return _section(page, begin)
    if tag == "figure":
        return Card("figure", _figure(whole))
    if tag == "tr":
        cells = re.findall(r"<td\b[^>]*>(.*?)</td>", whole, re.S)
        return Card("symbol", "".join(f"<div>{cleaned(cell)}</div>" for cell in cells))
    if tag == "dt":
        said = _PARAGRAPH.search(page.text, begin + len(whole), begin + len(whole) + 4_000)
        sentence = cleaned(said[0]) if said and "sig" in known else ""
        return Card("name", f"<div>{cleaned(_inner(whole))}</div>{sentence}")
    for style, kind in _KINDS:
        if style in known:
            return Card(kind, cleaned(_content(whole, kind)))
    return None


def _content(whole: str, kind: str) -> str:
    if kind == "reference":
        return "".join(_PARAGRAPH.findall(whole))
    if kind == "equation":
        return whole
    inner = re.sub(r"</?section\b[^>]*>", "", _inner(whole))  # inside a theorem there is one
    return inner.strip()


def _inner(whole: str) -> str:
    return whole[whole.index(">") + 1 : whole.rindex("<")]


def _section(page: Page, begin: int) -> Card:
    heading = _HEADING.search(page.text, begin)
    title = cleaned(heading[2]) if heading else ""
    said = _PARAGRAPH.search(page.text, heading.end() if heading else begin, page.article[1])
    first = cleaned(said[0]) if said else ""
    return Card("page", f'<p class="lowdim-preview-title">{title}</p>{first}')


def _figure(whole: str) -> str:
    images = "".join(re.findall(r"<img\b[^>]*>", whole)[:1])
    caption = re.search(r"<figcaption\b.*?</figcaption>", whole, re.S)
    return cleaned(images + (_inner(caption[0]) if caption else ""))


def with_previews(
    name: str, pages: Mapping[str, Page], claims: Mapping[tuple[str, str], book.Claim]
) -> str:
    """The text of the page ``name`` with what its links lead to.

    ``claims`` are by page and name: a link to a chapter whose words name a claim of it shows that
    claim, with its verdict.
    """
    page = pages[name]
    begin, end = page.article
    known = {(where, claim.id): claim for (where, _), claim in claims.items()}
    cards: dict[tuple[str, str], Card | None] = {}
    numbers: dict[tuple[str, str], int] = {}

    def numbered(match: re.Match[str]) -> str:
        target = _target(name, match, pages, claims)
        if target is None:
            return match[0]
        if target not in cards:
            cards[target] = _find(pages, *target, known.get(target))
        if cards[target] is None:
            return match[0]
        number = numbers.setdefault(target, len(numbers))
        return match[0].replace("<a", f'<a data-preview="{number}"', 1)

    article = _LINK.sub(numbered, page.text[begin:end])
    if not numbers:
        return page.text
    shown = [(target, card) for target in numbers if (card := cards[target]) is not None]
    for most in LENGTHS:
        data = [_as_data(name, target, card, pages, most) for target, card in shown]
        inline = _joined(data)
        if len(inline) <= MOST:
            break
    else:  # the last links of a very long list go without
        inline = _joined(_fitting(data))
    script = f'<script type="application/json" id="lowdim-previews">{inline}</script>\n'
    rest = page.text[end:]
    return page.text[:begin] + article + rest.replace("</body>", f"{script}</body>", 1)


def _joined(data: Sequence[Mapping[str, str]]) -> str:
    # No "<" inside, so that nothing in it can end the script.
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def _fitting(data: Sequence[Mapping[str, str]]) -> list[Mapping[str, str]]:
    kept, size = [], 2
    for card in data:
        size += len(_joined([card]))
        if size > MOST:
            break
        kept.append(card)
    return kept


def _target(
    name: str,
    link: re.Match[str],
    pages: Mapping[str, Page],
    claims: Mapping[tuple[str, str], book.Claim],
) -> tuple[str, str] | None:
    """The page and the place that a link leads to; None if it leads out, or is a mere sign."""
    around = link[1] + link[3]
    address = urlsplit(html.unescape(link[2]))
    if "headerlink" in around or "download" in around or "doc-backlink" in around:
        return None
    if address.scheme or address.netloc or not (address.path or address.fragment):
        return None
    path = unquote(address.path)
    page = posixpath.normpath(posixpath.join(posixpath.dirname(name), path)) if path else name
    if page not in pages:
        return None
    place = unquote(address.fragment)
    text = html.unescape(re.sub(r"<[^>]*>", "", link[4])).strip()
    named = _NAMED.search(text)
    short = f"{named[1]} {named[2].rstrip('.')}" if named else ""
    if claim := claims.get((page, text)) or claims.get((page, short)):
        place = claim.id
    elif place.endswith("-verdict"):  # a row of the ledger: the statement says more
        place = place.removesuffix("-verdict")
        page = next((where for (where, _), claim in claims.items() if claim.id == place), page)
    return None if page == name and not place else (page, place)


def _find(
    pages: Mapping[str, Page], name: str, place: str, claim: book.Claim | None
) -> Card | None:
    page = pages[name]
    if not place:
        return _section(page, page.article[0]) if page.title else None
    card = card_of(page, place) or (card_of(page, claim.anchor) if claim else None)
    if card is None or claim is None or 'class="verdict' in card.content:
        return card
    shown = badge(claim.verdict, claim.tags)
    return Card(card.kind, f'<p class="lowdim-preview-verdict">{shown}</p>{card.content}')


def _as_data(
    name: str, target: tuple[str, str], card: Card, pages: Mapping[str, Page], most: int
) -> dict[str, str]:
    """A card as the page ``name`` needs it: short enough, with addresses that are right there."""
    there = posixpath.dirname(target[0])

    def moved(match: re.Match[str]) -> str:
        if urlsplit(match[1]).scheme:
            return match[0]
        path = posixpath.normpath(posixpath.join(there, match[1]))
        return f'src="{posixpath.relpath(path, posixpath.dirname(name) or ".")}"'

    content = re.sub(r'\bsrc="([^"]*)"', moved, shortened(card.content, most))
    where = "" if target[0] == name or card.kind == "page" else pages[target[0]].title
    return {"kind": card.kind, "html": content, "where": where}
