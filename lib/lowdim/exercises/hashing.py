"""Checkers of Part IV: representations, kernels and ratios of distances.

Those about training and its minima are in :mod:`lowdim.exercises.hashing_training`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lowdim.data import manifolds
from lowdim.exercises.checking import checker, matrix, number, outcome, wants
from lowdim.hashing import baselines, decoding, families, kernels
from lowdim.hashing.atoms import Atoms
from lowdim.seeds import generator


@checker
def check_small_rho(three_manifolds: Callable[[], Any]) -> None:
    """Exercise 2 of the hashing property: a small ρ though all means differ.

    Examples
    --------
    >>> check_small_rho(lambda: ([[[0.0]], [[1.0]], [[2.0]]], [[1.0]] * 3))
    'Not yet: no manifold has any variance, so that there is no ρ.'
    """
    try:
        at, weight = three_manifolds()
    except (TypeError, ValueError):
        outcome("what is returned is no pair: places and weights")
    places = matrix(at, (3, None, None), "at")
    share = matrix(weight, (3, places.shape[1]), "weight")
    wants((share >= 0).all(), "a weight is negative")
    wants((share.sum(1) - 1).abs().max() < 1e-9, "the weights of a manifold do not add to 1")
    R = Atoms(places, share)
    wants(R.epsilon > 0, "no manifold has any variance, so that there is no ρ")
    apart = R.centres[~torch.eye(3, dtype=torch.bool)].min()
    wants(apart > 1e-6 * R.epsilon, "two means agree, or nearly")
    wants(R.rho < 0.1, "ρ is a tenth or more")


@checker
def check_many_examples(threshold: Callable[[float, int], Any]) -> None:
    """Exercise 2 of Theorem 5: the best threshold when the mean of h examples is the key.

    Examples
    --------
    >>> check_many_examples(lambda rho, h: 2.5)
    'Not yet: for some ρ and h another threshold has a smaller guarantee.'
    """

    def promised(t: Any, rho: float, h: int) -> Any:
        # Markov for misses, Cantelli for false hits; the key's variance is an h-th
        v = 1 + 1 / h
        gap = np.maximum(math.sqrt(rho - 2) - np.sqrt(t), 0)
        return np.maximum(v / t, v / (v + gap**2))

    for rho in (5.0, 9.0, 30.0, 200.0, 1500.0):
        for h in (1, 2, 5, 40):
            t = number(threshold(rho, h), "the threshold")
            wants(0 < t < rho - 2, "for some ρ and h the threshold is not between 0 and ρ − 2")
            grid = np.geomspace(0.05, rho - 2, 4001)
            # steps of the grid are below 0.3 percent, and the guarantee has a kink at its least
            wants(
                promised(t, rho, h) < promised(grid, rho, h).min() * 1.0001,
                "for some ρ and h another threshold has a smaller guarantee",
            )


@checker
def check_tune(tune: Callable[[Tensor, float], Any]) -> None:
    """Exercise 2 of natural images: factors for the features that bring ρ₂ to a target.

    Examples
    --------
    >>> check_tune(lambda R, target: torch.ones(R.shape[2]))
    'Not yet: ρ₂ of the rescaled features is not the target.'
    """
    draw = generator(0, 0, "exercise: tune")
    cases = [case for case in baselines.random_classes(60, draw) if case[0].shape[2] > 1][:12]
    for R, target in cases:
        c = matrix(tune(R.clone(), target), (R.shape[2],), "what tune returns")
        wants((c > 0).all(), "a factor is not above 0")
        found = families.ratio(R * c, squared=True)
        wants(abs(found / target - 1) < 1e-6, "ρ₂ of the rescaled features is not the target")


@checker
def check_linear_map(linear_map: Callable[[Tensor, Tensor], Any]) -> None:
    """Exercise 2 of Table 1: a linear map that keeps γ and drops θ, from the maps themselves.

    Examples
    --------
    >>> check_linear_map(lambda V, W: torch.eye(V.shape[1]))
    'Not yet: on some draw ρ is less than fifty times that of the points themselves.'
    """
    for trial, ambient in enumerate((200, 300, 400)):
        family = manifolds.AnalyticFamily("sine", ambient=ambient, seed=77, trial=trial)
        D = family.draw(m=30, n=5)
        L = matrix(linear_map(D.V.clone(), D.W.clone()), (None, ambient), "the map")
        image = D.X @ L.mT
        wants(image.abs().max() > 0, "the map takes all points to zero")
        found = families.ratio(image)
        wants(
            found >= 50 * families.ratio(D.X),
            "on some draw ρ is less than fifty times that of the points themselves",
        )


@checker
def check_circle(angles: Callable[[int], Any]) -> None:
    """Exercise 2 of recovering γ: points of the circle whose γ a width of three keeps exactly.

    Examples
    --------
    >>> check_circle(lambda m: range(m))
    'Not yet: with 4 points a part of γ is outside the span.'
    """
    for m in range(4, 10):
        angle = matrix(list(angles(m)), (m,), f"angles({m})")
        G = torch.stack([angle.cos(), angle.sin()], 1)
        apart = torch.cdist(G, G)[~torch.eye(m, dtype=torch.bool)].min()
        wants(apart > 0.1, f"two of the {m} points are nearly the same")
        U = torch.linalg.eigh(kernels.gram(G.T, bias=True))[1].flip(1)
        lost = decoding.share_left(G, U, 3)
        wants(lost < 1e-12, f"with {m} points a part of γ is outside the span")


@checker
def check_paired(paired: Callable[[Tensor, int, int], Any]) -> None:
    """Exercise 2 of the random ReLU kernel: features of a layer whose rows come in pairs r, −r.

    Examples
    --------
    >>> check_paired(lambda X, width, seed: torch.ones(width, X.shape[1]))
    'Not yet: the features of x and of −x are not the same numbers in another order.'
    """
    draw = generator(0, 0, "exercise: paired")
    half = torch.from_numpy(draw.standard_normal((4, 3)))
    half = half / half.norm(dim=0)
    X = torch.cat([half, -half], 1)
    width, count = 40, 300
    made = []
    for seed in range(count):
        Z = matrix(paired(X.clone(), width, seed), (width, 6), "what paired returns")
        made.append(Z)
        wants((Z >= 0).all(), "a feature is negative")
        there, back = Z[:, :3].sort(0).values, Z[:, 3:].sort(0).values
        wants(
            (there - back).abs().max() < 1e-9 and not torch.equal(Z[:, :3], Z[:, 3:]),
            "the features of x and of −x are not the same numbers in another order",
        )
    wants(not torch.equal(made[0], made[1]), "two seeds give the same features")
    features = torch.stack(made)
    G = features.mT @ features
    off = (G.mean(0) - kernels.gram(X)).abs() / (G.std(0) / count**0.5 + 1e-9)
    wants(off.max() < 6, "the mean of ZᵀZ is not K")
    # a width of w has w/2 directions: their sizes are all different if they are drawn one by one
    longest = features[0, :, 0]
    wants(len(longest[longest > 0].unique()) == width // 2, "some directions occur more than once")


@checker
def check_shifted(shifted: Callable[[int, float], Any]) -> None:
    """Exercise 2 of Theorem 7: the power series of the kernel with a bias τ.

    Examples
    --------
    >>> check_shifted(lambda k, tau: 0.0)
    'Not yet: at some τ the series does not add up to the kernel.'
    """
    dual, count = kernels.dual("relu"), 24
    for tau in (0.0, 0.4, 0.7, 1.0, 1.2):
        q = [number(shifted(k, tau), "a coefficient") for k in range(count)]
        for rho in (-0.45, 0.2, 0.45):
            total = sum(value * rho**k for k, value in enumerate(q))
            wanted = float(dual((rho + tau**2) / (1 + tau**2)))
            # what is left out is at most K(1) times 0.45 to the power of the count
            wants(abs(total - wanted) < 1e-7, "at some τ the series does not add up to the kernel")


@checker
def check_apart(apart: Callable[[int, float], Any]) -> None:
    """Exercise 3 of loss and distances: means that are as near as a loss allows.

    Examples
    --------
    >>> check_apart(lambda m, loss: (torch.eye(m), torch.eye(m)))
    'Not yet: the loss is not the given one.'
    """
    for m, loss in ((2, 0.01), (3, 0.04), (5, 0.001), (4, 0.16)):
        given = apart(m, loss)
        if not (isinstance(given, (tuple, list)) and len(given) == 2):
            outcome("apart does not return two matrices")
        A = matrix(given[0], (m, None), "A")
        R = matrix(given[1], (A.shape[1], m), "the means")
        eye = torch.eye(m, dtype=torch.float64)
        weights = 0.5 * eye + (1 - eye) * (0.5 / (m - 1))
        found = float((weights * (eye - A @ R) ** 2).sum() / m)
        wants(abs(found - loss) < 1e-3 * loss, "the loss is not the given one")
        gaps = float((R[:, :, None] - R[:, None]).square().sum() / (m * (m - 1)))
        bound = 2 * (m - 1) * (1 - 2 * loss**0.5) ** 2
        wants(
            gaps * float(A.square().sum()) < 1.01 * bound,
            "the distances are more than one per cent above the sharp bound",
        )
