"""The excess and the one ratio against direct computation, and their refusals."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from lowdim.bridge import links
from lowdim.seeds import generator


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 8), st.integers(2, 8), st.integers(0, 10**6))
def test_the_excess_lies_between_its_ends(p: int, n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    K = int(rng.integers(1, n))
    H = torch.from_numpy(rng.standard_normal((p, n)) * 10 ** rng.uniform(-2, 2, (p, 1)))
    L = torch.linalg.qr(torch.from_numpy(rng.standard_normal((n, K)))).Q
    q = links.links(H, L)
    room = 1e-9 * float(q.squares[0])
    assert q.lower <= q.excess + room and q.excess <= q.upper + room
    assert q.squares[K - 1] * q.turn <= q.within + room
    assert q.tail <= q.within + room


def test_the_turn_is_the_distance_of_projectors() -> None:
    rng = generator(0, 0, "links")
    H = torch.from_numpy(rng.standard_normal((4, 6, 9)))
    L = links.indicator([0, 0, 0, 1, 1, 1, 2, 2, 2])
    right = torch.linalg.svd(H, full_matrices=False)[2][:, :3]
    gap = (right.mT @ right - L @ L.mT).square().sum((1, 2)) / 2
    q = links.links(H, L)
    torch.testing.assert_close(q.turn, gap)
    for name in ("within", "tail", "turn", "squares"):
        alone = getattr(links.links(H[2], L), name)
        torch.testing.assert_close(getattr(q, name)[2], alone)
        quick = getattr(links.links(H, L, gram=True), name)
        torch.testing.assert_close(getattr(q, name), quick)


def test_within_and_ratio_are_those_of_classes() -> None:
    rng = generator(1, 0, "links")
    labels = np.array([0, 1, 0, 2, 2, 1, 0])
    H = rng.standard_normal((5, 7))
    means = np.stack([H[:, labels == k].mean(1) for k in range(3)], 1)
    V = [((H[:, labels == k] - means[:, [k]]) ** 2).sum(0).mean() for k in range(3)]
    found = links.ratio(H, labels)
    assert found.nu == pytest.approx(max(V) / np.linalg.svd(means)[1][2] ** 2)
    pairs = [
        ((means[:, i] - means[:, j]) ** 2).sum() + V[i] + V[j] for i in range(3) for j in range(i)
    ]
    assert found.rho == pytest.approx(min(pairs) / max(V))
    assert found.balance == pytest.approx(2 / (7 / 3))
    within = sum(((H[:, labels == k] - means[:, [k]]) ** 2).sum() for k in range(3))
    assert links.links(H, links.indicator(labels)).within == pytest.approx(within)


@pytest.mark.parametrize("pair", [(1, 2), (0, 3)])
def test_both_ends_are_attained(pair: tuple[int, int]) -> None:
    q = links.links(*links.turned([9.0, 4.0, 2.0, 1.0], pair, 0.8, 2))
    end = q.lower if pair == (1, 2) else q.upper
    assert q.excess == pytest.approx(float(end))


def test_shapes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match=r"K below it; their shapes are \(2, 3\) and \(3, 3\)"):
        links.links(np.ones((2, 3)), np.eye(3))
    with pytest.raises(ValueError, match="whole numbers, one for each point"):
        links.indicator([0.5, 1.0])
