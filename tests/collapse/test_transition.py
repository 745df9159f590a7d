"""A small grid of stationary points: what stationarity means there, and the order of the bounds."""

from __future__ import annotations

import pytest
import torch
from lowdim.collapse import transition
from lowdim.linalg import ranks

SMALL = transition.Setting(
    ambient=6,
    width=5,
    bottleneck=4,
    samples=14,
    clusters=2,
    decays=(0.05, 0.4),
    spreads=(0.1, 0.6),
    seed=3,
)


@pytest.fixture(scope="module")
def seen():
    return transition.grid(SMALL)


def test_cells_run_over_decays_first(seen):
    assert SMALL.cells == [(0.05, 0.1), (0.05, 0.6), (0.4, 0.1), (0.4, 0.6)]
    assert seen.lam.tolist() == [0.05, 0.05, 0.4, 0.4]
    torch.testing.assert_close(seen.X[1], SMALL.blobs(0.6))
    torch.testing.assert_close(seen.X[1], seen.X[3])


def test_points_are_stationary(seen):
    assert seen.converged.all()
    for (W, _), G in zip(seen.weights, seen.data_gradients, strict=True):
        torch.testing.assert_close(-2 * seen.lam[:, None, None] * W, G, atol=1e-8, rtol=0.0)


def test_every_bound_is_above_the_distance(seen):
    slack = 1e-9
    ours = seen.share + seen.covariance
    assert (seen.distance <= seen.share + seen.within / (2 * seen.lam) + slack).all()
    assert (seen.share + seen.within / (2 * seen.lam) <= ours + slack).all()
    assert (seen.distance <= seen.share + seen.smooth + slack).all()
    assert (seen.distance[1:] <= seen.share[1:] + seen.printed_high + slack).all()
    assert (seen.printed_low <= seen.printed_high).all()


def test_constants_and_variations_are_ordered(seen):
    high, low = seen.variation
    assert (low <= high * (1 + 1e-9)).all() and (high <= seen.wcss * (1 + 1e-9)).all()
    for pair, bound in seen.certified.items():
        assert (seen.searched[pair] <= bound * (1 + 1e-9)).all()
        assert (seen.certified_on_blobs[pair] <= bound * (1 + 1e-9)).all()


def test_the_change_at_centroids_is_at_least_the_gradients_distance_from_rank_k(seen):
    assert (seen.gradient_distance[1:] <= seen.change + 1e-12).all()


def test_tails_are_squared_relative_distances(seen):
    torch.testing.assert_close(seen.tails.mT, (seen.distance / seen.size) ** 2)
    assert ranks.tails(seen.weights[0][0]).shape[0] == len(SMALL.cells)


def test_relative_bounds_are_flat_layer_by_layer(seen):
    far, bounds = seen.relative()
    assert far.shape == ((seen.depth - 1) * 4,) and far.min() >= transition.FLOOR
    expected = seen.covariance[2, 1] / seen.size[2, 1]
    torch.testing.assert_close(bounds["covariance bound"][1 * 4 + 1], expected)


def test_a_grid_is_made_once(seen):
    assert transition.grid(transition.Setting(**vars(SMALL))) is seen


def test_cells_that_did_not_converge_are_crossed_out(seen):
    never = transition.Grid(**{**vars_of(seen), "gradient_norm": torch.ones(4)})
    texts = [t.get_text() for ax in transition.draw_tails(never).axes for t in ax.texts]
    assert texts == ["×"] * 16


def vars_of(seen):
    names = ("setting", "X", "lam", "weights", "gradients", "gradient_norm")
    return {name: getattr(seen, name) for name in names}
