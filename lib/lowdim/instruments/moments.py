r"""Sums over points that are all the instruments need: memory does not grow with the points.

The first pass keeps, for each tap with values :math:`h_i\in R^p`, the moment
:math:`G=\sum_ih_ih_i^\top` in double precision and the sums of each class. Its eigenvectors give
the principal row space without a row of it being held: :math:`V=HU_r\Sigma_r^{-1}`. The second pass
keeps products of the q leading coordinates :math:`z_i=U_q^\top h_i` of two taps, group by group, so
that any distance of row spaces can be had again without one of the groups; and deviations from the
class means, which cancel nothing.

Half of a symmetric product is enough: the moment is BLAS's ``dsyrk``. Coordinates are held until a
few thousand points have come, so that the many small products of groups and classes are few.

Values of more than ``width`` coordinates are sketched: each coordinate is added, with a random
sign, to one of ``width`` sums (Charikar, Chen and Farach-Colton, 2002). Inner products stay right
in the mean, with a relative standard error of about :math:`\sqrt{2/\text{width}}`.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

import numpy as np
import torch
from scipy import linalg
from scipy.sparse.linalg import ArpackError, eigsh
from torch import Tensor

from lowdim.seeds import generator

__all__ = ["First", "Frame", "Second", "Sketch", "largest"]

HELD = 4096  # points whose coordinates are held before their products are taken
PIECE = 1 << 22  # values that are made double at once where they are sketched


def largest(A: Tensor, count: int) -> Tensor:
    """The largest eigenvalues (count,) of a symmetric matrix (p, p), descending.

    Examples
    --------
    >>> largest(torch.diag(torch.tensor([1.0, 3.0, 2.0]).double()), 2).tolist()
    [3.0, 2.0]
    """
    p = len(A)
    if count == 1 and p >= 256:  # one of many: Lanczos' iteration, to rounding
        start = generator(0, 0, "largest").standard_normal(p)
        with contextlib.suppress(ArpackError):  # of a matrix that is zero, say
            top = eigsh(A.numpy(), 1, which="LA", v0=start, return_eigenvectors=False)
            return torch.from_numpy(top)
    within = None if count >= p else [p - count, p - 1]
    found = linalg.eigh(A.numpy(), eigvals_only=True, subset_by_index=within, check_finite=False)
    return torch.from_numpy(found).flip(0)


def _eigen(lower: np.ndarray, q: int) -> tuple[Tensor, Tensor]:
    """All eigenvalues (p,) of a symmetric matrix, ascending, and the vectors (p, q) of the largest,
    from its lower triangle: one tridiagonal matrix serves both."""
    p = len(lower)
    reduced, d, e, tau, _ = linalg.lapack.dsytrd(lower, lower=1, lwork=64 * p)
    values = linalg.eigvalsh_tridiagonal(d, e)
    _, some = linalg.eigh_tridiagonal(d, e, select="i", select_range=(p - q, p - 1))
    turned, _, _ = linalg.lapack.dormqr("L", "N", reduced[1:, :-1], tau, some[1:], 64 * q)
    return torch.from_numpy(values), torch.from_numpy(np.concatenate([some[:1], turned]))


class Sketch:
    """Values (n, p) as double-precision values (n, at most ``width``).

    Examples
    --------
    >>> Sketch(7, 3, seed=0)(torch.ones(2, 7)).shape, Sketch(2, 3, seed=0).error
    (torch.Size([2, 3]), 0.0)
    """

    def __init__(self, p: int, width: int, *, seed: int) -> None:
        self.p, self.is_exact = p, p <= width
        self.width = min(p, width)
        self.error = 0.0 if self.is_exact else (2 / width) ** 0.5
        if not self.is_exact:
            rng = generator(seed, 0, "sketch", p)
            self.bucket = torch.from_numpy(rng.integers(0, width, p))
            self.sign = torch.from_numpy(rng.choice(np.array([-1.0, 1.0]), p))

    def __call__(self, H: Tensor) -> Tensor:
        H = H.detach()
        if self.is_exact:
            return H.to("cpu", torch.float64)
        out = torch.zeros(len(H), self.width, dtype=torch.float64)
        few = max(1, PIECE // self.p)
        for rows, part in zip(out.split(few), H.split(few), strict=True):
            rows.index_add_(1, self.bucket, part.to("cpu", torch.float64) * self.sign)
        return out


class First:
    """The first pass of one tap: count, moment (p, p), total (p,), sums (K, p), counts (K,)."""

    def __init__(self, sketch: Sketch) -> None:
        p = sketch.width
        self.sketch, self.count = sketch, 0
        self._half = np.zeros((p, p), order="F")  # the upper triangle of the moment
        self._rest = torch.zeros(p, dtype=torch.float64)  # of points without a class
        self.sums = torch.zeros(0, p, dtype=torch.float64)
        self.counts = torch.zeros(0, dtype=torch.float64)

    def add(self, H: Tensor, rows: Tensor | None, K: int) -> None:
        """Values (n, p) of points whose classes are ``rows`` (n,), out of K so far."""
        self.count += len(H)
        rows_first = H.contiguous().numpy()
        linalg.blas.dsyrk(1.0, rows_first.T, beta=1.0, c=self._half, overwrite_c=1)
        if rows is None:
            self._rest += H.sum(0)
            return
        if len(self.sums) < K:
            more = K - len(self.sums)
            self.sums = torch.cat([self.sums, self.sums.new_zeros(more, H.shape[1])])
            self.counts = torch.cat([self.counts, self.counts.new_zeros(more)])
        self.sums.index_add_(0, rows, H)
        self.counts += torch.bincount(rows, minlength=len(self.counts))

    @property
    def moment(self) -> Tensor:
        """The sum (p, p) of the products of values."""
        upper = torch.from_numpy(self._half).triu()
        return upper + upper.triu(1).mT

    @property
    def total(self) -> Tensor:
        """The sum (p,) of the values."""
        return self._rest + self.sums.sum(0)

    def spectrum(self, q: int | None = None) -> tuple[Tensor, Tensor]:
        """All singular values (p,), descending, and the vectors (p, q) of the first q, or of all.

        Examples
        --------
        >>> first = First(Sketch(2, 8, seed=0))
        >>> first.add(torch.tensor([[3.0, 0.0], [0.0, 1.0]]).double(), None, 0)
        >>> first.spectrum(1)[0].tolist()
        [3.0, 1.0]
        """
        p = len(self._half)
        q = p if q is None else min(q, p)
        if 4 * q < p:  # far fewer than all: all vectors are most of the cost
            values, vectors = _eigen(self._half.T, q)
        else:
            values, vectors = torch.linalg.eigh(self.moment)
        return values.flip(0).clamp_min(0).sqrt(), vectors.flip(1)[:, :q]

    def means(self) -> Tensor:
        """Class means (K, p); without classes the mean of all, (1, p)."""
        if not len(self.sums):
            return self.total[None] / self.count
        return self.sums / self.counts.clamp_min(1)[:, None]

    def centred(self) -> Tensor:
        """The covariance (p, p) of all points times their number."""
        mean = self.total / self.count
        return self.moment - self.count * mean[:, None] * mean


@dataclass(frozen=True)
class Frame:
    """What the second pass refers to: vectors (p, q), means (K, p), centres (C, p) or None."""

    vectors: Tensor
    means: Tensor
    centres: Tensor | None


class Second:
    """The second pass of one tap, by group g of G and class k of K.

    own (G, q, q), input, previous (G, q, q'): products of leading coordinates; blocks (G or 1, K,
    q, q): of one tap's own by class; onto (p, q'): the values' products with the input's
    coordinates; squares (G,): of all values; deviations (G, K, p), deviation_squares (G, K) and
    counts (G, K): of and from class means; nearest (G,): squared distances to the nearest centre.
    """

    def __init__(self, frame: Frame, groups: int, *, q_in: int | None, q_prev: int | None) -> None:
        p, q = frame.vectors.shape
        K = len(frame.means)
        zeros = lambda *shape: torch.zeros(*shape, dtype=torch.float64)  # noqa: E731
        self.frame, self.groups, self.K = frame, groups, K
        self.by_group = groups * K * q * q <= 4_000_000
        self._blocks = zeros(groups if self.by_group else 1, K, q, q)
        self._own = zeros(groups, q, q)
        self._input = None if q_in is None else zeros(groups, q, q_in)
        self._previous = None if q_prev is None else zeros(groups, q, q_prev)
        self.onto = None if q_in is None else zeros(p, q_in)
        self.nearest = zeros(groups)
        self.deviations, self.counts = zeros(groups, K, p), zeros(groups, K)
        self.deviation_squares = zeros(groups, K)
        self._held: list[tuple[Tensor, Tensor, Tensor, Tensor | None, Tensor | None]] = []
        self._waiting = 0
        self._factors = frame.vectors
        if frame.centres is not None:
            self._factors = torch.cat([frame.vectors, frame.centres.mT], 1)
            self._centre_squares = frame.centres.square().sum(1)

    def add(
        self, H: Tensor, rows: Tensor, group: Tensor, before: Tensor | None, start: Tensor | None
    ) -> Tensor:
        """Values (n, p) with classes and groups (n,); the previous tap's coordinates and the
        input's. Returns the coordinates (n, q)."""
        q = self.frame.vectors.shape[1]
        products = H @ self._factors
        Z = products[:, :q]
        if self.onto is not None and start is not None:
            self.onto.addmm_(H.mT, start)
        cell = group * self.K + rows
        back = self.frame.means[rows].sub_(H)  # class means minus values
        square = torch.linalg.vector_norm(back, dim=1).square_()
        self.deviations.view(-1, H.shape[1]).index_add_(0, cell, back, alpha=-1)
        self.deviation_squares.view(-1).index_add_(0, cell, square)
        self.counts.view(-1).index_add_(0, cell, torch.ones_like(square))
        if self.frame.centres is not None:
            least = (self._centre_squares - 2 * products[:, q:]).amin(1)
            least += torch.linalg.vector_norm(H, dim=1).square_()
            self.nearest.index_add_(0, group, least.clamp_min_(0))
        self._held.append((Z, rows, group, before, start))
        self._waiting += Z.shape[0]
        if self._waiting >= HELD:
            self._close()
        return Z

    def _close(self) -> None:
        """Take the products of the coordinates that are held."""
        if not self._held:
            return
        Z, rows, group, before, start = (
            None if any(part is None for part in parts) else torch.cat(parts)
            for parts in zip(*self._held, strict=True)
        )
        assert Z is not None and rows is not None and group is not None
        self._held, self._waiting = [], 0
        G, K = self.groups, self.K
        cell, cells = (group * K + rows, G * K) if self.by_group else (rows, K)
        blocks = _products(Z, Z, cell, cells).reshape(self._blocks.shape)
        self._blocks += blocks
        self._own += blocks.sum(1) if self.by_group else _products(Z, Z, group, G)
        if self._input is not None and start is not None:
            self._input += _products(Z, start, group, G)
        if self._previous is not None and before is not None:
            self._previous += _products(Z, before, group, G)

    @property
    def own(self) -> Tensor:
        """Products (G, q, q) of the leading coordinates."""
        self._close()
        return self._own

    @property
    def blocks(self) -> Tensor:
        """The same by class, (G or 1, K, q, q)."""
        self._close()
        return self._blocks

    @property
    def input(self) -> Tensor | None:
        """Products (G, q, q') with the input's leading coordinates."""
        self._close()
        return self._input

    @property
    def previous(self) -> Tensor | None:
        """Products (G, q, q') with the previous tap's leading coordinates."""
        self._close()
        return self._previous

    @property
    def squares(self) -> Tensor:
        """Sums (G,) of squared values, from deviations and class means."""
        means = self.frame.means
        along = 2 * (self.deviations * means).sum(2) + self.counts * means.square().sum(1)
        return (self.deviation_squares + along).sum(1).clamp_min(0)


def _products(A: Tensor, B: Tensor, cell: Tensor, cells: int) -> Tensor:
    """Sums (cells, a, b) of the outer products of rows of A (n, a) and B (n, b) by cell (n,)."""
    order = cell.argsort(stable=True)
    counts = torch.bincount(cell, minlength=cells)
    most = int(counts.max())
    if cells * most > 8 * len(A) + 64:  # cells of very different sizes: one after another
        out = torch.zeros(cells, A.shape[1], B.shape[1], dtype=A.dtype)
        for index in counts.nonzero()[:, 0].tolist():
            out[index] = A[cell == index].mT @ B[cell == index]
        return out
    start = counts.cumsum(0) - counts
    place = cell[order] * most + torch.arange(len(A)) - start[cell[order]]
    wide = [torch.zeros(cells * most, M.shape[1], dtype=A.dtype) for M in (A, B)]
    for M, W in zip((A, B), wide, strict=True):
        W[place] = M[order]
    left, right = (W.view(cells, most, -1) for W in wide)
    return left.mT @ right
