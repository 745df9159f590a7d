"""The glossary is the page of notation in another order."""

from __future__ import annotations

import re

from lowdim.evidence.vocabulary import TAGS, VERDICTS
from lowdim.publish import chapters
from lowdim.publish.site import glossary

NOTATION = (chapters.find_root() / "book" / "notation.md").read_text(encoding="utf-8")


def test_every_symbol_of_the_first_table_is_there() -> None:
    page = glossary.page(glossary.entries(NOTATION))
    first = NOTATION.partition("| --- |")[2].partition("\n\n")[0]
    rows = [row for row in first.splitlines() if row.startswith("| $")]
    assert len(rows) > 15
    for row in rows:
        symbols = re.findall(r"\$[^$]+\$", row.split(" | ")[0])
        assert all(symbol in page for symbol in symbols), row


def test_words_come_in_order_and_once() -> None:
    page = glossary.page(glossary.entries(NOTATION)).partition("## Verdicts")[0]
    words = re.findall(r"^(?!`|  )(\S.*)$", page, flags=re.M)
    assert words == sorted(words, key=glossary._in_order)
    assert len(words) == len(set(words)) > 30
    assert not [word for word in words if re.match(r"(its|their) ", word)]


def test_every_verdict_and_tag_is_explained() -> None:
    page = glossary.page([]).partition("## Verdicts")[2]
    for word in (*VERDICTS, *TAGS):
        assert f"\n{word}\n" in page


def test_lists_are_paired() -> None:
    pairs = [
        (w.word, w.symbol, w.code) for w in glossary.paired("$a$, $b$", "x, y", code="`p`, `q`")
    ]
    assert pairs == [("x", "$a$", "`p`"), ("y", "$b$", "`q`")]
    groups = [(w.word, w.symbol) for w in glossary.paired("$a$, $b$", "loss; decay, say")]
    assert groups == [("loss", "$a$"), ("decay, say", "$b$")]
    (one,) = glossary.paired("$a$", "what is seen; all of it")
    assert (one.word, one.remark) == ("what is seen", "all of it")
    (code,) = glossary.paired("$r$", "ratio: `hashing.rho`, as read")
    assert (code.word, code.code, code.remark) == ("ratio", "`hashing.rho`", "as read")
