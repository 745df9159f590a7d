"""Sums over points against the points themselves."""

from __future__ import annotations

import pytest
import torch
from lowdim.instruments.classes import squared_distances
from lowdim.instruments.moments import First, Frame, Second, Sketch, largest
from lowdim.instruments.spectra import weight_numbers
from torch import Tensor, nn


def values(n: int, p: int, rank: int, seed: int = 0) -> Tensor:
    draw = torch.Generator().manual_seed(seed)
    left = torch.randn(n, rank, dtype=torch.float64, generator=draw)
    return left @ torch.randn(rank, p, dtype=torch.float64, generator=draw)


@pytest.mark.parametrize("rank", [1, 3, 40, 300])
@pytest.mark.parametrize("q", [5, 24, 200, None])
def test_a_few_vectors_are_those_of_the_whole_factorization(rank: int, q: int | None) -> None:
    H = values(500, 300, rank)
    first = First(Sketch(300, 1024, seed=0))
    for part in H.split(128):
        first.add(part, None, 0)
    found, vectors = first.spectrum(q)
    expected = torch.linalg.svdvals(H)
    torch.testing.assert_close(found[:rank], expected[:rank], rtol=1e-7, atol=1e-6)
    assert vectors.shape == (300, q or 300)
    kept = vectors[:, : min(rank, vectors.shape[1])]
    lengths = (H @ kept).norm(dim=0)
    torch.testing.assert_close(lengths, expected[: kept.shape[1]], rtol=1e-9, atol=1e-6)
    torch.testing.assert_close(kept.mT @ kept, torch.eye(kept.shape[1]).double())


@pytest.mark.parametrize("p", [3, 300])
@pytest.mark.parametrize("count", [1, 2, 500])
def test_largest_eigenvalues(p: int, count: int) -> None:
    A = values(p, p, p)
    A = A + A.mT
    expected = torch.linalg.eigvalsh(A).flip(0)[:count]
    torch.testing.assert_close(largest(A, count), expected, rtol=1e-10, atol=1e-9)
    torch.testing.assert_close(largest(0 * A, 1), torch.zeros(1).double())


def test_squares_and_products_do_not_depend_on_how_points_come() -> None:
    H, rows, group = values(90, 6, 6), torch.arange(90) % 4, torch.arange(90) % 5
    first = First(Sketch(6, 8, seed=0))
    first.add(H, rows, 4)
    frame = Frame(first.spectrum(2)[1].contiguous(), first.means(), None)
    one, many = (Second(frame, 5, q_in=2, q_prev=2) for _ in range(2))
    Z = H @ frame.vectors
    one.add(H, rows, group, Z, Z)
    for at in torch.arange(90).split(7):
        many.add(H[at], rows[at], group[at], Z[at], Z[at])
        assert many.own.shape == (5, 2, 2)  # to ask for them does not end them
    for name in ("own", "blocks", "input", "previous", "squares", "deviations"):
        torch.testing.assert_close(getattr(one, name), getattr(many, name))
    expected = torch.zeros(5).double().index_add(0, group, H.square().sum(1))
    torch.testing.assert_close(one.squares, expected)
    torch.testing.assert_close(one.own.sum(0), Z.mT @ Z)
    torch.testing.assert_close(one.blocks[2, 1], Z[(group == 2) & (rows == 1)].mT
                               @ Z[(group == 2) & (rows == 1)])  # fmt: skip


def test_distances_of_close_points_far_from_zero_keep_their_digits() -> None:
    A = 1e6 + values(30, 4, 4)
    A[7] = A[8] + 1e-5
    expected = torch.cdist(A, A, compute_mode="donot_use_mm_for_euclid_dist").square()
    torch.testing.assert_close(squared_distances(A), expected, rtol=1e-6, atol=0)


@pytest.mark.parametrize("tail", [1.0, 1e-3, 1e-9, 0.0])
def test_a_large_weight_has_the_spectrum_of_its_svd(tail: float) -> None:
    torch.manual_seed(0)
    layer = nn.Linear(200, 150, bias=False).double()
    with torch.no_grad():
        layer.weight.copy_(values(150, 200, 4) + tail * torch.randn(150, 200))
    found = weight_numbers(layer, 4)["weight"]
    s = torch.linalg.svdvals(layer.weight.detach())
    share = float(s[4:].square().sum() / s.square().sum())
    assert found["tail"].value == pytest.approx(share, rel=1e-6, abs=1e-25)
    beyond = s.flip(0).cumsum(0).flip(0) / s.sum()
    assert found["soft_rank"].value == int((beyond > 0.1).sum())
