r"""Condition (2) of Theorem 3.1 at every layer of a network, and networks for which it just holds.

A case has ``clean`` (B, m, n), ``Z`` (B, m, n), ``W`` (B, L, m, m) or a list of L weights
(B, h, m), and ``rank`` (B,). The paper names no clean matrix for the inputs of layers 2 to L;
READINGS are three.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lowdim import checks
from lowdim.data import unions
from lowdim.evidence.attacks import Case, Climb, drawn, normal
from lowdim.linalg import subspaces
from lowdim.preserve import preservation

__all__ = [
    "READINGS", "Networks", "amplifier", "drifting", "mixing", "ratios", "scaled", "through",
    "turning",
]  # fmt: skip

READINGS = ("pushed through", "own part", "mapped linearly")


def through(case: Mapping[str, Any], reading: str) -> list[preservation.Layer]:
    """The theorem's quantities at every layer, with the clean matrix that ``reading`` gives it.

    "pushed through": the network's response to X*; "own part": the best approximation of the
    layer's input of rank r; "mapped linearly": the image of X* under the product of the weights.

    Raises
    ------
    ValueError
        If the reading is none of these.

    Examples
    --------
    >>> found = through(amplifier(), "mapped linearly")
    >>> len(found), round(subspaces.distance(found[0].star, found[1].star).item(), 9)
    (2, 0.0)
    """
    checks.choice(reading, READINGS, "reading")
    rank, clean = int(case["rank"][0]), case["clean"]
    X, found = clean + case["Z"], []
    weights = case["W"] if isinstance(case["W"], list) else case["W"].unbind(1)
    for W in weights:
        found.append(preservation.layer(clean, X - clean, W, rank))
        X = found[-1].output
        if reading == "own part":
            V = subspaces.principal_rows(X, rank, method="svd")
            clean = X @ V @ V.mT
        else:
            clean = W @ clean
            clean = clean.clamp_min(0) if reading == "pushed through" else clean
    return found


def ratios(found: Sequence[preservation.Layer], share: float = 1.0) -> Tensor:
    """δ/η (L, B) at every layer, with the ε of X* multiplied by ``share``; (2) says above 1.

    Examples
    --------
    >>> found = through(drifting(5, 2.2, 2.5), "own part")
    >>> bool((ratios(found) > 1).all()), bool((ratios(found, 0.01) > 1).all())
    (True, False)
    """
    scale = (128 * found[0].star.shape[-1]) ** 0.5 / (share * found[0].epsilon)
    return torch.stack([q.delta / (scale * q.error).clamp_min(1e-9) for q in found])


def _at_level(pieces: Case, level: Tensor | float) -> dict[str, Tensor]:
    """Noise and negative leaks of one size: what a group should not see is cut."""
    level = torch.as_tensor(level, dtype=torch.float64).reshape(-1, 1, 1)
    W = pieces["W"] - level[..., None] * pieces["leak"]
    return {"clean": pieces["clean"], "Z": level * pieces["E"], "W": W, "rank": pieces["rank"]}


def scaled(pieces: Case, reading: str, share: float, slack: Tensor) -> dict[str, Tensor]:
    """Noise and leaks scaled until δ is about ``slack`` (B,) times η in the worst layer.

    ``pieces`` has clean data (B, m, n), weights W and their leaks (B, L, m, m), noise E (B, m, n)
    and rank (B,). Small noise and leaks move all sizes in proportion.

    Examples
    --------
    >>> pieces = Networks(3, 6, 4).pieces(5, np.random.default_rng(0))
    >>> case = scaled(pieces, "own part", 1.0, torch.full((5,), 1.5))
    >>> worst = ratios(through(case, "own part")).amin(0)
    >>> bool(((worst > 1.4) & (worst < 1.6)).all())
    True
    """
    tiny = ratios(through(_at_level(pieces, 1e-8), reading), share).amin(0)
    return _at_level(pieces, 1e-8 * tiny / slack)


@dataclass(frozen=True)
class Networks:
    """Networks of ``depth`` square layers on two planes, whose weights keep two groups apart.

    hidden: width; size: points of each cluster.
    """

    depth: int
    hidden: int
    size: int

    def pieces(self, count: int, rng: np.random.Generator) -> dict[str, Tensor]:
        """Non-negative clusters in two groups of coordinates, weights, leaks and noise.

        Examples
        --------
        >>> pieces = Networks(3, 6, 4).pieces(2, np.random.default_rng(0))
        >>> pieces["W"].shape, bool((pieces["clean"] >= 0).all())
        (torch.Size([2, 3, 6, 6]), True)
        """

        def positive(*shape: int) -> Tensor:
            return torch.from_numpy(np.abs(rng.standard_normal((count, *shape))))

        half, h = self.hidden // 2, self.hidden
        coefficients = unions.union_of_subspaces(
            trials=count,
            ambient=4,
            dims=(2, 2),
            sizes=(self.size,) * 2,
            coefficients="nonnegative",
            seed=int(rng.integers(2**31)),
        ).coefficients
        one, two = torch.ones(half, half), torch.ones(h - half, h - half)
        lift = positive(h, 4) * torch.block_diag(one[:, :2], two[:, :2])
        mix = 0.2 * positive(self.depth, h, h) * torch.block_diag(one, two).double()
        return {
            "clean": lift @ coefficients,
            "W": torch.eye(h, dtype=torch.float64) + mix,
            "leak": positive(self.depth, h, h),
            "E": torch.from_numpy(rng.standard_normal((count, h, 2 * self.size))),
            "rank": torch.full((count,), 4.0),
        }

    def at_the_edge(
        self, reading: str, share: float = 1.0
    ) -> Callable[[int, np.random.Generator], Case]:
        """Draws networks for which (2), with ``share`` times ε, just holds under a reading.

        Examples
        --------
        >>> draw = Networks(3, 6, 4).at_the_edge("own part")
        >>> found = through(draw(5, np.random.default_rng(0)), "own part")
        >>> bool((ratios(found).amin(0) > 1).all())
        True
        """

        def draw(count: int, rng: np.random.Generator) -> dict[str, Tensor]:
            slack = torch.from_numpy(rng.uniform(1.05, 2.0, count))
            return scaled(self.pieces(count, rng), reading, share, slack)

        return draw


def _one(clean: list, Z: list, W: list) -> dict[str, Tensor]:
    parts = {"clean": clean, "Z": Z, "W": W}
    case = {k: torch.tensor([v], dtype=torch.float64) for k, v in parts.items()}
    return {**case, "rank": torch.tensor([2.0], dtype=torch.float64)}


def amplifier(t: float = 1 / 100) -> dict[str, Tensor]:
    """Two layers without noise: the first cuts an entry of size t, the second makes it large.

    Examples
    --------
    >>> found = through(amplifier(), "pushed through")
    >>> bool((subspaces.distance(found[0].x, found[1].y, norm="max") > 0.6).all())
    True
    """
    first = [[1, 0, 0], [0, 1, 0], [t, -t, 0]]
    second = [[1, 0, 0], [0, t, 0], [0, 0, 1 / t]]
    return _one([[1, 0, 1], [0, 1, 1], [0, 0, 0]], [[0] * 3] * 3, [first, second])


def drifting(L: int, first: float, rest: float, *, t: float = 1 / 400) -> dict[str, Tensor]:
    """L layers on two lines with three points; each adds the noise row (0, t, 0) to the second row.

    ``first`` times it in the first layer, ``rest`` times it in the others; nothing is cut.

    Examples
    --------
    >>> found = through(drifting(16, 12, 16), "own part")
    >>> P = subspaces.projector(found[-1].y)[0]
    >>> P[1, 2].item() > 0.25
    True
    """
    weights = [[[1, 0, 0], [0, 1, k], [0, 0, 1]] for k in (first, *[rest] * (L - 1))]
    clean, Z = [[1, 1, 0], [0, 0, 1], [0, 0, 0]], [[0, 0, 0], [0, 0, 0], [0, t, 0]]
    return _one(clean, Z, weights)


def mixing(L: int, share: float) -> Climb:
    """A search over two lines, three points and a noise row that L layers mix into the others.

    Condition (2), with ``share`` times ε and own parts, just holds all along.

    Examples
    --------
    >>> search = mixing(2, 1.0)
    >>> case = search.build(search.start(3, np.random.default_rng(0)))
    >>> bool((ratios(through(case, "own part")).amin(0) > 1).all())
    True
    """
    eye = torch.eye(3, dtype=torch.float64)
    lines = torch.tensor([[1.0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=torch.float64)

    def build(free: Case) -> dict[str, Tensor]:
        count, mixed = len(free["c"]), free["w"].abs()
        column = torch.cat([mixed, torch.zeros_like(mixed[..., :1])], -1)
        pieces = {
            "clean": (free["c"].abs() + 0.05)[:, None] * lines,
            "W": eye + column[..., None] * eye[2],
            "leak": torch.zeros(count, L, 3, 3),
            "E": free["z"].abs()[:, None] * eye[2][:, None],
            "rank": torch.full((count,), 2.0),
        }
        return scaled(pieces, "own part", share, torch.full((count,), 1.05).double())

    start = drawn({"c": normal(3), "w": 10 * normal(L, 2), "z": normal(3)})
    return Climb(build, start, starts=8, steps=30, rate=0.6)


def turning(angle: float, *, L: int = 4) -> dict[str, Tensor]:
    """Rows (cos kφ, sin kφ), k = 1, …, L, after (1, 0): ``Y`` (1, L, 1, 2) and ``V`` (1, 2, 1).

    Examples
    --------
    >>> turning(0.1)["Y"].shape
    torch.Size([1, 4, 1, 2])
    """
    rows = [[[np.cos(k * angle), np.sin(k * angle)]] for k in range(1, L + 1)]
    first = torch.tensor([[[1.0], [0.0]]], dtype=torch.float64)
    return {"Y": torch.tensor([rows], dtype=torch.float64), "V": first}
