"""The slow manifold: eigenvalues against the Jacobian, times against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lowdim.embedded import slow
from lowdim.embedded.flows import Flow


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 9), st.floats(0.05, 1.0))
def test_eigenvalues_are_those_of_the_jacobian(seed, depth, sigma):
    rng = np.random.default_rng(seed)
    z, g = rng.standard_normal((9, 3)), rng.standard_normal(9)
    flow = slow.scaled(z.T @ z / 9, z.T @ g / 9, sigma, depth)
    wanted = np.sort(-np.linalg.eigvals(flow.jacobian(flow.minimizer())).real)
    assert np.allclose(slow.eigenvalues(flow), wanted, rtol=1e-6, atol=1e-9 * wanted[-1])


def test_scaled_is_the_flow_on_scaled_points():
    rng = np.random.default_rng(0)
    z, g, D = rng.standard_normal((9, 3)), rng.standard_normal(9), np.array([1.0, 0.2, 0.2])
    flow = slow.scaled(z.T @ z / 9, z.T @ g / 9, 0.2, 4, tangent=1)
    points = Flow.from_data(z * D, g, depth=4)
    assert np.allclose(flow.moments, points.moments)
    assert np.allclose(flow.target, points.target)


def test_far_above_the_knee_the_slow_eigenvalue_is_a_square():
    N = 10**5
    values = slow.spectra(slow.draws([N], count=2, seed=1)[N], [0.1, 0.2], 5)[..., 0]
    assert slow.knee(N) < 0.01
    assert values[:, 1] / values[:, 0] == pytest.approx(4, rel=0.02)


def test_kernel_notices_a_rotated_one():
    """Data on a line that is not the first axis: the kernel is another."""
    u = np.array([0.6, 0.8])
    flow = Flow(np.outer(u, u), u, 3)
    assert not slow.kernel_is_normal(flow, u.copy(), 1)


@pytest.mark.parametrize("rate", [0.5, 2.0])
def test_settling_of_a_line_is_a_logarithm(rate):
    flow = Flow(np.array([[rate]]), np.array([rate]), depth=1)  # w - 1 falls as exp(-rate t)
    first, last = slow.settling(flow, np.zeros(1), 60 / rate)
    assert first == pytest.approx(np.log(1e6) / rate, rel=5e-3)
    assert last == first


def test_settling_of_each_component_and_of_a_crossing_one():
    A = np.diag([1.0, 4.0])
    flow = Flow(A, A @ np.ones(2), depth=1)
    times = slow.settling(flow, np.zeros(2), 40.0, each=True)
    assert times[:, 1] == pytest.approx(np.log(1e6) / np.array([1.0, 4.0]), rel=5e-3)
    # w₂ overshoots when the axes are coupled: it is close once before it stays.
    flow = Flow(np.array([[1.0, 0.9], [0.9, 1.0]]), np.array([1.0, 1.0]), depth=1)
    first, last = slow.settling(flow, np.array([5.0, 1.5]), 400.0, each=True)[1]
    assert first < last


def test_settling_says_when_it_does_not():
    flow = Flow(np.eye(1), np.array([1.0]), depth=1)
    assert np.isinf(slow.settling(flow, np.zeros(1), 1.0)).all()


def test_what_is_not_close_yet_is_followed_longer() -> None:
    flow = slow.Flow(np.eye(1), np.array([1.0]), depth=1)  # w' = 1 - w
    expected = slow.settling(flow, np.zeros(1), 30.0)
    assert np.isinf(slow.settling(flow, np.zeros(1), 1.0)).all()
    assert np.isinf(slow.settling(flow, np.zeros(1), 1.0, patience=1)).all()
    np.testing.assert_allclose(
        slow.settling(flow, np.zeros(1), 1.0, patience=2), expected, rtol=0.01
    )
