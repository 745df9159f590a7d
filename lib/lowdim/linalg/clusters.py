"""Clusters read off a projector, and how well they match the true ones.

The projector ``P = V Vᵀ`` onto a row space gives two readings. The *exact* one joins i and j when
the entry ``P[i, j]`` is not zero (above a threshold) and takes connected components. The *robust*
one takes ``|P|`` as an affinity and cuts it spectrally into a given number of groups.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix
from torch import Tensor

from lowdim import checks
from lowdim.checks import ArrayLike


def components(P: ArrayLike, *, threshold: float) -> np.ndarray:
    """Labels (n,) of the connected components of the graph ``|P[i, j]| > threshold``.

    Raises
    ------
    ValueError
        If ``P`` is not one square matrix or ``threshold`` is negative.

    Examples
    --------
    >>> components([[1.0, 0.0, 0.0], [0.0, 0.5, 0.5], [0.0, 0.5, 0.5]], threshold=0.1).tolist()
    [0, 1, 1]
    """
    P = checks.matrices(P, "P")
    if P.ndim != 2 or P.shape[0] != P.shape[1]:
        raise ValueError(f"P must be one square matrix; its shape is {tuple(P.shape)}.")
    if threshold < 0:
        raise ValueError(f"threshold must be 0 or more; you gave {threshold}.")
    graph = csr_array((P.abs() > threshold).numpy())
    return connected_components(graph, directed=False)[1]


def smallest_on_support(P: ArrayLike, *, zero: float = 1e-12) -> Tensor:
    """The smallest absolute entry (...) of each matrix among those above ``zero``; inf if none.

    This is the ε of Part I. ``zero`` decides what rounding may have left in place of a zero.

    Examples
    --------
    >>> smallest_on_support([[0.5, -0.25], [-0.25, 1e-16]]).item()
    0.25
    """
    size = checks.matrices(P, "P").abs()
    return torch.where(size > zero, size, torch.inf).amin((-2, -1))


def spectral(V: ArrayLike, k: int, *, seed: int = 0, power: float = 1.0) -> np.ndarray:
    """Cut the affinity ``|V Vᵀ|**power`` of each basis into ``k`` groups: labels (..., n).

    Normalized spectral clustering (Ng, Jordan and Weiss, 2001): the k leading eigenvectors of the
    normalized affinity, rows scaled to unit length, then k-means with ten restarts from ``seed``.

    Raises
    ------
    ValueError
        If ``k`` is not between 1 and n.

    Examples
    --------
    >>> V = torch.block_diag(torch.ones(3, 1), torch.ones(2, 1)) / torch.tensor([3**0.5, 2**0.5])
    >>> labels = spectral(V, 2)
    >>> len(set(labels[:3].tolist())), len(set(labels.tolist()))
    (1, 2)
    """
    V = checks.matrices(V, "V")
    n = V.shape[-2]
    if not 1 <= k <= n:
        raise ValueError(f"k must be from 1 to n = {n}; you gave {k}.")
    stack = V.reshape(-1, *V.shape[-2:]).to(torch.float64)
    affinity = (stack @ stack.mT).abs() ** power
    degree = affinity.sum(-1).clamp_min(torch.finfo(torch.float64).tiny).rsqrt()
    normalized = degree[:, :, None] * affinity * degree[:, None, :]
    vectors = torch.linalg.eigh(normalized)[1][..., -k:]
    rows = vectors / torch.linalg.vector_norm(vectors, dim=-1, keepdim=True).clamp_min(1e-300)
    labels = [KMeans(k, n_init=10, random_state=seed).fit_predict(x.numpy()) for x in rows]
    return np.stack(labels).reshape(*V.shape[:-2], n)


def kmeans(Y: ArrayLike, k: int, *, seed: int = 0) -> np.ndarray:
    """Cut the columns of each matrix (..., m, n) into ``k`` groups by k-means: labels (..., n).

    Ten restarts from ``seed``, scikit-learn's k-means++ beginnings. The means are Euclidean; no
    projector is looked at.

    Raises
    ------
    ValueError
        If ``k`` is not between 1 and n.

    Examples
    --------
    >>> found = kmeans([[0.0, 0.1, 5.0, 5.1]], 2)
    >>> float(accuracy(found, [0, 0, 1, 1]))
    1.0
    """
    Y = checks.matrices(Y, "Y")
    n = Y.shape[-1]
    if not 1 <= k <= n:
        raise ValueError(f"k must be from 1 to n = {n}; you gave {k}.")
    stack = Y.reshape(-1, *Y.shape[-2:]).to(torch.float64).mT.numpy()
    labels = [KMeans(k, n_init=10, random_state=seed).fit_predict(points) for points in stack]
    return np.stack(labels).reshape(*Y.shape[:-2], n)


def scores(found: ArrayLike, truth: ArrayLike) -> np.ndarray:
    """Accuracy, normalized mutual information and adjusted Rand index (..., 3), in this order.

    Examples
    --------
    >>> scores([1, 1, 0, 0], [0, 0, 1, 1]).tolist()
    [1.0, 1.0, 1.0]
    """
    return np.stack([accuracy(found, truth), nmi(found, truth), ari(found, truth)], -1)


def accuracy(found: ArrayLike, truth: ArrayLike) -> np.ndarray:
    """Share (...) of points whose group, optimally matched to the true ones, is right.

    ``found`` is (..., n) and ``truth`` (n,) or (..., n). Numbers of groups may differ.

    Examples
    --------
    >>> float(accuracy([1, 1, 0, 0, 0], [0, 0, 1, 1, 0]))
    0.8
    """
    return _compare(found, truth, _matched)


def nmi(found: ArrayLike, truth: ArrayLike) -> np.ndarray:
    """Normalized mutual information (...), arithmetic normalization.

    Examples
    --------
    >>> float(nmi([1, 1, 0, 0], [0, 0, 1, 1]))
    1.0
    """
    return _compare(found, truth, normalized_mutual_info_score)


def ari(found: ArrayLike, truth: ArrayLike) -> np.ndarray:
    """Adjusted Rand index (...).

    Examples
    --------
    >>> float(ari([1, 1, 0, 0], [0, 0, 1, 1]))
    1.0
    """
    return _compare(found, truth, adjusted_rand_score)


def _matched(truth: np.ndarray, found: np.ndarray) -> float:
    counts = contingency_matrix(truth, found)
    rows, columns = linear_sum_assignment(counts, maximize=True)
    return counts[rows, columns].sum() / len(truth)


def _compare(
    found: ArrayLike, truth: ArrayLike, score: Callable[[np.ndarray, np.ndarray], float]
) -> np.ndarray:
    found, truth = np.asarray(found), np.asarray(truth)
    if found.shape[-1:] != truth.shape[-1:] or found.ndim < 1 or found.shape[-1] == 0:
        raise ValueError(
            f"found and truth need the same number of points; "
            f"their shapes are {found.shape} and {truth.shape}."
        )
    truth = np.broadcast_to(truth, found.shape)
    flat = zip(truth.reshape(-1, truth.shape[-1]), found.reshape(-1, found.shape[-1]), strict=True)
    return np.array([score(t, f) for t, f in flat]).reshape(found.shape[:-1])
