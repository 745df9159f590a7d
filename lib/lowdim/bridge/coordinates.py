r"""What a change of coordinates does to a layer's readings: :math:`H'=AH+b\mathbf 1^\top`.

Each reading is a ratio of averages of squared lengths, and a matrix A stretches no length by more
than :math:`\kappa` times what it does to another.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from lowdim import checks
from lowdim.bridge import links
from lowdim.checks import ArrayLike

__all__ = ["Readings", "condition", "factor", "readings", "rescaled", "stretched"]


@dataclass(frozen=True)
class Readings:
    """rho: Part IV's; apart, most: its numerator and denominator; within: squares within classes
    over those between them; tail: squares beyond the K-th singular value over those up to it."""

    rho: Tensor
    apart: Tensor
    most: Tensor
    within: Tensor
    tail: Tensor


def readings(H: ArrayLike, labels: ArrayLike) -> Readings:
    """Three readings (...) of layers H (..., p, n) with labels (n,), from their definitions.

    Examples
    --------
    >>> found = readings([[2.0, 4.0, 0.0, 0.0], [0.0, 0.0, 2.0, 4.0]], [0, 0, 1, 1])
    >>> round(found.rho.item(), 9), round(found.within.item(), 9)
    (20.0, 0.222222222)
    """
    H = checks.matrices(H, "H")
    one = links.ratio(H, labels)
    L = links.indicator(labels)
    inside = (H - (H @ L) @ L.mT).square().sum((-2, -1))
    centred = H @ L @ L.mT - H.mean(-1, keepdim=True)
    squares = torch.linalg.svdvals(H).square()
    K = L.shape[1]
    return Readings(
        one.rho, one.rho * one.epsilon, one.epsilon, inside / centred.square().sum((-2, -1)),
        squares[..., K:].sum(-1) / squares[..., :K].sum(-1),
    )  # fmt: skip


def condition(A: ArrayLike) -> tuple[Tensor, Tensor]:
    """The least and the largest stretch (...) of matrices A (..., q, p) with q at least p.

    Examples
    --------
    >>> [round(x.item(), 9) for x in condition([[3.0, 0.0], [0.0, 2.0], [0.0, 0.0]])]
    [2.0, 3.0]
    """
    values = torch.linalg.svdvals(checks.matrices(A, "A"))
    return values[..., -1], values[..., 0]


def factor(before: Tensor, after: Tensor) -> Tensor:
    """By which factor, at least 1, two positive readings (...) differ, whichever is larger.

    Examples
    --------
    >>> factor(torch.tensor(2.0), torch.tensor(0.5)).item()
    4.0
    """
    return torch.maximum(before / after, after / before)


def stretched(kappa: float, far: float, *, least: bool = False) -> tuple[Tensor, Tensor]:
    """A layer (2, 6) of three classes of two points, and a matrix (2, 2) of condition ``kappa``.

    Class 0 is ±e_0; classes 1 and 2 are points at ``far`` e_1 and −``far`` e_1. The matrix
    stretches e_1, or e_0 if ``least``. As ``far`` grows, ρ grows, or falls, by nearly kappa².

    Examples
    --------
    >>> H, A = stretched(3.0, 1e3)
    >>> y = [0, 0, 1, 1, 2, 2]
    >>> round((readings(A @ H, y).rho / readings(H, y).rho).item(), 4)
    9.0
    """
    H = torch.zeros(2, 6, dtype=torch.float64)
    H[0, 0], H[0, 1] = 1.0, -1.0
    H[1, 2:4], H[1, 4:] = far, -far
    sizes = [kappa, 1.0] if least else [1.0, kappa]
    return H, torch.diag(torch.tensor(sizes, dtype=torch.float64))


def rescaled(model: nn.Sequential, first: int, factors: Tensor) -> nn.Sequential:
    """The same function by other hidden values: those of a linear layer times positive factors.

    ``first`` is the place of a linear layer that is followed by a ReLU and another linear layer,
    whose weights are divided by the same factors (p,).

    Raises
    ------
    ValueError
        If there is no such triple at that place, or a factor is not above zero.

    Examples
    --------
    >>> model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1)).double()
    >>> other = rescaled(model, 0, torch.tensor([1.0, 2.0, 4.0]))
    >>> x = torch.ones(1, 2).double()
    >>> torch.allclose(model(x), other(x))
    True
    """
    other = copy.deepcopy(model)
    triple = list(other.children())[first : first + 3]
    into, between, out = triple if len(triple) == 3 else (other, other, other)
    if not (
        isinstance(into, nn.Linear) and isinstance(between, nn.ReLU) and isinstance(out, nn.Linear)
    ):
        names = ", ".join(type(part).__name__ for part in triple)
        raise ValueError(f"first must be the place of Linear, ReLU, Linear; there are {names}.")
    if not bool((factors > 0).all()):
        raise ValueError(f"factors must be above 0; the least is {float(factors.min())!r}.")
    with torch.no_grad():
        scale = factors.to(into.weight.dtype)
        into.weight.mul_(scale[:, None])
        into.bias.mul_(scale)
        out.weight.div_(scale)
    return other
