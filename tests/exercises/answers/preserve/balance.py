"""Exercise 2 of the non-negative start."""

from __future__ import annotations

from torch import Tensor


def solution(W: Tensor, V: Tensor) -> tuple[Tensor, Tensor]:
    c = (V.norm(dim=0) / W.norm(dim=1)).sqrt()
    return c[:, None] * W, V / c


def wrong_root(W: Tensor, V: Tensor) -> tuple[Tensor, Tensor]:
    """Without the root the two norms change places."""
    c = V.norm(dim=0) / W.norm(dim=1)
    return c[:, None] * W, V / c


def wrong_both(W: Tensor, V: Tensor) -> tuple[Tensor, Tensor]:
    """Unit norms on both sides: balanced, and another network."""
    return W / W.norm(dim=1)[:, None], V / V.norm(dim=0)


def wrong_one_number(W: Tensor, V: Tensor) -> tuple[Tensor, Tensor]:
    """One scale for the whole layer: balanced as a whole, not unit by unit."""
    c = (V.norm() / W.norm()).sqrt()
    return c * W, V / c


def wrong_sign(W: Tensor, V: Tensor) -> tuple[Tensor, Tensor]:
    """A negative scale: ReLU lets only positive ones pass."""
    c = (V.norm(dim=0) / W.norm(dim=1)).sqrt()
    return -c[:, None] * W, -V / c
