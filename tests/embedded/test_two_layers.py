"""Two layers from any weights: the closed form against the flow of all weights."""

from __future__ import annotations

import numpy as np
import pytest
from lowdim.embedded import flows, two_layers
from lowdim.seeds import generator


def drawn(trial: int, scale: float = 1.0) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    rng = generator(7, trial, "two layers")
    n, k = int(rng.integers(2, 6)), int(rng.integers(1, 4))
    p, r, Y = (scale * rng.standard_normal(s) for s in (n, n, (n, k)))
    return p, r, Y, float(rng.choice([-1, 1]) * rng.uniform(0.3, 2))


@pytest.mark.parametrize("trial", range(8))
def test_the_flow_ends_where_the_closed_form_says(trial: int) -> None:
    p, r, Y, goal = drawn(trial, 0.3 if trial % 2 else 1.0)
    _, last, kept = two_layers.settle(p, r, Y, moment=1.5, target=1.5 * goal, until=200.0)
    np.testing.assert_allclose(kept, Y, atol=0)
    closed = two_layers.normal_limit(p, r, Y, goal)
    np.testing.assert_allclose(last @ Y, closed, rtol=1e-6, atol=1e-7)


def test_balanced_factors_give_the_form_of_the_conserved_vector() -> None:
    first, last = (W.numpy() for W in flows.balanced_factors([2.0, 1.0], 2, 4, seed=3))
    found = two_layers.normal_limit(first[:, 0], last[0], first[:, 1:], 1.0)
    assert float(found[0] ** 2) == pytest.approx(float(flows.normal_limit(4.0, 1.0, 1.0, 2)))


def test_instances_of_a_batch_are_instances_alone() -> None:
    rng = generator(0, 0, "batch")
    p, r, Y = rng.standard_normal((5, 3)), rng.standard_normal((5, 3)), np.ones((5, 3, 2))
    goal = np.linspace(-1, 1, 5)
    together = two_layers.normal_limit(p, r, Y, goal)
    for i in range(5):
        alone = two_layers.normal_limit(p[i], r[i], Y[i], goal[i])
        np.testing.assert_allclose(together[i], alone, rtol=1e-13)


def test_stretch_solves_its_equation_on_both_sides() -> None:
    p, r = np.array([0.4, -1.0]), np.array([0.3, 0.2])
    up, down = ((r + p) ** 2).sum(), ((r - p) ** 2).sum()
    for goal in (-1e6, -2.0, 0.0, 3.0, 1e6):
        X = float(two_layers.stretch(p, r, goal))
        assert up * X - down / X == pytest.approx(4 * goal, rel=1e-9, abs=1e-9)


def test_what_cannot_be_reached_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot be reached"):
        two_layers.stretch([1.0], [-1.0], 1.0)
    with pytest.raises(ValueError, match=r"p and r must be \(n,\)"):
        two_layers.settle([1.0], [1.0, 2.0], [[1.0]])
