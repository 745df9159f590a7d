r"""Factors of a deep linear network: how far from balanced they are, and what that changes.

Factors :math:`W^1,\dots,W^L` are balanced if all :math:`D_l=(W^{l+1})^\top W^{l+1}-W^l(W^l)^\top`
vanish (:func:`imbalances`). The end-to-end vector w moves by :math:`\dot w=-K\nabla J(w)` with the
matrix :func:`kernel`; only for balanced factors is this the flow of
:class:`lowdim.embedded.flows.Flow`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from lowdim import checks
from lowdim.embedded import flows
from lowdim.embedded.flows import Flow
from lowdim.seeds import generator

__all__ = [
    "apart", "drift", "end_to_end", "imbalance", "imbalances", "kaiming_factors", "kernel",
    "two_layer_kernels", "velocity",
]  # fmt: skip


def end_to_end(factors: Sequence[Tensor]) -> np.ndarray:
    """The vector w (d,) that the factors multiply to.

    Examples
    --------
    >>> end_to_end(flows.balanced_factors([3.0, 4.0], 3, 5)).round(9).tolist()
    [3.0, 4.0]
    """
    return reduce(lambda below, W: W @ below, factors)[0].numpy()


def imbalances(factors: Sequence[Tensor]) -> list[Tensor]:
    """The matrices D_l, one for each layer but the last.

    Examples
    --------
    >>> imbalances([torch.tensor([[2.0]]), torch.tensor([[3.0]])])
    [tensor([[5.]])]
    """
    return [b.T @ b - a @ a.T for a, b in pairwise(factors)]


def imbalance(factors: Sequence[Tensor]) -> float:
    """The largest spectral norm of the D_l.

    Examples
    --------
    >>> imbalance(flows.balanced_factors([3.0, 4.0], 3, 5)) < 1e-12
    True
    """
    return max(float(torch.linalg.matrix_norm(D, 2)) for D in imbalances(factors))


def kaiming_factors(
    inputs: int,
    depth: int,
    width: int,
    *,
    rng: np.random.Generator,
    low: float = 0.3,
    high: float = 2.0,
) -> list[Tensor]:
    """Factors of independent normal entries of variance 2/fan-in, drawn until ‖w‖ is modest.

    Their product has a norm between ``low`` and ``high``, so that one step size suits all.

    Raises
    ------
    ValueError
        If a size is below 1, or ``low`` is not below ``high``.

    Examples
    --------
    >>> W = kaiming_factors(2, 3, 5, rng=np.random.default_rng(0))
    >>> [tuple(V.shape) for V in W], bool(0.3 < np.linalg.norm(end_to_end(W)) < 2)
    ([(5, 2), (5, 5), (1, 5)], True)
    """
    for value, name in ((inputs, "inputs"), (depth, "depth"), (width, "width")):
        checks.whole(value, name, 1)
    if not 0 <= low < high:
        raise ValueError(f"low must be 0 or more and below high; you gave {low!r} and {high!r}.")
    sizes = [inputs, *[width] * (depth - 1), 1]
    while True:
        factors = [
            torch.from_numpy(rng.normal(0, (2 / a) ** 0.5, (b, a))) for a, b in pairwise(sizes)
        ]
        if low < np.linalg.norm(end_to_end(factors)) < high:
            return factors


def apart(flow: Flow, factors: Sequence[Tensor], rate: float) -> tuple[float, float]:
    """Largest distance up to time 1 of descent to the flow from the same w, and last imbalance.

    Examples
    --------
    >>> flow = Flow(np.eye(2), np.array([1.0, 0.0]), depth=2)
    >>> W = flows.balanced_factors([0.5, 0.5], 2, 3)
    >>> coarse, fine = apart(flow, W, 0.1)[0], apart(flow, W, 0.01)[0]
    >>> bool(8 < coarse / fine < 13)
    True
    """
    run = flows.follow(flow, end_to_end(factors), 1.0)
    k, w, last = flows.descend_factors(flow, factors, rate=rate, steps=round(1 / rate))
    return float(np.linalg.norm(w - run.at(k * rate), axis=1).max()), imbalance(last)


def drift(flow: Flow, factors: Sequence[Tensor], rate: float) -> np.ndarray:
    """How one step of descent changes each D_l (L - 1, 3), in Frobenius norms.

    The change; η² times the imbalance of the gradients, which it should be; and how far the two
    are apart.

    Examples
    --------
    >>> flow = Flow(np.eye(2), np.array([1.0, 0.0]), depth=2)
    >>> moved, said, off = drift(flow, flows.balanced_factors([0.5, 0.5], 2, 3), 0.1)[0]
    >>> bool(moved > 1e-3), bool(off < 1e-12)
    (True, True)
    """
    _, _, last = flows.descend_factors(flow, factors, rate=rate, steps=1)
    gradients = [(a - b) / rate for a, b in zip(factors, last, strict=True)]
    moved = [b - a for a, b in zip(imbalances(factors), imbalances(last), strict=True)]
    said = [rate**2 * D for D in imbalances(gradients)]
    rows = [
        (float(a.norm()), float(b.norm()), float((a - b).norm()))
        for a, b in zip(moved, said, strict=True)
    ]
    return np.array(rows)


def kernel(factors: Sequence[Tensor]) -> np.ndarray:
    r"""The matrix K (d, d) with :math:`\dot w=-K\nabla J(w)`, for any factors.

    It is the sum over layers of :math:`\|S_l\|^2R_l^\top R_l`, where S is the product of the
    factors above the layer and R of those below.

    Examples
    --------
    >>> kernel([torch.tensor([[2.0]]), torch.tensor([[3.0]])]).tolist()  # 2² + 3²
    [[13.0]]
    """
    W = [V.numpy() for V in factors]
    total = np.zeros((W[0].shape[1],) * 2)
    for k in range(len(W)):
        above = reduce(np.matmul, W[:k:-1], np.eye(1))
        below = reduce(lambda R, V: V @ R, W[:k], np.eye(W[0].shape[1]))
        total = total + (above**2).sum() * below.T @ below
    return total


def velocity(flow: Flow, factors: Sequence[Tensor]) -> np.ndarray:
    """The velocity of w at the start (3, d): of descent by tiny steps, by :func:`kernel`, by (2.4).

    Examples
    --------
    >>> flow = Flow(np.eye(2), np.array([1.0, 0.0]), depth=2)
    >>> step, by_kernel, by_flow = velocity(flow, flows.balanced_factors([0.5, 0.5], 2, 3))
    >>> bool(np.abs(step - by_kernel).max() < 1e-6 > np.abs(by_kernel - by_flow).max())
    True
    """
    w = end_to_end(factors)
    tiny = [flows.descend_factors(flow, factors, rate=h, steps=1)[1][1] for h in (2e-5, 1e-5)]
    now = 2 * (tiny[1] - w) / 1e-5 - (tiny[0] - w) / 2e-5  # Richardson: O(h²)
    return np.stack([now, -kernel(factors) @ flow.gradient(w), flow.field(w)])


def two_layer_kernels(count: int, *, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """How far K is from that of (2.4), in its largest entry, for two layers with the same w.

    For ``count`` balanced pairs (count,) and for two others with the product of each (2 count,):
    one with its first layer bent where the second does not see it, one with the layers rescaled.

    Examples
    --------
    >>> balanced, others = two_layer_kernels(5, seed=0)
    >>> bool(balanced.max() < 1e-12), bool(others.min() > 1e-6), others.shape
    (True, True, (10,))
    """
    rng = generator(seed, 0, "balance")
    balanced, others = [], []
    for k in range(checks.whole(count, "count", 1)):
        w = rng.standard_normal(3)
        W1, W2 = (V.numpy() for V in flows.balanced_factors(w, 2, 4, seed=k))
        bent = rng.uniform(0.01, 1) * rng.standard_normal(W1.shape)
        bent -= np.outer(W2[0], W2[0] @ bent) / (W2[0] @ W2[0])  # keeps W²W¹ = w
        wanted = np.linalg.norm(w) * np.eye(3) + np.outer(w, w) / np.linalg.norm(w)
        c = np.exp(rng.choice([-1, 1]) * rng.uniform(0.05, 1))
        pairs = [(W1, W2), (W1 + bent, W2), (W1 / c, c * W2)]
        off = [np.abs((B**2).sum() * np.eye(3) + A.T @ A - wanted).max() for A, B in pairs]
        balanced.append(off[0])
        others += off[1:]
    return np.array(balanced), np.array(others)
