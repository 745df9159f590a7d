"""Pictures of learned weights show what they are given."""

from __future__ import annotations

import numpy as np
from lowdim.preserve import foils, learned_pictures, learning

SETTING = learning.Setting(80, 20, seed=1)


def test_there_is_a_panel_for_each_distance_and_a_curve_for_each_run():
    kinds = foils.KINDS[:2]
    runs = {kind: foils.trained(SETTING, kind, draws=2, steps=4) for kind in kinds}
    left, right = learned_pictures.distances(runs, SETTING.chance).axes
    for ax, key in ((left, "truth Y"), (right, "data Y")):
        *curves, chance = ax.lines
        assert [line.get_label() for line in curves] == list(kinds)
        assert set(chance.get_ydata()) == {SETTING.chance}
        expected = np.median(runs[kinds[0]].run.trace[key].numpy(), axis=1)
        np.testing.assert_allclose(curves[0].get_ydata(), expected)
    (only,) = learned_pictures.distances(runs, SETTING.chance, panels=["data Y"]).axes
    assert only.get_title() == right.get_title()


def test_no_noise_has_a_place_at_the_left():
    (ax,) = learned_pictures.shares([0.0, 1e-8], {"a": [1.0, 0.5], "b": [0.0, 0.0]}).axes
    assert ax.lines[0].get_xdata()[0] < 1e-20
    assert ax.get_xticklabels()[0].get_text() == "0"
    assert [line.get_label() for line in ax.lines] == ["a", "b"]
