"""Exercise 2 of the warm-up."""

from __future__ import annotations


def solution(loss: float, misfit: float, spread: float, lam: float) -> float:
    return loss - spread / (spread + lam) * misfit


def wrong_trivial(loss: float, misfit: float, spread: float, lam: float) -> float:
    """Takes the whole misfit for gain."""
    return loss - misfit


def wrong_exchanged(loss: float, misfit: float, spread: float, lam: float) -> float:
    """The share that stays for the share that can be gained."""
    return loss - lam / (spread + lam) * misfit


def wrong_of_loss(loss: float, misfit: float, spread: float, lam: float) -> float:
    """The factor for the whole loss: true, and too careful where some of it is not misfit."""
    return loss * lam / (spread + lam)


def wrong_small_spread(loss: float, misfit: float, spread: float, lam: float) -> float:
    """The first term of an expansion in the spread."""
    return loss - spread / lam * misfit
