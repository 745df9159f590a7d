"""What linear maps see of analytic manifolds: γ up to a remainder, and nothing where all is even.

Manifolds are those of :class:`lowdim.data.manifolds.AnalyticFamily`. Beside them, the mean
squared distances of raw points under Gaussian maps, by a quadrature that is exact.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import torch
from torch import Tensor

from lowdim import checks
from lowdim.data import manifolds
from lowdim.hashing import baselines, separation
from lowdim.seeds import generator

__all__ = ["even_fit", "random_tangles", "raw_squares", "tangled"]

SLOPE = {"sine": 1.0, "cosine": 0.0, "log": 0.0, "exp": 0.5}
BEND = {"sine": 0.5, "cosine": 0.5, "log": 1.0}  # half the largest |φ''|
START = {"sine": 0.0, "cosine": 1.0, "log": -math.log(2.0), "exp": 1.0}


def raw_squares(order: int, *, s: int, k: int, terms: int, spread: float) -> tuple[float, float]:
    """Mean squared distances between and within manifolds of one coordinate Σᵢ(vᵢγ + wᵢθ)^order.

    Means are also over the maps, whose entries are standard Gaussians; θ has variance ``spread``².
    By the Gauss–Hermite rule with three nodes in each of the variables, exact for order 1 and 2.

    Raises
    ------
    ValueError
        If ``order`` is not 1 or 2.

    Examples
    --------
    >>> [round(v, 9) for v in raw_squares(1, s=1, k=1, terms=1, spread=0.5)]
    [2.5, 0.5]
    """
    checks.choice(order, baselines.ORDERS, "order")
    node, weight = np.array([0, 3**0.5, -(3**0.5)]), np.array([4, 1, 1]) / 6
    grid = np.array(list(itertools.product(range(3), repeat=s + k)))
    latent = node[grid] * np.r_[np.ones(s), spread * np.ones(k)]
    chance = weight[grid].prod(1).reshape(3**s, 3**k)
    own, rest = chance.sum(1), chance / chance.sum(1, keepdims=True)
    sums = np.zeros(2)
    for at in itertools.product(range(3), repeat=(s + k) * terms):
        maps = node[list(at)].reshape(terms, s + k)
        x = ((latent @ maps.T) ** order).sum(1).reshape(3**s, 3**k)
        total = (chance * x**2).sum() - (chance * x).sum() ** 2
        inside = own @ ((rest * x**2).sum(1) - (rest * x).sum(1) ** 2)
        sums += weight[list(at)].prod() * np.array([total, inside])
    between, within = (2 * sums).tolist()
    return between, within


def tangled(
    family: str, d: int, s: int, k: int, *, count: int = 12, seed: int = 0, trial: int = 0
) -> dict[str, Tensor]:
    """Mean distances of Lx, and what bounds them, for one draw of the maps: (1,) each.

    L is that of :func:`lowdim.hashing.baselines.untangle`; ``count`` manifolds with four points on
    each. within, between: of Lx; apart: of γ; left_over: of LR within manifolds, R the remainder of
    first order; two_norms: 2‖L‖E‖R‖; taylor: the same with Taylor's bound on R.

    Examples
    --------
    >>> case = tangled("sine", 20, 2, 3)
    >>> bool(case["within"] <= case["two_norms"]) and bool(case["two_norms"] <= case["taylor"])
    True
    """
    described = manifolds.AnalyticFamily(family, ambient=d, s=s, k=k, seed=seed, trial=trial)
    D = described.draw(m=count, n=4)
    L = baselines.untangle(D.V, D.W, [SLOPE[f] for f in D.functions])
    args = [D.gamma[:, None] @ V.mT + D.theta @ W.mT for V, W in zip(D.V, D.W, strict=True)]
    line, bound = torch.zeros_like(D.X), 0.0
    for f, a in zip(D.functions, args, strict=True):
        line = line + (START[f] + SLOPE[f] * a)
        bend = BEND[f] if f in BEND else float((a.abs() / 2).exp().max()) / 8
        bound += bend * float((a**2).norm(dim=-1).mean())
    R = D.X - line
    size = float(torch.linalg.matrix_norm(L, 2))
    table = separation.inter(D.X @ L.mT, squared=False)
    left_over = separation.inter(R @ L.mT, squared=False).diagonal().mean()
    values = {
        "within": float(table.diagonal().mean()),
        "left_over": float(left_over),
        "two_norms": 2 * size * float(R.norm(dim=-1).mean()),
        "taylor": 2 * size * bound,
        "between": float(table[~torch.eye(count, dtype=torch.bool)].mean()),
        "apart": float(torch.pdist(D.gamma).mean()),
    }
    return {name: torch.tensor([v], dtype=torch.float64) for name, v in values.items()}


def random_tangles(trials: int, *, seed: int = 0) -> dict[str, Tensor]:
    """:func:`tangled` for Sine, Exp and Mixture in turn, of random sizes: (trials,) each.

    Every sixth is square: d = s + k.

    Examples
    --------
    >>> random_tangles(6)["within"].shape
    torch.Size([6])
    """
    rng = generator(seed, 0, "tangles")
    found = []
    for trial in range(trials):
        s, k = (int(v) for v in rng.integers(1, 6, 2))
        d = int(rng.integers(s + k, 80)) if trial % 6 else s + k
        family = ("sine", "exp", "mixture")[trial % 3]
        found.append(tangled(family, d, s, k, seed=seed, trial=trial))
    return {name: torch.cat([case[name] for case in found]) for name in found[0]}


def even_fit(family: str, *, seed: int = 0, trial: int = 0) -> tuple[float, float, float]:
    """The best affine fit of γ from random ReLU features, on points closed under (γ, θ) → −(γ, θ).

    The longest prediction; the mean distance to γ, over that of two γ; the mean length of γ, over
    the same.

    Examples
    --------
    >>> longest, fitted, zero = even_fit("cosine")
    >>> longest < 1e-9, abs(fitted - zero) < 1e-9
    (True, True)
    """
    D = manifolds.AnalyticFamily(family, ambient=20, seed=seed, trial=trial).draw(m=60, n=1)
    C = torch.from_numpy(generator(seed, trial, "features").standard_normal((20, 15)))
    X = torch.cat([D.X[:, 0], D.at(-D.gamma, -D.theta[:, 0])])
    R, G = torch.relu(X @ C)[:, None], torch.cat([D.gamma, -D.gamma])
    fit = separation.recover(R, G, held_out=(R, G))
    mean = float(G.norm(dim=1).mean() / torch.pdist(G).mean())
    return float(fit.predicted.norm(dim=1).max()), fit.distance, mean
