r"""Sums over points that are all the instruments need: memory does not grow with the points.

The first pass keeps, for each tap with values :math:`h_i\in R^p`, the moment
:math:`G=\sum_ih_ih_i^\top` in double precision and the sums of each class. Its eigenvectors give
the principal row space without a row of it being held: :math:`V=HU_r\Sigma_r^{-1}`. The second pass
keeps products of the q leading coordinates :math:`z_i=U_q^\top h_i` of two taps, group by group, so
that any distance of row spaces can be had again without one of the groups; and deviations from the
class means, which cancel nothing.

Values of more than ``width`` coordinates are sketched: each coordinate is added, with a random
sign, to one of ``width`` sums (Charikar, Chen and Farach-Colton, 2002). Inner products stay right
in the mean, with a relative standard error of about :math:`\sqrt{2/\text{width}}`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from lowdim.seeds import generator

__all__ = ["First", "Frame", "Second", "Sketch"]


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
        H = H.detach().to("cpu", torch.float64)
        if self.is_exact:
            return H
        out = torch.zeros(len(H), self.width, dtype=torch.float64)
        return out.index_add_(1, self.bucket, H * self.sign)


class First:
    """The first pass of one tap: count, moment (p, p), sums (K, p), counts (K,)."""

    def __init__(self, sketch: Sketch) -> None:
        p = sketch.width
        self.sketch, self.count = sketch, 0
        self.moment = torch.zeros(p, p, dtype=torch.float64)
        self.total = torch.zeros(p, dtype=torch.float64)
        self.sums = torch.zeros(0, p, dtype=torch.float64)
        self.counts = torch.zeros(0, dtype=torch.float64)

    def add(self, H: Tensor, rows: Tensor | None, K: int) -> None:
        """Values (n, p) of points whose classes are ``rows`` (n,), out of K so far."""
        self.count += len(H)
        self.moment.addmm_(H.mT, H)
        self.total += H.sum(0)
        if rows is None:
            return
        if len(self.sums) < K:
            more = K - len(self.sums)
            self.sums = torch.cat([self.sums, self.sums.new_zeros(more, H.shape[1])])
            self.counts = torch.cat([self.counts, self.counts.new_zeros(more)])
        self.sums.index_add_(0, rows, H)
        self.counts += torch.bincount(rows, minlength=len(self.counts))

    def spectrum(self) -> tuple[Tensor, Tensor]:
        """Singular values (p,), descending, and their vectors (p, p) in the space of values."""
        values, vectors = torch.linalg.eigh(self.moment)
        return values.flip(0).clamp_min(0).sqrt(), vectors.flip(1)

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
    coordinates; squares (G,): of all values; deviations (G, K, p), deviation_squares (G, K),
    lengths (G, K) and counts (G, K): of and from class means; nearest (G,): squared distances to
    the nearest centre.
    """

    def __init__(self, frame: Frame, groups: int, *, q_in: int | None, q_prev: int | None) -> None:
        p, q = frame.vectors.shape
        K = len(frame.means)
        zeros = lambda *shape: torch.zeros(*shape, dtype=torch.float64)  # noqa: E731
        self.frame, self.groups, self.K = frame, groups, K
        self.by_group = groups * K * q * q <= 4_000_000
        self.blocks = zeros(groups if self.by_group else 1, K, q, q)
        self.own = zeros(groups, q, q)
        self.input = None if q_in is None else zeros(groups, q, q_in)
        self.previous = None if q_prev is None else zeros(groups, q, q_prev)
        self.onto = None if q_in is None else zeros(p, q_in)
        self.squares, self.nearest = zeros(groups), zeros(groups)
        self.deviations, self.counts = zeros(groups, K, p), zeros(groups, K)
        self.deviation_squares, self.lengths = zeros(groups, K), zeros(groups, K)

    def add(
        self, H: Tensor, rows: Tensor, group: Tensor, before: Tensor | None, start: Tensor | None
    ) -> Tensor:
        """Values (n, p) with classes and groups (n,); the previous tap's coordinates and the
        input's. Returns the coordinates (n, q)."""
        Z = H @ self.frame.vectors
        G, K = self.groups, self.K
        cell = group * K + rows
        blocks = _products(Z, Z, cell if self.by_group else rows, G * K if self.by_group else K)
        self.blocks += blocks.reshape(self.blocks.shape)
        self.own += _products(Z, Z, group, G)
        if self.input is not None and start is not None and self.onto is not None:
            self.input += _products(Z, start, group, G)
            self.onto.addmm_(H.mT, start)
        if self.previous is not None and before is not None:
            self.previous += _products(Z, before, group, G)
        self.squares.index_add_(0, group, H.square().sum(1))
        off = H - self.frame.means[rows]
        square = off.square().sum(1)
        self.deviations.view(G * K, -1).index_add_(0, cell, off)
        self.deviation_squares.view(-1).index_add_(0, cell, square)
        self.lengths.view(-1).index_add_(0, cell, square.sqrt())
        self.counts.view(-1).index_add_(0, cell, torch.ones_like(square))
        if self.frame.centres is not None:
            least = torch.cdist(H, self.frame.centres).square().amin(1)
            self.nearest.index_add_(0, group, least)
        return Z


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
