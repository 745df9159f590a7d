"""The balance of data: nets against brute force, closed forms, the bound that is approached."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from lowdim.preserve import learning, onesided, preservation
from lowdim.seeds import generator


def brute(V, count=200_000):
    """The balance of V (2, n) over a fine circle of directions."""
    angle = torch.linspace(0, 2 * torch.pi, count, dtype=torch.float64)
    t = torch.stack([angle.cos(), angle.sin()], 1) @ V
    return (t.clamp_max(0).norm(dim=1) / t.norm(dim=1)).min().item()


def planes(count):
    return torch.from_numpy(generator(0, 0, "planes").standard_normal((count, 2, 7)))


def test_the_net_is_below_the_balance_and_comes_near_it():
    V = planes(6)
    expected = [brute(one) for one in V]
    for cells in (10, 100, 1000):
        low = onesided.lower_bound(V, cells=cells)
        for bound, value in zip(low.tolist(), expected, strict=True):
            assert value - 2.1 / cells - 1e-4 <= bound <= value + 1e-4
    alone = onesided.lower_bound(V[3:4], cells=100)
    torch.testing.assert_close(alone, onesided.lower_bound(V, cells=100)[3:4])


def test_points_on_one_side_have_no_positive_bound():
    V = planes(4)
    V[:, 0] = V[:, 0].abs()
    assert bool((onesided.lower_bound(V, cells=50) <= 0).all())


def test_balance_is_at_most_that_of_a_symmetric_cloud():
    V = planes(3)
    both = torch.cat([V, -V], 2)
    low = onesided.lower_bound(both, cells=2000)
    torch.testing.assert_close(low, torch.full_like(low, 0.5**0.5), rtol=0, atol=1e-3)


def test_three_dimensions_are_certified_too():
    V = torch.from_numpy(generator(0, 0, "space").standard_normal((1, 3, 12)))
    b = torch.from_numpy(generator(0, 1, "space").standard_normal((20_000, 3)))
    t = b @ V[0]
    found = (t.clamp_max(0).norm(dim=1) / t.norm(dim=1)).min()
    low = onesided.lower_bound(V, cells=60)
    assert found - 0.1 < low.item() <= found


def test_two_lines_have_the_balance_that_the_net_gives():
    free = onesided.climb().start(5, np.random.default_rng(0))
    case = onesided.two_lines(free)
    for at, beta in enumerate(case["beta"].tolist()):
        lines = [onesided.lower_bound(free["c"][at : at + 1, k : k + 1], cells=1) for k in (0, 1)]
        assert beta == pytest.approx(min(low.item() for low in lines))


def test_the_gap_is_that_of_the_layer():
    case = onesided.small_layers(4, np.random.default_rng(1))
    q = preservation.layer(case["clean"], case["Z"], case["W"], 4)
    found = onesided.layer(case)
    torch.testing.assert_close(found.delta, q.delta)
    some = torch.tensor([True, False, True, False])
    torch.testing.assert_close(found.where(some).delta, q.delta[some])
    assert torch.equal(found.Y, q.output)


@pytest.mark.parametrize("tau", [1.0, 0.1, 1e-3])
def test_a_line_comes_near_the_bound_as_its_second_point_goes_to_zero(tau):
    case = onesided.line(tau)
    cut = torch.linalg.matrix_norm(onesided.layer(case).Y - onesided.layer(case).A, 2)
    ratio = onesided.layer(case).delta * case["beta"] / cut
    assert ratio.item() == pytest.approx(1 / (1 + tau**2) ** 0.5)


@pytest.mark.parametrize("dim", [1, 2, 3, 5])
def test_wendel(dim):
    assert onesided.wendel(dim, dim) == 1
    assert onesided.wendel(dim, 2 * dim) == 0.5


def test_wendel_agrees_with_draws():
    points = generator(0, 0, "wendel").standard_normal((4000, 5, 2))
    angle = np.sort(np.arctan2(points[..., 1], points[..., 0]), 1)
    gaps = np.diff(np.concatenate([angle, angle[:, :1] + 2 * np.pi], 1), axis=1)
    assert (gaps.max(1) > np.pi).mean() == pytest.approx(onesided.wendel(2, 5), abs=0.03)


def test_data_are_excluded_up_to_where_the_bound_says():
    found = onesided.on_data(learning.Setting(120, 24, seed=1), draws=2)
    assert found.rows == 24
    assert onesided.asked(found.up_to, rows=24) == pytest.approx(found.beta.min().item())
    assert found.excluded == bool(
        (found.epsilon <= found.beta / onesided.asked(1.0, rows=24)).all()
    )
    assert 0 < found.never < 1
