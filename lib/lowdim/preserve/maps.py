r"""Linear maps on noisy data: the instances of Lemma 4.2, from its edge to examples done by hand.

A case has ``clean`` (B, m, n), ``Z`` (B, m, n), ``W`` (B, h, m) and ``rank`` (B,).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from sympy import Expr, Matrix, sqrt
from torch import Tensor

from lowdim.data import unions
from lowdim.evidence.attacks import Case
from lowdim.linalg import subspaces
from lowdim.preserve import perturbed, preservation

__all__ = [
    "Exact", "Maps", "at_printed", "at_repaired", "exact", "four_views", "measured", "opposed",
    "scaled", "single", "smallest", "union",
]  # fmt: skip


def union(count: int, rng: np.random.Generator, **how: Any) -> unions.UnionOfSubspaces:
    """``count`` unions of subspaces, options as in that function, seeded by one draw of ``rng``.

    Examples
    --------
    >>> union(2, np.random.default_rng(0), ambient=4, dims=(1, 1), sizes=(2, 3)).clean.shape
    torch.Size([2, 4, 5])
    """
    return unions.union_of_subspaces(trials=count, seed=int(rng.integers(2**31)), **how)


def measured(case: Case) -> preservation.Layer:
    """All quantities of the step X* → X → WX, which is a layer without activation.

    Examples
    --------
    >>> q = measured(single([[1, 2]], [[0.6, -1.2]], [[1]]))
    >>> round((q.mapped_noise / q.gap_wx).item(), 9)
    0.6
    """
    parts = (case["clean"], case["Z"], case["W"])
    return preservation.layer(*parts, int(case["rank"][0]), activation=_nothing)


def _nothing(A: Tensor) -> Tensor:
    return A


def scaled(case: Case, *, constant: float, slack: Tensor | float, both: bool) -> dict[str, Tensor]:
    """Z scaled until δ₂ (and δ₁, if ``both``) is ``slack`` (B,) times ``constant`` ‖·‖/ε.

    Examples
    --------
    >>> case = Maps(9, 6, (1, 1), (3, 3)).draw(4, np.random.default_rng(0))
    >>> q = measured(scaled(case, constant=8.0, slack=1.5, both=False))
    >>> [round(x, 6) for x in (q.gap_wx / (8 * q.mapped_noise / q.epsilon)).tolist()]
    [1.5, 1.5, 1.5, 1.5]
    """
    clean, Z, W, rank = case["clean"], case["Z"], case["W"], int(case["rank"][0])
    eps = perturbed.epsilon(clean, rank, zero=1e-9)
    pairs = [(W @ clean, W @ Z)] + ([(clean, Z)] if both else [])
    level = torch.zeros_like(eps)
    for _ in range(5):  # each round gains a factor of about ε/8
        room = [
            subspaces.gap(A, A + level[:, None, None] * E, rank)
            / torch.linalg.matrix_norm(E, 2).clamp_min(1e-300)
            for A, E in pairs
        ]
        level = torch.stack(room).amin(0).clamp_min(0) * eps / (constant * slack)
    return {**case, "Z": level[:, None, None] * Z}


@dataclass(frozen=True)
class Maps:
    """Gaussian maps of ``hidden`` rows on a union of subspaces of dimensions ``dims`` in R^rows."""

    rows: int
    hidden: int
    dims: Sequence[int]
    sizes: Sequence[int]

    @property
    def rank(self) -> int:
        """The rank r of the clean data."""
        return sum(self.dims)

    def union(self, count: int, rng: np.random.Generator, **how: Any) -> unions.UnionOfSubspaces:
        """Data of this shape, or of what ``how`` says instead.

        Examples
        --------
        >>> Maps(9, 6, (1, 1), (3, 3)).union(2, np.random.default_rng(0), noise=0.1).noisy.shape
        torch.Size([2, 9, 6])
        """
        shape = {"dims": self.dims, "sizes": self.sizes, "ambient": self.rows}
        return union(count, rng, **{**shape, **how})

    def draw(self, count: int, rng: np.random.Generator) -> dict[str, Tensor]:
        """Clean data, Gaussian maps and Gaussian noise of variance one.

        Examples
        --------
        >>> Maps(9, 6, (1, 1), (3, 3)).draw(2, np.random.default_rng(0))["W"].shape
        torch.Size([2, 6, 9])
        """
        clean = self.union(count, rng).clean
        W = torch.from_numpy(rng.standard_normal((count, self.hidden, self.rows)))
        Z = torch.from_numpy(rng.standard_normal(clean.shape))
        return {"clean": clean, "W": W, "Z": Z, "rank": torch.full((count,), float(self.rank))}

    def printed(self, count: int, rng: np.random.Generator) -> dict[str, Tensor]:
        """The printed hypothesis just holds; noise of any size in the kernel of W comes on top.

        Examples
        --------
        >>> q = measured(Maps(9, 6, (1, 1), (3, 3)).printed(5, np.random.default_rng(0)))
        >>> bool((q.gap_wx > 16 * q.mapped_noise / q.epsilon).all())
        True
        """
        slack = torch.from_numpy(rng.uniform(1.001, 2.0, count))
        case = scaled(
            self.draw(count, rng), constant=(128 * self.rank) ** 0.5, slack=slack, both=False
        )
        size = torch.from_numpy(10 ** rng.uniform(-6, 1, (count, 1, 1)))
        N = torch.from_numpy(rng.standard_normal(case["Z"].shape))
        N = N - torch.linalg.pinv(case["W"]) @ (case["W"] @ N)
        return {**case, "Z": case["Z"] + size * N}

    def repaired(self, count: int, rng: np.random.Generator) -> dict[str, Tensor]:
        """Both hypotheses of the repaired lemma just hold, with the constant 8.

        Examples
        --------
        >>> q = measured(Maps(9, 6, (1, 1), (3, 3)).repaired(5, np.random.default_rng(0)))
        >>> bool((q.gap_x > 8 * q.noise / q.epsilon).all())
        True
        """
        slack = torch.from_numpy(rng.uniform(1.001, 2.0, count))
        return scaled(self.draw(count, rng), constant=8.0, slack=slack, both=True)

    def any_noise(self, count: int, rng: np.random.Generator) -> dict[str, Tensor]:
        """From far above the noise that any hypothesis allows to far below.

        Examples
        --------
        >>> q = measured(Maps(9, 6, (1, 1), (3, 3)).any_noise(40, np.random.default_rng(0)))
        >>> (q.mapped_noise.max() / q.mapped_noise.min()).item() > 100
        True
        """
        slack = 10 ** torch.from_numpy(rng.uniform(-3, 1, count))
        return scaled(self.draw(count, rng), constant=1.0, slack=slack, both=False)


def single(clean: object, Z: object, W: object, rank: int = 1) -> dict[str, Tensor]:
    """One map as a case, from rows of numbers or exact matrices.

    Examples
    --------
    >>> single([[1, 1], [0, 0]], [[0, 0], [2, -2]], [[1, 0]])["W"].tolist()
    [[[1.0, 0.0]]]
    """
    parts = (torch.tensor(np.array(A, dtype=float))[None] for A in (clean, Z, W))
    case = dict(zip(("clean", "Z", "W"), parts, strict=True))
    return {**case, "rank": torch.tensor([float(rank)])}


def opposed(phi: float, *, w: float = 1e6, share: float = 0.9999) -> dict[str, Tensor]:
    """X* = (cos φ, sin φ) over zero; the noise turns X one way and WX the other.

    Each by an angle of sine ``share`` ε/8, for W = (1, w): the pair by which Lemma 4.2, repaired,
    is sharp.

    Examples
    --------
    >>> q = measured(opposed(0.1))
    >>> round((subspaces.distance(q.x, q.wx, norm="max") / (q.epsilon / 4)).item(), 2)
    0.98
    """

    def at(angle: float) -> np.ndarray:
        return np.array([np.cos(phi + angle), np.sin(phi + angle)])

    theta = np.arcsin(share * np.sin(phi) ** 2 / 8)
    star = np.array([at(0), [0, 0]])
    X = np.array([np.cos(theta) * at(theta), -np.sin(2 * theta) / w * at(np.pi / 2)])
    return single(star, X - star, [[1, w]])


def smallest(free: Case) -> dict[str, Tensor]:
    """X* = (p; 0), noise z (B, 2, 2) and maps w (B, 1, 2), from free p (B, 1, 2), z and w.

    No loss of generality for r = h = 1, m = n = 2.

    Examples
    --------
    >>> free = {"p": torch.ones(3, 1, 2), "z": torch.zeros(3, 2, 2), "w": torch.ones(3, 1, 2)}
    >>> smallest(free)["clean"].shape
    torch.Size([3, 2, 2])
    """
    clean = torch.cat([free["p"], torch.zeros_like(free["p"])], 1)
    ones = torch.ones(len(clean), dtype=torch.float64)
    return {"clean": clean, "Z": free["z"], "W": free["w"], "rank": ones}


def at_repaired(free: Case) -> dict[str, Tensor]:
    """The smallest maps, where the repaired hypotheses just hold.

    Examples
    --------
    >>> free = {k: torch.randn(3, *s, dtype=torch.float64)
    ...     for k, s in {"p": (1, 2), "z": (2, 2), "w": (1, 2)}.items()}
    >>> q = measured(at_repaired(free))
    >>> bool((q.gap_wx > 8 * q.mapped_noise / q.epsilon).all())
    True
    """
    return scaled(smallest(free), constant=8.0, slack=1.0001, both=True)


def at_printed(free: Case) -> dict[str, Tensor]:
    """X* = (1 1; 0 0), the printed hypothesis just holds, noise in the kernel of W on top.

    From free z (B, 2, 2), w (B, 1, 2) and k (B, 1, 2), the noise in the kernel.

    Examples
    --------
    >>> free = {k: torch.randn(3, *s, dtype=torch.float64)
    ...     for k, s in {"z": (2, 2), "w": (1, 2), "k": (1, 2)}.items()}
    >>> q = measured(at_printed(free))
    >>> bool((q.gap_wx > 128**0.5 * q.mapped_noise / q.epsilon).all())
    True
    """
    case = smallest({**free, "p": torch.ones_like(free["k"])})
    case = scaled(case, constant=128**0.5, slack=1.01, both=False)
    kernel = free["w"].flip(-1) * torch.tensor([-1.0, 1.0], dtype=torch.float64)
    return {**case, "Z": case["Z"] + kernel.mT @ free["k"]}


class Exact(NamedTuple):
    """Whether (4) and the printed hypothesis hold, ε/4, and the largest entry of P(X) − P(WX)."""

    four: bool
    printed: bool
    quarter: Expr
    moved: Expr


def exact(clean: Any, Z: Any, W: Any) -> Exact:
    """An example of Lemma 4.2 with r = 1 and two points, in exact arithmetic.

    Examples
    --------
    >>> exact([[1, 1], [0, 0]], [[0, 0], [2, -2]], [[1, 0]])
    Exact(four=False, printed=True, quarter=1/8, moved=1)
    """
    clean, Z, W = Matrix(clean), Matrix(Z), Matrix(W)
    (P, s), (P_x, s_x), (P_wx, s_wx) = (_leading(A) for A in (clean, clean + Z, W * (clean + Z)))
    eps = min(abs(entry) for entry in P if entry != 0)
    noise, mapped, signal = (_leading(A)[1][0] for A in (Z, W * Z, W * clean))
    return Exact(
        bool(s[0] - s_x[1] > sqrt(128) * noise / eps),
        bool(signal - s_wx[1] > sqrt(128) * mapped / eps),
        eps / 4,
        max(abs(entry) for entry in P_x - P_wx),
    )


def _leading(A: Matrix) -> tuple[Matrix, list[Expr]]:
    """P(A) for r = 1 and the singular values of A, which has two columns."""
    found = sorted((A.T * A).eigenvects(), key=lambda e: e[0], reverse=True)
    values = [sqrt(value) for value, times, _ in found for _ in range(times)]
    v = found[0][2][0]
    return (v * v.T) / (v.T * v)[0], values


def four_views(maps: Maps | None = None, *, seed: int = 0) -> dict[str, Tensor]:
    """Bases (n, r) of the row spaces of clean and noisy data and of two images of the latter.

    The noise misses the span of the signal; the first map removes the noise, the second one is
    blind to a direction of the signal. Without ``maps``: two planes in R^24, eight points each.

    Examples
    --------
    >>> views = four_views()
    >>> clean, _, removed, _ = views.values()
    >>> bool(subspaces.distance(clean, removed) < 1e-9)
    True
    """
    maps = Maps(24, 16, (2, 2), (8, 8)) if maps is None else maps
    rng = np.random.default_rng(abs(seed))
    D, r = maps.union(1, rng), maps.rank
    Q = torch.linalg.qr(D.bases[0], mode="complete").Q
    basis, rest = Q.split([r, maps.rows - r], 1)
    Z = 6 * rest @ torch.from_numpy(rng.standard_normal((maps.rows - r, sum(maps.sizes))))
    noisy = D.clean[0] + Z
    blind = torch.cat([basis[:, 1:], rest[:, :1]], 1)
    views = {
        "$P(X^*)$": D.clean[0],
        "$P(X)$": noisy,
        "$P(WX)$, noise removed": basis.T @ noisy,
        "$P(WX)$, signal removed": blind.T @ noisy,
    }
    return {name: subspaces.principal_rows(A, r) for name, A in views.items()}
