"""Worst gaps between sample and population in finite worlds, beside the bounds for them.

Everything is in units of β²ζ²: worlds have points of length at most one, and ‖B‖_F <= 1.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import torch
from torch import Tensor

from lowdim import checks
from lowdim.evidence.attacks import Draw
from lowdim.hashing import bounds, complexity, worlds
from lowdim.seeds import generator

__all__ = ["GAPS", "edges", "gap", "random_classes", "random_gaps"]

GAPS = ("A, new points", "B, new points", "A, new manifolds", "B, new manifolds")


def random_classes(
    count: int, rng: np.random.Generator, *, n: int = 3, members: int = 4
) -> tuple[worlds.FiniteClasses, Tensor]:
    """Classes with values in [−1, 1] on three points, some of signs only, and a δ (count,) each.

    Examples
    --------
    >>> F, level = random_classes(5, np.random.default_rng(0))
    >>> bool((F.mean <= 2 * F.complexity + 1e-12).all())
    True
    """
    f = rng.uniform(-1, 1, (count, members, 3))
    f = np.where(rng.random((count, 1, 1)) < 0.3, np.sign(f), f)
    p = rng.dirichlet(np.ones(3), count)
    F = worlds.finite_classes(torch.from_numpy(f), torch.from_numpy(p), n)
    return F, torch.from_numpy(rng.uniform(0.02, 0.9, count))


def gap(
    Z: Tensor,
    m: int,
    n: int,
    rng: np.random.Generator,
    *,
    what: str,
    draws: int,
    delta: float,
) -> dict[str, Tensor]:
    """The 1 − δ quantile (count,) of the worst gap in each world Z (count, N, q, p), and a bound.

    ``what`` is one of :data:`GAPS`: variance (A) or distance (B) from m manifolds with n points on
    each, against new points of the same manifolds (the world's first m) or against new manifolds.
    ``draws`` samples give the quantile.

    Raises
    ------
    ValueError
        If ``what`` is none of them.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> case = gap(worlds.axis_worlds(3, rng), 4, 2, rng, what=GAPS[0], draws=50, delta=0.05)
    >>> bool((case["left"] <= case["right"]).all())
    True
    """
    checks.choice(what, GAPS, "what")
    S = worlds.draw(Z, m, n, draws, rng, fixed="points" in what)
    if what.startswith("A"):
        left, right = worlds.spread(Z).mean(1)[:, None], complexity.within(S)
    else:
        truth = complexity.between(Z) if "points" in what else worlds.apart(Z)
        left, right = complexity.between(S), truth[:, None]
    bound = {
        "A, new points": bounds.variance_new_points(m, n, 1.0, delta),
        "B, new points": bounds.distance_new_points(m, n, 1.0, delta),
        "A, new manifolds": bounds.variance_new_manifolds(m, 1.0, delta),
        "B, new manifolds": bounds.distance_new_manifolds(m, 1.0, delta),
    }[what]
    top = torch.quantile(complexity.largest_gap(left, right, 1.0), 1 - delta, dim=1)
    return {"left": top, "right": torch.full_like(top, bound)}


def random_gaps(m: int, n: int, *, what: str, draws: int, delta: float) -> Draw:
    """A way to draw cases of :func:`gap` from random worlds, one for each ten instances asked for.

    Examples
    --------
    >>> draw = random_gaps(4, 3, what=GAPS[1], draws=20, delta=0.05)
    >>> tuple(draw(120, np.random.default_rng(0))["left"].shape)
    (12,)
    """
    measured = partial(gap, what=what, draws=draws, delta=delta)
    return lambda count, rng: measured(worlds.random_worlds(max(10, count // 10), rng), m, n, rng)


def edges(
    m: int, n: int, *, what: str, draws: int, delta: float, seed: int
) -> dict[str, dict[str, Tensor]]:
    """Cases of :func:`gap` in worlds with the largest variances: each point zero or a unit vector.

    Examples
    --------
    >>> found = edges(8, 2, what=GAPS[2], draws=20, delta=0.05, seed=0)
    >>> {name: tuple(case["left"].shape) for name, case in found.items()}
    {'zero or a unit vector': (20,), 'zero or one': (20,)}
    """
    rng = generator(seed, 7, "pit")
    measured = partial(gap, what=what, draws=draws, delta=delta)
    return {
        "zero or a unit vector": measured(worlds.axis_worlds(20, rng), m, n, rng),
        "zero or one": measured(worlds.axis_worlds(20, rng, dim=1), m, n, rng),
    }
