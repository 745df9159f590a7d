"""Cases for the theorem on warm starts: attained by hand, parts, and free numbers."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from lowdim.collapse import warmcases


def test_the_first_edge_attains_the_factor_by_hand():
    case = warmcases.edges()["x = ±2, y = ±2, λ = 1"]
    x, y, lam = (case[name].flatten() for name in ("X", "Y", "lam"))
    theta = float((x * y).mean() / ((x * x).mean() + lam))  # ridge; that of the centroids is 0
    gap = float((y**2).mean() - ((y - theta * x) ** 2).mean() - lam * theta**2)
    assert gap == pytest.approx(4 / 5 * 4)


@pytest.mark.parametrize("name", list(warmcases.edges()))
def test_edges_are_single_pairs_with_a_positive_penalty(name):
    case = warmcases.edges()[name]
    assert case["X"].shape == case["Y"].shape == (1, 1, 2) and float(case["lam"]) > 0


def test_pairs_have_the_means_and_halves_that_were_asked_for():
    z = torch.from_numpy(np.random.default_rng(0).standard_normal((6, 5)))
    case = warmcases.pairs({"z": z})
    for name, at in (("X", 0), ("Y", 2)):
        torch.testing.assert_close(case[name].mean(-1)[:, 0], z[:, at])
        torch.testing.assert_close(case[name][:, 0, 0] - case[name][:, 0, 1], 2 * z[:, at + 1])
    torch.testing.assert_close(case["lam"].log(), z[:, 4])


def test_clouds_lie_about_two_centres_and_one_case_of_many_has_its_own_penalty():
    case = warmcases.clouds(400, np.random.default_rng(0))
    assert bool(((case["lam"] >= 0.01) & (case["lam"] <= 10)).all())
    off = (
        case["X"]
        - torch.stack([case["X"][..., warmcases.parts(8) == k].mean(-1) for k in (0, 1)], -1)[
            ..., warmcases.parts(8)
        ]
    )
    spread = off.square().mean((1, 2)).sqrt()
    assert float(spread.min()) < 0.02 and float(spread.max()) > 2


def test_eight_points_are_in_two_parts_and_two_in_one():
    assert warmcases.parts(8).bincount().tolist() == [4, 4]
    assert warmcases.parts(2).tolist() == [0, 0]
