"""Adam's steps, one by one: rungs in order, where they are sharp, and against real paths."""

from __future__ import annotations

import numpy as np
import pytest
from lowdim.embedded import adam_steps, decay


def ordered(rungs: np.ndarray) -> bool:
    return bool((np.diff(rungs, axis=0) >= -1e-8 * np.abs(rungs[:-1])).all())


@pytest.mark.parametrize("seed", [0, 1])
def test_rungs_stand_in_order(seed: int) -> None:
    growth, cone = adam_steps.inside(4000, seed=seed)
    apart, least = adam_steps.outside(4000, seed=seed)
    assert ordered(growth) and ordered(cone) and ordered(apart) and least > 0
    assert np.allclose(growth[1], growth[2], rtol=1e-9)
    assert np.allclose(cone[0], cone[1], rtol=1e-9)
    assert len(apart[0]) > 500


def test_they_are_sharp() -> None:
    growth, _ = adam_steps.inside(4000, seed=0)
    apart, _ = adam_steps.outside(20000, seed=0)
    assert (growth[0] / growth[1]).max() > 1 - 1e-9  # at the edge of the cone
    assert (apart[0] / apart[3]).max() > 0.99


def test_states_of_a_real_path_obey_them() -> None:
    """Wherever a path has a large step, a state in the cone is followed by one in it."""
    rate, first, second = 0.01, 0.9, 0.999
    path = decay.adam_long(1.0, 30_000, rate=rate)
    m = v = 0.0
    seen, inside = 0, False
    for t, w in enumerate(path[:-1], start=1):
        m, v = first * m + (1 - first) * w, second * v + (1 - second) * w * w
        size = (v / (1 - second**t)) ** 0.5
        large = size > 0 and rate / (1 - first**t) / size > 1 / decay.adam_floor()
        now = abs(w) <= 2 / (1 - first) * abs(m) * (1 + 1e-9)
        assert now or not inside
        inside = now and large and m != 0
        seen += inside
    assert seen > 1000


def test_averages_do_not_exceed_the_past() -> None:
    average, most = adam_steps.averages(300)
    assert (average <= most * (1 + 1e-12)).all() and (average > 0).any()
    assert average[0] == most[0]  # the first is w itself


def test_paths_come_back_above_the_floor() -> None:
    floor, back = adam_steps.returns(20_000)
    assert (floor > 0).all() and (floor <= back).all()


def test_the_critical_rate_is_that_of_the_polynomial() -> None:
    """At (1 - β₁)α = 2(1 + β₁) the number -1 is a root of z² - (1 + β₁ - (1 - β₁)α)z + β₁."""
    below, one, above = adam_steps.radii(500, seed=2)
    assert (below < one).all() and (one < above).all()
    assert below.max() > 0.999 and above.min() < 1.001
