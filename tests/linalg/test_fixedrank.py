"""The fixed-rank manifold against differences along curves that stay on it."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from lowdim.linalg import fixedrank
from torch import Tensor


def _problem(seed: int, c: int, d: int, r: int) -> tuple[Tensor, Tensor, Tensor]:
    rng = np.random.default_rng(seed)
    draw = lambda *shape: torch.from_numpy(rng.standard_normal(shape))  # noqa: E731
    return draw(d, d + 3), draw(c, d + 3), draw(c, r) @ draw(r, d)


def _loss(X: Tensor, Y: Tensor, Theta: Tensor, lam: float) -> Tensor:
    return (Y - Theta @ X).square().sum() / X.shape[1] + lam * Theta.square().sum()


def _nearest(A: Tensor, r: int) -> Tensor:
    U, s, Vh = torch.linalg.svd(A, full_matrices=False)
    return (U[:, :r] * s[:r]) @ Vh[:r]


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 4), st.integers(2, 4), st.sampled_from([0.0, 0.3]))
def test_slope_and_hessian_are_those_of_the_loss_along_curves(
    seed: int, c: int, d: int, lam: float
) -> None:
    # Projecting Theta + t A back to rank r agrees with the geodesic to second order (Absil and
    # Malick, 2012), so differences along it give both derivatives at any point.
    r = min(c, d) - 1
    X, Y, Theta = _problem(seed, c, d, r)
    U, _, Vh = torch.linalg.svd(Theta)  # well conditioned, so that differences keep their digits
    Theta = (U[:, :r] * torch.linspace(2, 1, r).double()) @ Vh[:r]
    basis, step = fixedrank.tangent_basis(Theta, r), 1e-4
    z = torch.from_numpy(np.random.default_rng(seed).standard_normal(len(basis)))
    z = z / z.norm()
    A = (z[:, None, None] * basis).sum(0)
    at = [_loss(X, Y, _nearest(Theta + t * step * A, r), lam) for t in (-1, 0, 1)]
    second = (at[2] - 2 * at[1] + at[0]) / step**2
    H = fixedrank.hessian(X, Y, Theta, r, lam=lam)
    assert torch.allclose(z @ H @ z, second, rtol=1e-4, atol=1e-4 * float(H.abs().max()))
    assert abs(float(at[2] - at[0])) / (2 * step) <= fixedrank.slope(X, Y, Theta, r, lam=lam) * (
        1 + 1e-4
    ) + 1e-6 * float(H.abs().max())


@pytest.mark.parametrize(("c", "d", "r"), [(1, 1, 1), (3, 2, 1), (3, 5, 2), (4, 4, 4)])
def test_the_tangent_basis_is_orthonormal_and_tangent(c: int, d: int, r: int) -> None:
    _, _, Theta = _problem(1, c, d, r)
    basis = fixedrank.tangent_basis(Theta, r)
    assert len(basis) == r * (c + d - r)
    assert torch.allclose(
        torch.einsum("aij,bij->ab", basis, basis), torch.eye(len(basis)).double(), atol=1e-12
    )
    for A in basis:  # a tangent leaves the manifold to second order only
        moved = torch.linalg.svdvals(Theta + 1e-5 * A)
        assert r == min(c, d) or moved[r] < 1e-8


def test_a_direction_with_the_slope_exists() -> None:
    X, Y, Theta = _problem(3, 3, 4, 2)
    Theta.requires_grad_()
    (E,) = torch.autograd.grad(_loss(X, Y, Theta, 0.2), Theta)
    U, _, Vh = torch.linalg.svd(Theta.detach())
    off = lambda B: B @ B.mT  # noqa: E731
    outside = off(U[:, 2:]) @ E @ off(Vh[2:].mT)
    expected = (E - outside).norm().item()
    assert fixedrank.slope(X, Y, Theta.detach(), 2, lam=0.2) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("r", [0, 3])
def test_a_rank_out_of_range_is_refused(r: int) -> None:
    with pytest.raises(ValueError, match=str(r)):
        fixedrank.tangent_basis(torch.ones(2, 4), r)


def test_a_stack_is_refused() -> None:
    with pytest.raises(ValueError, match=r"\(2, 3, 4\)"):
        fixedrank.tangent_basis(torch.ones(2, 3, 4), 1)
