"""Starts: signs of data and weights, draws alone and together, what ReLU cuts."""

from __future__ import annotations

import pytest
import torch
from lowdim.linalg import subspaces
from lowdim.preserve import starts

SMALL = starts.Setting(size=80, hidden=20, draws=2, seed=5)


@pytest.mark.parametrize("kind", starts.KINDS)
def test_a_draw_is_the_same_alone_and_among_others(kind):
    many, one = SMALL.data(kind, 0.1), SMALL.data(kind, 0.1, draws=1)
    assert torch.equal(many.noisy[:1], one.noisy)
    assert torch.equal(many.clean[:1], one.clean)
    together, alone = SMALL.weights("uniform", 1.0), SMALL.weights("uniform", 1.0, draws=1)
    assert all(torch.equal(a[:1], b) for (a, _), (b, _) in zip(together, alone, strict=True))


def test_non_negative_data_have_no_negative_part_and_the_same_sizes_of_noise():
    signed, positive = SMALL.data(starts.PAPER, 0.5), SMALL.data(starts.POSITIVE, 0.5)
    for part in (positive.clean, positive.noise, positive.noisy):
        assert bool((part >= 0).all())
    assert bool((signed.noisy < 0).any())
    assert torch.allclose(positive.clean + positive.noise, positive.noisy)


def test_an_unknown_kind_is_refused():
    with pytest.raises(ValueError, match=r"kind .*negative.*'signed'"):
        SMALL.data("signed", 0.5)


def test_encoder_and_decoder_have_their_ranges():
    (W, _), (V, _) = SMALL.weights("nonnegative", 0.5, decoder="nonnegative", decoder_scale=2.0)
    assert W.shape == (2, 20, 80)
    assert V.shape == (2, 80, 20)
    assert bool((W >= 0).all() & (W <= 0.5).all() & (V >= 0).all() & (V <= 2.0).all())
    assert float(V.max()) > 1.5
    usual = SMALL.weights("uniform", SMALL.usual)[1][0]
    assert float(usual.abs().max()) <= 20**-0.5


def test_what_is_cut_by_hand():
    X = torch.tensor([[[1.0, -1.0, 1.0], [0.0, 0.0, -2.0]]])
    W = torch.tensor([[[1.0, 0.0], [1.0, 1.0]]])  # WX = (1 −1 1; 1 −1 −1)
    found = starts.cut(X, W)
    assert found.output.tolist() == [[[1, 0, 1], [1, 0, 0]]]
    assert found.negative == 0.5
    assert abs(found.lost - 1 / 3) < 1e-12


def test_a_layer_that_cuts_nothing_and_loses_nothing_keeps_what_is_there():
    clean = SMALL.data(starts.POSITIVE, 0.0)
    W = SMALL.weights("nonnegative", 1.0)[0][0]
    found = starts.passed(clean, {"W > 0": W})
    bare, kept = found["no layer"], found["W > 0"]
    assert bare.linear < 1e-6
    assert kept.output < 1e-6
    assert kept.cut < 1e-9
    assert kept.negative == 0.0
    assert float(kept.ratio.max()) < 1e-6
    assert bare.accuracy == kept.accuracy


def test_means_are_over_draws():
    D, W = SMALL.data(starts.PAPER, 0.01), SMALL.weights("uniform", 1.0)[0][0]
    star, out = starts.rows(D.clean), starts.rows(torch.relu(W @ D.noisy))
    expected = subspaces.distance(star, out).mean() / 32**0.5
    found = starts.passed(D, {"signed": W})
    assert abs(found["signed"].output - float(expected)) < 1e-12
    table = starts.table({(starts.PAPER, 0.01): found})
    assert [row[2] for row in table.rows] == ["no layer", "signed"]
    assert table.rows[1][6] == f"{float(expected):.2f}"
