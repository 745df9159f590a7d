"""Networks for synthetic families: trials are an axis, kinds of points, controls."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from lowdim.data import manifolds
from lowdim.hashing import families, family_pictures

SMALL = families.Task(ambient=25, classes=4, per_class=12, width=8, epochs=4, seed=2)


@pytest.fixture(scope="module")
def found():
    return families.trained(SMALL)


def test_centred_points_have_mean_zero_and_those_on_the_sphere_length_one():
    centred, drawn, sphere = (SMALL.world("exp", inputs=name) for name in families.INPUTS)
    assert float(centred.train.mean((0, 1)).abs().max()) < 1e-5
    torch.testing.assert_close(drawn.test - drawn.train.mean((0, 1)), centred.test)
    torch.testing.assert_close(sphere.unseen.norm(dim=-1), torch.ones(100, 5))
    assert sphere.train.shape[2] == SMALL.ambient + 1


def test_test_points_are_others_of_the_same_manifolds_and_unseen_ones_follow():
    world = SMALL.world("sine", inputs="as drawn", few=3)
    family = manifolds.AnalyticFamily("sine", ambient=25, seed=2)
    all_points = family.draw(m=7, n=22, dtype=torch.float32)
    torch.testing.assert_close(world.train, all_points.X[:4, :12])
    torch.testing.assert_close(world.test, all_points.X[:4, 12:])
    torch.testing.assert_close(world.unseen, all_points.X[4:, :5])
    torch.testing.assert_close(world.gamma, all_points.gamma[4:])


def test_unknown_inputs_are_refused():
    with pytest.raises(ValueError, match="inputs"):
        SMALL.world("sine", inputs="whitened")


def test_a_trial_of_many_is_that_trial_alone(found):
    alone = SMALL.learn(found.worlds[:1])
    one = found.halfway.of([0])
    for (W, b), (V, c) in zip(one.weights, alone.weights, strict=True):
        torch.testing.assert_close(W, V, rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(b, c, rtol=1e-4, atol=1e-5)
    many = found.halfway.ratios(found.worlds)
    torch.testing.assert_close(one.ratios(found.worlds[:1]).rho, many.rho[:1])


def test_more_training_goes_on_where_the_first_half_stopped(found):
    assert families.trained(SMALL) is found
    start = SMALL.learn(found.worlds, start=found.halfway, steps=0)
    torch.testing.assert_close(start.weights[0][0], found.halfway.weights[0][0])
    assert not bool(found.end.diverged.any())


def test_scores_are_the_ratios_and_accuracies_on_test_points(found):
    rho, accuracy = found.end.ratios(found.worlds)
    scored = found.end.scored(found.worlds)
    assert [s.rho for s in scored] == rho[:, 1].tolist()
    assert [s.accuracy for s in scored] == accuracy.tolist()
    R = found.end.represent(found.worlds, "test")
    assert tuple(R.shape) == (5, 4, 10, 8)
    assert bool((R >= 0).all())
    pre = found.end.represent(found.worlds, "test", pre=True)
    torch.testing.assert_close(pre.clamp_min(0), R)
    with pytest.raises(ValueError, match="kind"):
        found.end.represent(found.worlds, "validation")


def test_a_variance_penalty_shrinks_variance_within_manifolds(found):
    def spread(learnt):
        return float(learnt.represent(found.worlds[:1], "train").var(2).sum(-1).mean())

    start = found.end.of([0])
    weak, strong = (
        SMALL.with_variance(start, found.worlds[:1], steps=40, strength=s) for s in (0.0, 2.0)
    )
    assert spread(strong) < spread(weak)
    assert not strong.weights[0][0].requires_grad


def test_ratios_and_one_shot_learning_by_hand():
    R = torch.tensor([[[0.0], [3.0]], [[10.0], [13.0]]]).double()
    assert families.ratio(R) == pytest.approx((10 + 13 + 7 + 10) / 4 / 3)
    assert families.ratio(R, squared=True) == pytest.approx((100 + 169 + 49 + 100) / 4 / 9)
    assert families.one_shot(R) == 1.0
    assert families.one_shot(torch.tensor([[[0.0], [7.0]], [[10.0], [13.0]]]).double()) == 0.5


def test_fishers_map_beats_the_raw_points_on_training_data():
    world = families.Task(ambient=40, classes=20, per_class=30).world("sine")
    maps, X = families.controls(world), world.train.double()
    raw, by_fisher = (families.ratio(X @ maps[name].mT) for name in ("raw", "Fisher"))
    assert by_fisher > raw == pytest.approx(families.ratio(X))


def test_beside_and_pairs_agree_with_their_parts(found):
    table = families.beside(found.end, found.worlds)
    np.testing.assert_allclose(table[:, 0], found.end.ratios(found.worlds).rho[:, 1], rtol=1e-6)
    within, between = families.pairs(found)["raw points, unseen"]
    assert float(table[0, 2]) == pytest.approx(between.mean() / within.mean(), rel=1e-6)
    low, high = families.tails(within, between)
    assert (within <= low).mean() == pytest.approx(0.99, abs=1e-3)
    assert (between >= high).mean() == pytest.approx(0.99, abs=1e-3)


def test_the_picture_has_a_line_for_each_map_and_the_printed_value():
    curves = {"sine": np.ones((3, 2)), "cosine": np.full((3, 2), 2.0)}
    fig = family_pictures.ratio_by_dimension([30, 100], curves, {"sine": 26.8, "cosine": 10.79})
    assert len(fig.axes[0].get_lines()) == 8


@pytest.mark.parametrize("per_class", [1, 12, 13, 40])
def test_half_of_the_epochs_counts_whole_batches(per_class):
    for classes, epochs in ((3, 1), (4, 4), (50, 7)):
        task = families.Task(classes=classes, per_class=per_class, epochs=epochs)
        batches = len(range(0, classes * per_class, families.BATCH))
        assert task.half == epochs * batches // 2
