"""Exercise 3 of the warm-up on centroids."""

from __future__ import annotations

import numpy as np


def lloyd(points: np.ndarray, m: int) -> np.ndarray:
    """Parts of the points (d, n) at which Lloyd's steps stop."""
    centres = points[:, :m]
    while True:
        far = np.linalg.norm(points[:, :, None] - centres[:, None], axis=0)
        own = far.argmin(1)
        new = np.stack([points[:, own == p].mean(1) for p in range(m)], 1)
        if np.allclose(new, centres):
            return own
        centres = new


def solution(X: np.ndarray, labels: np.ndarray, m: int) -> np.ndarray:
    parts = np.zeros(len(labels), dtype=int)
    for k in set(labels.tolist()):
        points = X[:, labels == k]
        centres = points[:, :m]
        for _ in range(100):
            far = np.linalg.norm(points[:, :, None] - centres[:, None], axis=0)
            own = far.argmin(1)
            centres = np.stack([points[:, own == p].mean(1) for p in range(m)], 1)
        parts[labels == k] = m * k + own
    return parts


def wrong_across(X: np.ndarray, labels: np.ndarray, m: int) -> np.ndarray:
    """k-means on all points at once: parts cross the borders of classes."""
    return lloyd(X, m * len(set(labels.tolist())))


def wrong_names(X: np.ndarray, labels: np.ndarray, m: int) -> np.ndarray:
    """Parts of different classes have the same number."""
    return solution(X, labels, m) % m


def wrong_first_step(X: np.ndarray, labels: np.ndarray, m: int) -> np.ndarray:
    """One step only, from the first points."""
    parts = np.zeros(len(labels), dtype=int)
    for k in set(labels.tolist()):
        points = X[:, labels == k]
        far = np.linalg.norm(points[:, :, None] - points[:, None, :m], axis=0)
        parts[labels == k] = m * k + far.argmin(1)
    return parts


def wrong_in_order(X: np.ndarray, labels: np.ndarray, m: int) -> np.ndarray:
    """Cuts each class into parts in the order of its points."""
    parts = np.zeros(len(labels), dtype=int)
    for k in set(labels.tolist()):
        size = int((labels == k).sum())
        parts[labels == k] = m * k + np.arange(size) * m // size
    return parts
