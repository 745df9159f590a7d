"""``{map}``: a kept sweep over two parameters, as a picture, a table and the command for it.

The drawing is SVG in the colours of the page, so it is legible in the dark and on paper, and small
enough for a phone. A cell has the number, more colour where it is larger, and a verdict's mark;
a line runs where the verdict changes. Words are the chapter's: the body is the caption, and inserts
what :func:`lowdim.publish.maps.facts` knows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from docutils.parsers.rst import directives as options
from docutils.statemachine import StringList
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

import lowdim.evidence.values as measured
from lowdim.evidence.vocabulary import VERDICTS, claim_name
from lowdim.publish import maps, words
from lowdim.publish.records import RecordError
from lowdim.publish.site.elements import make

if TYPE_CHECKING:
    from sphinx.application import Sphinx

logger = logging.getLogger(__name__)
NEEDED = ("number", "claim", "alt")
OPTIONS = (*NEEDED, "says", "format", "scale", "line")
SCALES = ("linear", "log")
WIDTH, LEFT, TOP, ROW, FOOT = 360.0, 50.0, 22.0, 36.0, 40.0  # units of the drawing
PALE, DARK = 0.06, 0.5  # how much ink the least and the largest number have
RADIUS = 3.4
MARKS = ("dot", "ring", "cross", "square", "bar")
HALF = "half"


def setup(app: Sphinx) -> None:
    """Register the directive.

    Examples
    --------
    >>> from unittest.mock import Mock
    >>> app = Mock(); setup(app); app.add_directive.call_args.args[0]
    'map'
    """
    app.add_directive("map", MapDirective)


class MapDirective(SphinxDirective):
    """The kept map of the page's chapter: ``number`` in colour, the verdict on ``claim`` as mark.

    ``says`` names the number in a few words, ``format`` is how it is written, ``scale`` how it is
    coloured (linear or log), ``line`` a value of it across which a dashed line runs; ``alt``
    describes the picture. The body is the caption.
    """

    has_content = True
    option_spec = dict.fromkeys(OPTIONS, options.unchanged)

    def run(self) -> list[nodes.Node]:
        """The figure: drawing, key, caption, and folded a table and a command."""
        from lowdim.publish.directives import chapter_of, record_of

        page = chapter_of(self.env.docname)
        chapter = record_of(self.env, page).get("chapter") or page
        try:
            kept = maps.read(Path(self.env.srcdir), chapter)
            if kept is None:
                raise RecordError(
                    f"{chapter} has no kept map to show: lowdim sweep … --keep-map keeps one."
                )
            shown = Shown.of(kept, self.options)
            told = shown.facts()
            alt = words.fill(self.options["alt"], told)
            caption = words.fill("\n".join(self.content), told)
        except (RecordError, words.WordsError) as problem:
            logger.warning("%s", problem, location=self.get_location())
            return []
        self.env.note_dependency(str(maps.path_of(Path(self.env.srcdir), chapter)))
        body = make("figcaption")
        lines = StringList(caption.splitlines(), source=self.get_source_info()[0])
        self.state.nested_parse(lines, self.content_offset, body)
        drawn = nodes.raw("", shown.svg(alt), format="html")
        key = nodes.raw("", shown.key(), format="html")
        table = nodes.raw("", shown.table(), format="html")
        line = nodes.literal_block("", f".venv/bin/{maps.command(kept)}", language="bash")
        fold = make(
            "details", make("summary", "As a table, and the command that repeats it"), table, line
        )
        return [make("figure", drawn, key, body, fold, classes=["lowdim-map"])]


class Shown:
    """A kept map with what is asked of it: a number, a claim, a format and a scale.

    ``values`` and ``said`` are ``[up][across]``, the first row at the foot of the drawing.
    """

    def __init__(
        self,
        kept: Mapping[str, Any],
        number: str,
        claim: str,
        *,
        spec: str = "2",
        scale: str = SCALES[0],
        says: str = "",
        line: float | None = None,
    ) -> None:
        self.kept, self.number, self.claim, self.spec, self.scale = kept, number, claim, spec, scale
        self.says, self.line = says or number, line
        self.values, self.said = maps.grid(kept, number), maps.rulings(kept, claim)
        self.across, self.up = kept["axes"]
        there = {word for row in self.said for word in row} - {maps.MIXED}
        self.words = sorted(there, key=_rank)
        self.marks = dict(zip(self.words, MARKS, strict=False)) | {maps.MIXED: HALF}

    @classmethod
    def of(cls, kept: Mapping[str, Any], given: Mapping[str, str]) -> Shown:
        """As the options of a directive ask.

        Raises
        ------
        RecordError
            If one that is needed is missing, or has a value that is none.

        Examples
        --------
        >>> Shown.of({}, {"number": "slope"})
        Traceback (most recent call last):
            ...
        lowdim.publish.records.RecordError: A map has the options number, claim, alt; this one \
