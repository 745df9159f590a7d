"""The book on paper: every chapter as a PDF, and the whole book as one, printed from its pages.

Chromium prints what a reader sees, with ``book/_static/css/print.css``; formulas are set and folded
parts opened first. What it prints is then bound: page numbers, one outline, and links between
chapters that lead to their pages. Nothing of the machine is left in the files.
"""

from __future__ import annotations

import html as markup
import re
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import yaml

if TYPE_CHECKING:
    from pypdf import PdfReader, PdfWriter

HTML, PDF = Path("_build", "html"), Path("_build", "pdf")
WHOLE = "low-dimensions-deep-networks.pdf"
# The first is the same Chromium without its windows, and sets a page in less than half the time.
BROWSERS = (
    "chromium-headless-shell", "chromium", "chromium-browser", "google-chrome",
    "google-chrome-stable",
)  # fmt: skip
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run")
LEFT_OUT = ("The library",)  # a reference for those who write code is not read on paper
TITLE, SUBTITLE = "Low Dimensions, Deep Networks", "Theorems you can run"
COLUMN = 174 / 25.4 * 96  # pixels between the margins of print.css
SCALE = 0.9

# Folded parts are opened, images are there, formulas set; what is still wider than the paper is
# made smaller. Code that the page itself hides stays hidden: it is in the notebook.
PREPARE = """async column => {
  const root = document.documentElement;
  root.dataset.theme = root.dataset.mode = 'light';
  for (const fold of document.querySelectorAll('details')) fold.open = true;
  document.querySelector('.landing-cover')?.remove(); // it is on the title page
  for (const fold of document.querySelectorAll('.toggle-hidden'))
    fold.classList.remove('toggle-hidden');
  const images = [...document.images];
  for (const image of images) image.loading = 'eager';
  await Promise.all(images.map(image => image.decode().catch(() => {})));
  if (document.querySelector('.math')) {
    while (!window.MathJax?.startup?.promise) await new Promise(done => setTimeout(done, 20));
    await MathJax.startup.promise;
  }
  await document.fonts.ready;
  for (const e of document.querySelectorAll('.lowdim-wide')) e.classList.remove('lowdim-wide');
  const article = document.querySelector('article.bd-article') ?? document.body;
  const edge = article.getBoundingClientRect().left + column;
  const wide = [...article.querySelectorAll('mjx-container, table, svg')];
  for (const e of wide) {
    if (e.closest('mjx-container') !== e && e.closest('mjx-container')) continue;
    const box = e.getBoundingClientRect();
    const inner = e.matches('mjx-container')
      ? Math.max(box.right, ...[...e.querySelectorAll('mjx-math')]
          .map(m => m.getBoundingClientRect().right)) : box.right;
    const room = edge - box.left, needs = inner - box.left;
    if (needs > room + 1 && room > 40) e.style.zoom = Math.max(0.45, room / needs);
  }
  const said = heading => {
    const copy = heading.cloneNode(true);
    copy.querySelectorAll('a.headerlink').forEach(link => link.remove());
    return copy.textContent.trim().replace(/\\s+/g, ' ');
  };
  const all = [...document.querySelectorAll('h1, h2, h3, h4')].map(said).filter(Boolean);
  return all.length ? all : [document.title];
}"""
HEAD = (
    '<div style="width:100%;margin:0 18mm;font:7.5px Georgia,serif;color:#555;'
    'display:flex;justify-content:space-between"><span>{book}</span><span>{title}</span></div>'
)
COVER = """<!doctype html><meta charset="utf-8"><title>{title}</title><style>
@page {{ size: A4; margin: 18mm }}
body {{ font-family: Georgia, "Liberation Serif", serif; text-align: center; margin: 0 }}
h1 {{ font-size: 34pt; font-weight: 400; margin: {space} 0 4mm; line-height: 1.15 }}
p {{ font-size: 14pt; margin: 2mm 0; color: #444 }} img {{ width: 120mm; margin-top: 12mm }}
p.last {{ position: fixed; bottom: 0; left: 0; right: 0; font-size: 9pt }}
</style><h1>{title}</h1><p>{subtitle}</p>{image}<p class="last">{last}</p>"""
CONTENTS = """<!doctype html><meta charset="utf-8"><title>Contents</title><style>
@page {{ size: A4; margin: 18mm 18mm 20mm }}
body {{ font: 10.5pt/1.45 Georgia, "Liberation Serif", serif; margin: 0 }}
h1 {{ font-weight: 400 }} h2 {{ font-size: 11pt; margin: 5mm 0 1mm; break-after: avoid }}
p {{ display: flex; gap: 2mm; margin: 0; break-inside: avoid }} p span:first-child {{ flex: 1 }}
p.in {{ padding-left: 5mm }} span.n {{ font-variant-numeric: tabular-nums }}
</style><h1>Contents</h1>{rows}"""


