"""Warm-ups: what they cost, what they begin with, and a draw of many alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from lowdim.collapse import warmups
from lowdim.linalg import ranks

SMALL = warmups.Contest(
    per_class=5,
    spreads=(0.5,),
    decays=(0.0, 0.02),
    width=12,
    budget=10,
    rates=(0.03, 0.06),
    draws=2,
)
BLOBS = SMALL.names[0]


@pytest.mark.parametrize("share", [0.0, 0.02, 0.1, 0.5, 1.0])
def test_a_warm_up_stays_within_the_budget(share):
    first, rest = SMALL.phases(share)
    spent = first * warmups.CLASSES + rest * SMALL.samples
    assert first >= 1 and spent <= SMALL.budget * SMALL.samples
    assert spent > (SMALL.budget - 1) * SMALL.samples


def test_costs_count_sample_gradients_and_updates():
    costs = SMALL.costs()
    assert costs["plain"] == (SMALL.budget * SMALL.samples, 1.0)
    assert costs["all mini-batches"][0] == costs["plain"][0]
    assert costs["all mini-batches"][1] > costs["a warm-up on K, then full"][1] > 0.9


def test_columns_are_class_by_class_and_centred():
    train, test = warmups.drawn_images("digits", 4, seed=1)
    assert float(train.mean(1).abs().max()) < 1e-12 and float(test.mean(1).abs().max()) > 1e-6
    assert len(torch.unique(torch.cat([train, test], 1), dim=1).T) == 80


def test_blobs_vary_about_one_centre_for_each_class():
    train, test = warmups.blobs(1e-9, 3, draw=2, seed=0)
    torch.testing.assert_close(train, test, atol=1e-7, rtol=0)
    spread = ranks.wcss(train[None], np.repeat(np.arange(10), 3))
    assert float(spread) < 1e-15


@pytest.mark.parametrize("method", warmups.METHODS)
def test_every_method_trains_all_decays_rates_and_draws(method):
    run = SMALL.run(BLOBS, method)
    pairs = len(SMALL.rates) ** (2 if method in warmups.WARM else 1)
    assert run.objective.shape == (len(SMALL.decays) * pairs * SMALL.draws,)
    end = SMALL.ending(BLOBS, 0, method)
    start = SMALL.net(BLOBS).init(trials=2, seed=0, kind="xavier")
    guess = SMALL.net(BLOBS).forward(start, SMALL.data(BLOBS)[0])[1][-1]
    goal = torch.nn.functional.one_hot(torch.from_numpy(SMALL.labels)).T.float()
    before = (guess - goal).square().sum(1).mean(1)
    assert bool((end.objective < before).all()) and 0 <= end.accuracy <= 1
    assert end.tail >= 0


def test_the_best_rates_are_those_of_the_least_mean_objective():
    every = SMALL.run(BLOBS, "plain").objective.unflatten(0, (2, 2, 2))  # λ, rates, draws
    for i in range(2):
        least = float(every[i].mean(1).min())
        assert SMALL.ending(BLOBS, i, "plain").mean == pytest.approx(least)


def test_a_draw_of_many_is_that_draw_alone():
    alone = replace(SMALL, draws=1)
    many, one = (each.run(BLOBS, "centroids").objective for each in (SMALL, alone))
    torch.testing.assert_close(many[::2], one, rtol=1e-4, atol=1e-6)


def test_blobs_without_spread_make_centroids_and_one_per_class_the_same_warm_up():
    tight = replace(SMALL, spreads=(1e-12,))
    early = tight.early(tight.names[0], 0)
    assert early["centroids"] == pytest.approx(early["one per class"], rel=1e-4)
    assert early["centroids"] != pytest.approx(early["random K"], rel=1e-4)


def test_a_share_changes_warm_ups_only():
    assert SMALL.run(BLOBS, "plain", share=0.5) is SMALL.run(BLOBS, "plain")
    assert SMALL.run(BLOBS, "centroids", share=0.5) is not SMALL.run(BLOBS, "centroids")


def test_duels_are_one_for_each_cell():
    assert len(SMALL.duels("plain")) == len(SMALL.cells) == 4
    assert SMALL.provenance.taken == 100
