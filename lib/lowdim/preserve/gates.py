r"""Gates: matrices multiplied entry by entry with factors near one, and the gates of an LSTM.

A case has ``L`` (B, h, r), ``R`` (B, r, n), ``S`` (B, h, n) and ``omega`` (B,): the matrix is
:math:`A=LR` of rank r, and :math:`Y=(\mathbf 1+\omega S)\circ A` with the entries of S cut to
:math:`[-1,1]`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from lowdim.evidence.attacks import Case
from lowdim.linalg import subspaces
from lowdim.nets.architectures import Recurrent
from lowdim.preserve import drift

__all__ = [
    "Gated", "asked", "best_pair", "build", "gated", "hypotheses", "opened", "random", "start",
    "turned",
]  # fmt: skip


@dataclass(frozen=True)
class Gated:
    r"""A gated matrix and what its proof asks for.

    A, Y: (B, h, n); star: basis (B, n, r) of the row space of A; signal: :math:`\sigma_r(A)`;
    bound: :math:`\omega\|A\|_F`; both (B,).
    """

    A: Tensor
    Y: Tensor
    star: Tensor
    signal: Tensor
    bound: Tensor

    @property
    def angle(self) -> Tensor:
        """The largest angle (B,) between the principal row space of Y and that of A."""
        V = subspaces.principal_rows(self.Y, self.star.shape[-1], method="svd")
        return subspaces.principal_angles(self.star, V)[..., 0]


def gated(case: Case) -> Gated:
    """The matrices and norms of a case.

    Examples
    --------
    >>> found = gated(best_pair(0.1))
    >>> [round(float(value), 9) for value in (found.bound, found.signal, found.angle.sin())]
    [0.141421356, 1.414213562, 0.1]
    """
    A = case["L"] @ case["R"]
    E = case["omega"][:, None, None] * case["S"].clamp(-1, 1)
    star = torch.linalg.qr(case["R"].mT).Q
    signal = subspaces.singular_values(A)[..., case["R"].shape[-2] - 1]
    bound = case["omega"].abs() * torch.linalg.matrix_norm(A)
    return Gated(A, (1 + E) * A, star, signal, bound)


def random(
    count: int, rng: np.random.Generator, *, units: int = 6, rank: int = 2, points: int = 9
) -> dict[str, Tensor]:
    """Gaussian matrices of a rank with gates at the ends of their range, ω from 1e-6 to 0.25.

    Examples
    --------
    >>> random(3, np.random.default_rng(0))["S"].shape
    torch.Size([3, 6, 9])
    """

    def normal(*shape: int) -> Tensor:
        return torch.from_numpy(rng.standard_normal((count, *shape)))

    return {
        "L": normal(units, rank),
        "R": normal(rank, points),
        "S": torch.from_numpy(rng.choice([-1.0, 1.0], (count, units, points))),
        "omega": torch.from_numpy(10 ** rng.uniform(-6, -0.6, count)),
    }


def best_pair(omega: float) -> dict[str, Tensor]:
    r"""One unit on two points, for which :math:`\sin\theta_1=\omega=\nu`.

    Examples
    --------
    >>> best_pair(0.5)["S"].tolist()
    [[[1.0, -1.0]]]
    """

    def row(*entries: float) -> Tensor:
        return torch.tensor([[entries]], dtype=torch.float64)

    return {
        "L": row(1.0),
        "R": row((1 - omega) ** 0.5, (1 + omega) ** 0.5),
        "S": row(1.0, -1.0),
        "omega": torch.tensor([omega], dtype=torch.float64),
    }


def build(free: Case, *, omega: float = 0.02) -> dict[str, Tensor]:
    """A case from free numbers l, r and s, for a search among gates of one size.

    Examples
    --------
    >>> build(start(4, np.random.default_rng(0)))["omega"].tolist()
    [0.02, 0.02, 0.02, 0.02]
    """
    size = torch.full((len(free["l"]),), omega, dtype=torch.float64)
    return {"L": free["l"], "R": free["r"], "S": torch.tanh(3 * free["s"]), "omega": size}


def start(count: int, rng: np.random.Generator) -> dict[str, Tensor]:
    """Where that search begins: two units of rank one on four points.

    Examples
    --------
    >>> start(4, np.random.default_rng(0))["s"].shape
    torch.Size([4, 2, 4])
    """
    shapes = {"l": (2, 1), "r": (1, 4), "s": (2, 4)}
    return {k: torch.from_numpy(rng.standard_normal((count, *v))) for k, v in shapes.items()}


def opened(weights: Sequence[Tensor], layer: int, X: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    r"""Candidate :math:`W_gX+b_g`, its ReLU H and the product G of the gates, each (T, h, n).

    ``weights`` are those of a :class:`~lowdim.nets.architectures.Recurrent` whose columns are
    sequences of one step, ``X`` (T, p, n) is what enters its ``layer``. ReLU inside the cell: the
    layer hands on :math:`G\circ H`.

    Examples
    --------
    >>> net = Recurrent(5, 4, 1, 5)
    >>> X, w = torch.arange(15.0).sin().reshape(1, 5, 3), net.init(trials=1)
    >>> _, H, G = opened(w, 0, X)
    >>> torch.allclose((G * H).float(), net.forward(w, X)[0][0], atol=1e-6)
    True
    """
    W, b = weights[3 * layer].double(), weights[3 * layer + 2].double()
    i, _, g, o = (W @ X.double() + b).chunk(4, 1)
    return g, g.relu(), torch.sigmoid(i) * torch.sigmoid(o)


def hypotheses(H: Tensor, G: Tensor, r: int) -> tuple[Tensor, Tensor, Tensor]:
    r"""Rank of H, the least :math:`\omega` over all a, and :math:`\nu` at that a, each (T,).

    H and G are (T, h, n). Gates act only where H > 0. The best a is the middle of a unit's range.

    Examples
    --------
    >>> H, G = torch.ones(1, 1, 2, dtype=torch.float64), torch.tensor([[[0.3, 0.9]]]).double()
    >>> [round(float(value), 6) for value in hypotheses(H, G, 1)]
    [1.0, 0.5, 0.5]
    """
    top = torch.where(H > 0, G, -torch.inf).amax(-1).clamp_min(0)
    low = torch.where(H > 0, G, torch.inf).amin(-1).clamp_max(1)
    omega = ((top - low) / (top + low)).clamp_min(0).amax(-1)
    A = (top + low)[..., None] / 2 * H
    least = subspaces.singular_values(A)[..., r - 1]
    nu = omega * torch.linalg.matrix_norm(A) / least.clamp_min(1e-300)
    return torch.linalg.matrix_rank(H), omega, nu


def asked(net: Recurrent, weights: Sequence[Tensor], X: Tensor, r: int) -> Tensor:
    """What :func:`hypotheses` gives for every layer of an LSTM on ``X`` (T, m, n): (3, layers, T).

    Examples
    --------
    >>> net, X = Recurrent(5, 4, 2, 5), torch.arange(15.0).sin().reshape(1, 5, 3)
    >>> asked(net, net.init(trials=1), X, 2).shape
    torch.Size([3, 2, 1])
    """
    entering = [X, *net.forward(weights, X)[0][:-1]]
    layers = [
        torch.stack([v.double() for v in hypotheses(*opened(weights, k, x)[1:], r)])
        for k, x in enumerate(entering)
    ]
    return torch.stack(layers, 1)


def turned(weights: Sequence[Tensor], X: Tensor, r: int) -> dict[str, float]:
    """How far parts of the first layer turn the row space of ``X`` (T, m, n), and their spread.

    Distances, mean over draws: of the candidate, of H and of the layer's output from X, and of the
    output from H, which is the gates' own doing. The spread is the standard deviation of a gate
    over the samples, relative to its mean.

    Examples
    --------
    >>> X = torch.arange(15.0).sin().reshape(1, 5, 3)
    >>> list(turned(Recurrent(5, 4, 1, 5).init(trials=1), X, 2))
    ['X to W_gX', 'X to H', 'X to gated', 'H to gated', 'spread']
    """
    g, H, G = opened(weights, 0, X)
    x, *after = (subspaces.principal_rows(M.double(), r) for M in (X, g, H, G * H))
    found = {
        f"X to {name}": float(drift.apart(x, V).mean())
        for name, V in zip(("W_gX", "H", "gated"), after, strict=True)
    }
    found["H to gated"] = float(drift.apart(after[1], after[2]).mean())
    return {**found, "spread": float((G.std(-1) / G.mean(-1)).mean())}
