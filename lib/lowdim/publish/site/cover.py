"""The book's mark, cover and share metadata.

All three pictures are flow lines ``r sin(θ)^L = const`` of a deep linear network, along
which a vector is conserved. The mark is committed as ``book/_static/logo.svg`` and
``favicon.svg``; ``python -m lowdim.publish.site.cover`` writes both. The cover is made with each
build, as SVG for print and as PNG for those who show a link to it.
"""

from __future__ import annotations

import html
import math
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lowdim.publish.site import book

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx

STATIC = Path("book", "_static")
INK, PAPER, SUN, SEA = "#10233f", "#f6f3ea", "#ffc857", "#7fb2ff"
LOW, HIGH = "#9d86ff", "#5fd3bf"  # the lines of the cover go from one colour to the other
SIZE = (1200, 630)
GROUND = 540  # where the axis of the cover is
BRIGHT = 2  # which of its lines is followed
VEIL = 800  # up to where the lines are dimmed, so that words can be read over them
SHORTEST, LONGEST = 40, 280  # of a description, in characters
Line = list[tuple[float, float]]


def setup(app: Sphinx) -> None:
    """Put metadata on every page, and the cover beside them."""
    app.connect("html-page-context", _describe)
    app.connect("build-finished", _write_cover)


def flow_lines(levels: list[float], depth: float, *, left: float, right: float) -> list[Line]:
    """Lines r sin^L θ = κ^L between two values of x, each as points (x, y).

    Examples
    --------
    >>> line, = flow_lines([1.0], 1, left=-1, right=1)
    >>> all(abs(y - 1) < 1e-9 for _, y in line)
    True
    """
    lines = []
    for level in levels:

        def point(angle: float, level: float = level) -> tuple[float, float]:
            r = min((level / math.sin(angle)) ** depth, 1e6)
            return r * math.cos(angle), r * math.sin(angle)

        angles = [math.pi * (k + 0.5) / 2000 for k in range(2000)]
        lines.append([p for p in map(point, angles) if left <= p[0] <= right])
    return lines


def _placed(line: Line, scale: float, at: tuple[float, float]) -> Line:
    return [(at[0] + scale * x, at[1] - scale * y) for x, y in line]


def _thinned(places: Line) -> Line:
    """A point for every two units is plenty."""
    kept = [places[0]]
    for place in places[1:]:
        if math.dist(place, kept[-1]) > 2:
            kept.append(place)
    return [*kept, places[-1]]


def _path(places: Line) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in _thinned(places))


@cache
def logo() -> str:
    """The mark: three flow lines on a dark tile, and the one that is followed.

    Examples
    --------
    >>> logo().startswith("<svg") and len(logo()) < 4000
    True
    """
    lines = flow_lines([0.35, 0.6, 0.85], 3, left=-1.02, right=1.02)
    drawn = [_path(_placed(line, 26, (32, 52))) for line in lines]
    x, y = lines[1][0]
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64">'
        f'<defs><clipPath id="tile"><rect width="64" height="64" rx="14"/></clipPath></defs>'
        f'<g clip-path="url(#tile)"><rect width="64" height="64" fill="{INK}"/>'
        f'<path d="M8 52H56" stroke="{PAPER}" stroke-width="2" opacity=".55"/>'
        f'<g fill="none" stroke-linecap="round"><path d="{drawn[0]}" stroke="{SEA}"'
        f' stroke-width="3"/><path d="{drawn[2]}" stroke="{SEA}" stroke-width="3"/>'
        f'<path d="{drawn[1]}" stroke="{SUN}" stroke-width="4.6"/></g>'
        f'<circle cx="{32 + 26 * x:.1f}" cy="{52 - 26 * y:.1f}" r="5" fill="{PAPER}"/>'
        "</g></svg>\n"
    )


def counted(whole: book.Book) -> str:
    """The book in numbers, as its cover says it; nothing where nothing was run.

    Examples
    --------
    >>> counted(book.Book({}, {}))
    ''
    """
    found = book.numbers(list(whole.claims.values()))
    found["repaired"] = found.get("repaired", 0) + found.get("proof-repaired", 0)
    said = [("claims", "claims"), ("refuted", "refuted"), ("repaired", "repaired"),
            ("new", "new theorems")]  # fmt: skip
    return " · ".join(f"{found[key]} {word}" for key, word in said if found.get(key))


def words(root: Path) -> tuple[str, str]:
    """Title and tagline, as the landing page has them.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = Path(folder, "book", "index.md")
    ...     page.parent.mkdir()
    ...     _ = page.write_text("# A book\\n\\n{.landing-tagline}\\nIn a line.\\n")
    ...     words(Path(folder))
    ('A book', 'In a line.')
    """
    source = (root / "book" / "index.md").read_text(encoding="utf-8")
    title = re.search(r"^# (.+)$", source, re.M)
    tagline = re.search(r"^\{\.landing-tagline\}\n(.+)$", source, re.M)
    return (title[1] if title else "", tagline[1] if tagline else "")


