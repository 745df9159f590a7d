"""Maps that nobody trained: what they keep, what a ReLU after them cuts."""

from __future__ import annotations

import pytest
import torch
from lowdim.preserve import learning, untrained

SETTING = learning.Setting(80, 20, seed=1)
DATA = SETTING.draw(draws=2)


@pytest.mark.parametrize("kind", untrained.KINDS)
def test_rows_are_orthonormal_and_those_of_each_draw_its_own(kind):
    W = untrained.rows(kind, DATA, SETTING)
    h = 20 if kind in (untrained.KINDS[0], untrained.KINDS[3]) else 80
    torch.testing.assert_close(W @ W.mT, torch.eye(h, dtype=torch.float64).expand(2, -1, -1))
    alone = untrained.rows(kind, SETTING.draw(draws=1), SETTING)
    torch.testing.assert_close(W[:1], alone)


def test_a_full_map_and_the_leading_vectors_lose_nothing_before_the_relu():
    for kind in untrained.KINDS[1:]:
        A = untrained.rows(kind, DATA, SETTING) @ DATA.noisy
        found = untrained.kept(DATA, A, SETTING)
        assert found[2] == pytest.approx(0, abs=1e-6)
        assert found[3] > 0.1
        assert found[4] == SETTING.read(learning.top(DATA.noisy))


def test_what_is_cut_is_counted():
    W = torch.ones(2, 1, 80, dtype=torch.float64)
    A = W @ DATA.noisy
    share, size, price = untrained.cut(DATA, W)
    assert share == (A < 0).sum().item() / A.numel()
    below = (-A).clamp_min(0)
    assert size == pytest.approx((below.norm(dim=(1, 2)) / A.norm(dim=(1, 2))).mean().item())
    clean, noise = ((W @ M).norm(dim=(1, 2)) for M in (DATA.clean, DATA.noise))
    assert price == pytest.approx((noise / clean).mean().item())


def test_an_unknown_map_is_refused():
    with pytest.raises(ValueError, match=r"kind must be one of .*; you gave 'trained'"):
        untrained.rows("trained", DATA, SETTING)
