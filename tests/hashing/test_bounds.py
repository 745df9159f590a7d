"""Bounds on gaps: each tail is that of its inequality, sizes scale, weights are the loss's."""

from __future__ import annotations

from math import exp, log2, sqrt

import numpy as np
import pytest
import torch
from lowdim.hashing import bounds, factored

DELTA = 0.03
C2 = 16.0  # ‖C‖² of the paper


def mcdiarmid(t: float, number: int, change: float) -> float:
    """The chance of being off by t where each of so many independent parts changes so much."""
    return exp(-2 * t**2 / (number * change**2))


def test_the_radius_has_gauss_s_tail_around_half_the_variance() -> None:
    widths, inputs = (10, 1000), 7
    for width in widths:
        t = bounds.relu_radius(width, inputs, DELTA) - bounds.relu_radius(width, inputs, 1.0)
        assert exp(-width * t**2 / 2) == pytest.approx(DELTA)  # 1/√D-Lipschitz
    more = [(bounds.relu_radius(w, inputs, DELTA) - sqrt(0.5)) * sqrt(w) for w in widths]
    assert more[0] == pytest.approx(more[1])
    # the norm of a square matrix of normal entries of variance 1/D comes near 2, half of it in σ
    assert bounds.relu_radius(5, 5, 1.0) == pytest.approx(1 + sqrt(0.5))
    drawn = np.random.default_rng(0).standard_normal((200, 400, 3)) / 20
    z = np.maximum(drawn @ np.array([0.6, 0.0, 0.8]), 0)
    assert (np.linalg.norm(z, axis=1) < bounds.relu_radius(400, 3)).all()
    assert np.mean(z**2) * 400 == pytest.approx(0.5, rel=0.01)
    assert bounds.relu_radius(400, 3) == bounds.relu_radius(400, 3, 0.001)


@pytest.mark.parametrize(
    ("bound", "number", "change"),
    [
        # a variance is between 0 and ζ², a squared distance of z >= 0 between 0 and 2ζ²; a point
        # is in two of so many terms, and so is a manifold
        (lambda m, z, d: bounds.variance_new_manifolds(m, z, d), 1, 1),
        (lambda m, z, d: bounds.variance_new_points(m, 5, z, d), 5, 2),
        (lambda m, z, d: bounds.distance_new_manifolds(m, z, d), 1, 4),
        (lambda m, z, d: bounds.distance_new_points(m, 5, z, d), 5, 4),
    ],
)
def test_our_bounds_are_those_of_bounded_differences(bound, number: int, change: int) -> None:
    for m, zeta in ((3, 1.0), (12, 0.7)):
        t = bound(m, zeta, DELTA) - bound(m, zeta, 1.0)
        count = number * m
        assert mcdiarmid(t, count, change * zeta**2 / count) == pytest.approx(DELTA)
    for delta in (1.0, DELTA):
        assert bound(3, 1.0, delta) == pytest.approx(2 * bound(12, 1.0, delta))
        assert bound(3, 0.5, delta) == pytest.approx(bound(3, 1.0, delta) / 4)


def test_pooling_n_points_is_one_point_on_n_times_as_many_manifolds() -> None:
    for pooled in (bounds.variance_new_points, bounds.distance_new_points):
        assert pooled(6, 7, 0.9, DELTA) == pytest.approx(pooled(42, 1, 0.9, DELTA))
    # pairs of manifolds are symmetrized once more: a factor √2 without the tail
    one, other = bounds.distance_new_points(9, 1, 1.0, 1.0), bounds.distance_new_manifolds(9, 1, 1)
    assert one == pytest.approx(sqrt(2) * other)


@pytest.mark.parametrize(
    ("bound", "chances", "wide"),
    [
        (lambda m, n, d: bounds.paper_variance_new_points(n, m, d), lambda m, n: n, 2),
        (
            lambda m, n, d: (
                bounds.paper_variance_new_manifolds(m, n, d)
                - bounds.paper_variance_new_points(m, n, d)
            ),
            lambda m, n: 2,
            2,
        ),
        (
            lambda m, n, d: bounds.paper_distance_new_points(n, m, d),
            lambda m, n: 2 * n * (n - 1),
            2,
        ),
        (
            lambda m, n, d: (
                bounds.paper_distance_new_manifolds(m, n, d)
                - bounds.paper_distance_new_points(m, n, d)
            ),
            lambda m, n: 2,
            4,
        ),
    ],
)
def test_the_paper_s_tails_are_unions_of_so_many_chances(bound, chances, wide: int) -> None:
    """First what is averaged, then the other; c = 4‖C‖² is the range of what is averaged."""
    for m, n in ((4, 9), (16, 5)):
        sure = bound(m, n, chances(m, n))  # a chance that says nothing: no tail
        t = bound(m, n, DELTA) - sure
        assert chances(m, n) * exp(-m * t**2 / (wide * (4 * C2) ** 2)) == pytest.approx(DELTA)
        assert sure * sqrt(m) == pytest.approx(bound(100, n, chances(100, n)) * 10)


