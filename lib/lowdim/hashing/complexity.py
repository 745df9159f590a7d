"""Rademacher complexities that can be computed, and the largest gap over a ball of representations.

For signs ξ the supremum of ``Σ ξ_i f(x_i)`` over the functions ``f(x) = ‖P x + b‖²`` with
``‖P‖_F <= radius`` is a trust-region problem. Its dual has one variable, and no gap:

    min over ν >= λ of  radius² ν + ‖b‖² (τ + Σ_k c_k² / (ν - s_k)),

where ``s_k`` are the eigenvalues of ``Σ ξ_i x_i x_iᵀ``, ``λ`` the largest of them or zero, ``c_k``
the coordinates of ``Σ ξ_i x_i`` along its eigenvectors and ``τ = Σ ξ_i``. Where b is free too, the
bracket is replaced by its positive part. No search over matrices P is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from lowdim import checks
from lowdim.checks import ArrayLike
from lowdim.seeds import generator

_HALVINGS = 80  # of an interval that starts within a factor of the answer: to rounding


@dataclass(frozen=True)
class Complexity:
    """An empirical Rademacher complexity (instances,), its standard error, the signs averaged.

    The error is zero where all signs were enumerated.
    """

    value: Tensor
    error: Tensor
    draws: int

    @property
    def exact(self) -> bool:
        """Whether all sign vectors were enumerated."""
        return not bool(self.error.any())


def sign_vectors(points: int, *, draws: int = 1024, seed: int = 0) -> tuple[Tensor, bool]:
    """Sign vectors (count, points): all of them if at most ``draws``, else that many at random.

    Returns the signs and whether they are all.

    Examples
    --------
    >>> sign_vectors(2)[0].tolist(), sign_vectors(2)[1]
    ([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]], True)
    >>> signs, every = sign_vectors(50, draws=7)
    >>> tuple(signs.shape), every
    ((7, 50), False)
    """
    checks.whole(points, "points", 1)
    checks.whole(draws, "draws", 1)
    if points < 40 and 2**points <= draws:
        codes = torch.arange(2**points)[:, None]
        bits = codes.bitwise_right_shift(torch.arange(points - 1, -1, -1)) & 1
        return 2.0 * bits.double() - 1.0, True
    drawn = generator(seed, 0, "signs").integers(0, 2, (draws, points))
    return torch.from_numpy(2.0 * drawn - 1.0), False


def linear_ball(X: ArrayLike, radius: float, *, draws: int = 1024, seed: int = 0) -> Complexity:
    """Complexity of ``x -> <w, x>``, ``‖w‖ <= radius``, on X (..., n, d): radius E‖Σ ξ_i x_i‖ / n.

    Raises
    ------
    ValueError
        If X is not a finite stack of matrices or ``radius`` is not positive.

    Examples
    --------
    >>> linear_ball([[3.0, 0.0], [0.0, 4.0]], 2.0).value.item()
    5.0
    """
    X = checks.matrices(X, "X")
    _positive(radius, "radius")
    signs, every = sign_vectors(X.shape[-2], draws=draws, seed=seed)
    lengths = (signs.to(X) @ X).norm(dim=-1)  # (..., count)
    return _average(radius * lengths / X.shape[-2], every)


def square_ball(
    X: ArrayLike,
    radius: float,
    offset: float = 0.0,
    *,
    free_offset: bool = False,
    draws: int = 1024,
    seed: int = 0,
) -> Complexity:
    """Complexity of ``x -> ‖P x + b‖²`` with ``‖P‖_F <= radius`` on the rows of X (..., n, d).

    ``‖b‖ = offset`` is one fixed vector (its direction does not matter), or any vector of norm at
    most ``offset`` with ``free_offset``. The number of rows of P does not matter either.

    Raises
    ------
    ValueError
        If X is not a finite stack of matrices, ``radius`` not positive or ``offset`` negative.

    Examples
    --------
    One point x = 1: half of (1 + 1/10)² - (1 - 1/10)², and half of (1 + 1/10)² where b is free.

    >>> fixed, free = (square_ball([[1.0]], 0.1, 1.0, free_offset=f) for f in (False, True))
    >>> round(fixed.value.item(), 12), round(free.value.item(), 12)
    (0.2, 0.605)
    """
    X = checks.matrices(X, "X")
    _positive(radius, "radius")
    if not offset >= 0:
        raise ValueError(f"offset must be 0 or more; you gave {offset!r}.")
    signs, every = sign_vectors(X.shape[-2], draws=draws, seed=seed)
    best = signed_supremum(X, signs, radius, offset, free_offset=free_offset)
    if not free_offset:  # its mean is zero: leave it out, and its noise with it
        best = best - offset**2 * signs.sum(1).to(best)
    return _average(best / X.shape[-2], every)


def signed_supremum(
    X: Tensor, signs: Tensor, radius: float, offset: float = 0.0, *, free_offset: bool = False
) -> Tensor:
    """``sup Σ ξ_i ‖P x_i + b‖²`` over the class of :func:`square_ball`, for each ξ: (..., count).

    X is (..., n, d) and ``signs`` (count, n).

    Examples
    --------
    >>> X, minus = torch.tensor([[1.0]], dtype=torch.float64), -torch.ones(1, 1).double()
    >>> round(signed_supremum(X, minus, 0.5, 2.0).item(), 9)  # -(2 - 1/2)²
    -2.25
    """
    n, d = X.shape[-2:]
    if d > n:  # an isometric copy with n coordinates
        left, size, _ = torch.linalg.svd(X, full_matrices=False)
        X = left * size[..., None, :]
    signs = signs.to(X)
    moment = torch.einsum("...ni,cn,...nj->...cij", X, signs, X)
    eigenvalues, vectors = torch.linalg.eigh(moment)
    along = torch.einsum("...cij,...ci->...cj", vectors, signs @ X)
    floor = eigenvalues[..., -1].clamp_min(0.0)
    if offset == 0.0:
        return radius**2 * floor
    tau = signs.sum(1)
    weight = (along**2).sum(-1)
    steep = _root(
        lambda nu: (
            (along**2 / (nu[..., None] - eigenvalues).clamp_min(1e-300) ** 2).sum(-1)
            - (radius / offset) ** 2
        ),
        floor,
        floor + offset / radius * weight.sqrt(),
    )
    if free_offset:
        reach = torch.where(tau < 0, weight / tau.abs().clamp_min(1.0), 0.0)
        flat = _root(lambda nu: _secular(along, nu, eigenvalues) + tau, floor, floor + reach)
        nu = torch.where(tau < 0, torch.minimum(steep, flat), steep)
        bracket = (_secular(along, nu, eigenvalues) + tau).clamp_min(0.0)
    else:
        nu = steep
        bracket = _secular(along, nu, eigenvalues) + tau
    return radius**2 * nu + offset**2 * bracket


def within(Z: ArrayLike) -> Tensor:
    """Mean over groups of their unbiased covariances, (..., d, d).

    Z is (..., m, n, d): m groups of n points, n at least 2. One product for all groups: a matrix
    for each of them would not fit in memory where they are many.

    Raises
    ------
    ValueError
        If there are no groups, or fewer than two points in each.

    Examples
    --------
    >>> within([[[0.0], [2.0]], [[1.0], [1.0]]]).item()
    1.0
    """
    Z = _grouped(Z, 1)
    n = Z.shape[-2]
    if n < 2:
        raise ValueError(f"a covariance needs 2 points or more; Z has {n}.")
    centred = (Z - Z.mean(-2, keepdim=True)).flatten(-3, -2)
    return centred.mT @ centred / (Z.shape[-3] * (n - 1))


def between(Z: ArrayLike) -> Tensor:
    """Mean of ``(z - z')(z - z')ᵀ`` over points of different groups, (..., d, d).

    Z is (..., m, n, d): m groups of n points, m at least 2.

    Raises
    ------
    ValueError
        If there are fewer than two groups.

    Examples
    --------
    >>> between([[[0.0], [2.0]], [[1.0], [1.0]]]).item()
    1.0
    """
    Z = _grouped(Z, 2)
    m, n = Z.shape[-3:-1]
    own = Z.mean(-2)  # (..., m, d)
    flat = Z.flatten(-3, -2)
    second = flat.mT @ flat / (m * n)
    total = own.sum(-2)
    across = (total[..., :, None] * total[..., None, :] - own.mT @ own) / (m * (m - 1))
    return 2 * (second - across)


def _grouped(Z: ArrayLike, least: int) -> Tensor:
    Z = checks.matrices(Z, "Z")
    if Z.ndim < 3 or Z.shape[-3] < least:
        raise ValueError(
            f"Z needs the axes (groups, points, coordinates) and at least {least} of the first; "
            f"its shape is {tuple(Z.shape)}."
        )
    return Z


def largest_gap(left: Tensor, right: Tensor, radius: float) -> Tensor:
    """``max <BᵀB, left - right>`` over ``‖B‖_F <= radius``, (...,), for symmetric (..., d, d).

    Examples
    --------
    >>> largest_gap(torch.diag(torch.tensor([1.0, 3.0])), torch.eye(2), 2.0).item()
    8.0
    """
    _positive(radius, "radius")
    top = torch.linalg.eigvalsh(left - right)[..., -1]
    return radius**2 * top.clamp_min(0.0)


def _secular(along: Tensor, nu: Tensor, eigenvalues: Tensor) -> Tensor:
    return (along**2 / (nu[..., None] - eigenvalues).clamp_min(1e-300)).sum(-1)


def _root(decreasing: Callable[[Tensor], Tensor], low: Tensor, high: Tensor) -> Tensor:
    """Where a decreasing function of ν crosses zero, or ``low`` if it starts below; batched."""
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        above = decreasing(middle) > 0
        low, high = torch.where(above, middle, low), torch.where(above, high, middle)
    return high


def _average(values: Tensor, every: bool) -> Complexity:
    count = values.shape[-1]
    mean = values.mean(-1)
    spread = values.std(-1) / count**0.5 if count > 1 else torch.zeros_like(mean)
    return Complexity(mean, torch.zeros_like(mean) if every else spread, count)


def _positive(value: float, name: str) -> None:
    if not value > 0:
        raise ValueError(f"{name} must be above 0; you gave {value!r}.")
