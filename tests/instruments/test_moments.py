"""Sums over points: by loops over all of them, in one piece and in many."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from lowdim.instruments.moments import First, Frame, Second, Sketch, _products
from torch import Tensor


def normal(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize(
    "cell",
    [
        [0, 2, 1, 0, 2, 2, 1, 0],
        [3, 3, 3, 3, 3, 3, 3, 3],
        [5] * 40 + [1, 7],  # of very different sizes, and most of them empty
        [0] * 300 + [29],
    ],
)
def test_products_by_cell_are_those_of_a_loop(cell: list[int]) -> None:
    cells, n = max(cell) + 2, len(cell)
    A, B = normal(n, 3), normal(n, 2, seed=1)
    wanted = torch.zeros(cells, 3, 2, dtype=torch.float64)
    for i, k in enumerate(cell):
        wanted[k] += A[i, :, None] * B[i]
    torch.testing.assert_close(_products(A, B, torch.tensor(cell), cells), wanted)


def test_the_first_pass_is_numpy_s_whatever_the_pieces() -> None:
    H, rows = normal(30, 4) + 1, torch.arange(30) % 3
    first, alone = First(Sketch(4, 9, seed=0)), First(Sketch(4, 9, seed=0))
    for piece in torch.arange(30).split([1, 9, 20]):
        first.add(H[piece], rows[piece], K=3)
        alone.add(H[piece], None, K=0)
    H = H.numpy()
    values, vectors = first.spectrum()
    np.testing.assert_allclose(values, np.linalg.svd(H, compute_uv=False))
    np.testing.assert_allclose(np.linalg.norm(H @ vectors.numpy(), axis=0), values)
    np.testing.assert_allclose(first.centred(), 30 * np.cov(H.T, ddof=0))
    np.testing.assert_allclose(first.means(), [H[k::3].mean(0) for k in range(3)])
    np.testing.assert_allclose(alone.means(), H.mean(0)[None])
    assert first.count == 30 and first.counts.tolist() == [10, 10, 10]


def test_classes_may_come_later_and_may_stay_away() -> None:
    H, first = normal(6, 2), First(Sketch(2, 2, seed=0))
    first.add(H[:4], torch.tensor([0, 0, 0, 0]), 1)
    first.add(H[4:], torch.tensor([2, 0]), 3)
    assert first.counts.tolist() == [5, 0, 1]
    torch.testing.assert_close(first.means()[2], H[4])
    assert not first.means()[1].any()


@pytest.mark.parametrize("pieces", [[40], [1, 19, 20]])
def test_the_second_pass_is_a_loop_over_groups_and_classes(pieces: list[int]) -> None:
    H, before, start = normal(40, 5), normal(40, 2, seed=1), normal(40, 3, seed=2)
    rows, group = torch.arange(40) % 3, torch.arange(40) // 7 % 4
    frame = Frame(normal(5, 2, seed=3), normal(3, 5, seed=4), normal(2, 5, seed=5))
    second = Second(frame, 4, q_in=3, q_prev=2)
    for at in torch.arange(40).split(pieces):
        Z = second.add(H[at], rows[at], group[at], before[at], start[at])
        torch.testing.assert_close(Z, H[at] @ frame.vectors)
    Z = H @ frame.vectors
    torch.testing.assert_close(second.onto, H.mT @ start)
    for g in range(4):
        mine = group == g
        torch.testing.assert_close(second.own[g], Z[mine].mT @ Z[mine])
        torch.testing.assert_close(second.input[g], Z[mine].mT @ start[mine])
        torch.testing.assert_close(second.previous[g], Z[mine].mT @ before[mine])
        torch.testing.assert_close(second.squares[g], H[mine].norm() ** 2)
        least = torch.stack([(H[mine] - c).norm(dim=1) ** 2 for c in frame.centres]).amin(0)
        torch.testing.assert_close(second.nearest[g], least.sum())
        for k in range(3):
            cell = mine & (rows == k)
            off = H[cell] - frame.means[k]
            torch.testing.assert_close(second.blocks[g, k], Z[cell].mT @ Z[cell])
            torch.testing.assert_close(second.deviations[g, k], off.sum(0))
            torch.testing.assert_close(second.deviation_squares[g, k], off.norm() ** 2)
            assert second.counts[g, k] == cell.sum()


def test_blocks_of_many_groups_are_summed() -> None:
    frame = Frame(torch.eye(60).double(), normal(20, 60), None)
    H, rows = normal(50, 60, seed=1), torch.arange(50) % 20
    second = Second(frame, 60, q_in=None, q_prev=None)
    second.add(H, rows, torch.arange(50), None, None)
    assert second.blocks.shape[0] == 1 and second.input is second.previous is second.onto is None
    for k in (0, 19):
        torch.testing.assert_close(second.blocks[0, k], H[rows == k].mT @ H[rows == k])
    assert not second.nearest.any()


def test_a_sketch_keeps_inner_products_with_the_error_that_it_names() -> None:
    x, y = normal(1, 500), normal(1, 500, seed=1)
    exact = Sketch(500, 500, seed=0)
    assert exact.error == 0 and exact.is_exact and torch.equal(exact(x), x)
    off = []
    for seed in range(400):
        sketch = Sketch(500, 50, seed=seed)
        assert sketch(x).shape == (1, 50) and not sketch.is_exact
        off.append(float((sketch(x) * sketch(x)).sum() / (x * x).sum()) - 1)
    # of ‖x‖²: unbiased, and of standard error √(2/width) or less
    assert abs(np.mean(off)) < 4 * sketch.error / 20
    assert 0.85 * sketch.error < np.std(off) < 1.1 * sketch.error
    both = [float((s(x) * s(y)).sum()) for s in (Sketch(500, 50, seed=k) for k in range(200))]
    assert abs(np.mean(both) - float((x * y).sum())) < 4 * np.std(both) / 200**0.5
