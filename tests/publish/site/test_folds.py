"""Fold bars: what they say of a cell, and which cell is folded whatever its tags say."""

from __future__ import annotations

from typing import Any

import pytest
from docutils import nodes
from docutils.utils import new_document
from lowdim.publish.site import folds

LADDERS = """
first = Ladder("the paper's ladder")
second = Ladder("repaired", relative=1e-9)
"""
ATTACKS = """
found = [attack(each, seed=seed) for each in (theorem_7, repaired_7)]
more = attack(within(3), seed=seed)
"""

DEFINED = "def check_harder():\n    pass\n\n\nclass multiplier:\n    pass"


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("# Two readings:\nx = Ladder('no')", "Two readings"),
        (LADDERS, "the paper's ladder and repaired"),
        ("Ladder(name)\nattack(lemma_a_1)", "attack on Lemma A.1"),
        (ATTACKS, "attack on Theorem 7, repaired 7 and within"),
        ("for stated in everything:\n    attack(stated)", "attack"),
        ("attack(lemma)", "attack on the lemma"),
        ("rulings |= {'lemma-1': proof_repaired(found)}", folds.RULED),
        (DEFINED, "check of an answer, `check_harder` and `multiplier`"),
        ("class Net:\n    pass", "`Net`"),
        ("x = compared('slope', 2, found)\nTable(('a',), x)", folds.COMPARED),
        ("say(a=1)\nhead = ('n', 'δ')\nTable(head, rows)", "table of n and δ"),
        ("say(a=1)\nTable((first, *rest), rows)", "a table"),
        ("found.table()", "a table"),
        ("x = 1\nsay(share=x)", folds.SAID),
        ("a, b = c\nx = y = 1\nf = 2", "`x`, `y` and `f`"),
        ("\n".join(f"def f{k}():\n    pass" for k in range(5)), "`f0`, `f1` and 3 more"),
        ("import math\nfrom x import y", "imports"),
        ("%matplotlib inline", ""),
        ("y = [x.attack(2) for x in z]", "`y`"),
        ("print(1)", ""),
        ("", ""),
    ],
)  # fmt: skip
def test_a_bar_says_what_is_inside(source: str, words: str) -> None:
    assert folds.inside(source) == words


def test_a_bar_shows_code_as_code_and_nothing_as_markup() -> None:
    assert folds.bar("Code", "`a<b`", "2 lines") == "<b>Code</b>: <code>a&lt;b</code>, 2 lines"


def cell(source: str, **given: Any) -> nodes.container:
    code = nodes.container("", nodes.literal_block("", source), nb_element="cell_code_source")
    return nodes.container("", code, nb_element="cell_code", **given)


@pytest.mark.parametrize(
    ("source", "before", "after"),
    [
        ("verdict(rulings);", None, "input"),
        ("verdict(rulings);", "output", "input+output"),
        ("verdict(rulings);", "all", "all"),
        ("from lowdim.evidence import verdict\n\nx = 1", None, None),
        ("my_verdict(rulings)", None, None),
    ],
)
def test_the_cell_that_rules_is_folded(source: str, before: str | None, after: str | None) -> None:
    page = new_document("x")
    page += cell(source, **({"hide_mode": before} if before else {}))
    folds.FoldRulings(page).apply()
    assert page[0].get("hide_mode") == after
    assert after is None or before == "all" or "prompt_show" in page[0]  # myst-nb asks for it


@pytest.mark.parametrize(
    ("shown", "words"),
    [
        (nodes.raw("", "<table><tr></tr><tr></tr><tr></tr>"), ("Output", "a table", "2 rows")),
        (nodes.image(uri="x.svg"), ("Output", "a figure", "")),
        (nodes.literal_block("", "one\ntwo"), ("Output", "", "2 lines")),
    ],
)  # fmt: skip
def test_a_folded_output_says_what_it_is(shown: nodes.Node, words: tuple[str, ...]) -> None:
    from myst_nb.sphinx_ import HideCodeCellNode

    page = new_document("x")
    page += HideCodeCellNode("", nodes.container("", shown, nb_element="cell_code_output"))
    folds.FoldBars(page).run()
    assert page[0]["bar"] == words
