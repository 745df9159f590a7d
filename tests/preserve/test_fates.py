"""Fates: a dead network, one that learns and one that diverges; rates, lines and panels."""

from __future__ import annotations

import pytest
import torch
from lowdim.evidence.values import Share
from lowdim.preserve import fates, starts

SMALL = starts.Setting(size=80, hidden=20, draws=2, seed=3)


@pytest.fixture(scope="module")
def positive():
    return SMALL.data(starts.POSITIVE, 0.5)


def test_the_printed_start_dies_on_non_negative_data_with_gradient_zero(positive):
    fate = fates.train(
        SMALL, positive.noisy, SMALL.weights("nonnegative", 1.0), loss="sum", steps=5
    )
    assert fate.word == "all units dead"
    assert fate.cells == ("all units dead", "0", "1.00")
    assert fate.dead == 1.0
    assert abs(fate.share - 1) < 1e-6
    assert float(fate.run.gradient_norm.max()) == 0.0


def test_a_signed_start_learns_and_the_printed_one_diverges_on_the_papers_data(positive):
    signed = SMALL.weights("uniform", SMALL.usual)
    fate = fates.train(SMALL, positive.noisy, signed, loss="sample", steps=40)
    assert fate.word == "trains"
    assert fate.share < 1
    X = SMALL.data(starts.PAPER, 0.5).noisy
    wide = SMALL.weights("nonnegative", 1.0, decoder="nonnegative", decoder_scale=1.0)
    lost = fates.train(SMALL, X, wide, loss="sum", steps=20)
    assert lost.diverged
    assert lost.cells == ("diverges", "–", "–")


def test_draws_are_followed_alone_as_together():
    alone = starts.Setting(size=80, hidden=20, draws=1, seed=3)
    many = fates.both(SMALL, starts.POSITIVE, SMALL.usual, "mean", steps=8)
    one = fates.both(alone, starts.POSITIVE, SMALL.usual, "mean", steps=8)
    for name, run in many.items():
        assert torch.allclose(run.distance[:, :1], one[name].distance, atol=1e-4)
    ours = many["W > 0"]
    assert ours.steps == list(range(9))
    assert ours.most("WX,Y") < 1e-9  # nothing is cut
    assert ours.end("X,Y") == float(ours.distance[-1, :, 1].mean())


def test_the_best_rate_is_the_last_before_the_loss_rises(positive):
    signed = SMALL.weights("uniform", SMALL.usual)
    rates = (0.002, 0.008, 0.032)
    how = {"method": "gd", "steps": 20}
    best = fates.best(SMALL, positive, signed, rates=rates, **how)
    each = {
        rate: fates.train(SMALL, positive.noisy, signed, loss="sample", rate=rate, **how)
        for rate in rates
    }
    assert best.share == each[best.rate].share
    below = [fate.share for rate, fate in each.items() if rate < best.rate]
    assert all(share > best.share for share in below)
    printed = SMALL.weights("nonnegative", 1.0)
    assert fates.best(SMALL, positive, printed, rates=(0.01,), **how) == fates.Best()


def test_ahead_behind_and_level_exchange_with_the_two_starts():
    B = fates.Best
    pairs = [
        (B(0.50, 0.90), B(0.504, 0.91)),
        (B(0.40, 0.95), B(0.5, 0.9)),
        (B(), B(0.5, 0.3)),
    ]
    assert fates.standing(pairs, "loss") == [1, 1, 1]
    assert fates.standing(pairs, "accuracy") == [1, 1, 1]
    turned = [(b, a) for a, b in pairs]
    for what in ("loss", "accuracy"):
        ahead, behind, level = fates.standing(pairs, what)
        assert fates.standing(turned, what) == [behind, ahead, level]
    with pytest.raises(ValueError, match=r"what .*loss.*'rate'"):
        fates.standing(pairs, "rate")


def run(end, accuracy, gradient=1.0):
    return fates.Followed([0, 4], torch.full((2, 3, 3), end), gradient, accuracy)


def test_lines_say_what_the_marks_say():
    curves = {
        t: {"W > 0": run(0.25, 0.5, 21.3), "signed W": run(0.75, 0.25)} for t in ("a", "b", "c")
    }
    marks = {"a": (False, False, True), "b": (False, True, False), "c": (True, False, False)}
    lines = fates.lines(curves, marks, start=3.64, dead=Share(0, 6))
    assert [line["agrees"] for line in lines] == [False, False, True, True, False, True, False]
    measured = [line["measured"] for line in lines]
    assert measured[:4] == [[0.25, 0.25]] * 3 + [[3.6, 21.0]]
    assert measured[5] == [0.5, 0.25]


def test_panels_share_an_axis_and_have_a_line_at_the_level():
    curves = {t: {"W > 0": run(0.3, 0.5), "signed W": run(0.7, 0.2)} for t in ("a", "b", "c")}
    fig = fates.draw(curves, level=0.9)
    assert [ax.get_title() for ax in fig.axes] == ["a", "b", "c"]
    heights = [line.get_ydata()[0] for line in fig.axes[1].lines]
    assert [round(float(y), 6) for y in heights] == [0.3, 0.3, 0.7, 0.7, 0.9]
