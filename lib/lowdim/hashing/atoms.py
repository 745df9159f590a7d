r"""Representations that take finitely many values: every probability in Part IV exact.

A batch of instances has m manifolds; on manifold l the representation is the point
:math:`a_{li}\in\mathbb R^p` with probability :math:`w_{li}`. Two independent draws give all of
Definition 2 and of Theorem 5 as finite sums, so a worst case can be built, searched and checked
without sampling.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from lowdim import checks

SUM = 1e-9  # weights of a manifold may miss 1 by this much


@dataclass(frozen=True)
class Atoms:
    """Places ``at`` (..., m, a, p) and weights ``weight`` (..., m, a) of m finite distributions.

    Raises
    ------
    ValueError
        If the shapes disagree, a weight is negative, or the weights of a manifold do not add to 1.

    Examples
    --------
    >>> coin = Atoms([[[-1.0], [1.0]], [[-1.0], [1.0]]], [[0.5, 0.5], [0.5, 0.5]])
    >>> coin.variance.tolist(), coin.squares.tolist()
    ([1.0, 1.0], [[2.0, 2.0], [2.0, 2.0]])
    >>> coin.accept(2.0).tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """

    at: Tensor
    weight: Tensor

    def __post_init__(self) -> None:
        at, weight = checks.matrices(self.at, "at"), checks.matrices(self.weight, "weight")
        if at.ndim < 3 or at.shape[:-1] != weight.shape:
            raise ValueError(
                "at and weight need shapes (..., m, a, p) and (..., m, a); "
                f"they are {tuple(at.shape)} and {tuple(weight.shape)}."
            )
        off = float((weight.detach().sum(-1) - 1).abs().max())
        if bool((weight < 0).any()) or off > SUM:
            raise ValueError(
                "the weights of a manifold must be 0 or more and add to 1; the smallest is "
                f"{float(weight.min())} and a sum is off by {off}."
            )
        object.__setattr__(self, "at", at)
        object.__setattr__(self, "weight", weight)

    @property
    def mean(self) -> Tensor:
        """Means (..., m, p)."""
        return (self.weight[..., None] * self.at).sum(-2)

    @property
    def variance(self) -> Tensor:
        """V_M of each manifold, (..., m)."""
        away = self.at - self.mean[..., None, :]
        return (self.weight * away.square().sum(-1)).sum(-1)

    @property
    def centres(self) -> Tensor:
        """Squared distances of the means, (..., m, m)."""
        mean = self.mean
        return (mean[..., :, None, :] - mean[..., None, :, :]).square().sum(-1)

    @property
    def squares(self) -> Tensor:
        """Mean squared distances of independent draws, (..., m, m), summed pair by pair."""
        return self._expect(self._pairs().square().sum(-1))

    @property
    def distances(self) -> Tensor:
        """Mean distances of independent draws, (..., m, m)."""
        return self._expect(self._pairs().square().sum(-1).sqrt())

    @property
    def radius(self) -> Tensor:
        """Mean distance of a draw to its manifold's mean, (..., m)."""
        away = self.at - self.mean[..., None, :]
        return (self.weight * away.square().sum(-1).sqrt()).sum(-1)

    @property
    def epsilon(self) -> Tensor:
        """The smallest ε (...) of Definition 2: the largest variance."""
        return self.variance.amax(-1)

    @property
    def rho(self) -> Tensor:
        """The largest ρ (...) of Definition 2 with that ε."""
        return _different(self.squares).amin(-1) / self.epsilon

    def accept(self, threshold: object) -> Tensor:
        """Probability (..., m, m) that two independent draws have |r - r'|² < threshold (...)."""
        limit = torch.as_tensor(threshold, dtype=self.at.dtype)[..., None, None, None, None]
        return self._expect((self._pairs().square().sum(-1) < limit).to(self.at.dtype))

    def errors(self, threshold: object) -> tuple[Tensor, Tensor]:
        """Largest miss rate and largest false-hit rate (...) of Theorem 5's rule.

        Examples
        --------
        >>> simplex = Atoms(torch.eye(4, dtype=torch.float64)[None], torch.full((1, 4), 0.25))
        >>> float(1 - simplex.accept(2 * simplex.epsilon)[0, 0])
        0.75
        """
        share = self.accept(threshold)
        own = share.diagonal(dim1=-2, dim2=-1)
        return 1 - own.amin(-1), _different(share).amax(-1)

    def below(self, threshold: object) -> Tensor:
        """Probability (..., m, m) that ⟨r - r', u⟩ is below the root of ``threshold`` (...).

        u is the unit vector from the mean of the second to the mean of the first; zero where the
        means agree. Shorter than the root along u is what every accepted pair is.
        """
        mean = self.mean
        gap = mean[..., :, None, :] - mean[..., None, :, :]
        unit = gap / gap.norm(dim=-1, keepdim=True).clamp_min(1e-300)
        along = (self._pairs() * unit[..., :, :, None, None, :]).sum(-1)
        limit = torch.as_tensor(threshold, dtype=self.at.dtype)[..., None, None, None, None]
        # a pair on the edge counts: rounding must not lose one that accept has
        return self._expect((along < limit.sqrt() * (1 + 1e-12)).to(self.at.dtype))

    def _pairs(self) -> Tensor:
        """Differences (..., m, m, a, a, p)."""
        return self.at[..., :, None, :, None, :] - self.at[..., None, :, None, :, :]

    def _expect(self, values: Tensor) -> Tensor:
        joint = self.weight[..., :, None, :, None] * self.weight[..., None, :, None, :]
        return (joint * values).sum((-2, -1))


