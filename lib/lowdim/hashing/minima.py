r"""Minima at infinite width, and all that is said of them: losses, norms, variances, distances.

The data are linear manifolds (:class:`lowdim.hashing.vanishing.Data`), or two manifolds on a circle
where the position :math:`\theta` is tied to the name :math:`\gamma`. The penalties are
:math:`\lambda_1=\varepsilon/m` and :math:`\lambda_2=\varepsilon/\beta`, so that a fit tells its
:math:`\varepsilon` and :math:`\beta`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from lowdim.hashing import factored, invariance, kernels, separation, vanishing
from lowdim.hashing.invariance import Split, WideFit

__all__ = [
    "Minima", "enough", "identity", "measured", "spreads", "steadiness", "sweep", "two_manifolds",
    "variant",
]  # fmt: skip


@dataclass(frozen=True)
class Minima:
    """What is measured at so many minima, (instances,) each; ``vars`` of it is a case to attack.

    epsilon, beta, classes: of the objective; loss: the weighted square loss; A2, B2: squared norms;
    ratio: λ₁/λ₂; V_r, V_y, V_z: variance within classes of representations, outputs and features of
    the training samples; apart: mean squared distance of representations of different classes.
    """

    epsilon: Tensor
    beta: Tensor
    classes: Tensor
    loss: Tensor
    A2: Tensor
    B2: Tensor
    ratio: Tensor
    V_r: Tensor
    V_y: Tensor
    V_z: Tensor
    apart: Tensor

    @property
    def objective(self) -> Tensor:
        """The loss and both penalties, (instances,)."""
        return self.loss + self.epsilon * (self.A2 / self.classes + self.B2 / self.beta)


def _one(fit: WideFit) -> tuple[float, ...]:
    """The numbers of :class:`Minima` at one minimum, in the order of its fields."""
    K, m = kernels.gram(fit.X), len(fit.A)
    R = fit.C @ K
    V_r, V_y, V_z = (
        float(factored.within_variance(values, fit.labels))
        for values in (R, fit.A @ R, kernels.square_root(K))
    )
    table = separation.inter(R.mT.reshape(m, -1, len(R)))
    epsilon = fit.lam1 * m
    return (
        epsilon, epsilon / fit.lam2, m, fit.loss, float(fit.A.square().sum()),
        float((R * fit.C).sum()), fit.lam1 / fit.lam2, V_r, V_y, V_z,
        float(table[~torch.eye(m, dtype=torch.bool)].mean()),
    )  # fmt: skip


def measured(fits: Sequence[WideFit]) -> Minima:
    """All quantities at these minima; classes are in order and of one size.

    Examples
    --------
    >>> q = measured([two_manifolds(0.6), two_manifolds(0.3)])
    >>> q.epsilon.round(decimals=9).tolist(), bool((q.loss <= q.objective).all())
    ([0.18, 0.18], True)
    """
    return Minima(*torch.tensor([_one(fit) for fit in fits], dtype=torch.float64).T)


def two_manifolds(
    g: float,
    *,
    many: int = 18,
    copies: int = 20,
    constant: float = 0.0,
    variance: float = 0.0,
    level: float = 2.0,
) -> WideFit:
    """The minimum for γ' = ±g when θ' has the sign of γ' on ``many`` of ``copies`` samples.

    Four places on the circle; with p = many/copies, ε is ``level`` times p(1-p), and β is the
    cheapest exact ground truth. A ``constant`` other than 0 is appended to every point;
    ``variance`` weighs the variance penalty (the paper's is 1).

    Raises
    ------
    ValueError
        If ``many`` is not between 1 and ``copies`` - 1, where ε would vanish.

    Examples
    --------
    >>> fit = two_manifolds(0.1)
    >>> tuple(fit.X.shape), round(2 * fit.lam1, 9)
    ((2, 40), 0.18)
    """
    if not 0 < many < copies:
        raise ValueError(
            f"many must be between 1 and copies - 1; you gave many = {many}, copies = {copies}."
        )
    a, rest = (1 - g * g) ** 0.5, copies - many
    rows = [[g, a]] * many + [[g, -a]] * rest + [[-g, -a]] * many + [[-g, a]] * rest
    X = torch.tensor(rows, dtype=torch.float64)
    if constant:
        X = torch.cat([X, torch.full_like(X[:, :1], constant)], 1)
    p, Q = many / copies, torch.eye(X.shape[1], dtype=torch.float64)[:, 1:2]
    epsilon = level * p * (1 - p)
    beta = invariance.symmetric_cost(X[[0, copies]].mT, Q)
    labels = torch.arange(2).repeat_interleave(copies)
    return invariance.fit_wide(X.mT, labels, epsilon / 2, epsilon / beta, variance=variance)


def identity(D: Split, fit: WideFit) -> tuple[float, float]:
    r"""Both sides of the identity in B at a minimum without variance penalty.

    :math:`\lambda_2\|B(1-\Pi)\|^2` and the mean weighted square of the outputs of
    :math:`B(1-\Pi)`, against :math:`\frac1m\sum_l\langle w_l^2e_l,AB\delta_l\rangle`, with the
    names of :func:`lowdim.hashing.invariance.stability`.

    Examples
    --------
    >>> left, right = identity(*vanishing.minimum(vanishing.Data(classes=3, points=4), 0, 0.1))
    >>> abs(left - right) < 1e-5 * left
    True
    """
    own = torch.nn.functional.one_hot(fit.labels).double()
    share, m = own / own.sum(0), own.shape[1]
    K, G = kernels.gram(fit.X), invariance.orbit_gram(fit.X, fit.X, D.Q)
    eye = torch.eye(m, dtype=torch.float64)
    weights = 0.5 * eye + (1 - eye) * (0.5 / (m - 1))
    outputs = fit.A @ fit.C @ (K - G)
    residual = eye - fit.A @ fit.C @ G @ share
    second = (weights[:, fit.labels] * outputs**2).sum(0) @ share
    left = fit.lam2 * ((fit.C @ (K - G)) * fit.C).sum() + second.mean()
    return float(left), float((weights * residual * (outputs @ share)).sum() / m)


def steadiness(D: Split, fit: WideFit) -> tuple[float, float, float, float, float]:
    r"""V on the worst unseen manifold, and the four bounds above it, one looser than the other.

    :math:`\|B(1-\Pi)\|^2V(\phi)`, the same with the two bounds of
    :func:`lowdim.hashing.invariance.stability` for the norm, and half the square of the last.

    Examples
    --------
    >>> found = steadiness(*vanishing.minimum(vanishing.Data(classes=3, points=4), 0, 0.1))
    >>> list(found) == sorted(found)
    True
    """
    size = invariance.asymmetry(fit, D.Q)
    joint, split = invariance.stability(fit, D.Q)
    worst = float(separation.intra(fit(D.unseen.X)).max())
    x = D.unseen.X[:1, 0].mT
    own = float(kernels.gram(x) - invariance.orbit_gram(x, x, D.Q))
    return worst, size * own, joint**2 * own, split**2 * own, split**2 / 2


def spreads(D: Split, fit: WideFit) -> tuple[float, float, float, float, float]:
    """V on training, fresh and unseen points, squared distance of training manifolds, ρ of unseen.

    Examples
    --------
    >>> found = spreads(*vanishing.minimum(vanishing.Data(classes=3, points=4), 0, 0.1))
    >>> found[0] < found[3]
    True
    """
    seen, apart = fit.distances(D.train.X)
    unseen, between = fit.distances(D.unseen.X)
    return seen, fit.distances(D.fresh.X)[0], unseen, apart, between / unseen


def sweep(cases: Sequence[tuple[vanishing.Data, float, float | None]], *, draws: int) -> np.ndarray:
    """The numbers of :func:`spreads` for each draw and case: (draws, len(cases), 5).

    A case is the data, ε and β; where β is None it is the cheapest ground truth of the draw.

    Examples
    --------
    >>> sweep([(vanishing.Data(classes=3, points=n), 0.1, None) for n in (4, 8)], draws=2).shape
    (2, 2, 5)
    """

    def one(data: vanishing.Data, epsilon: float, beta: float | None, trial: int) -> tuple:
        if beta is None:
            return spreads(*vanishing.minimum(data, trial, epsilon))
        split = (epsilon / data.classes, epsilon / beta)
        return spreads(*vanishing.minimum(data, trial, split=split))

    return np.array([[one(*case, trial) for case in cases] for trial in range(draws)])


def enough(
    data: vanishing.Data, epsilon: float, tried: Sequence[int], *, draws: int = 3
) -> int | None:
    """The first number of samples for which V ≤ ε on new manifolds, the median over draws; or None.

    Examples
    --------
    >>> enough(vanishing.Data(classes=3), 0.1, (2, 32), draws=1) in (2, 32)
    True
    """
    for n in tried:
        fits = (vanishing.minimum(replace(data, points=n), t, epsilon) for t in range(draws))
        if np.median([fit.distances(D.unseen.X)[0] for D, fit in fits]) <= epsilon:
            return n
    return None


def variant(
    data: vanishing.Data,
    epsilon: float,
    *,
    constant: float = 0.0,
    variance: float = 0.0,
    draws: int = 3,
) -> tuple[float, float, float]:
    """V on training points, V on new manifolds and β, medians over draws.

    A ``constant`` other than 0 is appended to every point; ``variance`` weighs the variance
    penalty.

    Examples
    --------
    >>> seen, unseen, beta = variant(vanishing.Data(classes=3, points=4), 0.1, draws=1)
    >>> seen < unseen
    True
    """
    rows = []
    for trial in range(draws):
        D = data.draw(trial, constant=constant)
        weights = epsilon / data.classes, epsilon / D.beta
        fit = invariance.fit_wide(*D.columns, *weights, variance=variance)
        rows.append((fit.distances(D.train.X)[0], fit.distances(D.unseen.X)[0], D.beta))
    seen, unseen, beta = np.median(rows, axis=0).tolist()
    return seen, unseen, beta
