"""How a principal row space is computed: three methods, what they say of their error, tracking.

Stacks here are (B, m, n); :mod:`lowdim.linalg.subspaces` checks what comes in and restores
leading axes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from lowdim import checks
from lowdim.checks import ArrayLike
from lowdim.linalg._krylov import certified_block, certified_error, rounding
from lowdim.linalg.parallel import in_pieces, over_batch

# The Gram matrix squares the condition number. Up to this ratio sigma_1 / sigma_r the subspace
# still comes out to about 1e3 * eps; beyond it we pay for the SVD.
GRAM_CONDITION = 30.0


class Principal(NamedTuple):
    """A principal row space: basis (..., n, r), its singular values (..., r), error (...).

    The columns of ``basis`` are singular vectors in the order of ``values``: the first k of them
    span the principal row space of dimension k.

    ``error`` bounds the sine of the largest angle between ``basis`` and the exact space. For the
    direct methods it is Davis and Kahan's bound for a factorization that is backward stable with
    the constant of :func:`lowdim.linalg._krylov.rounding`; for the iterative one, and wherever a
    :class:`Tracker` is asked, it is a residual bound that assumes nothing of how the basis came.
    """

    basis: Tensor
    values: Tensor
    error: Tensor


class Tracker:
    """Principal row spaces along a run in which each matrix is close to the last.

    Keeps the last block of vectors and starts from it. Every answer carries its own error, and is
    recomputed directly where no certificate within ``tolerance`` can be had, so a jump costs time
    and never accuracy. Where a direct factorization is the faster way in any case (one side below
    256, or single precision) it is taken every time, and its error is certified afterwards: by its
    residual, a Cholesky factorization that bounds the rest of the spectrum, and what rounding can
    do at worst (:func:`lowdim.linalg._krylov.certified_error`). That bound may be above
    ``tolerance``.

    Examples
    --------
    >>> from lowdim.linalg.subspaces import distance, principal_rows
    >>> A = torch.diag(torch.arange(300.0, 0.0, -1.0, dtype=torch.float64))
    >>> track = Tracker(3)
    >>> first = track(A)
    >>> bool(distance(track(A + 1e-4).basis, principal_rows(A + 1e-4, 3)) < 1e-9)
    True
    """

    def __init__(self, r: int, *, tolerance: float = 1e-10) -> None:
        self.r = checks.whole(r, "r", 1)
        if not 0 < tolerance < 1:
            raise ValueError(f"tolerance must be between 0 and 1; you gave {tolerance!r}.")
        self.tolerance = tolerance
        self._block: Tensor | None = None

    def __call__(self, A: ArrayLike) -> Principal:
        """The principal row space of ``A`` (..., m, n), warm-started from the last call."""
        A = checks.matrices(A, "A")
        r = checks.rank_in_range(self.r, *A.shape[-2:])
        stack = A.reshape(-1, *A.shape[-2:])
        start = self._block
        if start is not None and (start.shape[0], start.shape[1]) != (len(stack), stack.shape[2]):
            start = None
        entries = stack[0].numel()
        pays = iteration_pays(stack, r)
        if start is None or not pays:
            direct = lambda piece: by_gram(piece, r, certify=True)  # noqa: E731
            found: Sequence[Tensor] = in_pieces(direct, stack, entries=entries)
            self._block = found[0] if pays else None
        else:
            *found, self._block = in_pieces(
                lambda piece, near: by_iteration(piece, r, near, tolerance=self.tolerance),
                stack,
                start,
                entries=entries,
            )
        return Principal(*(part.reshape(A.shape[:-2] + part.shape[1:]) for part in found))


def _scaled(A: Tensor) -> tuple[Tensor, Tensor]:
    """A stack (B, m, n) divided by powers of two (B, 1), so that no square under- or overflows.

    That division is exact; where every matrix is of ordinary size it is left out.
    """
    low, high = torch.aminmax(A.flatten(1), dim=1)
    largest = torch.maximum(-low, high)
    ordinary = torch.finfo(A.dtype).max ** 0.125
    fine = (largest < ordinary) & ((largest > 1 / ordinary) | (largest == 0))
    if bool(fine.all()):
        return A, torch.ones_like(largest)[:, None]
    scale = torch.where(largest > 0, torch.exp2(torch.floor(torch.log2(largest))), 1.0)
    return A / scale[:, None, None], scale[:, None]


def _scaled_gram(A: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """As :func:`_scaled`, and the smaller Gram matrix of each; ordinary sizes are left as they are.

    The trace says which sizes are ordinary: it is the sum of all squares, and reading it costs a
    small share of what reading every entry would.
    """
    G = _smaller_gram(A)
    trace = G.diagonal(dim1=1, dim2=2).sum(1)
    ordinary = torch.finfo(A.dtype).max ** 0.25
    if bool(((trace < ordinary) & (trace > 1 / ordinary)).all()):
        return A, torch.ones_like(trace)[:, None], G
    A, scale = _scaled(A)
    return A, scale, _smaller_gram(A)


def largest_value(stack: Tensor) -> Tensor:
    """The largest singular value (B,)."""
    _, scale, G = _scaled_gram(stack)
    top = over_batch(torch.linalg.eigvalsh, G)[:, -1]
    return top.clamp_min(0).sqrt() * scale[:, 0]


def _smaller_gram(A: Tensor) -> Tensor:
    return A @ A.mT if A.shape[-2] <= A.shape[-1] else A.mT @ A


def _direct_error(values: Tensor, r: int, slack: float, *, squared: bool) -> Tensor:
    """Error (B,) of a directly computed space from its singular values (B, k), k >= r."""
    top, last = values[:, 0], values[:, r - 1]
    following = values[:, r] if r < values.shape[1] else torch.zeros_like(last)
    if squared:
        top, last, following = top**2, last**2, following**2
    # The exact values lie within slack * top of the computed ones.
    width = (last - following - 2 * slack * top).clamp_min(torch.finfo(values.dtype).tiny)
    # A zero matrix has no principal space: nothing that is returned for it is near it.
    return torch.where(top > 0, (slack * top / width).clamp(max=1), 1.0)


def by_svd(stack: Tensor, r: int) -> Principal:
    """By a singular value decomposition of each matrix."""

    def svd(A: Tensor) -> tuple[Tensor, Tensor]:
        _, values, right = torch.linalg.svd(A, full_matrices=False)
        return values, right[..., :r, :].mT

    values, basis = svd(stack) if stack.requires_grad else over_batch(svd, stack)
    error = _direct_error(
        values, r, rounding(stack.shape[1], stack.shape[2], stack.dtype), squared=False
    )
    return Principal(basis, values[:, :r], error)


def by_gram(stack: Tensor, r: int, *, certify: bool = False) -> Principal:
    """By the eigenvectors of the smaller Gram matrix, or by SVD where that would cost digits."""
    A, scale, G = _scaled_gram(stack)
    wide = A.shape[1] <= A.shape[2]  # as in _smaller_gram: the vectors found are left ones
    squares, basis = _leading(G, r)
    values = squares.clamp_min(0).sqrt()
    if certify:
        error = certified_error(G, basis, squares, max(A.shape[1:]))
    else:
        error = _direct_error(values, r, rounding(A.shape[1], A.shape[2], A.dtype), squared=True)
    if wide:
        safe = torch.where(values[:, :r] > 0, values[:, :r], 1.0)
        rows = (basis.mT @ A) / safe[..., None]  # row by row: A is read in the order it lies in
        # One Newton step for the polar factor restores the orthogonality that the division cost.
        basis = ((1.5 * torch.eye(r, dtype=A.dtype) - 0.5 * (rows @ rows.mT)) @ rows).mT
    found = Principal(basis, values[:, :r] * scale, error)
    spoilt = _spoilt(values, r)
    return _replace(found, spoilt, stack, r, by_svd)


def _leading(G: Tensor, r: int) -> tuple[Tensor, Tensor]:
    """The r + 1 largest eigenvalues (B, r + 1) of Gram matrices (B, k, k), and r eigenvectors.

    A Gram matrix whose rank is r, as that of noiseless data is, needs no full decomposition.
    """
    side = G.shape[1]
    if 4 * r >= side:
        return _leading_of_any(G, r)
    squares, vectors, is_low = _leading_of_low_rank(G, r)
    if not bool(is_low.all()):
        rest = ~is_low
        for old, new in zip((squares, vectors), _leading_of_any(G[rest], r), strict=True):
            old[rest] = new
    return squares, vectors


def _leading_of_any(G: Tensor, r: int) -> tuple[Tensor, Tensor]:
    squares, vectors = over_batch(torch.linalg.eigh, G)
    if r == G.shape[1]:
        squares = torch.nn.functional.pad(squares, (1, 0))
    return squares[:, -r - 1 :].flip(-1), vectors[..., -r:].flip(-1)


def _leading_of_low_rank(G: Tensor, r: int) -> tuple[Tensor, Tensor, Tensor]:
    """As :func:`_leading`, from G = L Lᵀ with r columns, and where (B,) that is all of G.

    L comes from r steps of Cholesky's method with the largest remaining diagonal entry as pivot;
    what it leaves of the diagonal bounds the norm of what it leaves of G. A rank below r, where
    the next pivot is rounding, is left to others: these columns would have no direction.
    """
    B, side, _ = G.shape
    remaining = G.diagonal(dim1=1, dim2=2).clone()
    trace = remaining.sum(1)
    every, limits = torch.arange(B), torch.finfo(G.dtype)
    L = torch.zeros(B, side, r, dtype=G.dtype)
    sound = torch.ones(B, dtype=torch.bool)
    for k in range(r):
        pivot = remaining.argmax(1)
        size = remaining[every, pivot]
        sound &= size > limits.eps * trace
        column = G[every, :, pivot] - (L[..., :k] @ L[every, pivot, :k, None])[..., 0]
        column = column / torch.where(sound, size, 1.0).sqrt()[:, None]
        L[..., k] = torch.where(sound[:, None], column, 0.0)
        remaining -= L[..., k] ** 2
    is_low = sound & (remaining.abs().sum(1) <= side * limits.eps * trace)
    if not bool(is_low.any()):
        return L.new_zeros(B, r + 1), L, is_low
    squares, rotation = over_batch(torch.linalg.eigh, L.mT @ L)
    vectors = (L @ rotation) / squares.clamp_min(limits.tiny).sqrt()[:, None, :]
    return torch.nn.functional.pad(squares.flip(-1), (0, 1)), vectors.flip(-1), is_low


def iteration_pays(A: Tensor, r: int) -> bool:
    """Whether a filtered iteration is likely to beat an eigendecomposition, by measurement."""
    smaller = min(A.shape[-2:])
    return smaller >= 256 and r <= smaller // 8 and A.dtype == torch.float64


def _spoilt(values: Tensor, r: int) -> Tensor:
    """Where squaring has cost too many digits (B,); a zero matrix has none to begin with."""
    return ~((values[:, 0] <= GRAM_CONDITION * values[:, r - 1]) & (values[:, 0] > 0))


def by_iteration(
    stack: Tensor,
    r: int,
    start: Tensor | None,
    *,
    tolerance: float = 1e-11,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The three parts of a Principal, and the whole block of vectors to start from next time."""
    A, scale = _scaled(stack)
    block, squares, error = certified_block(A, r, start, tolerance=tolerance)
    values = squares[:, :r].clamp_min(0).sqrt()
    found = Principal(block[..., :r], values * scale, error)
    spoilt = _spoilt(values, r) | ~(error <= tolerance)
    found = _replace(found, spoilt, stack, r, by_gram)
    return *found, torch.cat([found.basis, block[..., r:]], -1)


def _replace(
    found: Principal,
    where: Tensor,
    stack: Tensor,
    r: int,
    method: Callable[[Tensor, int], Principal],
) -> Principal:
    """Redo the instances marked in ``where`` (B,) by another method."""
    if not bool(where.any()):
        return found
    again = method(stack[where], r)
    return Principal(*(old.index_put((where,), new) for old, new in zip(found, again, strict=True)))
