r"""Minimizers of the loss of a linear autoencoder, and what training makes of its balance.

A case has ``X`` (B, m, n), an invertible ``G`` (B, h, h) and ``rank`` (B,); the minimizer is
:math:`W=GU_h^\top`, :math:`B=U_hG^{-1}`, with :math:`U_h` the leading left singular vectors of X.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sinh
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lowdim.evidence.attacks import Case, Climb, drawn, normal
from lowdim.linalg import subspaces
from lowdim.nets import networks, training

__all__ = [
    "Minimizer", "Plane", "Trained", "attained", "climb", "double_sine", "minimizer", "minimizers",
    "plane", "spread", "trained",
]  # fmt: skip


def spread(W: Tensor, B: Tensor) -> Tensor:
    """Δ (T,) of the two layers W (T, h, m) and B (T, m, h), from the imbalance WWᵀ − BᵀB.

    Examples
    --------
    >>> eye = torch.eye(2, dtype=torch.float64)[None]
    >>> spread(3 * eye, eye).tolist()
    [0.0]
    """
    d = torch.linalg.eigvalsh(W @ W.mT - B.mT @ B)
    return (torch.asinh(d[:, -1] / 2) - torch.asinh(d[:, 0] / 2)) / 2


def double_sine(theta: Tensor) -> Tensor:
    """sin 2θ, continued beyond 45° so that it keeps growing.

    Examples
    --------
    >>> [round(x, 6) for x in double_sine(torch.tensor([0.0, torch.pi / 4, torch.pi / 2])).tolist()]
    [0.0, 1.0, 2.0]
    """
    return torch.where(theta <= torch.pi / 4, (2 * theta).sin(), 2 - (2 * theta).sin())


def _leading(A: Tensor, rank: int) -> Tensor:
    return torch.linalg.svd(A, full_matrices=False)[2][:, :rank].mT


@dataclass(frozen=True)
class Minimizer:
    """A batch of minimizers.

    V, S: bases (B, n, r) of the principal row spaces of X and of Y = WX; X: (B, m, n); Y:
    (B, h, n); spread: Δ (B,); gap: ln(1/t) = ln(σ_r/σ_{r+1}) of X (B,).
    """

    V: Tensor
    S: Tensor
    X: Tensor
    Y: Tensor
    spread: Tensor
    gap: Tensor

    @property
    def angle(self) -> Tensor:
        """The largest angle θ (B,) between the two row spaces."""
        return subspaces.principal_angles(self.V, self.S)[:, 0]

    def where(self, mask: Tensor) -> Minimizer:
        """Only the instances that ``mask`` (B,) admits."""
        return Minimizer(**{name: value[mask] for name, value in vars(self).items()})


def minimizer(case: Case) -> Minimizer:
    """The minimizers of a case.

    Examples
    --------
    >>> found = minimizer(attained(1.5, 0.5))
    >>> round(found.spread.exp().item(), 6), round(found.gap.exp().item(), 6)
    (1.5, 2.0)
    """
    rank, G, X = int(case["rank"][0]), case["G"], case["X"]
    U, s, Vh = torch.linalg.svd(X, full_matrices=False)
    U = U[..., : G.shape[-1]]
    W, B = G @ U.mT, U @ torch.linalg.inv(G)
    gap = torch.log(s[:, rank - 1] / s[:, rank])
    Y = W @ X
    return Minimizer(Vh[:, :rank].mT, _leading(Y, rank), X, Y, spread(W, B), gap)


def minimizers(count: int, rng: np.random.Generator) -> dict[str, Tensor]:
    """X (6 × 9) with a gap after the second singular value, and random minimizers with h = 4.

    Examples
    --------
    >>> minimizers(3, np.random.default_rng(0))["G"].shape
    torch.Size([3, 4, 4])
    """
    m, h, rank = 6, 4, 2
    U, V = (torch.linalg.qr(normal(k, m)(count, rng)).Q for k in (m, 9))
    below = torch.from_numpy(rng.uniform(0.05, 0.95, (count, m)))
    s = torch.cumprod(torch.where(torch.arange(m) == rank, below, 0.5 + 0.49 * below), 1)
    left, right = (torch.linalg.qr(normal(h, h)(count, rng)).Q for _ in range(2))
    size = torch.from_numpy(rng.uniform(0, 1.5, (count, 1)))
    g = torch.exp(size * torch.from_numpy(rng.uniform(-1, 1, (count, h))))
    X, G = (U * s[:, None]) @ V.mT, (left * g[:, None]) @ right.mT
    return {"X": X, "G": G, "rank": torch.full((count,), float(rank))}


def attained(kappa: float, t: float) -> dict[str, Tensor]:
    """X = diag(1, t) and the G of condition κ that reaches the bound.

    Examples
    --------
    >>> torch.linalg.cond(attained(3.0, 0.1)["G"]).round(decimals=6).tolist()
    [3.0]
    """
    c, rho = (kappa**2 + 1) / 2, (kappa**2 - 1) / 2
    cos = -rho * (1 + t**2) / (c * (1 - t**2))
    sin = (1 - cos**2) ** 0.5
    rows = [[c + rho * cos, rho * sin], [rho * sin, c - rho * cos]]
    values, vectors = torch.linalg.eigh(torch.tensor(rows, dtype=torch.float64))
    G = (vectors * values.sqrt()) @ vectors.T
    X = torch.diag(torch.tensor([1.0, t], dtype=torch.float64))
    return {"X": X[None], "G": G[None], "rank": torch.ones(1)}


def _diagonal(free: Case) -> dict[str, Tensor]:
    X = torch.diag_embed(torch.cumprod(torch.sigmoid(free["x"]), 1))
    return {"X": X, "G": free["g"], "rank": torch.ones(len(X))}


def climb() -> Climb:
    """A search over diagonal X (3 × 3) and G (2 × 2) near the identity.

    Examples
    --------
    >>> climb().build(climb().start(2, np.random.default_rng(0)))["X"].shape
    torch.Size([2, 3, 3])
    """
    near = normal(2, 2).map(lambda G: torch.eye(2) + 0.3 * G)
    start = drawn({"x": normal(3), "g": near})
    return Climb(_diagonal, start, starts=8, steps=200, method="simplex")


@dataclass(frozen=True)
class Plane:
    """The form |Y·|² on the plane of the proof: p in the space of X, w orthogonal to it.

    one, two, cross: its entries |Yp|², |Yw|², ⟨Yp, Yw⟩; a, b: |Xp| and |Xw|; all (B,).
    """

    one: Tensor
    two: Tensor
    cross: Tensor
    a: Tensor
    b: Tensor

    @property
    def condition(self) -> Tensor:
        """k (B,), the condition of the compressed GᵀG."""
        cross = self.cross / self.a / self.b
        entries = [self.one / self.a**2, cross, cross, self.two / self.b**2]
        values = torch.linalg.eigvalsh(torch.stack(entries, 1).reshape(-1, 2, 2))
        return (values[:, 1] / values[:, 0].clamp_min(1e-300)).sqrt()


def plane(q: Minimizer) -> Plane:
    """The plane in which the largest angle between the two row spaces lies.

    Examples
    --------
    >>> found = plane(minimizer(attained(1.5, 0.5)))
    >>> round(found.condition.item(), 6), round((found.b / found.a).item(), 6)
    (1.5, 0.5)
    """

    def length(v: Tensor) -> Tensor:
        return v.flatten(1).norm(dim=1)

    left, _, right = torch.linalg.svd(q.V.mT @ q.S)
    p, y = (q.V @ left)[..., -1:], (q.S @ right.mT)[..., -1:]
    w = torch.nn.functional.normalize(p * (p.mT @ y) - y, dim=1)
    Yp, Yw = q.Y @ p, q.Y @ w
    cross = (Yp * Yw).sum((1, 2))
    return Plane(length(Yp) ** 2, length(Yw) ** 2, cross, length(q.X @ p), length(q.X @ w))


@dataclass(frozen=True)
class Trained:
    """Five linear autoencoders after training, all (5,).

    excess: the loss above its minimum; sine: sin 2θ for r = 4; first, last: the bound from the
    weights before and after.
    """

    excess: Tensor
    sine: Tensor
    first: Tensor
    last: Tensor


def trained(kind: str, *, rate: float, steps: int, seed: int) -> Trained:
    """Train on X (12 × 30) with singular values 2 to 1.4, 0.9 to 0.6 and 0.2, four of each.

    ``kind`` of the initial weights as in :meth:`lowdim.nets.networks.Dense.init`; there are eight
    units.

    Examples
    --------
    >>> bool((trained("orthogonal", rate=0.02, steps=2, seed=0).first < 1e-6).all())
    True
    """
    rng = np.random.default_rng(abs(seed) + 3)
    values = torch.tensor([2.0, 1.8, 1.6, 1.4, 0.9, 0.8, 0.7, 0.6] + [0.2] * 4).double()
    U, V = (torch.linalg.qr(normal(d, 12)(5, rng)).Q for d in (12, 30))
    X = (U * values) @ V.mT
    net: Any = networks.Dense((12, 8, 12), activation="identity", bias=False)
    start = net.init(trials=5, seed=seed, kind=kind, dtype=torch.float64)
    task = training.Objective(net, X)
    run = training.train(task, start, training.GD(rate), steps, schedule=steps)
    S = _leading(run.weights[0][0] @ X, 4)
    theta = subspaces.principal_angles(V[..., :4], S)[:, 0]
    first, last = (
        spread(W, B).sinh() / sinh(log(1.4 / 0.9)) for (W, _), (B, _) in (start, run.weights)
    )
    return Trained(run.loss - 4 * 0.2**2, double_sine(theta), first, last)
