r"""How one-sided data are: the balance β of the theorem that balanced data admit no weights.

:math:`\beta(X)=\min\|(wX)^-\|/\|wX\|` over all row vectors w with :math:`wX\ne0`. A case has
``clean`` (B, m, n), ``W`` (B, h, m), ``Z`` (B, m, n), ``beta`` (B,) and ``rank`` (B,).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np
import torch
from torch import Tensor

from lowdim.evidence.attacks import Case, Climb, drawn, normal
from lowdim.linalg import subspaces
from lowdim.preserve import conditions
from lowdim.preserve.learning import CLUSTERS, RANK, Setting, top

__all__ = [
    "Layer", "OnData", "asked", "climb", "layer", "line", "lower_bound", "on_data", "small_layers",
    "two_lines", "wendel",
]  # fmt: skip


def lower_bound(V: Tensor, *, cells: int) -> Tensor:
    """A certified lower bound (T,) of β for coefficients V (T, d, n), from a net on the sphere.

    b ↦ ‖(bQᵀ)⁻‖ is 1-Lipschitz for orthonormal Q, and going from the faces of a cube to the unit
    ball inside it shortens distances, so that a grid of ``cells`` to an edge on the faces is a net.

    Examples
    --------
    >>> line = torch.tensor([[[1.0, -1.0]], [[1.0, 0.0]]], dtype=torch.float64)
    >>> [round(b, 6) for b in lower_bound(line, cells=1).tolist()]
    [0.707107, 0.0]
    """
    d = V.shape[-2]
    Q = torch.linalg.qr(V.mT).Q
    axis = (torch.arange(cells, dtype=V.dtype) + 0.5) * 2 / cells - 1
    grid = torch.zeros(1, 0, dtype=V.dtype)
    if d > 1:
        grid = torch.cartesian_prod(*[axis] * (d - 1)).reshape(-1, d - 1)
    low = torch.full(V.shape[:1], torch.inf, dtype=V.dtype)
    for face in range(d):  # the opposite face: ‖t‖² = ‖t⁺‖² + ‖t⁻‖²
        one = torch.ones(len(grid), 1, dtype=V.dtype)
        b = torch.cat([grid[:, :face], one, grid[:, face:]], 1)
        t = Q @ (b / b.norm(dim=1, keepdim=True)).T
        below = t.clamp_max(0).square().sum(-2)
        low = torch.minimum(low, torch.minimum(below, 1 - below).amin(-1))
    return low.clamp_min(0).sqrt() - (d - 1) ** 0.5 / cells


def asked(epsilon: float | Tensor, *, rows: int, rank: int = RANK) -> float | Tensor:
    """The β from which on (2) is impossible at this ε, with ``rows`` = min(h, n).

    Examples
    --------
    >>> round(asked(2.0, rows=4, rank=1), 6)
    0.707107
    """
    return epsilon * rows**0.5 / (4 * 2**0.5 * rank)


def wendel(dim: int, count: int) -> float:
    """The probability that ``count`` symmetric random points in R^dim lie on one side of a plane.

    Examples
    --------
    >>> wendel(1, 3), wendel(2, 2), wendel(2, 4)
    (0.25, 1.0, 0.5)
    """
    return 2.0 ** (1 - count) * sum(comb(count - 1, i) for i in range(dim))


@dataclass(frozen=True)
class Layer:
    """A batch of layers: WX*, WX and Y (B, h, n), δ (B,), and r."""

    rank: int
    A_star: Tensor
    A: Tensor
    Y: Tensor
    delta: Tensor

    def where(self, mask: Tensor) -> Layer:
        """Only the instances that ``mask`` (B,) admits."""
        return Layer(self.rank, *(v[mask] for v in (self.A_star, self.A, self.Y, self.delta)))


def layer(case: Case) -> Layer:
    """The matrices and the smallest of the three gaps of a case.

    Examples
    --------
    >>> layer(line(0.5)).delta.tolist()
    [1.0]
    """
    rank, W, X = int(case["rank"][0]), case["W"], case["clean"] + case["Z"]
    A_star, A = W @ case["clean"], W @ X
    pairs = ((case["clean"], X), (A_star, A), (A.relu(), A))
    delta = torch.stack([subspaces.gap(*pair, rank) for pair in pairs]).amin(0)
    return Layer(rank, A_star, A, A.relu(), delta)


def small_layers(count: int, rng: np.random.Generator) -> dict[str, Tensor]:
    """Two planes in six dimensions, seven points each, more or less one-sided; any W, any Z.

    Examples
    --------
    >>> case = small_layers(3, np.random.default_rng(0))
    >>> case["clean"].shape, case["W"].shape
    (torch.Size([3, 6, 14]), torch.Size([3, 5, 6]))
    """
    V = normal(2, 2, 7)(count, rng)
    V[:, :, 0] += torch.from_numpy(rng.uniform(0, 1.5, (count, 2, 1)))
    beta = torch.minimum(*(lower_bound(V[:, k], cells=300) for k in (0, 1)))
    bases = torch.linalg.qr(normal(2, 6, 2)(count, rng)).Q
    clean = torch.cat([bases[:, k] @ V[:, k] for k in (0, 1)], 2)
    size = torch.from_numpy(10 ** rng.uniform(-6, 0, (count, 1, 1)))
    Z, W = size * normal(6, 14)(count, rng), normal(5, 6)(count, rng)
    return {"clean": clean, "W": W, "Z": Z, "beta": beta, "rank": torch.full((count,), 4.0)}


def two_lines(free: Case) -> dict[str, Tensor]:
    """Two lines with three points each in the plane, h = r = 2; β in closed form.

    ``free`` has ``c`` (B, 2, 3), ``w`` (B, 2, 2) and ``z`` (B, 2, 6).

    Examples
    --------
    >>> one = torch.ones(1, 2, 3)
    >>> two_lines({"c": one, "w": one[..., :2], "z": torch.zeros(1, 2, 6)})["beta"].tolist()
    [0.0]
    """
    c = free["c"]
    above, below = ((sign * c).clamp_min(0).norm(dim=-1) for sign in (1, -1))
    beta = (torch.minimum(above, below) / c.norm(dim=-1).clamp_min(1e-9)).amin(-1)
    clean = torch.stack([torch.block_diag(*pair[:, None]) for pair in c])
    rank = torch.full((len(c),), 2.0)
    return {"clean": clean, "W": free["w"], "Z": 0.1 * free["z"], "beta": beta, "rank": rank}


def climb() -> Climb:
    """A search over :func:`two_lines` for layers with a large gap.

    Examples
    --------
    >>> climb().method
    'simplex'
    """
    start = drawn({"c": normal(2, 3), "w": normal(2, 2), "z": normal(2, 6)})
    return Climb(two_lines, start, starts=8, steps=200, method="simplex")


def line(tau: float) -> dict[str, Tensor]:
    """X* = (1 −τ), W = 1, Z = 0: the bound is attained as τ goes to zero.

    Examples
    --------
    >>> round(line(1.0)["beta"].item(), 6)
    0.707107
    """
    X = torch.tensor([[[1.0, -tau]]], dtype=torch.float64)
    beta = torch.tensor([tau / (1 + tau**2) ** 0.5], dtype=torch.float64)
    W, rank = torch.ones(1, 1, 1, dtype=torch.float64), torch.ones(1)
    return {"clean": X, "W": W, "Z": 0 * X, "beta": beta, "rank": rank}


@dataclass(frozen=True)
class OnData:
    """The balance of T draws of clean data, and what (2) asks of them.

    star: bases (T, n, 16); beta: certified lower bounds (T,); epsilon: (T,); noise: the largest
    variance for which (4) can hold (T,); rows: min(h, n); never: a bound of the probability that
    the balance is zero.
    """

    star: Tensor
    beta: Tensor
    epsilon: Tensor
    noise: Tensor
    rows: int
    never: float

    @property
    def up_to(self) -> float:
        """The largest ε for which (2) is excluded on every draw."""
        return float(self.beta.min()) / float(asked(1.0, rows=self.rows))

    @property
    def excluded(self) -> bool:
        """Whether (2) is excluded on every draw, with its own ε."""
        return bool((self.beta >= asked(self.epsilon, rows=self.rows)).all())


def on_data(setting: Setting, *, draws: int) -> OnData:
    """The balance of the clean data of a setting, certified by a net of 24 cells to an edge.

    Examples
    --------
    >>> found = on_data(Setting(80, 20), draws=1)
    >>> found.beta.shape, found.star.shape
    (torch.Size([1]), torch.Size([1, 80, 16]))
    """
    bare, d, share = setting.draw(0.0, draws=draws), RANK // CLUSTERS, setting.share
    blocks = [
        bare.coefficients[:, d * k : d * (k + 1), share * k : share * (k + 1)]
        for k in range(CLUSTERS)
    ]
    beta = torch.stack(
        [
            torch.stack([lower_bound(V[i : i + 1], cells=24)[0] for V in blocks]).amin()
            for i in range(draws)  # one after the other: the nets are large
        ]
    )
    star = top(bare.clean)
    epsilon = conditions.epsilon(star)
    signal = subspaces.singular_values(bare.clean)[:, RANK - 1]
    unit = subspaces.spectral_norm(setting.draw(1.0, draws=draws).noise)
    noise = (signal * epsilon / (conditions.CONSTANT * unit)) ** 2
    rows = min(setting.hidden, setting.points)
    return OnData(star, beta, epsilon, noise, rows, CLUSTERS * wendel(d, share))
