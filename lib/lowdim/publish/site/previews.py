r"""What a link leads to, shown beside the link: a statement, an equation, a figure, a reference.

When all pages are there each is read once more. Things that links lead to are cut out of the pages
where they are and cleaned; each page has the things that are cut out of it in a script of its own,
``_static/previews/<page>.js``, and the links say which of them they lead to. ``js/previews.js``
loads such a script when its first thing is asked for: it weighs nothing until then, and it can be
loaded where the book is opened from disk.
"""

from __future__ import annotations

import html
import json
import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from lowdim.evidence.vocabulary import badge
from lowdim.publish.site import book, symbols

if TYPE_CHECKING:
    from sphinx.application import Sphinx

FOLDER = Path("_static", "previews")
LONGEST = 3_000  # characters of one preview, with its tags
LISTED = "book/api"  # the reference has the first sentence beside each name already
CHAPTERS = "notebooks/"
_LINK = re.compile(r'<a\b([^>]*?)\bhref="([^"]*)"([^>]*)>(.*?)</a>', re.S)
_TIP = re.compile(r'\s\btitle="[^"]*"(?=[^<]*>)')  # a reference in full, which the card shows
_NAMED = re.compile(
    r"\b(Theorem|Lemma|Proposition|Corollary|Definition|Claim|Remark)s? ([\dA-Z.]+)"
)
_ANCHOR = re.compile(r"<a\b[^>]*>(.*?)</a>", re.S)
_UNWANTED = re.compile(
    r'<a\b[^>]*\bclass="(?:headerlink|box-link)".*?</a>|<!--.*?-->'
    r"|<(script|style|button|svg|iframe|noscript)\b.*?</\1>",
    re.S,
)
_OWN = re.compile(r'\s(?:id|name|for|tabindex|role|aria-[a-z]+|data-[\w-]+)="[^"]*"')
_PARAGRAPH = re.compile(r"<p\b[^>]*>.*?</p>", re.S)
_HEADING = re.compile(r"<h([1-6])\b[^>]*>(.*?)</h\1>", re.S)
_BLOCK = re.compile(r"<(p|div|ul|ol|dl|figure|table|section|pre|blockquote|math)\b")
_FOLD = {"details": '<div class="lp-fold"', "summary": '<div class="box-title"'}
_TONE = re.compile(r"\bbox-(?:stands|mended|false|open|ours)\b")
_KINDS = (  # by class; the first that fits
    ("exercise", "exercise"), ("solution", "solution"), ("proof", "statement"),
    ("math", "equation"), ("citation", "reference"), ("footnote", "reference"),
    ("admonition", "statement"),
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
    made = Previews(pages, list(book.of(app).claims.values()))
    for name, page in pages.items():
        text = made.linked(name)
        if text != page.text:
            (out / name).write_text(text, encoding="utf-8")
    for name, script in made.scripts().items():
        path = out / FOLDER / f"{name}.js"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(script, encoding="utf-8")


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
    """What is shown: its kind and its tone, which the style knows, and its HTML.

    Addresses in it are those of its own page.
    """

    kind: str
    content: str
    tone: str = ""


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
    >>> cleaned("<details><summary>Title</summary>Text</details>")
    '<div class="lp-fold"><div class="box-title">Title</div>Text</div>'
    """
    content = _UNWANTED.sub("", content)
    content = _ANCHOR.sub(r"<span>\1</span>", content)
    content = re.sub(r"<(details|summary)\b[^>]*>", lambda m: f"{_FOLD[m[1]]}>", content)
    content = re.sub(r"</(?:details|summary)>", "</div>", content)
    return _OWN.sub("", content)


def shortened(content: str, most: int) -> str:
    """The first blocks of ``content`` that fit into ``most`` characters; the first one always.

    Examples
    --------
    >>> shortened("<p>one</p><p>two</p>", 12)
    '<p>one</p><p class="lp-more">…</p>'
    >>> shortened("<p>one</p><p>two</p>", 120)
    '<p>one</p><p>two</p>'
    """
    if len(content) <= most:
        return content
    kept, at = "", 0
    while (block := _BLOCK.search(content, at)) is not None:
        whole = element(content, block.start())
        if kept and len(kept) + len(whole) > most:
            return kept + '<p class="lp-more">…</p>'
        kept += content[at : block.start()] + whole
        at = block.start() + len(whole)
    return kept + content[at:]


def card_of(page: Page, place: str) -> Card | None:
    """What stands at ``place`` of a page; None where nothing can be shown.

    Examples
    --------
    >>> page = Page('<article><h1>T</h1><div class="math" id="e">x</div></article>')
    >>> card_of(page, "e")
    Card(kind='equation', content='<div class="math">x</div>', tone='')
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
        said = [cell for cell in cells if re.sub(r"<[^>]*>|\s", "", cell) not in ("", "thesame")]
        return Card("symbol", "".join(f"<div>{cleaned(cell)}</div>" for cell in said))
    if tag == "dt":
        after = _PARAGRAPH.search(page.text, begin + len(whole), begin + len(whole) + 4_000)
        sentence = cleaned(after[0]) if after else ""
        kind = "name" if "sig" in known else "word"
        return Card(kind, f"<div>{cleaned(_inner(whole))}</div>{sentence}")
    for style, kind in _KINDS:
        if style in known:
            tone = _TONE.search(opening) if kind == "statement" else None
            return Card(kind, cleaned(_content(whole, kind)), tone[0] if tone else "")
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
    return Card("page", f'<p class="lp-title">{title}</p>{first}')


def _figure(whole: str) -> str:
    frame = re.search(r'<span class="[^"]*\blowdim-whole\b', whole)
    if frame:  # with what lies over it on a dark page
        images = element(whole, frame.start())
    else:
        images = "".join(re.findall(r"<img\b[^>]*>", whole)[:1])
    caption = re.search(r"<figcaption\b.*?</figcaption>", whole, re.S)
    return cleaned(images + (_inner(caption[0]) if caption else ""))


class Previews:
    """The things that the links of a book lead to, gathered while the links are marked.

    A link to a chapter whose words name a claim of it leads to that claim, and so does a link to
    a row of the ledger: the statement says more.
    """

    def __init__(self, pages: Mapping[str, Page], claims: Sequence[book.Claim] = ()) -> None:
        self.pages = pages
        self.cards: dict[tuple[str, str], Card | None] = {}
        self._named = {(f"{claim.docname}.html", claim.name): claim for claim in claims}
        self._claims = {claim.id: claim for claim in claims}
        notation = pages.get(symbols.PAGE)
        self._symbols = symbols.read(notation.text) if notation else []

    def linked(self, name: str) -> str:
        """The text of the page ``name``, its links marked with what they lead to.

        ``data-preview`` has the page and the place, ``data-kind`` the kind of thing, and
        ``data-tap`` stands where a first tap shows it: in chapters, where following a link would
        take a reader out of an argument. A link to a whole page or section is followed at once.
        """
        page = self.pages[name]
        begin, end = page.article
        if name.startswith(LISTED):
            return page.text

        def marked(match: re.Match[str]) -> str:
            target = self._target(name, match)
            card = self._card(*target) if target else None
            if target is None or card is None:
                return match[0]
            there = f"{target[0].removesuffix('.html')}#{target[1]}"
            tap = " data-tap" if name.startswith(CHAPTERS) and card.kind != "page" else ""
            mark = f'data-preview="{html.escape(there)}" data-kind="{card.kind}"{tap}'
            link = match[0].replace("<a", f"<a {mark}", 1)
            return _TIP.sub("", link, count=1) if card.kind == "reference" else link

        article = page.text[begin:end]
        if name.startswith(CHAPTERS):
            up = posixpath.relpath(symbols.PAGE, posixpath.dirname(name))
            part = name.removeprefix(CHAPTERS).partition("/")[0]
            article = symbols.linked(article, self._symbols, part=part, page=up)
        return page.text[:begin] + _LINK.sub(marked, article) + page.text[end:]

    def scripts(self) -> dict[str, str]:
        """The things by the page that they stand on, each page's as a script."""
        found: dict[str, dict[str, dict[str, str]]] = {}
        for (name, place), card in sorted(self.cards.items()):
            if card is not None:
                content = shortened(_from_root(card.content, posixpath.dirname(name)), LONGEST)
                shown = {"kind": card.kind, "html": content, "tone": card.tone}
                given = {key: value for key, value in shown.items() if value}
                found.setdefault(name.removesuffix(".html"), {})[place] = given
        return {name: self._script(name, places) for name, places in found.items()}

    def _script(self, name: str, places: Mapping[str, Mapping[str, str]]) -> str:
        title = self.pages[f"{name}.html"].title
        rows = ",\n".join(f"{_json(place)}:{_json(card)}" for place, card in places.items())
        return (
            f"(window.lowdimPreviews ||= {{}})[{_json(name)}] = "
            f'{{"title":{_json(title)},"cards":{{\n{rows}\n}}}};\n'
        )

    def _target(self, name: str, link: re.Match[str]) -> tuple[str, str] | None:
        """The page and the place that a link leads to; None if it leads out, or is a mere sign."""
        around = link[1] + link[3]
        address = urlsplit(html.unescape(link[2]))
        if re.search(r"headerlink|box-link|download|doc-backlink", around):
            return None
        if address.scheme or address.netloc or not (address.path or address.fragment):
            return None
        path = unquote(address.path)
        page = posixpath.normpath(posixpath.join(posixpath.dirname(name), path)) if path else name
        if page not in self.pages:
            return None
        place = unquote(address.fragment)
        text = html.unescape(re.sub(r"<[^>]*>", "", link[4])).strip()
        named = _NAMED.search(text)
        short = f"{named[1]} {named[2].rstrip('.')}" if named else ""
        if claim := self._named.get((page, text)) or self._named.get((page, short)):
            place = claim.anchor
        elif claim := self._claims.get(place.removesuffix("-verdict")):
            page, place = f"{claim.docname}.html", claim.anchor
        return None if page == name and not place else (page, place)

    def _card(self, name: str, place: str) -> Card | None:
        if (name, place) not in self.cards:
            page = self.pages[name]
            whole = _section(page, page.article[0]) if page.title else None
            self.cards[name, place] = card_of(page, place) if place else whole
            claim = next((c for c in self._claims.values() if c.anchor == place), None)
            card = self.cards[name, place]
            if card and claim and 'class="verdict' not in card.content:
                said = f'<p class="lp-verdict">{badge(claim.verdict, claim.tags)}</p>'
                self.cards[name, place] = replace(card, content=said + card.content)
        return self.cards[name, place]


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _from_root(content: str, folder: str) -> str:
    """Pictures by their address from the root of the book; the script makes it that of the page.

    Examples
    --------
    >>> _from_root('<img src="../_images/a.svg" alt="A">', "book")
    '<img data-src="_images/a.svg" alt="A">'
    """

    def moved(match: re.Match[str]) -> str:
        if urlsplit(match[1]).scheme:
            return match[0]
        return f' data-src="{posixpath.normpath(posixpath.join(folder, match[1]))}"'

    return re.sub(r'\ssrc="([^"]*)"', moved, content)
