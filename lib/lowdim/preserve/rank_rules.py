"""Usual rules for the dimension r of data with classes, which need not agree."""

from __future__ import annotations

import numpy as np
from torch import Tensor

from lowdim import checks
from lowdim.linalg import subspaces

__all__ = ["chosen", "reach"]


def reach(values: Tensor, share: float) -> int:
    """How many of the leading singular values (k,) hold this share of the sum of squares.

    Examples
    --------
    >>> import torch
    >>> reach(torch.tensor([2.0, 1.0, 0.1]).double(), 0.9)
    2
    """
    energy = (values**2).cumsum(0) / (values**2).sum()
    return int((energy < share).sum()) + 1


def chosen(X: Tensor, labels: np.ndarray, *, top: int) -> dict[str, int]:
    """The r that each rule takes for X (m, n) with labels (n,); ratios are looked at up to ``top``.

    Raises
    ------
    ValueError
        If ``top`` is not below both m and n.

    Examples
    --------
    >>> import torch
    >>> X = torch.diag(torch.tensor([9.0, 8.0, 0.1, 0.05])).double()
    >>> found = chosen(X, np.array([0, 0, 1, 1]), top=3)
    >>> found["largest ratio of σ_r to the next"], found["90 % of the energy"]
    (2, 2)
    """
    m, n = X.shape
    checks.rank_in_range(top + 1, m, n, "top + 1")
    groups = np.unique(labels)
    K = len(groups)
    s = subspaces.singular_values(X)
    centred = subspaces.singular_values(X - X.mean(1, keepdim=True))
    by_class = [subspaces.singular_values(X[:, labels == k]) for k in groups]

    def past(low: int) -> int:
        return low + int((s[low - 1 : top] / s[low : top + 1]).argmax())

    return {
        "largest ratio of σ_r to the next": past(1),
        "largest ratio with r ≥ K": past(min(K, top)),
        "one line for each class, r = K": K,
        "90 % of the energy": reach(s, 0.9),
        "90 % of the energy, centred": reach(centred, 0.9),
        "90 % of the energy in each class": sum(reach(v, 0.9) for v in by_class),
        "99 % of the energy in each class": sum(reach(v, 0.99) for v in by_class),
    }
