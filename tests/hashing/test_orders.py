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
