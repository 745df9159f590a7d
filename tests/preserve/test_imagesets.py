"""Draws of images: halves that share no image, shuffled labels, one draw alone."""

from __future__ import annotations

import numpy as np
import torch
from lowdim.preserve import imagesets


def test_halves_are_as_large_as_asked_and_share_no_image():
    data = imagesets.draw(per_class=6, classes=4, draws=2)
    for t in range(2):
        for labels in (data.labels[t], data.fresh_labels[t]):
            assert np.bincount(labels).tolist() == [6] * 4
        both = torch.cat([data.X[t], data.fresh[t]], 1)
        assert len(torch.unique(both, dim=1).T) == 48


def test_shuffled_labels_are_the_same_labels_in_another_order():
    data = imagesets.draw(per_class=6, classes=4, draws=3, seed=2)
    np.testing.assert_array_equal(np.sort(data.shuffled, 1), np.sort(data.labels, 1))
    assert (data.shuffled != data.labels).any(1).all()


def test_a_draw_of_many_is_that_draw_alone():
    many, one = (imagesets.draw(per_class=4, classes=3, draws=k, seed=1) for k in (3, 1))
    torch.testing.assert_close(many.X[:1], one.X)
    np.testing.assert_array_equal(many.shuffled[:1], one.shuffled)


def test_provenance_counts_both_halves():
    data = imagesets.draw(per_class=5, classes=2, draws=1)
    assert (data.provenance.taken, data.groups) == (20, 2)
