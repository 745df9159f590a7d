"""Words and numbers: they live apart and meet when a page is built."""

from __future__ import annotations

import pytest
from lowdim.publish import words

CHAPTER = r"""# Title

```{prf:theorem} Weyl
:label: preserve.theorem-9-1
:nonumber:
:source: {cite}`weyl1912`, Satz I
:reading: Hermitian.
:says: $\sigma$ moves by at most $\|E\|$.
For every $i$ …
```

::::{dropdown} More
```{claim} figure-2
:source: the same, Figure 2
It falls like $n^{-1}$.
```
::::

```{code-cell} python
text = "{value}`not_this`"
```

The slope is {value}`slope:.1f`{when}` broken > 0 | , and a rung breaks | `.

```{evidence} theorem-9-1
No violation in {value}`trials`.
```
```{evidence} figure-2
{when}`slope < -0.5 | It falls. | It does not fall.`
```
```{erratum} theorem-9-1
:where: Satz I
:printed: $<$
:correct: $\le$
:why: {value}`slope` is met.
:consequence: None.
```
"""
VALUES = {"slope": {"value": -1.04, "error": 0.1}, "broken": 0}
RECORD = {
    "chapter": "preserve/weyl",
    "parameters": {"trials": 20},
    "values": VALUES,
    "claims": [
        {"id": "preserve.theorem-9-1", "lines": []},
        {
            "id": "preserve.figure-2",
            "lines": [
                {"quantity": "slope", "reported": -1, "measured": VALUES["slope"], "agrees": True}
            ],
        },
    ],
}


def read(text: str = CHAPTER) -> words.Words:
    return words.read(text, part="preserve", where="weyl.md")


def test_statements_sources_readings_evidence_and_errata_are_read():
    found = read()
    assert list(found.statements) == ["preserve.theorem-9-1", "preserve.figure-2"]
    weyl = found.statements["preserve.theorem-9-1"]
    assert weyl.source == "{cite}`weyl1912`, Satz I"
    assert weyl.reading == "Hermitian."
    assert weyl.says == r"$\sigma$ moves by at most $\|E\|$."
    assert found.statements["preserve.figure-2"].says == "It falls like $n^{-1}$."
    assert found.used == {"slope", "broken", "trials"}


def test_words_and_numbers_are_joined():
    joined = words.join(RECORD, read(), title="Title")
    weyl, figure = joined["claims"]
    assert (weyl["part"], weyl["kind"]) == ("preserve", "theorem")
    assert weyl["evidence"] == "No violation in 20."
    assert figure["evidence"] == "It falls."
    assert weyl["errata"][0]["why"] == "-1.0 ± 0.1 is met."
    assert figure["reported"][0]["measured"] == "-1.0 ± 0.1"


def test_the_same_sentence_with_the_numbers_of_another_run():
    other = {**VALUES, "slope": {"value": 0.2, "error": 0.1}}
    text = read().evidence["preserve.figure-2"]
    assert words.fill(text, other) == "It does not fall."


def test_what_fits_has_no_problems():
    assert words.problems(read(), RECORD, where="weyl.md") == []


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("{evidence} figure-2", "{note}", "add ```{evidence} figure-2```"),
        ("slope:.1f", "slopes:.1f", "inserts slopes, which no cell says"),
        (":source: the same, Figure 2\n", "", "give its block the option :source:"),
    ],
)
def test_a_misfit_is_a_sentence_that_says_what_to_do(old, new, said):
    found = words.problems(read(CHAPTER.replace(old, new, 1)), RECORD, where="weyl.md")
    assert len(found) == 1
    assert said in found[0]


def test_rulings_and_statements_must_match():
    fewer = {**RECORD, "claims": RECORD["claims"][:1]}
    assert "does not rule on it" in words.problems(read(), fewer, where="weyl.md")[0]
    more = {**RECORD, "claims": [*RECORD["claims"], {"id": "preserve.lemma-5"}]}
    assert "rules on preserve.lemma-5" in words.problems(read(), more, where="weyl.md")[0]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("{evidence} figure-2", "{evidence} figure-3", "preserve.figure-3, which no block states"),
        ("{claim} figure-2", "{claim} theorem-9-1", "stated twice"),
        ("{claim} figure-2", "{claim} picture-2", "is no claim id"),
        (":why: {value}`slope` is met.\n", "", "lacks why"),
        ("{evidence} figure-2", "{evidence} theorem-9-1", "join the two"),
    ],
)
def test_words_that_cannot_be_read(old, new, said):
    with pytest.raises(words.WordsError, match=said):
        read(CHAPTER.replace(old, new, 1))


@pytest.mark.parametrize(
    ("condition", "answer"),
    [
        ("slope < -1", True),
        ("not broken", True),
        ("broken == 0 and slope < 0", True),
        ("broken or slope > 0", False),
        ("-2 < slope <= -1.04", True),
        ("slope / 2 < -0.5", True),
    ],
)
def test_conditions(condition, answer):
    assert words.holds(condition, VALUES) is answer


@pytest.mark.parametrize("condition", ["__import__('os')", "slope.real", "slope <", "f(x)"])
def test_conditions_are_not_programs(condition):
    with pytest.raises(words.WordsError, match="no condition"):
        words.holds(condition, VALUES)


def test_a_comparison_with_what_is_not_finite_is_false():
    assert not words.holds("a < 1", {"a": None})
    assert not words.holds("a >= 1", {"a": None})


@pytest.mark.parametrize("asked", ["slope[2]", "broken[0]"])
def test_a_place_that_is_not_there_is_a_sentence(asked):
    with pytest.raises(words.WordsError, match="asks for a place"):
        words.fill(f"{{value}}`{asked}`", VALUES)


def test_unknown_values_name_the_known():
    with pytest.raises(words.WordsError, match="said are: broken, slope"):
        words.fill("{value}`slop`", VALUES)
