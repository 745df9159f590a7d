"""Checkers of Part IV: training, its minima and what they cost."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Rational
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lowdim.exercises.checking import checker, matrix, outcome, wants
from lowdim.hashing import complexity, factored, invariance, kernels, traps
from lowdim.seeds import generator


@checker
def check_hard(hard_points: Callable[[int], Any]) -> None:
    """Exercise 2 of generalization: points on which squares have a large Rademacher complexity.

    Examples
    --------
    >>> check_hard(lambda n: [[1.0]] * n)
    'Not yet: for n = 2 the complexity is below 0.39/√n.'
    """
    for n in range(1, 11):
        X = matrix(hard_points(n), (n, None), f"hard_points({n})")
        wants(X.norm(dim=1).max() < 1 + 1e-9, "a point is longer than one")
        found = float(complexity.square_ball(X, 1.0).value)
        wants(found >= 0.39 / n**0.5, f"for n = {n} the complexity is below 0.39/√n")


@checker
def check_frame(frame_for: Callable[[float, int], Any]) -> None:
    """Exercise 2 of the ground truth: unit vectors in as few dimensions as a loss allows.

    Examples
    --------
    >>> check_frame(lambda eps, m: np.eye(m))
    'Not yet: for some ε and m fewer dimensions are enough.'
    """
    for eps, m in ((0.2, 6), (0.1, 12), (0.05, 30), (0.12, 9), (0.07, 11), (0.001, 7), (0.25, 3)):
        v = matrix(frame_for(eps, m), (m, None), f"frame_for({eps}, {m})")
        wants((v.norm(dim=1) - 1).abs().max() < 1e-9, "a vector does not have length one")
        # M with diagonal 1 times a has the loss ½(1 − a)² + ½ωa², least ½ω/(1 + ω)
        M = v @ v.mT
        omega = float(M.square().sum() - m) / (m * (m - 1))
        loss = omega / (1 + omega) / 2
        wants(loss <= eps + 1e-9, "for some ε and m the loss is above ε")
        least = next(T for T in range(1, m + 1) if (m - T) / (m + m * T - 2 * T) <= 2 * eps + 1e-12)
        wants(v.shape[1] <= least, "for some ε and m fewer dimensions are enough")


@checker
def check_trap(trap: Callable[[float], Any]) -> None:
    """Exercise 2 of the landscape: targets with a strict local minimum that is not global.

    Examples
    --------
    >>> check_trap(lambda a: [[1.0, 0.0], [0.0, 1.0]])
    'Not yet: for some a the gradient does not vanish at (1, −1).'
    """
    A = torch.tensor([[1.0], [-1.0]], dtype=torch.float64)
    for a in (5.0, 6.5, 9.0, 15.0):
        weights = torch.tensor([[a, 1.0], [1.0, a]], dtype=torch.float64)
        Y = matrix(trap(a), (2, 2), "the targets")
        p = traps.plain(weights, Y)
        still = sum(float(g.norm()) for g in p.gradient(A, A.mT))
        wants(still < 1e-8 * a, "for some a the gradient does not vanish at (1, −1)")
        curve = torch.linalg.eigvalsh(factored.hessian(p, A, A.mT))
        wants(curve[0] > 1e-6, "for some a it is no strict local minimum")
        # w times the matrix of ones solves the convex problem if −G/2 is a subgradient of the
        # nuclear norm there: the sum of half of that matrix and of z/2 times (1, −1)(1, −1)ᵀ
        w = float((a * Y[0, 0] + Y[0, 1] - 1) / (a + 1))
        G = 2 * weights * (w - Y)
        z = -1 - float(G[0, 0])
        fits = torch.allclose(G, torch.tensor([[-1 - z, z - 1], [z - 1, -1 - z]]).double())
        wants(
            fits and abs(z) <= 1 and w > 0,
            "for some a the convex solution is no multiple of the matrix of ones",
        )


@checker
def check_places(places: Callable[[], Any]) -> None:
    """Exercise 2 of Theorem 3: angles on which training forgets θ, though they form no square.

    Examples
    --------
    >>> check_places(lambda: [0.0, 1.0, 2.0, 3.0])
    'Not yet: the trained representation is not constant on the samples of a circle.'
    """
    angle = matrix(list(places()), (4,), "what places returns").numpy()
    around = np.sort(np.mod(angle, 2 * np.pi))
    gaps = np.diff(np.append(around, around[0] + 2 * np.pi))
    wants(gaps.min() > 0.05, "two of the four points are nearly the same")
    wants(np.ptp(gaps) > 0.01, "the points are the corners of a square")
    for name, rho in ((0.6, 0.8), (0.8, 0.6)):
        ring = rho * np.stack([np.cos(angle), np.sin(angle)], 1)
        names = np.tile(np.array([[[name, 0.0]], [[0.0, name]]]), (1, 4, 1))
        X = torch.from_numpy(np.concatenate([names, np.stack([ring, ring])], 2))
        labels = torch.arange(2).repeat_interleave(4)
        fit = invariance.fit_wide(X.flatten(0, 1).mT, labels, 0.01, 0.01)
        wants(
            fit.distances(X)[0] < 1e-12,
            "the trained representation is not constant on the samples of a circle",
        )


@checker
def check_output(best_output: Callable[[int, int], Any]) -> None:
    """Exercise 2 of Theorem 4: what to answer on a manifold with several labels, exactly.

    Examples
    --------
    >>> check_output(lambda k, m: (1, 0))
    'Not yet: for some k and m the loss is not that of the answer.'
    """
    for m in range(2, 9):
        for k in range(1, m + 1):
            try:
                a, loss = best_output(k, m)
            except (TypeError, ValueError):
                outcome("what is returned is no pair: an answer and its loss")
            exact = isinstance(a, Rational) and isinstance(loss, Rational)
            wants(exact, "answer and loss are not both fractions (of Python's fractions)")
            # own label: half of (1 − a)²; a share (k − 1)/(m − 1) of the other half of the weight
            cost = ((1 - a) ** 2 * (m - 1) + (k - 1) * a**2) / (2 * (m - 1))
            wants(cost == loss, "for some k and m the loss is not that of the answer")
            wants(
                (1 - a) * (m - 1) == (k - 1) * a,
                "for some k and m a slightly different answer has a smaller loss",
            )


def _price(X: Tensor, labels: Tensor) -> float:
    """The nuclear norm of the least interpolant of one-hot labels at infinite width."""
    values, U = torch.linalg.eigh(kernels.gram(X))
    Y = torch.nn.functional.one_hot(labels).double().mT
    return float(torch.linalg.svdvals(Y @ (U / values.sqrt())).sum())


@checker
def check_harder(harder: Callable[[Tensor, np.random.Generator], Any]) -> None:
    """Exercise 2 of Theorem 8: labels of the same class sizes that are dearer to fit.

    Examples
    --------
    >>> check_harder(lambda labels, rng: labels * 0)
    'Not yet: the classes do not have the sizes that they had.'
    """
    for seed, (m, n) in enumerate(((3, 5), (4, 6), (5, 4))):
        D = invariance.linear_split(m=m, n=n, s=3, k=6, tau=0.5, seed=seed)
        X, labels = D.columns
        given = harder(labels.clone(), generator(seed, 0, "exercise: harder"))
        other = matrix(given, (len(labels),), "what harder returns")
        wants((other == other.round()).all() and other.min() >= 0, "a label is no whole number")
        other = other.long()
        wants(
            torch.equal(torch.bincount(other, minlength=m), torch.bincount(labels)),
            "the classes do not have the sizes that they had",
        )
        wants(
            _price(X, other) > 1.3 * _price(X, labels),
            "on some draw the nuclear norm is not larger by three tenths",
        )
