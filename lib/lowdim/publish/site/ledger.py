"""What a reader narrows a long list with, as HTML: choices with their counts, and words.

A form is a legend first: without scripts it says what the words mean and how often each occurs, and
the whole list stands below it. ``js/ledger.js`` makes boxes to tick of it, keeps what is chosen in
the address, and shows those of the rows (``data-rows`` names them) whose attributes
``data-<choice>`` fit.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lowdim.publish.site.bibtex import FILE


@dataclass(frozen=True)
class Choice:
    """One value of a choice: how it is shown (HTML), how many rows have it, what it means."""

    value: str
    shown: str
    count: int
    meaning: str = ""


@dataclass(frozen=True)
class Facet:
    """Values of which a reader ticks some; ``name`` is that of the attribute and in the address."""

    name: str
    title: str
    choices: Sequence[Choice]


def form(
    facets: Sequence[Facet],
    *,
    rows: str,
    words: tuple[str, str],
    summary: str,
    panel: str = "Filters",
    sorts: Mapping[str, str] | None = None,
) -> list[str]:
    """The form as lines of HTML, and the sentence for when nothing fits.

    ``words`` is what one row is called, and several are; ``summary`` is the sentence that stands
    there without scripts; ``panel`` is the name of the choices where they fold; ``sorts`` are the
    orders to choose from, first that of the page.

    Examples
    --------
    >>> one = Facet("part", "Part", [Choice("preserve", "Part I", 3)])
    >>> lines = form([one], rows=".row", words=("claim", "claims"), summary="3 claims.")
    >>> [line for line in lines if "checkbox" in line]  # doctest: +ELLIPSIS
    ['<label class="filter-choice"><input type="checkbox" name="part" value="preserve"> ...']
    """
    one, many = words
    lines = [
        f'<form class="lowdim-filter" data-rows="{rows}" data-one="{one}" data-many="{many}" '
        f'autocomplete="off" aria-label="Choose among the {many}">',
        '<details class="filter-panel" open>',
        f"<summary>{panel}</summary>",
    ]
    for facet in facets:
        kind = "filter-legend" if any(c.meaning for c in facet.choices) else "filter-chips"
        lines.append(f'<fieldset class="{kind}"><legend>{html.escape(facet.title)}</legend>')
        lines += [_choice(facet.name, choice) for choice in facet.choices]
        lines.append("</fieldset>")
    lines += ["</details>", '<div class="filter-tools">']
    lines.append('<label>Text <input type="search" name="text" spellcheck="false"></label>')
    if sorts:
        options = "".join(f'<option value="{v}">{shown}</option>' for v, shown in sorts.items())
        lines.append(f'<label>Order <select name="sort">{options}</select></label>')
    lines += [
        '<button type="reset">Reset</button>',
        "</div>",
        f'<p class="filter-shown" role="status">{summary}</p>',
        "</form>",
        f'<p class="filter-empty" hidden>No {one} fits all of this. '
        '<button type="button" class="filter-reset">Show all</button></p>',
    ]
    return lines


def _choice(name: str, choice: Choice) -> str:
    meaning = f'<span class="filter-meaning">{choice.meaning}</span>' if choice.meaning else ""
    return (
        f'<label class="filter-choice"><input type="checkbox" name="{name}" '
        f'value="{choice.value}"> <span class="filter-value">{choice.shown}</span> '
        f'<span class="filter-count">{choice.count}</span> {meaning}</label>'
    )


def data(words: Iterable[str], **values: str) -> str:
    """The attributes of a row: its values, and in ``data-text`` words that it is found by too.

    What the row shows need not be among them: the script reads it, before formulas are set.

    Examples
    --------
    >>> data(["Lemma 4.1", "$s<1$"], part="preserve")
    'data-part="preserve" data-text="lemma 4.1 s&lt;1"'
    """
    text = " ".join(re.sub(r"\{[\w:]+\}(?=`)|[$`*]", "", word) for word in words)
    given = {**values, "text": " ".join(text.lower().split())}
    return " ".join(f'data-{name}="{html.escape(value)}"' for name, value in given.items())


def cite(entry: str, name: str, *, label: str = "Cite") -> str:
    """A BibTeX entry that unfolds; the script makes a button of it that copies the entry.

    Examples
    --------
    >>> print(cite("@misc{a<b}", "Lemma 4.1"))
    <details class="lowdim-cite" data-name="Lemma 4.1"><summary>Cite</summary>
    <pre>@misc{a&lt;b}</pre></details>
    """
    return (
        f'<details class="lowdim-cite" data-name="{html.escape(name)}">'
        f"<summary>{label}</summary>\n<pre>{html.escape(entry, quote=False)}</pre></details>"
    )


def cite_link(claim: str, name: str) -> str:
    """A link to the file of all entries; the script makes a button of it that copies this one's.

    The entries are not in the page, which has hundreds of them.

    Examples
    --------
    >>> cite_link("preserve.lemma-1", "Lemma 1")  # doctest: +ELLIPSIS
    '<a class="lowdim-cite" href="../lowdim.bib" download data-cite="preserve.lemma-1" ...>Cite</a>'
    """
    return (
        f'<a class="lowdim-cite" href="../{FILE}" download data-cite="{claim}" '
        f'data-name="{html.escape(name)}">Cite</a>'
    )
