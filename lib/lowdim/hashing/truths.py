r"""Ground truths: networks that know the name γ of every manifold, and what their weights cost.

Manifolds are linear, :math:`x=P\gamma+Q\theta` with :math:`\gamma=c\,\Pi x` and :math:`c^2=2`; the
random layer is infinitely wide and has a bias. A representation of names is :math:`\psi(\gamma)`
with :math:`\langle\psi(u),\psi(v)\rangle=\langle u,v\rangle^p` (the paper's), or
:math:`(\frac{1+\langle u,v\rangle}2)^p` (the repaired one).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import comb
from typing import NamedTuple

import numpy as np
import torch
from matplotlib.figure import Figure
from torch import Tensor

from lowdim.data import manifolds
from lowdim.evidence import plots
from lowdim.hashing import factored, kernels, separation

__all__ = [
    "LEVELS", "Data", "Price", "Sample", "code", "degree", "hashing", "least_norm", "norms",
    "picture", "printed_norm", "repaired_norm",
]  # fmt: skip

LEVELS = (0.3, 0.2, 0.1, 0.05, 0.02, 0.01, 0.003, 0.001)
LENGTH = 2.0  # c²: γ is half of the squared length of a point


class Sample(NamedTuple):
    """Points as columns X (d, m n), their labels (m n,), and the names gamma (m, s)."""

    X: Tensor
    labels: Tensor
    gamma: Tensor

    @property
    def features(self) -> Tensor:
        """Features (m n, m n) with the inner products that an infinitely wide layer gives."""
        return kernels.square_root(kernels.gram(self.X, bias=True))


@dataclass(frozen=True)
class Data:
    """Which data: m ``classes`` with ``points`` each, γ in ``latent``, θ in ``place`` dimensions.

    ``tau`` is the largest inner product of two names; None allows all.
    """

    classes: int = 10
    points: int = 8
    latent: int = 4
    place: int = 3
    tau: float | None = 0.5
    seed: int = 0

    def draw(self, *, first_manifold: int = 0, first_point: int = 0) -> Sample:
        """The points from so many on, on the manifolds from so many on.

        Examples
        --------
        >>> sample = Data(classes=3, points=2).draw()
        >>> tuple(sample.X.shape), sample.labels.tolist()
        ((7, 6), [0, 0, 1, 1, 2, 2])
        """
        family = manifolds.LinearFamily(
            ambient=self.latent + self.place,
            s=self.latent,
            k=self.place,
            tau=self.tau,
            seed=self.seed,
        )
        D = family.draw(
            m=self.classes,
            n=self.points,
            first_manifold=first_manifold,
            first_point=first_point,
        )
        return Sample(*factored.columns(D.X), D.gamma)


def least_norm(Z: Tensor, labels: Tensor, eps: float, *, steps: int = 14) -> float:
    r"""The least :math:`\|B\|_F^2` with :math:`\|A\|_F^2\le m` and a loss of at most ``eps``.

    It is :math:`\|W\|_*^2/m` where the path of penalties has that loss, found by so many halvings;
    Z (D, N) are features with their labels (N,).

    Examples
    --------
    >>> Z = torch.eye(2, dtype=torch.float64)
    >>> abs(least_norm(Z, torch.tensor([0, 1]), 1e-6) - 2) < 0.01  # W is nearly the identity
    True
    """
    low, high = -7.0, 0.0

    def at(exponent: float) -> factored.Minimum:
        lam = 10**exponent
        return factored.convex(factored.problem(Z, labels, lam, lam), goal=1e-6)

    for _ in range(steps):
        mid = (low + high) / 2
        low, high = (mid, high) if float(at(mid).loss) < eps else (low, mid)
    return float(torch.linalg.svdvals(at(low).W).sum()) ** 2 / (int(labels.max()) + 1)


def degree(eps: object, base: object) -> Tensor:
    r"""The least whole :math:`p\ge1` with :math:`\mathrm{base}^p\le\sqrt{2\varepsilon}`, (...).

    A code whose inner products are at most :math:`\mathrm{base}^p` then has a loss of at most ε.

    Raises
    ------
    ValueError
        If a base is not between 0 and 1, or an ``eps`` not above 0.

    Examples
    --------
    >>> degree([0.01, 0.5], 0.5).tolist()
    [3.0, 1.0]
    """
    eps, base = (torch.as_tensor(v, dtype=torch.float64) for v in (eps, base))
    if not (bool((eps > 0).all()) and bool(((base > 0) & (base < 1)).all())):
        raise ValueError("degree needs eps above 0 and bases between 0 and 1; some are not.")
    # An exact power must not be missed by its last digit.
    return (torch.log(1 / (2 * eps).sqrt()) / torch.log(1 / base) - 1e-12).ceil().clamp_min(1)


class Price(NamedTuple):
    """Degree p of a construction, its ‖B*‖² (or a bound on it), and a simpler bound."""

    degree: int
    norm: float
    bound: float


def printed_norm(eps: float, s: int, tau: float) -> Price:
    r"""The paper's construction: :math:`\|B^*\|_F^2` by Lemma 26, and :math:`p^2(cs)^{2p}`.

    Examples
    --------
    >>> printed_norm(0.1, 3, 0.5).degree
    2
    """
    p = int(degree(eps, tau))
    q = float(kernels.power_series("relu", p, bias=True)[p])
    norm = LENGTH**p * comb(p + s - 1, p) / q
    return Price(p, norm, p**2 * (LENGTH**0.5 * s) ** (2 * p))


def repaired_norm(eps: float, s: int, tau: float) -> Price:
    r"""The repaired construction: the sum over degrees that bounds it, and a simpler bound.

    Examples
    --------
    >>> price = repaired_norm(0.1, 3, 0.5)
    >>> price.degree, price.norm < price.bound
    (3, True)
    """
    p = int(degree(eps, (1 + tau) / 2))
    q = [float(x) for x in kernels.power_series("relu", p, bias=True)]
    parts = (comb(p, k) / 2**p * LENGTH**k * comb(k + s - 1, k) / q[k] for k in range(p + 1))
    return Price(p, sum(parts), ((1 + LENGTH * s) / 2) ** p / min(q))


def code(gamma: Tensor, p: int) -> Tensor:
    r"""Representations :math:`\psi(\gamma)`, (m, (s + 1)^p), of names (m, s).

    They are p-fold tensor powers of :math:`(1,\gamma)/\sqrt2`, so that
    :math:`\langle\psi(u),\psi(v)\rangle=(\frac{1+\langle u,v\rangle}2)^p`.

    Examples
    --------
    >>> psi = code(torch.eye(2, dtype=torch.float64), 3)
    >>> (psi @ psi.mT).round(decimals=9).tolist()
    [[1.0, 0.125], [0.125, 1.0]]
    """
    v = torch.cat([torch.ones_like(gamma[:, :1]), gamma], 1) / 2**0.5
    out = torch.ones_like(gamma[:, :1])
    for _ in range(p):
        out = (out[:, :, None] * v[:, None, :]).flatten(1)
    return out


@lru_cache(maxsize=16)
def norms(data: Data, levels: Sequence[float] = LEVELS) -> dict[str, np.ndarray]:
    """‖B‖² at each level ε of the loss: needed on data, the paper's, its bound, the repaired one.

    They are kept, so that a figure and a sentence about the same ones cost no more than one.

    Raises
    ------
    ValueError
        If ``data`` has no tau.

    Examples
    --------
    >>> found = norms(Data(classes=3, points=2), (0.1,))
    >>> bool(found["needed on the data"] < found["repaired $B^*$"])
    True
    """
    if data.tau is None:
        raise ValueError("a construction needs to know tau; this data has none.")
    sample = data.draw()
    Z = sample.features
    printed = [printed_norm(e, data.latent, data.tau) for e in levels]
    return {
        "needed on the data": np.array([least_norm(Z, sample.labels, e) for e in levels]),
        "the paper's $B^*$": np.array([price.norm for price in printed]),
        "the paper's bound": np.array([price.bound for price in printed]),
        "repaired $B^*$": np.array([repaired_norm(e, data.latent, data.tau).norm for e in levels]),
    }


def picture(levels: Sequence[float], curves: Mapping[str, np.ndarray]) -> Figure:
    """Norms (len(levels),) of :func:`norms` against the loss, which falls to the right.

    Examples
    --------
    >>> fig = picture([0.1, 0.01], {"needed on the data": np.array([1.0, 2.0])})
    >>> bool(fig.axes[0].xaxis_inverted())
    True
    """
    fig, ax = plots.figure(7, 3.5)
    marks = (("o-", 6), ("s--", 4), (":", 6), ("^-.", 4))
    for (name, y), (mark, size) in zip(curves.items(), marks, strict=False):
        ax.loglog(levels, y, mark, ms=size, label=name)
    ax.invert_xaxis()
    ax.set(xlabel=r"loss $\varepsilon$", ylabel=r"$\|B\|_F^2$")
    plots.legend(ax)
    return fig


def hashing(
    psi: Tensor, labels: Tensor, r: Tensor, fresh: Tensor, unseen: Tensor
) -> tuple[float, ...]:
    """How a network with the readout psi (m, T) does, from its representations of three samples.

    ``r`` (T, N) are those of training points with ``labels`` (N,), ``fresh`` (T, N) of new points
    of the same manifolds, ``unseen`` (m', n, T) of new manifolds. Returned are the loss on both,
    the variance within training manifolds, and on new ones the largest variance and the least mean
    square between two.

    Examples
    --------
    >>> eye = torch.eye(2, dtype=torch.float64)
    >>> found = hashing(eye, torch.tensor([0, 1]), eye, 0 * eye, torch.stack([eye, eye + 3]))
    >>> [round(v, 9) for v in found]
    [0.0, 0.5, 0.0, 0.5, 19.0]
    """
    losses = (float(factored.weighted_loss(psi @ part, labels)) for part in (r, fresh))
    apart = ~torch.eye(len(unseen), dtype=torch.bool)
    return (
        *losses,
        float(factored.within_variance(r, labels)),
        float(separation.intra(unseen).max()),
        float(separation.inter(unseen)[apart].min()),
    )
