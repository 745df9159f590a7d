r"""Layers under six activations: the instances of Lemma 4.3, and two layers done exactly.

A case has ``H`` (B, h, n), the pre-activations, ``clean`` (B, m, n), ``act`` (B,), the number of
an activation, and ``rank`` (B,).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
import torch.nn.functional as F
from sympy import Expr, Matrix, Rational, eye, roots, sqrt
from torch import Tensor

from lowdim import checks
from lowdim.data import unions
from lowdim.evidence.attacks import Case
from lowdim.preserve import perturbed

__all__ = [
    "KINDS", "Layers", "activations", "damped", "exact_cut", "exact_relu", "just_admitted",
    "single", "span",
]  # fmt: skip

RANK, SPARE = 4, 3  # of the signal, and further dimensions in which there is noise only
KINDS = ("positive", "tilted", "symmetric", "sparse")
# Exponents of the scales at which each activation changes little.
_REACH = {
    "ReLU": (-1, 1), "leaky ReLU": (-1, 1), "GELU": (2, 5), "SiLU": (3, 5), "tanh": (-4, -2),
    "sigmoid": (-4, 2),
}  # fmt: skip


def activations(*, leak: float = 0.01) -> dict[str, Callable[[Tensor], Tensor]]:
    """Six activations by name; ``leak`` is the leaky ReLU's slope on the left.

    Examples
    --------
    >>> list(activations())
    ['ReLU', 'leaky ReLU', 'GELU', 'SiLU', 'tanh', 'sigmoid']
    """
    return {
        "ReLU": torch.relu,
        "leaky ReLU": partial(F.leaky_relu, negative_slope=leak),
        "GELU": F.gelu,
        "SiLU": F.silu,
        "tanh": torch.tanh,
        "sigmoid": torch.sigmoid,
    }


@dataclass(frozen=True)
class Layers:
    """Layers of ``hidden`` units on two planes with non-negative data and three spare dimensions.

    size: points of each cluster; tilt: size of the negative part of tilted weights; leak: of the
    leaky ReLU.
    """

    size: int = 12
    hidden: int = 20
    tilt: float = 0.2
    leak: float = 0.01
    rank = RANK

    @property
    def points(self) -> int:
        """The number n of points."""
        return 2 * self.size

    @property
    def activations(self) -> dict[str, Callable[[Tensor], Tensor]]:
        """The six activations by name."""
        return activations(leak=self.leak)

    def draw(
        self, count: int, rng: np.random.Generator, kind: str, level: float | np.ndarray = 0.0
    ) -> tuple[Tensor, Tensor]:
        """X* (count, 7, n), its first four rows non-negative, and H = W(X* + Z) (count, h, n).

        ``kind`` of weights: positive, tilted (positive and something of any sign), symmetric, or
        sparse (positive with zeros). ``level``: standard deviation of the noise, a number or
        (count, 1, 1).

        Raises
        ------
        ValueError
            If the kind is none of these.

        Examples
        --------
        >>> clean, H = Layers(size=3).draw(2, np.random.default_rng(0), "positive")
        >>> clean.shape, bool((H >= 0).all())
        (torch.Size([2, 7, 6]), True)
        """
        checks.choice(kind, KINDS, "kind")
        D = unions.union_of_subspaces(
            trials=count,
            ambient=RANK,
            dims=(2, 2),
            sizes=(self.size,) * 2,
            coefficients="nonnegative",
            seed=int(rng.integers(2**31)),
        )
        G = rng.standard_normal((2, count, self.hidden, RANK))
        kept = rng.random(G[0].shape) < 0.6  # drawn for every kind: all else is then the same
        W = {
            "positive": np.abs(G[0]),
            "tilted": np.abs(G[0]) + self.tilt * G[1],
            "symmetric": G[0],
            "sparse": np.abs(G[0]) * kept,
        }[kind]
        W = np.concatenate([W, rng.standard_normal((count, self.hidden, SPARE))], 2)
        clean = F.pad(D.coefficients, (0, 0, 0, SPARE))
        Z = torch.from_numpy(np.multiply(level, rng.standard_normal(clean.shape)))
        return clean, torch.from_numpy(W) @ (clean + Z)

    def activated(self, H: Tensor, act: Tensor) -> Tensor:
        """σ(H) (B, h, n) with activation number ``act`` (B,) for each instance.

        Examples
        --------
        >>> H = -torch.ones(2, 1, 1)
        >>> Layers(leak=0.5).activated(H, torch.tensor([0, 1])).flatten().tolist()
        [0.0, -0.5]
        """
        every = torch.stack([f(H) for f in self.activations.values()])
        return every[act.long(), torch.arange(len(H))]

    def mixture(
        self, count: int, rng: np.random.Generator, kind: str, level: float
    ) -> tuple[Tensor, Tensor]:
        """Pre-activations at random scales, and what the six activations by turns make of them.

        Examples
        --------
        >>> H, Y = Layers(size=3).mixture(12, np.random.default_rng(0), "sparse", 0.02)
        >>> torch.equal(Y[0], torch.relu(H[0])), torch.equal(Y[5], torch.sigmoid(H[5]))
        (True, True)
        """
        _, H = self.draw(count, rng, kind, level)
        H = H * torch.from_numpy(10 ** rng.uniform(-3, 3, count))[:, None, None]
        return H, self.activated(H, torch.arange(count) % 6)

    def at_the_edge(self, count: int, rng: np.random.Generator) -> dict[str, Tensor]:
        """Layers where each activation has a chance, by turns.

        Tiny negatives for the two ReLUs, large positive inputs for GELU and SiLU, tiny ones for
        tanh; sigmoid at every scale.

        Examples
        --------
        >>> case = Layers(size=3).at_the_edge(6, np.random.default_rng(0))
        >>> bool((case["H"][2:4].abs().mean((1, 2)) > 10).all())
        True
        """
        act = torch.arange(count) % 6
        reach = list(_REACH.values())
        exponents = np.array([rng.uniform(*reach[k]) for k in act])
        level = (10 ** rng.uniform(-8, -4, count))[:, None, None]
        sparse, positive = (self.draw(count, rng, kind, level) for kind in ("sparse", "positive"))
        cut = (act < 2)[:, None, None]
        clean, H = (torch.where(cut, a, b) for a, b in zip(sparse, positive, strict=True))
        H = H * torch.from_numpy(10**exponents)[:, None, None]
        ranks = torch.full((count,), float(RANK))
        return {"clean": clean, "H": H, "act": act.double(), "rank": ranks}

    def anywhere(self, count: int, rng: np.random.Generator) -> dict[str, Tensor]:
        """Noisy layers with tilted or symmetric weights at scales from 0.001 to 1000.

        Examples
        --------
        >>> case = Layers(size=3).anywhere(6, np.random.default_rng(0))
        >>> bool((case["H"] < 0).any())
        True
        """
        case = self.at_the_edge(count, rng)
        one, two = (self.draw(count, rng, kind, 0.02)[1] for kind in ("tilted", "symmetric"))
        coin = torch.from_numpy(rng.random((count, 1, 1)) < 0.5)
        scale = torch.from_numpy(10 ** rng.uniform(-3, 3, (count, 1, 1)))
        return {**case, "H": scale * torch.where(coin, one, two)}


def single(
    H: Sequence[Sequence[float]],
    clean: Sequence[Sequence[float]] | None = None,
    *,
    act: int = 0,
    rank: int = 1,
) -> dict[str, Tensor]:
    """One layer as a case, from rows of numbers; clean data |H| unless given.

    Examples
    --------
    >>> single([[1.0, -0.5]])["clean"].tolist()
    [[[1.0, 0.5]]]
    """
    values = torch.tensor([H], dtype=torch.float64)
    star = values.abs() if clean is None else torch.tensor([clean], dtype=torch.float64)
    numbers = {"act": torch.tensor([float(act)]), "rank": torch.tensor([float(rank)])}
    return {"H": values, "clean": star, **numbers}


def _relu(H: Tensor, clean: Tensor) -> dict[str, Tensor]:
    zero = torch.zeros(len(H), dtype=torch.float64)
    return {"H": H, "clean": clean, "act": zero, "rank": zero + 1}


def just_admitted(free: Case) -> dict[str, Tensor]:
    """ReLU layers of one unit, r = 1, at the edge of the printed hypothesis of Lemma 4.3.

    From free h and c (B, 1, n), the negative part of h is shrunk; c are the clean data.

    Examples
    --------
    >>> h = torch.tensor([[[1.0, -2.0, 2.0]]], dtype=torch.float64)
    >>> round(just_admitted({"h": h, "c": h.abs()})["H"].min().item(), 4)
    -0.022
    """
    up, down = free["h"].clamp_min(0), (-free["h"]).clamp_min(0)
    eps = perturbed.epsilon(free["c"], 1, zero=1e-9)
    size = eps * up.norm(dim=(1, 2)) / 128**0.5 / 1.0001
    shrink = size / down.norm(dim=(1, 2)).clamp_min(1e-12)
    return _relu(up - shrink[:, None, None] * down, free["c"])


def damped(free: Case) -> dict[str, Tensor]:
    """ReLU layers, r = 1, from free h (B, h, n): negatives are damped to a fifth.

    Then the bounds are below one at the start of a search.

    Examples
    --------
    >>> damped({"h": torch.tensor([[[1.0, -1.0]]], dtype=torch.float64)})["H"].tolist()
    [[[1.0, -0.2]]]
    """
    H = free["h"]
    return _relu(torch.where(H < 0, 0.2 * H, H), H.abs())


def span(scales: Tensor, shares: Tensor) -> str:
    """The scales (k,) at which a share (k,) is a half or more, as ``to 1e-02, from 1e+03``.

    Examples
    --------
    >>> scales = torch.tensor([0.01, 1.0, 100.0])
    >>> span(scales, torch.tensor([1.0, 0.5, 0.0])), span(scales, torch.ones(3))
    ('to 1e+00', 'all')
    >>> span(scales, torch.zeros(3)), span(scales, torch.tensor([0.0, 0.6, 0.0]))
    ('nowhere', '1e+00–1e+00')
    """
    good = (shares >= 0.5).tolist()
    if all(good) or not any(good):
        return "all" if all(good) else "nowhere"
    first = [k for k, yes in enumerate(good) if yes and (k == 0 or not good[k - 1])]
    last = [k for k, yes in enumerate(good) if yes and (k + 1 == len(good) or not good[k + 1])]
    words = []
    for a, b in zip(first, last, strict=True):
        low, high = (f"{float(scales[k]):.0e}" for k in (a, b))
        inside = f"{low}–{high}" if b + 1 < len(good) else f"from {low}"
        words.append(f"to {high}" if a == 0 else inside)
    return ", ".join(words)


def exact_cut(b: Rational) -> tuple[Expr, Expr]:
    """H = (1, −b), Y = (1, 0), for which ‖Y−H‖/δ₃ = b: sin²θ₁ and the largest entry moved.

    Examples
    --------
    >>> exact_cut(Rational(1, 10))
    (1/101, 10/101)
    """
    H, Y = Matrix([[1, -b]]), Matrix([[1, 0]])
    moved = max(abs(entry) for entry in Y.T * Y - H.T * H / (1 + b * b))
    return 1 - (Y * H.T)[0] ** 2 / (1 + b * b), moved


def exact_relu(H: Sequence[Sequence[int]]) -> tuple[Expr, Expr]:
    """(‖Y−H‖/δ₃)² and sin²θ₁ of a square ReLU layer of whole numbers, r = 1, exactly.

    Examples
    --------
    >>> exact_relu([[-1, 1, 4], [1, -1, 4], [2, 2, -1]])
    (1/9, 1/9)
    """
    layer = Matrix(H)
    Y = layer.applyfunc(lambda t: max(t, 0))
    of_y, of_h, of_error = (_squares(M) for M in (Y, layer, Y - layer))
    gap2 = (of_y[-1] + of_h[-2]).simplify() - 2 * sqrt((of_y[-1] * of_h[-2]).expand())
    v, w = _leading(Y, of_y[-1]), _leading(layer, of_h[-1])
    cosine2 = ((v * w.T)[0] ** 2 / ((v * v.T)[0] * (w * w.T)[0])).radsimp().simplify()
    return of_error[-1] / gap2, 1 - cosine2


def _squares(M: Matrix) -> list[Expr]:
    """Squares of the singular values, rising."""
    found = roots((M.T * M).charpoly().as_expr())
    return sorted(root for root, times in found.items() for _ in range(times))


def _leading(M: Matrix, value: Expr) -> Matrix:
    return (M.T * M - value * eye(M.cols)).nullspace()[0].T
