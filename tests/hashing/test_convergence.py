"""Random layers near their kernel: exact means, exact tails, rotations."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from lowdim.hashing import convergence, kernels


def test_the_mean_square_error_is_the_total_variance_over_the_width():
    X = convergence.sphere(3, 5, seed=2)
    gram, _ = convergence.errors(X, 50, 2000, seed=5)
    square = gram.square()
    expected = convergence.total_variance(X) / 50
    assert abs(float(square.mean()) - expected) < 5 * float(square.std()) / 2000**0.5


def test_a_sweep_is_made_of_its_errors_and_is_kept():
    found = convergence.sweep([4, 6], [10, 20], inputs=3, trials=4, seed=1)
    gram, turn = convergence.errors(found.data[1], 20, 4, seed=1 + 1 + 1)
    torch.testing.assert_close(found.gram[1, 1], gram)
    torch.testing.assert_close(found.turn[1, 1], turn)
    assert convergence.sweep((4, 6), (10, 20), inputs=3, trials=4, seed=1) is found


def test_batches_do_not_change_the_first_layers():
    X = convergence.sphere(3, 4)
    few, many = (convergence.errors(X, 10, count, seed=0)[0] for count in (15, 25))
    torch.testing.assert_close(few, many[:15])


@pytest.mark.parametrize(("width", "N", "epsilon"), [(6, 1, 0.1), (20, 3, 0.7)])
def test_equal_columns_fail_as_often_as_drawn_layers_do(width, N, epsilon):
    X = torch.tensor([[1.0], [0.0]], dtype=torch.float64).repeat(1, N)
    Z = kernels.random_features(X, width, seed=3, trials=4000)
    error = torch.linalg.matrix_norm(Z.mT @ Z - kernels.gram(X))
    case = (torch.tensor([float(v)], dtype=torch.float64) for v in (width, N, epsilon))
    exact = convergence.equal_columns_off(*case).item()
    assert float((error > epsilon).double().mean()) == pytest.approx(exact, abs=0.03)


def test_the_needed_width_of_a_power_law_is_exact():
    widths = [10, 40, 160]
    found = 3 * torch.tensor(widths).double()[:, None] ** -0.5 * torch.ones(1, 7)
    assert convergence.needed_width(widths, found, 0.3) == pytest.approx(100, rel=1e-9)


def test_a_box_keeps_its_ends():
    box = convergence.LogBox((1, 50), (1e-2, 1), (2, 8))
    free = {"log": torch.tensor([[-9.0, -9.0, -9.0], [9.0, 9.0, 9.0]], dtype=torch.float64)}
    case = box.build(free)
    ends = {"N": [1, 50], "eps": [1e-2, 1], "C": [2, 8]}
    for name, both in ends.items():
        np.testing.assert_allclose(case[name], both)
