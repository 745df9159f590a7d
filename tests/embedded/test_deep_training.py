"""Deep networks on a plane: one curve, its two ends, and quadrature against sampling."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from lowdim.embedded import deep_training, offdata

HOW = {"nets": 2, "width": 6, "points": 60, "epochs": 2, "batch": 20, "rate": 0.03, "seed": 1}
AT = offdata.cube_points(3, 512)
UNIT = torch.from_numpy(np.random.default_rng(0).standard_normal((2, 512)))


@pytest.fixture(scope="module")
def made():
    return deep_training.grow(3, **HOW)


def test_the_metric_depends_on_the_product_of_sizes(made):
    other = deep_training.grow(3, eta=0.25, **HOW)
    assert torch.allclose(other.metric(AT, UNIT), made.metric(AT, UNIT / 4), rtol=1e-12)


def test_limits_are_those_of_the_metric(made):
    near, far = made.limits(AT, UNIT)
    assert torch.allclose(made.metric(AT, 1e-5 * UNIT) * 1e10, near, rtol=0.02)
    assert torch.allclose(made.metric(AT, 1e6 * UNIT) / 1e12, far, rtol=1e-3)


def test_the_mean_is_an_eighth_of_the_integral(made):
    runs = deep_training.sampled_metric(made, 0.5, count=2000, runs=10, seed=2)
    assert runs.shape == (10, 2)
    assert torch.allclose(8 * runs.mean(0), made.expected(0.5, AT), rtol=0.06)


def test_norms_and_loss_are_of_the_trained_networks(made):
    assert [tuple(size.shape) for size in made.norms()] == [(2,)] * 3
    top = torch.linalg.svdvals(made.end[1][0])[:, 0]
    assert torch.allclose(made.norms()[1], top)
    assert made.loss.shape == (2,) and bool((made.loss > 0).all())
