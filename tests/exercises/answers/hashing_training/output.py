"""Exercise 2 of Theorem 4."""

from __future__ import annotations

from fractions import Fraction


def solution(k: int, m: int) -> tuple[Fraction, Fraction]:
    kappa = Fraction(k - 1, m - 1)
    return 1 / (1 + kappa), kappa / (2 * (1 + kappa))


def wrong_share(k: int, m: int) -> tuple[Fraction, Fraction]:
    """The share of the label, as if the loss were not weighted."""
    a = Fraction(1, k)
    return a, ((1 - a) ** 2 + Fraction(k - 1, m - 1) * a**2) / 2


def wrong_floats(k: int, m: int) -> tuple[float, float]:
    """Right, and rounded."""
    kappa = (k - 1) / (m - 1)
    return 1 / (1 + kappa), kappa / (2 * (1 + kappa))


def wrong_loss(k: int, m: int) -> tuple[Fraction, Fraction]:
    """Forgets the half in the loss."""
    kappa = Fraction(k - 1, m - 1)
    return 1 / (1 + kappa), kappa / (1 + kappa)


def wrong_count(k: int, m: int) -> tuple[Fraction, Fraction]:
    """k in place of k − 1: counts the own label among the others."""
    kappa = Fraction(k, m - 1)
    a = 1 / (1 + kappa)
    return a, ((1 - a) ** 2 + Fraction(k - 1, m - 1) * a**2) / 2
