"""Minima at infinite width: what the chapter proves of them, and identities of the parts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from lowdim.hashing import factored, kernels, minima, vanishing

SMALL = vanishing.Data(classes=3, points=5, latent=2, moves=3, seed=1)


@pytest.fixture(scope="module")
def pairs():
    return [vanishing.minimum(SMALL, t, e) for t in range(2) for e in (0.1, 0.01)]


def test_quantities_are_those_of_the_factors(pairs):
    fits = [fit for _, fit in pairs]
    q = minima.measured(fits)
    for i, fit in enumerate(fits):
        root = kernels.square_root(kernels.gram(fit.X))
        p = factored.problem(root, fit.labels, fit.lam1, fit.lam2)
        B = fit.C @ root  # the row space of the features
        assert p.value(fit.A, B).item() == pytest.approx(q.objective[i].item(), rel=1e-9)
        assert B.square().sum().item() == pytest.approx(q.B2[i].item(), rel=1e-9)
        assert q.epsilon[i].item() / q.beta[i].item() == pytest.approx(fit.lam2)
    alone = minima.measured(fits[2:3])
    assert all(torch.equal(getattr(alone, k)[0], v[2]) for k, v in vars(q).items())


def test_minima_are_balanced_and_below_the_ground_truth(pairs):
    q = minima.measured([fit for _, fit in pairs])
    torch.testing.assert_close(q.A2 * q.ratio, q.B2, rtol=1e-5, atol=0)
    assert bool((q.objective <= 3 * q.epsilon).all())
    assert bool((q.V_z <= 0.5).all())


def test_two_manifolds_are_read_by_theta_when_they_are_close():
    q = minima.measured([minima.two_manifolds(g) for g in (0.1, 0.01)])
    predicted = 0.8 * 0.09 / torch.tensor([0.1, 0.01])
    assert q.V_r[1].item() == pytest.approx(predicted[1].item(), rel=0.2)
    assert bool((q.V_r[1] > 5 * q.V_r[0]).all())
    appended = minima.two_manifolds(0.1, constant=1.0)
    assert tuple(appended.X.shape) == (3, 40) and bool((appended.X[2] == 1).all())


def test_theta_that_says_something_always_is_refused():
    with pytest.raises(ValueError, match=r"many must be between 1 and copies - 1; .* many = 20"):
        minima.two_manifolds(0.1, many=20)


def test_the_identity_holds_and_bounds_are_in_order(pairs):
    for D, fit in pairs:
        left, right = minima.identity(D, fit)
        assert left == pytest.approx(right, rel=1e-5)
        rungs = np.array(minima.steadiness(D, fit))
        assert bool((np.diff(rungs) >= -1e-9 * rungs[1:]).all())


def test_a_sweep_has_a_draw_and_a_case_where_they_belong():
    cases = [(SMALL, 0.1, None), (replace(SMALL, points=9), 0.1, None)]
    found = minima.sweep(cases, draws=2)
    D, fit = vanishing.minimum(cases[1][0], 1, 0.1)
    np.testing.assert_array_equal(found[1, 1], minima.spreads(D, fit))
    with_beta = minima.sweep([(SMALL, 0.1, D.beta)], draws=2)
    np.testing.assert_allclose(with_beta[1, 0], found[1, 0], rtol=1e-4)


def test_enough_is_the_first_that_passes():
    every = (2, 4, 8, 16)
    n = minima.enough(SMALL, 0.1, every, draws=1)
    assert n in every
    D, fit = vanishing.minimum(replace(SMALL, points=n), 0, 0.1)
    assert fit.distances(D.unseen.X)[0] <= 0.1
    assert minima.enough(SMALL, 1e-9, (2, 3), draws=1) is None


def test_a_variant_without_options_is_the_plain_minimum():
    D, fit = vanishing.minimum(SMALL, 0, 0.1)
    plain = minima.variant(SMALL, 0.1, draws=1)
    assert plain == pytest.approx((*np.array(minima.spreads(D, fit))[[0, 2]], D.beta), rel=1e-9)
    appended = minima.variant(SMALL, 0.1, constant=1.7, draws=1)
    assert appended[2] == pytest.approx(SMALL.draw(0, constant=1.7).beta)
    assert minima.variant(SMALL, 0.1, variance=1.0, draws=1)[0] < plain[0]
