"""Tails and clusters along training: what is measured is of the networks that were trained."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from lowdim.collapse import classes, decay
from lowdim.collapse.trajectories import Setting, half_way
from lowdim.linalg import ranks
from lowdim.nets import training

SMALL = Setting(per_class=3, width=12, decays=(0.01, 0.05), draws=2, steps=40, seed=1)


def alone(run: int, draw: int, penalty: list[float], order: np.ndarray | None = None):
    """The run with its own training: network, images, path."""
    course = SMALL.course()
    data = classes.draw("digits", per_class=3, seed=1 + draw)
    X = data.pixels if order is None else data.pixels[:, order]
    start = course.net.init(trials=2, seed=1, kind="xavier")
    one = [tuple(t[draw : draw + 1] for t in pair) for pair in start]
    lam = torch.tensor([penalty])
    task = training.Objective(course.net, X, data.onehot, normalization="sample", penalty=lam)
    return X, training.train(task, one, training.Momentum(SMALL.rate), SMALL.steps)


@pytest.mark.parametrize(
    ("run", "penalty"),
    [(0, [0.0] * 4), (2, [0.05] * 4), (4, [0.05, 0.0, 0.0, 0.05])],
)
def test_a_run_is_that_of_one_network_trained_alone(run, penalty):
    course, draw = SMALL.course(), 1
    X, path = alone(run, draw, penalty)
    for layer, (W, _) in enumerate(path.weights):
        expected = torch.linalg.svdvals(W[0]).double()
        torch.testing.assert_close(
            course.spectra[layer][-1, run, draw], expected, rtol=1e-3, atol=1e-4
        )
    hidden = [X, *(H[0] for H in course.net.forward(path.weights, X[None])[1])]
    within = torch.stack([ranks.wcss(H, course.labels) for H in hidden]).double()
    torch.testing.assert_close(course.within[-1, run, draw], within, rtol=1e-3, atol=1e-5)


def test_shuffled_images_are_the_same_images_in_another_order():
    course = SMALL.course()
    run, draw = SMALL.names.index("shuffled, λ = 0.05"), 0
    mixed, own = course.X[run * 2 + draw], course.X[draw]
    assert not torch.equal(mixed, own)
    assert sorted(mixed.T.tolist()) == sorted(own.T.tolist())


def test_shares_are_those_of_the_weights_at_both_ends():
    course = SMALL.course()
    for at, weights in ((0, course.start), (-1, course.weights)):
        for layer in course.layers:
            W = weights[layer][0].unflatten(0, (5, 2))
            tails = ranks.tails(W.double(), power=1)[..., 10]
            torch.testing.assert_close(course.tail(layer)[at], tails, rtol=1e-4, atol=1e-6)
            soft = ranks.soft_rank(W.double()).double()
            torch.testing.assert_close(course.soft_rank(layer)[at], soft)


def test_relative_variation_is_a_share_and_the_data_do_not_move():
    course = SMALL.course()
    assert 0 < float(course.relative.min()) and float(course.relative.max()) < 1
    torch.testing.assert_close(course.within[0, ..., 0], course.within[-1, ..., 0])
    assert course.layers == (0, 1, 2)


def test_the_same_question_is_not_trained_twice():
    assert SMALL.course() is Setting(**vars(SMALL)).course()


def test_fading_is_that_of_each_run_at_each_look():
    faded = SMALL.faded
    assert faded.shape == (len(SMALL.looks), 5) and bool((faded[:, 0] == 1).all())
    how = {"decay": 0.05, "rate": SMALL.rate, "momentum": 0.9}
    assert float(faded[-1, 2]) == pytest.approx(decay.forgetting(40, **how))


def test_a_power_law_is_half_way_where_it_should_be():
    steps = [0, *np.unique(np.geomspace(1, 1000, 200).astype(int)).tolist()]
    curve = 1 - torch.tensor(steps).double().clamp_min(1).log() / np.log(1000)
    assert half_way(steps, curve) == pytest.approx(1000**0.5, rel=1e-6)
    assert half_way(steps, 3 - 2 * curve) == pytest.approx(1000**0.5, rel=1e-6)


def test_a_run_that_diverges_is_refused():
    wild = Setting(per_class=3, width=12, decays=(0.01,), draws=2, steps=200, rate=50.0)
    with pytest.raises(ValueError, match=r"With rate = 50.0 \d+ of 8 runs on digits diverged"):
        wild.course()
