"""Small tables that read well both as text (which is compared) and on a page."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

LEAST = 12  # columns of text that a wrapped column needs


def _text(cell: object) -> str:
    """A cell as a reader meets it: yes and no, not the words of the language."""
    truth = isinstance(cell, bool) or type(cell).__name__ == "bool"  # numpy's is no subclass
    return ("no", "yes")[bool(cell)] if truth else str(cell)


def _typeset(tex: str) -> str:
    """What the page's typesetter looks for."""
    return rf'<span class="math notranslate nohighlight">\({tex}\)</span>'


class Formula(str):
    r"""A cell that is text where text is shown, and a typeset formula on a page.

    Examples
    --------
    >>> print(Table(("step",), [(Formula("≤ √(r)", tex=r"\le\sqrt{r}"),)]))
    step
    ≤ √(r)
    """

    tex: str

    def __new__(cls, text: str, *, tex: str) -> Formula:
        formula = super().__new__(cls, text)
        formula.tex = tex
        return formula

    def html(self) -> str:
        """The formula as a page has it."""
        return _typeset(escape(self.tex))


def matrix(rows: Sequence[Sequence[object]]) -> Formula:
    r"""A cell that shows a small matrix (h, n), row by row as text and typeset on a page.

    Examples
    --------
    >>> cell = matrix([[1, -1], [0, 2]])
    >>> print(cell, cell.tex)
    (1 -1; 0 2) \begin{pmatrix}1&-1\\0&2\end{pmatrix}
    """
    text = "; ".join(" ".join(str(entry) for entry in row) for row in rows)
    body = r"\\".join("&".join(str(entry) for entry in row) for row in rows)
    return Formula(f"({text})", tex=rf"\begin{{pmatrix}}{body}\end{{pmatrix}}")


@dataclass(frozen=True)
class Table:
    """Rows of cells under a header; numbers are right-aligned, truth values are yes or no.

    A formula between dollars within a cell is typeset on a page.

    Examples
    --------
    >>> print(Table(("what", "value", "exact"), [("tightness", 0.5, True)]))
    what       value  exact
    tightness    0.5  yes
    """

    header: Sequence[str]
    rows: Sequence[Sequence[object]]

    def __str__(self) -> str:
        return self.text()

    __repr__ = __str__

    def text(self, *, width: int | None = None) -> str:
        """The table as plain text; within ``width`` columns the last column's words are wrapped.

        Raises
        ------
        ValueError
            If ``width`` leaves fewer than twelve columns for the last one.

        Examples
        --------
        >>> print(Table(("id", "said"), [(1, "a sentence of words")]).text(width=16))
        id  said
         1  a sentence
            of words
        """
        cells = [[_text(c) for c in row] for row in [self.header, *self.rows]]
        widths = [max(len(row[j]) for row in cells) for j in range(len(self.header))]
        right = [self._numeric(j) for j in range(len(self.header))]
        before = sum(widths[:-1]) + 2 * (len(widths) - 1)
        if width is not None and width - before < LEAST:
            raise ValueError(
                f"width must leave {LEAST} columns for the last column, and the others take "
                f"{before}; you gave {width}."
            )
        lines = []
        for row in cells:
            parts = [
                c.rjust(w) if r else c.ljust(w) for c, w, r in zip(row, widths, right, strict=True)
            ]
            more: list[str] = []
            if width is not None:
                parts[-1], *more = textwrap.wrap(row[-1], width - before) or [""]
            lines.append("  ".join(parts).rstrip())
            lines += [" " * before + line for line in more]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        def shown(cell: object) -> str:
            if isinstance(cell, Formula):
                return cell.html()
            return re.sub(r"\$([^$]+)\$", lambda m: _typeset(m[1]), escape(_text(cell)))

        def row(cells: Sequence[object], tag: str) -> str:
            return "".join(
                f'<{tag} class="{"num" if self._numeric(j) else "txt"}">{shown(c)}</{tag}>'
                for j, c in enumerate(cells)
            )

        body = "".join(f"<tr>{row(cells, 'td')}</tr>" for cells in self.rows)
        return (
            '<div class="lowdim-table"><table class="table"><thead><tr>'
            f"{row(self.header, 'th')}</tr></thead><tbody>{body}</tbody></table></div>"
        )

    def _numeric(self, column: int) -> bool:
        def number(cell: object) -> bool:
            try:
                float(str(cell).replace("×", "").replace("%", "").replace("–", "0"))
            except ValueError:
                return False
            return True

        return bool(self.rows) and all(number(row[column]) for row in self.rows)


def short(value: float | None, digits: int = 3) -> str:
    """A number rounded for reading and for comparing: ``digits`` significant digits.

    Below a hundred thousand it is written out.

    Examples
    --------
    >>> short(0.70710678), short(1e-7 / 3), short(None), short(12345.6), short(float("inf"))
    ('0.707', '3.33e-08', '–', '12300', 'inf')
    >>> short(1234567.0), short(-318.2, 2)
    ('1.23e+06', '-320')
    """
    if value is None:
        return "–"
    if value != value:
        return "nan"
    text = f"{float(value):.{digits}g}"
    return f"{float(text):.0f}" if "e+" in text and abs(float(text)) < 1e5 else text
