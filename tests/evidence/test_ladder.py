"""Ladders: a step that fails is found, rounding is not taken for one, records are JSON."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from lowdim.evidence.ladder import Ladder, plain
from lowdim.evidence.tables import Table, short


def two(left, right, *, relation: str = "leq", **options) -> Ladder:
    rungs = Ladder("two rungs", **options)
    rungs.start("a", left)
    getattr(rungs, relation)("b", right, because="so")
    return rungs


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.floats(0.01, 100), st.floats(0.01, 100)), min_size=1, max_size=30),
    st.sampled_from(["leq", "eq"]),
)
def test_violations_are_those_of_the_plain_comparison(pairs, relation):
    left, right = (torch.tensor(side, dtype=torch.float64) for side in zip(*pairs, strict=True))
    (step,) = two(left, right, relation=relation).check()
    slack = 1e-6 * torch.maximum(left, right)
    if relation == "leq":
        clear, close = (left > right + slack).sum(), (left > right - slack).sum()
        worst = (left / right).max()
    else:
        clear, close = ((left - right).abs() > slack).sum(), (left != right).sum()
        worst = ((left - right).abs() / torch.maximum(left, right)).max()
    assert clear <= step.violations <= close
    assert step.instances == len(pairs)
    assert step.worst == pytest.approx(worst.item())


def test_the_broken_rung_is_named_and_not_its_neighbours():
    x = torch.linspace(1, 2, 11, dtype=torch.float64)
    rungs = Ladder("chain")
    rungs.start("q_0", x)
    rungs.leq("q_1", 2 * x, because="doubling")
    rungs.eq("q_2", 2 * x * (1 + 1e-12), because="rounding")
    rungs.leq("q_3", 1.9 * x + (x > 1.5), because="wishing")
    rungs.leq("q_4", 10 * x, because="room")
    assert rungs.broken == ["q_3"]
    steps = rungs.check()
    assert [step.violations for step in steps] == [0, 0, int((x <= 1.5).sum()), 0]
    assert steps[2].worst == pytest.approx(2 / 1.9)
    assert steps[0].loss == pytest.approx(2)
    table = rungs.table()
    at = table.header.index("state")
    assert at == 1  # beside the rung: it is what a reader looks for, and the table may be wide
    assert [row[at] for row in table.rows] == ["holds", "holds", "broken", "holds"]


def test_the_ends_may_be_in_order_while_the_proof_is_broken():
    rungs = Ladder("detour")
    rungs.start("a", [1.0])
    rungs.leq("b", [0.5], because="wrong")
    rungs.leq("c", [2.0], because="right")
    assert rungs.broken == ["b"]


def test_tolerances_are_respected():
    assert two([1 + 1e-10], [1.0]).broken == []
    assert two([1 + 1e-8], [1.0]).broken == ["b"]
    assert two([1 + 1e-8], [1.0], relative=1e-7).broken == []
    assert two([1e-14], [0.0]).broken == []
    assert two([1e-12], [0.0]).broken == ["b"]
    assert two([1e-12], [0.0], absolute=1e-11).broken == []
    assert two([1.0], [1 + 1e-8], relation="eq").broken == ["b"]
    assert two([1.0], [1 + 1e-10], relation="eq").broken == []


def test_lists_keep_double_precision():
    assert two([0.1], torch.tensor([0.1], dtype=torch.float64), relation="eq").broken == []
    assert two(np.array([0.1 + 1e-8]), [0.1]).broken == ["b"]


def test_records_are_json_even_where_a_side_is_zero():
    rungs = Ladder("zeros")
    rungs.start("a", [0.0, 1.0])
    rungs.leq("b", [0.0, 0.0], because="no")
    rungs.eq("c", [0.0, 0.0], because="yes")
    steps = rungs.check()
    assert steps[0].worst == float("inf")
    records = [step.record() for step in steps]
    assert json.loads(json.dumps(records, allow_nan=False)) == [
        {"rung": "b", "because": "no", "instances": 2, "violations": 1, "worst": None},
        {"rung": "c", "because": "yes", "instances": 2, "violations": 0, "worst": 0.0},
    ]


def test_values_are_detached_and_flattened():
    x = torch.ones(2, 3, requires_grad=True)
    rungs = two(x, 2 * x)
    assert rungs.rungs[0].values.shape == (6,)
    assert not rungs.rungs[1].values.requires_grad
    assert rungs.check()[0].instances == 6


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda r: r.leq("b", [1.0], because=""), "no first rung"),
        (lambda r: (r.start("a", [1.0]), r.start("c", [1.0])), "already starts at 'a'"),
        (lambda r: r.start("a", [float("nan"), 1.0]), "1 of 2"),
        (lambda r: r.start("a", [float("inf")]), "1 of 1"),
        (lambda r: r.start("a", []), "0 of 0"),
        (
            lambda r: (r.start("a", [1.0]), r.leq("b", [1.0, 2.0], because="")),
            "'b' has 2 instances, but 'a' has 1",
        ),
    ],
)
def test_refusals_name_the_values(call, said):
    with pytest.raises(ValueError) as refusal:
        call(Ladder("title"))
    assert said in str(refusal.value)


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"\|P(X)-P(X^\star)\|_{\max}", "‖P(X)-P(X^*)‖_max"),
        (r"$\sin\theta_1$", "sinθ_1"),
        (r"\sqrt{2r}\,\|Z\|_2/\delta", "√(2r) ‖Z‖_2/δ"),
        (r"U^\top Z V_\perp", "UᵀZ V_⊥"),
        (r"\{i:\sigma_i\ge\tau\}", "{i:σ_i≥τ}"),
        (r"\left(\frac{a}{b}\right)", "(a/b)"),
        (r"\tfrac12M\,\frac{a+b}{2L}\nu", "1/2 M (a+b)/(2L) ν"),
        (r"\frac1{\lambda}\Phi\odot\zeta", "1/λ Φ⊙ζ"),
        ("no mathematics at all", "no mathematics at all"),
    ],
)
def test_plain_text_of_formulas(latex, text):
    assert plain(latex) == text


def test_plain_leaves_no_command_that_it_knows_of_half_replaced():
    # \left begins with \le, \infty with \in, \epsilon ends in no shorter command
    assert plain(r"\infty") == "∞"
    assert plain(r"\le") == "≤"
    assert "\\" not in plain(r"\varepsilon\le\infty\cdot\lambda_{\min}")


@pytest.mark.parametrize("kind", [bool, np.bool_])
def test_tables_say_yes_and_no_for_truth_values_and_leave_words_alone(kind):
    table = Table(("is", "word"), [(kind(True), "True"), (kind(False), "False")])
    assert str(table).splitlines()[1:] == ["yes  True", "no   False"]
    assert '<td class="txt">no</td><td class="txt">False</td>' in table._repr_html_()


def test_tables_typeset_formulas_within_a_sentence():
    table = Table(("what",), [(r"from $a<b$ to $X^\ell$, 5 $",)])
    assert r"\(a&lt;b\)" in table._repr_html_() and r"\(X^\ell\)" in table._repr_html_()
    assert ", 5 $</td>" in table._repr_html_()
    assert str(table).splitlines()[1] == r"from $a<b$ to $X^\ell$, 5 $"


def test_tables_align_numbers_and_escape_html():
    table = Table(("what", "n"), [("a<b", 5), ("c", 12)])
    assert str(table) == "what   n\na<b    5\nc     12"
    html = table._repr_html_()
    assert "a&lt;b" in html
    assert html.count('<td class="num">') == 2
    assert html.count('<td class="txt">') == 2
    assert short(float("nan")) == "nan"
    assert short(2 / 3, 2) == "0.67"


def test_a_step_from_nothing_has_no_median_factor():
    steps = Ladder("from below zero")
    steps.start("a", [-1.0, -2.0])
    steps.leq("b", [0.0, 1.0], because="signs")
    table = steps.table()
    assert table.rows[0][table.header.index("median loss")] == "–"


def test_steps_are_typeset_on_a_page_and_plain_in_text():
    steps = Ladder("a proof")
    steps.start("a", [1.0])
    steps.leq(r"\sqrt{r}\,\|Z\|_2 < b", [2.0], because="so")
    table = Table(("ladder", *steps.table().header), [("first", *steps.table().rows[0])])
    assert "≤ √(r) ‖Z‖_2 < b" in str(table)
    assert r"\(\le \sqrt{r}\,\|Z\|_2 &lt; b\)</span>" in table._repr_html_()


def test_the_median_loss_is_that_of_instances_with_a_positive_left_side():
    steps = Ladder("factors")
    steps.start("a", [0.0, 0.5, 0.5, 4.0])
    steps.leq("b", [5.0, 1.0, 1.5, 40.0], because="they grow")
    [step] = steps.check()
    assert step.loss == 3.0  # of 2, 3 and 10
    assert step.worst == 0.5 and step.worst_at == 1


def test_a_right_side_of_zero_is_met_or_broken():
    for left, worst in (([0.0, -1.0], 1.0), ([0.0, 1.0], float("inf"))):
        steps = Ladder("ends")
        steps.start("a", left)
        steps.leq("b", [0.0, 0.0], because="zero")
        [step] = steps.check()
        assert step.worst == worst and step.violations == int(worst > 1)
