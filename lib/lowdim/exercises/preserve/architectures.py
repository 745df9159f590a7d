"""Checkers about gates, convolutions and images."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lowdim.exercises.checking import checker, matrix, number, outcome, wants
from lowdim.seeds import generator


@checker
def check_reference(reference: Callable[[np.ndarray], Any]) -> None:
    """Exercise 2 of other activations: the reference from which gates deviate least.

    Examples
    --------
    >>> check_reference(lambda G: G.mean(1))
    'Not yet: in some row another reference has a smaller largest relative deviation.'
    """
    for trial, (h, n) in enumerate(((1, 2), (3, 7), (5, 40), (2, 1))):
        G = generator(0, trial, "exercise: reference").uniform(0.05, 1, (h, n))
        a = matrix(reference(G.copy()), (h,), "what reference returns").numpy()
        wants((a > 0).all(), "a reference is not positive")

        def worst(reference: np.ndarray, G: np.ndarray = G) -> np.ndarray:
            return np.abs(G / reference[:, None] - 1).max(1)

        # the largest deviation has one valley in a, so the neighbours decide
        for factor in (1 - 1e-4, 1 + 1e-4, 0.8, 1.25):
            wants(
                (worst(a * factor) > worst(a) - 1e-12).all(),
                "in some row another reference has a smaller largest relative deviation",
            )


@checker
def check_loses_rank(loses_rank: Callable[[int, int, int], Any]) -> None:
    """Exercise 1 of other architectures: which kernels lose rank on signals of length two.

    Examples
    --------
    >>> check_loses_rank(lambda a, b, c: b == 0)
    'Not yet: for some kernel with whole entries the answer is not what the rank says.'
    """
    for a, b, c in product(range(-4, 5), repeat=3):
        kernel = np.array([a, b, c])
        images = [[int(kernel @ window) for window in ((0, 1, 0), (1, 0, 0))]]
        images += [[int(kernel @ window) for window in ((0, 0, 1), (0, 1, 0))]]
        lost = images[0][0] * images[1][1] == images[0][1] * images[1][0]
        said = loses_rank(a, b, c)
        wants(isinstance(said, (bool, np.bool_)), "what loses_rank returns is not True or False")
        wants(
            said == lost, "for some kernel with whole entries the answer is not what the rank says"
        )


@checker
def check_pool(pool: Callable[[int], Any]) -> None:
    """Exercise 2 of other architectures: average pooling as a matrix.

    Examples
    --------
    >>> check_pool(lambda m: np.kron(np.eye(m // 2), [[1.0, 1.0]]))
    'Not yet: a constant signal does not keep its value.'
    """
    for m in (2, 4, 6, 10, 16):
        T = matrix(pool(m), (m // 2, m), "what pool returns").numpy()
        x = generator(0, m, "exercise: pool").standard_normal(m)
        wants(np.allclose(T.sum(1), 1, atol=1e-12), "a constant signal does not keep its value")
        wants(
            np.allclose(T @ x, (x[0::2] + x[1::2]) / 2, atol=1e-12),
            "some output is not the mean of its pair of neighbours",
        )


@checker
def check_prices(prices: Callable[[int], Any]) -> None:
    """Exercise 1 of real data: what the mean image costs with equal classes.

    Examples
    --------
    >>> check_prices(lambda K: (0.0, 0.0))
    'Not yet: the first number is not the mass of P off its blocks.'
    """
    for K in (2, 3, 7):
        given = prices(K)
        if not (isinstance(given, (tuple, list)) and len(given) == 2):
            outcome("prices does not return two numbers")
        mass, price = (number(x, "a price") for x in given)
        n = 4 * K
        P, labels = np.full((n, n), 1 / n), np.arange(n) % K
        blocks = np.where(labels[:, None] == labels, P, 0)
        wants(
            abs(mass - ((P - blocks) ** 2).sum()) < 1e-9,
            "the first number is not the mass of P off its blocks",
        )
        nearest = np.linalg.eigvalsh(blocks)[-1]
        wants(
            abs(price - (1 - nearest) ** 0.5) < 1e-9,
            "the second number is not the distance of P from the nearest block-diagonal projector",
        )


@checker
def check_remove_mean(remove_mean: Callable[[Tensor], Any]) -> None:
    """Exercise 2 of real data: images (m, n) without their mean image.

    Examples
    --------
    >>> check_remove_mean(lambda X: 0 * X)
    'Not yet: the difference of two images is not what it was.'
    """
    for trial, (m, n) in enumerate(((3, 5), (1, 4), (16, 10), (6, 2))):
        draw = generator(0, trial, "exercise: remove mean")
        X = torch.from_numpy(draw.uniform(0, 1, (m, n)) + draw.uniform(0, 3, (m, 1)))
        A = matrix(remove_mean(X.clone()), (m, n), "what remove_mean returns")
        # the two properties together leave one map
        wants(
            float((A[:, 1:] - A[:, :1] - X[:, 1:] + X[:, :1]).abs().max()) < 1e-12,
            "the difference of two images is not what it was",
        )
        wants(float(A.mean(1).abs().max()) < 1e-12, "the mean image is not zero")
