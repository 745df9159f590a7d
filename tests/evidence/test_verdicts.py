"""Verdicts: carried by evidence, or not by this run."""

from __future__ import annotations

import pytest
import torch
from lowdim.evidence import attack, claim, normal, values, verdicts
from lowdim.evidence.ladder import Ladder
from lowdim.publish import records


@claim
def below_one(x):
    return x.abs(), torch.ones_like(x)


@claim
def below_square(x):
    return x.abs(), 1 + x**2


FALSE = attack(below_one, random={"x": normal()}, trials=50)
TRUE = attack(below_square, random={"x": normal()}, trials=50)


def ladder(*rungs: float) -> Ladder:
    made = Ladder("demo")
    made.start("a", [rungs[0]])
    for k, value in enumerate(rungs[1:]):
        made.leq(f"b{k}", [value], because="a reason")
    return made


SOUND, BROKEN = ladder(1.0, 2.0), ladder(2.0, 1.0)


@pytest.mark.parametrize(
    ("ruling", "problem"),
    [
        (lambda: verdicts.holds(TRUE), ""),
        (lambda: verdicts.holds(TRUE, ladder=SOUND), ""),
        (lambda: verdicts.holds(FALSE), "violations were found"),
        (lambda: verdicts.holds(TRUE, ladder=BROKEN), "its ladder breaks at b0"),
        (lambda: verdicts.holds(TRUE, counterexample=True), "violations were found"),
        (lambda: verdicts.holds(), "nothing was tried"),
        (lambda: verdicts.proof_repaired(TRUE, ladder=BROKEN, by=SOUND), ""),
        (lambda: verdicts.proof_repaired(TRUE, ladder=SOUND, by=SOUND), "no rung"),
        (lambda: verdicts.proof_repaired(TRUE, ladder=BROKEN), "no repaired ladder"),
        (lambda: verdicts.proof_repaired(TRUE, ladder=BROKEN, by=BROKEN), "repaired proof breaks"),
        (lambda: verdicts.repaired(FALSE, by=TRUE), ""),
        (lambda: verdicts.repaired(FALSE, by=(SOUND, TRUE)), ""),
        (lambda: verdicts.repaired(FALSE, by=FALSE), "the repaired statement has"),
        (lambda: verdicts.repaired(FALSE), "neither a repaired ladder"),
        (lambda: verdicts.repaired(TRUE, by=TRUE), "no violation"),
        (lambda: verdicts.repaired(FALSE, by=TRUE, counterexample=False), "does not check"),
        (lambda: verdicts.refuted(FALSE), ""),
        (lambda: verdicts.refuted(TRUE), "no violation"),
        (lambda: verdicts.refuted(TRUE, counterexample=True), ""),
        (lambda: verdicts.undecidable(trials=1), ""),
    ],
)
def test_evidence_carries_a_verdict_or_says_why_not(ruling, problem):
    found = ruling().problem
    assert bool(found) == bool(problem)
    assert problem in found


def test_words_and_tags_of_the_book_only():
    with pytest.raises(ValueError, match="proof-repaired"):
        verdicts.judged("true", TRUE)
    with pytest.raises(ValueError, match="sharpened"):
        verdicts.judged("holds", TRUE, tags=["nice"])
    with pytest.raises(TypeError):
        verdicts.holds(TRUE, nice=True)


def test_an_attack_counts_for_itself():
    with pytest.raises(ValueError, match="counts for itself"):
        verdicts.holds(TRUE, trials=3)
    assert verdicts.holds(TRUE).trials == 50
    assert verdicts.refuted(FALSE).violations == FALSE.violations > 0


def test_tags_are_truth_values_in_one_order():
    ruling = verdicts.holds(TRUE, typo=torch.tensor(True), vacuous=True, sharpened=False)
    assert ruling.tags == ("vacuous", "typo")


@pytest.mark.parametrize(
    ("answers", "word"),
    [
        ([True, True], "reproduced"),
        ([True, False], "partly"),
        ([False, False], "not-reproduced"),
        ([True, None], "reproduced"),
        ([None], "not-reproduced"),
    ],
)
def test_a_figure_is_judged_by_its_lines(answers, word):
    lines = [verdicts.compared("q", 1, 2, "", answer) for answer in answers]
    assert verdicts.reproduced(lines, trials=1).verdict == word


def shown(monkeypatch, rulings, **options):
    """What verdict(...) displays: the bundle and its metadata."""
    seen = []
    monkeypatch.setenv("LOWDIM_CHAPTER", "preserve/weyl")
    monkeypatch.setattr(
        "IPython.display.display",
        lambda bundle, raw, metadata: seen.append((bundle, metadata)),
    )
    verdicts.verdict(rulings, **options)
    return seen[0]


def test_the_record_has_numbers_and_no_words(monkeypatch):
    values.forget()
    values.say(slope=values.Estimate(-1.0, 0.1))
    rulings = {
        "theorem-1": verdicts.holds(TRUE, ladder=SOUND),
        "figure-1": verdicts.reproduced([verdicts.compared("q", 1, 1.0, "r", True)], trials=1),
    }
    bundle, metadata = shown(monkeypatch, rulings)
    record = metadata["lowdim_record"]
    full = {
        **record,
        "chapter": "preserve/weyl",
        "parameters": {"seed": 0},
        "seed": 0,
        "preset": None,
    }
    records.validate(full)
    assert [claim["id"] for claim in record["claims"]] == [
        "preserve.theorem-1",
        "preserve.figure-1",
    ]
    assert record["values"] == {"slope": {"value": -1.0, "error": 0.1}}
    assert "because" not in record["claims"][0]["ladder"][0]
    assert "theorem-1" in bundle["text/plain"]
    values.forget()


def test_a_run_that_does_not_carry_a_verdict_ends_well_and_says_so(monkeypatch):
    bundle, metadata = shown(monkeypatch, {"lemma-2": verdicts.holds(FALSE)})
    assert metadata["lowdim_record"]["claims"][0]["supported"] is False
    for text in bundle.values():
        assert "does not support" in text and "violations were found" in text


@pytest.mark.parametrize("name", ["preserve.lemma-1", "thing-1"])
def test_rulings_are_named_by_kind_and_number(monkeypatch, name):
    with pytest.raises(ValueError, match="as in theorem-3-1"):
        verdicts.verdict({name: verdicts.holds(TRUE)})


def test_no_ruling_no_verdict():
    with pytest.raises(ValueError, match="at least one"):
        verdicts.verdict({})