class PdfProblem(RuntimeError):
    """One sentence: why nothing was printed, and what to do."""


@dataclass(frozen=True)
class Page:
    """A page of the book: its Sphinx name, the caption it stands under, and its depth there."""

    docname: str
    caption: str
    depth: int = 0


@dataclass
class Printed:
    """A page as Chromium printed it; ``start`` is where it begins in what it is bound into."""

    page: Page
    title: str
    path: Path
    start: int = 0
    sheets: int = field(default=0)
    headings: Sequence[str] = ()


def pages(root: Path) -> list[Page]:
    """The pages of the book in reading order, without those that are not read on paper.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     toc = "parts: [{caption: A, chapters: [{file: b, sections: [{file: c}]}]}]"
    ...     _ = Path(folder, "_toc.yml").write_text(f"root: book/index\\n{toc}")
    ...     [(page.docname, page.depth) for page in pages(Path(folder))]
    [('book/index', 0), ('b', 0), ('c', 1)]
    """
    toc = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))

    def under(entries: Sequence[Mapping[str, Any]], caption: str, depth: int) -> Iterator[Page]:
        for entry in entries:
            if "file" in entry:
                yield Page(entry["file"], caption, depth)
            yield from under(entry.get("sections", ()), caption, depth + 1)

    found = [Page(toc["root"], "")]
    for part in toc.get("parts", ()):
        if part.get("caption") not in LEFT_OUT:
            found += under(part.get("chapters", ()), part.get("caption", ""), 0)
    return found


def print_book(
    root: Path, *, chapters: Sequence[str] | None = None, progress: bool = True
) -> list[Path]:
    """Print ``_build/html`` into ``_build/pdf``; return the files, the whole book last.

    With ``chapters`` (``part/chapter``) these alone are printed, and no whole book.

    Raises `PdfProblem` if there is no book or no browser.

    Examples
    --------
    >>> try:
    ...     print_book(Path("nowhere"))
    ... except PdfProblem as problem:
    ...     print(problem)
    There is no book under _build/html to print: run `make book` first.
    """
    root = Path(root).resolve()
    if not (root / HTML / "index.html").is_file():
        raise PdfProblem("There is no book under _build/html to print: run `make book` first.")
    wanted = pages(root)
    if chapters is not None:
        wanted = [page for page in wanted if page.docname.removeprefix("notebooks/") in chapters]
    folder = root / PDF
    folder.mkdir(parents=True, exist_ok=True)
    made: list[Path] = []
    with _press(root) as press:
        prints = []
        for count, page in enumerate(wanted, start=1):
            prints.append(press.page(page))
            if page.docname.startswith("notebooks/"):
                target = folder / f"{page.docname.removeprefix('notebooks/')}.pdf"
                made.append(bind([prints[-1]], target, title=prints[-1].title, root=root))
            if progress:
                print(f"[{count}/{len(wanted)}] {page.docname}", file=sys.stderr, flush=True)
        if chapters is None:
            front = press.front(prints)
            made.append(bind([*front, *prints], folder / WHOLE, title=TITLE, root=root))
    return made


@contextmanager
def _press(root: Path) -> Iterator[_Press]:
    import tempfile

    from playwright.sync_api import sync_playwright

    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        raise PdfProblem(f"Printing needs a browser, and none of {', '.join(BROWSERS)} is here.")
    with tempfile.TemporaryDirectory(prefix="lowdim-pdf-") as scratch, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=list(FLAGS))
        try:
            tab = browser.new_page(
                viewport={"width": round(COLUMN / SCALE), "height": 1000},
                color_scheme="light",
                reduced_motion="reduce",
            )
            tab.emulate_media(media="print")
            yield _Press(root, tab, Path(scratch))
        finally:
            browser.close()


