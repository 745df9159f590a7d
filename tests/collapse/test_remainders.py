"""Gradients at centroids: what is lost is what calculus says, and the bounds lie in order."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from lowdim.collapse import remainders
from lowdim.linalg import ranks
from lowdim.nets import training

FEW = remainders.Clustered(clusters=2, samples=7)
PAIRS = [(1, 0), (2, 0), (2, 1), (3, 1), (3, 2)]


def cut(layer, start, size=0.3, count=4):
    case = FEW.draw(count, np.random.default_rng(10 * layer + start), size)
    return FEW.cut(case, layer=layer, start=start)


@pytest.mark.parametrize(("layer", "start"), PAIRS)
def test_the_remainder_is_the_gradient_less_the_one_at_centroids(layer, start):
    c = cut(layer, start)
    whole = training.Objective(c.net, c.X, c.Y, normalization="sample")
    G = whole.gradients(c.weights)[layer - 1][0]
    # The later layers alone, fed with centroids, are a network whose gradient autograd knows too.
    rest = remainders.Dense(c.net.widths[start:], activation="tanh")
    centred = training.Objective(rest, *c.centres, normalization="sample")
    at = centred.gradients(c.weights[start:])[layer - start - 1]
    torch.testing.assert_close(c.remainder, G - at[0], atol=1e-12, rtol=1e-9)


@pytest.mark.parametrize(("layer", "start"), PAIRS)
def test_first_orders_cancel_and_the_integral_form_bounds_what_is_left(layer, start):
    c = cut(layer, start)
    torch.testing.assert_close(c.pieces.mean(1), c.remainder, atol=1e-12, rtol=1e-9)
    pieces, integral = c.pieces.norm(dim=(2, 3)), c.integral()
    assert (pieces <= integral * (1 + 1e-8)).all()
    assert (integral <= c.certified()[:, None] * c.squares / 2 * (1 + 1e-9)).all()


def test_integral_is_exact_for_a_quadratic():
    c = FEW.cut(remainders.unit([[0.75]], [[2.0, -2.0, 0.0]], [[-1.0, 1.0, 0.0]]))
    torch.testing.assert_close(c.integral(), c.pieces.norm(dim=(2, 3)))
    assert c.best_point()[1][0, :2].max() < 1e-9


def test_for_small_spreads_the_best_point_beats_a_fine_grid():
    c = cut(2, 1, size=0.1)
    t, miss = c.best_point()
    assert (t >= 0).all() and (t <= 1).all()
    size = c.pieces.norm(dim=(2, 3))
    for place in np.linspace(0, 1, 41):
        there = (c.pieces - c.along(c.level(float(place)))[1] / 2).norm(dim=(2, 3)) / size
        assert (miss <= there + 1e-3).all()


def test_constants_are_ordered():
    c = cut(2, 1)
    high = c.certified() * (1 + 1e-9)
    assert (c.seen() <= high).all() and (c.searched(starts=4, steps=5) <= high).all()


def test_squares_average_to_the_wcss():
    c = cut(3, 1)
    torch.testing.assert_close(c.squares.mean(1), c.wcss)
    assert c.parts == 2


def test_without_spread_nothing_is_lost():
    c = cut(2, 0, size=0.0)
    assert c.remainder.abs().max() < 1e-12 and c.wcss.max() < 1e-12


def test_the_remainder_is_of_second_order_in_the_spread():
    seen = remainders.against_spread([1e-3, 2e-3], networks=3)
    assert seen.remainder[1] / seen.remainder[0] == pytest.approx(4, rel=0.05)
    delta, inputs = cut(2, 1).factors
    assert ranks.rank_distance(delta @ inputs.mT, 2).max() > 0
