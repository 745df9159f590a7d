"""Certified subspaces: the certificate is true, sharp enough to be of use, and withheld in time."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from lowdim.linalg import _krylov


def stack(values: list[float], rows: int, *, count: int = 3) -> tuple[torch.Tensor, torch.Tensor]:
    """Matrices (count, rows, n) of these singular values, and their right singular vectors."""
    rng, n = np.random.default_rng(len(values) + rows), len(values)
    U = np.linalg.qr(rng.standard_normal((count, rows, rows)))[0][:, :, : min(rows, n)]
    V = np.linalg.qr(rng.standard_normal((count, n, n)))[0][:, :, : min(rows, n)]
    A = (U * np.array(values)[: min(rows, n)]) @ V.transpose(0, 2, 1)
    return torch.from_numpy(A), torch.from_numpy(V)


def sine(V: torch.Tensor, W: torch.Tensor) -> torch.Tensor:
    """Of the largest angle between two spaces."""
    return torch.linalg.matrix_norm(W - V @ (V.mT @ W), 2)


VALUES = [float(v) for v in np.r_[10, 9, 8, np.geomspace(3, 0.1, 37)]]


@pytest.mark.parametrize("rows", [25, 40, 60])
@pytest.mark.parametrize("tolerance", [1e-3, 1e-10])
def test_the_error_is_certified_on_both_sides(rows: int, tolerance: float) -> None:
    A, true = stack(VALUES, rows)
    V, values, error = _krylov.certified_block(A, 3, None, tolerance=tolerance)
    assert bool((sine(V[..., :3], true[..., :3]) <= error + 1e-12).all())
    assert bool((error <= tolerance + 2 * _krylov.rounding(40, 60, A.dtype) * 4).all())
    np.testing.assert_allclose(values[:, :3], [[100, 81, 64]] * 3, rtol=1e-5)
    eye = torch.eye(V.shape[2], dtype=V.dtype).expand(3, -1, -1)
    torch.testing.assert_close(V.mT @ V, eye, atol=1e-8, rtol=0)


def test_a_good_start_is_used_and_a_bad_one_does_no_harm() -> None:
    A, true = stack(VALUES, 60)
    for start in (true[..., :3], true[..., 10:14]):
        V, _, error = _krylov.certified_block(A, 3, start, tolerance=1e-10)
        assert bool((error < 1e-9).all())
        assert bool((sine(V[..., :3], true[..., :3]) < 1e-9).all())


def test_without_a_gap_nothing_is_certified() -> None:
    A, _ = stack([2.0, 1.0 + 1e-13, *[1.0] * 30], 40)
    assert _krylov.certified_block(A, 2, None, tolerance=1e-10)[2].tolist() == [1.0] * 3
    wide = _krylov.certified_block(A[:, :20], 2, None, tolerance=1e-10)
    assert wide[0].shape[1] == 32 and wide[2].tolist() == [1.0] * 3


@pytest.mark.parametrize("turn", [0.0, 1e-6, 1e-3])
def test_a_turned_basis_is_told_to_be_turned(turn: float) -> None:
    G = torch.diag(torch.tensor([9.0, 8.0, 2.0, 1.0], dtype=torch.float64))[None]
    V = torch.zeros(1, 4, 2, dtype=torch.float64)
    V[0, 0, 0], V[0, 1, 1], V[0, 2, 1] = 1, (1 - turn**2) ** 0.5, turn
    values = torch.tensor([[9.0, 8 - 6 * turn**2, 2.0]], dtype=torch.float64)
    error = float(_krylov.certified_error(G, V, values, 4))
    # the residual is 6 turn; Davis and Kahan have the gap to τ, a tenth of the way up from 2
    assert turn <= error <= 1.2 * turn * 6 / (0.9 * 6) + 1e-12


def test_no_certificate_where_the_space_is_not_the_leading_one() -> None:
    G = torch.diag(torch.tensor([9.0, 4.0, 1.0], dtype=torch.float64))[None]
    V = torch.eye(3, dtype=torch.float64)[None, :, 1:2]
    values = torch.tensor([[4.0, 1.0]], dtype=torch.float64)
    assert _krylov.certified_error(G, V, values, 3).tolist() == [1.0]


def test_rounding_is_counted_for_the_longer_side_and_the_precision() -> None:
    for m, n in ((1000, 3), (3, 1000)):
        for dtype in (torch.float32, torch.float64):
            A = torch.randn(m, n, generator=torch.Generator().manual_seed(0)).double()
            A /= torch.linalg.matrix_norm(A, 2)
            low = A.to(dtype)
            off = torch.linalg.svdvals(low).double() - torch.linalg.svdvals(low.double())
            assert float(off.abs().max()) <= _krylov.rounding(m, n, dtype)
            assert _krylov.rounding(m, n, dtype) < 1100 * torch.finfo(dtype).eps