class _Press:
    """A browser's tab that prints."""

    def __init__(self, root: Path, tab: Any, scratch: Path) -> None:
        self.root, self.tab, self.scratch, self.count = root, tab, scratch, 0

    def page(self, page: Page) -> Printed:
        """One page of the book."""
        address = (self.root / HTML / f"{page.docname}.html").as_uri()
        self.tab.goto(address)
        headings = self.tab.evaluate(PREPARE, COLUMN / SCALE)
        made = self._print(page, headings[0], scale=SCALE, head=HEAD)
        made.headings = headings
        return made

    def front(self, prints: Sequence[Printed]) -> list[Printed]:
        """Title page and contents; twice, since the numbers depend on how long they are."""
        first = self._text(cover(self.root), Page("cover", ""), TITLE)
        listed = self._text(contents(prints, 0), Page("contents", ""), "Contents")
        before = first.sheets + listed.sheets
        return [first, self._text(contents(prints, before), Page("contents", ""), "Contents")]

    def _text(self, text: str, page: Page, title: str) -> Printed:
        path = self.scratch / f"{page.docname}.html"
        path.write_text(text, encoding="utf-8")
        self.tab.goto(path.as_uri())
        return self._print(page, title)

    def _print(self, page: Page, title: str, *, scale: float = 1.0, head: str = "") -> Printed:
        from pypdf import PdfReader

        self.count += 1
        path = self.scratch / f"{self.count:03d}.pdf"
        shown = markup.escape(title)
        self.tab.pdf(
            path=path,
            scale=scale,
            prefer_css_page_size=True,
            print_background=True,
            display_header_footer=bool(head),
            header_template=head.format(book=TITLE, title=shown) or "<span></span>",
            footer_template="<span></span>",
            tagged=True,
            outline=True,
        )
        return Printed(page, title, path, sheets=len(PdfReader(path).pages))


def cover(root: Path) -> str:
    """The title page as HTML, with the book's cover if it has one.

    Examples
    --------
    >>> "<h1>Low Dimensions, Deep Networks</h1>" in cover(Path("nowhere"))
    True
    """
    import lowdim

    static = root / HTML / "_static"
    images = sorted([*static.glob("cover*.svg"), *static.glob("cover*.png")], reverse=True)
    image = f'<img alt="" src="{images[0].as_uri()}">' if images else ""
    last = f"lowdim {lowdim.__version__} · Text under CC BY 4.0, code under BSD-3-Clause"
    space = "30mm" if image else "90mm"
    return COVER.format(title=TITLE, subtitle=SUBTITLE, image=image, last=last, space=space)


def contents(prints: Sequence[Printed], before: int) -> str:
    """The table of contents as HTML, of what is bound after ``before`` pages.

    Examples
    --------
    >>> text = contents([Printed(Page("a", "Part"), "A & B", Path("a.pdf"), sheets=2)], 3)
    >>> text.partition("</h1>")[2]
    '<h2>Part</h2><p><span>A &amp; B</span><span class="n">4</span></p>'
    """
    rows, caption, number = [], "", before + 1
    for each in prints:
        if each.page.caption != caption:
            caption = each.page.caption
            rows.append(f"<h2>{markup.escape(caption)}</h2>")
        inside = ' class="in"' if each.page.depth else ""
        name = markup.escape(each.title)
        rows.append(f'<p{inside}><span>{name}</span><span class="n">{number}</span></p>')
        number += each.sheets
    return CONTENTS.format(rows="".join(rows))


def bind(prints: Sequence[Printed], target: Path, *, title: str, root: Path) -> Path:
    """Put prints together into one file with an outline, numbers on its pages and inner links.

    A link to a page that is bound along leads there; one to any other page of the book is text.

    Examples
    --------
    >>> import tempfile
    >>> from pypdf import PdfReader, PdfWriter
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print_ = Path(folder, "a.pdf")
    ...     writer = PdfWriter()
    ...     _ = writer.add_blank_page(595, 842)
    ...     _ = writer.write(print_)
    ...     one = Printed(Page("a", ""), "A", print_, sheets=1)
    ...     path = bind([one], Path(folder, "b.pdf"), title="A", root=Path(folder))
    ...     PdfReader(path).pages[0].extract_text()
    '1'
    """
    from pypdf import PdfReader, PdfWriter

    writer, readers = PdfWriter(), []
    for each in prints:
        reader = PdfReader(each.path)
        each.start = len(writer.pages)
        writer.append(reader, import_outline=False)
        readers.append(reader)
    starts = {each.page.docname: each.start for each in prints}
    for each, reader in zip(prints, readers, strict=True):
        _link(writer, reader, each, starts, root)
    for name in ("/Names", "/Dests", "/StructTreeRoot"):  # several of each do not go together
        if len(prints) > 1 and name in writer._root_object:
            del writer._root_object[name]
    _outline(writer, prints, readers)
    for number, sheet in enumerate(writer.pages, start=1):
        if prints[0].page.docname != "cover" or number > 1:
            _number(writer, sheet, number)
    writer.metadata = {"/Title": title, "/Producer": "lowdim", "/Creator": "lowdim"}
    writer.page_mode = "/UseOutlines"
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.open("wb") as file:
        writer.write(file)
    return target


