"""Random pairings against counting and by hand."""

from __future__ import annotations

import math

import pytest
import torch
from lowdim.hashing import pairings
from lowdim.seeds import generator


@pytest.mark.parametrize("m", [2, 4, 6, 8])
def test_there_are_as_many_pairings_as_a_double_factorial_says(m):
    found = list(pairings.pairings(range(m)))
    assert len(found) == len(set(found)) == math.prod(range(1, m, 2))
    assert all(sorted(sum(pairs, ())) == list(range(m)) for pairs in found)


def test_four_points_by_hand_and_twice_as_large():
    r = torch.tensor([0.0, 7.0, 0.0, 7.0]).double()[:, None]
    case = pairings.deviations(torch.stack([r, 2 * r]))
    assert case["chance"].tolist() == pytest.approx([1 / 3, 1 / 3])
    assert case["t"].tolist() == pytest.approx([98 / 3, 4 * 98 / 3])
    assert case["rho"].tolist() == [7.0, 14.0]
    assert case["m"].tolist() == [4.0, 4.0]


def test_one_cloud_of_a_batch_is_that_cloud_alone_and_moves_freely():
    r = torch.from_numpy(generator(0, 0, "clouds").standard_normal((3, 6, 2)))
    case, moved = pairings.deviations(r), pairings.deviations(r + 5.0)
    alone = pairings.deviations(r[1:2])
    assert case["t"][1].item() == pytest.approx(alone["t"].item())
    torch.testing.assert_close(case["t"], moved["t"])
    torch.testing.assert_close(case["chance"], moved["chance"])


def test_deviations_of_random_clouds_have_a_chance():
    case = pairings.clouds(20, generator(0, 0, "clouds"))
    assert bool(((case["chance"] >= 1 / 15 - 1e-12) & (case["chance"] <= 1)).all())


def test_an_odd_number_of_points_is_refused():
    with pytest.raises(ValueError, match="even number of points; r has 3"):
        pairings.deviations(torch.zeros(1, 3, 2))


def test_clouds_are_six_points_in_the_plane_of_the_sizes_that_they_name():
    found = pairings.clouds(20000, generator(0, 0, "clouds"))
    assert set(found["m"].tolist()) == {6}
    # the farthest of six normal points in the plane: half its square is the largest of six
    # exponentials; its size is uniform on a logarithmic axis, from 1/e to e³
    rng = generator(0, 0, "farthest")
    farthest = torch.from_numpy(rng.exponential(size=(20000, 6)).max(1) * 2).sqrt().log()
    rho = found["rho"].log()
    assert abs(float(rho.mean() - farthest.mean()) - 1) < 0.05
    assert abs(float(rho.var() - farthest.var()) - 4**2 / 12) < 0.05
