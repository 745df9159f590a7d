"""Ridge regression on points and on centroids: identities of the pair, and what no t can do."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from lowdim.collapse import centroid_ridge
from lowdim.collapse.centroid_ridge import Ridges


def drawn(count: int = 20, **sizes: int) -> tuple[dict[str, torch.Tensor], Ridges]:
    case = centroid_ridge.clouds(count, np.random.default_rng(1), **sizes)
    return case, Ridges.of(case)


def test_cross_terms_vanish_and_variations_add_up():
    case, pair = drawn()
    X, Y, n = case["X"], case["Y"], case["X"].shape[-1]
    torch.testing.assert_close(X @ X.mT / n, pair.Xc @ pair.Xc.mT + pair.Dx @ pair.Dx.mT)
    torch.testing.assert_close(Y @ X.mT / n, pair.Ac + pair.Dy @ pair.Dx.mT)
    torch.testing.assert_close(pair.B - pair.Bc, pair.Dx @ pair.Dx.mT)
    torch.testing.assert_close(pair.wx + pair.wy, pair.tcv)


def test_minimizers_have_no_gradient():
    case, pair = drawn()
    n, lam = case["X"].shape[-1], case["lam"][:, None, None]
    for Theta, X, Y in (
        (pair.full, case["X"], case["Y"]),
        (pair.centre, n**0.5 * pair.Xc, n**0.5 * pair.Yc),
    ):
        gradient = (Theta @ X - Y) @ X.mT / n + lam * Theta
        assert float((gradient.abs().amax((1, 2)) / (1 + Theta.norm(dim=(1, 2)))).max()) < 1e-9


def test_an_instance_of_a_batch_is_that_instance_alone():
    case, pair = drawn()
    alone = Ridges.of({name: value[3:4] for name, value in case.items()})
    for name in ("tcv", "distance", "m", "wx", "wy", "full", "centre"):
        torch.testing.assert_close(getattr(pair, name)[3:4], getattr(alone, name))


def test_centroids_have_at_most_k_columns():
    _, pair = drawn(K=3)
    assert int(torch.linalg.matrix_rank(pair.Xc, rtol=1e-9).max()) <= 3
    assert max(len(torch.unique(A.round(decimals=9), dim=1).mT) for A in pair.Xc) <= 3


def test_two_points_have_the_minimizers_of_their_closed_form():
    z = torch.from_numpy(np.random.default_rng(2).normal(size=(9, 5)))
    a, b, u, v, lam = z.exp().T
    pair = Ridges.of(centroid_ridge.two_points(z))
    torch.testing.assert_close(pair.centre.flatten(), -a * b / (a**2 + lam))
    torch.testing.assert_close(pair.full.flatten(), (u * v - a * b) / (a**2 + u**2 + lam))


def test_the_best_derivative_fits_numbers_and_not_matrices():
    _, numbers = drawn(d=1)
    gap, nearest = centroid_ridge.nearest_derivative(numbers)
    torch.testing.assert_close(nearest, gap, rtol=1e-6, atol=1e-9)
    # I and I + diag(1, 3): the entries ask for t = √2 - 1 and t = 1/3
    one, zero = torch.ones(1, dtype=torch.float64), torch.zeros(1, 1, 2, dtype=torch.float64)
    eye = torch.eye(2, dtype=torch.float64)[None]
    Dx = torch.diag(torch.tensor([1.0, 3.0]).double().sqrt())[None]
    pair = Ridges(2, one, one, zero, zero, Dx, zero, eye + Dx @ Dx.mT, eye, zero, Dx, zero)
    gap, nearest = centroid_ridge.nearest_derivative(pair)
    misses = []
    for t in np.linspace(0, 1, 2001):
        h = np.array([1.0, 3.0])
        misses.append(np.linalg.norm(1 / (1 + h) - 1 + h / (1 + t * h) ** 2))
    assert float(torch.linalg.matrix_norm(gap - nearest)) == pytest.approx(min(misses), rel=1e-3)
    assert min(misses) > 0.01


def test_an_instance_without_parts_is_refused():
    with pytest.raises(ValueError, match="K must be a whole number"):
        centroid_ridge.instance([[1.0]], [[1.0]], 1.0, 0)
