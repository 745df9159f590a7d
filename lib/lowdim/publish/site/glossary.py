"""The words of the book in the order of the alphabet, each with its symbol and its name in code.

Made from the tables of ``book/notation.md`` and from the vocabulary of verdicts, and written to
``book/_generated/glossary.md`` before Sphinx reads the sources; ``book/glossary.md`` includes it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lowdim.evidence.vocabulary import PARTS, TAGS, VERDICTS

if TYPE_CHECKING:
    from sphinx.application import Sphinx

PAGE = Path("book", "glossary.md")
NOTATION = Path("book", "notation.md")
GENERATED = Path("book", "_generated", "glossary.md")
_MATH = re.compile(r"\$(?:\\.|[^$\\])+\$|`[^`]+`")


@dataclass(frozen=True)
class Word:
    """A word with what stands for it: ``symbol`` in formulas, ``code`` in the library."""

    word: str
    symbol: str
    code: str = ""
    part: str = ""
    remark: str = ""


def setup(app: Sphinx) -> None:
    """Write the page's list before Sphinx reads the sources."""
    app.connect("builder-inited", _write)


def _write(app: Sphinx) -> None:
    root = Path(app.srcdir)
    if (root / PAGE).is_file() and (root / NOTATION).is_file():
        path = root / GENERATED
        path.parent.mkdir(parents=True, exist_ok=True)
        text = (root / NOTATION).read_text(encoding="utf-8")
        path.write_text(page(entries(text)), encoding="utf-8")


def entries(notation: str) -> list[Word]:
    r"""The words of a page of notation: its first table, and of the papers' what is "the same".

    Examples
    --------
    >>> text = "| symbol | meaning | in the code |\n| --- | --- | --- |\n"
    >>> for word in entries(text + "| $m$, $n$ | width, size | `a` |"):
    ...     print(word.word, word.symbol, word.code)
    width $m$ `a`
    size $n$ `a`
    """
    found: list[Word] = []
    for rows in _tables(notation):
        head, *body = rows
        paper = re.match(r"(Part [IVX]+), \*(\w+)\*", head[0])
        for symbols, middle, last in (row for row in body if len(row) == 3):
            if not paper:
                found += paired(symbols, middle, code=last)
            elif middle.startswith("the same") and last and last != "the same":
                found += paired(symbols, last, part=_part(paper[2]))
    return found


def _part(word: str) -> str:
    return next((title for title in PARTS.values() if title.endswith(word)), word)


def _tables(text: str) -> list[list[list[str]]]:
    found: list[list[list[str]]] = []
    inside = False
    for line in text.splitlines():
        if not line.startswith("|"):
            inside = False
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if set("".join(cells)) <= set("-: "):
            continue
        if not inside:
            found.append([])
        inside = True
        found[-1].append(cells)
    return found


def paired(symbols: str, meaning: str, *, code: str = "", part: str = "") -> list[Word]:
    """Words with their symbols, one by one where the two lists are equally long.

    Groups are set apart by semicolons, members by commas; what is left over is a remark. Words that
    lean on one before them ("its parts") stay with it.

    Examples
    --------
    >>> [(w.word, w.symbol) for w in paired("$K$; $r$, $n$", "clusters; rank, size")]
    [('clusters', '$K$'), ('rank', '$r$'), ('size', '$n$')]
    >>> [(w.word, w.symbol) for w in paired("$r$, $n$", "dimension and size")]
    [('dimension and size', '$r$, $n$')]
    >>> [(w.word, w.symbol) for w in paired("$C$, $C_k$", "a partition, its parts")]
    [('a partition, its parts', '$C$, $C_k$')]
    """
    meaning, _, named = meaning.partition(": `")
    if named and not code:
        code, _, rest = f"`{named}".partition(", ")
        meaning += f"; {rest}" if rest else ""
    left, right, remark = _split(symbols, ";"), _split(meaning, ";"), ""
    members = _split(symbols, ",")
    if len(left) == 1 and len(members) == len(right) != len(_split(right[0], ",")):
        left = members  # a list on one side, groups on the other
    if len(left) == 1 < len(right):
        right, remark = right[:1], "; ".join(right[1:])
    if len(left) != len(right) or any(map(_leans, right)):
        return [Word(meaning, symbols, code, part)]
    found = []
    for signs, said in zip(left, right, strict=True):
        many, names = _split(signs, ","), _split(said, ",")
        if len(many) != len(names) or any(map(_leans, names)):
            many, names = [signs], [said]
        codes = _split(code, ",") if len(left) == 1 else []
        each = codes if len(codes) == len(names) else [code] * len(names)
        found += [
            Word(name, sign, one, part, remark)
            for sign, name, one in zip(many, names, each, strict=True)
        ]
    return found


def _leans(word: str) -> bool:
    alone = r"(its|their)\b|\$[^$]*\$$|the point$"
    return bool(re.match(alone, word) or re.search(r"\bon it\b|\bof its\b", word))


def _split(text: str, mark: str) -> list[str]:
    """At marks that stand outside formulas and code."""
    kept: list[str] = []

    def away(match: re.Match[str]) -> str:
        kept.append(match[0])
        return f"\0{len(kept) - 1}\0"

    pieces = _MATH.sub(away, text).split(mark)
    return [re.sub(r"\0(\d+)\0", lambda m: kept[int(m[1])], piece).strip() for piece in pieces]


def page(found: list[Word]) -> str:
    """The list as a MyST glossary, so that ``{term}`` finds its words; verdicts after it.

    Examples
    --------
    >>> print(page([Word("width", "$m$", "`a`")]).partition("## ")[0])
    ```{glossary}
    width
      $m$; in the code `a`.
    ```
    <BLANKLINE>
    <BLANKLINE>
    """
    meanings: dict[str, list[str]] = {}
    for each in found:
        said = "; ".join(filter(None, [each.symbol, each.remark]))
        said += f"; in the code {each.code}" if each.code else ""
        said += f" ({each.part})" if each.part else ""
        if said not in meanings.setdefault(each.word, []):
            meanings[each.word].append(said)
    lines = ["```{glossary}"]
    for word in sorted(meanings, key=_in_order):
        lines += [word, f"  {'; '.join(meanings[word])}.", ""]
    lines = [*lines[:-1], "```", "", "## Verdicts", "", "```{glossary}"]
    for word, meaning in {**VERDICTS, **TAGS}.items():
        lines += [word, f"  {meaning[0].upper()}{meaning[1:]}.", ""]
    return "\n".join([*lines[:-1], "```", ""])


def _in_order(word: str) -> tuple[str, str]:
    plain = re.sub(r"^(the|a|an) ", "", _MATH.sub("", word).strip().lower())
    return plain, word
