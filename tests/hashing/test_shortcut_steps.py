"""The steps of the phase transition: identities at every g, and fractions against minima."""

from __future__ import annotations

from fractions import Fraction as F

import numpy as np
import pytest
import torch
from lowdim.hashing import shortcut_steps as steps
from lowdim.hashing import shortcuts


@pytest.fixture(scope="module")
def places() -> list[steps.Place]:
    return steps.cases(1, np.random.default_rng(5))


def test_no_step_fails_on_points_that_no_chapter_draws(places: list[steps.Place]) -> None:
    rungs = steps.variances(places)
    torch.testing.assert_close(rungs[0], rungs[1], rtol=1e-6, atol=1e-9)
    torch.testing.assert_close(rungs[1], rungs[2], rtol=1e-6, atol=1e-9)
    assert (rungs.diff(dim=0)[2:] > -1e-6 * rungs[3:] - 1e-9).all()


def test_stationarity_and_norms(places: list[steps.Place]) -> None:
    sine, by_c, by_d = steps.sines(places)
    torch.testing.assert_close(sine, by_c, rtol=1e-6, atol=0)
    torch.testing.assert_close(sine, by_d, rtol=1e-6, atol=0)
    one, t, bound, whole, parts = steps.norms(places)
    assert (one <= t + 1e-9).all()
    assert (t <= bound).all()
    torch.testing.assert_close(whole, parts, rtol=1e-6, atol=0)


def test_it_is_the_minimum_of_the_other_module() -> None:
    found, other = steps.at(0.1, 1.5), shortcuts.learnt(0.1, 1.5)
    assert (found.c, found.d, found.variance) == pytest.approx(
        (other.core, other.spurious, other.variance), rel=1e-9
    )
    assert found.c / found.root == pytest.approx(other.sine, rel=1e-9)


@pytest.mark.parametrize("triple", [(20, 99, 101), (28, 195, 197)])
def test_fractions_satisfy_both_equations_of_a_stationary_point(
    triple: tuple[int, int, int],
) -> None:
    p, sine, cosine = F(9, 10), F(3, 5), F(4, 5)
    epsilon, V = steps.exact(triple, sine, p)
    g, a = F(triple[0], triple[2]), F(triple[1], triple[2])
    t, slope = 1 + g * F(126, 100), 2 * p - 1
    d = V * g / (t * p * (1 - p) * a * cosine)
    c = g / a * sine / cosine * d
    assert (1 - c - slope * d) / 2 == 2 * epsilon / t * sine
    assert (slope * (1 - c) - d) / 2 == 2 * epsilon / t * g / a * cosine
    assert V > epsilon > 0


def test_what_is_no_right_triangle_is_refused() -> None:
    with pytest.raises(ValueError, match="right triangles"):
        steps.exact((1, 2, 3), F(3, 5), F(9, 10))
    with pytest.raises(ValueError, match="right triangles"):
        steps.exact((3, 4, 5), F(1, 2), F(9, 10))
