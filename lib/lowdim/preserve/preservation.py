r"""What the theorems of Part I speak of, measured on actual matrices.

:func:`sin_theta` holds the quantities of the sin Θ step from a clean matrix to a perturbed one,
which Lemmas 4.1, 4.2 and 4.3 take in turn. :func:`layer` holds those of one layer
:math:`Y=\sigma(WX)`, and :func:`tangent_ratio` the ratio q of the tangent bound. All take a leading
axis of instances, and gradients flow through all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from lowdim import checks
from lowdim.checks import ArrayLike
from lowdim.linalg import clusters, subspaces


def _norm(A: Tensor) -> Tensor:
    return torch.linalg.matrix_norm(A, 2)


def _value(A: Tensor, index: int) -> Tensor:
    """Singular value number ``index`` (from 1), zero where there is none."""
    values = subspaces.singular_values(A)
    return values[..., index - 1] if index <= values.shape[-1] else torch.zeros_like(values[..., 0])


@dataclass(frozen=True)
class SinTheta:
    r"""From ``clean`` to ``clean + error``: all values (...), ``sines`` (..., r).

    top, following: :math:`\sigma_r` of the clean and :math:`\sigma_{r+1}` of the perturbed matrix;
    gap: their difference; left, right: the residuals :math:`\|U^\top ZV_2\|_2` and
    :math:`\|U_2^\top ZV\|_2`; spectral, frobenius: norms of the error; largest_entry,
    frobenius_distance: of the difference of projectors; trace_form: that distance from traces,
    which cancels.
    """

    sines: Tensor
    largest_entry: Tensor
    frobenius_distance: Tensor
    trace_form: Tensor
    top: Tensor
    following: Tensor
    left: Tensor
    right: Tensor
    spectral: Tensor
    frobenius: Tensor

    @property
    def gap(self) -> Tensor:
        """The gap between the two matrices."""
        return self.top - self.following

    def where(self, mask: Tensor) -> SinTheta:
        """Only the instances that ``mask`` (...) admits."""
        return SinTheta(**{name: value[mask] for name, value in vars(self).items()})


def sin_theta(clean: ArrayLike, error: ArrayLike, r: int) -> SinTheta:
    """Every quantity of the sin Θ step, for stacks ``clean`` and ``error`` (..., m, n).

    Raises
    ------
    ValueError
        If the shapes differ, a value is not finite or ``r`` is out of range.

    Examples
    --------
    >>> step = sin_theta([[1.0, 2.0]], [[0.6, -1.2]], 1)
    >>> [round(x.item(), 6) for x in (step.largest_entry, step.spectral / step.gap)]
    [0.6, 0.6]
    """
    clean, error = checks.matrices(clean, "clean"), checks.matrices(error, "error")
    if clean.shape != error.shape:
        raise ValueError(
            "clean and error must have the same shape; "
            f"they are {tuple(clean.shape)} and {tuple(error.shape)}."
        )
    r = checks.rank_in_range(r, *clean.shape[-2:])
    U, s, Vh = torch.linalg.svd(clean, full_matrices=False)
    U, V = U[..., :r], Vh[..., :r, :].mT
    Ux, sx, Vhx = torch.linalg.svd(clean + error, full_matrices=True)
    V1, U2, V2 = Vhx[..., :r, :].mT, Ux[..., r:], Vhx[..., r:, :].mT
    zero = torch.zeros_like(s[..., 0])
    trace = 2 * r - 2 * ((V.mT @ V1) ** 2).sum((-2, -1))
    return SinTheta(
        sines=subspaces.sines(V, V1),
        largest_entry=subspaces.distance(V, V1, norm="max"),
        frobenius_distance=subspaces.distance(V, V1),
        trace_form=trace.clamp_min(0).sqrt(),
        top=s[..., r - 1],
        following=sx[..., r] if r < sx.shape[-1] else zero,
        left=_norm(U.mT @ error @ V2) if V2.shape[-1] else zero,
        right=_norm(U2.mT @ error @ V) if U2.shape[-1] else zero,
        spectral=_norm(error),
        frobenius=torch.linalg.matrix_norm(error),
    )


def tangent_ratio(Y: ArrayLike, basis: ArrayLike) -> tuple[Tensor, Tensor]:
    r"""Numerator (...) and denominator (...) of :math:`q=\|Y(I-P^*)\|_2/\sigma_r(YP^*)`.

    ``Y`` is (..., h, n) and ``basis`` (..., n, r), orthonormal.

    Examples
    --------
    >>> above, below = tangent_ratio([[1.0, 0.5]], [[1.0], [0.0]])
    >>> (above / below).item()
    0.5
    """
    Y, basis = checks.matrices(Y, "Y"), checks.matrices(basis, "basis")
    inside = Y @ basis
    return _norm(Y - inside @ basis.mT), _value(inside, basis.shape[-1])


def sharper(Y: ArrayLike, basis: ArrayLike) -> Tensor:
    r"""The sharper tangent bound (...): :math:`\tan\tfrac12\arctan\frac{2\sigma c}{\sigma^2-u^2}`.

    :math:`\sigma=\sigma_r(YP^*)`, :math:`u=\|Y(I-P^*)\|` and :math:`c=\|\Pi\,Y(I-P^*)\|`, where
    :math:`\Pi` projects onto the columns of :math:`YP^*`; ``Y`` is (..., h, n) and ``basis``
    (..., n, r), orthonormal, with h at least r. Infinite where :math:`u<\sigma` fails.

    Examples
    --------
    >>> Y = [[1.0, 0.25], [0.0, 0.75**0.5 / 2]]
    >>> round(sharper(Y, [[1.0], [0.0]]).item(), 6)
    0.302776
    """
    Y, basis = checks.matrices(Y, "Y"), checks.matrices(basis, "basis")
    inside = Y @ basis
    outside = Y - inside @ basis.mT
    off, on = _norm(outside), _value(inside, basis.shape[-1])
    c = _norm(torch.linalg.qr(inside).Q.mT @ outside)
    # tan(φ/2) = sin φ/(1 + cos φ), with tan φ = opposite/adjacent.
    opposite, adjacent = 2 * on * c, on**2 - off**2
    hypotenuse = torch.sqrt(opposite**2 + adjacent**2)
    bound = opposite / (hypotenuse + adjacent).clamp_min(1e-300)
    return torch.where(on > off, bound, torch.inf)


@dataclass(frozen=True)
class Layer:
    r"""One layer on clean and noisy data; bases (..., n, r), values (...).

    star, x, wx_star, wx, y: bases of the principal row spaces; output: Y; epsilon: the smallest
    entry of :math:`P(X^*)` on its support; gap_x, gap_wx, gap_y: the three gaps of Theorem 3.1;
    noise, mapped_noise, cut: :math:`\|Z\|`, :math:`\|WZ\|`, :math:`\|Y-WX\|`; change:
    :math:`\|Y-WX^*\|`; signal: :math:`\sigma_r(WX^*)`; off, on: the two sides of q.
    """

    star: Tensor
    x: Tensor
    wx_star: Tensor
    wx: Tensor
    y: Tensor
    output: Tensor
    epsilon: Tensor
    gap_x: Tensor
    gap_wx: Tensor
    gap_y: Tensor
    noise: Tensor
    mapped_noise: Tensor
    cut: Tensor
    change: Tensor
    signal: Tensor
    off: Tensor
    on: Tensor

    @property
    def delta(self) -> Tensor:
        """The smallest of the three gaps."""
        return torch.minimum(torch.minimum(self.gap_x, self.gap_wx), self.gap_y)

    @property
    def error(self) -> Tensor:
        """The largest of the three sizes on the right of (2)."""
        return torch.maximum(torch.maximum(self.noise, self.mapped_noise), self.cut)

    @property
    def eta(self) -> Tensor:
        """The right side of (2), with the paper's constant."""
        return (128 * self.star.shape[-1]) ** 0.5 * self.error / self.epsilon

    @property
    def q(self) -> Tensor:
        """The ratio of the tangent bound; infinite where its denominator vanishes."""
        return torch.where(self.on > 0, self.off / self.on.clamp_min(1e-300), torch.inf)

    def where(self, mask: Tensor) -> Layer:
        """Only the instances that ``mask`` (...) admits."""
        return Layer(**{name: value[mask] for name, value in vars(self).items()})


