r"""Sums of products of linear forms, :math:`\sum_va_v\prod_i(\beta_{v,i}\cdot x)`, as functions.

A case has a ``constant`` (B,) and, for each degree k from 1 to ``TOP``, two products: ``a1`` …
(B, 2) and ``B1`` … (B, 2, k, d).
"""

from __future__ import annotations

from itertools import permutations
from math import factorial
from typing import cast

import numpy as np
import torch
from torch import Tensor

from lowdim.evidence.attacks import Case

__all__ = [
    "TOP", "at", "inner", "nothing", "one_product", "power", "random_products", "sizes",
]  # fmt: skip

TOP = 4


def inner(B: Tensor, C: Tensor) -> Tensor:
    """⟨∏ β_i·x, ∏ γ_i·x⟩ (...) of symmetric tensors, for rows β_i of B and γ_i of C (..., k, d).

    The permanent of the Gram matrix over k!.

    Examples
    --------
    >>> B = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    >>> inner(B, B).item()
    0.5
    """
    k = B.shape[-2]
    G, rows = B @ C.mT, list(range(k))
    terms = [G[..., rows, list(p)].prod(-1) for p in permutations(rows)]
    return cast(Tensor, sum(terms)) / factorial(k)


def random_products(
    count: int, rng: np.random.Generator, *, inputs: int, spread: float = 1.0
) -> dict[str, Tensor]:
    """Normal coefficients and linear forms; sizes of degrees differ by ``spread`` to some power.

    Examples
    --------
    >>> case = random_products(5, np.random.default_rng(0), inputs=3)
    >>> tuple(case["B4"].shape)
    (5, 2, 4, 3)
    """
    g = {"constant": torch.from_numpy(rng.standard_normal(count))}
    for k in range(1, TOP + 1):
        a = rng.standard_normal((count, 2)) * spread ** rng.uniform(-2, 2, (count, 1))
        B = rng.standard_normal((count, 2, k, inputs)) / inputs**0.5
        g |= {f"a{k}": torch.from_numpy(a), f"B{k}": torch.from_numpy(B)}
    return g


def nothing(count: int, inputs: int) -> dict[str, Tensor]:
    """The zero function, ``count`` times.

    Examples
    --------
    >>> at(nothing(1, 2), torch.eye(2, dtype=torch.float64)).tolist()
    [[0.0, 0.0]]
    """
    g = {"constant": torch.zeros(count, dtype=torch.float64)}
    for k in range(1, TOP + 1):
        g[f"a{k}"] = torch.zeros(count, 2, dtype=torch.float64)
        g[f"B{k}"] = torch.zeros(count, 2, k, inputs, dtype=torch.float64)
    return g


def power(k: int, inputs: int, *, scale: float = 1.0) -> dict[str, Tensor]:
    """The function scale · x₁^k, as one instance.

    Examples
    --------
    >>> at(power(3, 2), torch.tensor([[2.0], [1.0]], dtype=torch.float64)).item()
    8.0
    """
    g = nothing(1, inputs)
    if k == 0:
        g["constant"] += scale
    else:
        g[f"a{k}"][:, 0] = scale
        g[f"B{k}"][:, 0, :, 0] = 1.0
    return g


def one_product(free: Case) -> dict[str, Tensor]:
    """One product of three linear forms, the rows of ``B`` (count, 3, d), for a climb.

    Examples
    --------
    >>> g = one_product({"B": torch.ones(1, 3, 2, dtype=torch.float64)})
    >>> at(g, torch.tensor([[1.0], [1.0]], dtype=torch.float64)).item()
    8.0
    """
    B = free["B"]
    g = nothing(len(B), B.shape[-1])
    g["a3"][:, 0] = 1.0
    return {**g, "B3": torch.stack([B, 0 * B], 1)}


def sizes(g: Case) -> tuple[Tensor, Tensor]:
    """ã_k and the squared norm of the symmetric tensor in each degree, (B, TOP + 1) both.

    Examples
    --------
    >>> [v.tolist() for v in sizes(power(2, 3, scale=-2.0))]
    [[[0.0, 0.0, 2.0, 0.0, 0.0]], [[0.0, 0.0, 4.0, 0.0, 0.0]]]
    """
    tilde, square = [g["constant"].abs()], [g["constant"] ** 2]
    for k in range(1, TOP + 1):
        a, B = g[f"a{k}"], g[f"B{k}"]
        tilde.append((a.abs() * B.norm(dim=-1).prod(-1)).sum(1))
        table = inner(B[:, :, None], B[:, None])
        square.append((a[:, :, None] * a[:, None] * table).sum((1, 2)).clamp_min(0))
    return torch.stack(tilde, 1), torch.stack(square, 1)


def at(g: Case, X: Tensor) -> Tensor:
    """The functions at the columns of X (d, N): (B, N).

    Examples
    --------
    >>> at(power(0, 2), torch.eye(2, dtype=torch.float64)).tolist()
    [[1.0, 1.0]]
    """
    out = g["constant"][:, None]
    for k in range(1, TOP + 1):
        out = out + (g[f"a{k}"][..., None] * (g[f"B{k}"] @ X).prod(-2)).sum(1)
    return out
