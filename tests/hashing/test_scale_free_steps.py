"""The steps of the bound on training ρ: quantities against definitions, and the chain."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from lowdim.hashing import invariance, minima
from lowdim.hashing import scale_free_steps as steps


@pytest.fixture(scope="module")
def tried() -> list[steps.Plain]:
    return steps.cases(1, np.random.default_rng(5))


def test_no_step_fails_on_points_that_no_chapter_draws(tried: list[steps.Plain]) -> None:
    for chain in (steps.small_loss, steps.sums, steps.singular_values, steps.large_loss):
        rungs = chain(tried)
        assert rungs.shape[1] > 0
        assert (rungs.diff(dim=0) > -1e-6 * rungs[1:].abs() - 1e-12).all()


def test_the_two_equalities_are_equalities(tried: list[steps.Plain]) -> None:
    rungs = steps.small_loss(tried)
    torch.testing.assert_close(rungs[0], rungs[1], rtol=1e-6, atol=1e-12)
    torch.testing.assert_close(rungs[5], rungs[6], rtol=1e-6, atol=1e-12)


def test_with_two_classes_the_plain_loss_is_that_of_the_paper() -> None:
    X = torch.from_numpy(np.random.default_rng(2).standard_normal((3, 6)))
    X = X / X.norm(dim=0)
    labels = torch.arange(2).repeat_interleave(3)
    paper = minima.measured([invariance.fit_wide(X, labels, 0.01, 0.02)])
    found = steps.fit(X, 2, 0.01, 0.02)
    assert found.loss == pytest.approx(paper.loss.item(), rel=1e-6)
    assert found.objective == pytest.approx(paper.objective.item(), rel=1e-6)
    assert found.variance == pytest.approx(paper.V_r.item(), rel=1e-5)
    assert found.apart == pytest.approx(paper.apart.item(), rel=1e-5)


def test_the_loss_is_half_the_mean_squared_error() -> None:
    X = torch.from_numpy(np.random.default_rng(3).standard_normal((4, 9)))
    found = steps.fit(X / X.norm(dim=0), 3, 0.01, 0.01)
    target = torch.eye(3, dtype=torch.float64).repeat_interleave(3, 1)
    error = (found.A @ found.R - target).square().sum(0).mean() / 2
    assert found.loss == pytest.approx(error.item(), rel=1e-9)