def layer(
    clean: ArrayLike,
    noise: ArrayLike,
    W: ArrayLike,
    r: int,
    *,
    activation: Callable[[Tensor], Tensor] = torch.relu,
) -> Layer:
    """Measure a layer: ``clean`` and ``noise`` (..., m, n), ``W`` (..., h, m).

    ``r`` is the dimension of the row space looked at; h, m and n must be at least that.

    Examples
    --------
    >>> eye = torch.eye(2, dtype=torch.float64)
    >>> X = torch.tensor([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]], dtype=torch.float64)
    >>> found = layer(X, torch.zeros_like(X), eye, 2)
    >>> round(found.epsilon.item(), 6), round((found.y @ found.y.mT)[0, 1].item(), 6)
    (0.333333, -0.333333)
    """
    clean, noise = checks.matrices(clean, "clean"), checks.matrices(noise, "noise")
    W = checks.matrices(W, "W")
    X = clean + noise
    A, A_star = W @ X, W @ clean
    Y = activation(A)
    star, x, wx_star, wx, y = (
        subspaces.principal_rows(M, r, method="svd") for M in (clean, X, A_star, A, Y)
    )
    off, on = tangent_ratio(Y, star)
    return Layer(
        star=star, x=x, wx_star=wx_star, wx=wx, y=y, output=Y,
        epsilon=clusters.smallest_on_support(star @ star.mT, zero=1e-9),
        gap_x=subspaces.gap(clean, X, r),
        gap_wx=subspaces.gap(A_star, A, r),
        gap_y=subspaces.gap(Y, A, r),
        noise=_norm(noise), mapped_noise=_norm(W @ noise), cut=_norm(Y - A),
        change=_norm(Y - A_star), signal=_value(A_star, r), off=off, on=on,
    )  # fmt: skip
