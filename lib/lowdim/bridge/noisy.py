r"""One example of a new class, and a query that noise has moved.

A query's representation moves by at most :math:`\tau\sqrt\varepsilon` (or by that in the root mean
square). :mod:`lowdim.hashing.oneshot` has the case τ = 0 and the hard pairs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from lowdim.evidence.attacks import Case
from lowdim.hashing import oneshot
from lowdim.hashing.atoms import Atoms

__all__ = [
    "effective", "errors", "free_pairs", "hard_hits", "hard_misses", "mean_bound", "mean_errors",
    "mean_threshold", "random_pairs", "random_shifts", "reach", "start_pairs", "worst_bound",
]  # fmt: skip


def effective(rho: Any, tau: Any) -> Any:
    """ρ_τ = 2 + (√(ρ−2) − 2τ)², what is left of ρ when a query moves by at most τ√ε.

    Examples
    --------
    >>> effective(38.0, 0.0), effective(38.0, 1.0)
    (38.0, 18.0)
    """
    return 2 + ((rho - 2) ** 0.5 - 2 * tau) ** 2


def reach(rho: Any, tau: Any) -> Any:
    """a = (R² + 2)/(2R) with R = √(ρ−2) − 2τ: accept below (a + τ)√ε.

    Examples
    --------
    >>> abs(reach(38.0, 0.0) ** 2 - oneshot.threshold(38.0)) < 1e-9
    True
    """
    R = (rho - 2) ** 0.5 - 2 * tau
    return (R**2 + 2) / (2 * R)


def worst_bound(rho: Any, tau: Any) -> Any:
    """The bound on both errors, 1 − (1 − 4/ρ_τ)², for ρ_τ above 4.

    Examples
    --------
    >>> worst_bound(38.0, 1.0) == oneshot.bound(18.0)
    True
    """
    return oneshot.bound(effective(rho, tau))


def _parts(rho: Any, tau: Any) -> tuple[Any, Any]:
    return (2**0.5 + tau) ** 2, (rho - 2) ** 0.5 - tau


def mean_threshold(rho: Any, tau: Any) -> Any:
    """√t = (A + R²)/(2R), A = (√2 + τ)², R = √(ρ−2) − τ, for a move of τ√ε in the mean square.

    Examples
    --------
    >>> round(mean_threshold(38.0, 0.0) ** 2, 9) == round(oneshot.threshold(38.0), 9)
    True
    """
    A, R = _parts(rho, tau)
    return (A + R**2) / (2 * R)


def mean_bound(rho: Any, tau: Any) -> Any:
    """4AR²/(A + R²)², the bound on both errors for a move of τ√ε in the mean square.

    Examples
    --------
    >>> round(mean_bound(38.0, 0.0), 9) == round(oneshot.bound(38.0), 9)
    True
    """
    A, R = _parts(rho, tau)
    return 4 * A * R**2 / (A + R**2) ** 2


def errors(R: Atoms, tau: Tensor) -> tuple[Tensor, Tensor]:
    """Largest misses and false hits (B,) when whoever moves the query by τ√ε knows the key.

    A query of the key's own manifold is pushed away and refused if it was a√ε away or more; one of
    another is pulled near and accepted if it was nearer than (a + 2τ)√ε.

    Examples
    --------
    >>> R = Atoms(**oneshot.jumps(400.0))
    >>> calm, moved = (errors(R, torch.tensor([t]))[1] for t in (0.0, 1.0))
    >>> bool(calm <= moved)
    True
    """
    a = reach(R.rho, tau)
    miss, _ = R.errors(a**2 * R.epsilon)
    _, hit = R.errors((a + 2 * tau) ** 2 * R.epsilon)
    return miss, hit


def mean_errors(R: Atoms, shift: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Misses, false hits and τ (B,) when a query at an atom moves by ``shift`` (B, 2, a, p).

    τ√ε is the root mean square of the moves on the worse of the two manifolds.

    Examples
    --------
    >>> R = Atoms(**oneshot.jumps(400.0))
    >>> _, _, tau = mean_errors(R, torch.zeros_like(R.at))
    >>> tau.item()
    0.0
    """
    rms = (R.weight * shift.square().sum(-1)).sum(-1).amax(-1).sqrt()
    tau = rms / R.epsilon.sqrt()
    level = mean_threshold(R.rho, tau) ** 2 * R.epsilon
    both = Atoms(torch.cat([R.at, R.at + shift], -3), torch.cat([R.weight, R.weight], -2))
    share = both.accept(level)[..., :2, 2:]
    different = ~torch.eye(2, dtype=torch.bool)
    own = share.diagonal(dim1=-2, dim2=-1)
    return 1 - own.amin(-1), share[..., different].amax(-1), tau


