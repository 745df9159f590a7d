"""Soft ranks against width and depth: what is measured is of the networks that were trained."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from lowdim.collapse.growth import Grid, random_share
from lowdim.linalg import ranks
from lowdim.nets import training
from lowdim.nets.networks import Dense

SMALL = Grid(per_class=3, decays=(0.0, 0.05), draws=2, steps=40)


def test_a_run_is_that_of_one_network_trained_alone():
    sweep = SMALL.widths((12, 16))
    data = SMALL.images()[1]
    net = Dense((64, 12, 12, 12, 12, 10), activation="tanh")
    start = [tuple(t[1:] for t in p) for p in net.init(trials=2, seed=0, kind="xavier")]
    task = training.Objective(net, data.pixels, data.onehot, normalization="sample", penalty=0.05)
    path = training.train(task, start, training.Momentum(0.05), 40)
    alone = [int(ranks.soft_rank(W)[0]) for W, _ in path.weights]
    assert sweep.runs[0].plain[-1, 1, 1].tolist() == alone
    assert sweep.layer(2)[-1, 1, 1, 0] == alone[2]
    assert float(sweep.runs[0].gradient[1, 1]) == pytest.approx(
        float(path.gradient_norm[0]), rel=1e-3
    )


def test_means_over_layers_and_over_square_ones():
    sweep = SMALL.depths((2, 3), side=4)
    for at, run in enumerate(sweep.runs):
        torch.testing.assert_close(sweep.mean()[..., at], run.plain.mean(-1))
        inside = run.plain[..., 1 : run.plain.shape[-1] - 1].mean(-1)
        torch.testing.assert_close(sweep.mean(inner=True)[..., at], inside)


def test_extremes_are_over_draws_and_sizes():
    sweep = SMALL.widths((12, 16))
    assert sweep.accuracy[0] == min(float(run.accuracy[0].min()) for run in sweep.runs)
    assert sweep.gradient[1] == max(float(run.gradient[1].max()) for run in sweep.runs)
    dead = Grid(per_class=3, decays=(0.0, 5.0), draws=2, steps=300).widths((12,))
    assert dead.alive[1] is False


def test_the_same_question_is_not_trained_twice():
    assert SMALL.widths((12,)).runs[0] is Grid(**vars(SMALL)).widths((12,)).runs[0]


def test_forgetting_is_that_of_the_steps_taken():
    assert SMALL.forgotten(0.0) == 1 > SMALL.forgotten(0.05)


@pytest.mark.parametrize("epsilon", [0.05, 0.1, 0.5])
def test_large_random_matrices_have_the_share_of_the_quarter_circle(epsilon):
    W = torch.from_numpy(np.random.default_rng(0).standard_normal((300, 300)))
    found = float(ranks.soft_rank(W, epsilon=epsilon)) / 300
    assert random_share(epsilon) == pytest.approx(found, abs=0.015)
