"""Near the origin: integrals against quadrature, times and distances against the solver."""

from __future__ import annotations

import numpy as np
import pytest
from lowdim.embedded import origin
from lowdim.embedded.flows import Flow
from scipy.integrate import quad


@pytest.mark.parametrize("depth", [1, 2, 3.5, 40])
def test_least_time_is_its_integral(depth):
    eps, b, C2 = 0.03, 0.7, 2.0
    wanted = quad(
        lambda r: 1 / (depth * r ** (2 - 2 / depth) * (b + C2 * r)), eps, 1.5 * eps, epsrel=1e-12
    )[0]
    assert float(origin.least_time(eps, depth, b, C2)) == pytest.approx(wanted, rel=1e-10)


@pytest.mark.parametrize("depth", [1, 2, 3, 7])
def test_sharp_constant_is_the_limit(depth):
    eps = 1e-7
    wanted = float(origin.least_time(eps, depth, 2.0, 1.0)) * 2.0 * eps ** (1 - 2 / depth)
    assert origin.sharp_constant(depth) == pytest.approx(wanted, rel=1e-5)
    assert origin.sharp_constant(2) == pytest.approx(origin.sharp_constant(2 + 1e-7), rel=1e-5)


@pytest.mark.parametrize("depth", [1, 2, 5])
def test_no_start_escapes_sooner_than_the_bound(depth):
    rng = np.random.default_rng(depth)
    z, b = rng.standard_normal((6, 2)), rng.standard_normal(2)
    A = z.T @ z / 6
    bound = float(origin.least_time(0.1, depth, np.linalg.norm(b), np.linalg.eigvalsh(A)[-1]))
    for _ in range(4):
        w = rng.standard_normal(2)
        w *= 0.1 / np.linalg.norm(w)
        assert origin.escape_time(Flow(A, b, depth), w, until=1e5 * bound) >= bound * (1 - 1e-6)


def test_escape_may_not_happen():
    flow = Flow(np.eye(1), np.array([0.01]), depth=1)  # the minimum is the start itself
    assert origin.escape_time(flow, np.array([0.01]), until=10.0) is None


@pytest.mark.parametrize("depth", [2, 3, 6])
def test_passage_without_data_is_a_power_of_the_sine(depth):
    angle = 0.7 * np.pi
    w = 1.3 * np.array([np.cos(angle), np.sin(angle)])
    flow = Flow(np.zeros((2, 2)), np.array([1.0, 0.0]), depth)
    wanted = 1.3 * np.sin(angle) ** depth
    assert origin.passage_distance(flow, w) == pytest.approx(wanted, rel=1e-6)


def test_passage_needs_a_start_behind():
    flow = Flow(np.zeros((2, 2)), np.array([1.0, 0.0]), 2)
    with pytest.raises(ValueError, match="behind the origin"):
        origin.passage_distance(flow, np.array([1.0, 1.0]))


@pytest.mark.parametrize("depth", [3, 4, 9])
def test_passage_time_is_its_integral(depth):
    wanted = quad(lambda t: np.sin(t) ** (depth - 3), 0, np.pi)[0]
    assert origin.passage_time(1.0, depth) == pytest.approx(wanted)
    assert origin.passage_time(0.1, depth, b=2.0) == pytest.approx(
        wanted * 0.1 ** (2 / depth - 1) / 2
    )


def test_nearest_is_the_passage_on_one_axis():
    """For data on one axis the least distance is r sin^L θ, whatever the data."""
    flow = Flow(np.diag([0.4, 0.0]), np.array([1.0, 0.0]), 3)
    angle = 0.65 * np.pi
    w = 2 * np.array([np.cos(angle), np.sin(angle)])
    assert origin.nearest(flow, w) == pytest.approx(2 * np.sin(angle) ** 3, rel=1e-3)


@pytest.mark.parametrize("depth", [3, 4, 6])
def test_noise_alone_carries_a_trajectory_past_the_origin(depth: int) -> None:
    m, n, waits = 0.1, -0.05, []
    for s in (0.02, 0.01):
        flow = Flow(np.array([[1 / 3, s * m], [s * m, s * s]]), np.array([1.0, s * n]), depth)
        t, kappa = origin.through(flow, np.array([-1.5, 0.0]), to=1.5)
        said = s * abs(origin.carried(1.5, depth, square=1 / 3, b=1.0, xy=m, gy=n))
        assert kappa == pytest.approx(said, rel=2e-3)
        assert t == pytest.approx(origin.passage_time(kappa**depth, depth), rel=0.1)
        waits.append(t)
    assert waits[1] / waits[0] == pytest.approx(2 ** (depth - 2), rel=0.05)


def test_a_start_before_the_origin_is_refused() -> None:
    flow = Flow(np.eye(2), np.array([1.0, 0.0]), 3)
    with pytest.raises(ValueError, match="w_x < 0"):
        origin.through(flow, np.array([1.0, 0.0]), to=0.5)
