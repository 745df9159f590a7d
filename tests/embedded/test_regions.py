"""Regions: what the trajectories' properties say against the flow itself and exact arithmetic."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from lowdim.embedded import flows, regions
from lowdim.embedded.flows import Flow
from lowdim.embedded.regions import TANGENT


@pytest.fixture(scope="module")
def run():
    return regions.trajectories([2, 5], count=18, seed=1)


def test_problems_start_where_they_say():
    A, star, start = regions.problems(36, np.random.default_rng(0))
    b = np.einsum("kij,kj->ki", A, star)
    e = np.einsum("ki,kij,kj->k", start, A, start) - (start * b).sum(1)
    kind = np.arange(36) // 6 % 3
    assert (((start - star) * b).sum(1)[kind == 0] > 0).all()
    assert (e[kind == 1] < 0).all()
    assert (np.linalg.eigvalsh(A[:, :TANGENT, :TANGENT])[:, 0] >= regions.LOW - 1e-12).all()


def test_field_and_signs_are_those_of_the_flow(run):
    for k in (0, 7, 20, 30):
        flow = Flow(run.moments[k], run.target[k], int(run.depth[k]))
        assert np.allclose(run.field()[:, k], flow.field(run.w[:, k]), atol=1e-12)
        assert np.allclose(run.e[:, k], (run.w[:, k] * flow.gradient(run.w[:, k])).sum(1))


def test_the_vector_is_conserved_and_everything_arrives(run):
    kept = flows.normal_invariant(run.w, TANGENT, run.depth)
    assert np.allclose(kept, kept[0], atol=1e-9)
    assert not run.live[-1].any()
    assert run.live[0].all()


def test_kinds_cover_one_axis_and_isotropic_data(run):
    assert run.flat.any()
    assert (run.isotropic & ~run.flat).any()
    assert (~run.isotropic).any()
    assert not run.crossed[run.flat & ((run.beyond > 0) | (run.e[0] < 0))].any()


def test_moments_in_time_are_points_of_the_curve(run):
    finite, end = regions.moments_in_time(run, times=3, seed=0)
    for case in (finite, end):
        curve = flows.normal_limit(*(case[k].numpy() for k in ("p0", "q0", "pT", "L")))
        assert np.allclose(curve, case["qT"].numpy(), rtol=1e-8)
    assert np.allclose(end["pT"], 1, atol=1e-6)


def test_on_one_axis_is_on_the_curve():
    rng = np.random.default_rng(2)
    free = {k: torch.from_numpy(rng.standard_normal(50)) for k in ("p0", "q0", "L", "step")}
    case = regions.on_one_axis(free, in_the_end=True)
    fits = case["pT"] > 0
    curve = flows.normal_limit(*(case[k][fits].numpy() for k in ("p0", "q0", "pT", "L")))
    assert np.allclose(curve, case["qT"][fits].numpy(), rtol=1e-8)
    assert torch.equal(case["ps"], case["pT"])


def test_boundary_points_have_e_zero():
    rng = np.random.default_rng(3)
    shapes = {"t": (), "m": (), "star": (3,), "u": (3,)}
    free = {k: torch.from_numpy(rng.standard_normal((40, *s))) for k, s in shapes.items()}
    case = regions.on_boundary(free)
    e = (case["a"] * case["x"] * (case["x"] - case["star"])).sum(1)
    assert float(e.abs().max()) < 1e-12
    spread = case["a"].amax(1) - case["a"].amin(1)
    assert torch.allclose(spread, 2 * case["t"])


def test_outward_flow_is_found_where_it_is_known():
    """diag(64, 1) has ε/c = 63/65 and points outwards far from the minimum."""
    delta = np.array([16 / 25 - 1, 96 / 25])
    assert regions.largest_outward(63 / 65) >= np.linalg.norm(delta) / (63 / 65) * 0.99


def test_a_start_beside_the_minimum_enters_and_one_behind_does_not():
    """d_x = 2, A = I, depth 9: from beyond w*, aside of it or on its axis."""
    star = np.zeros((2, 5))
    star[:, 0] = 1
    start = np.array([[1.5, 0.4, 0, 0.3, 0], [1.5, 0, 0, 0.3, 0]])
    moments = np.broadcast_to(np.diag([1.0, 1, 1, 0, 0]), (2, 5, 5))
    run = regions.Trajectories(moments, star, np.full(2, 9.0), start[None])
    assert run.enters_later(0)
    assert not run.enters_later(1, until=20.0)