def test_the_paper_s_averages_without_tails() -> None:
    assert bounds.paper_variance_new_points(3, 36, 3.0) == pytest.approx(C2)
    for m, n in ((16, 9),):
        own = bounds.paper_variance_new_manifolds(m, n, 2.0)
        own -= bounds.paper_variance_new_points(m, n, 2.0)
        assert own == pytest.approx(2 * C2)
        far = bounds.paper_distance_new_manifolds(m, n, 2.0)
        far -= bounds.paper_distance_new_points(m, n, 2.0)
        assert far == pytest.approx(sqrt(2) * own)  # symmetrized over pairs


def test_the_sizes_of_rows_are_weighted_as_the_loss_weighs_them() -> None:
    A = torch.from_numpy(np.random.default_rng(1).standard_normal((5, 3)))
    weights = factored.class_weights(torch.arange(5)) * 5  # (outputs, classes), one point each
    torch.testing.assert_close(bounds.row_sizes(A), weights.mT @ A.square().sum(1))


def test_the_loss_s_bound_at_one_size() -> None:
    A = 0.5 * torch.eye(4)  # every row below the first octave
    for beta, zeta, n in ((1.0, 1.0, 10), (0.3, 2.0, 40)):
        sure = bounds.loss_new_points(A, beta, n, zeta, 4.0)
        assert sure * sqrt(n) == pytest.approx(sqrt(2) * ((1 + beta * zeta) ** 2 - 1), rel=1e-6)
        t = bounds.loss_new_points(A, beta, n, zeta, DELTA) - sure
        largest = (sqrt(0.5) + beta * zeta) ** 2  # of the loss of a point
        assert 4 * mcdiarmid(t, n, largest / n) == pytest.approx(DELTA, rel=1e-5)


def test_larger_factors_cost_octaves() -> None:
    A = 2 * torch.eye(2)
    assert float(A.square().sum()) / 2 == 4.0  # two octaves, four for twice the factor
    twice = bounds.loss_new_points(2 * A, 1.0, 10, 1.0, DELTA * (1 + 4) / (1 + 2))
    assert twice == pytest.approx(bounds.loss_new_points(A, 2.0, 10, 1.0, DELTA), rel=1e-6)
    for size in (1.1, 1.7, 3.0):  # a size is rounded up to the next octave, never down
        near = bounds.loss_new_points(size * torch.eye(2), 1.0, 10, 1.0, DELTA)
        edge = 2 ** (np.ceil(log2(bounds.row_sizes(size * torch.eye(2))[0])) / 2)
        whole = edge * torch.eye(2)
        at_edge = bounds.loss_new_points(whole, 1.0, 10, 1.0, DELTA)
        assert near == pytest.approx(at_edge, rel=1e-6)


def test_the_paper_s_loss_bound_knows_a_factor_only_times_beta() -> None:
    A = torch.diag(torch.tensor([1.0, 1.0, 1.0]))
    one = bounds.paper_loss_new_points(2 * A, 0.25, 9, DELTA)
    assert one == pytest.approx(bounds.paper_loss_new_points(A, 0.5, 9, DELTA))
    reach = 0.25 * 2 * sqrt(C2)
    sure = bounds.paper_loss_new_points(2 * A, 0.25, 9, 3.0)
    assert 2 * 3 * sure == pytest.approx((1 + 2 * reach) ** 2 - 1)
    t, largest = one - sure, (0.5 + reach) ** 2
    assert 3 * exp(-9 * t**2 / (2 * largest**2)) == pytest.approx(DELTA)
    halves = torch.diag(torch.tensor([1.0, 3.0]))
    alone = [bounds.paper_loss_new_points(s * torch.eye(2), 1.0, 9, DELTA) for s in (1.0, 3.0)]
    assert bounds.paper_loss_new_points(halves, 1.0, 9, DELTA) == pytest.approx(np.mean(alone))