def _scene() -> tuple[list[tuple[Line, str, float]], tuple[float, float]]:
    """Lines in the coordinates of the cover with colour and width, and where one of them ends."""
    levels = [0.16 + 0.125 * k for k in range(11)]
    scale, at = 330.0, (820.0, float(GROUND))
    out = []
    for k, line in enumerate(flow_lines(levels, 3, left=-2.6, right=1.3)):
        seen = [p for p in _placed(line, scale, at) if -60 < p[1] < SIZE[1]]
        followed = k == BRIGHT
        shade = _mixed(HIGH, LOW, k / (len(levels) - 1))
        out.append(
            (_thinned(seen) if seen else [], SUN if followed else shade, 6.0 if followed else 2.2)
        )
    bright = out[BRIGHT][0]
    return out, min(bright, key=lambda p: abs(p[0] - 1070))


def cover(title: str, tagline: str, numbers: str = "") -> str:
    """The cover as SVG.

    Examples
    --------
    >>> "Theorems" in cover("A Title, Here", "Theorems you can run.")
    True
    """
    width, height = SIZE
    lines, end = _scene()
    drawn = "".join(
        f'<path d="{_path(line)}" stroke="{colour}" stroke-width="{wide}"'
        f' opacity="{1 if colour == SUN else 0.6}"/>'
        for line, colour, wide in lines
        if line
    )
    rows = "".join(
        f'<text x="72" y="{134 + 84 * k}" font-size="72" font-weight="600">{html.escape(row)}'
        "</text>"
        for k, row in enumerate(_rows(title))
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img"'
        f' aria-label="Cover: {html.escape(title)}">'
        f'<defs><linearGradient id="veil"><stop offset="0" stop-color="{INK}" stop-opacity=".9"/>'
        f'<stop offset="1" stop-color="{INK}" stop-opacity="0"/></linearGradient></defs>'
        f'<rect width="{width}" height="{height}" fill="{INK}"/>'
        f'<g fill="none" stroke-linecap="round">{drawn}</g>'
        f'<rect width="{VEIL}" height="{height}" fill="url(#veil)"/>'
        f'<path d="M0 {GROUND}H{width}" stroke="{PAPER}" stroke-width="1.5" opacity=".5"/>'
        f'<circle cx="{end[0]:.1f}" cy="{end[1]:.1f}" r="12" fill="{PAPER}"/>'
        f'<g fill="{PAPER}" font-family="Georgia, \'DejaVu Serif\', serif">{rows}'
        f'<text x="72" y="{118 + 84 * len(_rows(title))}" font-size="34" fill="{SUN}">'
        f"{html.escape(tagline)}</text></g>"
        f'<text x="72" y="{GROUND + 52}" font-size="24" fill="{PAPER}" opacity=".85"'
        f" font-family=\"Georgia, 'DejaVu Serif', serif\">{html.escape(numbers)}</text></svg>"
    )


def _rows(title: str) -> list[str]:
    """A title, broken after its comma.

    >>> _rows("Low Dimensions, Deep Networks")
    ['Low Dimensions,', 'Deep Networks']
    """
    return [row.strip() for row in re.split(r"(?<=,)\s", title)]


def cover_png(path: Path, title: str, tagline: str, numbers: str = "") -> None:
    """The cover as PNG: what shows a link to a page shows no SVG.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "cover.png")
    ...     cover_png(path, "Low Dimensions", "Theorems you can run")
    ...     path.read_bytes()[1:4]
    b'PNG'
    """
    from matplotlib import get_data_path
    from PIL import Image, ImageDraw, ImageFont

    times = 4  # drawn large and made smaller, for smooth edges
    width, height = (times * side for side in SIZE)
    image = Image.new("RGB", (width, height), INK)
    pen = ImageDraw.Draw(image)
    lines, end = _scene()
    for line, colour, wide in lines:
        shade = colour if colour == SUN else _mixed(colour, INK, 0.6)
        if line:
            places = [(times * x, times * y) for x, y in line]
            pen.line(places, fill=shade, width=round(times * wide), joint="curve")
    veil = Image.linear_gradient("L").rotate(90).point(lambda v: round(0.9 * (255 - v)))
    image.paste(INK, (0, 0), veil.resize((times * VEIL, height)))
    ground = times * GROUND
    pen.line([(0, ground), (width, ground)], fill=_mixed(PAPER, INK, 0.5), width=round(1.5 * times))
    x, y, r = (times * place for place in (*end, 12))
    pen.ellipse([x - r, y - r, x + r, y + r], fill=PAPER)

    def write(text: str, y: float, size: int, colour: str, face: str = "DejaVuSerif.ttf") -> None:
        font = ImageFont.truetype(str(Path(get_data_path(), "fonts", "ttf", face)), times * size)
        pen.text((times * 72, times * y), text, font=font, fill=colour)

    rows = _rows(title)
    for k, row in enumerate(rows):
        write(row, 76 + 84 * k, 64, PAPER, "DejaVuSerif-Bold.ttf")
    write(tagline, 84 + 84 * len(rows), 32, SUN)
    write(numbers, GROUND + 28, 23, _mixed(PAPER, INK, 0.85))
    image.resize(SIZE, Image.Resampling.LANCZOS).save(path, optimize=True)


