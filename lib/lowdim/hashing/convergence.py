r"""How fast a random ReLU layer converges to its kernel: errors, widths, equal columns, rotations.

:math:`Z=\sigma(CX)` has a Gram matrix :math:`Z^\top Z` near :math:`K(X,X)`, and is itself near a
rotation of any :math:`\Phi` with :math:`\Phi^\top\Phi=K`. For N equal columns all probabilities are
known exactly (:func:`lowdim.hashing.kernels.length_tail`), which makes them the exact attack.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lowdim.evidence.attacks import Case
from lowdim.hashing import kernels

__all__ = [
    "LogBox", "Sweep", "equal_columns_off", "errors", "largest_norm", "length_above", "near_pairs",
    "needed_width", "rotations", "sphere", "sweep", "total_variance",
]  # fmt: skip

BATCH = 20  # layers at a time, for memory


def sphere(d: int, N: int, *, purpose: int = 0, seed: int = 0) -> Tensor:
    """Random unit vectors as columns (d, N); another ``purpose`` gives other ones.

    Examples
    --------
    >>> bool(((sphere(3, 5).norm(dim=0) - 1).abs() < 1e-12).all())
    True
    """
    X = np.random.default_rng([abs(seed), d, purpose]).standard_normal((d, N))
    return torch.from_numpy(X / np.linalg.norm(X, axis=0))


def total_variance(X: Tensor) -> float:
    """V for unit columns X (d, N): the mean of ‖ZᵀZ - K‖² times the width.

    Examples
    --------
    >>> round(total_variance(torch.tensor([[1.0], [0.0]], dtype=torch.float64)), 9)
    1.25
    """
    return float(kernels.feature_variance((X.mT @ X).clamp(-1, 1)).sum())


def errors(X: Tensor, width: int, count: int, *, seed: int) -> tuple[Tensor, Tensor]:
    """‖ZᵀZ - K‖_F and the best rotation's error, (count,) each, for random layers of that width.

    Examples
    --------
    >>> gram, turn = errors(sphere(3, 5), 100, 2, seed=0)
    >>> tuple(gram.shape), bool((turn >= 0).all())
    ((2,), True)
    """
    K, found = kernels.gram(X), []
    for part in range(0, count, BATCH):
        some: dict[str, Any] = {"seed": seed + 1000 * part, "trials": min(BATCH, count - part)}
        Z = kernels.random_features(X, width, **some)
        error = torch.linalg.matrix_norm(Z.mT @ Z - K)
        found.append((error, kernels.rotation_error(Z, K)))
    gram, turn = (torch.cat(pair) for pair in zip(*found, strict=True))
    return gram, turn


@dataclass(frozen=True)
class Sweep:
    """Errors for several numbers of samples and widths: gram and turn (sizes, widths, trials).

    data: the columns X (d, N) for each size.
    """

    data: tuple[Tensor, ...]
    gram: Tensor
    turn: Tensor


def sweep(
    sizes: Sequence[int], widths: Sequence[int], *, inputs: int, trials: int, seed: int = 0
) -> Sweep:
    """The errors of ``trials`` layers for every size and width, on columns in ``inputs`` dims.

    A sweep is kept, so that a figure and a table of the same one cost no more than one of them.

    Examples
    --------
    >>> found = sweep([4, 8], [10, 40], inputs=3, trials=3)
    >>> tuple(found.gram.shape), bool(found.gram[0, 1].mean() < found.gram[0, 0].mean())
    ((2, 2, 3), True)
    """
    return _sweep(tuple(sizes), tuple(widths), inputs, trials, seed)


@lru_cache(maxsize=8)
def _sweep(
    sizes: tuple[int, ...], widths: tuple[int, ...], inputs: int, trials: int, seed: int
) -> Sweep:
    data = tuple(sphere(inputs, N, seed=seed) for N in sizes)
    pairs = [
        [torch.stack(errors(X, width, trials, seed=seed + 1 + j)) for j, width in enumerate(widths)]
        for X in data
    ]
    gram, turn = torch.stack([torch.stack(row) for row in pairs]).movedim(2, 0)
    return Sweep(data, gram, turn)


def needed_width(widths: Sequence[int], found: Tensor, epsilon: float) -> float:
    """Width at which nine layers of ten have an error up to ε, by a line on log axes.

    ``found`` (len(widths), layers) are errors at those widths.

    Examples
    --------
    >>> round(needed_width([10, 100], torch.tensor([[1.0, 1.0], [0.1, 0.1]]), 0.5), 6)
    20.0
    """
    quantile = torch.quantile(found, 0.9, dim=1).log().numpy()
    slope, offset = np.polyfit(np.log(widths), quantile, 1)
    return float(np.exp((log(epsilon) - offset) / slope))


def length_above(width: Tensor, level: Tensor) -> Tensor:
    """P(‖σ(Cx)‖² > level) for a unit vector x, exactly, for each width (B,) and level (B,).

    Examples
    --------
    >>> length_above(torch.tensor([1.0]), torch.tensor([0.0])).tolist()
    [0.5]
    """
    pairs = zip(width.tolist(), level.tolist(), strict=True)
    tails = [kernels.length_tail(int(D), at) for D, at in pairs]
    return torch.tensor(tails, dtype=torch.float64)


def equal_columns_off(width: Tensor, N: Tensor, epsilon: Tensor) -> Tensor:
    """P(‖ZᵀZ - K‖_F > ε) for N equal unit columns, exactly, (B,) each.

    Examples
    --------
    >>> one = torch.ones(1, dtype=torch.float64)
    >>> round(equal_columns_off(one, one, 0.5 * one).item(), 9)  # r above 1, or not active
    0.658655254
    """
    return length_above(width, 0.5 + epsilon / N) + 1 - length_above(width, 0.5 - epsilon / N)


@dataclass(frozen=True)
class LogBox:
    """Numbers of samples N (whole), ε and a constant C, log-uniform between two ends each.

    Its methods are what an attack takes: ``draw`` for random instances, ``start`` and ``build``
    for a climb, which stays inside.
    """

    N: tuple[float, float]
    eps: tuple[float, float]
    C: tuple[float, float]

    @property
    def _ends(self) -> np.ndarray:
        return np.log([*zip(self.N, self.eps, self.C, strict=True)])

    def start(self, count: int, rng: np.random.Generator) -> dict[str, Tensor]:
        """Free numbers ``log`` (count, 3)."""
        return {"log": torch.from_numpy(rng.uniform(self._ends[0], self._ends[1], (count, 3)))}

    def build(self, free: Case) -> dict[str, Tensor]:
        """The case (B,) of free numbers."""
        inside = torch.from_numpy(np.clip(free["log"].numpy(), *self._ends))
        N, eps, C = inside.exp().unbind(1)
        return {"N": N.round(), "eps": eps, "C": C}

    def draw(self, count: int, rng: np.random.Generator) -> dict[str, Tensor]:
        """Random instances.

        Examples
        --------
        >>> case = LogBox((1, 100), (1e-3, 1), (1, 10)).draw(50, np.random.default_rng(0))
        >>> bool((case["N"] >= 1).all() and (case["eps"] <= 1).all())
        True
        """
        return self.build(self.start(count, rng))


def near_pairs(count: int, n: int, rng: np.random.Generator) -> dict[str, Tensor]:
    """A and B (count, n + 2, n) near one another, or B small beside A.

    Examples
    --------
    >>> tuple(near_pairs(3, 4, np.random.default_rng(0))["B"].shape)
    (3, 6, 4)
    """
    A = torch.from_numpy(rng.standard_normal((count, n + 2, n)))
    scale = torch.from_numpy(10 ** rng.uniform(-3, 1, (count, 1, 1)))
    keep = torch.from_numpy(rng.random((count, 1, 1))) < 0.7
    return {"A": A, "B": A * keep + scale * torch.from_numpy(rng.standard_normal(A.shape))}


def rotations(count: int, *, n: int = 5, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """How far two constructions of U with A = UB are from orthogonal, (count,) each.

    B (n, n) has rank 1 … n in turn and A is B turned. The paper's U = AB⁺ + (identity on ker B)
    misses UᵀU = I by the first; the polar one, completed between the complements, misses A = UB and
    UᵀU = I together by the second.

    Examples
    --------
    >>> printed, polar = rotations(5)
    >>> bool((printed[:4] > 0.1).all()), bool(printed[4] < 1e-9), bool((polar < 1e-9).all())
    (True, True, True)
    """
    rng = np.random.default_rng([abs(seed), 8])
    eye, printed, polar = np.eye(n), [], []
    for trial in range(count):
        rank = 1 + trial % n
        B = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, n))
        A = np.linalg.qr(rng.standard_normal((n, n)))[0] @ B
        inverse = np.linalg.pinv(B)
        U = A @ inverse + eye - inverse @ B
        printed.append(np.linalg.norm(U.T @ U - eye))
        left, _, right = np.linalg.svd(A @ B.T)
        U = left @ right
        polar.append(np.linalg.norm(U @ B - A) + np.linalg.norm(U.T @ U - eye))
    return np.array(printed), np.array(polar)


def largest_norm(count: int, *, seed: int = 0) -> float:
    """The largest ‖C‖₂ of so many random layers of random shapes, D from 2 to 199 and d below D.

    Examples
    --------
    >>> 1 < largest_norm(20) < 4
    True
    """
    rng = np.random.default_rng([abs(seed), 9])
    largest = 0.0
    for trial in range(count):
        D = int(rng.integers(2, 200))
        d = int(rng.integers(1, D))
        C = kernels.random_layer(D, d, seed=seed + 1000 + trial)
        largest = max(largest, float(torch.linalg.matrix_norm(C, 2)))
    return largest
