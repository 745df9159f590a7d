"""Starts behind the origin: moments against data, rungs in order, laws against the solver."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from lowdim.embedded import origin, passages
from lowdim.embedded.flows import Flow


@pytest.fixture(scope="module")
def walks() -> list[passages.Walk]:
    return passages.walks(2, seed=1)


def test_the_flow_is_that_of_the_data() -> None:
    rng = np.random.default_rng(0)
    x, y, g = rng.uniform(-1, 1, 40), rng.standard_normal((40, 2)), rng.standard_normal(40)
    moments = (x @ x / 40, 0.7, x @ y / 40, g @ y / 40, y.T @ y / 40)
    start = passages.Behind(3, 0.1, 1.0, np.zeros(2), *moments)
    wanted = Flow.from_data(np.column_stack([x, 0.1 * y]), g, depth=3)
    assert np.allclose(start.flow.moments, wanted.moments)
    assert np.allclose(start.flow.target[1:], wanted.target[1:])


def test_the_walk_takes_the_time_that_another_solver_finds() -> None:
    _, start = next(passages.instances(1, seed=3))
    walk = start.follow(0.4)
    time, kappa = origin.through(start.flow, start.start, to=0.4)
    assert walk.time == pytest.approx(time, rel=1e-6)
    assert walk.kappa == pytest.approx(kappa, rel=1e-6)


def test_rungs_stand_in_order(walks: list[passages.Walk]) -> None:
    for walk in walks:
        drift = walk.drift()
        assert np.allclose(drift[0], drift[1], rtol=1e-8, atol=1e-12)  # part 1, by the chain rule
        for rungs in (drift[1:], walk.sizes(), walk.speeds(), walk.bounds()):
            assert (np.diff(rungs, axis=0) >= -1e-7 * np.abs(rungs[:-1])).all()


def test_k_moves_as_its_derivative_says(walks: list[passages.Walk]) -> None:
    """The first rung is a derivative: its integral over w_x is the length of k's way."""
    for walk in walks[:6]:
        w = walk.points[walk.points[:, 0] < 0]
        k = walk.of.across / np.linalg.norm(walk.of.start) ** (1 - 1 / walk.of.depth)
        far = np.linalg.norm(
            w[:, 1:] / np.linalg.norm(w, axis=1)[:, None] ** (1 - 1 / walk.of.depth) - k, axis=1
        )
        u = np.abs(w[:, 0]) ** (1 / walk.of.depth)  # L du = |w_x|^(1/L - 1) dw_x
        way = np.abs(np.trapezoid(walk.drift()[0] * walk.of.depth, u))
        assert far.max() <= way * (1 + 5e-3) + 1e-11


def test_without_correlation_and_noise_k_is_conserved(walks: list[passages.Walk]) -> None:
    still = [walk for walk in walks if not walk.of.push]
    assert still
    for walk in still:
        k = np.linalg.norm(walk.of.conserved)
        assert walk.kappa == pytest.approx(k, rel=0.05) and walk.of.most == pytest.approx(2 * k)


def test_conditions_refuse(walks: list[passages.Walk]) -> None:
    start = walks[0].of
    assert start.allowed
    assert not replace(start, sigma=5.0).allowed
    assert not replace(start, across=start.across + 2.0).allowed
    assert not replace(start, gy=start.gy + 1e3).allowed


def test_a_strained_start_is_at_the_edge() -> None:
    *_, (kind, start) = passages.instances(1, seed=1)
    assert kind == "strained" and start.allowed
    more = 1.001
    assert not replace(start, sigma=more * start.sigma, across=more * start.across).allowed


def test_limits_are_linear_in_the_noise() -> None:
    off = [np.abs(r / r[0] - 1).max() for r in (
        passages.limits(3, s, ball=0.05, seed=0) for s in (1e-2, 1e-3)
    )]  # fmt: skip
    assert off[1] < off[0] / 5 < 0.02


def test_a_start_that_never_arrives_is_told() -> None:
    none = np.zeros(1)
    start = passages.Behind(3, 0.1, 1.0, np.array([0.1]), 1.0, 1.0, none, none, np.eye(1))
    with pytest.raises(RuntimeError, match="did not reach w_x = 5"):
        start.follow(5.0)
