"""Images in the order of their labels."""

from __future__ import annotations

import numpy as np
import torch
from lowdim.collapse import classes
from lowdim.data import images


def test_pixels_are_those_of_the_loader_centred_and_sorted():
    taken = classes.draw("digits", per_class=3, seed=5)
    raw = images.load("digits", per_class=3, classes=10, seed=5)
    assert np.all(np.diff(taken.labels) >= 0)
    torch.testing.assert_close(taken.pixels.mean(1), torch.zeros(64), atol=1e-6, rtol=0)
    one = raw.columns()[:, raw.labels == 4].mean(1) - raw.columns().mean(1)
    seen = taken.pixels[:, taken.labels == 4].mean(1)
    torch.testing.assert_close(seen.double(), torch.from_numpy(one).double(), atol=1e-5, rtol=0)


def test_targets_name_the_label():
    taken = classes.draw("digits", per_class=2, seed=0, side=4)
    assert taken.pixels.shape == (16, 20) and taken.onehot.shape == (10, 20)
    assert taken.onehot.argmax(0).tolist() == taken.labels.tolist()
    assert float(taken.onehot.sum()) == 20
