"""Critical points of fixed rank: gradients vanish, spectra and losses are as the theorem says."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from lowdim.collapse import critical, linear
from lowdim.linalg import fixedrank

SHAPES = [(3, 5, 9, 2), (4, 2, 6, 1), (3, 3, 3, 3)]


def drawn(c, d, n, r, **how):
    return critical.points(*critical.problem(np.random.default_rng(c), c, d, n), r, **how)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("lam", [0.0, 0.3])
def test_points_are_critical_and_their_loss_is_what_was_dropped(shape, lam):
    for p in drawn(*shape, lam=lam):
        assert p.slope < 1e-11
        expected = (p.Y.square().sum() - p.sigma[list(p.J)].square().sum()) / p.X.shape[1]
        assert p.loss == pytest.approx(expected.item())


@pytest.mark.parametrize("shape", SHAPES)
def test_whitened_points_have_the_predicted_spectrum_and_sylvesters_signs(shape):
    for p in drawn(*shape):
        z = p.whitened()
        torch.testing.assert_close(z.eigenvalues, z.predicted, atol=1e-8, rtol=1e-8)
        assert int((p.eigenvalues < -1e-10).sum()) == p.downward


def test_the_least_loss_is_that_of_the_constrained_minimum():
    points = drawn(3, 5, 9, 2)
    best = min(points, key=lambda p: p.loss)
    assert best.downward == 0 and best.J == (0, 1)
    Theta = linear.constrained(best.X, best.Y, 0.0, 2)
    torch.testing.assert_close(best.Theta, Theta, atol=1e-9, rtol=1e-9)


def test_turning_within_a_tie_stays_critical_and_outside_does_not():
    c, s = 0.6, 0.8
    tie = torch.tensor([[1.0, 0, 0], [0, c, -s], [0, s, c]], dtype=torch.float64)
    other = torch.tensor([[c, -s, 0], [s, c, 0], [0, 0, 1.0]], dtype=torch.float64)
    assert max(p.slope for p in critical.on_diagonal((2.0, 1.0, 1.0), 2, turn=tie)) < 1e-12
    assert max(p.slope for p in critical.on_diagonal((2.0, 1.0, 1.0), 2, turn=other)) > 0.1


def test_zero_values_cannot_be_kept():
    assert critical.on_diagonal((2.0, 0.0, 0.0), 2) == []


def test_second_differences_follow_the_hessian():
    point = drawn(3, 4, 6, 2)[1]
    basis = fixedrank.tangent_basis(point.Theta, 2)
    z = torch.from_numpy(np.random.default_rng(5).standard_normal(len(basis)))
    z = z / z.norm() * torch.linalg.svdvals(point.Theta)[1]
    form = (z @ point.hessian @ z).item()
    seen = critical.second_difference(point, (z[:, None, None] * basis).sum(0))
    assert seen == pytest.approx(form, rel=1e-2, abs=1e-2)


def test_searches_end_at_listed_points():
    Q, rng = np.diag([3.0, 2.0, 1.0]), np.random.default_rng(6)
    zeros = [critical.zero_of_gradient(Q, 2, rng) for _ in range(12)]
    kept = [Z for Z in zeros if Z is not None]
    assert kept and all(critical.selection(Q, Z, 2)[1] for Z in kept)
    assert all(abs(critical.minimized(Q, 2, rng)) < 1e-6 for _ in range(3))


def test_a_foreign_matrix_is_no_selection():
    assert not critical.selection(np.diag([3.0, 2.0]), np.full((2, 2), 1.0), 1)[1]
