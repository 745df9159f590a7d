"""Instances for claims about the flow: what they promise, checked by linear algebra."""

from __future__ import annotations

import numpy as np
import torch
from lowdim.embedded import flow_cases


def test_points_have_positive_moments_and_orthogonal_turns():
    case = flow_cases.rotated_points(40, np.random.default_rng(0))
    assert torch.linalg.eigvalsh(case["A"]).min() > 0
    assert torch.allclose(case["turn"] @ case["turn"].mT, torch.eye(4).double(), atol=1e-12)
    assert set(case["L"].tolist()) <= set(range(2, 12))


def test_each_gives_the_flow_of_its_own_instance():
    case = flow_cases.rotated_points(7, np.random.default_rng(0))
    slopes = flow_cases.each(case, lambda flow, w, turn: flow.gradient(w))
    wanted = (case["A"] @ case["w"][..., None])[..., 0] - case["b"]
    assert torch.allclose(slopes, wanted, rtol=1e-12)


def test_critical_points_are_critical_to_rounding_and_not_exactly():
    case = flow_cases.critical_points(60, np.random.default_rng(1))
    for name in ("noisy", "clean"):
        assert bool((case[name] <= case["tolerance"]).all())
        assert bool((case[name] > 0).any())
    assert bool((case["tolerance"] < 1e-3).all())


def test_ranks_are_bounded_by_the_number_of_directions():
    case = flow_cases.ranks(60, np.random.default_rng(1))
    assert torch.equal(case["points"], case["moments"])
    assert case["points"].min() == 1 and case["points"].max() == 3