lacks claim, alt.
        """
        if lacking := [name for name in NEEDED if not given.get(name)]:
            raise RecordError(
                f"A map has the options {', '.join(NEEDED)}; this one lacks {', '.join(lacking)}."
            )
        scale = given.get("scale") or SCALES[0]
        if scale not in SCALES:
            raise RecordError(f"The scale of a map is {' or '.join(SCALES)}; this one is {scale}.")
        try:
            line = float(given["line"]) if given.get("line") else None
        except ValueError:
            raise RecordError(
                f"The line of a map is a number; this one is {given['line']}."
            ) from None
        return cls(
            kept,
            given["number"],
            given["claim"],
            spec=given.get("format") or "2",
            scale=scale,
            says=given.get("says", ""),
            line=line,
        )

    def facts(self) -> dict[str, Any]:
        """What sentences about it may insert."""
        return maps.facts(self.kept, self.number, self.claim, line=self.line)

    def text(self, value: float | None) -> str:
        """A number of the map as it is written."""
        return measured.text(value, self.spec)

    def ink(self) -> list[list[float]]:
        """How dark each cell is, between `PALE` and `DARK`; nothing where there is no number."""
        flat = [self._scaled(v) for row in self.values for v in row]
        known = [v for v in flat if v is not None]
        low, high = (min(known), max(known)) if known else (0.0, 0.0)

        def dark(value: float | None) -> float:
            there = self._scaled(value)
            if there is None:
                return 0.0
            share = (there - low) / (high - low) if high > low else 0.0
            return round(PALE + (DARK - PALE) * share, 3)

        return [[dark(value) for value in row] for row in self.values]

    def _scaled(self, value: float | None) -> float | None:
        if value is None or (self.scale == "log" and value <= 0):
            return None
        return math.log(value) if self.scale == "log" else float(value)

    def svg(self, alt: str) -> str:
        """The drawing."""
        across, up = len(self.across["values"]), len(self.up["values"])
        wide, high = (WIDTH - LEFT) / across, TOP + ROW * up
        out = [
            f'<svg class="lowdim-map-drawing" viewBox="0 0 {WIDTH:g} {high + FOOT:g}" role="img" '
            f'aria-label="{escape(alt, quote=True)}" font-size="11" fill="currentColor">',
            f'<text x="0" y="13" class="lowdim-map-name">{escape(self.up["name"])} ↑</text>',
        ]
        ink = self.ink()
        for j in range(up):
            top = high - ROW * (j + 1)
            tick = escape(tick_text(self.up["values"][j]))
            out.append(_text(LEFT - 6, top + ROW / 2 + 4, tick, "end"))
            for i in range(across):
                left = LEFT + wide * i
                number, word = self.text(self.values[j][i]), self.said[j][i]
                told = escape(f"{number}; {word}")
                out += [
                    f'<g class="lowdim-map-cell" data-verdict="{escape(word, quote=True)}">'
                    f"<title>{told}</title>",
                    f'<rect x="{left:.1f}" y="{top:g}" width="{wide:.1f}" height="{ROW:g}" '
                    f'fill="currentColor" fill-opacity="{ink[j][i]:g}"/>',
                    _text(left + wide / 2, top + ROW - 7, escape(number), "middle"),
                    mark(self.marks[word], left + wide / 2, top + 9),
                    "</g>",
                ]
        for i in range(across):
            tick = escape(tick_text(self.across["values"][i]))
            out.append(_text(LEFT + wide * (i + 0.5), high + 15, tick, "middle"))
        name = escape(self.across["name"])
        out.append(
            f'<text x="{WIDTH:g}" y="{high + 34:g}" text-anchor="end" '
            f'class="lowdim-map-name">{name} →</text>'
        )
        line = 'fill="none" stroke="currentColor" stroke-linecap="round"'
        if self.line is not None:
            over = [[v is not None and v > self.line for v in row] for row in self.values]
            d = borders(over, wide, high)
            out.append(f'<path class="lowdim-map-line" d="{d}" {line} stroke-dasharray="1 4"/>')
        d = borders(self.said, wide, high)
        out.append(f'<path class="lowdim-map-turn" d="{d}" {line}/></svg>')
        return "".join(out)

    def key(self) -> str:
        """What marks and darkness mean."""
        there = {word for row in self.said for word in row}
        entries = [(self.marks[word], word) for word in self.words]
        if maps.MIXED in there:
            entries.append((HALF, "seeds differ"))
        shown = "".join(
            f'<span><svg viewBox="0 0 10 10" aria-hidden="true" fill="currentColor">'
            f"{mark(name, 5, 5)}</svg> {escape(word)}</span>"
            for name, word in entries
        )
        dashed = ""
        if self.line is not None:
            dashed = (
                '<span><svg viewBox="0 0 16 10" aria-hidden="true"><path class="lowdim-map-line" '
                'd="M0 5h16" fill="none" stroke="currentColor" stroke-dasharray="1 4" '
                f'stroke-linecap="round"/></svg> {escape(measured.text(self.line))}</span>'
            )
        part = self.kept["chapter"].partition("/")[0]
        about = escape(claim_name(f"{part}.{self.claim}"))
        return (
            f'<p class="lowdim-map-key"><span>{escape(self.says)}, stronger where larger</span>'
            f"{dashed}<span>{about}:</span>{shown}</p>"
        )

    def rows(self) -> list[list[str]]:
        """The map as rows of texts, its head first and the largest second value on top."""
        corner = f"{self.up['name']} \\ {self.across['name']}"
        head = [corner, *(tick_text(value) for value in self.across["values"])]
        body = [
            [
                tick_text(value),
                *(
                    f"{self.text(v)} ({word})"
                    for v, word in zip(self.values[j], self.said[j], strict=True)
                ),
            ]
            for j, value in enumerate(self.up["values"])
        ]
        return [head, *reversed(body)]

    def table(self) -> str:
        """The same as an HTML table."""
        head, *body = self.rows()
        cells = "".join(f'<th scope="col">{escape(text)}</th>' for text in head)
        lines = "".join(
            f'<tr><th scope="row">{escape(row[0])}</th>'
            + "".join(f"<td>{escape(text)}</td>" for text in row[1:])
            + "</tr>"
            for row in body
        )
        return (
            f'<div class="lowdim-table"><table><thead><tr>{cells}</tr></thead>'
            f"<tbody>{lines}</tbody></table></div>"
        )


def borders(rows: Sequence[Sequence[Any]], wide: float, high: float) -> str:
    """The path along which neighbours of a table ``[up][across]`` differ, in the drawing.

    Examples
    --------
    >>> borders([[1, 2], [1, 2]], 10, 100)
    'M60.0 64v36M60.0 28v36'
    """
    steps = []
    for j, row in enumerate(rows):
        for i, word in enumerate(row):
            x, y = LEFT + wide * (i + 1), high - ROW * (j + 1)
            if i + 1 < len(row) and row[i + 1] != word:
                steps.append(f"M{x:.1f} {y:g}v{ROW:g}")
            if j + 1 < len(rows) and rows[j + 1][i] != word:
                steps.append(f"M{x - wide:.1f} {y:g}h{wide:.1f}")
    return "".join(steps)


def _rank(word: str) -> tuple[bool, int, str]:
    """Verdicts in the order of the vocabulary, those that runs carry first."""
    verdict, _, rest = word.partition(",")
    return "not supported" in rest, list(VERDICTS).index(verdict), rest


def tick_text(value: Any) -> str:
    """A parameter's value beside an axis.

    Examples
    --------
    >>> tick_text([0.1]), tick_text(100000), tick_text("GELU")
    ('0.1', '1e5', 'GELU')
    """
    value = maps.single(value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 100_000:
        return f"{value:.3g}".replace("e+0", "e").replace("e+", "e")
    return maps.as_text(value)


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{text}</text>'


def mark(name: str, x: float, y: float) -> str:
    """A mark of the drawing, around a point.

    Examples
    --------
    >>> mark("dot", 5, 5)
    '<circle cx="5" cy="5" r="3.4"/>'
    """
    r, line = RADIUS, 'fill="none" stroke="currentColor" stroke-width="1.4"'
    ring = f'<circle cx="{x:g}" cy="{y:g}" r="{r}" {line}/>'
    return {
        "dot": f'<circle cx="{x:g}" cy="{y:g}" r="{r}"/>',
        "ring": ring,
        "cross": f'<path d="M{x - 3:g} {y - 3:g}l6 6m0 -6l-6 6" {line}/>',
        "square": f'<rect x="{x - 3:g}" y="{y - 3:g}" width="6" height="6" {line}/>',
        "bar": f'<path d="M{x - 4:g} {y:g}h8" {line}/>',
        HALF: f'{ring}<path d="M{x:g} {y - r:g}a{r} {r} 0 0 0 0 {2 * r:g}z"/>',
    }[name]


def markdown(root: Path, chapter: str, given: Mapping[str, str], body: str) -> tuple[str, Sequence]:
    """The caption of a chapter's map with its numbers, and its rows, for where nothing is drawn.

    Raises
    ------
    RecordError
        If there is no map, or not what is asked of it.

    Examples
    --------
    >>> markdown(Path("nowhere"), "a/b", {}, "In {value}`cells` cells.")
    Traceback (most recent call last):
        ...
    lowdim.publish.records.RecordError: a/b has no kept map to show.
    """
    kept = maps.read(root, chapter)
    if kept is None:
        raise RecordError(f"{chapter} has no kept map to show.")
    shown = Shown.of(kept, given)
    return words.fill(body, shown.facts()), shown.rows()
