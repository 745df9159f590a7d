r"""Pairs of factors to attack: any A, Q of the problem of Lemma 55 above a diagonal K̃.

A case has ``A`` and ``Q`` (B, m, m), the roots ``a`` (B, m) of the eigenvalues of K̃ and ``lam``
(B,), with λ₁ = λ₂ = ``lam``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from lowdim.evidence.attacks import Case

__all__ = ["free_factors", "random_factors", "solution", "start_factors"]


def random_factors(count: int, rng: np.random.Generator, *, m: int = 4) -> dict[str, Tensor]:
    """Normal factors of all sizes, spectra and penalties over some decades.

    Examples
    --------
    >>> tuple(random_factors(5, np.random.default_rng(0))["A"].shape)
    (5, 4, 4)
    """
    scale = torch.from_numpy(10 ** rng.uniform(-2, 0.5, (count, 1, 1)))
    a = torch.from_numpy(10 ** rng.uniform(-1, 0.5, (count, m)))
    lam = torch.from_numpy(10 ** rng.uniform(-3, -0.3, count))
    A, Q = (scale * torch.from_numpy(rng.standard_normal((count, m, m))) for _ in range(2))
    return {"A": A, "Q": Q, "a": a, "lam": lam}


def start_factors(count: int, rng: np.random.Generator) -> dict[str, Tensor]:
    """Where a climb begins: factors of moderate size, logarithms of ``a`` and ``lam``.

    Examples
    --------
    >>> start = start_factors(5, np.random.default_rng(0))
    >>> round(float(start["A"].abs().max()), 9)
    0.3
    """
    case = random_factors(count, rng)
    A, Q = (0.3 * case[k] / case[k].abs().amax((1, 2), keepdim=True) for k in ("A", "Q"))
    return {"A": A, "Q": Q, "a": case["a"].log(), "lam": case["lam"].log()}


def free_factors(free: Case) -> dict[str, Tensor]:
    """The case of free numbers as :func:`start_factors` has them.

    Examples
    --------
    >>> case = free_factors(start_factors(2, np.random.default_rng(0)))
    >>> bool((case["a"] > 0).all() and (case["lam"] > 0).all())
    True
    """
    return {"A": free["A"], "Q": free["Q"], "a": free["a"].exp(), "lam": free["lam"].exp()}


def solution(a: Sequence[float], lam: float) -> dict[str, Tensor]:
    """The minimizer A = Q = diag √w with w a = (1 - m λ/a)₊, as one case.

    Examples
    --------
    >>> solution([2.0, 0.1], 0.1)["A"][0].diagonal().square().round(decimals=9).tolist()
    [0.45, 0.0]
    """
    roots = torch.tensor([a], dtype=torch.float64)
    w = ((1 - len(a) * lam / roots).clamp_min(0) / roots).sqrt()
    A = torch.diag_embed(w)
    return {"A": A, "Q": A.clone(), "a": roots, "lam": torch.tensor([lam], dtype=torch.float64)}
