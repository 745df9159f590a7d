"""The gradient flow of deep linear networks: identities, closed forms, and torch as the oracle."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from lowdim.embedded import flows
from lowdim.embedded.flows import Flow


def problem(
    seed: int, d: int, depth: int, *, size: int = 30
) -> tuple[Flow, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((size, d)) * rng.uniform(0.3, 2, d)
    g = np.sin(x[:, 0]) + 0.5 * rng.standard_normal(size)
    return Flow.from_data(x, g, depth=depth), x, g


cases = given(seed=st.integers(0, 2**16), d=st.integers(1, 5), depth=st.integers(1, 9))


@settings(max_examples=30, deadline=None)
@cases
def test_loss_and_gradient_are_those_of_the_data(seed, d, depth):
    flow, x, g = problem(seed, d, depth)
    w = np.random.default_rng(seed + 1).standard_normal((3, d))
    direct = ((w @ x.T - g) ** 2).mean(-1) / 2
    np.testing.assert_allclose(flow.loss(w), direct, rtol=1e-12)
    t = torch.from_numpy(w).requires_grad_()
    (((t @ torch.from_numpy(x).T - torch.from_numpy(g)) ** 2).mean(-1) / 2).sum().backward()
    np.testing.assert_allclose(flow.gradient(w), t.grad.numpy(), rtol=1e-10, atol=1e-12)


@settings(max_examples=30, deadline=None)
@cases
def test_the_field_is_what_balanced_factors_do(seed, d, depth):
    # by the product rule, from torch's gradients of the factorized loss: no formula is repeated
    flow, x, g = problem(seed, d, depth)
    w = np.random.default_rng(seed + 1).standard_normal(d)
    factors = [W.requires_grad_() for W in flows.balanced_factors(w, depth, 3, seed=seed)]
    product = factors[0]
    for W in factors[1:]:
        product = W @ product
    loss = ((torch.from_numpy(x) @ product[0] - torch.from_numpy(g)) ** 2).mean() / 2
    slopes = torch.autograd.grad(loss, factors)

    def end_to_end(*parts):
        total = parts[0]
        for W in parts[1:]:
            total = W @ total
        return total[0]

    _, moved = torch.func.jvp(
        end_to_end, tuple(W.detach() for W in factors), tuple(-slope for slope in slopes)
    )
    np.testing.assert_allclose(flow.field(w), moved.numpy(), rtol=1e-9, atol=1e-11)


@settings(max_examples=30, deadline=None)
@cases
def test_the_jacobian_is_the_derivative(seed, d, depth):
    flow, _, _ = problem(seed, d, depth)
    w = np.random.default_rng(seed + 1).standard_normal(d) + 0.1
    h = 1e-6
    steps = h * np.eye(d)
    numeric = (flow.field(w + steps) - flow.field(w - steps)).T / (2 * h)
    np.testing.assert_allclose(flow.jacobian(w), numeric, rtol=1e-5, atol=1e-6)


def test_the_origin_is_stationary_from_depth_two_and_singular_at_depth_two():
    for depth in (2, 3, 10):
        flow, _, _ = problem(0, 2, depth)
        assert not flow.field(np.zeros(2)).any()
    assert not flow.jacobian(np.zeros(2)).any()
    with pytest.raises(ValueError, match="no Jacobian at the origin"):
        problem(0, 2, 2)[0].jacobian(np.zeros(2))
    # along a ray the field of depth 2 has different slopes for different directions
    flow, _, _ = problem(0, 2, 2)
    ratios = [flow.field(1e-9 * np.array(u)) / 1e-9 for u in ([1.0, 0.0], [0.0, 1.0], [1.0, 1.0])]
    assert np.abs(ratios[0] + ratios[1] - ratios[2]).max() > 1e-3


def test_depth_one_is_linear_regression_in_closed_form():
    flow, _, _ = problem(3, 3, 1)
    start = np.array([2.0, -1.0, 0.5])
    run = flows.follow(flow, start, 3.0)
    values, vectors = np.linalg.eigh(flow.moments)
    best = flow.minimizer()
    for t in (0.3, 1.0, 3.0):
        exact = best + vectors @ (np.exp(-values * t) * (vectors.T @ (start - best)))
        np.testing.assert_allclose(run.at(t), exact, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("depth", [2, 3, 5])
def test_in_one_dimension_the_time_is_an_integral(depth):
    # w' = L w^(2-2/L) (b - a w): the time from w0 to w1 by quadrature
    from scipy.integrate import quad

    a, b = 0.7, 1.3
    flow = Flow(np.array([[a]]), np.array([b]), depth)
    exact = quad(lambda w: 1 / (depth * w ** (2 - 2 / depth) * (b - a * w)), 0.05, 1.0)[0]
    event = flows.crosses(lambda w: w[0] - 1.0, direction=1)
    for method in ("LSODA", "Radau", "BDF"):
        found = flows.time_until(flow, [0.05], event, until=1e3, method=method)
        np.testing.assert_allclose(found, exact, rtol=1e-6)


def test_the_loss_never_rises_and_the_flow_turns_with_its_data():
    flow, x, g = problem(5, 3, 4)
    start = np.array([0.7, -0.4, 0.9])
    run = flows.follow(flow, start, 20.0)
    assert (np.diff(flow.loss(run.points)) <= 1e-10).all()
    Q = np.linalg.qr(np.random.default_rng(1).standard_normal((3, 3)))[0]
    turned = flows.follow(Flow.from_data(x @ Q.T, g, depth=4), Q @ start, 20.0)
    np.testing.assert_allclose(turned.at(20.0), Q @ run.at(20.0), rtol=1e-6, atol=1e-8)


def test_events_are_first_times_and_stop_where_told():
    flow = Flow(np.eye(1), np.array([2.0]), depth=1)  # w = 2 (1 - exp(-t)) from 0
    events = {
        "out": flows.leaves_ball(1.0),
        "near": flows.comes_within(0.2, [2.0]),
        "never": flows.crosses(lambda w: w[0] - 3.0),
    }
    run = flows.follow(flow, [0.0], 50.0, events=events, stop_at=("near",))
    np.testing.assert_allclose(
        [run.reached["out"], run.reached["near"]], np.log([2, 10]), rtol=1e-7
    )
    assert run.reached["never"] is None
    assert run.ended_by == "near"
    assert run.times[-1] == pytest.approx(np.log(10), rel=1e-7)
    assert flows.time_until(flow, [0.0], events["never"], until=5.0) is None


@settings(max_examples=10, deadline=None)
@given(centre=st.floats(-0.9, 0.9), radius=st.floats(1.0, 1.05))
def test_a_ball_may_stand_anywhere(centre, radius):
    # w = 2 (1 - exp(-t)) from 0: it leaves the ball upwards, where w = centre + radius < 2
    flow = Flow(np.eye(1), np.array([2.0]), depth=1)
    found = flows.time_until(flow, [0.0], flows.leaves_ball(radius, [centre]), until=60.0)
    np.testing.assert_allclose(found, -np.log1p(-(centre + radius) / 2), rtol=1e-6)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**16), depth=st.integers(1, 7), width=st.integers(1, 6))
def test_balanced_factors_are_balanced_and_multiply_to_w(seed, depth, width):
    w = np.random.default_rng(seed).standard_normal(4)
    factors = flows.balanced_factors(w, depth, width, seed=seed)
    product = factors[0]
    for before, after in pairwise(factors):
        torch.testing.assert_close(after.T @ after, before @ before.T, rtol=1e-12, atol=1e-12)
        product = after @ product
    np.testing.assert_allclose(product[0].numpy(), w, rtol=1e-12)


def embedded(seed: int, batch: int, inside: int, outside: int):
    """Data in the first components: moments, target, starts with all components."""
    rng = np.random.default_rng(seed)
    d = inside + outside
    A, b = np.zeros((batch, d, d)), np.zeros((batch, d))
    root = rng.standard_normal((batch, inside, inside + 3))
    A[:, :inside, :inside] = root @ root.transpose(0, 2, 1) / (inside + 3) + 0.2 * np.eye(inside)
    b[:, :inside] = rng.standard_normal((batch, inside)) + 0.5
    return A, b, b + rng.uniform(0.3, 1.0, (batch, d))


def test_orbits_are_those_of_the_flow_one_at_a_time():
    A, b, start = embedded(0, 4, 2, 1)
    depths = np.array([1, 2, 3, 6])
    marks = np.linspace(0, 40, 4000)
    many = flows.orbits(A, b, depths, start, marks)
    for k, depth in enumerate(depths):
        alone = flows.follow(Flow(A[k], b[k], int(depth)), start[k], 3.0)
        # every point of the flow lies on the polygon of the batch's orbit
        for t in (0.1, 1.0, 3.0):
            point = alone.at(t)
            near = np.linalg.norm(many[:, k] - point, axis=1).argsort()[:2]
            a, c = many[near, k]
            u = (c - a) / np.linalg.norm(c - a)
            off = (point - a) - ((point - a) @ u) * u
            assert np.linalg.norm(off) < 1e-4
        np.testing.assert_allclose(
            flows.orbits(A[k : k + 1], b[k : k + 1], depth, start[k : k + 1], marks[::999])[:, 0],
            many[::999, k], rtol=1e-9, atol=1e-10,
        )  # fmt: skip


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**16), inside=st.integers(1, 3), outside=st.integers(1, 3))
def test_the_normal_invariant_is_one_and_leads_to_the_limit(seed, inside, outside):
    A, b, start = embedded(seed, 4, inside, outside)
    depths = np.array([1.0, 2.0, 3.0, 8.0])
    marks = np.array([0.0, 0.5, 5.0, 2000.0])
    w = flows.orbits(A, b, depths, start, marks)
    kept = flows.normal_invariant(w, inside, depths)
    np.testing.assert_allclose(kept, np.broadcast_to(kept[0], kept.shape), rtol=1e-8)
    best = np.linalg.solve(A[:, :inside, :inside], b[:, :inside, None])[..., 0]

    def squares(v: np.ndarray) -> np.ndarray:
        return (v**2).sum(-1)

    limit = flows.normal_limit(
        squares(start[:, :inside]), squares(start[:, inside:]), squares(best), depths
    )
    np.testing.assert_allclose(squares(w[-1, :, inside:]), limit, rtol=1e-7)


@settings(max_examples=60, deadline=None)
@given(
    p=st.floats(0, 100), q=st.floats(1e-6, 100), end=st.floats(1e-6, 100), depth=st.floats(1, 1000)
)
def test_the_normal_limit_solves_its_equation(p, q, end, depth):
    found = float(flows.normal_limit(p, q, end, depth))
    power = 1 - 1 / depth
    left, right = np.log(found / q), power * np.log((end + found) / (p + q))
    np.testing.assert_allclose(left, right, rtol=1e-7, atol=1e-7)
    if p > 0:  # between no change at depth 1 and the change of the tangent part
        low, high = sorted((q, q * end / p))
        assert low * (1 - 1e-7) <= found <= high * (1 + 1e-7)


def test_depth_two_has_a_limit_by_the_quadratic_formula():
    # q = k s^(1/2), s = end + q: q^2 - k^2 q - k^2 end = 0 with k^2 = q0^2 / s0
    square = 1.0 / 5.0
    exact = (square + np.sqrt(square**2 + 4 * square * 1.0)) / 2
    np.testing.assert_allclose(flows.normal_limit(4.0, 1.0, 1.0, 2), exact, rtol=1e-12)
    assert flows.normal_limit(4.0, 0.0, 1.0, 3) == 0


def test_descent_on_the_factors_is_torch_and_nears_the_flow():
    flow, x, g = problem(7, 3, 3)
    start = np.array([0.4, 0.2, -0.3])
    factors = flows.balanced_factors(start, 3, 4, seed=1)
    _, w, last = flows.descend_factors(flow, factors, rate=0.01, steps=5)
    mine = [W.clone().requires_grad_() for W in factors]
    sgd = torch.optim.SGD(mine, lr=0.01)
    for _ in range(5):
        sgd.zero_grad()
        out = torch.from_numpy(x) @ (mine[2] @ mine[1] @ mine[0])[0]
        (((out - torch.from_numpy(g)) ** 2).mean() / 2).backward()
        sgd.step()
    for a, b in zip(last, mine, strict=True):
        torch.testing.assert_close(a, b.detach(), rtol=1e-11, atol=1e-13)
    # halving the step halves the distance to the flow
    exact = flows.follow(flow, start, 1.0).at(1.0)
    apart = []
    for rate in (0.02, 0.01, 0.005):
        _, w, _ = flows.descend_factors(
            flow, factors, rate=rate, steps=round(1 / rate), every=10**6
        )
        apart.append(np.abs(w[-1] - exact).max())
    assert 1.7 < apart[0] / apart[1] < 2.3
    assert 1.7 < apart[1] / apart[2] < 2.3


def test_a_rate_may_depend_on_the_step():
    flow, _, _ = problem(7, 2, 2)
    factors = flows.balanced_factors([0.4, 0.2], 2, 3)
    steps, w, _ = flows.descend_factors(
        flow, factors, rate=lambda step: 0.0 if step else 0.1, steps=3
    )
    assert steps.tolist() == [0, 1, 2, 3]
    assert (w[1] != w[0]).any()
    assert (w[1:] == w[1]).all()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Flow(np.eye(2), np.ones(3), 2), r"shapes are \(2, 2\) and \(3,\)"),
        (lambda: Flow(np.array([[1.0, 2.0], [0.0, 1.0]]), np.ones(2), 2), "symmetric"),
        (lambda: Flow(np.eye(2) * np.nan, np.ones(2), 2), "finite"),
        (lambda: Flow(np.eye(2), np.ones(2), 0), "depth"),
        (lambda: Flow.from_data(np.ones((3, 2)), np.ones(2), depth=2), r"\(3, 2\) and \(2,\)"),
        (lambda: flows.follow(Flow(np.eye(2), np.ones(2), 2), [1.0], 1.0), "2 finite numbers"),
        (lambda: flows.follow(Flow(np.eye(1), np.ones(1), 2), [1.0], 0.0), "until must be above 0"),
        (
            lambda: flows.follow(Flow(np.eye(1), np.ones(1), 2), [1.0], 1.0, stop_at=("x",)),
            "stop_at",
        ),
        (lambda: flows.follow(Flow(np.eye(1), np.ones(1), 2), [1.0], 1.0, method="RK4"), "Radau"),
        (lambda: flows.balanced_factors([0.0, 0.0], 2, 3), "not zero"),
        (lambda: flows.normal_limit(-1.0, 1.0, 1.0, 2), "0 or more"),
        (lambda: flows.orbits(np.eye(2), [[1.0, 0.0]], 2, [[1.0, 1.0]], [1.0]), r"\(2, 2\)"),
        (
            lambda: flows.orbits(np.eye(2)[None], [[1.0, 0.0]], 2, [[1.0, 1.0]], [1.0, 1.0]),
            "marks must increase",
        ),
        (
            lambda: flows.descend_factors(
                Flow(np.eye(2), np.ones(2), 3), flows.balanced_factors([1.0, 1.0], 2, 3), rate=0.1,
                steps=1,
            ),
            "3 matrices",
        ),
        (
            lambda: flows.descend_factors(
                Flow(np.eye(1), np.ones(1), 1), [torch.ones(1, 1)], rate=-1.0, steps=1
            ),
            "rate must be a number above 0",
        ),
    ],
)  # fmt: skip
def test_bad_input_gets_one_sentence(call, words):
    with pytest.raises(ValueError, match=words):
        call()
