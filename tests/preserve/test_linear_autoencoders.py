"""Linear autoencoders: minimizers minimize, the bound is attained, training keeps to it."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from lowdim.preserve import linear_autoencoders as linear


@pytest.fixture(scope="module")
def case():
    return linear.minimizers(40, np.random.default_rng(0))


def test_minimizers_leave_the_tail_of_the_data(case):
    found = linear.minimizer(case)
    s = torch.linalg.svdvals(case["X"])
    rest = case["X"] - case["X"] @ torch.linalg.pinv(found.Y) @ found.Y
    expected = s[:, 4:].square().sum(1).sqrt()
    torch.testing.assert_close(rest.norm(dim=(1, 2)), expected, rtol=1e-6, atol=1e-9)
    torch.testing.assert_close(found.gap, (s[:, 1] / s[:, 2]).log())


def test_the_spread_is_the_logarithm_of_the_condition(case):
    expected = torch.linalg.cond(case["G"]).log()
    torch.testing.assert_close(linear.minimizer(case).spread, expected, rtol=1e-7, atol=1e-9)


def test_one_instance_of_a_batch_is_that_instance_alone(case):
    many = linear.minimizer(case)
    alone = linear.minimizer({name: value[7:8] for name, value in case.items()})
    for name in ("angle", "spread", "gap"):
        torch.testing.assert_close(getattr(alone, name), getattr(many, name)[7:8])
    some = torch.arange(40) == 7
    torch.testing.assert_close(many.where(some).angle, many.angle[7:8])


def test_layers_without_imbalance_have_no_spread():
    W = torch.linalg.qr(torch.eye(5, dtype=torch.float64)[None, :, :3]).Q.mT
    assert linear.spread(W, 2 * W.mT).item() == pytest.approx(0, abs=1e-12)


def test_twice_the_angle_grows_and_is_a_sine_below_45_degrees():
    theta = torch.linspace(0, torch.pi / 2, 91, dtype=torch.float64)
    found = linear.double_sine(theta)
    assert bool((found.diff() > 0).all())
    torch.testing.assert_close(found[:46], (2 * theta[:46]).sin())


def test_the_plane_has_the_angle_of_the_row_spaces(case):
    q = linear.minimizer(case)
    q = q.where(q.gap > q.spread + 1e-3)
    found = linear.plane(q)
    angle = torch.atan2(2 * found.cross.abs(), found.one - found.two) / 2
    torch.testing.assert_close(angle, q.angle, rtol=1e-6, atol=1e-7)
    assert bool((found.condition <= q.spread.exp() * (1 + 1e-9)).all())
    assert bool((found.b / found.a <= (-q.gap).exp() * (1 + 1e-9)).all())


@pytest.mark.parametrize(("kappa", "t"), [(1.1, 0.5), (3.0, 0.1), (5.0, 0.19)])
def test_the_bound_is_attained(kappa, t):
    q = linear.minimizer(linear.attained(kappa, t))
    bound = (kappa - 1 / kappa) / (1 / t - t)
    assert linear.double_sine(q.angle).item() == pytest.approx(bound, rel=1e-7)


def test_a_search_starts_near_balance():
    case = linear.climb().build(linear.climb().start(50, np.random.default_rng(1)))
    s = case["X"].diagonal(dim1=1, dim2=2)
    assert bool((s.diff(dim=1) < 0).all())
    assert (case["G"] - torch.eye(2)).abs().mean() < 0.4


def test_training_comes_down_to_the_minimum_and_stays_below_its_bound():
    end = linear.trained("uniform", rate=0.02, steps=1500, seed=1)
    assert bool((end.excess > -1e-9).all())
    assert end.excess.median() < 1e-2
    assert end.first.median() > 0.1
    assert bool((end.sine <= end.last + 0.05).all())
