"""The picture of orders shows medians, ranges and the laws beside them."""

from __future__ import annotations

import numpy as np
import pytest
from lowdim.hashing import orders


def test_medians_ranges_and_laws_are_drawn():
    x = [2, 4, 8]
    V = np.exp(np.random.default_rng(0).normal(size=(5, 3, 4)))
    fig = orders.draw({"ε": (x, V), "n": (x, V), "m": (x, V)}, dashed=2 * V)
    left, mid, right = fig.axes
    for j in range(3):
        line = left.containers[j].lines[0]
        np.testing.assert_allclose(line.get_ydata(), np.median(V[..., j], 0))
    laws = [line for line in mid.lines if line.get_linestyle() in (":", "--")]
    falls = sorted(line.get_ydata()[0] / line.get_ydata()[-1] for line in laws)
    assert falls == pytest.approx([2.0, 4.0])
    dashed = next(line for line in right.lines if line.get_linestyle() == "--")
    np.testing.assert_allclose(dashed.get_ydata(), 2 * np.median(V[..., 2], 0))
    assert all(ax.get_yscale() == "log" for ax in fig.axes)


@pytest.mark.parametrize("errors", [1.0, 2.5])
def test_a_slope_has_so_many_standard_errors_of_the_draws(errors):
    rng = np.random.default_rng(1)
    x = np.array([1.0, 3.0, 10.0, 20.0])
    y = x**-0.7 * np.exp(0.3 * rng.normal(size=(8, 4)))
    fits = [np.polyfit(np.log(x), np.log(row), 1)[0] for row in y]
    found = orders.slope(x, y, errors=errors)
    assert found.value == pytest.approx(np.mean(fits))
    assert found.error == pytest.approx(errors * np.std(fits, ddof=1) / 8**0.5)
    if errors == 1.0:
        assert orders.slope(x, y) == found
    # two places and two draws are the least
    assert orders.slope([1.0, 2.0], y[:2, :2]).value == pytest.approx(
        np.log2(y[:2, 1] / y[:2, 0]).mean()
    )
    for few in (orders.slope([2.0, 2.0], y[:, :2]), orders.slope(x, y[:1])):
        assert np.isnan(few.value) and np.isnan(few.error)
