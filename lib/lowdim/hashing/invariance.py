r"""Symmetric data above an infinitely wide random ReLU layer: orbits, averages, exact fits.

The layer has the kernel :math:`K(x,y)=\mathbb E[\sigma(c\cdot x)\sigma(c\cdot y)]`, which no
rotation changes. So a rotation g acts on the features by an isometry, and the mean over a group is
an orthogonal projector :math:`\Pi` there, with the kernel :math:`\int K(x,gy)\,dg`. Here the group
turns the k directions of :math:`\theta` in :math:`x=P\gamma+Q\theta`: its orbits are the spheres
on which a linear manifold of unit vectors lies.

Columns are samples, as in :mod:`lowdim.hashing.kernels` and :mod:`lowdim.hashing.factored`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from scipy.special import roots_jacobi
from torch import Tensor

from lowdim import checks
from lowdim.checks import ArrayLike
from lowdim.data import manifolds
from lowdim.data.manifolds import Manifolds
from lowdim.hashing import factored, kernels, separation

__all__ = [
    "Split", "WideFit", "asymmetry", "fit_wide", "linear_split", "orbit_gram", "sphere_rule",
    "stability", "symmetric_cost",
]  # fmt: skip


def sphere_rule(k: int, *, nodes: int = 256) -> tuple[Tensor, Tensor]:
    """Nodes and weights, (nodes,) each, for the first coordinate of a uniform unit vector in R^k.

    For k = 1 the two points ±1; for k = 2 equal weights at equal angles; else Gauss and Jacobi.

    Raises
    ------
    ValueError
        If k or ``nodes`` is not a whole number of 1 or more.

    Examples
    --------
    >>> t, w = sphere_rule(5)
    >>> round(float(w.sum()), 12), round(float((w * t**2).sum()), 12)
    (1.0, 0.2)
    """
    checks.whole(k, "k", 1)
    checks.whole(nodes, "nodes", 1)
    if k == 1:
        t, w = np.array([-1.0, 1.0]), np.ones(2)
    elif k == 2:
        t, w = np.cos(np.pi * (np.arange(nodes) + 0.5) / nodes), np.ones(nodes)
    else:
        t, w = roots_jacobi(nodes, (k - 3) / 2, (k - 3) / 2)
    return torch.from_numpy(t), torch.from_numpy(w / w.sum())


def orbit_gram(X: ArrayLike, Y: ArrayLike, Q: ArrayLike, *, nodes: int = 256) -> Tensor:
    """The ReLU kernel of X (d, N) and Y (d, M), averaged over all rotations of one side: (N, M).

    The rotations (and reflections) act on the range of Q (d, k), whose columns are orthonormal, and
    leave its complement alone.

    Raises
    ------
    ValueError
        If dimensions disagree, Q is not orthonormal or a column of X or Y is zero.

    Examples
    --------
    >>> X = torch.tensor([[0.6, 0.6], [0.8, 0.0], [0.0, 0.8]], dtype=torch.float64)
    >>> Q = torch.eye(3, dtype=torch.float64)[:, 1:]
    >>> K = orbit_gram(X, X, Q)
    >>> bool((K - K[0, 0]).abs().max() < 1e-12), bool(K[0, 0] < kernels.gram(X)[0, 0])
    (True, True)
    """
    X, Y, Q = (checks.matrices(M, n).double() for M, n in ((X, "X"), (Y, "Y"), (Q, "Q")))
    if not X.shape[-2] == Y.shape[-2] == Q.shape[-2]:
        raise ValueError(
            "X, Y and Q need as many rows as each other; their shapes are "
            f"{tuple(X.shape)}, {tuple(Y.shape)} and {tuple(Q.shape)}."
        )
    k = Q.shape[-1]
    if float((Q.mT @ Q - torch.eye(k).double()).abs().max()) > 1e-9:
        raise ValueError("Q needs orthonormal columns; QᵀQ is not the identity.")
    still = X.mT @ Y - (Q.mT @ X).mT @ (Q.mT @ Y)
    turned = (Q.mT @ X).norm(dim=0)[:, None] * (Q.mT @ Y).norm(dim=0)
    size = X.norm(dim=0)[:, None] * Y.norm(dim=0)
    if not float(size.min()) > 0:
        raise ValueError("a kernel of directions needs columns that are not zero; one is.")
    relu, total = kernels.dual("relu"), torch.zeros_like(size)
    for t, w in zip(*(v.tolist() for v in sphere_rule(k, nodes=nodes)), strict=True):
        total += w * relu(((still + t * turned) / size).clamp(-1, 1))
    return size * total


@dataclass(frozen=True)
class WideFit:
    """A minimum of the objective at infinite width: the representation is r(x) = C K(X, x).

    X: (d, N) training columns; labels: (N,); A: (m, T); C: (T, N); lam1, lam2, variance: penalties;
    loss, gap: the weighted square loss, and by how much the objective exceeds its minimum at most;
    singular: (T,) the singular values of W = AB, largest first.
    """

    X: Tensor
    labels: Tensor
    A: Tensor
    C: Tensor
    lam1: float
    lam2: float
    variance: float
    loss: float
    gap: float
    singular: Tensor

    def __call__(self, X: ArrayLike) -> Tensor:
        """The representation (..., M, T) of points X (..., M, d), one in each row.

        Examples
        --------
        >>> X = torch.eye(2, dtype=torch.float64)
        >>> fit = fit_wide(X, [0, 1], 0.001, 0.001)
        >>> (fit(X.T) @ fit.A.T).round(decimals=1).tolist()
        [[1.0, 0.0], [0.0, 1.0]]
        """
        X = checks.matrices(X, "X").double()
        flat = X.reshape(-1, X.shape[-1]).mT
        return (self.C @ kernels.gram(self.X, flat)).mT.reshape(*X.shape[:-1], -1)

    def distances(self, X: ArrayLike) -> tuple[float, float]:
        """Variance within and mean squared distance between the manifolds of points X (m, n, d).

        Both are means, over manifolds and over pairs of them.

        Examples
        --------
        >>> X = torch.eye(2, dtype=torch.float64)
        >>> within, between = fit_wide(X, [0, 1], 0.001, 0.001).distances(X[:, None])
        >>> within, between > 1
        (0.0, True)
        """
        R = self(X)
        between = separation.inter(R)[~torch.eye(len(R), dtype=torch.bool)]
        return float(separation.intra(R).mean()), float(between.mean())


def fit_wide(
    X: ArrayLike,
    labels: ArrayLike,
    lam1: float,
    lam2: float,
    *,
    variance: float = 0.0,
    goal: float = 1e-9,
) -> WideFit:
    """Train A and B above an infinitely wide ReLU layer to the global minimum.

    X: (d, N), one training point in each column; ``variance`` multiplies the variance penalty (0:
    none, 1: the paper's). Any B sees the data only through their span, so that the root of the
    kernel matrix serves as features and the problem is finite.

    Raises
    ------
    ValueError
        As :func:`lowdim.hashing.factored.problem`, or if a column of X is zero.

    Examples
    --------
    >>> fit = fit_wide([[1.0, 0.0], [0.0, 1.0]], [0, 1], 1e-3, 1e-3)
    >>> fit.loss < 1e-4, fit.gap < 1e-8
    (True, True)
    """
    X = checks.matrices(X, "X").double()
    K = kernels.gram(X)
    values, U = torch.linalg.eigh(K)
    keep = values > values[-1] * len(K) * torch.finfo(torch.float64).eps
    root, U = values[keep].sqrt(), U[:, keep]
    p = factored.problem(root[:, None] * U.mT, labels, lam1, lam2, variance=variance)
    found = factored.descend(p, goal=goal * (lam1 * lam2) ** 0.5)
    C = found.B / root @ U.mT
    return WideFit(
        X, torch.as_tensor(labels), found.A, C, float(lam1), float(lam2), float(variance),
        float(found.loss), float(found.gap), torch.linalg.svdvals(found.A @ found.B),
    )  # fmt: skip


def asymmetry(fit: WideFit, Q: ArrayLike, *, nodes: int = 256) -> float:
    """The squared norm of B(1 − Π): how much of B is not invariant under rotations of range Q.

    Examples
    --------
    >>> X = torch.tensor([[0.6, 0.6, -0.6, -0.6], [0.8, -0.8, 0.8, -0.8]], dtype=torch.float64)
    >>> fit = fit_wide(X, [0, 0, 1, 1], 0.01, 0.01)
    >>> asymmetry(fit, torch.eye(2).double()[:, 1:]) < 1e-12
    True
    """
    gap = kernels.gram(fit.X) - orbit_gram(fit.X, fit.X, Q, nodes=nodes)
    return max(0.0, float(((fit.C @ gap) * fit.C).sum()))


def stability(fit: WideFit, Q: ArrayLike, *, nodes: int = 256) -> tuple[float, float]:
    r"""Two bounds on the norm of B(1 − Π) at a minimum without variance penalty.

    With the symmetric part :math:`\bar f` of the outputs, the residual :math:`e_l` that it leaves
    on manifold l, the weights :math:`w_l^2` and the deviation :math:`\delta_l` of the mean feature
    of l's samples from that of its orbit, the first is the norm of
    :math:`\frac1{m\lambda_2}\sum_lA^\top(w_l^2e_l)\,\delta_l^\top`, the second
    :math:`\frac1{m\lambda_2}\sum_l\|A^\top(w_l^2e_l)\|\|\delta_l\|`.

    Each manifold's samples must lie in one orbit.

    Raises
    ------
    ValueError
        If the fit has a variance penalty, or samples of one manifold are on different orbits.

    Examples
    --------
    >>> X = torch.tensor([[0.6, -0.6, -0.6], [0.8, 0.8, -0.8]], dtype=torch.float64)
    >>> fit, Q = fit_wide(X, [0, 1, 1], 0.01, 0.01), torch.eye(2).double()[:, 1:]
    >>> joint, split = stability(fit, Q)
    >>> asymmetry(fit, Q) ** 0.5 <= joint <= split
    True
    """
    if fit.variance:
        raise ValueError(f"stability is for fits without penalty; variance = {fit.variance}.")
    own = torch.nn.functional.one_hot(fit.labels).double()  # (N, m)
    share = own / own.sum(0)
    m = own.shape[1]
    orbit = orbit_gram(fit.X, fit.X, Q, nodes=nodes)
    means = fit.A @ fit.C @ orbit  # (m, N), the symmetric part of the outputs
    level = means @ share
    if float((means - level[:, fit.labels]).abs().max()) > 1e-6 * (1 + float(means.abs().max())):
        raise ValueError("the samples of a manifold lie on different orbits.")
    residual = torch.eye(m).double() - level  # column l: e_l
    weights = torch.where(torch.eye(m) > 0, 0.5, 0.5 / (m - 1)).double()
    left = fit.A.mT @ (weights * residual) / (m * fit.lam2)  # (T, m)
    gram = share.mT @ (kernels.gram(fit.X) - orbit) @ share  # ⟨δ_l, δ_j⟩
    joint = float(((left @ gram) * left).sum().clamp_min(0)) ** 0.5
    split = float((left.norm(dim=0) * gram.diagonal().clamp_min(0).sqrt()).sum())
    return joint, split


def symmetric_cost(X: ArrayLike, Q: ArrayLike, *, nodes: int = 256) -> float:
    r"""The least β for a ground truth with L = 0, V = 0, \|A\|² = m and \|B\|² = β.

    X: (d, m), one point of each manifold; Q as in :func:`orbit_gram`. An invariant B sees manifold
    l as one feature vector, and one-hot outputs need :math:`W=G^{-1/2}` with the averaged kernel
    matrix G; then :math:`\beta=(\operatorname{tr}G^{-1/2})^2/m`.

    Raises
    ------
    ValueError
        As :func:`orbit_gram`, or if two manifolds coincide.

    Examples
    --------
    >>> X = torch.tensor([[0.6, -0.6], [0.8, 0.8]], dtype=torch.float64)
    >>> beta = symmetric_cost(X, torch.eye(2).double()[:, 1:])
    >>> round(beta, 2)
    7.64
    """
    values = torch.linalg.eigvalsh(orbit_gram(X, X, Q, nodes=nodes))
    if not float(values[0]) > 1e-12 * float(values[-1]):
        raise ValueError("two of the manifolds coincide; no network can tell them apart.")
    return float(values.rsqrt().sum() ** 2 / len(values))


@dataclass(frozen=True)
class Split:
    """Linear manifolds to train on, fresh points of the same ones, and manifolds never seen.

    Q: (d, k), a basis of the directions of θ; beta: :func:`symmetric_cost` of the training ones.
    """

    train: Manifolds
    fresh: Manifolds
    unseen: Manifolds
    Q: Tensor
    beta: float

    @property
    def columns(self) -> tuple[Tensor, Tensor]:
        """Training points (d, m n), one in each column, and their labels (m n,)."""
        return factored.columns(self.train.X)


def linear_split(
    *,
    m: int,
    n: int,
    s: int,
    k: int,
    tau: float,
    held: int = 40,
    unseen: int = 20,
    constant: float = 0.0,
    seed: int = 0,
    trial: int = 0,
) -> Split:
    """Unit vectors on m τ-separated linear manifolds in s + k dimensions, θ uniform on its sphere.

    The fresh points are ``held`` for each manifold; the ``unseen`` manifolds are drawn uniformly,
    without regard to τ. A ``constant`` other than 0 is appended to every point as one more entry.

    Raises
    ------
    ValueError
        As :class:`lowdim.data.manifolds.LinearFamily`.

    Examples
    --------
    >>> D = linear_split(m=4, n=5, s=3, k=2, tau=0.5)
    >>> tuple(D.columns[0].shape), tuple(D.fresh.X.shape), tuple(D.unseen.X.shape)
    ((5, 20), (4, 40, 5), (20, 40, 5))
    """
    anywhere = manifolds.LinearFamily(ambient=s + k, s=s, k=k, seed=seed, trial=trial)
    apart = replace(anywhere, tau=tau)
    drawn = [
        apart.draw(m=m, n=n),
        apart.draw(m=m, n=held, first_point=n),
        anywhere.draw(m=unseen, n=held, first_point=n, first_manifold=m),
    ]
    Q = torch.linalg.qr(drawn[0].W[0])[0]
    if constant:
        drawn = [
            replace(D, X=torch.cat([D.X, torch.full_like(D.X[..., :1], constant)], -1))
            for D in drawn
        ]
        Q = torch.cat([Q, torch.zeros_like(Q[:1])])
    train, fresh, others = drawn
    return Split(train, fresh, others, Q, symmetric_cost(train.X[:, 0].mT, Q))
