"""Row spaces along a network: identities, invariances, an oracle with full projectors."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from lowdim.data import unions
from lowdim.evidence import plots
from lowdim.linalg import subspaces
from lowdim.nets import networks, training
from lowdim.nets._run import State
from lowdim.preserve import drift
from lowdim.seeds import generator


def normal(seed: int, *shape: int) -> torch.Tensor:
    return torch.from_numpy(generator(seed, 0, "test").standard_normal(shape))


def full_projector(M: torch.Tensor, r: int) -> torch.Tensor:
    """The projector by the definition, one matrix at a time."""
    V = torch.linalg.svd(M)[2][:r]
    return V.T @ V


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 4))
def test_steps_and_drifts_equal_those_of_full_projectors(seed, r):
    X, star = normal(seed, 2, 6, 9), normal(seed + 1, 2, 5, 9)
    pre = [normal(seed + 2, 2, 5, 9), normal(seed + 3, 2, 7, 9)]
    post = [M.clamp_min(0) for M in pre]
    found = drift.spaces(X, pre, post, r)
    reference = subspaces.principal_rows(star, r)
    before = [X, post[0]]
    for t in range(2):
        for at in range(2):
            P, Q = full_projector(before[at][t], r), full_projector(post[at][t], r)
            R, S = full_projector(star[t], r), full_projector(pre[at][t], r)
            scale = (2 * r) ** 0.5
            assert float(found.step()[t, at]) == pytest.approx(float((P - Q).norm()) / scale)
            assert float(found.step("linear")[t, at]) == pytest.approx(
                float((P - S).norm()) / scale
            )
            assert float(found.drift(reference)[t, at]) == pytest.approx(
                float((R - Q).norm()) / scale
            )


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_drift_is_at_most_the_sum_of_the_steps_before_it(seed):
    X = normal(seed, 3, 6, 8)
    mats = [normal(seed + k, 3, 6, 8) for k in (1, 2, 3)]
    found = drift.spaces(X, mats, mats, 2)
    assert bool((found.drift(found.entering) <= found.step().cumsum(1) + 1e-9).all())


def test_invertible_maps_of_exactly_low_rank_data_move_nothing_and_keep_the_clusters():
    D = unions.union_of_subspaces(trials=2, ambient=8, dims=(2, 2), sizes=(7, 7), seed=1)
    pre, H = [], D.clean
    for k in range(3):
        H = normal(k, 2, 8, 8) @ H
        pre.append(H)
    found = drift.spaces(D.clean, pre, pre, 4)
    assert float(found.step().max()) < 1e-8
    assert float(found.drift(found.entering, "linear").max()) < 1e-8
    assert found.accuracy(D.labels).tolist() == [[1.0] * 3] * 2


def test_a_destroyed_structure_is_passed_on_in_small_steps():
    X = normal(0, 1, 6, 10)
    other = normal(1, 1, 6, 10)
    found = drift.spaces(X, [other, 2 * other, -other], [other, 2 * other, -other], 3)
    assert float(found.step()[0, 1:].max()) < 1e-9
    assert float(found.drift(found.entering)[0, 1:].min()) > 0.3


def test_the_root_mean_square_over_random_spaces_is_that_of_chance():
    n, r = 12, 5
    V = torch.linalg.qr(normal(2, 4000, n, r)).Q
    fixed = torch.eye(n, dtype=torch.float64)[:, :r]
    mean = drift.apart(fixed.expand_as(V), V).square().mean()
    assert float(mean) == pytest.approx(subspaces.chance(n, r)[0], rel=0.02)


def test_trial_i_of_many_equals_that_trial_alone():
    X = normal(3, 4, 6, 9)
    pre = [normal(4, 4, 5, 9)]
    post = [pre[0].tanh()]
    many = drift.spaces(X, pre, post, 3).step()
    alone = drift.spaces(X[2:3], [pre[0][2:3]], [post[0][2:3]], 3).step()
    assert torch.allclose(many[2:3], alone, atol=1e-10)


def test_measurements_along_a_run_equal_measuring_the_final_network():
    D = unions.union_of_subspaces(
        trials=2, ambient=12, dims=(2, 2), sizes=(8, 8), noise=0.01, seed=0, dtype=torch.float32
    )
    net = networks.Dense((12, 6, 6, 12), bias=False)
    star = subspaces.principal_rows(D.clean.double(), 4)
    asked = drift.measurements(4, reference=star, labels=D.labels, accuracy_at={6})
    task = training.Objective(net, D.noisy, normalization="sample")
    start = net.init(trials=2)
    run = training.train(task, start, training.GD(0.005), 6, schedule=3, measure=asked)
    assert run.trace["drift_output"].shape == (3, 2, 2)
    assert bool(torch.isnan(run.trace["accuracy"][:2]).all())
    final = drift.of(State(6, run.weights, D.noisy, net), 4)
    assert torch.allclose(run.trace["step_linear"][-1], final.step("linear"), atol=1e-6)
    assert torch.allclose(run.trace["drift_output"][-1], final.drift(star), atol=1e-6)
    assert np.allclose(run.trace["accuracy"][-1], final.accuracy(D.labels))


def test_what_does_not_fit_is_refused():
    X = normal(5, 1, 6, 9)
    with pytest.raises(ValueError, match="one matrix for each"):
        drift.spaces(X, [X], [X, X], 2)
    with pytest.raises(ValueError, match="one matrix for each"):
        drift.spaces(X, [], [], 2)
    with pytest.raises(ValueError, match="part must be one of"):
        drift.spaces(X, [X], [X], 2).step("middle")
    with pytest.raises(ValueError, match="r must be"):
        drift.spaces(X, [X], [X], 7)


def test_curves_by_layer_are_means_and_leave_gaps_out():
    values = normal(6, 4, 3, 2).sigmoid()
    values[1] = torch.nan
    fig = plots.by_layer([0, 1, 2, 3], {"a": values}, alt="demo", show_figure=False)
    lines = fig.axes[0].get_lines()
    assert [len(line.get_xdata()) for line in lines] == [3, 3]
    kept = values[[0, 2, 3]]
    assert np.allclose(lines[1].get_ydata(), kept[..., 1].mean(1))
