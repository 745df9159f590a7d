"""Training ρ times the objective, at minima on any data: cases to attack its lower bound with."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from lowdim.hashing import invariance, minima
from lowdim.hashing.invariance import WideFit

__all__ = ["products", "random_cases", "shortcut_cases"]


def products(fits: Sequence[WideFit]) -> dict[str, Tensor]:
    """ρ, the objective and m (instances,) of minima; those that are zero are left out.

    Examples
    --------
    >>> case = products([minima.two_manifolds(0.3)])
    >>> bool((case["rho"] * case["objective"] > 1 / 272).all())
    True
    """
    q = minima.measured(fits)
    keep = q.A2 > 1e-9
    # a variance that is zero up to rounding would make a ratio of rounding errors
    rho = q.apart / q.V_r.clamp_min(1e-14 * q.apart.clamp_min(1e-300))
    return {"rho": rho[keep], "objective": q.objective[keep], "m": q.classes[keep]}


def random_cases(
    count: int, rng: np.random.Generator, *, classes: int = 2, dims: int = 3, points: int = 3
) -> dict[str, Tensor]:
    """Minima on random unit vectors with random labels, penalties over eight decades.

    Examples
    --------
    >>> case = random_cases(4, np.random.default_rng(0))
    >>> sorted(case), len(case["rho"]) <= 4
    (['m', 'objective', 'rho'], True)
    """
    fits = []
    labels = torch.arange(classes).repeat_interleave(points)
    for _ in range(count):
        X = torch.from_numpy(rng.standard_normal((dims, classes * points)))
        if rng.random() < 0.5:  # points of one class near those of another
            X = X[:, :points].repeat(1, classes) + 0.1 * X
        lam = 10.0 ** rng.uniform([-5, -5], [-1, -1])
        fits.append(invariance.fit_wide(X / X.norm(dim=0), labels, *lam.tolist()))
    return products(fits)


def shortcut_cases() -> dict[str, Tensor]:
    """Two manifolds with a shortcut, around the transition.

    Examples
    --------
    >>> len(shortcut_cases()["rho"])
    18
    """
    kinds = [(m, x, g) for m in (11, 15, 18) for x in (0.8, 1.05, 1.5) for g in (0.1, 0.01)]
    return products([minima.two_manifolds(g, many=m, level=x) for m, x, g in kinds])