def _mixed(one: str, other: str, share: float) -> str:
    """``share`` of one colour, and the rest of another.

    >>> _mixed("#ffffff", "#000000", 0.5)
    '#808080'
    """
    pairs = [(int(one[k : k + 2], 16), int(other[k : k + 2], 16)) for k in (1, 3, 5)]
    return "#" + "".join(f"{round(share * a + (1 - share) * b):02x}" for a, b in pairs)


def first_sentence(text: str) -> str:
    """The first sentence of a text that says something, or two where the first is very short.

    Examples
    --------
    >>> first_sentence("Theorems you can run. What does data do to a network? Much.")
    'Theorems you can run. What does data do to a network?'
    """
    said = ""
    for sentence in re.split(r"(?<=[.?!])\s+", " ".join(text.split())):
        said = f"{said} {sentence}".strip()
        if len(said) >= SHORTEST:
            break
    if len(said) > LONGEST:
        said = said[:LONGEST].rpartition(" ")[0] + " …"
    return said


def description(doctree: nodes.document | None) -> str:
    """What a page says of itself: the first sentence of its first paragraph.

    Examples
    --------
    >>> description(None)
    ''
    """
    from docutils import nodes as kinds

    if doctree is None:
        return ""
    for paragraph in doctree.findall(kinds.paragraph):
        if isinstance(paragraph.parent, kinds.section | kinds.document):
            if "landing-tagline" in paragraph["classes"]:
                continue
            return first_sentence("".join(_plain(child) for child in paragraph.children))
    return ""


def _plain(node: Any) -> str:
    """A node as text, its mathematics in Unicode."""
    from docutils import nodes as kinds

    if isinstance(node, kinds.math):
        from pylatexenc.latex2text import LatexNodes2Text

        # It knows no norms.
        formula = node.astext().replace(r"\|", "‖")
        return LatexNodes2Text(math_mode="text").latex_to_text(formula)
    if isinstance(node, kinds.raw):
        return ""
    if node.children:
        return "".join(_plain(child) for child in node.children)
    return str(node.astext())


def metadata(title: str, said: str, *, image: str, site: str, kind: str) -> str:
    """The tags of a page's head.

    Examples
    --------
    >>> "og:image" in metadata("T", "Says.", image="../c.png", site="S", kind="article")
    True
    """
    tags = [("property", "og:title", title), ("property", "og:type", kind)]
    tags.append(("property", "og:site_name", site))
    if image:
        tags.append(("property", "og:image", image))
        tags += [
            ("property", f"og:image:{side}", str(n))
            for side, n in zip(("width", "height"), SIZE, strict=True)
        ]
        tags.append(
            ("property", "og:image:alt", f"The cover of {site}: flow lines, one of them bright")
        )
        tags.append(("name", "twitter:card", "summary_large_image"))
    if said:
        tags += [("name", "description", said), ("property", "og:description", said)]
    return "".join(
        f'\n  <meta {sort}="{name}" content="{html.escape(content)}" />'
        for sort, name, content in tags
    )


def _describe(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    title = html.unescape(re.sub(r"<[^>]+>", "", context.get("title", ""))) or app.config.project
    image = context["pathto"]("_static/cover.png", 1) if _is_book(app) else ""
    kind = "article" if pagename.startswith("notebooks/") else "website"
    site = app.config.project
    said = description(doctree) or f"{title} of the book {site}."  # a page that is only a list
    context["metatags"] = context.get("metatags", "") + metadata(
        title, said, image=image, site=site, kind=kind
    )


def _write_cover(app: Sphinx, problem: Exception | None) -> None:
    if problem is None and app.builder.format == "html" and _is_book(app):
        said = (*words(Path(app.srcdir)), counted(book.of(app)))
        cover_png(Path(app.outdir) / "_static" / "cover.png", *said)


def _is_book(app: Sphinx) -> bool:
    """Whether this is the book, and not the page of a run, which stands alone."""
    return (Path(app.srcdir) / "book" / "index.md").is_file()


if __name__ == "__main__":
    for name in ("logo.svg", "favicon.svg"):
        (STATIC / name).write_text(logo(), encoding="utf-8")
