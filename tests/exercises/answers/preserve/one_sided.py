"""Exercise 2 of balanced data."""

from __future__ import annotations

import numpy as np


def shares(V: np.ndarray, angles: np.ndarray) -> np.ndarray:
    values = np.stack([np.cos(angles), np.sin(angles)], 1) @ V
    return np.linalg.norm(values.clip(max=0), axis=1) / np.linalg.norm(values, axis=1)


def solution(V: np.ndarray) -> float:
    angles = np.linspace(0, 2 * np.pi, 2001)
    values = np.stack([np.cos(angles), np.sin(angles)], 1) @ V
    below = np.linalg.norm(values.clip(max=0), axis=1)
    return (below / np.linalg.norm(values, axis=1)).min()


def also_coarse(V: np.ndarray) -> float:
    """A grid of a degree: fine enough for a hundredth."""
    return float(shares(V, np.linspace(0, 2 * np.pi, 361)).min())


def wrong_half_turn(V: np.ndarray) -> float:
    """A direction and its opposite are not the same here."""
    return float(shares(V, np.linspace(0, np.pi, 2001)).min())


def wrong_count(V: np.ndarray) -> float:
    """Counts points below zero, where their squares are asked for."""
    angles = np.linspace(0, 2 * np.pi, 2001)
    values = np.stack([np.cos(angles), np.sin(angles)], 1) @ V
    return float(np.sqrt((values < 0).mean(1)).min())


def wrong_axes(V: np.ndarray) -> float:
    """Four directions only."""
    return float(shares(V, np.arange(4) * np.pi / 2).min())


def wrong_squared(V: np.ndarray) -> float:
    """The share of the squares, without the root."""
    return solution(V) ** 2


def wrong_zero(V: np.ndarray) -> float:
    """Believes that some function is nowhere negative."""
    return 0.0
