"""Shortcuts: closed limits against minima, and against the two-variable problem by scipy."""

from __future__ import annotations

import numpy as np
import pytest
from lowdim.hashing import shortcuts
from scipy.optimize import minimize


@pytest.mark.parametrize("level", [0.4, 0.8, 1.5, 3.0])
def test_minima_approach_the_limits(level: float) -> None:
    p, g = 0.9, 0.003
    exact, found = shortcuts.limit(p, level * 0.09), shortcuts.learnt(g, level)
    scale = g if level > 1 else 1.0
    assert found.sine == pytest.approx(exact.sine, abs=0.01)
    assert found.core == pytest.approx(exact.core, abs=0.01)
    assert found.spurious == pytest.approx(exact.spurious, abs=0.01)
    assert scale * found.variance == pytest.approx(exact.variance, rel=0.03)


def test_the_minority_is_misread_from_half_of_its_share_on() -> None:
    p = 0.8
    for epsilon in (0.099, 0.101):
        assert shortcuts.limit(p, epsilon).misread == (epsilon > (1 - p) / 2)


def test_the_limit_is_the_minimum_of_a_problem_in_two_variables() -> None:
    p, epsilon = 0.7, 0.1

    def cost(v: np.ndarray) -> float:
        c, d = v
        loss = 0.25 * (p * (1 - c - d) ** 2 + (1 - p) * (1 - c + d) ** 2)
        return float(loss + 2 * epsilon * abs(c))

    best = minimize(cost, [0.5, 0.1], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12})
    exact = shortcuts.limit(p, epsilon)
    np.testing.assert_allclose(best.x, [exact.core, exact.spurious], atol=1e-5)


def test_the_threshold_itself_is_refused() -> None:
    with pytest.raises(ValueError, match=r"must not be p\(1-p\)"):
        shortcuts.limit(0.5, 0.25)
