r"""Minima as the regularization goes to zero: on training samples, new points and new manifolds.

Data are linear manifolds (:func:`lowdim.hashing.invariance.linear_split`), the layer is infinitely
wide, and :math:`\lambda_1=\varepsilon/m`, :math:`\lambda_2=\varepsilon/\beta` as in the paper, with
:math:`\beta` the cheapest exact ground truth. Labels say the manifold, or are drawn by lot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from lowdim.hashing import factored, invariance, kernels
from lowdim.seeds import generator

__all__ = [
    "EPSILONS", "Data", "Path", "at_width", "between", "curves", "four_points", "minimum", "path",
    "paths", "together",
]  # fmt: skip

EPSILONS = (0.1, 0.03, 0.01, 0.003, 0.001, 0.0003, 0.0001)


@dataclass(frozen=True)
class Data:
    """Which data: m ``classes`` with ``points`` samples, γ in ``latent``, θ in ``moves`` dims."""

    classes: int = 5
    points: int = 10
    latent: int = 3
    moves: int = 6
    tau: float = 0.5
    seed: int = 0

    def draw(self, trial: int, *, constant: float = 0.0) -> invariance.Split:
        """The data of one trial; a ``constant`` other than 0 is appended to every point.

        Examples
        --------
        >>> tuple(Data(classes=3, points=4).draw(0).columns[0].shape)
        (9, 12)
        """
        return invariance.linear_split(
            m=self.classes,
            n=self.points,
            s=self.latent,
            k=self.moves,
            tau=self.tau,
            constant=constant,
            seed=self.seed,
            trial=trial,
        )


@lru_cache(maxsize=1024)
def minimum(
    data: Data,
    trial: int,
    epsilon: float | None = None,
    *,
    lot: bool = False,
    penalty: float = 0.0,
    split: tuple[float, float] | None = None,
) -> tuple[invariance.Split, invariance.WideFit]:
    """One draw of the data and the minimum on it, at ``epsilon`` or at ``split`` = (λ₁, λ₂).

    ``lot`` permutes the labels; ``penalty`` weighs the variance penalty (the paper's is 1). Minima
    are kept, so that a figure and a table of the same ones cost no more than one of them.

    Examples
    --------
    >>> D, fit = minimum(Data(classes=3, points=4), 0, 0.01)
    >>> fit.loss < 0.01, fit.lam1 == 0.01 / 3
    (True, True)
    """
    D = data.draw(trial)
    X, labels = D.columns
    if lot:
        order = generator(data.seed, trial, "lot").permutation(len(labels))
        labels = labels[torch.from_numpy(order)]
    if split is None:
        if epsilon is None:
            raise ValueError("either epsilon or split must be given; you gave neither.")
        split = (epsilon / data.classes, epsilon / D.beta)
    return D, invariance.fit_wide(X, labels, *split, variance=penalty)


@dataclass(frozen=True)
class Path:
    """What minima look like along falling ε: (draws, len(ε)) each.

    lam1, lam2, loss: of the objective; V_r, V_y, V_z: variance within classes of representations,
    outputs and features of the training samples; distance: mean square between their class means;
    least, nuclear: least non-zero singular value and nuclear norm of W; fresh, unseen: variance
    within manifolds on new points and on new manifolds; rho: of the latter.
    """

    lam1: Tensor
    lam2: Tensor
    loss: Tensor
    V_r: Tensor
    V_y: Tensor
    V_z: Tensor
    distance: Tensor
    least: Tensor
    nuclear: Tensor
    fresh: Tensor
    unseen: Tensor
    rho: Tensor

    @property
    def multiplier(self) -> Tensor:
        """√L/λ, which does not fall as λ falls: (draws, len(ε))."""
        return (self.loss / (self.lam1 * self.lam2)).sqrt()


def _measure(D: invariance.Split, fit: invariance.WideFit) -> tuple[float, ...]:
    """The numbers of a :class:`Path` at one minimum, in the order of its fields."""
    K = kernels.gram(fit.X)
    R = fit.C @ K
    V_r, V_y, V_z = (
        float(factored.within_variance(values, fit.labels))
        for values in (R, fit.A @ R, kernels.square_root(K))
    )
    least = float(fit.singular[fit.singular > 1e-6 * fit.singular[0]][-1])
    unseen, apart = fit.distances(D.unseen.X)
    return (
        fit.lam1, fit.lam2, fit.loss, V_r, V_y, V_z, between(R, fit.labels), least,
        float(fit.singular.sum()), fit.distances(D.fresh.X)[0], unseen, apart / unseen,
    )  # fmt: skip


def between(R: Tensor, labels: Tensor) -> float:
    """Mean squared distance between the class means of representations R (T, N).

    Examples
    --------
    >>> R = torch.tensor([[0.0, 2.0, 4.0, 6.0]], dtype=torch.float64)
    >>> between(R, torch.tensor([0, 0, 1, 1]))
    16.0
    """
    own = torch.nn.functional.one_hot(labels).double()
    means = (R @ (own / own.sum(0))).mT
    return float(torch.pdist(means).square().mean())


def path(data: Data, epsilons: Sequence[float], draws: int, **how: object) -> Path:
    """Minima at every ε for so many draws; options as for :func:`minimum`.

    Examples
    --------
    >>> found = path(Data(classes=3, points=4), (0.1, 0.01), 2)
    >>> tuple(found.V_r.shape), bool((found.V_r[:, 1] < found.V_r[:, 0]).all())
    ((2, 2), True)
    """
    rows = [
        [_measure(*minimum(data, trial, epsilon, **how)) for epsilon in epsilons]
        for trial in range(draws)
    ]
    return Path(*torch.tensor(rows, dtype=torch.float64).movedim(-1, 0))


def paths(data: Data, epsilons: Sequence[float] = EPSILONS, *, draws: int = 5) -> dict[str, Path]:
    """Paths with labels by ``manifolds``, the same with the variance ``penalty``, and by ``lot``.

    Examples
    --------
    >>> list(paths(Data(classes=3, points=4), (0.1,), draws=1))
    ['manifolds', 'penalty', 'lot']
    """
    kinds: dict[str, Any] = {"manifolds": {}, "penalty": {"penalty": 1.0}, "lot": {"lot": True}}
    return {name: path(data, epsilons, draws, **how) for name, how in kinds.items()}


def together(*found: Path) -> Path:
    """One path with the draws of all, in their order.

    Examples
    --------
    >>> one = path(Data(classes=3, points=4), (0.1,), 1)
    >>> tuple(together(one, one).loss.shape)
    (2, 1)
    """
    names = (field.name for field in fields(Path))
    return Path(*(torch.cat([getattr(one, name) for one in found]) for name in names))


def curves(found: Mapping[str, Path]) -> dict[str, Tensor]:
    """What :func:`paths` found by names for a reader, (draws, len(ε)) each.

    Examples
    --------
    >>> len(curves(paths(Data(classes=3, points=4), (0.1,), draws=1)))
    8
    """
    own, penalty, lot = (found[name] for name in ("manifolds", "penalty", "lot"))
    return {
        "training": own.V_r,
        "training, with penalty": penalty.V_r,
        "training, labels by lot": lot.V_r,
        "new points": own.fresh,
        "new manifolds": own.unseen,
        "new manifolds, with penalty": penalty.unseen,
        "loss": own.loss,
        "loss, labels by lot": lot.loss,
    }


def at_width(data: Data, trial: int, epsilon: float, multiple: float) -> float:
    """V(r) over the mean squared distance between classes, for a random layer of finite width.

    The width is ``multiple`` times the number of training samples.

    Examples
    --------
    >>> wide, narrow = (at_width(Data(classes=3, points=4), 0, 1e-3, w) for w in (4.0, 0.25))
    >>> wide < narrow
    True
    """
    D = data.draw(trial)
    X, labels = D.columns
    width = max(1, round(multiple * X.shape[1]))
    Z = kernels.random_features(X, width, seed=data.seed + 1000 * trial)
    objective = factored.problem(Z, labels, epsilon / data.classes, epsilon / D.beta)
    R = factored.descend(objective, goal=1e-9 * epsilon).B @ Z
    return float(factored.within_variance(R, labels)) / between(R, labels)


def four_points(g: float, many: int, copies: int) -> tuple[float, float, float]:
    """V(r), V(ŷ) and ε = 2p(1-p) when θ has the sign of γ = ±g on p = many/copies of the samples.

    Two manifolds on the circle, each with ``copies`` samples at two places, at the minimum for ε.

    Examples
    --------
    >>> V_r, V_y, epsilon = four_points(0.3, 18, 20)
    >>> round(epsilon, 9), V_r > 0
    (0.18, True)
    """
    a, rest = (1 - g * g) ** 0.5, copies - many
    rows = [[g, a]] * many + [[g, -a]] * rest + [[-g, -a]] * many + [[-g, a]] * rest
    X = torch.tensor(rows, dtype=torch.float64)
    p, labels = many / copies, torch.arange(2).repeat_interleave(copies)
    epsilon = 2 * p * (1 - p)
    second = torch.tensor([[0.0], [1.0]], dtype=torch.float64)
    beta = invariance.symmetric_cost(X[[0, copies]].mT, second)
    fit = invariance.fit_wide(X.mT, labels, epsilon / 2, epsilon / beta)
    R = fit.C @ kernels.gram(fit.X)
    V_r, V_y = (float(factored.within_variance(values, labels)) for values in (R, fit.A @ R))
    return V_r, V_y, epsilon
