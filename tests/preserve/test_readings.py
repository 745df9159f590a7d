"""Readings of Section 5: what their data are, what a table and a record make of their outcomes."""

from __future__ import annotations

import pytest
import torch
from lowdim.evidence.values import encode
from lowdim.linalg import subspaces
from lowdim.preserve import foils, learning, readings

SETTING = learning.Setting(80, 20, seed=1)
NAMED = readings.data(SETTING, draws=2)
KEY = ("C", "1/√m", "sample")
FINE = readings.Outcome(
    0.5, -1.0, 1e8, 0, 2, False, (0.9, 0.8), (0.9, 0.7), (0.9, 0.5), falls=True, falls_x=True
)
LOST = readings.Outcome(
    0.5, -9.0, 1e9, 0, 2, True, (0.9, float("nan")), (0.9, float("nan")), (1, 0)
)


def test_data_as_printed_are_weak_and_a_long_basis_makes_up_for_it():
    weak, long, one = (torch.linalg.matrix_norm(NAMED[k].clean) for k in "ADC")
    torch.testing.assert_close(80**0.5 * weak, one)
    assert bool(((long / one - 1).abs() < 0.3).all())


def test_exchanged_names_have_orthonormal_rows_in_each_cluster():
    # X*_k = G V with V Vᵀ = 1, so that X*_k X*_kᵀ = G Gᵀ with G as drawn, of variance 1/m.
    bases = SETTING.draw(draws=2, basis="gaussian").bases / 80**0.5
    for k in range(4):
        X, G = NAMED["B"].clean[..., 20 * k : 20 * (k + 1)], bases[..., 4 * k : 4 * (k + 1)]
        torch.testing.assert_close(X @ X.mT, G @ G.mT)


def test_bases_that_are_not_normalized_are_orthogonal_and_span_the_same():
    D = NAMED["D"]
    found = readings.not_normalized(D)
    U = found.clean @ D.coefficients.pinverse()
    for k in range(4):
        block, before = U[..., 4 * k : 4 * (k + 1)], D.bases[..., 4 * k : 4 * (k + 1)]
        gram = block.mT @ block
        off = gram - torch.diag_embed(gram.diagonal(dim1=1, dim2=2))
        assert off.abs().max() < 1e-8
        # Gram and Schmidt do not touch the first column.
        torch.testing.assert_close(block[..., 0], before[..., 0])
        apart = subspaces.distance(*(torch.linalg.qr(B).Q for B in (block, before)))
        assert apart.max() < 1e-6


def test_noise_inside_is_another_than_noise_on_top():
    inner = readings.with_noise_inside(NAMED["A"], SETTING)
    torch.testing.assert_close(inner.clean, NAMED["A"].noisy)
    assert (inner.noise * NAMED["A"].noise).mean().abs() < 0.01
    assert inner.noise.var().item() == pytest.approx(0.1, rel=0.05)


def test_an_outcome_is_read_off_its_run():
    X = NAMED["C"]
    found = readings.outcome(SETTING, X, steps=3, loss="mean")
    run = SETTING.fit(X.clean, X.noise, steps=3, loss="mean")
    assert (found.truth, found.data) == (run.ends("truth Y"), run.ends("data Y"))
    assert found.eta > found.delta
    assert (found.met, found.draws, found.lost) == (0, 2, False)
    assert found.change == pytest.approx(found.truth[1] / found.truth[0] - 1)


def test_weights_and_loss_as_printed_diverge():
    found = readings.outcome(SETTING, NAMED["C"], steps=20, loss="sum", scale=80**0.5)
    assert found.lost
    assert not found.falls
    row = readings.Tried({("C", "√m", "sum"): found}).table().rows[0]
    assert all(cell.endswith("∞") for cell in row[-3:])


@pytest.mark.parametrize(
    ("falling", "needs"),
    [
        ([("C", "1/√m", "sample")], "initial weights and a loss"),
        ([("C", "√m", "sample"), ("C", "1/√m", "mean")], "a loss"),
        ([("C", "1/√m", "sum")], "initial weights"),
        ([("C", "√m", "sum")], "nothing"),
    ],
)
def test_what_a_fall_needs_is_what_no_falling_reading_does_without(falling, needs):
    idle = {("A", "√m", "sum"): LOST}
    assert readings.Tried({**idle, **dict.fromkeys(falling, FINE)}).needs == needs


def test_counts_agree_with_the_readings():
    found = readings.Tried({KEY: FINE, ("A", "√m", "sum"): LOST, ("A", "1/√m", "sum"): FINE})
    counts = found.counts()
    assert str(counts["falling"]) == str(counts["falling_x"]) == "2 of 3"
    assert str(counts["literal"]) == str(counts["wide_lost"]) == "1 of 1"
    assert counts["falling_names"] == ["“C sample”", "“A sum”"]
    assert (counts["falling_a"], counts["wide_falls"]) == (["1/√m sum"], 0)
    assert str(found.met) == "0 of 6"


def test_a_record_keeps_the_table():
    found = readings.Tried({KEY: FINE, ("A", "√m", "sum"): LOST})
    kept = {name: encode(column) for name, column in found.columns().items()}
    assert readings.from_columns(kept).table().rows == found.table().rows
    assert readings.from_columns({}).outcomes == {}


def test_lines_compare_what_falls_and_show_the_foils_beside_it():
    runs = {kind: foils.trained(SETTING, kind, draws=1, steps=2) for kind in foils.KINDS}
    orthogonal = ("D, U_k orthogonal", "1/√m", "sample")
    tried = readings.Tried({readings.LONGER: FINE, orthogonal: LOST, ("C", "√m", "sum"): LOST})
    found = readings.lines(runs, tried)
    assert [line["agrees"] for line in found] == (
        [False, True, False, False, False, None, None, None, False, False]
    )
    assert found[8]["measured"] == {"count": 1, "of": 1}
    assert found[6]["measured"] == pytest.approx(runs[foils.KINDS[1]].ends(), rel=1e-5)
