"""Closeness in one line and the sharper tangent, against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from lowdim.linalg import subspaces
from lowdim.preserve import instances, preservation


def test_wide_layers_hold_the_narrow_ones_and_noise_of_full_rank() -> None:
    wide = instances.SmallLayers((2, 2), (6, 6), hidden=10, ambient=30)
    case = wide.draw(3, np.random.default_rng(0), 1.0)
    assert bool((case["clean"][:, 4:] == 0).all())
    assert torch.linalg.matrix_rank(case["clean"]).tolist() == [4, 4, 4]
    assert torch.linalg.matrix_rank(case["Z"]).tolist() == [12, 12, 12]


@pytest.mark.parametrize("t", [0.4, 0.1, 1e-3])
def test_the_turned_line_moves_one_entry_by_what_the_constant_four_allows(t: float) -> None:
    q = instances.measured(instances.turned_line(t))
    entry = subspaces.distance(q.star, q.y, norm="max").item()
    assert entry == pytest.approx(max(2 * t, 4 * t * t) / (1 + 4 * t * t))
    assert entry <= 2 * t


def test_the_sharper_bound_lies_between_the_angle_and_the_tangent_bound() -> None:
    rng = np.random.default_rng(3)
    V = torch.linalg.qr(torch.from_numpy(rng.standard_normal((200, 7, 3)))).Q
    size = torch.from_numpy(10 ** rng.uniform(-3, 0, (200, 1, 1)))
    Y = torch.from_numpy(rng.standard_normal((200, 5, 3))) @ V.mT
    Y = Y + size * torch.from_numpy(rng.standard_normal((200, 5, 7)))
    off, on = preservation.tangent_ratio(Y, V)
    admitted = off < 0.99 * on
    angle = subspaces.principal_angles(V, subspaces.principal_rows(Y, 3, method="svd"))[:, 0]
    bound = preservation.sharper(Y, V)
    assert int(admitted.sum()) > 50
    assert bool((angle.tan() <= bound * (1 + 1e-7))[admitted].all())
    assert bool((bound <= off / on * (1 + 1e-9))[admitted].all())
    assert bool(torch.isinf(bound[off >= on]).all())
    torch.testing.assert_close(preservation.sharper(Y[5], V[5]), bound[5])


def test_rows_apart_turn_nothing() -> None:
    assert preservation.sharper([[1.0, 0.0], [0.0, 0.5]], [[1.0], [0.0]]).item() == 0
