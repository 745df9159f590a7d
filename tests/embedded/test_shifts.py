"""Shifted neurons: changes against sampling, bounds against each other and in equality."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from lowdim.embedded import offdata, shifts
from lowdim.embedded.shifts import Strip


@pytest.mark.parametrize("d", [1, 2, 3])
def test_change_is_the_mean_over_points_of_the_cube(d):
    case = shifts.random_neurons(6, np.random.default_rng(1), d=d)
    x = offdata.cube_points(d, 2**14)
    t = case["w"] @ x + case["b"][:, None]
    moved = (t + case["s"][:, None]).clamp_min(0) - t.clamp_min(0)
    sampled = 2**d * moved.square().mean(1)
    change = shifts.measured(**case).change
    assert torch.allclose(change, sampled, rtol=0.02, atol=1e-5)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_bounds_are_ordered(d):
    case = shifts.random_neurons(300, np.random.default_rng(2), d=d)
    q = shifts.measured(**case)
    lipschitz = 2**d * case["s"].square()
    slack = 1 + 1e-9
    assert bool((q.change <= q.one_sided * slack).all())
    assert bool((q.one_sided <= q.printed * slack).all())
    assert bool((q.one_sided <= lipschitz * slack).all())
    assert bool((q.printed > lipschitz).any())


def test_shapes_are_kept():
    case = shifts.random_neurons(6, np.random.default_rng(1), d=3)
    flat = shifts.measured(**case)
    rows = shifts.measured(case["w"].view(2, 3, 3), case["b"].view(2, 3), case["s"].view(2, 3))
    assert torch.equal(rows.printed, flat.printed.view(2, 3))
    assert torch.equal(rows.change, flat.change.view(2, 3))


def test_two_signs_lies_between_the_sum_and_its_multiple():
    rng = np.random.default_rng(3)
    bounds, push = (torch.from_numpy(rng.standard_normal((50, 7))) for _ in range(2))
    bounds = bounds.square()
    found = shifts.two_signs(bounds, push)
    most = torch.maximum((push > 0).sum(1), (push < 0).sum(1))
    assert bool((found >= bounds.sum(1)).all())
    assert bool((found <= most * bounds.sum(1) * (1 + 1e-12)).all())
    assert shifts.two_signs(bounds, 0 * push).abs().max() == 0


def test_a_strip_across_an_axis_is_its_rectangle():
    strip = Strip((2.0, 0.0), -0.4, 0.6)
    assert strip.area == pytest.approx(strip.box_area, rel=1e-12) == pytest.approx(0.6)
    assert strip.integral == pytest.approx(strip.box_integral, rel=1e-12)
    assert strip.contained


def test_an_oblique_strip_is_smaller_than_its_rectangle():
    strip = Strip((1.0, 0.55), -0.2, 0.7)
    x = offdata.cube_points(2, 2**15)
    t = (strip.w @ x)[0] + strip.bias
    sampled = 4 * float(((t <= 0) & (t + strip.shift >= 0)).double().mean())
    assert strip.area == pytest.approx(sampled, rel=0.01)
    assert strip.area < strip.box_area and strip.integral < strip.box_integral
    assert strip.contained
    assert float(strip.normal @ strip.along) == pytest.approx(0, abs=1e-15)
