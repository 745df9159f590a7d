"""The words that verdicts are made of, once: verdicts, tags, kinds, parts, and what an id is.

The schema of records, the badges and their style sheet, the pages and the checks of chapters all
read them here.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

VERDICTS = {
    "holds": "as stated; no violation found, the ladder is unbroken",
    "proof-repaired": "the statement survives, a step of its proof does not",
    "repaired": "false, incomplete or meaningless as stated; a corrected form is proved",
    "refuted": "a counterexample, and no honest repair",
    "undecidable": "the text leaves it open; the readings are listed and each is run",
    "reproduced": "what the paper reports is what was measured",
    "partly": "part of what the paper reports was measured",
    "not-reproduced": "what the paper reports was not found",
}
TAGS = {
    "vacuous": "its hypotheses never hold, or its bound never binds, in the regime shown",
    "sharpened": "the chapter proves more",
    "typo": "a printed constant or symbol is wrong, with no consequence",
}
KINDS = (
    "theorem", "lemma", "proposition", "corollary", "claim", "definition", "remark", "equation",
    "section", "figure", "table", "new",
)  # fmt: skip
PARTS = {
    "preserve": "Part I: Preserve",
    "collapse": "Part II: Collapse",
    "embedded": "Part III: Embedded",
    "hashing": "Part IV: Hashing",
    "bridge": "Part V: Bridge",
}
# How a badge looks, by what it says; the style sheet gives each tone its colours.
TONES = {
    "holds": "good",
    "proof-repaired": "warn",
    "repaired": "warn",
    "refuted": "bad",
    "undecidable": "open",
    "reproduced": "good",
    "partly": "warn",
    "not-reproduced": "bad",
}
ID = re.compile(rf"^[a-z]+\.(?:{'|'.join(KINDS)})(?:-[a-z0-9]+)+$")


def part_of(claim: str) -> str:
    """The part that a claim belongs to.

    Examples
    --------
    >>> part_of("preserve.theorem-3-1")
    'preserve'
    """
    return claim.partition(".")[0]


def kind_of(claim: str) -> str:
    """What a claim is: theorem, figure, new, ...

    Examples
    --------
    >>> kind_of("embedded.new-conserved-vector")
    'new'
    """
    return claim.partition(".")[2].partition("-")[0]


def check_id(claim: str) -> str:
    """The id itself, if it is one.

    Raises
    ------
    ValueError
        If it is not ``<part>.<kind>-<number or name>``.

    Examples
    --------
    >>> check_id("preserve.theorem-3-1")
    'preserve.theorem-3-1'
    """
    if not ID.match(claim):
        raise ValueError(
            f"a claim's id is <part>.<kind>-<number> with a kind among {', '.join(KINDS)}; "
            f"you gave {claim!r}."
        )
    return claim


def claim_name(claim: str) -> str:
    """What a reader calls it.

    Examples
    --------
    >>> claim_name("preserve.theorem-3-1-first-half"), claim_name("preserve.new-tangent-gap")
    ('Theorem 3.1, first half', 'New: tangent gap')
    >>> claim_name("preserve.section-b"), claim_name("embedded.lemma-a-1")
    ('Appendix B', 'Lemma A.1')
    """
    kind, *pieces = claim.partition(".")[2].split("-")
    if kind == "new":
        return f"New: {' '.join(pieces)}"
    if len(pieces[0]) == 1 and pieces[0].isalpha():  # of an appendix
        pieces = [pieces[0].upper(), *pieces[1:]]
        kind = "appendix" if kind == "section" else kind
    name = " ".join([kind.title(), *pieces])
    name = re.sub(r"(?<=[\dA-Z]) (?=\d)", ".", name)
    return re.sub(r"(?<=\d) (?=[a-z])", ", ", name)


def badge(verdict: str, tags: Iterable[str] = ()) -> str:
    """A verdict and its tags as inline HTML, styled by :func:`style`.

    Raises
    ------
    ValueError
        For a verdict or a tag that there is none of.

    Examples
    --------
    >>> print(badge("holds"))  # doctest: +ELLIPSIS
    <span class="verdict verdict-holds" title="as stated; ...">holds</span>
    """
    tags = list(tags)
    for name, known in [(verdict, VERDICTS), *((tag, TAGS) for tag in tags)]:
        if name not in known:
            raise ValueError(f"There is no '{name}'; the choices are {', '.join(known)}.")
    pairs = [(verdict, VERDICTS[verdict], verdict), *((tag, TAGS[tag], "tag") for tag in tags)]
    return " ".join(
        f'<span class="verdict verdict-{style}" title="{html.escape(meaning)}">{name}</span>'
        for name, meaning, style in pairs
    )


def style() -> str:
    """The rules of the style sheet that colour each verdict by its tone.

    Examples
    --------
    >>> style().splitlines()[0]
    '.verdict.verdict-holds { color: var(--lowdim-good); background: var(--lowdim-good-bg); }'
    """
    return "".join(
        f".verdict.verdict-{name} {{ color: var(--lowdim-{tone}); "
        f"background: var(--lowdim-{tone}-bg); }}\n"
        for name, tone in TONES.items()
    )