def random_pairs(count: int, rng: np.random.Generator, *, values: int = 4) -> dict[str, Tensor]:
    """Pairs of manifolds with ρ from 5 to 400, and a τ that leaves ρ_τ above 4.

    Examples
    --------
    >>> case = random_pairs(20, np.random.default_rng(0))
    >>> bool((effective(Atoms(case["at"], case["weight"]).rho, case["tau"]) > 4).all())
    True
    """
    pairs = oneshot.random_pairs(count, rng, low=5.0, values=values)
    most = (((Atoms(**pairs).rho - 2) ** 0.5 - 2**0.5) / 2).clamp_min(0)
    return {**pairs, "tau": most * torch.from_numpy(rng.uniform(0, 0.999, count))}


def random_shifts(count: int, rng: np.random.Generator, *, values: int = 4) -> dict[str, Tensor]:
    """The same with a move of its own for each atom: ``at``, ``weight`` and ``shift``.

    Some point at the other manifold, some away from it, some anywhere.

    Examples
    --------
    >>> sorted(random_shifts(3, np.random.default_rng(0)))
    ['at', 'shift', 'weight']
    """
    pairs = oneshot.random_pairs(count, rng, low=5.0, values=values)
    at = pairs["at"]
    shift = torch.from_numpy(rng.standard_normal(at.shape))
    aimed = (
        torch.from_numpy(rng.integers(-1, 2, (count, 1, 1, 1)))
        * torch.tensor([1.0, -1.0])[None, :, None, None]
    )
    along = torch.zeros_like(at)
    along[..., 0] = 1.0
    shift = torch.where(aimed != 0, aimed * along * shift.abs(), shift)
    R = Atoms(**pairs)
    rms = (R.weight * shift.square().sum(-1)).sum(-1).amax(-1).sqrt()
    # R² > A means √(ρ−2) − √2 > 2τ
    most = (((R.rho - 2) ** 0.5 - 2**0.5) / 2).clamp_min(0) * R.epsilon.sqrt()
    size = most * torch.from_numpy(rng.uniform(0, 0.999, count)) / rms
    return {**pairs, "shift": shift * size[:, None, None, None]}


def hard_misses(rho: float, tau: float) -> dict[str, Tensor]:
    """Rare far values at just a√ε: misses near the bound, as a case with ``tau``.

    Examples
    --------
    >>> case = hard_misses(2000.0, 2.0)
    >>> miss, _ = errors(Atoms(case["at"], case["weight"]), case["tau"])
    >>> bool(miss > 0.9 * worst_bound(2000.0, 2.0))
    True
    """
    return {**oneshot.rare_far(rho, reach(rho, tau) ** 2), "tau": torch.tensor([tau]).double()}


def hard_hits(rho: float, tau: float) -> dict[str, Tensor]:
    """Jumps to just within (a + 2τ)√ε of the other: false hits near the bound.

    Examples
    --------
    >>> case = hard_hits(2000.0, 2.0)
    >>> _, hit = errors(Atoms(case["at"], case["weight"]), case["tau"])
    >>> bool(hit > 0.9 * worst_bound(2000.0, 2.0))
    True
    """
    t = (reach(rho, tau) + 2 * tau) ** 2
    return {**oneshot.jumps(rho, t), "tau": torch.tensor([tau]).double()}


def start_pairs(count: int, rng: np.random.Generator) -> dict[str, Tensor]:
    """Starts of a climb: near jumps, with a ``share`` (count,) of the largest τ allowed, as logits.

    Examples
    --------
    >>> tuple(start_pairs(3, np.random.default_rng(0))["share"].shape)
    (3,)
    """
    share = torch.from_numpy(rng.normal(-1.0, 1.0, count))
    return {**oneshot.start_jumps(count, rng), "share": share}


def free_pairs(free: Case) -> dict[str, Tensor]:
    """The case of free numbers ``at``, ``logit`` and ``share``, for a climb.

    Examples
    --------
    >>> sorted(free_pairs(start_pairs(2, np.random.default_rng(0))))
    ['at', 'tau', 'weight']
    """
    pair = oneshot.free_pairs({"at": free["at"], "logit": free["logit"]})
    rho = Atoms(**pair).rho.clamp_min(4.0 + 1e-9)
    most = ((rho - 2) ** 0.5 - 2**0.5) / 2
    return {**pair, "tau": most * 0.999 * free["share"].sigmoid()}
