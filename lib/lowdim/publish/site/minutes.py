"""How many minutes a chapter takes to read, estimated from what its page shows.

``w/220 + (2 i + 12 d + 3 c + 20 f + 15 t)/60`` for ``w`` words, ``i`` formulas within a line, ``d``
formulas of their own, ``c`` lines of code that are not hidden, ``f`` figures and ``t`` tables. A
proof is followed and not read: it is told apart, at five times what reading it would take. Above a
quarter of an hour an estimate is rounded to five minutes, which is more than it is worth. Not
counted are what is folded (solutions and slips), the masthead, where the answer stands, and the
exercises, each of which says its own minutes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from lowdim.publish.source import code_cells

WORDS_A_MINUTE = 220  # an adult reads plain English a little faster
SECONDS = {"inline": 2, "display": 12, "code": 3, "figure": 20, "table": 15}
FOLLOWED = 5  # times as long as reading: every step of a proof is checked
EXACT = 15  # minutes, up to which single ones are told
STEP = 5
HIDING = {"hide-input", "remove-input", "hide-cell", "remove-cell"}
UNSEEN = {"remove-output", "hide-output", "hide-cell", "remove-cell"}
APART = ("solution", "erratum", "masthead", "kept", "exercise", "prf:proof")
_FENCED = re.compile(r"^(`{3,}|:{3,})\{([\w:-]+)\}.*?^\1\s*$", re.DOTALL | re.MULTILINE)
_TABLE = re.compile(r"^Table\(", re.MULTILINE)  # a ladder's folds under its drawing
_FIGURE = re.compile(r"^(?:\s+figure:|:mystnb:.*\bfigure:)", re.MULTILINE)


@dataclass(frozen=True)
class Counts:
    """What there is to read on a page."""

    words: int = 0
    inline: int = 0
    display: int = 0
    code: int = 0
    figure: int = 0
    table: int = 0


def counts(text: str) -> Counts:
    """What a chapter shows, from its source.

    Examples
    --------
    >>> counts("# Weyl\\n\\nLet $A$ be square: $$A=A^2$$ so.\\n")
    Counts(words=5, inline=1, display=1, code=0, figure=0, table=0)
    """
    text = re.sub(r"\A---\n.*?^---\n", "", text, flags=re.DOTALL | re.MULTILINE)
    cells = code_cells(text)
    shown = [cell for cell in cells if not HIDING & set(cell.tags)]
    code = sum(bool(line.strip()) for cell in shown for line in cell.source.splitlines())
    tables = sum(bool(_TABLE.search(cell.source)) for cell in cells if not UNSEEN & set(cell.tags))
    figures = 0

    def kept(block: re.Match[str]) -> str:
        nonlocal figures
        if block[2] == "code-cell":
            figures += bool(_FIGURE.search(block[0]))
            return ""
        return "" if block[2] in APART else block[0]

    prose = _FENCED.sub(kept, text)
    prose = re.sub(r"^:(?!says|source|reading)[\w-]+:.*$", "", prose, flags=re.MULTILINE)
    prose, display = re.subn(r"\$\$.+?\$\$", " ", prose, flags=re.DOTALL)
    prose, inline = re.subn(r"(?<![\\$])\$[^$]+\$", " ", prose)
    prose = re.sub(r"\{[\w:]+\}|[`*_#|<>()\[\]]", " ", prose)
    words = len(re.findall(r"[^\W\d_][\w’'-]*", prose))
    return Counts(words, inline, display, code, figures, tables)


def minutes(found: Counts, *, times: int = 1) -> int:
    """The estimate, rounded; ``times`` as slowly as one reads.

    Examples
    --------
    >>> minutes(Counts(words=220)), minutes(Counts(words=4000, inline=60))
    (1, 20)
    """
    seconds = sum(cost * getattr(found, kind) for kind, cost in SECONDS.items())
    exact = times * (found.words / WORDS_A_MINUTE + seconds / 60)
    if exact <= EXACT:
        return max(1, round(exact))
    return max(EXACT, STEP * round(exact / STEP))


def of_text(text: str) -> tuple[int, int]:
    """The minutes to read the chapter with this source, and those to follow its proofs, if any.

    Examples
    --------
    >>> of_text("A few words.")
    (1, 0)
    """
    proofs = [block[0] for block in _FENCED.finditer(text) if block[2] == "prf:proof"]
    inner = "\n".join(line for proof in proofs for line in proof.splitlines()[1:-1])
    return minutes(counts(text)), minutes(counts(inner), times=FOLLOWED) if proofs else 0
