"""Off the data: slices of cubes against combinatorics and quadrature, shifts against scipy."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from lowdim.embedded import offdata
from lowdim.nets import training
from lowdim.nets.networks import Dense
from scipy.integrate import quad
from scipy.spatial import ConvexHull

finite = st.floats(-3, 3, allow_nan=False)
directions = st.integers(1, 4).flatmap(
    lambda d: st.lists(finite, min_size=d, max_size=d).filter(lambda w: max(map(abs, w)) > 0.05)
)


def corner_sum(a, r):
    """The slice by inclusion and exclusion over the corners; needs no small coefficient."""
    a = np.asarray(a) / np.linalg.norm(a)
    total = sum(
        math.prod(e) * max(0.0, r + np.dot(e, a)) ** (len(a) - 1)
        for e in product((-1, 1), repeat=len(a))
    )
    return total / math.factorial(len(a) - 1) / np.prod(a)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(0.2, 1.0), min_size=2, max_size=5), st.floats(-1.5, 1.5))
def test_slices_agree_with_inclusion_and_exclusion(a, r):
    assert float(offdata.section([a], [r])) == pytest.approx(corner_sum(a, r), abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(directions, finite)
def test_slices_do_not_see_signs_order_or_scale(w, r):
    base = float(offdata.section([w], [r]))
    turned = [-2.5 * x for x in reversed(w)]
    assert float(offdata.section([turned], [-r])) == pytest.approx(base, abs=1e-9)


@pytest.mark.parametrize("tiny", [0.0, 1e-320, 1e-200, 1e-13, 1e-9, 1e-6])
def test_slices_stay_exact_when_a_coefficient_vanishes(tiny):
    flat = [[1.0, tiny, tiny], [1.0, 1.0, tiny], [1.0, 1.0, 1.0]]
    wanted = [4.0, 4 * 2**0.5, 3 * 3**0.5]  # a face, a diagonal rectangle, a regular hexagon
    assert offdata.section(flat, [0.0] * 3).tolist() == pytest.approx(wanted, rel=1e-5)


@settings(max_examples=30, deadline=None)
@given(directions)
def test_slices_fill_the_cube(w):
    d = len(w)
    one = offdata.ridge_integral([w], torch.ones_like, [[0.0]])
    assert float(one) == pytest.approx(2.0**d, rel=1e-12)
    second = offdata.ridge_integral([w], torch.square, [[0.0]])
    assert float(second) == pytest.approx(2.0**d * sum(x * x for x in w) / 3, rel=1e-10)


@settings(max_examples=60, deadline=None)
@given(directions, finite)
def test_no_slice_beats_the_largest_and_no_slice_beats_its_shadow(w, r):
    size = float(offdata.section([w], [r]))
    assert size <= offdata.largest_section(len(w)) * (1 + 1e-9)
    assert size <= float(offdata.shadow([w])) * (1 + 1e-9)
    assert float(offdata.shadow([w])) <= offdata.largest_shadow(len(w)) * (1 + 1e-12)


def test_shadows_are_the_hulls_of_the_projected_corners():
    rng = np.random.default_rng(0)
    corners = np.array(list(product((-1, 1), repeat=3)))
    for w in rng.standard_normal((20, 3)):
        plane = np.linalg.svd(w[None])[2][1:]
        area = ConvexHull(corners @ plane.T).volume
        assert float(offdata.shadow(w[None])) == pytest.approx(area, rel=1e-9)


@settings(max_examples=60, deadline=None)
@given(finite, finite, finite)
def test_a_neuron_on_a_line_against_quadrature(w, b, s):
    shift = offdata.neuron_shift([[w]], [b], [s])
    kinks = [-b / w, -(b + s) / w] if abs(w) > 1e-9 else []
    kinks = [k for k in kinks if -1 < k < 1]

    def square(x):
        return (max(w * x + b + s, 0.0) - max(w * x + b, 0.0)) ** 2

    total = quad(square, -1, 1, points=kinks or None)[0]
    assert float(shift.total) == pytest.approx(total, abs=1e-8)
    assert 0 <= float(shift.active) <= 2 + 1e-12


@settings(max_examples=30, deadline=None)
@given(directions, finite, finite)
def test_shifting_there_and_back_changes_as_much(w, b, s):
    there, back = offdata.neuron_shift([w], [b], [s]), offdata.neuron_shift([w], [b + s], [-s])
    assert float(there.total) == pytest.approx(float(back.total), abs=1e-10)


def test_a_neuron_without_tangential_weights():
    shift = offdata.neuron_shift(torch.zeros(3, 2), [1.0, -1.0, -1.0], [2.0, 3.0, 0.5])
    assert shift.total.tolist() == [16.0, 16.0, 0.0]
    assert shift.active.tolist() == [4.0, 0.0, 0.0]


def test_neurons_in_three_dimensions_against_many_points():
    rng = np.random.default_rng(1)
    w, b, s = (torch.from_numpy(rng.standard_normal(size)) for size in ((30, 3), 30, 30))
    t = w @ offdata.cube_points(3, 2**15) + b[:, None]
    change = ((t + s[:, None]).clamp_min(0) - t.clamp_min(0)).square().mean(1) * 8
    torch.testing.assert_close(offdata.neuron_shift(w, b, s).total, change, rtol=0, atol=2e-3)


def test_networks_on_a_line_against_their_neurons_and_many_points():
    rng = np.random.default_rng(2)
    w, b, v, s = (torch.from_numpy(rng.standard_normal((20, 5))) for _ in range(4))
    w[0, 0] = 0.0
    x = (torch.arange(200_000, dtype=torch.float64) + 0.5) / 100_000 - 1
    for i in range(20):
        t = w[i, :, None] * x + b[i, :, None]
        change = v[i] @ ((t + s[i, :, None]).clamp_min(0) - t.clamp_min(0))
        whole = offdata.line_change(*(z[i : i + 1] for z in (w, b, v, s)))
        assert float(whole) == pytest.approx(float(change.square().mean() * 2), abs=1e-8)
    alone = offdata.line_change(w[:, :1], b[:, :1], v[:, :1], s[:, :1])
    shift = offdata.neuron_shift(w[:, :1], b[:, 0], s[:, 0])
    torch.testing.assert_close(alone, v[:, 0].square() * shift.total)


def deep_networks(seed, widths):
    rng = np.random.default_rng(seed)
    pairs = list(zip(widths[1:], widths[:-1], strict=True))

    def normal(*shape):
        return torch.from_numpy(rng.standard_normal(shape))

    return [(normal(6, n, m), normal(6, n, 1)) for n, m in pairs], normal(6, widths[1])


def test_deep_networks_on_a_line_against_shallow_ones_and_many_points():
    layers, s = deep_networks(3, (1, 5, 1))
    flat = (layers[0][0][..., 0], layers[0][1][..., 0], layers[1][0][:, 0], s)
    torch.testing.assert_close(offdata.deep_line_change(layers, s), offdata.line_change(*flat))
    layers, s = deep_networks(4, (1, 3, 4, 2))
    x = (torch.arange(100_000, dtype=torch.float64) + 0.5) / 50_000 - 1
    t = layers[0][0] * x + layers[0][1]
    ends = []
    for h in (t + s[..., None], t):
        for W, b in layers[1:]:
            h = W @ h.clamp_min(0) + b
        ends.append(h)
    wanted = (ends[0] - ends[1]).square().mean(-1).sum(-1) * 2
    torch.testing.assert_close(offdata.deep_line_change(layers, s), wanted, rtol=1e-7, atol=0)


def test_stability_of_a_linear_network_is_its_normal_weight():
    net = Dense((3, 1), bias=False)
    W = [(torch.tensor([[[1.0, 2.0, -3.0]]], dtype=torch.float64), None)]
    x = offdata.cube_points(1, 50)
    y = torch.from_numpy(np.random.default_rng(3).standard_normal((2, 50)))
    wanted = (2 * y[0] - 3 * y[1]).square().mean()
    torch.testing.assert_close(offdata.stability(net, W, x, y)[0], wanted)


def test_annealing_takes_the_steps_of_the_papers_objective():
    """One full batch: a step of size r on (1/2n)Σ(f-g)² + λ‖θ‖², by autograd."""
    net = Dense((3, 4, 1))
    start = net.init(seed=2, dtype=torch.float64)
    X = torch.cat([offdata.cube_points(2, 16), torch.zeros(1, 16)])
    goal = X[:1].sin()
    task = training.Objective(net, X, goal, normalization="half", penalty=0.3)
    moved = offdata.anneal(task, start, [0.1], batch=16)
    free = [p[0].clone().requires_grad_(True) for pair in start for p in pair]
    out = free[2] @ (free[0] @ X + free[1]).clamp_min(0) + free[3]
    loss = (out - goal).square().sum() / 32 + 0.3 * sum(p.square().sum() for p in free)
    loss.backward()
    ends = [p[0] for pair in moved for p in pair]
    for p, end in zip(free, ends, strict=True):
        torch.testing.assert_close(end, (p - 0.1 * p.grad).detach())
    torch.testing.assert_close(ends[0][:, 2], start[0][0][0, :, 2] * (1 - 2 * 0.1 * 0.3))


def test_cosine_rates_are_those_of_torch():
    p = torch.nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.SGD([p], lr=1e-2)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 7, eta_min=1e-4)
    wanted = []
    for _ in range(7):
        wanted.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        schedule.step()
    assert training.cosine_rates(1e-2, 1e-4, 7) == pytest.approx(wanted)


def test_each_epoch_is_shown_before_and_after():
    net = Dense((2, 4, 1))
    X, start, seen = offdata.cube_points(2, 12), net.init(dtype=torch.float64), []
    task = training.Objective(net, X, X[:1], normalization="half")

    def each(epoch, weights):
        seen.append((epoch, weights[0][0].clone()))

    end = offdata.anneal(task, start, [0.1, 0.05], batch=5, seed=3, each=each)
    assert [epoch for epoch, _ in seen] == [0, 1, 2]
    assert torch.equal(seen[0][1], start[0][0]) and torch.equal(seen[2][1], end[0][0])
    first = offdata.anneal(task, start, [0.1], batch=5, seed=3)
    assert torch.equal(seen[1][1], first[0][0])
    with pytest.raises(ValueError, match="1 trials diverged in epoch 0"):
        offdata.anneal(task, start, [1e9], batch=5)


def test_a_trial_that_is_given_up_leaves_the_others_alone():
    net = Dense((2, 4, 1))
    start = net.init(trials=3, dtype=torch.float64)
    start[1][0][1] *= 1e9  # the second one starts where no step is small
    X = offdata.cube_points(2, 12)
    task = training.Objective(net, X, X[:1], normalization="half")
    end = offdata.anneal(task, start, [0.1, 0.05], batch=5, seed=3, give_up=True)
    assert [bool(W[1].isnan().all()) for W, _ in end] == [True, True]
    assert all(W[[0, 2]].isfinite().all() for W, _ in end)
    alone = [(W[:1], b[:1]) for W, b in start]
    same = offdata.anneal(task, alone, [0.1, 0.05], batch=5, seed=3)
    torch.testing.assert_close(end[0][0][0], same[0][0][0])


@pytest.mark.parametrize("bad", [torch.ones(3), torch.ones(2, 7), [[math.nan]]])
def test_normals_are_refused(bad):
    with pytest.raises(ValueError, match=r"^w "):
        offdata.section(bad, [0.0])


def test_a_slice_needs_a_direction():
    with pytest.raises(ValueError, match="not zero"):
        offdata.section([[0.0, 0.0]], [0.0])
