r"""Formulas of a chapter that are a symbol of the page of notation lead there, once on each page.

A symbol is linked where the notation leaves no doubt of what it means: one of a part's own table in
the chapters of that part, one of the table for all parts in every chapter. A single letter serves
too many purposes, and is left alone; a Greek one may stand in a part's own table.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass

from lowdim.evidence.ladder import plain
from lowdim.evidence.vocabulary import PARTS

PAGE = "book/notation.html"
_TABLE = re.compile(r"<table\b.*?</table>", re.S)
_ROW = re.compile(r'<tr\b[^>]*\bid="(symbol-[^"]+)"[^>]*>(.*?)</tr>', re.S)
_CELL = re.compile(r"<t[dh]\b[^>]*>(.*?)</t[dh]>", re.S)
_FORMULA = re.compile(r'<span class="math[^"]*">\\\((.*?)\\\)</span>', re.S)
# A title or a link holds no other link; in a table or a drawing it would only be a distraction.
_APART = (
    r"<(?P<apart>a|h[1-6]|summary|button|pre|svg|table|figcaption)\b.*?</(?P=apart)>"
    r'|<p class="[^"]*\b(?:box-title|admonition-title)\b[^"]*">.*?</p>'
)
_PLACES = re.compile(_APART + "|" + _FORMULA.pattern, re.S)


@dataclass(frozen=True)
class Symbol:
    """A symbol: its TeX, its place on the page of notation, the part that has it, or none."""

    tex: str
    place: str
    part: str = ""


def read(page: str) -> list[Symbol]:
    r"""The symbols of the built page of notation; of the papers' tables those that the book keeps.

    Examples
    --------
    >>> row = r'<tr id="symbol-x"><td><span class="math">\(X^*\)</span></td><td>clean</td></tr>'
    >>> read(f"<table>{row}</table>")
    [Symbol(tex='X^*', place='symbol-x', part='')]
    """
    found = []
    for table in _TABLE.findall(page):
        head = _CELL.search(table)
        of = [name for name, title in PARTS.items() if head and _of(_text(head[1]), title)]
        part = of[0] if of else ""
        for place, row in _ROW.findall(table):
            cells = _CELL.findall(row)
            if not part or _text(cells[1]).startswith("the same"):
                found += [Symbol(_plain(tex), place, part) for tex in _FORMULA.findall(cells[0])]
    return [symbol for symbol in found if _speaks(symbol)]


def _of(head: str, title: str) -> bool:
    """Whether "Part I, Preserve" heads the table of "Part I: Preserve"."""
    return head.replace(",", ":") == title


def _speaks(symbol: Symbol) -> bool:
    letter = r"[A-Za-z]" if symbol.part else r"\\?[A-Za-z]+"
    return "," not in symbol.tex and not re.fullmatch(letter, symbol.tex)


def _text(cell: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]*>", "", cell)).split())


def _plain(tex: str) -> str:
    return re.sub(r"\s+", " ", html.unescape(tex)).strip()


def linked(article: str, symbols: Sequence[Symbol], *, part: str, page: str) -> str:
    r"""An article of a part, the first occurrence of each symbol leading to ``page``.

    Examples
    --------
    >>> formula = r'<span class="math">\(X^*\)</span>'
    >>> twice = f"<p>{formula} and {formula}</p>"
    >>> text = linked(twice, [Symbol("X^*", "x")], part="", page="n.html")
    >>> text.count("<a "), text.partition(">")[2].partition(">")[0]
    (1, '<a class="lowdim-symbol" href="n.html#x" aria-label="X^*, in the notation"')
    """
    known = {symbol.tex: symbol for symbol in symbols if not symbol.part}
    known |= {symbol.tex: symbol for symbol in symbols if symbol.part == part}
    done: set[str] = set()

    def link(match: re.Match[str]) -> str:
        tex = _plain(match[2]) if match[2] else ""
        if tex not in known or tex in done:
            return match[0]
        done.add(tex)
        # A formula has no words of its own until it is set, and then none that a link could have.
        said = html.escape(f"{plain(tex)}, in the notation")
        to = f'href="{page}#{known[tex].place}" aria-label="{said}"'
        return f'<a class="lowdim-symbol" {to}>{match[0]}</a>'

    return _PLACES.sub(link, article)
