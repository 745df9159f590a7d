"""Instances for claims about the flow of a deep linear network: points, data sets, ranks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from lowdim.embedded.flows import Flow
from lowdim.evidence.attacks import Case

__all__ = ["critical_points", "each", "ranks", "rotated_points"]


def rotated_points(count: int, rng: np.random.Generator) -> dict[str, Tensor]:
    """Moments A (B, 4, 4), target b and point w (B, 4), rotation turn (B, 4, 4), depth L (B,).

    Points have lengths from about 0.001 to 10; depths are 2 to 11.

    Examples
    --------
    >>> case = rotated_points(3, np.random.default_rng(0))
    >>> {name: tuple(value.shape) for name, value in case.items()}
    {'A': (3, 4, 4), 'b': (3, 4), 'w': (3, 4), 'turn': (3, 4, 4), 'L': (3,)}
    """
    root = rng.standard_normal((count, 4, 6)) * rng.uniform(0.1, 2, (count, 4, 1))
    turn = np.linalg.qr(rng.standard_normal((count, 4, 4)))[0]
    case = {
        "A": root @ root.transpose(0, 2, 1) / 6,
        "b": rng.standard_normal((count, 4)),
        "w": rng.standard_normal((count, 4)) * 10 ** rng.uniform(-3, 1, (count, 1)),
        "turn": turn,
        "L": rng.integers(2, 12, count).astype(float),
    }
    return {name: torch.from_numpy(np.ascontiguousarray(v)) for name, v in case.items()}


def each(case: Case, function: Callable[[Flow, np.ndarray, np.ndarray], object]) -> Tensor:
    """``function(flow, w, turn)`` on every instance of :func:`rotated_points`, stacked (B, ...).

    Examples
    --------
    >>> case = rotated_points(3, np.random.default_rng(0))
    >>> bool((each(case, lambda flow, w, turn: flow.depth) == case["L"]).all())
    True
    """
    columns = (case[name].numpy() for name in ("A", "b", "w", "turn", "L"))
    found = [
        function(Flow((A + A.T) / 2, b, int(L)), w, turn)
        for A, b, w, turn, L in zip(*columns, strict=True)
    ]
    return torch.tensor(np.array(found))


def critical_points(count: int, rng: np.random.Generator) -> dict[str, Tensor]:
    """The gradient at the minima that regression gives, relative to the size of its terms.

    Random data with 1 to 3 signal and noise directions, σ from 0.001 to 10. ``noisy`` (B,) is at
    the minimum, ``clean`` (B,) for σ = 0 at the minimum along the data and random weights normal to
    them; ``tolerance`` (B,) is what rounding allows.

    Examples
    --------
    >>> case = critical_points(5, np.random.default_rng(0))
    >>> bool((case["noisy"] < case["tolerance"]).all())
    True
    """
    rows = np.array([_critical(rng) for _ in range(count)])
    return dict(zip(("noisy", "clean", "tolerance"), torch.from_numpy(rows.T), strict=True))


def _critical(rng: np.random.Generator) -> tuple[float, float, float]:
    dx, dy = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    N = dx + dy + int(rng.integers(0, 20))
    sigma = 10 ** rng.uniform(-3, 1)
    x, y = rng.standard_normal((N, dx)), rng.standard_normal((N, dy))
    g = np.sin(x).sum(1) + x[:, 0] ** 2
    z = np.hstack([x, y])
    both = np.linalg.solve(z.T @ z / N, z.T @ g / N)
    noisy = Flow.from_data(np.hstack([x, sigma * y]), g, depth=3)
    point = np.append(both[:dx], both[dx:] / sigma)
    clean = Flow.from_data(np.hstack([x, 0 * y]), g, depth=3)
    free = np.append(np.linalg.solve(x.T @ x / N, x.T @ g / N), rng.standard_normal(dy))
    condition = np.linalg.cond(z.T @ z / N) * 1e-14
    return _steepness(noisy, point), _steepness(clean, free), 1e-12 + condition


def _steepness(flow: Flow, w: np.ndarray) -> float:
    scale = np.abs(flow.moments) @ np.abs(w) + np.abs(flow.target)
    return np.abs(flow.gradient(w)).max() / scale.max()


def ranks(count: int, rng: np.random.Generator) -> dict[str, Tensor]:
    """Ranks (B,) of 1 to 7 random points in three dimensions, and of their second moments.

    Examples
    --------
    >>> case = ranks(20, np.random.default_rng(0))
    >>> bool((case["points"] == case["moments"]).all()), case["points"].unique().tolist()
    (True, [1.0, 2.0, 3.0])
    """
    rows = []
    for _ in range(count):
        N, r = int(rng.integers(1, 8)), int(rng.integers(1, 4))
        x = rng.standard_normal((N, r)) @ rng.standard_normal((r, 3))
        values = np.linalg.eigvalsh(x.T @ x / N)
        rows.append((np.linalg.matrix_rank(x), (values > 1e-10 * values[-1]).sum()))
    points, moments = torch.from_numpy(np.array(rows, float).T)
    return {"points": points, "moments": moments}
