"""Checkers about training: learned weights and the non-negative start."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lowdim.exercises.checking import checker, matrix, number, outcome, wants
from lowdim.linalg import subspaces
from lowdim.seeds import generator


@checker
def check_levels(levels: Callable[[int, int], Any]) -> None:
    """Exercise 1 of learned weights: what a distance and a square are without any relation.

    Examples
    --------
    >>> check_levels(lambda n, r: ((2 * r) ** 0.5, r / n**2))
    'Not yet: independent uniform subspaces have another distance on average.'
    """
    for trial, (n, r) in enumerate(((12, 3), (40, 4), (30, 20))):
        given = levels(n, r)
        if not (isinstance(given, (tuple, list)) and len(given) == 2):
            outcome("levels does not return two numbers")
        distance, square = (number(x, "a level") for x in given)
        draw = generator(0, trial, "exercise: levels")
        squares, found = [], []
        for _ in range(60):
            V, U = (np.linalg.qr(draw.standard_normal((n, r)))[0] for _ in range(2))
            P = V @ V.T
            squares.append((P**2).mean())
            found.append(((P - U @ U.T) ** 2).sum())
        root = float(np.mean(found)) ** 0.5
        # the mean of 60 squared distances is off by less than 4 of its standard deviations
        slack = 4 * float(np.std(found)) / 60**0.5 / (2 * root) + 0.01 * root
        wants(
            abs(distance - root) < slack,
            "independent uniform subspaces have another distance on average",
        )
        wants(
            abs(square - float(np.mean(squares))) < 1e-9,
            "the mean square of all entries of a projector is another",
        )


@checker
def check_any_space(any_space: Callable[[Tensor, Tensor], Any]) -> None:
    """Exercise 2 of learned weights: a minimizer that shows whatever is asked for.

    Examples
    --------
    >>> check_any_space(lambda X, S: torch.linalg.svd(X).U[:, :4].T)
    'Not yet: the principal row space of WX is not the one asked for.'
    """
    for trial, (m, n, r) in enumerate(((6, 9, 2), (5, 7, 1), (8, 12, 3), (6, 20, 2))):
        draw = generator(0, trial, "exercise: any space")
        X = torch.from_numpy(draw.standard_normal((m, n)))
        _, s, Vh = torch.linalg.svd(X, full_matrices=False)
        turn = torch.linalg.qr(torch.from_numpy(draw.standard_normal((4, r)))).Q
        S = Vh[:4].T @ turn
        W = matrix(any_space(X.clone(), S.clone()), (4, m), "W")
        hidden = W @ X
        left = torch.linalg.matrix_norm(X - X @ torch.linalg.pinv(hidden) @ hidden)
        wants(
            float(left) < float(s[4:].norm()) * (1 + 1e-8),
            "no decoder makes a minimizer of it: the loss is above its least value",
        )
        values = subspaces.singular_values(hidden)
        wants(
            float(values[r - 1]) > (1 + 1e-6) * float(values[r]),
            "the principal row space of WX is not unique",
        )
        wants(
            float(subspaces.distance(S, subspaces.principal_rows(hidden, r))) < 1e-6,
            "the principal row space of WX is not the one asked for",
        )


@checker
def check_balance(balance: Callable[[Tensor, Tensor], Any]) -> None:
    """Exercise 2 of the non-negative start: the same network with units of equal norms.

    Examples
    --------
    >>> check_balance(lambda W, V: (W, V))
    'Not yet: some unit has a row of W and a column of V of different norms.'
    """
    for trial, (m, h, n) in enumerate(((3, 5, 8), (1, 1, 6), (4, 2, 9), (2, 7, 9))):
        draw = generator(0, trial, "exercise: balance")
        shapes = (h, m), (m, h), (m, n)
        W, V, X = (torch.from_numpy(draw.standard_normal(shape)) for shape in shapes)
        V = V * torch.from_numpy(draw.uniform(0.1, 10, h))
        given = balance(W.clone(), V.clone())
        if not (isinstance(given, (tuple, list)) and len(given) == 2):
            outcome("balance does not return two matrices")
        A, B = matrix(given[0], (h, m), "the new W"), matrix(given[1], (m, h), "the new V")
        old, new = V @ torch.relu(W @ X), B @ torch.relu(A @ X)
        # ten digits more than rounding needs
        wants(
            float((new - old).abs().max()) < 1e-9 * (1 + float(old.abs().max())),
            "it is another network: some input has another output",
        )
        into, out = A.norm(dim=1), B.norm(dim=0)
        wants(
            float((into - out).abs().max()) < 1e-9 * float(into.max()),
            "some unit has a row of W and a column of V of different norms",
        )
