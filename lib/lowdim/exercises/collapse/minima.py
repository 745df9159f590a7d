"""Checkers about minima with weight decay, and about parts of classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lowdim.collapse import selections
from lowdim.exercises.checking import checker, matrix, number, wants
from lowdim.seeds import generator


@checker
def check_minima(minima: Callable[[Sequence[float], float, int, int], Any]) -> None:
    """Exercise 2 of exact rank: how many products are local minima.

    Examples
    --------
    >>> check_minima(lambda moments, lam, depth, width: len(moments))
    'Not yet: with enough width the signs of the Hessians tell another number of local minima.'
    """
    settings = (
        ((2.0, 1.0), 0.1, 4),
        ((2.0, 0.3), 0.2, 3),
        ((0.1, 0.05), 0.3, 5),
        ((3.0, 1.0, 0.5), 0.25, 4),
        ((1.0, 0.8), 0.35, 3),  # the threshold is lower with fewer layers,
        ((1.0, 0.54), 0.2, 5),  # and higher with more
    )
    for moments, lam, depth in settings:
        points = selections.selections(moments, lam, depth)
        least = [float(selections.hessian(moments, p.kept, lam, depth)[0]) for p in points]
        kept = [sum(t > 0 for t in p.kept) for p, low in zip(points, least, strict=True)
                if low > -1e-9]  # fmt: skip
        for width in range(len(moments), 0, -1):
            found = number(minima(moments, lam, depth, width), "what minima returns")
            wants(
                width < len(moments) or found == len(kept),
                "with enough width the signs of the Hessians tell another number of local minima",
            )
            wants(
                found == sum(rank <= width for rank in kept),
                "with a narrow layer some of them are no longer products, or others are counted",
            )


@checker
def check_settled(settled: Callable[[np.ndarray, np.ndarray, float], Any]) -> None:
    """Exercise 3 of Figure 3: where weight decay and the cross-entropy of one layer agree.

    Examples
    --------
    >>> check_settled(lambda X, labels, lam: np.zeros((labels.max() + 1, len(X))))
    'Not yet: the gradient of the cross-entropy with weight decay is not zero there.'
    """
    for trial, (d, classes, count, lam) in enumerate(
        ((3, 2, 8, 0.1), (5, 3, 30, 0.03), (2, 4, 12, 1.0), (6, 3, 5, 0.01))
    ):
        draw = generator(0, trial, "exercise: settled")
        labels = np.concatenate([np.arange(classes), draw.integers(0, classes, count - classes)])
        X = draw.standard_normal((d, count)) + 2 * np.eye(d, classes)[:, labels]
        W = matrix(settled(X.copy(), labels.copy(), lam), (classes, d), "what settled returns")
        logits = W.numpy() @ X
        share = np.exp(logits - logits.max(0))
        share /= share.sum(0)
        onehot = np.eye(classes)[:, labels]
        pull, decay = (share - onehot) @ X.T / count, 2 * lam * W.numpy()
        size = np.linalg.norm(onehot @ X.T) / count
        wants(
            np.linalg.norm(pull + decay) < 1e-5 * size,
            "the gradient of the cross-entropy with weight decay is not zero there",
        )


@checker
def check_parts(parts: Callable[[np.ndarray, np.ndarray, int], Any]) -> None:
    """Exercise 3 of the warm-up on centroids: k-means within each class.

    Examples
    --------
    >>> check_parts(lambda X, labels, m: labels)
    'Not yet: some class has another number of parts than m.'
    """
    for trial, (d, classes, each, m) in enumerate(((2, 3, 12, 3), (4, 2, 9, 2), (3, 4, 6, 1))):
        draw = generator(0, trial, "exercise: parts")
        labels = draw.permutation(np.repeat(np.arange(classes), each))
        X = draw.standard_normal((d, classes * each)) + 0.5 * labels
        found = matrix(parts(X.copy(), labels.copy(), m), (len(labels),), "what parts returns")
        number_of = found.numpy()
        wants((number_of == np.round(number_of)).all(), "a part is no whole number")
        shared = any(len(set(labels[number_of == p])) > 1 for p in set(number_of))
        wants(not shared, "some part has points of two classes")
        for k in range(classes):
            mine, own = X[:, labels == k], number_of[labels == k]
            names = sorted(set(own))
            wants(len(names) == m, "some class has another number of parts than m")
            centres = np.stack([mine[:, own == p].mean(1) for p in names], 1)
            far = np.linalg.norm(mine[:, :, None] - centres[:, None], axis=0)
            held = far[np.arange(each), np.searchsorted(names, own)]
            wants(
                (held <= far.min(1) + 1e-9).all(),
                "some point is nearer to another part's centroid in its class than to its own",
            )
