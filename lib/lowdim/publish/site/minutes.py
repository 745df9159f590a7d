"""How many minutes a chapter takes to read, estimated from what its page shows.

``w/220 + (2 i + 12 d + 3 c + 20 f)/60`` for ``w`` words, ``i`` formulas within a line, ``d``
formulas of their own, ``c`` lines of code that are not hidden and ``f`` figures. Above a quarter of
an hour the estimate is rounded to five minutes, which is more than it is worth. What is folded is
not counted: solutions and slips; nor is the masthead, where the answer stands.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from lowdim.publish.source import code_cells

WORDS_A_MINUTE = 220  # an adult reads plain English a little faster
SECONDS = {"inline": 2, "display": 12, "code": 3, "figure": 20}
EXACT = 15  # minutes, up to which single ones are told
STEP = 5
HIDING = {"hide-input", "remove-input", "hide-cell", "remove-cell"}
FOLDED = ("solution", "erratum", "masthead", "kept")
_FENCED = re.compile(r"^(`{3,}|:{3,})\{([\w:-]+)\}.*?^\1\s*$", re.DOTALL | re.MULTILINE)
_FIGURE = re.compile(r"^(?:\s+figure:|:mystnb:.*\bfigure:)", re.MULTILINE)


@dataclass(frozen=True)
class Counts:
    """What there is to read on a page."""

    words: int = 0
    inline: int = 0
    display: int = 0
    code: int = 0
    figure: int = 0


def counts(text: str) -> Counts:
    """What a chapter shows, from its source.

    Examples
    --------
    >>> counts("# Weyl\\n\\nLet $A$ be square: $$A=A^2$$ so.\\n")
    Counts(words=5, inline=1, display=1, code=0, figure=0)
    """
    text = re.sub(r"\A---\n.*?^---\n", "", text, flags=re.DOTALL | re.MULTILINE)
    shown = [cell for cell in code_cells(text) if not HIDING & set(cell.tags)]
    code = sum(bool(line.strip()) for cell in shown for line in cell.source.splitlines())
    figures = 0

    def kept(block: re.Match[str]) -> str:
        nonlocal figures
        if block[2] == "code-cell":
            figures += bool(_FIGURE.search(block[0]))
            return ""
        return "" if block[2] in FOLDED else block[0]

    prose = _FENCED.sub(kept, text)
    prose = re.sub(r"^:(?!says|source|reading)[\w-]+:.*$", "", prose, flags=re.MULTILINE)
    prose, display = re.subn(r"\$\$.+?\$\$", " ", prose, flags=re.DOTALL)
    prose, inline = re.subn(r"(?<![\\$])\$[^$]+\$", " ", prose)
    prose = re.sub(r"\{[\w:]+\}|[`*_#|<>()\[\]]", " ", prose)
    words = len(re.findall(r"[^\W\d_][\w’'-]*", prose))
    return Counts(words, inline, display, code, figures)


def minutes(found: Counts) -> int:
    """The estimate, rounded.

    Examples
    --------
    >>> minutes(Counts(words=220)), minutes(Counts(words=4000, inline=60))
    (1, 20)
    """
    seconds = sum(cost * getattr(found, kind) for kind, cost in SECONDS.items())
    exact = found.words / WORDS_A_MINUTE + seconds / 60
    if exact <= EXACT:
        return max(1, round(exact))
    return max(EXACT, STEP * round(exact / STEP))


def of_text(text: str) -> int:
    """The minutes that the chapter with this source takes.

    Examples
    --------
    >>> of_text("A few words.")
    1
    """
    return minutes(counts(text))
