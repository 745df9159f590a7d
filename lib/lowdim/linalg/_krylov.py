r"""Leading invariant subspaces by filtered subspace iteration, with a certificate.

A block of a few more vectors than asked for is multiplied by a Chebyshev polynomial of
:math:`G=A^\top A` that is small on the unwanted part of the spectrum and large on the wanted one,
orthonormalized, and rotated to Ritz vectors (Zhou and Saad, 2007). Convergence is never assumed:

* the residual :math:`R=GV-V\Lambda` of the r Ritz vectors is computed, and
* a Cholesky factorization of :math:`\tau I-(G-V\Lambda V^\top)` shows that no further
  eigenvalue of the deflated matrix exceeds :math:`\tau<\lambda_r`.

Then :math:`\sin\theta_1\le\|R\|/(\lambda_r-\tau-2\|R\|)` (Davis and Kahan), and what rounding may
have done to G is added to the residual. Where a certificate cannot be had the error is reported as
1 and the caller takes another way.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from lowdim.linalg.parallel import over_batch

GAIN = 1e9  # how much one filter may amplify: enough to converge, far from overflow


def rounding(m: int, n: int, dtype: torch.dtype) -> float:
    """What factoring or squaring an m-by-n matrix may add to it, relative to its norm.

    LAPACK bounds it by ``p(m, n) * eps`` with a p of modest growth and an unstated constant. The 64
    is empirical: the largest need seen in a few hundred matrices was 36.

    Examples
    --------
    >>> rounding(20, 24, torch.float64) < 2e-14
    True
    """
    return (64 + max(m, n)) * torch.finfo(dtype).eps


def certified_block(
    A: Tensor, r: int, start: Tensor | None, *, tolerance: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Ritz block (B, n, k), Ritz values of AᵀA (B, k), certified error (B,), for a stack (B, m, n).

    The error is 1 where the gap after the r-th value is so small that an eigendecomposition
    is cheaper; as a rule this is seen early, before much has been spent.

    Examples
    --------
    >>> A = torch.diag(torch.arange(9.0, 0.0, -1.0, dtype=torch.float64))[None]
    >>> block, values, error = certified_block(A, 3, None, tolerance=1e-12)
    >>> bool(error < 1e-12), values[0, :3].round().tolist()
    (True, [81.0, 64.0, 49.0])
    """
    m, n = A.shape[1:]
    # On a wide matrix work with the small side; its eigenvectors carry over at the end.
    wide = m < n
    M = A.mT if wide else A
    side = M.shape[2]
    G = M.mT @ M
    size = min(side, r + max(4, r // 2))
    V = _first_block(M, size, A @ start if wide and start is not None else start)
    V, values, GV = _rotate(G, V)
    # Beyond this many products an eigendecomposition would have been the cheaper way.
    budget = 24 + side // 32
    while budget > 0:
        residual = _residual(V, GV, values, r)
        goal = 0.02 * tolerance * (values[:, r - 1] - values[:, -1])
        if bool((residual <= goal).all()):
            break
        if _outlook(values, r, residual, goal) > budget:
            return V if not wide else A.mT @ V, values, torch.ones_like(values[:, 0])
        degree = _degree(values, r, residual, goal)
        V, values, GV = _rotate(G, _filter(G, V, GV, values, degree))
        budget -= degree + 1
    slack = rounding(m, n, A.dtype) * values[:, 0]
    tau = 0.5 * (values[:, r - 1] + (values[:, r] if r < values.shape[1] else 0.0))
    error = _certify(G, V[..., :r], GV[..., :r], values[:, :r], tau, slack)
    if wide:
        # A right singular vector is Aᵀu/σ; the leading r do not suffer from a small σ.
        V = _orthonormal(A.mT @ V)
    return V, values, error


def _first_block(M: Tensor, size: int, start: Tensor | None) -> Tensor:
    B, _, side = M.shape
    generator = torch.Generator().manual_seed(0)  # a fixed start: the result must not depend on it
    missing = size - (0 if start is None else min(size, start.shape[2]))
    parts = [] if start is None else [start[..., :size]]
    if missing:
        extra = torch.randn(side, missing, generator=generator, dtype=M.dtype)
        parts.append(M.mT @ (M @ extra.expand(B, side, missing)))
    return _orthonormal(torch.cat(parts, -1))


def _orthonormal(Y: Tensor) -> Tensor:
    """Orthonormalize the columns (B, n, k): Cholesky twice, Householder if that is not safe."""
    Y = Y / torch.linalg.vector_norm(Y, dim=1, keepdim=True).clamp_min(torch.finfo(Y.dtype).tiny)
    worst = torch.finfo(Y.dtype).eps ** 0.25
    for _ in range(2):
        L, info = over_batch(torch.linalg.cholesky_ex, Y.mT @ Y)
        if bool(info.any()) or not bool((L.diagonal(dim1=1, dim2=2) > worst).all()):
            return over_batch(lambda part: torch.linalg.qr(part).Q, Y)
        eye = torch.eye(L.shape[1], dtype=L.dtype).expand_as(L)
        Y = Y @ torch.linalg.solve_triangular(L, eye, upper=False).mT
    return Y


def _rotate(G: Tensor, V: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Ritz vectors V and values, descending, of G on the span of V, and G V."""
    GV = G @ V
    H = V.mT @ GV
    values, rotation = over_batch(torch.linalg.eigh, 0.5 * (H + H.mT))
    rotation = rotation.flip(-1)
    return V @ rotation, values.flip(-1), GV @ rotation


def _residual(V: Tensor, GV: Tensor, values: Tensor, r: int) -> Tensor:
    R = GV[..., :r] - V[..., :r] * values[:, None, :r]
    return torch.linalg.vector_norm(R, dim=(-2, -1))


def _edge(values: Tensor) -> Tensor:
    """The end of the part of the spectrum that the filter damps (B,)."""
    limits = torch.finfo(values.dtype)
    return torch.maximum(values[:, -1], limits.eps * values[:, 0]).clamp_min(4 * limits.tiny)


def _growth(values: Tensor, k: int) -> Tensor:
    """By what exponent a degree of the filter lifts the k-th direction (from 0) over the rest."""
    return torch.acosh((2 * values[:, k] / _edge(values) - 1).clamp_min(1 + 1e-12))


def _outlook(values: Tensor, r: int, residual: Tensor, goal: Tensor) -> float:
    """How many products the least separated instance still needs."""
    tiny = torch.finfo(values.dtype).tiny
    missing = torch.log((residual / goal.clamp_min(tiny)).clamp_min(1))
    return float((missing / _growth(values, r - 1)).max())


def _degree(values: Tensor, r: int, residual: Tensor, goal: Tensor) -> int:
    """What the least separated instance wants, but so that no direction is damped to nothing."""
    tiny = torch.finfo(values.dtype).tiny
    growth, wanted = _growth(values, 0), _growth(values, r - 1)
    missing = torch.log((3 * residual / goal.clamp_min(tiny)).clamp(2, GAIN))
    degree = torch.minimum((missing / wanted).max(), (20 * math.log(GAIN) / growth).min())
    return min(max(math.ceil(degree.item()), 2), 24)


def _filter(G: Tensor, V: Tensor, GV: Tensor, values: Tensor, degree: int) -> Tensor:
    """Apply a scaled Chebyshev polynomial, large above the block's smallest Ritz value."""
    edge = _edge(values)
    growth = _growth(values, 0)
    centre = (edge / 2)[:, None, None]
    scale = torch.exp(-growth)[:, None, None]
    before, now = V, (GV / centre - V) * scale
    step = G * (2 * scale / centre)
    step.diagonal(dim1=1, dim2=2).sub_(2 * scale[:, 0])
    for _ in range(degree - 1):
        before, now = now, torch.baddbmm(before * -(scale**2), step, now)
    return _orthonormal(now)


def certified_error(G: Tensor, V: Tensor, values: Tensor, length: int) -> Tensor:
    """A bound (B,) on sin(theta_1) of a basis V (B, k, r) of the leading eigenspace of G (B, k, k).

    ``values`` (B, r + 1) are the eigenvalues that belong to V and the next one, as computed; they
    are not trusted. G is A Aᵀ, rounded, with rows of ``length`` entries. Rounding is counted at its
    worst (Higham, 2002, sections 3.5 and 10.1): ``length`` times eps times the trace for G itself,
    as much again for the residual, and k times eps times a trace for the Cholesky factorization.

    Examples
    --------
    >>> G = torch.diag(torch.tensor([9.0, 4.0, 1.0], dtype=torch.float64))[None]
    >>> values, V = torch.tensor([[9.0, 4.0]], dtype=torch.float64), torch.eye(3)[None, :, :1]
    >>> bool(certified_error(G, V.double(), values, 5) < 1e-13)
    True
    """
    side, r = V.shape[1:]
    last, following = values[:, r - 1], values[:, r].clamp_min(0)
    tau = following + 0.1 * (last - following)
    trace = G.diagonal(dim1=1, dim2=2).sum(1)
    eps = torch.finfo(G.dtype).eps
    slack = eps * ((2 * length + side + r + 16) * trace + (side + 2) * side * tau)
    return _certify(G, V, G @ V, values[:, :r], tau, slack)


def _certify(
    G: Tensor, V: Tensor, GV: Tensor, values: Tensor, tau: Tensor, slack: Tensor
) -> Tensor:
    """A bound on sin(theta_1) of r vectors V with Ritz values (B, r), or 1 where none is shown."""
    residual = torch.linalg.vector_norm(GV - V * values[:, None, :], dim=(-2, -1))
    shifted = torch.baddbmm(G, V * values[:, None, :], V.mT, beta=-1)
    shifted.diagonal(dim1=-2, dim2=-1).add_(tau[:, None])
    _, info = over_batch(torch.linalg.cholesky_ex, shifted)
    width = values[:, -1] - tau - 2 * residual - slack
    bound = (residual + slack) / width.clamp_min(torch.finfo(G.dtype).tiny)
    return torch.where((info == 0) & (width > 0), bound.clamp(max=1), 1.0)
