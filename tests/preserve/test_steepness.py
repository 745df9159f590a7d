"""Steepness: gradients and spectra against dense ones, the determinant against its matrix."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from lowdim.linalg import curvature
from lowdim.preserve import steepness


def instance(seed):
    rng = np.random.default_rng(seed)
    return (torch.from_numpy(rng.standard_normal(shape)) for shape in ((4, 9), (3, 4), (4, 3)))


@pytest.mark.parametrize("seed", range(3))
def test_it_is_what_dense_derivatives_say(seed):
    X, W, V = instance(seed)
    found, f = steepness.at(X, W, V, seed=0), steepness.loss(X)
    spectrum = torch.linalg.eigvalsh(curvature.dense_hessian(f, [W, V]))
    assert abs(found.smallest - float(spectrum[0])) < 0.02 * abs(float(spectrum[0])) + 1e-9
    assert abs(found.largest - float(spectrum[-1])) < 0.02 * float(spectrum[-1])
    assert found.smallest >= float(spectrum[0]) - 1e-9
    assert found.gradient >= found.least
    step, at = 1e-6, float(f(W, V))
    direction = curvature.gradient(lambda W: f(W, V), W).reshape(W.shape)
    slope = (float(f(W + step * direction, V)) - at) / step / float(direction.norm())
    assert abs(found.gradient / (slope * float(W.norm()) / at) - 1) < 1e-3


def test_neither_the_scale_of_the_data_nor_that_of_a_layer_matters():
    X, W, V = instance(7)
    here = steepness.at(X, W, V, seed=0)
    there = steepness.at(10 * X, 2 * W, V / 2, seed=0)
    assert abs(here.gradient - there.gradient) < 1e-9
    assert abs(here.output - there.output) < 1e-12
    assert abs(here.least - there.least) < 1e-9


def test_the_determinant_by_the_encoder_alone_where_all_units_are_active():
    rng = np.random.default_rng(0)
    X, W, V = (torch.from_numpy(rng.random(shape)) for shape in ((3, 5), (2, 3), (3, 2)))
    f = steepness.loss(X)
    H = 5 * curvature.dense_hessian(lambda W: f(W, V), W)
    expected = float(torch.linalg.slogdet(H)[1]) / np.log(10)
    assert abs(steepness.log_determinant(X, V) - expected) < 1e-9


def test_cells_have_two_digits():
    values = steepness.Steepness(4.56, 3.61, 0.0, -96.4, 3912.0, 2.2)
    assert values.cells == ["4.6", "3.6", "0", "-96", "3900"]