def _link(
    writer: PdfWriter, reader: PdfReader, each: Printed, starts: Mapping[str, int], root: Path
) -> None:
    """Make the links of one print right where it now stands."""
    from pypdf.generic import ArrayObject, FloatObject, NameObject, NullObject

    def there(sheet: int, top: float | None) -> ArrayObject:
        reference = writer.pages[sheet].indirect_reference
        height = NullObject() if top is None else FloatObject(top)
        return ArrayObject([reference, NameObject("/XYZ"), NullObject(), height, NullObject()])

    named = reader.named_destinations
    base = (root / HTML).as_uri() + "/"
    for at in range(each.start, each.start + each.sheets):
        sheet, kept = writer.pages[at], ArrayObject()
        for reference in sheet.get("/Annots") or ():
            note = reference.get_object()
            action = note.get("/A", {}).get_object() if "/A" in note else {}
            uri = str(action.get("/URI", ""))
            place = note.get("/Dest", action.get("/D"))
            if place is not None and not isinstance(place, ArrayObject):
                found = named.get(str(place).removeprefix("/")) or named.get(str(place))
                number = reader.get_destination_page_number(found) if found is not None else None
                if found is None or number is None:
                    continue
                note.pop("/A", None)
                top = float(found.top) if found.top is not None else None
                note[NameObject("/Dest")] = there(each.start + number, top)
            elif uri.startswith("file:"):
                inside = unquote(urlsplit(uri).path).removeprefix(unquote(urlsplit(base).path))
                docname = inside.removesuffix(".html")
                if docname not in starts:
                    continue
                note.pop("/A", None)
                note[NameObject("/Dest")] = there(starts[docname], None)
            kept.append(reference)
        if "/Annots" in sheet:
            sheet[NameObject("/Annots")] = kept


def _outline(writer: PdfWriter, prints: Sequence[Printed], readers: Sequence[PdfReader]) -> None:
    caption, above = "", None
    for each, reader in zip(prints, readers, strict=True):
        if each.page.caption != caption and len(prints) > 1:
            caption = each.page.caption
            above = (
                writer.add_outline_item(title=caption, page_number=each.start) if caption else None
            )
        item = writer.add_outline_item(title=each.title, page_number=each.start, parent=above)
        names = {_squeezed(name): name for name in (*each.headings, each.title)}
        names = {2 * squeezed: name for squeezed, name in names.items()} | names
        _headings(writer, reader, reader.outline, each.start, item, names, title=each.title)


def _headings(
    writer: PdfWriter,
    reader: PdfReader,
    entries: Sequence[Any],
    start: int,
    above: Any,
    names: Mapping[str, str],
    *,
    title: str,
) -> None:
    """Headings below a chapter's own; Chromium nests them in lists after what they belong to.

    It also runs words together where a heading is broken into lines, and says a heading twice that
    it took over to the next page; ``names`` has the words apart, and once.
    """
    item = above
    for entry in entries:
        if isinstance(entry, list):
            _headings(writer, reader, entry, start, item, names, title=title)
            continue
        name = re.sub(r"\s*#$", "", str(entry.title)).strip()
        name = names.get(_squeezed(name), name)
        number = reader.get_destination_page_number(entry)
        if name == title or number is None:  # the chapter itself, which has its item
            item = above
        else:
            item = writer.add_outline_item(title=name, page_number=start + number, parent=above)


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)


def _number(writer: PdfWriter, sheet: Any, number: int) -> None:
    """Write a page's number below its text, in a stream of its own: the print is not touched."""
    from pypdf.generic import ArrayObject, DecodedStreamObject, DictionaryObject, NameObject

    def stream(data: str) -> Any:
        made = DecodedStreamObject()
        made.set_data(data.encode("ascii"))
        return writer._add_object(made)

    font = DictionaryObject(
        {
            NameObject("/Type"): NameObject("/Font"),
            NameObject("/Subtype"): NameObject("/Type1"),
            NameObject("/BaseFont"): NameObject("/Times-Roman"),
        }
    )
    resources = sheet.setdefault(NameObject("/Resources"), DictionaryObject()).get_object()
    fonts = resources.setdefault(NameObject("/Font"), DictionaryObject()).get_object()
    fonts[NameObject("/LowdimNumber")] = font
    middle = float(sheet.mediabox.width) / 2 - 2.25 * len(str(number))
    text = f"Q BT /LowdimNumber 9 Tf 0.3 g 1 0 0 1 {middle:.2f} 28 Tm ({number}) Tj ET"
    parts: list[Any] = []
    if "/Contents" in sheet:
        held = sheet["/Contents"].get_object()
        parts = list(held) if isinstance(held, ArrayObject) else [sheet.raw_get("/Contents")]
    sheet[NameObject("/Contents")] = ArrayObject([stream("q"), *parts, stream(text)])
