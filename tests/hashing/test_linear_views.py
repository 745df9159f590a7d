"""Linear maps of analytic manifolds: quadrature against simulation, theorems as properties."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from lowdim.hashing import linear_views
from lowdim.seeds import generator


@pytest.mark.parametrize("order", [1, 2])
def test_quadrature_agrees_with_a_simulation(order):
    rng = generator(order, 0, "squares")
    s, k, c, tau, count = 2, 1, 2, 0.7, 400_000
    V, W = rng.standard_normal((count, c, s)), rng.standard_normal((count, c, k))
    gamma, theta = rng.standard_normal((2, count, s)), tau * rng.standard_normal((2, count, k))

    def x(g, t):
        inside = np.einsum("ncs,ns->nc", V, g) + np.einsum("nck,nk->nc", W, t)
        return (inside**order).sum(1)

    between = np.square(x(gamma[0], theta[0]) - x(gamma[1], theta[1])).mean()
    within = np.square(x(gamma[0], theta[0]) - x(gamma[0], theta[1])).mean()
    exact = linear_views.raw_squares(order, s=s, k=k, terms=c, spread=tau)
    assert exact == pytest.approx((between, within), rel=0.05)


def test_another_order_is_refused():
    with pytest.raises(ValueError, match="order"):
        linear_views.raw_squares(3, s=1, k=1, terms=1, spread=1.0)


@pytest.mark.parametrize("family", ["sine", "exp", "mixture"])
def test_distances_are_within_the_theorems_bounds(family):
    case = linear_views.tangled(family, 30, 3, 2, seed=1, trial=4)
    assert case["within"].item() == pytest.approx(case["left_over"].item(), rel=1e-9)
    assert case["left_over"] <= case["two_norms"] <= case["taylor"]
    assert case["apart"] <= case["between"] + case["two_norms"]


def test_the_remainder_vanishes_in_high_dimension():
    few, many = (linear_views.tangled("sine", d, 3, 3, seed=1) for d in (20, 2000))
    assert many["within"] < few["within"] / 10
    assert many["between"].item() == pytest.approx(many["apart"].item(), rel=0.02)


def test_an_instance_of_many_is_that_instance_alone():
    many = linear_views.random_tangles(4, seed=3)
    again = linear_views.random_tangles(2, seed=3)
    assert all(torch.equal(many[name][:2], again[name]) for name in many)


@pytest.mark.parametrize("family", ["cosine", "log"])
def test_even_families_hide_gamma_from_every_affine_map_and_sine_does_not(family):
    longest, fitted, zero = linear_views.even_fit(family, seed=5)
    assert longest < 1e-9
    assert fitted == pytest.approx(zero)
    assert linear_views.even_fit("sine", seed=5)[1] < fitted
