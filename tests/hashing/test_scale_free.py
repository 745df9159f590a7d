"""Training ρ times the objective is bounded below, on any data."""

from __future__ import annotations

import numpy as np
import torch
from lowdim.hashing import minima, scale_free


def test_no_minimum_is_below_the_bound() -> None:
    for case in (scale_free.random_cases(8, np.random.default_rng(1)), scale_free.shortcut_cases()):
        assert (case["rho"] * case["objective"] > 1 / (8 * case["m"] + 256)).all()


def test_the_ratio_and_the_objective_are_those_of_the_representation() -> None:
    fit = minima.two_manifolds(0.3)
    case = scale_free.products([fit])
    R = fit(fit.X.mT.unflatten(0, (2, -1)))  # (2, n, T)
    within = R.var(1, unbiased=False).sum(-1).mean()
    between = (R[0][:, None] - R[1][None]).square().sum(-1).mean()
    torch.testing.assert_close(case["rho"][0], between / within, rtol=1e-6, atol=0)