def simplex(corners: int, *, distance: float = 0.0) -> Atoms:
    """Two manifolds, each uniform on the corners of a regular simplex with variance 1.

    Two different corners are at squared distance 2N/(N-1), a little more than twice the variance.
    The two means are ``distance`` apart, in a direction of its own.

    Examples
    --------
    >>> S = simplex(5, distance=3.0)
    >>> round(float(S.epsilon), 9), round(float(S.rho), 9)
    (1.0, 11.0)
    """
    checks.whole(corners, "corners", 2)
    side = (corners / (corners - 1)) ** 0.5
    flat = side * (torch.eye(corners, dtype=torch.float64) - 1 / corners)
    at = torch.zeros(2, corners, corners + 1, dtype=torch.float64)
    at[..., :-1] = flat
    at[1, :, -1] = distance
    return Atoms(at, torch.full((2, corners), 1 / corners, dtype=torch.float64))


def shared_point(rho: float) -> Atoms:
    """Two manifolds with that ρ that share a point of probability p = 4/(ρ+2), as far as they may.

    Each is at its own end of a line with probability 1-p and at the middle with probability p.

    Raises
    ------
    ValueError
        If ``rho`` is not above 2.

    Examples
    --------
    >>> round(float(shared_point(18.0).rho), 9), shared_point(18.0).weight[0].tolist()
    (18.0, [0.8, 0.2])
    """
    if not 2 < rho < float("inf"):
        raise ValueError(f"rho must be a number above 2; you gave {rho}.")
    p = 4 / (rho + 2)
    at = torch.tensor([[[-1.0], [0.0]], [[1.0], [0.0]]], dtype=torch.float64)
    return Atoms(at, torch.tensor([[1 - p, p], [1 - p, p]], dtype=torch.float64))


def confusion_floor(atoms: Atoms) -> Tensor:
    """Least sum (...) of miss rate and false-hit rate of *any* rule, for two manifolds.

    The new manifold is either with probability ½, the rule sees a key of it and a query, and knows
    both distributions. Values that agree exactly are the same value.

    Raises
    ------
    ValueError
        If there are not two manifolds.

    Examples
    --------
    >>> round(float(confusion_floor(shared_point(18.0))), 9)
    0.36
    """
    if atoms.at.shape[-3] != 2:
        raise ValueError(f"the floor is for two manifolds; there are {atoms.at.shape[-3]}.")
    batch = atoms.at.shape[:-3]
    both = atoms.at.flatten(-3, -2)
    same = (both[..., :, None, :] == both[..., None, :, :]).all(-1).to(atoms.at.dtype)
    first = same.to(torch.uint8).argmax(-1)  # the first atom with the same value stands for all
    joint = torch.zeros(*batch, 2, both.shape[-2], dtype=atoms.at.dtype)
    a = atoms.weight.shape[-1]
    for side in range(2):
        where = first[..., side * a : (side + 1) * a]
        joint[..., side, :].scatter_add_(-1, where, atoms.weight[..., side, :])
    P, Q = joint[..., 0, :, None], joint[..., 1, :, None]
    alike = (P * P.mT + Q * Q.mT) / 2
    unlike = (P * Q.mT + Q * P.mT) / 2
    return torch.minimum(alike, unlike).sum((-2, -1))


def _different(table: Tensor) -> Tensor:
    """Entries (..., m(m-1)) off the diagonal."""
    m = table.shape[-1]
    if m < 2:
        raise ValueError(f"this compares two manifolds or more; there is {m}.")
    return table[..., ~torch.eye(m, dtype=torch.bool)]
