"""Deep networks under a shift: against sampling, chains of bounds, equal neurons."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch
from lowdim.embedded import deep_changes, offdata
from lowdim.nets.networks import Dense


def test_change_is_the_mean_over_the_line():
    case = deep_changes.random_deep(5, np.random.default_rng(1), widths=(4, 3, 1))
    x = torch.linspace(-1, 1, 40001, dtype=torch.float64)[None, None]

    def output(shift):
        t = case["W1"] @ x + case["b1"] + shift
        for k in (2, 3):
            t = case[f"W{k}"] @ t.clamp_min(0) + case[f"b{k}"]
        return t

    sampled = 2 * (output(case["s"][..., None]) - output(0.0)).square().sum(1).mean(1)
    assert torch.allclose(deep_changes.measured(case).change, sampled, rtol=1e-3)


def test_the_sum_under_the_norm_is_a_chain_of_bounds():
    case = deep_changes.random_deep(200, np.random.default_rng(2), widths=(4, 3, 3, 1))
    q = deep_changes.measured(case)
    chain = (q.change, q.upper * q.second, q.all * q.free, q.all * q.sharp, q.all * q.lipschitz)
    for smaller, larger in pairwise(chain):
        assert bool((smaller <= larger * (1 + 1e-9)).all())
    assert bool((q.second > q.terms).any())  # squares do not add


@pytest.mark.parametrize("n", [1, 2, 5])
def test_equal_neurons_attain_the_bound(n):
    q = deep_changes.measured(deep_changes.copies(n, 2))
    assert q.change.item() == pytest.approx(n**2 * 4 / 3, rel=1e-12)
    assert (q.all * q.sharp).item() == pytest.approx(n**2 * 4 / 3, rel=1e-12)
    assert (q.upper * q.printed).item() == pytest.approx(n * 4 / 3, rel=1e-12)


def test_two_layers_have_no_upper_product():
    case = deep_changes.random_deep(3, np.random.default_rng(3), widths=(4, 1))
    q = deep_changes.measured(case)
    assert torch.equal(q.upper, torch.ones(3))
    assert torch.allclose(q.change, q.second)


def test_on_the_plane_the_bounds_differ_by_their_factors():
    net = Dense((5, 4, 3, 1))
    weights = net.init(trials=3, seed=1, dtype=torch.float64)
    y, at = torch.tensor([0.4, -0.2]).double(), offdata.cube_points(3, 512)
    printed, ours, lipschitz = deep_changes.on_plane(net, weights, y, at)
    assert bool((lipschitz <= ours).all()) and bool((ours < 1).all()) and bool((printed > 0).all())
