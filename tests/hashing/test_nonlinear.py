"""Minima on non-linear manifolds: prefixes of one world, what is kept, the corrected theorem."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from lowdim.hashing import bounds, nonlinear, separation

SMALL = nonlinear.World(width=30, manifolds=5, points=4, seed=1)
TINY = nonlinear.World(width=30, manifolds=5, points=3, seed=1)


def test_features_are_those_of_unit_vectors_under_one_layer_a_draw() -> None:
    one, other = SMALL.draw(0), SMALL.draw(1)
    assert torch.allclose(one.points.norm(dim=-1), torch.ones(24, 30).double())
    assert one.pool.shape == (5, 34, 30) and bool((one.pool >= 0).all())
    assert not torch.allclose(one.pool, other.pool)
    assert SMALL.draw(0) is one


def test_more_points_on_a_manifold_keep_the_first() -> None:
    assert torch.allclose(SMALL.draw(0).pool[:, :33], TINY.draw(0).pool)
    assert torch.equal(SMALL.draw(0).fresh, TINY.draw(0).fresh)


def test_names_of_the_readings() -> None:
    assert nonlinear.size("constant", 1e-3) == 100
    assert nonlinear.size("power", np.exp(-2)) == pytest.approx(64)
    with pytest.raises(ValueError, match="reading"):
        nonlinear.size("cubic", 0.1)


def test_a_setting_among_others_is_that_setting_alone() -> None:
    settings = [(5, 4, 0.1), (4, 3, 0.03), (5, 2, 0.01)]
    together = nonlinear.look(SMALL, settings, repeats=2)
    alone = nonlinear.look(SMALL, settings[1:2], repeats=2)
    assert together.rho.shape == (2, 3, 3)
    assert np.array_equal(together.rho[:, 1:2], alone.rho)
    assert np.array_equal(together.variance[1:, 1:2], alone.variance[1:])


def test_the_penalty_with_its_own_weight_makes_the_sample_hash_better() -> None:
    setting = [(5, 4, 0.01)]
    none, own = (nonlinear.look(SMALL, setting, penalty=p, repeats=2) for p in ("none", "own"))
    assert (own.rho[..., 0] > none.rho[..., 0]).all()


def test_curves_are_named_after_where_they_were_measured() -> None:
    found = nonlinear.Found(np.arange(6.0).reshape(1, 2, 3), -np.arange(6.0).reshape(1, 2, 3))
    curves = found.curves()
    assert curves["V, new manifolds"].tolist() == [[2, 5]]
    assert curves["ρ, new points"].tolist() == [[-1, -4]]


def test_raw_ratios_do_not_depend_on_the_layer() -> None:
    wide = nonlinear.World(width=60, manifolds=5, points=4, seed=1)
    raw = nonlinear.raw_ratios(SMALL, 2)
    assert raw == nonlinear.raw_ratios(wide, 2)
    R = SMALL.draw(1).points
    within = separation.intra(R, unbiased=True).mean()
    between = separation.inter(R)[~torch.eye(24, dtype=torch.bool)].mean()
    assert raw[1] == pytest.approx(float(between / within))


def test_the_corrected_theorem_on_a_small_world() -> None:
    eps, size, on, new = nonlinear.with_truth(SMALL, 0, 5, 4, rough=0.01)
    assert on.variance <= 4 * eps
    low = 4 / 5 * max(1 - 4 * eps**0.5, 0.0) ** 2
    assert on.distance >= low
    zeta = bounds.relu_radius(30, nonlinear.INPUTS)
    assert new.variance <= 4 * eps + 4 * size * bounds.variance_new_manifolds(5, zeta, 0.05)


def test_a_world_that_is_too_small_is_refused() -> None:
    with pytest.raises(ValueError, match="5 manifolds with 4 points; you asked for 6 with 4"):
        nonlinear.look(SMALL, [(6, 4, 0.1)])


def test_a_picture_has_a_panel_for_each_penalty() -> None:
    rho = np.full((2, 3, 3), 20.0)
    fig = nonlinear.picture([0.1, 0.01, 0.001], {"one": rho, "two": rho}, 9.0)
    assert [ax.get_title() for ax in fig.axes] == ["one", "two"]
    assert fig.axes[0].get_xlim()[0] > fig.axes[0].get_xlim()[1]
