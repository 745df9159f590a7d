"""Pictures of training: what is drawn is what was measured."""

from __future__ import annotations

import numpy as np
from lowdim.collapse import trajectory_pictures
from lowdim.collapse.trajectories import Setting

COURSE = Setting(per_class=3, width=12, decays=(0.01, 0.05), draws=2, steps=40, seed=1).course()


def test_lines_are_means_over_draws():
    left, right = trajectory_pictures.tail_and_clusters(COURSE, layer=2).axes
    for run in range(3):
        tail, inputs = COURSE.tail(2)[:, run].mean(-1), COURSE.relative[:, run, :, 2].mean(-1)
        np.testing.assert_allclose(left.lines[run].get_ydata(), tail)
        np.testing.assert_allclose(right.lines[run].get_ydata(), inputs)


def test_the_columns_are_weight_decays_and_the_tail_is_where_it_is_measured():
    axes = np.reshape(trajectory_pictures.figure_three(COURSE).axes, (4, 3))
    assert [ax.get_title() for ax in axes[0]] == list(COURSE.setting.names[:3])
    for layer, ax in enumerate(axes[:3, 2]):
        first = np.asarray(ax.lines[0].get_ydata())
        assert first[0] == 1 and first[-1] == 0
        np.testing.assert_allclose(first[10], COURSE.tail(layer)[0, 2, 0])
    variation = COURSE.within[:, 1, :, 3].mean(-1)
    np.testing.assert_allclose(axes[3, 1].lines[2].get_ydata(), variation)
